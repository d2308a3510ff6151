"""Compiled loops behind `engine.stats.swaps`: rank correlations of mixed score vectors, `LANES` resamples at a time.

All resamples walk the same sorted values in the same order and differ only in which of them they own, so that every step is
one short vector operation. Importing this file loads numba; import it inside functions. The kernels release the interpreter
lock and use no threads of their own.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

LANES = 32


@njit(cache=True, nogil=True)
def mixed_kendall(rows, columns, row_of, column_of, cell, of_second, run_ends, dense, human_ties, balance, tied):
    """Tau-b's numerator and tied pairs of both mixtures, over all cells together.

    A resample swaps the two metrics in the cells whose row coin and column coin differ. One Fenwick tree over the human ranks
    counts what the first mixture owns, another what either owns; the second mixture is the difference.

    Parameters
    ----------
    rows, columns : [systems, LANES], [segments, LANES], the coins, 0 or 1, of the integer type that counts the cells.
    row_of, column_of : int64[n], where each cell lies.
    cell, of_second : int64[2n], int8[2n]: both metrics' values in ascending order: their cells, and 1 for the second metric's.
    run_ends : int64[runs], where each run of equal values ends.
    dense, human_ties : int64[n], human scores as dense ranks, and whether two of them are equal.
    balance, tied : int64[2, LANES], filled for the first and the second mixture.
    """
    levels = dense.max() + 1
    tree, either = np.zeros((levels + 1, LANES), rows.dtype), np.zeros(levels + 1, np.int32)
    equal, either_equal = np.zeros((levels if human_ties else 1, LANES), rows.dtype), np.zeros(levels, np.int32)
    second = np.zeros(LANES, rows.dtype)
    lower = np.zeros(LANES, rows.dtype)
    total = np.zeros(LANES, rows.dtype)
    in_run = np.zeros(LANES, rows.dtype)
    balance[:] = 0
    tied[:] = 0
    begin = 0
    for end in run_ends:
        for k in range(begin, end):
            rank = dense[cell[k]]
            _owner(rows[row_of[cell[k]]], columns[column_of[cell[k]]], of_second[k], second)
            lower[:] = 0
            either_lower = 0
            i = rank
            while i > 0:
                _add(lower, tree[i])
                either_lower += either[i]
                i &= i - 1
            if human_ties:
                _add_balance(balance, second, lower, equal[rank], total, either_lower, either_equal[rank], begin)
            else:  # the only other value of this rank is the same cell's, which the other mixture owns
                _add_balance(balance, second, lower, equal[0], total, either_lower, either_equal[rank], begin)
            if end - begin == 1:
                _insert(tree, either, equal, either_equal, rank, second, human_ties)
                _add_first(total, second)
        if end - begin > 1:
            in_run[:] = 0
            for k in range(begin, end):
                _owner(rows[row_of[cell[k]]], columns[column_of[cell[k]]], of_second[k], second)
                _insert(tree, either, equal, either_equal, dense[cell[k]], second, human_ties)
                _add_first(in_run, second)
            _add(total, in_run)
            for l in range(LANES):
                owned = np.int64(in_run[l])
                rest = end - begin - owned
                tied[0, l] += owned * (owned - 1) // 2
                tied[1, l] += rest * (rest - 1) // 2
        begin = end


@njit(cache=True, nogil=True)
def mixed_spearman(rows, columns, row_of, column_of, cell, of_second, run_ends, centred, product, square):
    """Product of both mixtures' average ranks with the centred human ranks, and the ranks' own square sum.

    Parameters as in `mixed_kendall`; `centred` float64[n]; product, square : float64[2, LANES], filled.
    """
    n = len(row_of)
    second = np.zeros(LANES, rows.dtype)
    place = np.zeros(LANES)
    in_run = np.zeros(LANES)
    human = np.zeros(LANES)
    product[:] = 0.0
    square[:] = n * (n * n - 1.0) / 12.0
    begin = 0
    for end in run_ends:
        in_run[:] = 0.0
        human[:] = 0.0
        total = 0.0
        for k in range(begin, end):
            _owner(rows[row_of[cell[k]]], columns[column_of[cell[k]]], of_second[k], second)
            score = centred[cell[k]]
            total += score
            for l in range(LANES):
                in_run[l] += 1 - second[l]
                human[l] += (1 - second[l]) * score
        for l in range(LANES):
            rest = end - begin - in_run[l]
            product[0, l] += human[l] * (place[l] + 0.5 * (in_run[l] - 1.0))
            product[1, l] += (total - human[l]) * (begin - place[l] + 0.5 * (rest - 1.0))
            place[l] += in_run[l]
        if end - begin > 1:
            for l in range(LANES):
                rest = end - begin - in_run[l]
                square[0, l] -= in_run[l] * (in_run[l] * in_run[l] - 1.0) / 12.0
                square[1, l] -= rest * (rest * rest - 1.0) / 12.0
        begin = end


@njit(cache=True, nogil=True)
def _owner(row, column, of_second, second):
    """Which mixture owns a value in each resample: 0 the first, 1 the second."""
    for l in range(LANES):
        second[l] = row[l] ^ column[l] ^ of_second


@njit(cache=True, nogil=True)
def _add(sums, values):
    for l in range(LANES):
        sums[l] += values[l]


@njit(cache=True, nogil=True)
def _add_first(sums, second):
    for l in range(LANES):
        sums[l] += 1 - second[l]


@njit(cache=True, nogil=True)
def _add_balance(balance, second, lower, equal, total, either_lower, either_equal, either_total):
    """Pairs with all values before: those with a lower human score less those with a higher one, for the mixture that owns it."""
    first, other = balance[0], balance[1]
    either = np.int32(2 * either_lower + either_equal - either_total)
    for l in range(LANES):
        own = 2 * np.int32(lower[l]) + np.int32(equal[l]) - np.int32(total[l])
        first[l] += (1 - second[l]) * own
        other[l] += second[l] * (either - own)


@njit(cache=True, nogil=True)
def _insert(tree, either, equal, either_equal, rank, second, human_ties):
    i = rank + 1
    while i < len(either):
        _add_first(tree[i], second)
        either[i] += 1
        i += i & -i
    if human_ties:
        _add_first(equal[rank], second)
        either_equal[rank] += 1


@njit(cache=True, nogil=True)
def column_means(rows, columns, a, b, human, sizes, kendall, result):
    """Mean over columns of the rank correlation across rows, first mixture less second.

    Parameters
    ----------
    rows, columns : int32[systems, LANES], int32[segments, LANES], the coins, 0 or 1.
    a, b : int32[segments, systems], ranks of both metrics' values within the column, comparable with each other.
    human : int32[segments, systems], ranks of the human scores; -1 where an output does not count.
    sizes : float64[segments], the human ranks' own square sum (spearman) or untied pairs, counted twice (kendall).
    kendall : True for tau-b, False for Spearman.
    result : float64[LANES], filled; NaN where no column of a mixture has a correlation.
    """
    segments, systems = a.shape
    mixed = np.zeros((systems, 2 * LANES), np.int32)
    ranks = np.zeros(systems, np.int32)
    tally = np.zeros(2 * LANES, np.int32)
    balance = np.zeros(2 * LANES, np.int32)
    own = np.zeros(2 * LANES, np.int32)
    total = np.zeros(2 * LANES)
    defined = np.zeros(2 * LANES)
    for c in range(segments):
        if sizes[c] == 0:
            continue
        n = 0
        for r in range(systems):
            if human[c, r] >= 0:
                for l in range(LANES):
                    step = (rows[r, l] ^ columns[c, l]) * (b[c, r] - a[c, r])
                    mixed[n, l] = a[c, r] + step
                    mixed[n, LANES + l] = b[c, r] - step
                ranks[n] = human[c, r]
                n += 1
        balance[:] = 0
        own[:] = 0
        for i in range(n):
            tally[:] = 0
            above = np.int32(0)
            for j in range(n):
                sign = np.int32(ranks[i] > ranks[j]) - np.int32(ranks[i] < ranks[j])
                above += sign
                if kendall:
                    _add_pair(mixed[i], mixed[j], sign, balance, own)
                else:
                    _add_sign(mixed[i], mixed[j], tally)
            if not kendall:
                for l in range(2 * LANES):
                    balance[l] += tally[l] * above
                    own[l] += tally[l] * tally[l]
        for l in range(2 * LANES):
            if own[l] > 0:
                total[l] += balance[l] / math.sqrt(own[l] * sizes[c])
                defined[l] += 1.0
    for l in range(LANES):
        if defined[l] > 0 and defined[LANES + l] > 0:
            result[l] = total[l] / defined[l] - total[LANES + l] / defined[LANES + l]
        else:
            result[l] = np.nan


@njit(cache=True, nogil=True)
def _add_pair(first, second, sign, balance, own):
    for l in range(2 * LANES):
        order = np.int32(first[l] > second[l]) - np.int32(first[l] < second[l])
        balance[l] += sign * order
        own[l] += order * order


@njit(cache=True, nogil=True)
def _add_sign(first, second, tally):
    for l in range(2 * LANES):
        tally[l] += np.int32(first[l] > second[l]) - np.int32(first[l] < second[l])

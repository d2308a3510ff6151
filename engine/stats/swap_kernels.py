"""Compiled loops behind `engine.stats.swaps`: rank correlations of mixed score vectors, `LANES` resamples at a time.

All resamples walk the same sorted values in the same order and differ only in which of them they own, so that every step is
one short vector operation. What holds for every kernel: `engine.kernels`.
"""

from __future__ import annotations

import math

import numpy as np

from engine.kernels import kernel, kernel_part

LANES = 32


@kernel
def value_gains(cell, of_second, run_ends, dense, gains):
    """What each cell adds to the difference of the mixtures' concordant less discordant pairs while it is not swapped.

    Whether two cells are a concordant pair depends on their two coins u, v = ±1 as c + d u + e v + f u v. The second mixture
    has all coins the other way round, so that in the difference of the mixtures only d and e are left: it is linear in the
    coins, a sum of what each value alone makes with all values of both metrics.

    Parameters
    ----------
    cell, of_second : int64[2n], int8[2n]: both metrics' values in ascending order: their cells, and 1 for the second metric's.
    run_ends : int64[runs], where each run of equal values ends.
    dense : int64[n], human scores as dense ranks.
    gains : float64[n], filled.
    """
    levels = dense.max() + 1
    tree, equal = np.zeros(levels + 1, np.int64), np.zeros(levels, np.int64)
    gains[:] = 0.0
    begin = 0
    for end in run_ends:
        for k in range(begin, end):
            sign = 0.5 - of_second[k]
            gains[cell[k]] += sign * _lead(tree, equal, dense[cell[k]], begin)
        for k in range(begin, end):
            i = dense[cell[k]] + 1
            equal[i - 1] += 1
            while i <= levels:
                tree[i] += 1
                i += i & -i
        for k in range(begin, end):
            sign = 0.5 - of_second[k]
            gains[cell[k]] += sign * _lead(tree, equal, dense[cell[k]], end)
        begin = end  # what is missing, all values with their human ranks, is the same for both values of a cell and cancels


@kernel_part
def _lead(tree, equal, rank, count):
    """Of `count` values in a Fenwick tree over human ranks, those with a lower rank less those with a higher one."""
    lower = 0
    i = rank
    while i > 0:
        lower += tree[i]
        i &= i - 1
    return 2 * lower + equal[rank] - count


@kernel
def tied_pairs(rows, columns, row_of, column_of, cell, of_second, runs, tied):
    """Pairs of equal values in each mixture.

    Parameters
    ----------
    rows, columns : [systems, LANES], [segments, LANES], the coins, 0 or 1.
    row_of, column_of : int64[n], where each cell lies.
    cell, of_second : as in `value_gains`.
    runs : int64[r, 2], begin and end of each run of two or more equal values.
    tied : int64[2, LANES], filled for the first and the second mixture.
    """
    second = np.zeros(LANES, rows.dtype)
    in_run = np.zeros(LANES, np.int64)
    tied[:] = 0
    for run in range(len(runs)):
        in_run[:] = 0
        for k in range(runs[run, 0], runs[run, 1]):
            _owner(rows[row_of[cell[k]]], columns[column_of[cell[k]]], of_second[k], second)
            for l in range(LANES):
                in_run[l] += second[l]
        for l in range(LANES):
            rest = runs[run, 1] - runs[run, 0] - in_run[l]
            tied[0, l] += rest * (rest - 1) // 2
            tied[1, l] += in_run[l] * (in_run[l] - 1) // 2


@kernel
def mixed_lower(rows, columns, bits, row_of, column_of, cell, of_second, run_ends, dense, human_ties, sums):
    """Over the first mixture's pairs of unequal values: 2 where the lower one has the lower human score, 1 where these tie.

    A resample is a field of `bits` bits, and a word of 64 bits holds several, so that one addition counts for all of them. A
    Fenwick tree over the human ranks counts what the mixture owns.

    Parameters
    ----------
    rows, columns : uint64[systems, words], uint64[segments, words], the coins, 0 or 1 in each field.
    bits : 16, or 32 where there are 2^16 cells or more.
    row_of, column_of, cell, of_second, run_ends, dense : as in `value_gains` and `tied_pairs`.
    human_ties : whether two human scores are equal.
    sums : int64[words * 64 / bits], filled.
    """
    words = rows.shape[1]
    levels = np.uint64(dense.max() + 1)
    tree = np.zeros((levels + np.uint64(1), words), np.uint64)
    equal = np.zeros((levels if human_ties else np.uint64(1), words), np.uint64)
    parts = np.zeros((2, words), np.uint64)  # of every other field, so that sums have twice the room
    lower, same, own = np.zeros(words, np.uint64), np.zeros(words, np.uint64), np.zeros(words, np.uint64)
    one = np.uint64(0x0001000100010001 if bits == 16 else 0x0000000100000001)
    every_other = np.uint64(0x0000FFFF0000FFFF if bits == 16 else 0x00000000FFFFFFFF)
    shift, step = np.uint64(bits), np.uint64(1)
    sums[:] = 0
    begin = 0
    for end in run_ends:
        for k in range(begin, end):
            i = np.uint64(dense[cell[k]])
            row, column, first = row_of[cell[k]], column_of[cell[k]], one * np.uint64(1 - of_second[k])
            for l in range(words):
                lower[l] = 0
            if human_ties:
                for l in range(words):
                    same[l] = equal[i, l]
            while i > 0:
                for l in range(words):
                    lower[l] += tree[i, l]
                i &= i - step
            for l in range(words):
                owned = rows[row, l] ^ columns[column, l] ^ first
                owned = (owned << shift) - owned  # all bits of the field
                below, beside = lower[l] & owned, same[l] & owned
                parts[0, l] += ((below & every_other) << step) + (beside & every_other)
                parts[1, l] += (((below >> shift) & every_other) << step) + ((beside >> shift) & every_other)
            if k % 16384 == 0:  # 16384 · 3 · 2^16 < 2^32
                _empty(parts, bits, sums)
        for k in range(begin, end):
            i = np.uint64(dense[cell[k]])
            row, column, first = row_of[cell[k]], column_of[cell[k]], one * np.uint64(1 - of_second[k])
            for l in range(words):
                own[l] = rows[row, l] ^ columns[column, l] ^ first
            if human_ties:
                for l in range(words):
                    equal[i, l] += own[l]
            i += step
            while i <= levels:
                for l in range(words):
                    tree[i, l] += own[l]
                i += i & (~i + step)
        begin = end
    _empty(parts, bits, sums)


@kernel_part
def _empty(parts, bits, sums):
    """Move partial sums to where they have 64 bits each."""
    half = np.uint64(0xFFFFFFFF)
    for other in range(2):
        for l in range(parts.shape[1]):
            if bits == 16:
                sums[4 * l + other] += np.int64(parts[other, l] & half)
                sums[4 * l + 2 + other] += np.int64(parts[other, l] >> np.uint64(32))
            else:
                sums[2 * l + other] += np.int64(parts[other, l])
            parts[other, l] = 0


@kernel
def mixed_spearman(rows, columns, row_of, column_of, cell, of_second, run_ends, centred, product, square):
    """Product of both mixtures' average ranks with the centred human ranks, and the ranks' own square sum.

    Parameters as in `value_gains` and `tied_pairs`; `centred` float64[n]; product, square : float64[2, LANES], filled.
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


@kernel_part
def _owner(row, column, of_second, second):
    """Which mixture owns a value in each resample: 0 the first, 1 the second."""
    for l in range(LANES):
        second[l] = row[l] ^ column[l] ^ of_second


@kernel
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


@kernel_part
def _add_pair(first, second, sign, balance, own):
    for l in range(2 * LANES):
        order = np.int32(first[l] > second[l]) - np.int32(first[l] < second[l])
        balance[l] += sign * order
        own[l] += order * order


@kernel_part
def _add_sign(first, second, tally):
    for l in range(2 * LANES):
        tally[l] += np.int32(first[l] > second[l]) - np.int32(first[l] < second[l])

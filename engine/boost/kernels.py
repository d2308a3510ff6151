"""Compiled loops of the p/w grid: power means by a running product, and rank correlations from one sort per cell.

What holds for every kernel: `engine.kernels`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from engine.kernels import PART, kernel, kernel_part

RESTART = 64  # steps of the running product after which the powers are taken afresh, so that rounding does not pile up
CONSTANT_SCORE = 1  # reason code: see engine.boost.grid.REASONS
_POWERS_OF_TEN = np.array([float(f"1e{k}") for k in range(300)])
_POWERS_BELOW = np.array([float(f"1e{k}") for k in range(-12, 11)])
_DECIMAL_EXPONENT = np.array([math.floor((k - 1023) * math.log10(2.0)) for k in range(2048)], dtype=np.int64)


@njit(**PART, fastmath={"reassoc", "contract", "arcp"})
def _next_power(powers, ratios):
    """Multiply in place; the sum of the products."""
    total = 0.0
    for i in range(len(powers)):
        powers[i] *= ratios[i]
        total += powers[i]
    return total


@kernel_part
def _half_grid(logs, extreme, sign, first, last, per_unit, means, start, stride, anchors):
    """Power means for p = sign · k / per_unit, k = first … last, of one segment, written outwards from zero.

    Every log value is taken relative to `extreme` (largest for positive p, smallest for negative), so that the powers lie
    in (0, 1]. Returns the smallest k at which `anchors` words alone make up 99.9% of the power sum (last + 1 if none).
    """
    n = len(logs)
    powers = np.empty(n)
    ratios = np.empty(n)
    for i in range(n):
        ratios[i] = math.exp(sign / per_unit * (logs[i] - extreme))
    collapsed_from = last + 1
    for k in range(first, last + 1):
        p = sign * k / per_unit
        if (k - first) % RESTART == 0:
            total = 0.0
            for i in range(n):
                powers[i] = math.exp(p * (logs[i] - extreme))
                total += powers[i]
        else:
            total = _next_power(powers, ratios)
        means[start + (k - first) * stride] = math.exp(extreme + math.log(total / n) / p)
        if anchors >= 0.999 * total and k < collapsed_from:
            collapsed_from = k
    return collapsed_from


@kernel
def grid_means(logs, offsets, begin, end, low, high, per_unit, floor, ceiling, means, below, above):
    """Power means of segments `begin … end` for p = k / per_unit, k = low … high.

    Parameters
    ----------
    logs, offsets : log values of all words, and where each segment starts (float64[m], int64[n + 1]).
    floor, ceiling : log values that the regularisation itself puts there (NaN where it does not).
    means : float64[high - low + 1, n], filled in columns begin … end.
    below, above : float64[n]; from these p outwards the floor (the ceiling) alone decides the mean; ∓inf where never.
    """
    column = np.empty(high - low + 1)
    for s in range(begin, end):
        words = logs[offsets[s] : offsets[s + 1]]
        n = len(words)
        below[s] = -np.inf
        above[s] = np.inf
        smallest = np.inf
        largest = -np.inf
        total = 0.0
        at_floor = 0
        at_ceiling = 0
        for i in range(n):
            smallest = min(smallest, words[i])
            largest = max(largest, words[i])
            total += words[i]
            if words[i] <= floor:
                at_floor += 1
            if words[i] >= ceiling:
                at_ceiling += 1
        if n == 0 or np.isnan(total):
            for k in range(len(column)):
                means[k, s] = np.nan
            continue
        if low <= 0 <= high:
            column[-low] = math.exp(total / n)
        if high >= 1:
            first = max(low, 1)
            k = _half_grid(words, largest, 1.0, first, high, per_unit, column, first - low, 1, at_ceiling)
            if k <= high:
                above[s] = k / per_unit
        if low <= -1:
            first = max(-high, 1)
            k = _half_grid(words, smallest, -1.0, first, -low, per_unit, column, -first - low, -1, at_floor)
            if k <= -low:
                below[s] = -k / per_unit
        if at_floor == n or at_ceiling == n:
            below[s] = np.inf
        for k in range(len(column)):
            means[k, s] = column[k]


@kernel_part
def round_digits(x):
    """`x` rounded to 10 significant decimal digits."""
    size = abs(x)
    if not 1e-280 < size < 1e280:
        return x
    exponent = _DECIMAL_EXPONENT[(np.float64(size).view(np.int64) >> 52) & 0x7FF]
    if exponent >= 0:
        if size >= _POWERS_OF_TEN[exponent + 1]:
            exponent += 1
    elif size * _POWERS_OF_TEN[-exponent - 1] >= 1.0:
        exponent += 1
    if exponent <= 9:
        scale = _POWERS_OF_TEN[9 - exponent]
        return np.rint(x * scale) / scale
    scale = _POWERS_OF_TEN[exponent - 9]
    return np.rint(x / scale) * scale


@kernel
def round_all(values):
    """`round_digits` of every value of a vector."""
    rounded = np.empty(len(values))
    for i in range(len(values)):
        rounded[i] = round_digits(values[i])
    return rounded


@kernel_part
def _combine(scores, aggregates, w, combined):
    """w · score + (1 - w) · aggregate, made comparable as if rounded to 10 significant digits.

    Where all values lie within one power of ten they are left multiplied by it, which saves the division and changes no order.
    """
    low = np.inf
    high = -np.inf
    for i in range(len(scores)):
        value = w * scores[i] + (1.0 - w) * aggregates[i]
        combined[i] = value
        low = min(low, value)
        high = max(high, value)
    for exponent in range(-12, 10):
        if _POWERS_BELOW[exponent + 12] <= low and high < _POWERS_BELOW[exponent + 13]:
            scale = _POWERS_OF_TEN[9 - exponent]
            for i in range(len(scores)):
                combined[i] = np.rint(combined[i] * scale)
            return
    for i in range(len(scores)):
        combined[i] = round_digits(combined[i])


@kernel_part
def _sort_from_last(order, keys, scores, human):
    """Sort by `scores` starting from the order of the neighbouring cell; from scratch when that costs more.

    Returns
    -------
    What the moves change in `_order_balance` of the whole order, and whether it was sorted from scratch.
    """
    n = len(order)
    budget = 24 * n
    change = np.int64(0)
    for j in range(n):
        keys[j] = scores[order[j]]
    for j in range(1, n):
        key = keys[j]
        if keys[j - 1] <= key:
            continue
        item = order[j]
        rank = human[item]
        i = j - 1
        while i >= 0 and keys[i] > key:
            passed = human[order[i]]
            change += np.int64(passed > rank) - np.int64(passed < rank)
            keys[i + 1] = keys[i]
            order[i + 1] = order[i]
            i -= 1
        keys[i + 1] = key
        order[i + 1] = item
        budget -= j - i
        if budget < 0:
            _sort_afresh(order, keys, scores)
            return np.int64(0), True
    return 2 * change, False


@kernel_part
def _sort_afresh(order, keys, scores):
    """Merge sort; `keys` become the scores in ascending order."""
    n = len(order)
    source = order.copy()
    target = order
    width = 1
    while width < n:
        for start in range(0, n, 2 * width):
            middle = min(start + width, n)
            end = min(start + 2 * width, n)
            i = start
            j = middle
            for k in range(start, end):
                if j >= end or (i < middle and scores[source[i]] <= scores[source[j]]):
                    target[k] = source[i]
                    i += 1
                else:
                    target[k] = source[j]
                    j += 1
        source, target = target, source
        width *= 2
    for k in range(n):
        keys[k] = scores[source[k]]
    for k in range(n):
        order[k] = source[k]


@kernel_part
def _order_balance(order, human, counts, tree):
    """Pairs in which the later item has the higher human rank, less those in which it has the lower one.

    `human` are dense ranks 0 … len(counts) - 1; `tree` is a Fenwick tree over them. Short stretches are compared directly.
    """
    n = len(order)
    balance = np.int64(0)
    if n <= 24:
        for j in range(1, n):
            rank = human[order[j]]
            for i in range(j):
                before = human[order[i]]
                balance += np.int64(before < rank) - np.int64(before > rank)
        return balance
    size = len(counts)
    for i in range(size):
        counts[i] = 0
        tree[i + 1] = 0
    for j in range(n):
        rank = human[order[j]]
        lower = 0
        i = rank
        while i > 0:
            lower += tree[i]
            i &= i - 1
        balance += 2 * lower + counts[rank] - j
        counts[rank] += 1
        i = rank + 1
        while i <= size:
            tree[i] += 1
            i += i & -i
    return balance


@kernel_part
def _tie_balance(order, keys, human, counts, tree):
    """The part of `_order_balance` that lies within runs of equal scores, and the number of pairs there."""
    n = len(order)
    balance = 0
    pairs = 0
    begin = 0
    while begin < n:
        end = begin + 1
        while end < n and keys[end] == keys[begin]:
            end += 1
        if end - begin > 1:
            balance += _order_balance(order[begin:end], human, counts, tree)
            pairs += (end - begin) * (end - begin - 1) // 2
        begin = end
    return balance, pairs


@kernel_part
def _spearman(order, keys, centred, spread):
    """Pearson's correlation of average ranks; `centred` are the human ranks less their mean, `spread` their square sum."""
    n = len(order)
    product = 0.0
    square = n * (n * n - 1.0) / 12.0
    begin = 0
    while begin < n:
        end = begin + 1
        total = centred[order[begin]]
        while end < n and keys[end] == keys[begin]:
            total += centred[order[end]]
            end += 1
        product += 0.5 * (begin + end - 1) * total
        ties = end - begin
        square -= ties * (ties * ties - 1.0) / 12.0
        begin = end
    return product / math.sqrt(square) / math.sqrt(spread)


@kernel
def rank_surface(scores, aggregates, weights, dense, centred, kendall, result, reasons):
    """Rank correlation of w · score + (1 - w) · aggregate with human scores, for every row of aggregates and every w.

    Parameters
    ----------
    scores, aggregates : float64[n], float64[P, n]; no NaN.
    dense, centred : human scores as dense ranks (int64[n]) and as average ranks less their mean (float64[n]).
    kendall : True for tau-b, False for Spearman.
    result, reasons : float64[P, W] and int8[P, W], filled; NaN with a reason where all combined scores are equal.
    """
    n = len(scores)
    pairs = n * (n - 1) // 2
    highest = 0
    spread = 0.0
    for i in range(n):
        highest = max(highest, dense[i])
        spread += centred[i] * centred[i]
    counts = np.zeros(highest + 1, np.int32)
    tree = np.zeros(highest + 2, np.int32)
    human_pairs = pairs
    for i in range(n):
        human_pairs -= counts[dense[i]]
        counts[dense[i]] += 1
    combined = np.empty(n)
    keys = np.empty(n)
    order = np.arange(n)
    _sort_afresh(order, keys, scores)
    balance = _order_balance(order, dense, counts, tree)  # of the order as it stands, ties included
    for k in range(len(weights)):
        w = weights[k]
        for row in range(len(aggregates)):
            _combine(scores, aggregates[row], w, combined)
            change, afresh = _sort_from_last(order, keys, combined, dense)
            balance = _order_balance(order, dense, counts, tree) if afresh and kendall else balance + change
            if keys[0] == keys[n - 1]:
                result[row, k] = np.nan
                reasons[row, k] = CONSTANT_SCORE
            elif kendall:
                within, tied = _tie_balance(order, keys, dense, counts, tree)
                tau = (balance - within) / math.sqrt(pairs - tied) / math.sqrt(human_pairs)
                result[row, k] = min(1.0, max(-1.0, tau))
            else:
                rho = _spearman(order, keys, centred, spread)
                result[row, k] = min(1.0, max(-1.0, rho))

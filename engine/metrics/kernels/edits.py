"""Translation edit rate: edits with shifts of word blocks, on token ids, with the search that sacreBLEU 2.6.0 and Tercom make.

The search is greedy. Each step tries to move blocks of the hypothesis that also occur in the reference, keeps the move that
lowers the edit distance most, and ends when no move lowers it. The edit distance stays near the diagonal (a beam), which for
texts of more than about 25 words may exceed the true one; the numbers here are those of that beam.

What makes it quick is that a move of a block changes only the words between its old and its new place. With the distances from
the start to every cell (`forward`) and from every cell to the end (`backward`) of the unmoved hypothesis, a candidate costs only
the rows of the words that changed, and those rows are left as soon as no way through them can beat the best candidate so far.
Nothing is left out by this: the time grows with the length of the text times the beam, whatever the length.
"""

from __future__ import annotations

import math

import numpy as np

from engine.kernels import kernel, kernel_part
from engine.kernels.tables import id_bound

_LONGEST_BLOCK = 10
_LONGEST_MOVE = 50
_MOST_CANDIDATES = 1000
_BEAM = 25
_FAR = np.int32(1 << 29)  # the distance of a cell outside the beam


@kernel
def translation_edits(hypothesis_ids, hypothesis_offsets, reference_ids, reference_offsets, pair_hypothesis, pair_reference):
    """Count the edits (insertions, deletions, substitutions and shifts) that turn each hypothesis into its reference.

    Parameters
    ----------
    hypothesis_ids, reference_ids : int32[n_tokens]; equal tokens have equal ids.
    hypothesis_offsets, reference_offsets : int64[n_texts + 1]; text i is `ids[offsets[i]:offsets[i + 1]]`.
    pair_hypothesis, pair_reference : int64[n_pairs].

    Returns
    -------
    int64[n_pairs].

    Source: Snover et al. 2006, section 2, with Tercom's limits (blocks of at most 10 words, moved over at most 50) and
    sacreBLEU's (the search ends after 1000 candidates).
    """
    edits = np.empty(len(pair_hypothesis), np.int64)
    counts = np.zeros(id_bound(hypothesis_ids, reference_ids), np.int32)
    for pair in range(len(pair_hypothesis)):
        text, reference = pair_hypothesis[pair], pair_reference[pair]
        edits[pair] = _edits(
            hypothesis_ids[hypothesis_offsets[text] : hypothesis_offsets[text + 1]].copy(),
            reference_ids[reference_offsets[reference] : reference_offsets[reference + 1]],
            counts,
        )
    return edits


@kernel_part
def _edits(words, reference, counts):
    """The edits of one pair; `words` is changed."""
    n, m = len(words), len(reference)
    if n == 0 or m == 0:
        return max(n, m)
    low, high = _beam(n, m)
    width = 0
    for row in range(n + 1):
        width = max(width, high[row] - low[row])
    forward = np.empty((n + 1, width), np.int32)
    backward = np.empty((n + 1, width), np.int32)
    scratch = np.empty((2, width), np.int32)
    moved = np.empty(n, np.int32)
    for column in range(low[0], high[0]):
        forward[0, column - low[0]] = column
    _fill_forward(words, reference, low, high, forward, 1, n)
    _fill_backward(words, reference, low, high, backward, n)
    bound = _least_edits(words, reference, counts)
    shifts, checked = 0, 0
    while True:
        distance = forward[n, m - low[n]]
        if distance == bound:  # no order of the words can do better
            return shifts + distance
        start, length, target, checked = _best_shift(
            words, reference, low, high, forward, backward, scratch, moved, bound, checked
        )
        if checked >= _MOST_CANDIDATES or length == 0:
            return shifts + distance
        first, last = _move(words, start, length, target, moved)
        _copy(moved, 0, last - first, words, first)
        _fill_forward(words, reference, low, high, forward, first + 1, n)
        _fill_backward(words, reference, low, high, backward, last - 1)
        shifts += 1


@kernel_part
def _beam(n, m):
    """The cells of each row that count: columns `low[i]` to `high[i]` (exclusive) around the line from corner to corner."""
    ratio = m / n
    half = int(math.ceil(ratio / 2 + _BEAM)) if ratio / 2 > _BEAM else _BEAM
    low, high = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    for row in range(1, n + 1):
        middle = int(math.floor(row * ratio))
        low[row], high[row] = max(0, middle - half), min(m + 1, middle + half)
    high[n] = m + 1
    low[0], high[0] = max(0, low[1] - 1), high[1]  # as much of it as row 1 needs
    return low, high


@kernel_part
def _next_row(word, reference, above, above_count, shift, out, first, count):
    """Distances of `count` cells of a row, from column `first` on; the `above_count` cells above start `shift` columns earlier.

    Returns the smallest distance.
    """
    left, least = _FAR, _FAR
    across = above[shift - 1] if 0 < shift <= above_count else _FAR
    for cell in range(count):
        best = left + 1
        if across < _FAR:
            best = min(best, across + (word != reference[first + cell - 1]))
        across = _FAR
        if cell + shift < above_count:
            across = above[cell + shift]
            best = min(best, across + 1)
        out[cell] = best
        left = best
        least = min(least, best)
    return least


@kernel_part
def _fill_forward(words, reference, low, high, forward, first, last):
    """Distances from the start to the cells of rows `first` to `last`."""
    for row in range(first, last + 1):
        _next_row(
            words[row - 1], reference, forward[row - 1], high[row - 1] - low[row - 1], low[row] - low[row - 1],
            forward[row], low[row], high[row] - low[row],
        )  # fmt: skip


@kernel_part
def _fill_backward(words, reference, low, high, backward, last):
    """Distances from the cells of rows `last` down to 1 to the end; the row of the last word is made first when `last` is it."""
    n, m = len(words), len(reference)
    if last == n:
        for column in range(low[n], m + 1):
            backward[n, column - low[n]] = m - column
        last = n - 1
    for row in range(last, 0, -1):
        word, below, out = words[row], backward[row + 1], backward[row]
        first, below_first, below_end = low[row], low[row + 1], high[row + 1]
        right = _FAR
        across = below[high[row] - below_first] if high[row] < below_end else _FAR
        for column in range(high[row] - 1, first - 1, -1):
            best = right + 1
            if across < _FAR:
                best = min(best, across + (word != reference[column]))
            across = _FAR
            if column >= below_first:
                across = below[column - below_first]
                best = min(best, across + 1)
            out[column - first] = best
            right = best


@kernel_part
def _least_edits(words, reference, counts):
    """A bound that no order of the words can go below: the longer length minus the words the two have in common.

    `counts` int32[largest id + 1] is all 0 before and after.
    """
    for word in words:
        counts[word] += 1
    common = 0
    for word in reference:
        if counts[word] > 0:
            common += 1
            counts[word] -= 1
    for word in words:
        counts[word] = 0
    return max(len(words), len(reference)) - common


@kernel_part
def _align(words, reference, low, high, forward):
    """Trace the edits back: for each reference word the hypothesis word it stands at, and running counts of words in error.

    Where several edits are equally cheap, keeping or substituting comes first, then dropping a hypothesis word.
    """
    n, m = len(words), len(reference)
    place = np.empty(m, np.int64)
    wrong = np.zeros(n + 1, np.int64)
    missed = np.zeros(m + 1, np.int64)
    row, column = n, m
    while row > 0 or column > 0:
        here = column if row == 0 else forward[row, column - low[row]]
        across, up = _FAR, _FAR
        if row > 0:
            if column > 0:
                across = _cell(forward, low, high, row - 1, column - 1) + np.int32(words[row - 1] != reference[column - 1])
            up = _cell(forward, low, high, row - 1, column) + np.int32(1)
        if across == here:
            place[column - 1] = row - 1
            wrong[row] = missed[column] = words[row - 1] != reference[column - 1]
            row -= 1
            column -= 1
        elif up == here:
            wrong[row] = 1
            row -= 1
        else:
            place[column - 1] = row - 1
            missed[column] = 1
            column -= 1
    for word in range(n):
        wrong[word + 1] += wrong[word]
    for word in range(m):
        missed[word + 1] += missed[word]
    return place, wrong, missed


@kernel_part
def _cell(forward, low, high, row, column):
    if row == 0:
        return np.int32(column)
    return forward[row, column - low[row]] if low[row] <= column < high[row] else _FAR


@kernel_part
def _best_shift(words, reference, low, high, forward, backward, scratch, moved, bound, checked):
    """The move that lowers the edit distance most: (start, length, target, candidates tried so far); length 0 where none does.

    Equal moves: the longer block, then the earlier start, then the earlier target.
    """
    n, m = len(words), len(reference)
    distance = forward[n, m - low[n]]
    place, wrong, missed = _align(words, reference, low, high, forward)
    gain, best_start, best_length, best_target = 0, 0, 0, 0
    for start in range(n):
        if wrong[min(n, start + _LONGEST_BLOCK)] == wrong[start]:
            continue
        for origin in range(max(0, start - _LONGEST_MOVE), min(m, start + _LONGEST_MOVE + 1)):
            if words[start] != reference[origin]:
                continue
            longest = _common(words, start, reference, origin)
            for length in range(1, longest + 1):
                if wrong[start + length] == wrong[start] or missed[origin + length] == missed[origin]:
                    continue
                if start <= place[origin] < start + length:
                    continue
                previous = -1
                for column in range(origin - 1, origin + length):
                    target = 0 if column < 0 else place[column] + 1
                    if target == previous:
                        continue
                    previous = target
                    checked += 1
                    wins_ties = length > best_length
                    if length == best_length:
                        wins_ties = start < best_start or (start == best_start and target < best_target)
                    limit = distance - max(1, gain if wins_ties else gain + 1)
                    if limit < bound:
                        continue
                    first, last = _move(words, start, length, target, moved)
                    shifted = _distance_through(moved, first, last, reference, low, high, forward, backward, scratch, limit)
                    if shifted <= limit:
                        gain, best_start, best_length, best_target = distance - shifted, start, length, target
                if checked >= _MOST_CANDIDATES:
                    return best_start, best_length, best_target, checked
    return best_start, best_length, best_target, checked


@kernel_part
def _common(words, start, reference, origin):
    """How many words from `start` and from `origin` on are the same, at most the longest block."""
    most = min(_LONGEST_BLOCK, len(words) - start, len(reference) - origin)
    length = 0
    while length < most and words[start + length] == reference[origin + length]:
        length += 1
    return length


@kernel_part
def _move(words, start, length, target, moved):
    """Write the words that change when a block moves into `moved`; they stand at `first` to `last` (exclusive).

    A target inside the block (or at its end) counts from behind the block, as Tercom's does.
    """
    end = start + length
    if target < start:
        _copy(words, start, end, moved, 0)
        _copy(words, target, start, moved, length)
        return target, end
    last = target if target > end else min(len(words), length + target)
    _copy(words, end, last, moved, 0)
    _copy(words, start, end, moved, last - end)
    return start, last


@kernel_part
def _copy(source, first, last, out, at):
    for position in range(first, last):
        out[at + position - first] = source[position]


@kernel_part
def _distance_through(moved, first, last, reference, low, high, forward, backward, scratch, limit):
    """The edit distance with `moved` in place of the words `first` to `last`, or something above `limit` where it exceeds that.

    A path through a cell that is `across` columns right of the diagonal takes at least |across| edits before it and
    |m - n - across| after it; cells where that is above `limit` are left out.
    """
    n, m = len(low) - 1, len(reference)
    if abs(m - n) > limit:
        return _FAR
    left, right = -((limit - (m - n)) // 2), (limit + (m - n)) // 2
    above, above_low, above_high = forward[first], low[first], high[first]
    for row in range(first + 1, last + 1):
        word, out = moved[row - 1 - first], scratch[row % 2]
        out_low, out_high = max(low[row], row + left), min(high[row], row + right + 1)
        least = _next_row(word, reference, above, above_high - above_low, out_low - above_low, out, out_low, out_high - out_low)
        if least > limit:
            return _FAR
        above, above_low, above_high = out, out_low, out_high
    best = _FAR
    for column in range(above_low, above_high):
        best = min(best, above[column - above_low] + backward[last, column - low[last]])
    return best

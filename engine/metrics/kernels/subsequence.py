"""Longest common subsequences, 64 reference tokens at a time, on token ids."""

from __future__ import annotations

import numpy as np

from engine.kernels import kernel, kernel_part
from engine.kernels.tables import id_bound

_ONE = np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel
def common_subsequences(hypothesis_ids, hypothesis_offsets, reference_ids, reference_offsets, pair_hypothesis, pair_reference):
    """The length of the longest common subsequence of each pair.

    The reference is cut into strips of 64 tokens, one bit each; a strip takes in the hypothesis token by token with a few
    operations on 64 bits at once, and what overflows is kept per hypothesis token for the next strip. The time is the product of
    the two lengths, divided by 64; the memory grows with the lengths only.

    Parameters
    ----------
    hypothesis_ids, reference_ids : int32[n_tokens]; equal tokens have equal ids.
    hypothesis_offsets, reference_offsets : int64[n_texts + 1]; text i is `ids[offsets[i]:offsets[i + 1]]`.
    pair_hypothesis, pair_reference : int64[n_pairs].

    Returns
    -------
    int64[n_pairs].

    Source: the bit-parallel recurrence of Crochemore et al. 2001.
    """
    lengths = np.empty(len(pair_hypothesis), np.int64)
    positions = np.zeros(id_bound(hypothesis_ids, reference_ids), np.uint64)
    longest = 0
    for text in range(len(hypothesis_offsets) - 1):
        longest = max(longest, hypothesis_offsets[text + 1] - hypothesis_offsets[text])
    carries = np.zeros(longest, np.uint8)
    for pair in range(len(pair_hypothesis)):
        text, reference = pair_hypothesis[pair], pair_reference[pair]
        first, last = hypothesis_offsets[text], hypothesis_offsets[text + 1]
        carries[: last - first] = 0
        length, end = 0, reference_offsets[reference + 1]
        for start in range(reference_offsets[reference], end, 64):
            length += _strip(hypothesis_ids, first, last, reference_ids, start, min(start + 64, end), positions, carries)
        lengths[pair] = length
    return lengths


@kernel_part
def _strip(hypothesis_ids, first, last, reference_ids, start, end, positions, carries):
    """How much one strip of the reference adds; a bit that is 0 at the end marks a step of the common length.

    `positions` uint64[largest id + 1] is all 0 before and after; `carries` holds what the strip before passed on.
    """
    for place in range(start, end):
        positions[reference_ids[place]] |= _ONE << np.uint64(place - start)
    bits = _ALL
    for place in range(first, last):
        here = positions[hypothesis_ids[place]]
        matched = bits & here
        partial = bits + matched
        total = partial + np.uint64(carries[place - first])
        carries[place - first] = partial < bits or total < partial
        bits = total | (bits & ~here)
    for place in range(start, end):
        positions[reference_ids[place]] = np.uint64(0)
    added = 0
    for place in range(end - start):
        added += (bits >> np.uint64(place)) & _ONE == 0
    return added

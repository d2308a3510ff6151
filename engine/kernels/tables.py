"""Tables that kernels look things up in: by id, and by int64 key (open addressing, linear probing).

A kernel's copy on disk is renewed when its own file changes, not when this one does: whoever changes something here also
touches the files that import it.
"""

from __future__ import annotations

import numpy as np

from engine.kernels import kernel_part

EMPTY = np.int64(-1)
"""The key of a place that is free; keys in use are ≥ 0."""

_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: spreads keys over the table


@kernel_part
def id_bound(first, second):
    """One more than the largest id in two arrays, at least 1: the length of a table that is looked up by id."""
    bound = 1
    for ids in (first, second):
        for token in ids:
            bound = max(bound, token + 1)
    return bound


@kernel_part
def capacity(entries):
    """The size of a table, a power of two that leaves at least half of it empty."""
    size = 16
    while size < 2 * entries:
        size *= 2
    return size


@kernel_part
def slot(keys, mask, key):
    """Where `key` is in the table (int64[size]; `mask` is size - 1 as uint64), or the free place where it belongs."""
    mixed = np.uint64(key) * _MIX
    place = (mixed ^ (mixed >> np.uint64(32))) & mask
    while keys[place] != EMPTY and keys[place] != key:
        place = (place + np.uint64(1)) & mask
    return place

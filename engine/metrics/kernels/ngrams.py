"""Clipped n-gram matches: the one count behind BLEU, chrF and ROUGE-n, on token ids."""

from __future__ import annotations

import numpy as np

from engine.kernels import kernel, kernel_part
from engine.kernels.tables import EMPTY, capacity, slot


@kernel
def clipped_matches(
    hypothesis_ids, hypothesis_offsets, reference_ids, reference_offsets,
    groups, group_offsets, pair_hypothesis, pair_group, order,
):  # fmt: skip
    """Count, per pair, the hypothesis' n-grams that its references hold, each at most as often as the reference with most of it.

    The n-grams of a group of references form a trie. A node's key is (parent node, token), exact in 64 bits: no two n-grams are
    ever taken for one another. Pairs that follow each other with the same group share its trie, so sort them by group; the time
    is that of one table look-up per hypothesis token and order.

    Parameters
    ----------
    hypothesis_ids, reference_ids : int32[n_tokens], any ids ≥ 0. A mask that is to count as a match has the same id on both
        sides; one that is to count as a mistake has an id that the other side does not use.
    hypothesis_offsets, reference_offsets : int64[n_texts + 1]; text i is `ids[offsets[i]:offsets[i + 1]]`.
    groups, group_offsets : int64; the references of group g are `groups[group_offsets[g]:group_offsets[g + 1]]`.
    pair_hypothesis, pair_group : int64[n_pairs].
    order : the longest n-gram, ≥ 1.

    Returns
    -------
    matches : int64[n_pairs, order]; column n - 1 holds the clipped matches of n-grams.
    reference_lengths : int64[n_pairs]; the reference length closest to the hypothesis', the shorter one where two are as close.

    Source: Papineni et al. 2002, section 2 (modified n-gram precision, brevity penalty).
    """
    matches = np.zeros((len(pair_hypothesis), order), np.int64)
    closest = np.zeros(len(pair_hypothesis), np.int64)
    most = _most_nodes(reference_offsets, groups, group_offsets, order)
    keys = np.empty(capacity(most), np.int64)
    children = np.empty(len(keys), np.int32)
    clip = np.zeros(most + 1, np.int32)
    used = np.zeros(most + 1, np.int32)
    current = np.int64(-1)
    mask = np.uint64(0)
    nodes = 1
    for pair in range(len(pair_hypothesis)):
        group = pair_group[pair]
        members = groups[group_offsets[group] : group_offsets[group + 1]]
        if group != current:
            size = capacity(_node_bound(reference_offsets, members, order))
            mask = np.uint64(size - 1)
            keys[:size] = EMPTY
            nodes = _grow(reference_ids, reference_offsets, members, order, keys, children, mask, clip, used)
            current = group
        text = pair_hypothesis[pair]
        tokens = hypothesis_ids[hypothesis_offsets[text] : hypothesis_offsets[text + 1]]
        _match(tokens, order, keys, children, mask, clip, used, matches[pair])
        used[:nodes] = 0
        closest[pair] = _closest(len(tokens), reference_offsets, members)
    return matches, closest


@kernel_part
def _node_bound(offsets, members, order):
    """An upper bound of the number of trie nodes: one per position and order of every reference."""
    total = 0
    for member in members:
        total += order * (offsets[member + 1] - offsets[member])
    return total


@kernel_part
def _most_nodes(offsets, groups, group_offsets, order):
    most = 0
    for group in range(len(group_offsets) - 1):
        most = max(most, _node_bound(offsets, groups[group_offsets[group] : group_offsets[group + 1]], order))
    return most


@kernel_part
def _grow(ids, offsets, members, order, keys, children, mask, clip, used):
    """Build the trie of a group; `clip` becomes each node's largest count in one reference. Returns the number of nodes."""
    nodes = 1  # node 0 is the root
    for member in members:
        start, end = offsets[member], offsets[member + 1]
        for position in range(start, end):
            node = np.int64(0)
            for token in range(position, min(position + order, end)):
                key = (node << 32) | np.int64(ids[token])
                at = slot(keys, mask, key)
                if keys[at] == EMPTY:
                    keys[at] = key
                    children[at] = nodes
                    clip[nodes] = 0
                    nodes += 1
                node = np.int64(children[at])
                used[node] += 1
        for place in range(1, nodes):
            clip[place] = max(clip[place], used[place])
            used[place] = 0
    return nodes


@kernel_part
def _match(tokens, order, keys, children, mask, clip, used, matches):
    """Add the clipped matches of one hypothesis to `matches` (int64[order])."""
    for position in range(len(tokens)):
        node = np.int64(0)
        for size in range(min(order, len(tokens) - position)):
            key = (node << 32) | np.int64(tokens[position + size])
            at = slot(keys, mask, key)
            if keys[at] == EMPTY:
                break
            node = np.int64(children[at])
            if used[node] < clip[node]:
                used[node] += 1
                matches[size] += 1


@kernel_part
def _closest(length, offsets, members):
    """The length of the reference that is closest to `length`; -1 without references."""
    best = np.int64(-1)
    for member in members:
        candidate = offsets[member + 1] - offsets[member]
        nearer = abs(candidate - length) - abs(best - length)
        if best < 0 or nearer < 0 or (nearer == 0 and candidate < best):
            best = candidate
    return best

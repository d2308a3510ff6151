"""Clipped n-gram matches of masked texts: oracle and anti-oracle in one pass, on the token ids of words that are exchanged."""

from __future__ import annotations

import numpy as np

from engine.kernels import kernel, kernel_part
from engine.kernels.tables import EMPTY, capacity, slot

_ROOT = np.int64(0)


@kernel
def masked_matches(
    token_ids, form_offsets, is_mask, forms, hypothesis_words, reference_words, members, member_offsets, hypotheses, groups, order
):
    """Count the clipped n-gram matches of each pair twice: with masks that both sides share, and with masks that match nothing.

    A text is a row of words, a word's form a row of tokens; masking a word gives it another form. Under the oracle masks are
    tokens like any others; under the anti-oracle an n-gram that holds one is on one side only. Both counts come from one trie of
    the references, whose keys are (parent node, token), exact in 64 bits.

    Parameters
    ----------
    token_ids : int32[n]; the tokens of form f are `token_ids[form_offsets[f]:form_offsets[f + 1]]`.
    form_offsets : int64[n_forms + 1].
    is_mask : bool[n_ids]; whether a token holds a mask.
    forms : int32[n_words]; the form of each word of all texts.
    hypothesis_words, reference_words : int64[n_texts, 2]; first word and word after the last of each text.
    members, member_offsets : int64; the references of group g are `members[member_offsets[g]:member_offsets[g + 1]]`.
    hypotheses, groups : int64[n_pairs].
    order : the longest n-gram, ≥ 1.

    Returns
    -------
    int64[n_pairs, 2 · order + 2]: matches under the oracle by order, matches under the anti-oracle by order, tokens of the
    hypothesis, tokens of the reference whose length is closest (the shorter one where two are as close).

    Source: Karidi et al. 2023 (masks); Papineni et al. 2002, section 2 (modified n-gram precision, brevity penalty).
    """
    counts = np.zeros((len(hypotheses), 2 * order + 2), np.int64)
    longest, most = 0, 0
    for pair in range(len(hypotheses)):
        words = hypothesis_words[hypotheses[pair]]
        longest = max(longest, _length(form_offsets, forms, words[0], words[1]))
        nodes = 0
        for place in range(member_offsets[groups[pair]], member_offsets[groups[pair] + 1]):
            words = reference_words[members[place]]
            length = _length(form_offsets, forms, words[0], words[1])
            longest = max(longest, length)
            nodes += order * length
        most = max(most, nodes)
    tokens = np.empty(longest, np.int32)
    keys = np.empty(capacity(most), np.int64)
    children = np.empty(len(keys), np.int32)
    clip = np.zeros(most + 1, np.int32)
    used = np.zeros(most + 1, np.int32)
    plain = np.zeros(most + 1, np.bool_)
    for pair in range(len(hypotheses)):
        words = hypothesis_words[hypotheses[pair]]
        length = _length(form_offsets, forms, words[0], words[1])
        first, last = member_offsets[groups[pair]], member_offsets[groups[pair] + 1]
        bound, closest = 0, -1
        for place in range(first, last):
            span = reference_words[members[place]]
            candidate = _length(form_offsets, forms, span[0], span[1])
            bound += order * candidate
            nearer = abs(candidate - length) - abs(closest - length)
            if closest < 0 or nearer < 0 or (nearer == 0 and candidate < closest):
                closest = candidate
        size = capacity(bound)
        mask = np.uint64(size - 1)
        for at in range(size):
            keys[at] = EMPTY
        nodes = 1
        for place in range(first, last):
            span = reference_words[members[place]]
            count = _read(token_ids, form_offsets, forms, span[0], span[1], tokens)
            nodes = _grow(tokens, count, order, is_mask, keys, children, mask, clip, used, plain, nodes)
        count = _read(token_ids, form_offsets, forms, words[0], words[1], tokens)
        _match(tokens, count, order, keys, children, mask, clip, used, plain, counts[pair])
        for node in range(nodes):
            used[node] = 0
        counts[pair, 2 * order] = length
        counts[pair, 2 * order + 1] = closest
    return counts


@kernel_part
def _length(form_offsets, forms, first, last):
    """The tokens of a row of words."""
    total = 0
    for word in range(first, last):
        form = forms[word]
        total += form_offsets[form + 1] - form_offsets[form]
    return total


@kernel_part
def _read(token_ids, form_offsets, forms, first, last, tokens):
    """Write the tokens of a row of words into `tokens`; returns how many."""
    count = 0
    for word in range(first, last):
        form = forms[word]
        for place in range(form_offsets[form], form_offsets[form + 1]):
            tokens[count] = token_ids[place]
            count += 1
    return count


@kernel_part
def _grow(tokens, count, order, is_mask, keys, children, mask, clip, used, plain, nodes):
    """Add a reference to the trie; `clip` becomes each node's largest count in one reference. Returns the number of nodes."""
    plain[0] = True
    for position in range(count):
        node = _ROOT
        for place in range(position, min(position + order, count)):
            key = (node << 32) | np.int64(tokens[place])
            at = slot(keys, mask, key)
            if keys[at] == EMPTY:
                keys[at] = key
                children[at] = nodes
                clip[nodes] = 0
                plain[nodes] = plain[node] and not is_mask[tokens[place]]
                nodes += 1
            node = np.int64(children[at])
            used[node] += 1
    for node in range(1, nodes):
        clip[node] = max(clip[node], used[node])
        used[node] = 0
    return nodes


@kernel_part
def _match(tokens, count, order, keys, children, mask, clip, used, plain, counts):
    """Add the clipped matches of one hypothesis to `counts`: all of them, and those without a mask."""
    for position in range(count):
        node = _ROOT
        for size in range(min(order, count - position)):
            key = (node << 32) | np.int64(tokens[position + size])
            at = slot(keys, mask, key)
            if keys[at] == EMPTY:
                break
            node = np.int64(children[at])
            if used[node] < clip[node]:
                used[node] += 1
                counts[size] += 1
                if plain[node]:
                    counts[order + size] += 1

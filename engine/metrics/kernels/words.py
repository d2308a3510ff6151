"""Words of texts at white space, numbered; and texts without their white space: on code points, as `str.split` cuts."""

from __future__ import annotations

import numpy as np

from engine.kernels import kernel, kernel_part

_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: spreads keys over the table
_LONG = np.uint64(1) << np.uint64(63)
_PACKED = 9  # characters of 7 bits that fit beside the sign of a long word

SPACES = np.array([chr(code).isspace() for code in range(0x3001)])
"""Whether `str.split` cuts at a code point; there is no white space beyond U+3000."""


@kernel
def number_words(codes, offsets):
    """Cut texts at white space and number their words; equal words have equal numbers, in order of appearance.

    A word's key is the word itself where it is short and plain, else a hash, and then the words are compared in full: no two
    words are ever taken for one another.

    Parameters
    ----------
    codes : int32[n_characters], the code points of all texts.
    offsets : int64[n_texts + 1]; text i is `codes[offsets[i]:offsets[i + 1]]`.

    Returns
    -------
    ids : int32[n_words].
    counts : int64[n_texts], words per text.
    starts, ends : int64[n_distinct], where each distinct word first stands in `codes`.
    """
    ids = np.empty(len(codes) // 2 + len(offsets), np.int32)
    counts = np.zeros(len(offsets) - 1, np.int64)
    starts, ends = np.empty(2048, np.int64), np.empty(2048, np.int64)
    table = np.zeros((2 * len(starts), 2), np.uint64)
    found = np.zeros(2, np.int64)  # words, distinct words
    text = np.int64(0)
    while True:
        text = _number(codes, offsets, text, ids, counts, starts, ends, table, found)
        if text == len(counts):
            return ids[: found[0]].copy(), counts, starts[: found[1]].copy(), ends[: found[1]].copy()
        room = 2 * len(starts)
        while room < found[1] + _most_words(offsets, text):
            room *= 2
        starts, ends, table = _longer(starts, room), _longer(ends, room), _larger(table, 2 * room)


@kernel_part
def _number(codes, offsets, text, ids, counts, starts, ends, table, found):
    """Number the words from a text on, until there may be no room for those of the next one; returns which that is.

    A row of the table is a word's key and its number + 1, or 0 and 0. The tables are not replaced here: a loop that does so pays
    for counting references at every word.
    """
    words, distinct = found[0], found[1]
    mask = np.uint64(len(table) - 1)
    while text < len(counts) and distinct + _most_words(offsets, text) <= len(starts):
        place, end, before = offsets[text], offsets[text + 1], words
        while place < end:
            if _is_space(codes[place]):
                place += 1
                continue
            start = place
            key, mixed, widest = np.uint64(0), np.uint64(0), np.int32(0)
            while place < end and not _is_space(codes[place]):
                code = np.uint64(codes[place] + 1)
                key = (key << np.uint64(7)) | code
                mixed = (mixed ^ code) * _MIX
                widest = max(widest, codes[place])
                place += 1
            if place - start > _PACKED or widest >= 127:
                key = (mixed ^ (mixed >> np.uint64(32))) | _LONG
            slot = _first_slot(key, mask)
            while table[slot, 1]:
                if table[slot, 0] == key and (key < _LONG or _same(codes, start, place, starts, ends, table[slot, 1])):
                    break
                slot = (slot + np.uint64(1)) & mask
            if not table[slot, 1]:
                starts[distinct], ends[distinct] = start, place
                distinct += 1
                table[slot, 0], table[slot, 1] = key, np.uint64(distinct)
            ids[words] = np.int64(table[slot, 1]) - 1
            words += 1
        counts[text] = words - before
        text += 1
    found[0], found[1] = words, distinct
    return text


@kernel_part
def _most_words(offsets, text):
    return (offsets[text + 1] - offsets[text] + 1) // 2


@kernel
def drop_spaces(codes, offsets):
    """Texts without white space: their code points int32[n_kept], and their offsets int64[n_texts + 1]."""
    kept = np.empty(len(codes), np.int32)
    ends = np.zeros(len(offsets), np.int64)
    count = 0
    for text in range(len(offsets) - 1):
        for place in range(offsets[text], offsets[text + 1]):
            kept[count] = codes[place]
            count += not _is_space(codes[place])
        ends[text + 1] = count
    return kept[:count].copy(), ends


@kernel_part
def _is_space(code):
    return SPACES[min(code, 0x3000)] and code <= 0x3000


@kernel_part
def _longer(places, room):
    more = np.empty(room, np.int64)
    for place in range(len(places)):
        more[place] = places[place]
    return more


@kernel_part
def _larger(table, room):
    """The same table with more room."""
    more = np.zeros((room, 2), np.uint64)
    mask = np.uint64(room - 1)
    for place in range(len(table)):
        if table[place, 1]:
            slot = _first_slot(table[place, 0], mask)
            while more[slot, 1]:
                slot = (slot + np.uint64(1)) & mask
            more[slot, 0], more[slot, 1] = table[place, 0], table[place, 1]
    return more


@kernel_part
def _first_slot(key, mask):
    mixed = key * _MIX
    return (mixed ^ (mixed >> np.uint64(32))) & mask


@kernel_part
def _same(codes, start, end, starts, ends, word):
    """Whether `codes[start:end]` is the word of which number + 1 is given."""
    first, last = starts[word - np.uint64(1)], ends[word - np.uint64(1)]
    if last - first != end - start:
        return False
    for step in range(end - start):  # noqa: SIM110 (a generator is not compiled)
        if codes[first + step] != codes[start + step]:
            return False
    return True

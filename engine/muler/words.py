"""Words of tagged texts, so that masking exchanges the forms of a few words and leaves the rest alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.muler.taggers import SPACE
from engine.muler.tagging import TaggedTexts

MOST_TOKENS = 60
"""The most tokens of one word whose masks fit into the bits of a number."""


@dataclass(frozen=True, eq=False)
class Change:
    """The words that a feature changes.

    Attributes
    ----------
    words : int64[n], in order.
    kinds : int64[n]; equal kinds look the same when they are masked.
    examples : int64[n_kinds]; a word of each kind.
    """

    words: np.ndarray
    kinds: np.ndarray
    examples: np.ndarray


class Words:
    """The words of tagged texts: stretches without white space, or their parts where a metric separates them.

    Parameters
    ----------
    cuts : bool[n_tokens]; tokens before which a stretch is cut; nowhere where not given.

    Attributes
    ----------
    first, last : int64[n_words]; tokens of each word, the last one exclusive.
    word_of : int64[n_tokens]; the word of each token, -1 for white space.
    spans : int64[n_texts, 2]; first word of each text and the word after its last.
    """

    def __init__(self, tagged: TaggedTexts, cuts: np.ndarray | None = None) -> None:
        self.tagged = tagged
        solid = (tagged.flags & SPACE) == 0
        begins = solid & ~tagged.glued
        begins[1:] |= solid[1:] & ~solid[:-1]
        if cuts is not None:
            begins |= solid & cuts
        number = np.cumsum(begins) - 1
        self.word_of = np.where(solid, number, -1)
        self.first = np.flatnonzero(begins)
        tokens = np.bincount(self.word_of[solid], minlength=len(self.first))
        self.last = self.first + tokens
        bounds = np.concatenate([[0], np.cumsum(begins)])[tagged.offsets]
        self.spans = np.ascontiguousarray(np.stack([bounds[:-1], bounds[1:]], axis=1))

    @cached_property
    def regular(self) -> bool:
        """Whether uncut words are what `str.split` gives: no token holds white space, and no word has too many tokens."""
        if (self.last - self.first).max(initial=0) > MOST_TOKENS:
            return False
        counts = np.diff(self.spans, axis=1)[:, 0].tolist()
        return all(len(text.split()) == count for text, count in zip(self.tagged.texts, counts))

    @cached_property
    def types(self) -> np.ndarray:
        """Words with the same tokens have the same number, int64[n_words]."""
        length, form = self.last - self.first, self.tagged.form
        types = form[self.first].astype(np.int64)
        used = len(self.tagged.forms)
        for place in range(1, int(length.max(initial=1))):
            longer = np.flatnonzero(length > place)
            pairs = types[longer] * len(self.tagged.forms) + form[self.first[longer] + place]
            distinct, inverse = np.unique(pairs, return_inverse=True)
            types[longer] = used + inverse
            used += len(distinct)
        return types

    def text(self, word: int) -> str:
        """A word as it is written."""
        tagged, first, last = self.tagged, self.first[word], self.last[word] - 1
        return tagged.texts[tagged.text_of[first]][tagged.start[first] : tagged.end[last]]

    def change(self, mask: np.ndarray) -> Change:
        """The words that hold one of the tokens in `mask` (bool[n_tokens]), with equal cases told to be equal."""
        tokens = np.flatnonzero(mask)
        word = self.word_of[tokens]
        begins = np.flatnonzero(np.diff(word, prepend=-1))
        words = word[begins]
        bit = np.left_shift(np.int64(1), tokens - self.first[word])
        bits = np.add.reduceat(bit, begins) if len(begins) else bit
        order = np.lexsort((bits, self.types[words]))
        kinds = np.empty(len(words), np.int64)
        changes = np.ones(len(words), bool)
        changes[1:] = (np.diff(self.types[words[order]]) != 0) | (np.diff(bits[order]) != 0)
        kinds[order] = np.cumsum(changes) - 1
        return Change(words, kinds, words[order[changes]])


def masked_word(
    words: Words, word: int, mask: np.ndarray, joined: np.ndarray, spaces: np.ndarray, write: Callable[[str], str]
) -> str:
    """A word with its masked tokens replaced, spaces added where masks must stand apart.

    Parameters
    ----------
    mask, joined, spaces : bool[n_tokens], as `SpanFinder.extended`, `joined` and `spaces` give them.
    write : from what is masked to what stands for it.
    """
    tagged = words.tagged
    text = tagged.texts[tagged.text_of[words.first[word]]]
    parts: list[str] = []
    token, last = int(words.first[word]), int(words.last[word])
    while token < last:
        end = token + 1
        if spaces[token]:
            parts.append(" ")
        while mask[token] and end < last and joined[end]:
            end += 1
        span = text[tagged.start[token] : tagged.end[end - 1]]
        parts.append(write(span) if mask[token] else span)
        token = end
    return "".join(parts)

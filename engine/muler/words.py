"""Words of tagged texts, so that masking exchanges the forms of a few words and leaves the rest alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from engine.muler.taggers import SPACE
from engine.muler.tagging import TaggedTexts

MOST_TOKENS = 60
"""The most tokens of one word whose masks fit into the bits of a number."""


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

    def written(self, chosen: np.ndarray) -> list[str]:
        """Words (int64[n]) as they are written."""
        tagged, first, last = self.tagged, self.first[chosen], self.last[chosen] - 1
        spans = zip(tagged.text_of[first].tolist(), tagged.start[first].tolist(), tagged.end[last].tolist())
        return [tagged.texts[text][start:end] for text, start, end in spans]

    def tokens(self, chosen: np.ndarray) -> tuple[np.ndarray, list[int]]:
        """The tokens of some words (int64[n]) in a row, int64[m]; and where each word's begin, with the end."""
        lengths = self.last[chosen] - self.first[chosen]
        ends = np.cumsum(lengths)
        tokens = np.arange(int(lengths.sum())) + np.repeat(self.first[chosen] - ends + lengths, lengths)
        return tokens, [0, *ends.tolist()]

    @cached_property
    def single(self) -> np.ndarray:
        """Whether a word is one token, bool[n_words]."""
        return self.last - self.first == 1

    def changed(self, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The words that hold one of the tokens in `mask` (bool[n_tokens]), in order, and which: bit i is the word's token i.

        Returns
        -------
        int64[n], int64[n].
        """
        tokens = np.flatnonzero(mask)
        word = self.word_of[tokens]
        begins = np.flatnonzero(np.diff(word, prepend=-1))
        bit = np.left_shift(np.int64(1), tokens - self.first[word])
        return word[begins], np.add.reduceat(bit, begins) if len(begins) else bit


def alike(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Group equal pairs: where the first of each group is, int64[n_groups], and the group of each pair, int64[n]."""
    order = np.lexsort((second, first))
    begins = np.ones(len(order), bool)
    begins[1:] = (np.diff(first[order]) != 0) | (np.diff(second[order]) != 0)
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(begins) - 1
    return order[begins], group


def masked_words(
    words: Words, chosen: np.ndarray, mask: np.ndarray, joined: np.ndarray, spaces: np.ndarray, write: Callable[[str], str]
) -> list[str]:
    """Words with their masked tokens replaced, spaces added where masks must stand apart.

    Parameters
    ----------
    chosen : int64[n], the words.
    mask, joined, spaces : bool[n_tokens], as `SpanFinder.extended`, `joined` and `spaces` give them.
    write : from what is masked to what stands for it.
    """
    tokens, bounds = words.tokens(chosen)
    own = words.tagged.forms
    columns = [column[tokens].tolist() for column in (words.tagged.form, mask, joined, spaces)]
    rows = [(own[form], *flags) for form, *flags in zip(*columns)]
    return [_written(rows[first:last], write) for first, last in zip(bounds, bounds[1:])]


def _written(rows: list[tuple[str, bool, bool, bool]], write: Callable[[str], str]) -> str:
    """One word: its tokens, each with whether it is masked, shares the mask of the token before it, needs a space before it."""
    parts: list[str] = []
    waiting = ""  # what the next mask stands for
    for form, masked, goes_on, space in rows:
        if waiting and not goes_on:
            parts.append(write(waiting))
            waiting = ""
        if space:
            parts.append(" ")
        if masked:
            waiting += form
        else:
            parts.append(form)
    return "".join([*parts, write(waiting)] if waiting else parts)

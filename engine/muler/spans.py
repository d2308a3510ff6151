"""Spans to mask: which characters of each text a feature covers, so that the words around them stay what they were."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from engine.muler.taggers import POSSESSIVE, SPACE
from engine.muler.tagging import TaggedTexts

_OTHER, _ALWAYS, _POINT, _DIGIT, _HYPHEN = range(5)
_ASCII_PUNCTUATION = frozenset("!\"#$%&()*+/:;<=>?@[\\]^_`{|}~")


@dataclass(frozen=True)
class Style:
    """How a metric splits texts into words, as far as masks must know.

    Attributes
    ----------
    seams : where glued words are separate for the metric: "words" as in mteval-v13a, "unicode" at every punctuation mark, "none"
        where only white space separates.
    sees : "all" tokens; "letters" where the metric drops tokens without a letter or digit, "ascii" where it drops those without
        a Latin letter or digit. What it drops is not masked.
    """

    seams: Literal["words", "unicode", "none"] = "words"
    sees: Literal["all", "letters", "ascii"] = "all"

    def shows(self, form: str) -> bool:
        """Whether the metric sees this token."""
        if self.sees == "all":
            return True
        return any(character.isalnum() and (self.sees == "letters" or character.isascii()) for character in form)


@dataclass(frozen=True, eq=False)
class Spans:
    """What is masked, span by span in the order of the texts.

    Attributes
    ----------
    text : int64[n_spans], index of the text.
    start, end : int64[n_spans], characters.
    first, last : int64[n_spans], tokens (the last one inclusive).
    space_before, space_after : bool[n_spans]; whether the mask needs a space of its own there.
    offsets : int64[n_texts + 1]; the spans of text i are `offsets[i]` … `offsets[i + 1]`.
    """

    text: np.ndarray
    start: np.ndarray
    end: np.ndarray
    first: np.ndarray
    last: np.ndarray
    space_before: np.ndarray
    space_after: np.ndarray
    offsets: np.ndarray

    @property
    def counts(self) -> np.ndarray:
        """Masks per text, int64[n_texts]."""
        return np.diff(self.offsets)

    def numbers(self, numbering: str) -> np.ndarray:
        """The number of each mask, int64[n_spans]: 0 throughout (same), by place in the text (all) or in its run (runs)."""
        if numbering == "same" or not len(self.text):
            return np.zeros(len(self.text), np.int64)
        place = np.arange(len(self.text))
        begins = np.ones(len(self.text), bool)
        begins[1:] = self.text[1:] != self.text[:-1]
        if numbering == "runs":
            begins[1:] |= self.first[1:] != self.last[:-1] + 1
        return place - np.maximum.accumulate(np.where(begins, place, 0))


class SpanFinder:
    """Finds spans in tagged texts for one style of metric."""

    def __init__(self, tagged: TaggedTexts, style: Style) -> None:
        self.tagged = tagged
        self.style = style

    @cached_property
    def seam(self) -> np.ndarray:
        """Whether the metric would separate a token from the one that it is glued to, bool[n_tokens]."""
        classify = _class_of if self.style.seams == "words" else _unicode_class_of
        seam = np.zeros(len(self.tagged.start), bool)
        if self.style.seams == "none" or len(seam) < 2:
            return seam
        known: dict[str, int] = {}
        firsts = np.array([_known(known, form[:1], classify) for form in self.tagged.forms])
        lasts = np.array([_known(known, form[-1:], classify) for form in self.tagged.forms])
        left, right = lasts[self.tagged.form[:-1]], firsts[self.tagged.form[1:]]
        seam[1:] = (left == _ALWAYS) | (right == _ALWAYS)
        seam[1:] |= (left == _POINT) & (right != _DIGIT) | (right == _POINT) & (left != _DIGIT)
        seam[1:] |= (left == _DIGIT) & (right == _HYPHEN)
        hyphen = np.array([form == "-" for form in self.tagged.forms], bool)[self.tagged.form]
        seam[1:] |= hyphen[:-1] & seam[:-1]
        return seam & self.tagged.glued

    @cached_property
    def maskable(self) -> np.ndarray:
        """Tokens that the metric sees and that are not white space, bool[n_tokens]."""
        seen = (self.tagged.flags & SPACE) == 0
        return seen & np.array(list(map(self.style.shows, self.tagged.forms)), bool)[self.tagged.form]

    @cached_property
    def possessive(self) -> np.ndarray:
        """Possessive endings that are written together with their word, bool[n_tokens]."""
        return ((self.tagged.flags & POSSESSIVE) > 0) & self.tagged.glued

    def extended(self, mask: np.ndarray) -> np.ndarray:
        """The tokens that are masked for a feature: its own, and the possessive endings of these, bool[n_tokens]."""
        mask = mask & self.maskable
        mask[1:] |= self.possessive[1:] & mask[:-1]
        return mask

    def joined(self, mask: np.ndarray, entities: bool) -> np.ndarray:
        """Masked tokens that share the mask of the token before them, bool[n_tokens].

        Tokens that are written together share one mask unless the metric separates them; those of one entity always do.
        """
        together = ~self.seam | self.possessive
        if entities:
            begins = np.array([name.startswith("B-") for name in self.tagged.entity_names])[self.tagged.entity]
            together = together | ((self.tagged.entity > 0) & ~begins)
        joined = mask & self.tagged.glued & together
        joined[1:] &= mask[:-1]
        return joined

    def find(self, mask: np.ndarray, entities: bool = False) -> Spans:
        """The spans of the tokens in `mask` (bool[n_tokens])."""
        tagged = self.tagged
        mask = self.extended(mask)
        tokens = np.flatnonzero(mask)
        begins = ~self.joined(mask, entities)[tokens]
        first = tokens[begins]
        last = tokens[np.append(np.flatnonzero(begins)[1:], len(tokens)) - 1] if len(tokens) else tokens
        after = np.minimum(last + 1, max(len(mask) - 1, 0))
        goes_on = (last + 1 < len(mask)) & ~mask[after] if len(first) else np.zeros(0, bool)
        text = tagged.text_of[first]
        offsets = np.concatenate([[0], np.cumsum(np.bincount(text, minlength=len(tagged.texts)))])
        return Spans(
            text, tagged.start[first].astype(np.int64), tagged.end[last].astype(np.int64), first, last,
            self.seam[first], self.seam[after] & goes_on, offsets,
        )  # fmt: skip


def _known(known: dict[str, int], character: str, classify: Callable[[str], int]) -> int:
    if character not in known:
        known[character] = classify(character)
    return known[character]


def _class_of(character: str) -> int:
    if character in _ASCII_PUNCTUATION:
        return _ALWAYS
    if character in (".", ","):
        return _POINT
    if character in ("-",):
        return _HYPHEN
    return _DIGIT if character.isdigit() else _OTHER


def _unicode_class_of(character: str) -> int:
    category = unicodedata.category(character) if character else ""
    if category.startswith("S"):
        return _ALWAYS
    if category.startswith("P"):
        return _POINT
    return _DIGIT if category.startswith("N") else _OTHER

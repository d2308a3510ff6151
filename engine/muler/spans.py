"""Spans to mask: which characters of each text a feature covers, so that the words around them stay what they were."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from engine.muler.taggers import POSSESSIVE, SPACE
from engine.muler.tagging import TaggedTexts

_NONE, _OTHER, _ALWAYS, _POINT, _DIGIT, _HYPHEN = range(6)
_ASCII_PUNCTUATION = frozenset('!"#$%&()*+/:;<=>?@[\\]^_`{|}~')


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
    offsets : int64[n_texts + 1]; the spans of text i are `offsets[i]` … `offsets[i + 1]`.
    spaces : int64[n_spaces]; characters before which a space is put.
    space_offsets : int64[n_texts + 1], as `offsets`.
    """

    text: np.ndarray
    start: np.ndarray
    end: np.ndarray
    first: np.ndarray
    last: np.ndarray
    offsets: np.ndarray
    spaces: np.ndarray
    space_offsets: np.ndarray

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
        """Whether the metric separates a token from the one that it is glued to, bool[n_tokens].

        A full stop or comma is separate unless digits stand on both sides, a hyphen after a digit is, other marks always are.
        """
        tagged, n = self.tagged, len(self.tagged.start)
        if self.style.seams == "none" or n < 2:
            return np.zeros(n, bool)
        first, second, last_but_one, last = (codes[tagged.form] for codes in self._edges)
        glued = tagged.glued
        follows = np.append(np.where(glued[1:], first[1:], _OTHER), _OTHER)  # the class of the character after each token
        precedes = np.insert(np.where(glued[1:], last[:-1], _OTHER), 0, _OTHER)
        after_first = np.where(second == _NONE, follows, second)
        before_last = np.where(last_but_one == _NONE, precedes, last_but_one)
        seam = np.zeros(n, bool)
        left, right = last[:-1], first[1:]
        seam[1:] = (left == _ALWAYS) | (right == _ALWAYS)
        seam[1:] |= (right == _POINT) & ~((left == _DIGIT) & (after_first[1:] == _DIGIT))
        seam[1:] |= (left == _POINT) & ~((before_last[:-1] == _DIGIT) & (right == _DIGIT))
        seam[1:] |= (left == _DIGIT) & (right == _HYPHEN)
        seam[1:] |= self._is_hyphen[:-1] & seam[:-1]
        return seam & glued

    @cached_property
    def _edges(self) -> list[np.ndarray]:
        """The classes of each form's first, second, last but one and last character, int64[n_forms] each."""
        classify = _class_of if self.style.seams == "words" else _unicode_class_of
        known: dict[str, int] = {"": _NONE}
        parts = [[form[:1], form[1:2], form[-2:-1], form[-1:]] for form in self.tagged.forms]
        codes = [[known.setdefault(part, classify(part)) if part not in known else known[part] for part in row] for row in parts]
        return list(np.array(codes, np.int64).reshape(-1, 4).T)

    @cached_property
    def _is_hyphen(self) -> np.ndarray:
        hyphens = np.array([form == "-" for form in self.tagged.forms], bool)
        return hyphens[self.tagged.form] & (self.style.seams == "words")

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
        endings = self._endings
        mask[endings] |= mask[endings - 1]
        return mask

    def joined(self, mask: np.ndarray, entities: bool) -> np.ndarray:
        """Masked tokens that share the mask of the token before them, bool[n_tokens].

        Tokens that are written together share one mask unless the metric separates them; those of one entity always do.
        """
        tokens = np.flatnonzero(mask)
        tokens = tokens[self.tagged.glued[tokens]]
        tokens = tokens[mask[tokens - 1]]
        together = ~self.seam[tokens] | self.possessive[tokens]
        if entities:
            together |= self._inside_entity[tokens]
        joined = np.zeros(len(mask), bool)
        joined[tokens[together]] = True
        return joined

    def spaces(self, mask: np.ndarray, joined: np.ndarray) -> np.ndarray:
        """Tokens before which a space is put so that words stay as separate as they were, bool[n_tokens].

        Parameters
        ----------
        mask, joined : as `extended` and `joined` give them.
        """
        seams, hyphens = self._seams, self._seams_after_hyphens
        spaces = np.zeros(len(mask), bool)
        spaces[seams] = (mask[seams] | mask[seams - 1]) & ~joined[seams]
        spaces[hyphens] |= mask[hyphens - 2] & ~joined[hyphens]  # a hyphen is separate only after a digit
        return spaces

    @cached_property
    def _endings(self) -> np.ndarray:
        return np.flatnonzero(self.possessive)

    @cached_property
    def _seams(self) -> np.ndarray:
        return np.flatnonzero(self.seam)

    @cached_property
    def _seams_after_hyphens(self) -> np.ndarray:
        seams = self._seams[self._seams > 1]
        return seams[self._is_hyphen[seams - 1] & self.seam[seams - 1]]

    @cached_property
    def _inside_entity(self) -> np.ndarray:
        """Tokens of an entity but its first, bool[n_tokens]."""
        inside = np.array([name != "" and not name.startswith("B-") for name in self.tagged.entity_names])
        return inside[self.tagged.entity]

    def find(self, mask: np.ndarray, entities: bool = False) -> Spans:
        """The spans of the tokens in `mask` (bool[n_tokens])."""
        tagged = self.tagged
        mask = self.extended(mask)
        joined = self.joined(mask, entities)
        tokens = np.flatnonzero(mask)
        begins = ~joined[tokens]
        first = tokens[begins]
        last = tokens[np.append(np.flatnonzero(begins)[1:], len(tokens)) - 1] if len(tokens) else tokens
        spaced = np.flatnonzero(self.spaces(mask, joined))
        text = tagged.text_of[first]
        return Spans(
            text, tagged.start[first].astype(np.int64), tagged.end[last].astype(np.int64), first, last,
            _offsets(text, len(tagged.texts)), tagged.start[spaced].astype(np.int64),
            _offsets(tagged.text_of[spaced], len(tagged.texts)),
        )  # fmt: skip


def _offsets(text: np.ndarray, count: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.bincount(text, minlength=count))]).astype(np.int64)


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

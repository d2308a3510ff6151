"""Mask words that cannot occur in a text, and texts with some of their words masked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from engine.errors import InputError
from engine.muler.spans import Spans
from engine.muler.tagging import TaggedTexts

Template = tuple[str | None, ...]

ORACLE, REFERENCE, OUTPUT = range(3)
"""Kinds of mask: one that both sides share, and those of the anti-oracle, which only one side has."""

_PRIVATE = ((0xF0000, 0xFFFFD), (0x100000, 0x10FFFD))
_HAN = ((0x20000, 0x2A6DF),)
_STEMS = ("zqj", "qxz", "jqv", "vqk", "xkq", "wqz", "kqx", "qjk")


@dataclass(frozen=True)
class MaskWords:
    """What stands for a masked word: `word(kind, number)`. Words of different kinds share no character or no whole word."""

    word: Callable[[int, int], str]
    numbered: bool  # whether the masks that only one side has are told apart


class CharacterMasks:
    """Characters that no text holds, to make masks of.

    Parameters
    ----------
    texts : all texts.
    han : False takes private-use characters; True rare Chinese ones, which a tokenizer for Chinese separates like any others.
    """

    def __init__(self, texts: Iterable[str], han: bool = False) -> None:
        ranges = _HAN if han else _PRIVATE
        pattern = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges) + "]")
        used = set().union(*map(pattern.findall, texts))
        self._ranges = ranges
        self._free = [code for code in chain(*_codes(ranges)) if chr(code) not in used] if used else None

    def words(self, length: int = 1) -> MaskWords:
        """Masks of `length` characters.

        Raises
        ------
        InputError : the texts use the characters up.
        """
        codes = _codes(self._ranges)
        share = (sum(map(len, codes)) if self._free is None else len(self._free)) // 3
        most = share // length
        if most < 1:
            raise InputError("the texts use up the private-use characters of Unicode: none are left to mask words with")

        def word(kind: int, number: int) -> str:
            first = kind * share + (number % most) * length
            return "".join(chr(self._code(place)) for place in range(first, first + length))

        return MaskWords(word, False)

    def _code(self, place: int) -> int:
        if self._free is not None:
            return self._free[place]
        for codes in _codes(self._ranges):
            if place < len(codes):
                return codes[place]
            place -= len(codes)
        raise IndexError(place)


def _codes(ranges: Sequence[tuple[int, int]]) -> list[range]:
    return [range(first, last + 1) for first, last in ranges]


def visible_masks(texts: Iterable[str]) -> MaskWords:
    """Masks made of letters and digits that are part of no text, for metrics that drop or merge unknown characters."""
    everything = "\n".join(texts).lower()
    stems = (stem + "q" * times for times in range(64) for stem in _STEMS)
    stem = next(stem for stem in stems if not any(side + stem in everything for side in "oxy"))

    def word(kind: int, number: int) -> str:
        return f"{'oxy'[kind]}{stem}" + (f"{number}q" if number else "")

    return MaskWords(word, True)


def template_of(text: str, tokens: Callable[[str], Sequence[str]] | None) -> Template:
    """What stands for a masked word: a mask for each of its tokens, while marks between letters and digits stay.

    Parameters
    ----------
    tokens : how the metric splits a word; None: a word gets one mask.
    """
    pieces = tokens(text) if tokens is not None else []
    worded = [any(map(str.isalnum, piece)) for piece in pieces]
    if not any(worded):
        return (None,) * max(1, len(pieces))
    return tuple(None if word else piece for piece, word in zip(pieces, worded))


def fill(template: Template, mask: str) -> str:
    """A template with its masks."""
    return " ".join(mask if piece is None else piece for piece in template)


class MaskedTexts:
    """Texts with the spans of one feature masked, made on demand.

    Parameters
    ----------
    tagged, spans : the texts and what is masked in them.
    words : what masks look like.
    numbering : of the oracle's masks: same, all or runs.
    templates : what stands for each span: None for a mask, text for what stays; one mask where not given.
    kept : bool[n_spans]; spans that get the oracle's mask whatever is asked for (hybrid masking).
    """

    def __init__(
        self,
        tagged: TaggedTexts,
        spans: Spans,
        words: MaskWords,
        numbering: str = "same",
        templates: Sequence[Template] | None = None,
        kept: np.ndarray | None = None,
    ) -> None:
        self._texts = tagged.texts
        self._spans = spans
        self._words = words
        self._offsets = spans.offsets.tolist()
        self._start, self._end = spans.start.tolist(), spans.end.tolist()
        self._spaces, self._space_offsets = spans.spaces.tolist(), spans.space_offsets.tolist()
        self._oracle = spans.numbers(numbering).tolist() if numbering != "same" else None
        self._single = spans.numbers("all").tolist() if words.numbered else None
        self._templates = None if templates is None or all(template == (None,) for template in templates) else templates
        self._kept = None if kept is None else kept.tolist()

    def text(self, index: int, kind: int) -> str:
        """One text with its spans masked; itself where it has none."""
        return self.texts([index], [kind])[0][0]

    def mask(self, span: int, kind: int) -> str:
        """What stands for a span."""
        if self._kept is not None and self._kept[span]:
            kind = ORACLE
        numbers = self._oracle if kind == ORACLE else self._single
        word = self._words.word(kind, 0 if numbers is None else numbers[span])
        return word if self._templates is None else fill(self._templates[span], word)

    def texts(self, indices: Sequence[int], kinds: Sequence[int]) -> list[list[str]]:
        """Several texts, once for each kind of mask."""
        masks = [self._words.word(kind, 0) if self._plain(kind) else None for kind in kinds]
        columns: list[list[str]] = [[] for _ in kinds]
        for index in indices:
            first, last = self._offsets[index], self._offsets[index + 1]
            between = self._between(index, first, last) if first < last else [self._texts[index]]
            for column, mask, kind in zip(columns, masks, kinds):
                column.append(self._written(between, first, kind) if mask is None else mask.join(between))
        return columns

    def _written(self, between: list[str], first: int, kind: int) -> str:
        parts = [between[0]]
        for span, following in enumerate(between[1:], first):
            parts += (self.mask(span, kind), following)
        return "".join(parts)

    def _plain(self, kind: int) -> bool:
        """Whether all masks of a kind are the same word."""
        numbers = self._oracle if kind == ORACLE else self._single
        return numbers is None and self._templates is None and self._kept is None

    def _between(self, index: int, first: int, last: int) -> list[str]:
        """What stands before, between and after the masks of a text."""
        between: list[str] = []
        text, place = self._texts[index], 0
        spaces = self._spaces[self._space_offsets[index] : self._space_offsets[index + 1]]
        if spaces:
            return self._spaced(text, first, last, spaces)
        for span in range(first, last):
            between.append(text[place : self._start[span]])
            place = self._end[span]
        between.append(text[place:])
        return between

    def _spaced(self, text: str, first: int, last: int, spaces: list[int]) -> list[str]:
        """`_between` with spaces put in; one at the start of a mask stands before it."""
        between: list[str] = []
        place, pending = 0, 0
        for end in (*self._start[first:last], len(text) + 1):
            part: list[str] = []
            while pending < len(spaces) and spaces[pending] <= end:
                part += (text[place : spaces[pending]], " ")
                place = spaces[pending]
                pending += 1
            between.append("".join([*part, text[place:end]]))
            place = self._end[first + len(between) - 1] if len(between) <= last - first else end
        return between


def average_length(spans: Spans, texts: np.ndarray) -> int:
    """The mean length of the spans in some texts (int64[k], repeats count), in characters and at least 1."""
    times = np.bincount(texts, minlength=len(spans.offsets) - 1)[spans.text]
    total = times.sum()
    return max(1, round(float((times * (spans.end - spans.start)).sum() / total))) if total else 1

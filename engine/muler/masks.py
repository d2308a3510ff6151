"""Mask words that cannot occur in a text, and texts with some of their words masked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from engine.errors import InputError
from engine.muler.spans import Spans
from engine.muler.tagging import TaggedTexts

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
        self._free = [chr(code) for first, last in ranges for code in range(first, last + 1) if chr(code) not in used]

    def words(self, length: int = 1) -> MaskWords:
        """Masks of `length` characters.

        Raises
        ------
        InputError : the texts use the characters up.
        """
        free, share = self._free, len(self._free) // 3
        most = share // length
        if most < 1:
            raise InputError("the texts use up the private-use characters of Unicode: none are left to mask words with")

        def word(kind: int, number: int) -> str:
            first = kind * share + (number % most) * length
            return "".join(free[first : first + length])

        return MaskWords(word, False)


def visible_masks(texts: Iterable[str]) -> MaskWords:
    """Masks made of letters and digits that are part of no text, for metrics that drop or merge unknown characters."""
    everything = "\n".join(texts).lower()
    stems = (stem + "q" * times for times in range(64) for stem in _STEMS)
    stem = next(stem for stem in stems if not any(side + stem in everything for side in "oxy"))

    def word(kind: int, number: int) -> str:
        return f"{'oxy'[kind]}{stem}" + (f"{number}q" if number else "")

    return MaskWords(word, True)


class MaskedTexts:
    """Texts with the spans of one feature masked, made on demand.

    Parameters
    ----------
    tagged, spans : the texts and what is masked in them.
    words : what masks look like.
    numbering : of the oracle's masks: same, all or runs.
    """

    def __init__(self, tagged: TaggedTexts, spans: Spans, words: MaskWords, numbering: str = "same") -> None:
        self._texts = tagged.texts
        self._spans = spans
        self._words = words
        self._offsets = spans.offsets.tolist()
        self._start, self._end = spans.start.tolist(), spans.end.tolist()
        self._before, self._after = spans.space_before.tolist(), spans.space_after.tolist()
        self._oracle = spans.numbers(numbering).tolist() if numbering != "same" else None
        self._single = spans.numbers("all").tolist() if words.numbered else None

    def text(self, index: int, kind: int) -> str:
        """One text with its spans masked; itself where it has none."""
        first, last = self._offsets[index], self._offsets[index + 1]
        if first == last:
            return self._texts[index]
        numbers = self._oracle if kind == ORACLE else self._single
        between = self._between(index, first, last)
        if numbers is None:
            return self._words.word(kind, 0).join(between)
        parts = [between[0]]
        for number, following in zip(numbers[first:last], between[1:]):
            parts += (self._words.word(kind, number), following)
        return "".join(parts)

    def texts(self, indices: Sequence[int], kinds: Sequence[int]) -> list[list[str]]:
        """Several texts, once for each kind of mask; quick where masks are not numbered."""
        if self._oracle is not None or self._single is not None:
            return [[self.text(index, kind) for index in indices] for kind in kinds]
        masks = [self._words.word(kind, 0) for kind in kinds]
        columns: list[list[str]] = [[] for _ in kinds]
        for index in indices:
            first, last = self._offsets[index], self._offsets[index + 1]
            between = self._between(index, first, last) if first < last else [self._texts[index]]
            for column, mask in zip(columns, masks):
                column.append(mask.join(between))
        return columns

    def _between(self, index: int, first: int, last: int) -> list[str]:
        """What stands before, between and after the masks of a text."""
        text, place, between, lead = self._texts[index], 0, [], ""
        for span in range(first, last):
            kept = lead + text[place : self._start[span]]
            between.append(kept + " " if self._before[span] else kept)
            lead = " " if self._after[span] else ""
            place = self._end[span]
        between.append(lead + text[place:])
        return between


def average_length(spans: Spans, texts: np.ndarray) -> int:
    """The mean length of the spans in some texts (int64[k], repeats count), in characters and at least 1."""
    times = np.bincount(texts, minlength=len(spans.offsets) - 1)[spans.text]
    total = times.sum()
    return max(1, round(float((times * (spans.end - spans.start)).sum() / total))) if total else 1

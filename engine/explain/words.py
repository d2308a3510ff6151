"""Words of a text as explanations see them, and texts with some of their words masked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

# Unicode white space, and the zero width space that separates words in Thai and Khmer.
_SEPARATORS = r"\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u3000"

# Scripts that are written without spaces, with the punctuation that belongs to them.
_UNSPACED = (
    r"\u0e01-\u0eff"  # Thai, Lao
    r"\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f"  # Myanmar
    r"\u1780-\u17ff\u19e0-\u19ff"  # Khmer
    r"\u2e80-\u2fdf\u3001-\u312f\u3190-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han, Kana, Bopomofo
    r"\ufe30-\ufe4f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff9f"  # full-width punctuation, half-width Kana
    r"\U00016fe0-\U00016fe4\U0001aff0-\U0001b16f\U00020000-\U0003fffd"  # Han and Kana beyond the basic plane
)

_SPACED_WORD = re.compile(f"[^{_SEPARATORS}]+")
_HAS_UNSPACED = re.compile(f"[{_UNSPACED}]")


class Word(NamedTuple):
    """A word and where it stands: characters `start` to `end` (exclusive) of its text."""

    text: str
    start: int
    end: int


def split_words(text: str) -> list[Word]:
    """Split a text into words.

    A word is a stretch without white space in scripts that write spaces, and one grapheme cluster in scripts that do
    not (Han, Kana, Thai, Lao, Khmer, Myanmar). Mixed texts are split run by run.

    Returns
    -------
    The words in order. What stands between them is white space or nothing.
    """
    pattern = _mixed_word() if _HAS_UNSPACED.search(text) else _SPACED_WORD
    return [Word(match[0], match.start(), match.end()) for match in pattern.finditer(text)]


def count_words(text: str) -> int:
    """The number of words of a text, without making them."""
    pattern = _mixed_word() if _HAS_UNSPACED.search(text) else _SPACED_WORD
    return sum(1 for _ in pattern.finditer(text))


def rebuild(text: str, words: Sequence[Word], keep: Sequence[bool] | np.ndarray, mask_word: str, separators: str = "drop") -> str:
    """Rebuild a text with some words masked; see `rebuild_many`."""
    return rebuild_many(text, words, np.asarray(keep, dtype=bool)[None, :], mask_word, separators)[0]


def rebuild_many(text: str, words: Sequence[Word], keep: np.ndarray, mask_word: str, separators: str = "drop") -> list[str]:
    """Rebuild a text many times, each time with other words masked; see `Masker`."""
    return Masker(text, words, mask_word, separators)(keep)


class Masker:
    """Rebuilds a text, again and again, with some of its words masked.

    Parameters
    ----------
    text, words : a text and its words.
    mask_word : what stands for a masked word. Empty: the word is removed.
    separators : what a removed word does to the space around it. "drop": it takes the separator before it along, or
        the one after it where no word is left before it; "keep": both stay.
    """

    def __init__(self, text: str, words: Sequence[Word], mask_word: str, separators: str = "drop") -> None:
        gaps = ["", *(text[left.end : right.start] for left, right in zip(words, words[1:]))]
        self._removing = mask_word == "" and separators == "drop"
        self._bare = _strings([word.text for word in words])
        self._kept = _strings([gap + word.text for gap, word in zip(gaps, words)])
        self._masked = _strings([""] * len(words) if self._removing else [gap + mask_word for gap in gaps])
        self._before = text[: words[0].start] if words else text
        self._after = text[words[-1].end :] if words else ""

    def __call__(self, keep: np.ndarray) -> list[str]:
        """Rebuild the text once per row of `keep`.

        Parameters
        ----------
        keep : bool[n_variants, n_words]; False where a word is masked.

        Returns
        -------
        n_variants texts. Separators stay as they were; a row without masked words gives the text byte for byte.
        """
        cells = np.where(keep, self._kept, self._masked)
        if self._removing and len(self._bare):
            first = keep.argmax(axis=1)
            rows = np.flatnonzero(keep.any(axis=1))
            cells[rows, first[rows]] = self._bare[first[rows]]
        joined = map("".join, cells.tolist())
        if self._before or self._after:
            return [self._before + middle + self._after for middle in joined]
        return list(joined)


def _strings(texts: list[str]) -> np.ndarray:
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array


@cache
def _mixed_word() -> Any:
    """A word in a text that holds a script without spaces: a grapheme cluster of it, or a run of other clusters."""
    import regex

    return regex.compile(rf"(?=[{_UNSPACED}])\X|(?:(?![{_UNSPACED}{_SEPARATORS}])\X)+")

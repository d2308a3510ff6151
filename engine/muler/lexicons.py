"""Lexicons: words with values or classes, the user's own and the lists that ship."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from engine.errors import InputError

_FOLDER = Path(__file__).resolve().parents[2] / "assets" / "lexicons"


ALONE = "words"
"""The class of all words of a list without values."""
_COMMA = re.compile(r"[+-]?\d+,\d+")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Words with what is known of them.

    Attributes
    ----------
    name : what it is called on screen and in feature names.
    values : word → number, or word → name of a class; one kind for all words.
    left_out : entries of several words, which are not looked up.
    """

    name: str
    values: Mapping[str, float] | Mapping[str, str]
    left_out: int = 0

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers."""
        return all(isinstance(value, float) for value in self.values.values())

    def lookup(self, forms: Sequence[str]) -> list[float | str | None]:
        """What is known of word forms as they are written, else in lower case; None where nothing is."""
        return [self.values.get(form, self.values.get(form.lower())) for form in forms]

    def classes(self, bins: int) -> tuple[list[str], dict[str, int]]:
        """The classes of the lexicon's words; numbers fall into bins that hold about equally many words.

        Returns
        -------
        Names of the classes, and word → class. A bin is called after its smallest and largest value.
        """
        words = list(self.values)
        if not self.numeric:
            names = sorted({str(value) for value in self.values.values()})
            places = {name: place for place, name in enumerate(names)}
            return names, {word: places[str(value)] for word, value in self.values.items()}
        numbers = np.array([self.values[word] for word in words], float)
        inner = np.quantile(numbers, np.arange(1, bins) / bins)
        _, place = np.unique(np.searchsorted(inner, numbers, side="left"), return_inverse=True)
        names = []
        for group in range(int(place.max(initial=-1)) + 1):
            inside = numbers[place == group]
            names.append(f"{inside.min():g}…{inside.max():g}" if inside.min() < inside.max() else f"{inside.min():g}")
        return names, dict(zip(words, place.tolist()))


def read_lexicon(path: str | Path, name: str = "") -> Lexicon:
    """Read a lexicon from a file: a word, a tab (semicolon, comma), a number or the name of a class on each line.

    Numbers may be written with a decimal comma. A first line whose value is no number while all others are is taken for a
    heading; `#` starts a comment. Where no line has a value, all words are one class.

    Raises
    ------
    InputError : the file is missing, is not UTF-8, or a line does not fit; the message names file, line and remedy.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as fault:
        raise InputError(f"{path}: the lexicon cannot be read ({fault.strerror}); check the path") from fault
    return parse_lexicon(data, name or path.stem, str(path))


def parse_lexicon(data: bytes, name: str, file: str) -> Lexicon:
    """A lexicon from the bytes of a file; see `read_lexicon`."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        place = data.count(b"\n", 0, fault.start) + 1
        raise InputError(f"{file}, line {place}: the lexicon is not UTF-8; save it as UTF-8") from fault
    lines = [(number, line.removesuffix("\r")) for number, line in enumerate(text.split("\n"), 1)]
    lines = [(number, line) for number, line in lines if line.strip() and not line.startswith("#")]
    alone = not any(separator in line for _, line in lines for separator in "\t;,")
    rows = [(number, *_entry(f"{line}\t{ALONE}" if alone else line, f"{file}, line {number}")) for number, line in lines]
    if not rows:
        raise InputError(
            f"{file}: the lexicon holds no words; give one word per line, and a tab and a value where words have one"
        )
    if len(rows) > 1 and "\t" not in text and all("," in word for _, word, _ in rows):
        raise InputError(f"{file}: all lines have more than two columns; keep the word and one value")
    values = _values(rows, file)
    single = {word: value for word, value in values.items() if not any(map(str.isspace, word))}
    if not single:
        raise InputError(f"{file}: all entries are of several words, which are not looked up; give single words")
    return Lexicon(name, single, len(values) - len(single))  # type: ignore[arg-type]


def _entry(line: str, place: str) -> tuple[str, str]:
    """The word and the value of a line: split at a tab, else at the only semicolon, else at the last comma."""
    if any(sign < " " and sign != "\t" for sign in line):
        raise InputError(f"{place}: the line holds control characters; save the lexicon as plain text")
    cells = [cell.strip().strip('"') for cell in line.rstrip().split("\t")]
    if len(cells) == 1:
        cells = [cell.strip().strip('"') for cell in line.rstrip().split(";")]
        if len(cells) != 2 or not all(cells):
            cells = [cell.strip().strip('"') for cell in line.rpartition(",")[::2]]
    if len(cells) > 2:
        raise InputError(f"{place}: the line has {len(cells)} columns; keep the word and one value")
    if len(cells) < 2 or not all(cells):
        raise InputError(f"{place}: {line[:60]!r} is not a word, a tab and a value; mend or remove the line")
    return cells[0], cells[1]


def word_list(language: str, family: str) -> dict[str, str] | None:
    """A list that ships: word in lower case → class; None where there is none for the language."""
    path = _FOLDER / f"{language}-{family}.tsv"
    return dict(_shipped(path)) if path.is_file() else None


def languages_with(family: str) -> list[str]:
    """The languages for which a list of this family ships."""
    return sorted(path.name.partition("-")[0] for path in _FOLDER.glob(f"*-{family}.tsv"))


@lru_cache(64)
def _shipped(path: Path) -> tuple[tuple[str, str], ...]:
    return tuple((word, str(value)) for word, value in read_lexicon(path).values.items())


def _values(rows: Sequence[tuple[int, str, str]], file: str) -> dict[str, float] | dict[str, str]:
    numbers = _numbers([value for _, _, value in rows], file)
    if len(rows) > 1 and numbers[0] is None and None not in numbers[1:]:
        rows, numbers = rows[1:], numbers[1:]
    if all(number is None for number in numbers):
        return _unique([(line, word, value) for line, word, value in rows], file)
    if None in numbers:
        line, _, value = rows[numbers.index(None)]
        raise InputError(
            f"{file}, line {line}: {value!r} is no number, but other lines have numbers; use numbers or names throughout"
        )
    return _unique([(line, word, float(number or 0.0)) for (line, word, _), number in zip(rows, numbers)], file)


def _unique(rows: Sequence[tuple[int, str, float | str]], file: str) -> dict:
    values: dict[str, float | str] = {}
    for line, word, value in rows:
        if values.setdefault(word, value) != value:
            raise InputError(f"{file}, line {line}: {word!r} has another value above ({values[word]}); keep one of the two lines")
    return values


def _numbers(texts: Sequence[str], file: str) -> list[float | None]:
    """The values as numbers, None where one is none. A comma stands before decimals, unless it may part thousands."""
    commas = [text for text in texts if _COMMA.fullmatch(text)]
    if commas and all(_THOUSANDS.fullmatch(text) for text in commas):
        raise InputError(f"{file}: {commas[0]!r} may be with decimals or in thousands; write it without a comma")
    return [_number(text.replace(",", ".") if _COMMA.fullmatch(text) else text) for text in texts]


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) else None

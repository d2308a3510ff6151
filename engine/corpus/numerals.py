"""Numbers as people write them: decimal points and commas, thousands set apart; a column is read in one way, or not at all."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.corpus.findings import Findings

MISSING = frozenset({"", "none", "nan", "na", "n/a", "#n/a", "null", "nil", "-", "--", "–", "—", "<na>", "."})
"""How a missing score is written, in lower case."""

_LARGEST = 1.7e308
_FEW = 0.1
_PLAIN = frozenset("0123456789.-+eE\n")
_POINTED = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")  # 1,234.5
_COMMAED = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d+)?")  # 1.234,5
_SPACED = re.compile(r"(?<=\d)[ '\u2019\u00a0\u2009\u202f](?=\d{3}(?!\d))")  # 1 234,5 and 1'234.5


@dataclass(frozen=True)
class Numbers:
    """A column of numbers.

    Attributes
    ----------
    values : the number of each cell; NaN where it is missing, None where it is no number or cannot be told.
    unsure : the cells among these that could be either of two numbers (1,234 beside 0.5).
    mixed : cells that write decimals otherwise than most of the column does.
    guessed : cells read with a decimal comma, although all of them could have thousands set apart (1,234).
    """

    values: list[float | None]
    unsure: list[int]
    mixed: list[int]
    guessed: list[int]

    @property
    def wrong(self) -> list[int]:
        """Cells that are no number."""
        unsure = set(self.unsure)
        return [row for row, value in enumerate(self.values) if value is None and row not in unsure]


def number(cell: Any, any_style: bool = False) -> float | None:
    """The number in a cell (85 for 85%); NaN where it is missing, None where it is no number.

    `any_style`: 3,2 and 1.234,5 and 1,234.5 are numbers too; where one cell alone could be two numbers, a comma is decimal.
    """
    if cell is None:
        return float("nan")
    if isinstance(cell, (int, float)):
        return float(cell) if abs(cell) <= _LARGEST else None
    if not isinstance(cell, str):
        return None
    text = cell.strip().replace("\u2212", "-")
    if text.lower() in MISSING:
        return float("nan")
    value = _float(text.removesuffix("%").rstrip())
    if value is None and any_style:
        pointed, commaed = _readings(cell)
        return pointed if commaed is None else commaed
    return value


def numbers(cells: Sequence[Any]) -> Numbers:
    """The numbers of a column, read in the one way that its cells allow.

    A cell may settle how decimals are written (0,5 or 1.234,5: with a comma; 0.5 or 1,234.5: with a point) or leave it open
    (1,234). Open cells follow those that settle it; thousands are only read where some cell has them for certain. Columns without
    any settled cell are read as Python does, or with decimal commas. Where both ways are common, open cells stay unread.
    """
    plain = _plain(cells)
    if plain is not None:
        return Numbers(plain, [], [], [])
    values = [number(cell) for cell in cells]
    if not any(isinstance(cell, str) and ("," in cell or value is None) for cell, value in zip(cells, values)):
        return Numbers(values, [], [], [])
    readings = {row: _readings(cell) for row, cell in enumerate(cells) if isinstance(cell, str) and _separated(cell)}
    points = [row for row, (pointed, commaed) in readings.items() if pointed is not None and commaed is None]
    commas = [row for row, (pointed, commaed) in readings.items() if commaed is not None and pointed is None]
    either = [row for row, (pointed, commaed) in readings.items() if None not in (pointed, commaed) and pointed != commaed]
    for row, (pointed, commaed) in readings.items():
        values[row] = commaed if pointed is None else pointed
    mixed = sorted(min(points, commas, key=len)) if points and commas else []
    if len(mixed) <= _FEW * len(readings):  # the others say how the column is written
        points, commas = ([] if mixed == side else side for side in (points, commas))
    for row in either:
        values[row] = _settled(str(cells[row]), readings[row], cells, points, commas, either)
    unsure = [row for row in either if values[row] is None]
    guessed = [] if points or commas or unsure else [row for row in either if "," in str(cells[row])]
    return Numbers(values, unsure, mixed, guessed)


def report_numbers(found: Numbers, what: str, lines: Sequence[int], file: str, findings: Findings) -> None:
    """Report numbers that could be others. `what` begins the sentences ("Column 'da'"); `lines` has the line of each cell."""
    example = "write decimals with a point and thousands without any sign"
    for rows, kind, message in (
        (found.unsure, "ambiguous-numbers", "has numbers whose comma or point may be decimal or set thousands apart"),
        (found.mixed, "mixed-numbers", "writes decimals with points and with commas; they were read as each can only be meant"),
        (found.guessed, "ambiguous-numbers", "has commas that may be decimal or set thousands apart; they were read as decimal"),
    ):
        if rows:
            missing = "; they count as missing" if rows is found.unsure else ""
            places = [lines[row] for row in rows]
            findings.lines(kind, file, places, f"{what} {message}, in {{lines}}{missing}.", f"Correct them: {example}.")


def _plain(cells: Sequence[Any]) -> list[float | None] | None:
    """The numbers of a column that holds nothing but plain ones, the usual case, at once; None where it holds anything else."""
    kinds = set(map(type, cells))
    if kinds != {str} and not kinds <= {int, float}:
        return None
    if kinds == {str} and not set("\n".join(cells)) <= _PLAIN:
        return None
    try:
        values: list[float | None] = list(map(float, cells))
    except (ValueError, OverflowError):
        return None
    return values if all(map(math.isfinite, values)) else None


def _settled(
    text: str,
    reading: tuple[float | None, float | None],
    cells: Sequence[Any],
    points: Sequence[int],
    commas: Sequence[int],
    either: Sequence[int],
) -> float | None:
    """The number of a cell that could be two; None where the column does not tell which."""
    pointed, commaed = reading
    if points and commas:
        return None
    if not points and not commas:
        both = len({"," in str(cells[row]) for row in either}) == 2
        return None if both else commaed if "," in text else pointed
    decimal, other, settled = (".", ",", points) if points else (",", ".", commas)
    grouped = decimal in text or any(other in str(cells[row]) for row in settled)
    return (pointed if points else commaed) if grouped else None


def _separated(cell: str) -> bool:
    return "," in cell or "." in cell or _SPACED.search(cell) is not None


def _readings(cell: str) -> tuple[float | None, float | None]:
    """The number in a cell with decimal points, and with decimal commas; None where it cannot be read so."""
    text = cell.strip().replace("\u2212", "-").removesuffix("%").rstrip()
    if text.lower() in MISSING:
        return None, None
    text = _SPACED.sub("", text)
    pointed = _float(text.replace(",", "") if _POINTED.fullmatch(text) else text)
    if _COMMAED.fullmatch(text):
        return pointed, _float(text.replace(".", "").replace(",", "."))
    if "," not in text and "." not in text:
        return pointed, pointed
    return pointed, _float(text.replace(",", ".")) if text.count(",") == 1 and "." not in text else None


def _float(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) <= _LARGEST and "_" not in text else None

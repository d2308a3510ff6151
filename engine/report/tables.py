"""A table for people to read in a terminal: aligned, with sensible digits, nothing cut off."""

from __future__ import annotations

import math
import textwrap
import unicodedata
from collections.abc import Sequence
from typing import Any

import pandas as pd

MISSING = "–"
WIDEST = 60
SIGNIFICANT = 4
_TURNS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # embeddings, overrides and isolates of the reading direction


def render_table(frame: pd.DataFrame, widest: int = WIDEST) -> str:
    """A table as plain text.

    Numbers are aligned right with the digits that the largest of their column needs, metric by metric; texts longer than
    `widest` go on in the next line; control characters are shown as escapes; what is missing is a dash. Signatures
    stand below the table.
    """
    below = []
    if {"metric", "signature"} <= set(frame.columns):
        pairs = frame[["metric", "signature"]].drop_duplicates()
        below = ["", *(f"{metric}: {signature}" for metric, signature in pairs.itertuples(index=False))]
        frame = frame.drop(columns="signature")
    names = [printable(str(name)) for name in frame.columns]
    if frame.empty:
        return "\n".join(["  ".join(names), "(no rows)", *below])
    right = [pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind) for kind in frame.dtypes]
    kinds = frame["metric"].tolist() if "metric" in frame else [None] * len(frame)
    columns = [[[name], *_cells(frame.iloc[:, place], kinds, widest)] for place, name in enumerate(names)]
    widths = [max(width(line) for cell in column for line in cell) for column in columns]
    lines = [line for row in zip(*columns, strict=True) for line in _row(row, widths, right)]
    lines.insert(1, "  ".join("-" * size for size in widths))
    return "\n".join([*lines, *below])


def width(text: str) -> int:
    """Columns that a text takes in a terminal: two for East Asian wide characters, none for combining ones."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(letter) or unicodedata.category(letter) in ("Mn", "Me", "Cf") else
        2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )  # fmt: skip


def _cells(column: pd.Series, kinds: Sequence[Any], widest: int) -> list[list[str]]:
    """The lines of each cell; `kinds` says which numbers are of one scale."""
    values = column.tolist()
    missing = column.isna().tolist()
    scales: dict[Any, list[Any]] = {}
    for kind, value in zip(kinds, values, strict=True):
        scales.setdefault(kind, []).append(value)
    decimal = pd.api.types.is_float_dtype(column.dtype)
    places = {kind: _places(numbers) if decimal else 0 for kind, numbers in scales.items()}
    return [
        [MISSING] if gone else _lines(item, places[kind], widest) for kind, item, gone in zip(kinds, values, missing, strict=True)
    ]


def _lines(value: Any, places: int, widest: int) -> list[str]:
    if isinstance(value, float):
        return [_number(value, places)]
    text = printable(str(value))
    if width(text) <= widest:
        return [text]
    return textwrap.wrap(text, widest, break_on_hyphens=False) or [text]


def _places(values: Sequence[Any]) -> int:
    """Decimals for a column of numbers."""
    sizes = [abs(value) for value in values if isinstance(value, float) and math.isfinite(value)]
    largest = max(sizes, default=0.0)
    if largest == 0 or all(float(value).is_integer() for value in sizes):
        return 0 if largest else 1
    return min(6, max(0, SIGNIFICANT - 1 - math.floor(math.log10(largest))))


def _number(value: float, places: int) -> str:
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    text = f"{value:.{places}f}"
    if value and not float(text):
        return f"{value:.1e}"
    return text.lstrip("-") if not float(text) else text


def printable(text: str) -> str:
    """Control characters as escapes, so that a text cannot move the cursor, break the line or turn what follows around."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or unicodedata.category(letter) in ("Cf", "Zs", "Co", "Cn") and letter not in _TURNS else
        letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )  # fmt: skip


def _row(cells: Sequence[list[str]], widths: Sequence[int], right: Sequence[bool]) -> list[str]:
    lines = []
    for line in range(max(map(len, cells))):
        parts = []
        for cell, size, to_right in zip(cells, widths, right, strict=True):
            text = cell[line] if line < len(cell) else ""
            gap = " " * (size - width(text))
            parts.append(gap + text if to_right else text + gap)
        lines.append("  ".join(parts).rstrip())
    return lines

"""A table as read from a file: named columns of cells, the line of each row, and where its header stands."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.corpus.findings import Findings, enumerated, refuse
from engine.corpus.names import known, sure
from engine.corpus.numerals import number

MOST_COLUMNS = 5_000
"""The widest table that is read."""


@dataclass(frozen=True)
class Grid:
    """A table. A cell is text, a number, a list of texts (JSON), or None where it is missing.

    Attributes
    ----------
    file, reader : the file's name on screen and the kind of file ("TSV", "XLSX", …).
    columns : column name → cells, all of equal length.
    lines : the line (or row) of each record in the file.
    groups : columns that came from one nested object of scores (JSON): column → the group's name.
    header : False where the file does not name its columns; they are called 1, 2, 3 … then.
    """

    file: str
    reader: str
    columns: Mapping[str, Sequence[Any]]
    lines: Sequence[int]
    groups: Mapping[str, str] = field(default_factory=dict)
    header: bool = True

    def __len__(self) -> int:
        return len(self.lines)

    def head(self, count: int = 20) -> tuple[tuple[str, ...], ...]:
        """The first rows as text, for a preview."""
        return tuple(tuple(shown(cells[row]) for cells in self.columns.values()) for row in range(min(count, len(self))))


def shown(cell: Any) -> str:
    """A cell as text; "" where it is missing."""
    if type(cell) is str:
        return cell
    if cell is None:
        return ""
    if isinstance(cell, list):
        return " | ".join(map(shown, cell))
    return number_text(cell) if isinstance(cell, (int, float)) else str(cell)


def number_text(value: float) -> str:
    """A number as people write it: 5 for 5.0."""
    if isinstance(value, bool):
        return str(value)
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)


def find_header(rows: Sequence[Sequence[Any]], looked_at: int = 15) -> int | None:
    """The index of the row that names the columns; None where there is none.

    A row with names that are known for evaluation data wins; else the first full row, where it looks unlike the rows below.
    """
    counts = [sum(known(cell) for cell in row if isinstance(cell, str)) for row in rows[:looked_at]]
    numeric = [sum(isinstance(cell, (int, float)) or _is_number(cell) for cell in row) for row in rows[:looked_at]]
    best = max(range(len(counts)), key=lambda index: (counts[index] - numeric[index], -index), default=None)
    if best is not None and not numeric[best] and counts[best] >= 0.25 * sum(map(_filled, rows[best])):
        named = counts[best] >= 2 or any(isinstance(cell, str) and sure(cell) for cell in rows[best])
        if named:
            return best
    widest = max((sum(map(_filled, row)) for row in rows[:looked_at]), default=0)
    first = next((index for index, row in enumerate(rows[:looked_at]) if sum(map(_filled, row)) >= max(2, 0.7 * widest)), None)
    return first if first is not None and _looks_like_names(rows[first], rows[first + 1 : first + 60]) else None


def make_grid(
    file: str,
    reader: str,
    header: Sequence[Any] | None,
    columns: Sequence[Sequence[Any]],
    lines: Sequence[int],
    findings: Findings,
) -> Grid:
    """Give columns their names; without a header these are 1, 2, 3 …

    Raises
    ------
    Refused : more columns than are read.
    """
    check_width(len(columns), file)
    if header is None:
        names = [str(index + 1) for index in range(len(columns))]
        return Grid(file, reader, dict(zip(names, columns)), lines, header=False)
    names = _names(header, file, max(1, lines[0] - 1), findings)
    return Grid(file, reader, dict(zip(names, columns)), lines)


def check_width(count: int, file: str) -> None:
    """Refuse a table with more columns than anyone could map.

    Raises
    ------
    Refused : there are more than `MOST_COLUMNS`.
    """
    if count > MOST_COLUMNS:
        message = f"The table has {count:,} columns; no more than {MOST_COLUMNS:,} are read."
        remedy = "Leave out columns that are not needed; where segments stand side by side, exchange rows and columns."
        raise refuse("too-many-columns", file, message, remedy, 1)


def promote(grid: Grid, names: Collection[str]) -> Grid:
    """Take the first row for the header after all, where it holds names that the user gave."""
    first = [shown(cells[0]).strip() for cells in grid.columns.values()]
    if grid.header or len(grid) < 2 or not set(first) & set(names) or len(set(first)) < len(first):
        return grid
    columns = {name: cells[1:] for name, cells in zip(first, grid.columns.values())}
    return Grid(grid.file, grid.reader, columns, grid.lines[1:], grid.groups)


def report_header(grid: Grid, findings: Findings) -> None:
    """Report a table without a header."""
    if not grid.header:
        message = "The table has no header row; its columns are called by number: 1, 2 and so on."
        remedy = "Add a row with the columns' names, or name the columns by number."
        findings.add("no-header", grid.file, message, remedy, grid.lines[0])


def _filled(cell: Any) -> bool:
    return cell is not None and str(cell).strip() != ""


def _is_number(cell: Any) -> bool:
    value = number(cell)
    return value is not None and value == value


def _looks_like_names(row: Sequence[Any], below: Sequence[Sequence[Any]]) -> bool:
    texts = [cell.strip() if isinstance(cell, str) else cell for cell in row]
    named = [text for text in texts if isinstance(text, str) and text]
    if len(named) < len(texts) or len(set(named)) < len(named) or any(_is_number(text) or len(text) > 50 for text in named):
        return False
    columns = list(zip(*[other for other in below if len(other) == len(row)]))
    for name, cells in zip(named, columns):
        filled = [cell for cell in cells if _filled(cell)]
        if filled and sum(map(_is_number, filled)) > 0.8 * len(filled):
            return True  # a word above numbers
        if filled and sum(len(str(cell)) for cell in filled) > 3 * len(name) * len(filled) and len(name.split()) <= 3:
            return True  # a short name above long texts
    return False


def _names(row: Sequence[Any], file: str, line: int, findings: Findings) -> list[str]:
    names: dict[str, int] = {}  # a name → how often it stood in the header
    repeated = []
    for index, cell in enumerate(row):
        name = plain = " ".join(shown(cell).split()) or f"column {index + 1}"
        if plain in names:
            repeated.append(plain)
        while name in names:
            names[plain] += 1
            name = f"{plain} ({names[plain]})"
        names[name] = 1
    if repeated:
        findings.add(
            "duplicate-columns",
            file,
            f"Several columns have the same name ({enumerated(repeated)}); the later ones are numbered.",
            "Give every column its own name.",
            line,
        )
    return list(names)

"""XLSX workbooks: the first sheet with a table, values as saved; formulas without a saved value are reported."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time
from typing import Any

from engine.corpus.files import ZIP_ERRORS, check_archive
from engine.corpus.findings import Findings, Refused, enumerated, refuse
from engine.corpus.grid import Grid, find_header, make_grid

_CELLS = 20_000_000
_ERRORS = re.compile(r"#(REF!|N/A|DIV/0!|VALUE!|NAME\?|NULL!|NUM!|SPILL!|CALC!|GETTING_DATA)$")
_ENTITY = re.compile(rb"<!(ENTITY|DOCTYPE)|<\x00!\x00(E|D)\x00", re.IGNORECASE)


def is_workbook(names: list[str]) -> bool:
    """Whether a zip archive with these names is an XLSX workbook."""
    return "xl/workbook.xml" in names


def read_xlsx(data: bytes, file: str, findings: Findings) -> Grid:
    """Read the first sheet that holds a table.

    Raises
    ------
    Refused : a damaged workbook, one that unpacks to too much, one with XML entities, or one without a table.
    """
    from openpyxl import load_workbook

    _check(data, file)
    try:
        values = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        formulas = load_workbook(io.BytesIO(data), read_only=True, data_only=False)
        sheets = {
            name: _Sheet(data, values[name], formulas[name]) for name in values.sheetnames if hasattr(values[name], "iter_rows")
        }
        rows = {name: sheet.rows(file) for name, sheet in sheets.items()}
    except Refused:
        raise
    except Exception:  # openpyxl raises whatever the damaged part led to
        raise refuse(
            "damaged-workbook",
            file,
            "The workbook cannot be read: it is damaged, or protected by a password.",
            "Save it again as .xlsx, or as CSV (UTF-8).",
        ) from None
    chosen = _choose(rows)
    if chosen is None:
        raise refuse(
            "no-rows", file, "No sheet of the workbook holds a table with a header and rows.", "Put the table on the first sheet."
        )
    others = [name for name, found in rows.items() if name != chosen and found]
    if others:
        findings.note(
            "other-sheets",
            file,
            f"The sheet {chosen!r} was read; other sheets were not: {enumerated(others)}.",
            "Save the sheet that is meant as a file of its own.",
        )
    return _grid(rows[chosen], sheets[chosen], chosen, file, findings)


class _Sheet:
    """The cells of one sheet."""

    def __init__(self, data: bytes, values: Any, formulas: Any) -> None:
        self.values, self.formulas = values, formulas
        self.merged = _merged(data, values)
        self.uncomputed: list[str] = []
        self.errors: list[str] = []

    def rows(self, file: str) -> list[tuple[int, list[Any]]]:
        """Row number and cells of the rows that are not empty; merged cells all hold the value of the first."""
        kept: list[tuple[int, list[Any]]] = []
        cells = 0
        for number, (row, formula_row) in enumerate(zip(_iterate(self.values), _iterate(self.formulas)), 1):
            made = [
                self._cell(value, formula, number, column) for column, (value, formula) in enumerate(zip(row, formula_row), 1)
            ]
            while made and made[-1] is None:
                made.pop()
            cells += len(made)
            if cells > _CELLS:
                raise refuse("too-large", file, f"The sheet holds more than {_CELLS:,} cells.", "Save it as TSV.")
            if made:
                kept.append((number, made))
        return self._fill(kept)

    def _cell(self, value: Any, formula: Any, row: int, column: int) -> Any:
        if isinstance(formula, str) and formula.startswith("=") and value is None:
            self.uncomputed.append(_place(row, column))
        if isinstance(value, str):
            if _ERRORS.match(value):
                self.errors.append(_place(row, column))
                return None
            return value if value.strip() else None
        if isinstance(value, (datetime, date, time)):
            return value.isoformat()
        return value

    def _fill(self, rows: list[tuple[int, list[Any]]]) -> list[tuple[int, list[Any]]]:
        """Give every cell of a merged range the range's value, except where the range is a title across columns."""
        index = dict(rows)
        for first_row, first_column, last_row, _ in self.merged:
            top = index.get(first_row)
            if top is None or first_column > len(top) or last_row == first_row:
                continue
            for number in range(first_row, last_row + 1):
                cells = index.get(number)
                if cells is not None:
                    cells += [None] * (first_column - len(cells))
                    cells[first_column - 1] = top[first_column - 1]
        return rows


def _iterate(sheet: Any) -> Iterator[tuple[Any, ...]]:
    sheet.reset_dimensions()  # the size that a file states for its sheet may be wrong
    return sheet.iter_rows(values_only=True)


def _merged(data: bytes, sheet: Any) -> list[tuple[int, int, int, int]]:
    """Merged ranges as (first row, first column, last row, last column), which the mode that spares memory does not give."""
    from openpyxl.utils.cell import range_boundaries

    path = str(getattr(sheet, "_worksheet_path", "")).lstrip("/")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if path not in archive.namelist():
            return []
        found = re.findall(rb'<mergeCell\s+ref="([A-Z]+\d+:[A-Z]+\d+)"', archive.read(path))
    ranges = []
    for text in found:
        left, top, right, bottom = range_boundaries(text.decode())
        ranges.append((top, left, bottom, right))
    return ranges


def _check(data: bytes, file: str) -> None:
    """Refuse what could harm: bombs, names that lead out of the archive, XML with entities."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            check_archive(archive, file, len(data))
            for name in archive.namelist():
                if name.endswith((".xml", ".rels")):
                    with archive.open(name) as stream:
                        if _ENTITY.search(stream.read(4096)):
                            raise refuse(
                                "xml-entities",
                                file,
                                f"{name!r} in the workbook declares XML entities or a document type.",
                                "Save the workbook again as .xlsx.",
                            )
    except ZIP_ERRORS:
        raise refuse("damaged-workbook", file, "The workbook is damaged.", "Save it again as .xlsx, or as CSV (UTF-8).") from None


def _choose(sheets: dict[str, list[tuple[int, list[Any]]]]) -> str | None:
    """The first sheet with a header that is known; else the first with at least two columns and two rows."""
    plain = None
    for name, rows in sheets.items():
        cells = _square([row for _, row in rows])
        if len(rows) >= 2 and max(map(len, cells)) >= 2:
            if find_header(cells) is not None:
                return name
            plain = plain or name
    return plain


def _square(rows: list[list[Any]]) -> list[list[Any]]:
    width = max(map(len, rows), default=0)
    return [row + [None] * (width - len(row)) for row in rows]


def _grid(rows: list[tuple[int, list[Any]]], sheet: _Sheet, name: str, file: str, findings: Findings) -> Grid:
    numbers = [number for number, _ in rows]
    cells = _square([row for _, row in rows])
    header = find_header(cells)
    if header:
        findings.note(
            "title-rows",
            file,
            f"What stands above the header (row {numbers[header]}) was taken for a title.",
            line=numbers[header],
        )
    start = header or 0
    width = max((index + 1 for row in cells[start:] for index, cell in enumerate(row) if cell is not None), default=0)
    cells = [row[:width] for row in cells[start:]]
    gaps = sorted(set(range(numbers[start], numbers[-1])) - set(numbers))
    if gaps:
        remedy = "Delete them; where an empty text is meant, write the rest of its row."
        findings.lines("blank-lines", file, gaps, "Nothing stands in {lines}; blank rows were passed over.", remedy)
    if len(cells) < 2:
        raise refuse(
            "no-rows", file, f"The sheet {name!r} has a header but no rows.", "Give a table with at least one row.", numbers[-1]
        )
    for places, kind, message in (
        (sheet.uncomputed, "formulas", "Formulas without a saved value stand in {places}; the cells count as missing."),
        (sheet.errors, "formula-errors", "Formulas ended in an error in {places}; the cells count as missing."),
    ):
        if places:
            line = int(re.sub(r"\D", "", places[0]))
            findings.add(
                kind,
                file,
                message.replace("{places}", f"{enumerated(places)} of sheet {name!r}"),
                "Replace formulas by their values (copy, paste as values) and save again.",
                line,
            )
    body = cells if header is None else cells[1:]
    return make_grid(file, "XLSX", None if header is None else cells[0], list(zip(*body)), numbers[-len(body) :], findings)


def _place(row: int, column: int) -> str:
    from openpyxl.utils import get_column_letter

    return f"{get_column_letter(column)}{row}"

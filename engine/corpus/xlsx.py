"""XLSX workbooks: the first sheet with a table, values as saved; formulas without a saved value are reported."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time
from itertools import repeat
from typing import IO, Any
from xml.parsers import expat

from engine.corpus.files import ZIP_ERRORS, check_archive
from engine.corpus.findings import Findings, Refused, enumerated, refuse
from engine.corpus.grid import Grid, find_header, make_grid

_CELLS = 20_000_000
_ERRORS = re.compile(r"#(REF!|N/A|DIV/0!|VALUE!|NAME\?|NULL!|NUM!|SPILL!|CALC!|GETTING_DATA)$")
_FORMULA = re.compile(rb"<(\w+:)?f[\s>/]|\x00")  # a sheet in UTF-16 may hold some, too


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
        pages = {name: values[name] for name in values.sheetnames if hasattr(values[name], "iter_rows")}
        raw = {name: _raw(data, page) for name, page in pages.items()}
        computed = any(map(_FORMULA.search, raw.values()))
        formulas = load_workbook(io.BytesIO(data), read_only=True, data_only=False) if computed else None
        sheets = {name: _Sheet(page, raw[name], formulas) for name, page in pages.items()}
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
    """The cells of one sheet; `raw` is its XML, and `formulas` the workbook opened for its formulas, where it has any."""

    def __init__(self, values: Any, raw: bytes, formulas: Any) -> None:
        self.values = values
        self.formulas = formulas[values.title] if formulas is not None and _FORMULA.search(raw) else None
        self.merged = _merged(raw)
        self.uncomputed: list[str] = []
        self.errors: list[str] = []

    def rows(self, file: str) -> list[tuple[int, list[Any]]]:
        """Row number and cells of the rows that are not empty; merged cells all hold the value of the first."""
        kept: list[tuple[int, list[Any]]] = []
        cells = 0
        formulas = _iterate(self.formulas) if self.formulas is not None else repeat(())
        for number, (row, formula_row) in enumerate(zip(_iterate(self.values), formulas), 1):
            for column, (value, formula) in enumerate(zip(row, formula_row), 1):
                if value is None and isinstance(formula, str) and formula.startswith("="):
                    self.uncomputed.append(_place(number, column))
            made = [value if type(value) is int else self._cell(value, number, column) for column, value in enumerate(row, 1)]
            while made and made[-1] is None:
                made.pop()
            cells += len(made)
            if cells > _CELLS:
                raise refuse("too-large", file, f"The sheet holds more than {_CELLS:,} cells.", "Save it as TSV.")
            if made:
                kept.append((number, made))
        return self._fill(kept)

    def _cell(self, value: Any, row: int, column: int) -> Any:
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


def _raw(data: bytes, sheet: Any) -> bytes:
    """The XML of a sheet."""
    path = str(getattr(sheet, "_worksheet_path", "")).lstrip("/")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.read(path) if path in archive.namelist() else b""


def _merged(raw: bytes) -> list[tuple[int, int, int, int]]:
    """Merged ranges as (first row, first column, last row, last column), which the mode that spares memory does not give."""
    from openpyxl.utils.cell import range_boundaries

    ranges = []
    for text in re.findall(rb'<(?:\w+:)?mergeCell\s[^>]*?ref="([A-Z]+\d+:[A-Z]+\d+)"', raw):
        left, top, right, bottom = range_boundaries(text.decode())
        ranges.append((top, left, bottom, right))
    return ranges


def _check(data: bytes, file: str) -> None:
    """Refuse what could harm: bombs, names that lead out of the archive, XML with entities."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            check_archive(archive, file, len(data))
            for name in archive.namelist():
                with archive.open(name) as stream:
                    if _declares_type(stream):
                        message = f"{name!r} in the workbook declares XML entities or a document type."
                        raise refuse("xml-entities", file, message, "Save the workbook again as .xlsx.")
    except ZIP_ERRORS:
        raise refuse("damaged-workbook", file, "The workbook is damaged.", "Save it again as .xlsx, or as CSV (UTF-8).") from None


class _Seen(Exception):
    """The answer is known."""


def _declares_type(stream: IO[bytes]) -> bool:
    """Whether XML declares a document type, which alone can declare entities: read as a parser reads it, up to the root element.

    What is no XML declares none, and cannot be read later either.
    """
    parser = expat.ParserCreate()
    found = []

    def stop(*_: object) -> None:
        raise _Seen

    def declared(*_: object) -> None:
        found.append(True)
        raise _Seen

    parser.StartDoctypeDeclHandler, parser.StartElementHandler = declared, stop
    try:
        while chunk := stream.read(4096):
            parser.Parse(chunk, False)
    except (_Seen, expat.ExpatError):
        pass
    return bool(found)


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

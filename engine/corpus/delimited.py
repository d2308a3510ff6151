"""TSV and CSV: which delimiter, which quoting, where the header is; rows of the wrong width are refused with their line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from engine.corpus.decode import split_lines
from engine.corpus.findings import Findings, Refused, listed, refuse
from engine.corpus.grid import Grid, find_header, make_grid, shown
from engine.corpus.names import known, role_of, sure
from engine.corpus.numerals import number

_DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "vertical bar"}
_SAMPLE = 400
_WIDE = 2  # delimiters in a row that cannot be a segment with an empty source and an empty text


@dataclass
class Rows:
    """Records of a delimited file: cells, the line where each begins, and what the quotes did."""

    cells: list[list[str]]
    lines: list[int]
    broken: list[int]  # lines with a closing quote in the middle of a cell, or an opening quote that is never closed
    escaped: int = 0  # quoted cells that needed their quotes: a delimiter, a line break or a doubled quote inside
    wrapped: int = 0  # quoted cells that did not

    @cached_property
    def widths(self) -> Counter[int]:
        """How many rows have how many cells."""
        return Counter(map(len, self.cells))

    @property
    def width(self) -> int:
        """The commonest number of cells."""
        return self.widths.most_common(1)[0][0] if self.cells else 0

    @property
    def agreement(self) -> float:
        """The share of rows with the commonest number of cells."""
        return self.widths[self.width] / len(self.cells) if self.cells else 0.0


def read_delimited(text: str, file: str, findings: Findings) -> Grid | None:
    """Read a delimited table; None where the text is no table.

    Raises
    ------
    Refused : rows with too few or too many cells, a quote that is never closed, a header without rows.
    """
    lines = split_lines(text)
    hint = re.match(r"sep=(.)$", lines[0].strip()) if lines else None
    if hint:
        lines[0] = ""
    delimiter = hint[1] if hint else choose_delimiter(lines, file)
    if delimiter is None:
        return None
    reader = "TSV" if delimiter == "\t" else "CSV"
    return _plain_table(lines, delimiter, file, reader, findings) or _any_table(lines, delimiter, file, reader, findings)


def _plain_table(lines: list[str], delimiter: str, file: str, reader: str, findings: Findings) -> Grid | None:
    """The usual case, cut in one go: no quoting, every line as wide as the first, the header on line 1; None otherwise."""
    width = lines[0].count(delimiter)
    if not width or any(line.count(delimiter) != width for line in lines) or _has_opening_quote(lines, delimiter):
        return None
    head = [line.split(delimiter) for line in lines[:80]]
    header = find_header(head)
    if header not in (None, 0) or len(lines) == 1:
        return None
    if header == 0 and width >= _WIDE and not lines[-1].strip(delimiter):
        return None
    count, first = len(lines), 0 if header is None else 1
    joined = delimiter.join(lines)
    lines.clear()  # a large table is in memory only once more than it must be
    cells = joined.split(delimiter)
    start = first * (width + 1)
    columns = [cells[start + column :: width + 1] for column in range(width + 1)]
    return make_grid(file, reader, head[0] if first else None, columns, range(1 + first, count + 1), findings)


def _any_table(lines: list[str], delimiter: str, file: str, reader: str, findings: Findings) -> Grid:
    """A table with quoting, titles above the header, blank lines or rows of unequal width."""
    rows = _parse_best(lines, delimiter, file, findings)
    header = find_header(rows.cells)
    if header:
        line = rows.lines[header]
        findings.note("title-rows", file, f"What stands above the header (line {line}) was taken for a title.", line=line)
    cells, numbers = rows.cells[header or 0 :], rows.lines[header or 0 :]
    empty = _trailing_empty(cells) if header is not None else 0
    _report_gaps(cells, numbers, numbers[len(numbers) - empty :], file, findings)
    del cells[len(cells) - empty :], numbers[len(numbers) - empty :]
    cells = _even_out(cells, numbers, 0 if header is not None else None, file, delimiter, rows, findings)
    if len(cells) <= (header is not None):
        place = numbers[0] if numbers else 1
        raise refuse("no-rows", file, "The table has a header but no rows.", "Give a table with at least one row.", place)
    body = cells if header is None else cells[1:]
    return make_grid(file, reader, None if header is None else cells[0], list(zip(*body)), numbers[-len(body) :], findings)


def _trailing_empty(cells: Sequence[Sequence[str | None]]) -> int:
    """How many rows at the end have nothing in three or more cells, as spreadsheets leave them where rows were cleared."""
    count = 0
    for row in reversed(cells):
        if len(row) <= _WIDE or any(row):
            break
        count += 1
    return count


def _report_gaps(
    cells: Sequence[Sequence[str | None]], lines: Sequence[int], empty: Sequence[int], file: str, findings: Findings
) -> None:
    """Report what is passed over: blank lines between the rows of a table, and `empty` ones, with delimiters alone, at its end.

    One may have been meant for an empty text.
    """
    gaps = list(empty)
    for record, start, following in zip(cells, lines, lines[1:]):
        if following - start > 1:
            gaps += range(start + 1 + sum(str(cell).count("\n") for cell in record), following)
    if gaps:
        remedy = "Delete them; where an empty text is meant, write the rest of its row."
        findings.lines("blank-lines", file, sorted(gaps), "Nothing stands in {lines}; blank lines were passed over.", remedy)


def choose_delimiter(lines: Sequence[str], file: str) -> str | None:
    """The character that cuts the lines into columns; None where the file looks like plain text."""
    sample = [line for line in lines[: 4 * _SAMPLE] if line.strip()][:_SAMPLE]
    suffix = re.search(r"\.(tsv|csv|tab)(\.gz)?$", file.lower())
    best, best_rank = None, (0, 0.0, 0)
    for delimiter in _DELIMITERS:
        if not any(delimiter in line for line in sample[:50]):
            continue
        rows = max((parse_raw(sample, delimiter), parse_quoted(sample, delimiter)), key=lambda parsed: parsed.agreement)
        if rows.width < 2:
            continue
        names = max((_names_in(row) for row in rows.cells[:15]), default=0)
        firm = rows.agreement >= (0.6 if suffix else 0.9) and (delimiter == "\t" or suffix or names >= 2)
        if not firm and not (names >= 2 and rows.agreement >= 0.5):
            continue
        rank = (names, rows.agreement, rows.width)
        if best is None or rank > best_rank:
            best, best_rank = delimiter, rank
    if best is None and suffix and sample and known(sample[0]) and len(sample) > 1:
        return "," if suffix[1] == "csv" else "\t"  # one column under a known name
    return best


def _names_in(row: Sequence[str]) -> int:
    names = [cell for cell in row if known(cell)]
    return len(names) if any(map(sure, names)) else 0


def parse_raw(lines: Sequence[str], delimiter: str) -> Rows:
    """Cut at every delimiter; quotes are ordinary characters."""
    cells, numbers = [], []
    for number_, line in enumerate(lines, 1):
        if delimiter in line or line.strip():
            cells.append(line.split(delimiter))
            numbers.append(number_)
    return Rows(cells, numbers, [])


def parse_quoted(lines: Sequence[str], delimiter: str) -> Rows:
    """Cut at delimiters outside of quoted cells; a quoted cell may hold delimiters, line breaks and doubled quotes."""
    rows = Rows([], [], [])
    index = 0
    while index < len(lines):
        line, start = lines[index], index
        if '"' not in line:
            if delimiter in line or line.strip():
                rows.cells.append(line.split(delimiter))
                rows.lines.append(start + 1)
            index += 1
            continue
        record, index = _quoted_record(lines, index, delimiter, rows)
        rows.cells.append(record)
        rows.lines.append(start + 1)
    return rows


def _quoted_record(lines: Sequence[str], index: int, delimiter: str, rows: Rows) -> tuple[list[str], int]:
    """One record that holds a quote, and the index of the line after it."""
    record: list[str] = []
    line, position, start = lines[index], 0, index
    while True:
        if line.startswith('"', position):
            text, line, position, index, closed = _quoted_cell(lines, index, line, position + 1)
            end = line.find(delimiter, position)
            rest = line[position:] if end < 0 else line[position:end]
            if not closed or rest.strip():
                rows.broken.append(start + 1)
            elif delimiter in text or "\n" in text or '"' in text:
                rows.escaped += 1
            else:
                rows.wrapped += 1
            record.append(text + rest)
        else:
            end = line.find(delimiter, position)
            record.append(line[position:] if end < 0 else line[position:end])
        if end < 0:
            return record, index + 1
        position = end + 1


def _quoted_cell(lines: Sequence[str], index: int, line: str, position: int) -> tuple[str, str, int, int, bool]:
    """The content of a quoted cell; the line, position and index after its closing quote; whether there was one."""
    pieces: list[str] = []
    while True:
        quote = line.find('"', position)
        if quote < 0:
            pieces.append(line[position:])
            if index + 1 >= len(lines):
                return "".join(pieces), line, len(line), index, False
            index += 1
            line, position = lines[index], 0
            pieces.append("\n")
        elif line.startswith('""', quote):
            pieces.append(line[position : quote + 1])
            position = quote + 2
        else:
            pieces.append(line[position:quote])
            return "".join(pieces), line, quote + 1, index, True


def _has_opening_quote(lines: Sequence[str], delimiter: str) -> bool:
    """Whether a cell begins with a quotation mark."""
    return any('"' in line and (line.startswith('"') or delimiter + '"' in line) for line in lines)


def _parse_best(lines: Sequence[str], delimiter: str, file: str, findings: Findings) -> Rows:
    """Parse with or without quoting, whichever the file means."""
    raw = parse_raw(lines, delimiter)
    if not _has_opening_quote(lines, delimiter):
        return raw
    quoted = parse_quoted(lines, delimiter)
    all_quoted = (
        bool(quoted.cells) and quoted.lines[0] <= len(lines) and lines[quoted.lines[0] - 1].startswith('"') and not quoted.broken
    )
    if delimiter == "\t":
        # a sentence in quotation marks is not a quoted cell: quoting needs a sign that the quotes were needed
        needed = quoted.widths == raw.widths and (quoted.escaped > 0 or all_quoted)
        needed = needed or quoted.escaped + quoted.wrapped == sum(map(len, quoted.cells))  # every single cell
        meant = not quoted.broken and (needed if raw.agreement == 1 else quoted.agreement > raw.agreement)
    else:
        meant = not quoted.broken or quoted.agreement > raw.agreement
    if not meant:
        findings.note(
            "quotes",
            file,
            "Quotation marks were read as part of the text, not as quoting of cells.",
            "If cells are quoted, double every quotation mark inside of them.",
            quoted.broken[0] if quoted.broken else None,
        )
        return raw
    if quoted.broken:
        findings.lines(
            "quotes",
            file,
            quoted.broken,
            "A quotation mark is unbalanced in {lines}; the text may be cut wrongly there.",
            "Double the quotation marks inside quoted cells.",
        )
    return quoted


def _even_out(
    cells: list[list[str]], lines: list[int], header: int | None, file: str, delimiter: str, rows: Rows, findings: Findings
) -> list[list[str]]:
    """Make all rows equally long; refuse the table where that cannot be done without guessing."""
    if len(set(map(len, cells))) == 1:
        return cells
    width = rows.width if header is None else _header_width(cells)
    short: list[int] = []
    wrong: list[int] = []
    for index, row in enumerate(cells):
        if len(row) > width and not any(cell.strip() for cell in row[width:]):
            cells[index] = row = row[:width]
        if len(row) > width:
            wrong.append(index)
        elif len(row) < width:
            short.append(index)
    fewest = min((len(cells[index]) for index in short), default=width)
    if wrong or not all(_may_be_empty(cells, column) for column in range(fewest, width)):
        raise _ragged(cells, lines, sorted(wrong + short), width, file, delimiter)
    if short:
        places = [lines[index] for index in short]
        message = "Rows have fewer cells than the header in {lines}; the cells at their end were taken as missing."
        findings.lines("short-rows", file, places, message, "Write empty cells out.")
    for index in short:
        cells[index] = cells[index] + [""] * (width - len(cells[index]))
    return cells


def _header_width(cells: list[list[str]]) -> int:
    """The number of columns that the header names; R does not name the column of row numbers, which is done here."""
    body, width = cells[1:], len(cells[0])
    numbered = all(row and row[0].strip() == str(place) for place, row in enumerate(body, 1))
    if body and numbered and all(len(row) == width + 1 for row in body):
        cells[0] = ["row", *cells[0]]
        return width + 1
    while width > 1 and not any(len(row) >= width and row[width - 1].strip() for row in cells):
        width -= 1  # a column without a name and without cells
    return width


def _ragged(cells: list[list[str]], lines: list[int], bad: Sequence[int], width: int, file: str, delimiter: str) -> Refused:
    first = bad[0]
    what = f"{len(bad):,} rows have" if len(bad) > 1 else "A row has"
    where = listed([lines[index] for index in bad])
    message = f"{what} another number of cells than the table ({width}): {where}; line {lines[first]} has {len(cells[first])}."
    name = _DELIMITERS.get(delimiter, repr(delimiter))
    remedy = f"A {name} or a line break may stand inside a text: quote such cells, or replace the character."
    return refuse("ragged-rows", file, message, remedy, lines[first])


def _may_be_empty(cells: Sequence[Sequence[str]], column: int) -> bool:
    """Whether a column holds numbers or remarks, so that a row may end before it."""
    values = [shown(row[column]) for row in cells[1:] if len(row) > column]
    role = role_of(cells[0][column]) if len(cells[0]) > column else None
    if role and role[0] in ("score", "penalty", "comment"):
        return True
    return bool(values) and sum(number(value) is not None for value in values) > 0.9 * len(values)

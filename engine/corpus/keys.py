"""Which rows of a long table belong to the same segment."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from engine.corpus.columns import Columns
from engine.corpus.draft import Texts
from engine.corpus.findings import Findings, listed, refuse
from engine.corpus.grid import Grid, shown
from engine.corpus.languages import code
from engine.corpus.types import Languages


def pair_of(cell: Any) -> Languages:
    """The language pair in a cell such as `de-en`."""
    source, _, target = re.sub(r"[_>]+", "-", shown(cell).strip()).partition("-")
    target = target.strip("-")
    return (code(source) or source or None, code(target) or target or None)


def agrees(pair: Languages, wanted: Languages) -> bool:
    """Whether a language pair has the languages that are asked for; None asks for nothing."""
    return all(asked is None or found == (code(asked) or asked) for found, asked in zip(pair, wanted))


def segment_keys(
    grid: Grid, columns: Columns, owners: np.ndarray, outputs: Texts | None, references: Sequence[Texts], findings: Findings
) -> tuple[list[Hashable], list[str] | None]:
    """A key per row that is equal for rows of the same segment, and the id that the table gives the row's segment (None: none).

    Rows are told apart by language pair, document and id, where the table has these. Where the same id stands beside different
    sources or references, the texts are taken along. Without ids, rows of different systems belong together where they
    share source and references; without those, by their order within the system.
    """
    source = grid.columns[columns.source] if columns.source else None
    beside = ([source] if source is not None else []) + list(references)
    if columns.segment is None:
        return _without_ids(grid, columns, owners, beside, findings), None
    ids = [shown(cell).strip() for cell in grid.columns[columns.segment]]
    _check_missing(ids, grid, columns, findings)
    parts: list[Sequence[Any]] = [ids]
    if columns.document:
        parts.insert(0, [shown(cell) for cell in grid.columns[columns.document]])
    if columns.languages:
        parts.insert(0, [shown(cell) for cell in grid.columns[columns.languages]])
    keys: list[Hashable] = list(zip(*parts)) if len(parts) > 1 else list(ids)
    clash = _contradiction(keys, beside, grid)
    if clash is not None:
        first, second = clash
        findings.add(
            "duplicate-ids",
            grid.file,
            f"The same segment id stands beside different texts (lines {first} and {second}); segments were told apart by id "
            "and texts.",
            "Give every segment its own id, or map the document column.",
            second,
        )
        keys = list(zip(keys, *beside))
    elif columns.system is None and outputs is not None:
        keys = _apart(keys, outputs, grid, findings)
    if any(not text for text in ids):
        keys = [key if text else ("row", row) for row, (key, text) in enumerate(zip(keys, ids))]
    return keys, _readable(ids, parts, keys)


def _check_missing(ids: Sequence[str], grid: Grid, columns: Columns, findings: Findings) -> None:
    missing = [grid.lines[row] for row, text in enumerate(ids) if not text]
    if not missing:
        return
    if columns.system is not None:
        raise refuse(
            "missing-ids",
            grid.file,
            f"There is no segment id in {listed(missing)}, so rows cannot be matched between systems.",
            "Fill the ids in.",
            missing[0],
        )
    findings.lines(
        "missing-ids",
        grid.file,
        missing,
        "There is no segment id in {lines}; each of these rows was read as a segment of its own.",
        "Fill the ids in.",
    )


def _contradiction(keys: Sequence[Hashable], beside: Sequence[Sequence[Any]], grid: Grid) -> tuple[int, int] | None:
    """The lines of the first two rows that share a key but differ in source or reference (missing texts and spaces aside)."""
    for cells in beside:
        seen: dict[Hashable, int] = {}
        for row, (key, cell) in enumerate(zip(keys, cells)):
            if cell is None:
                continue
            first = seen.setdefault(key, row)
            if first != row and cells[first] != cell and shown(cells[first]).split() != shown(cell).split():
                return grid.lines[first], grid.lines[row]
    return None


def _apart(keys: Sequence[Hashable], outputs: Texts, grid: Grid, findings: Findings) -> list[Hashable]:
    """With one system only, rows that share an id but not the output are segments of their own."""
    first: dict[Hashable, int] = {}
    twice = [row for row, key in enumerate(keys) if first.setdefault(key, row) != row and outputs[first[key]] != outputs[row]]
    if not twice:
        return list(keys)
    findings.lines(
        "duplicate-ids",
        grid.file,
        [grid.lines[row] for row in twice],
        "Rows share their segment id with another row but not its output, in {lines}; each was read as a segment of its own.",
        "Give every segment its own id, or map the column that names the system.",
    )
    return list(zip(keys, outputs))


def _without_ids(
    grid: Grid, columns: Columns, owners: np.ndarray, beside: Sequence[Sequence[Any]], findings: Findings
) -> list[Hashable]:
    rows = range(len(grid))
    if columns.system is None:
        return list(rows)
    if beside:
        texts = list(zip(*[[shown(cell) for cell in cells] for cells in beside]))
    else:
        counts = np.bincount(owners)
        if len(set(counts.tolist())) > 1:
            raise refuse(
                "missing-ids",
                grid.file,
                f"The table has no segment ids, sources or references, and its systems have {counts.min():,} to "
                f"{counts.max():,} rows; which rows belong together cannot be told.",
                "Add a column with segment ids.",
                grid.lines[0],
            )
        findings.add(
            "missing-ids",
            grid.file,
            "The table has no segment ids; rows were matched between systems by their order.",
            "Add a column with segment ids.",
            grid.lines[0],
        )
        texts = [()] * len(grid)
    seen: dict[Hashable, int] = defaultdict(int)
    keys: list[Hashable] = []
    for row in rows:
        place = (int(owners[row]), texts[row])
        keys.append((texts[row], seen[place]))
        seen[place] += 1
    return keys


def _readable(ids: Sequence[str], parts: Sequence[Sequence[Any]], keys: Sequence[Hashable]) -> list[str]:
    """Ids as shown: with document and language pair where the id alone would not be unique."""
    unique = len(set(ids)) == len(set(keys))
    return list(ids) if unique or len(parts) == 1 else [":".join(map(str, row)) for row in zip(*parts)]

"""From a table and its mapping to a corpus: one row per segment (a column per system), or one per system and segment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from engine.corpus.columns import Columns, ScoreColumn
from engine.corpus.draft import Draft, Origin, Texts
from engine.corpus.findings import Findings, enumerated, listed, refuse
from engine.corpus.grid import Grid, shown
from engine.corpus.keys import agrees, pair_of, segment_keys
from engine.corpus.names import role_of, words
from engine.corpus.numerals import number, numbers, report_numbers
from engine.corpus.plain import missing_where_blank
from engine.corpus.types import Criterion, Languages

_SYSTEMS = 1_000


def build(grid: Grid, columns: Columns, name: str, languages: Languages, findings: Findings) -> Draft:
    """Make the corpus that a table describes.

    Parameters
    ----------
    languages : where the table holds several language pairs, only rows of this pair are read (both must be given).

    Raises
    ------
    Refused : the mapping names neither outputs nor scores, names of systems are missing, or rows contradict each other.
    """
    if not columns.hypotheses and not columns.scores:
        raise refuse(
            "no-outputs", grid.file, "No column holds system outputs.", "Name it: --columns hypothesis=COLUMN.", _first(grid)
        )
    unused = [column for column in grid.columns if column not in columns.used]
    if unused:
        findings.note(
            "unused-columns",
            grid.file,
            f"Columns that were not used: {enumerated(unused, shown=12)}.",
            "Map them where they are needed (--columns).",
        )
    report_wordy_scores(grid, columns, findings)
    grid, pair = _one_pair(grid, columns, languages, findings)
    wide = len(columns.hypotheses) > 1 or (columns.hypotheses and "" not in columns.hypotheses)
    if wide and columns.system:
        raise refuse(
            "system-twice",
            grid.file,
            "The mapping names a column per system and also a column with system names.",
            "Use one of the two.",
            _first(grid),
        )
    draft = _wide(grid, columns, name, findings) if wide else _long(grid, columns, name, findings)
    draft.languages = pair
    draft.mixed = (columns.languages is not None and pair[0] is None, columns.languages is not None and pair[1] is None)
    return draft


def texts(cells: Sequence[Any]) -> Texts:
    """Cells as texts; a list becomes lines, a number its digits, a missing cell None."""
    return [cell if type(cell) is str else _text(cell) for cell in cells]


def reference_columns(grid: Grid, columns: Columns) -> list[Texts]:
    """The reference columns; a cell that holds a list of references is spread over as many columns as it needs."""
    spread: list[Texts] = []
    for column in columns.references:
        cells = grid.columns[column]
        width = max((len(cell) for cell in cells if isinstance(cell, list)), default=None)
        if width is None:
            spread.append(missing_where_blank(texts(cells)))
            continue
        lists = [cell if isinstance(cell, list) else [cell] for cell in cells]
        for index in range(width):
            spread.append(missing_where_blank(texts([items[index] if index < len(items) else None for items in lists])))
    return spread


def scores_of(grid: Grid, score: ScoreColumn, findings: Findings) -> np.ndarray:
    """The numbers of a score column, float64[rows], higher being better; NaN where missing or (reported) not a number."""
    cells = grid.columns[score.column]
    found = numbers(cells)
    report_numbers(found, f"Column {score.column!r}", grid.lines, grid.file, findings)
    wrong = found.wrong
    if wrong:
        examples = enumerated([repr(shown(cells[row]))[:40] for row in wrong[:3]])
        findings.lines(
            "non-numeric-scores",
            grid.file,
            [grid.lines[row] for row in wrong],
            f"Column {score.column!r} holds what is no number ({examples}) in {{lines}}; it counts as missing.",
            "Correct them, or leave them empty.",
        )
    array = np.array([float("nan") if value is None else value for value in found.values], dtype=np.float64)
    return array * score.sign + 0.0


def provenance(grid: Grid, scores: Sequence[ScoreColumn], ratings: int = 1) -> str:
    """How the numbers of the columns of one criterion came about, in words."""
    how = "negated, because lower is better there" if scores[0].sign < 0 else "as given; higher is taken as better"
    mean = f"; mean of up to {ratings} ratings per output" if ratings > 1 else ""
    columns = enumerated([repr(score.column) for score in scores], shown=20)
    return f"{'column' if len(scores) == 1 else 'columns'} {columns} of {grid.file}, {how}{mean}"


def report_wordy_scores(grid: Grid, columns: Columns, findings: Findings) -> None:
    """Report columns that are called scores but hold words; they are not used."""
    for name, cells in grid.columns.items():
        role = role_of(name)
        if name in columns.used or role is None or role[0] != "score" or words(name) == "note":
            continue
        wordy = [row for row, cell in enumerate(cells) if isinstance(cell, str) and number(cell, True) is None]
        if wordy:
            message = (
                f"Column {name!r} is called a score, but holds no numbers ({shown(cells[wordy[0]])[:40]!r}); it was not used."
            )
            findings.add("non-numeric-scores", grid.file, message, "Write numbers.", grid.lines[wordy[0]] or None)


def _text(cell: Any) -> str | None:
    if cell is None:
        return None
    if isinstance(cell, list):
        return "\n".join(shown(item) for item in cell)
    return shown(cell)


def _first(grid: Grid) -> int | None:
    return grid.lines[0] if grid.lines else None


def _one_pair(grid: Grid, columns: Columns, languages: Languages, findings: Findings) -> tuple[Grid, Languages]:
    """Keep the rows of the language pair asked for; the pair that all rows share, as far as they do."""
    if columns.languages is None:
        return grid, (None, None)
    pairs = [pair_of(cell) for cell in grid.columns[columns.languages]]
    if any(languages):
        kept = [row for row, pair in enumerate(pairs) if agrees(pair, languages)]
        if not kept:
            names = enumerated([f"{a}-{b}" for a, b in dict.fromkeys(pairs)], shown=12)
            message = f"The table has no rows for {'-'.join(filter(None, languages))}; it has {names}."
            raise refuse("languages", grid.file, message, "Choose one of these (--langs).", _first(grid))
        if len(kept) < len(pairs):
            cells_of = {name: [cells[row] for row in kept] for name, cells in grid.columns.items()}
            grid = Grid(grid.file, grid.reader, cells_of, [grid.lines[row] for row in kept], grid.groups)
            pairs = [pairs[row] for row in kept]
    known = Counter(pairs)
    if len(known) > 1:
        names = enumerated([f"{a}-{b}" for a, b in known], shown=12)
        findings.add(
            "mixed-languages",
            grid.file,
            f"The table mixes {len(known)} language pairs ({names}); all rows were read.",
            "Read one pair with --langs SOURCE-TARGET.",
            _first(grid),
        )
    sources, targets = {a for a, _ in known}, {b for _, b in known}
    return grid, (sources.pop() if len(sources) == 1 else None, targets.pop() if len(targets) == 1 else None)


def _wide(grid: Grid, columns: Columns, name: str, findings: Findings) -> Draft:
    """One row per segment, one column per system."""
    size = len(grid)
    draft = Draft(name, size=size)
    for system, column in columns.hypotheses.items():
        draft.systems[system or column] = texts(grid.columns[column])
        draft.origins[f"system:{system or column}"] = Origin(grid.file, grid.lines)
    _shared_parts(draft, grid, columns, np.arange(size))
    if columns.segment:
        draft.ids = [shown(cell) for cell in grid.columns[columns.segment]]
        _report_ids(draft.ids, grid, findings)
    for score in columns.scores:
        if score.system is None and len(draft.systems) > 1:
            raise refuse(
                "whose-scores",
                grid.file,
                f"Column {score.column!r} does not say which system's scores it holds.",
                "Write score:CRITERION@SYSTEM=COLUMN.",
                _first(grid),
            )
        system = score.system if score.system is not None else next(iter(draft.systems))
        criterion = Criterion(
            score.criterion, provenance(grid, [same for same in columns.scores if same.criterion == score.criterion])
        )
        draft.add_scores(criterion, range(size), [system] * size, scores_of(grid, score, findings), grid.file)
    return draft


def _report_ids(ids: Sequence[str], grid: Grid, findings: Findings) -> None:
    """Report ids that are missing or occur twice, where each row is a segment all the same."""
    missing = [grid.lines[row] for row, text in enumerate(ids) if not text]
    if missing:
        findings.lines("missing-ids", grid.file, missing, "There is no segment id in {lines}.", "Fill the ids in.")
    counts = Counter(filter(None, ids))
    twice = [row for row, text in enumerate(ids) if counts[text] > 1]
    if twice:
        findings.lines(
            "duplicate-ids",
            grid.file,
            [grid.lines[row] for row in twice],
            "Rows share their segment id with another row in {lines}; each was read as a segment of its own.",
            "Give every segment its own id.",
        )


def _shared_parts(draft: Draft, grid: Grid, columns: Columns, first_rows: np.ndarray) -> None:
    """Source, references and documents, from the first row of each segment."""
    lines = np.asarray(grid.lines, dtype=np.int64)[first_rows]
    if columns.source:
        cells = texts(grid.columns[columns.source])
        draft.sources = [cells[row] for row in first_rows]
        draft.origins["source"] = Origin(grid.file, lines)
    for index, cells in enumerate(reference_columns(grid, columns)):
        draft.references.append([cells[row] for row in first_rows])
        draft.origins[f"reference:{index}"] = Origin(grid.file, lines)
    if columns.document:
        named = [shown(grid.columns[columns.document][row]) for row in first_rows]
        draft.documents = named if any(named) else None


def _long(grid: Grid, columns: Columns, name: str, findings: Findings) -> Draft:
    """One row per system and segment; rows of one segment share its id, or its source and references."""
    outputs = texts(grid.columns[columns.hypotheses[""]]) if columns.hypotheses else None
    owners, systems = _systems(grid, columns)
    references = reference_columns(grid, columns)
    keys, ids = segment_keys(grid, columns, owners, outputs, references, findings)
    index: dict[Hashable, int] = {}
    segments = np.array([index.setdefault(key, len(index)) for key in keys], dtype=np.int64)
    size = len(index)
    first_rows = np.unique(segments, return_index=True)[1]
    draft = Draft(name, size=size, ids=None if ids is None else [ids[row] for row in first_rows])
    _shared_parts(draft, grid, columns, first_rows)
    for number_, cells in enumerate(references):  # a reference that the first row lacks may stand in another
        for row, segment in enumerate(segments):
            if draft.references[number_][segment] is None and cells[row] is not None:
                draft.references[number_][segment] = cells[row]
    places = _places(grid, segments, owners, systems, outputs, size, findings)
    lines = np.asarray(grid.lines, dtype=np.int64)
    for owner, system in enumerate(systems):
        rows = places[owner]
        draft.systems[system] = [outputs[row] if outputs is not None and row >= 0 else None for row in rows.tolist()]
        draft.origins[f"system:{system}"] = Origin(grid.file, np.where(rows >= 0, lines[rows], 0))
    _long_scores(draft, grid, columns, segments, owners, systems, findings)
    return draft


def _systems(grid: Grid, columns: Columns) -> tuple[np.ndarray, list[str]]:
    """Which system each row belongs to, int[rows], and the systems' names in order of appearance."""
    if columns.system is None:
        return np.zeros(len(grid), dtype=np.int64), [columns.hypotheses.get("") or "system"]
    names = [shown(cell).strip() for cell in grid.columns[columns.system]]
    missing = [grid.lines[row] for row, text in enumerate(names) if not text]
    if missing:
        raise refuse(
            "missing-systems",
            grid.file,
            f"The system is not named in {listed(missing)}.",
            "Fill the system names in.",
            missing[0],
        )
    index: dict[str, int] = {}
    owners = np.array([index.setdefault(text, len(index)) for text in names], dtype=np.int64)
    if len(index) > _SYSTEMS:
        message = f"Column {columns.system!r} holds {len(index):,} different names; no more than {_SYSTEMS:,} systems are read."
        raise refuse("too-many-systems", grid.file, message, "Map the column that names the systems.", _first(grid))
    return owners, list(index)


def _places(
    grid: Grid,
    segments: np.ndarray,
    owners: np.ndarray,
    systems: Sequence[str],
    outputs: Texts | None,
    size: int,
    findings: Findings,
) -> np.ndarray:
    """The row that holds each system's output for each segment, int[systems, segments]; -1 where there is none.

    Rows that repeat an output are further ratings of it; rows that contradict each other are refused.
    """
    places = np.full((len(systems), size), -1, dtype=np.int64)
    kept, first_of = np.unique(owners * size + segments, return_index=True)
    places.flat[kept] = first_of
    repeated = np.flatnonzero(places[owners, segments] != np.arange(len(segments)))
    if not len(repeated):
        return places
    if outputs is not None:
        _check_repeated(grid, repeated.tolist(), places, segments, owners, systems, outputs)
    rated = any(role is not None and role[0] == "rater" for role in map(role_of, grid.columns))
    lines = [grid.lines[row] for row in repeated.tolist()]
    message = "Rows repeat a system and segment in {lines}; they were read as further ratings, and ratings are averaged."
    remedy = "Delete the rows where they are copies."
    findings.lines("repeated-rows", grid.file, lines, message, remedy, "note" if rated else "warning")
    return places


def _check_repeated(
    grid: Grid,
    repeated: Sequence[int],
    places: np.ndarray,
    segments: np.ndarray,
    owners: np.ndarray,
    systems: Sequence[str],
    outputs: Texts,
) -> None:
    """Refuse rows that contradict the first row of their system and segment; where that has no output, a later one's counts."""
    for row in repeated:
        first = int(places[owners[row], segments[row]])
        if outputs[first] is None:
            places[owners[row], segments[row]] = row
        elif outputs[row] is not None and outputs[row] != outputs[first]:
            both = f"Lines {grid.lines[first]} and {grid.lines[row]}"
            message = f"{both} give different outputs of system {systems[owners[row]]!r} for the same segment."
            remedy = "Give every segment its own id (or map the document column), or correct the system name."
            raise refuse("duplicate-ids", grid.file, message, remedy, grid.lines[row])


def _long_scores(
    draft: Draft,
    grid: Grid,
    columns: Columns,
    segments: np.ndarray,
    owners: np.ndarray,
    systems: Sequence[str],
    findings: Findings,
) -> None:
    """Scores per output: the mean of its ratings."""
    flat = segments * len(systems) + owners
    for score in columns.scores:
        values = scores_of(grid, score, findings)
        known = ~np.isnan(values)
        counts = np.bincount(flat[known], minlength=draft.size * len(systems))
        sums = np.bincount(flat[known], weights=values[known], minlength=draft.size * len(systems))
        rated = np.flatnonzero(counts)
        means = np.where(counts[rated] == 1, sums[rated], sums[rated] / np.maximum(counts[rated], 1))
        names = np.array(systems, dtype=object)[rated % len(systems)]
        criterion = Criterion(score.criterion, provenance(grid, [score], int(counts.max(initial=1))))
        draft.add_scores(criterion, rated // len(systems), names, means, grid.file)

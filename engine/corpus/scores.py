"""Files that hold nothing but human scores: one number per line, system and score, or system, segment and score."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from engine.corpus.decode import split_lines
from engine.corpus.delimited import read_delimited
from engine.corpus.draft import Draft
from engine.corpus.findings import Findings, enumerated, plural, refuse
from engine.corpus.grid import shown
from engine.corpus.names import known, role_of
from engine.corpus.numerals import number, numbers, report_numbers
from engine.corpus.types import SYSTEM_LEVEL, Criterion


@dataclass(frozen=True)
class ScoreFile:
    """Scores as a file gives them.

    Attributes
    ----------
    systems : the system of each score, or None where the file does not name systems.
    keys : the segment id of each score, or None where scores stand in the order of the segments.
    values : float64[n], NaN where missing.
    lines : the line of each score.
    whole_systems : whether the scores are those of systems as a whole.
    criterion : what the file calls the score, or "".
    """

    file: str
    systems: list[str] | None
    keys: list[str] | None
    values: np.ndarray
    lines: Sequence[int]
    whole_systems: bool = False
    criterion: str = ""


def recognise_scores(text: str, file: str, findings: Findings, meant: bool = False) -> ScoreFile | None:
    """Read a file of scores; None where it is something else. `meant`: the user says that it holds scores."""
    lines = split_lines(text)
    if not any(line.strip() for line in lines):
        return None
    head = lines[0].split()
    roles = [role[0] if (role := role_of(word)) else None for word in head]
    if len(head) == 3 and roles.count("system") == 1 and roles.count("segment") == 1:
        return _with_header(lines, head, roles, file, findings)
    if any(len(cells) > 2 or number(cells[-1], True) is None for cells in map(_cut, lines[:50])):
        return None
    fields = [_cut(line) for line in lines]
    if all(len(cells) == 1 and number(cells[0], True) is not None for cells in fields):
        return _by_line([cells[0] for cells in fields], 1, file, findings)
    filled = [(place, cells) for place, cells in enumerate(fields, 1) if cells != [""]]
    if all(len(cells) == 2 and number(cells[1], True) is not None and not _is_number(cells[0]) for _, cells in filled):
        sure = meant or file.endswith((".score", ".scores"))
        return _by_system(filled, sure, file, findings) if sure or "\t" in text else None
    return None


def read_score_lines(text: str, file: str, criterion: str, systems: Collection[str], findings: Findings) -> ScoreFile:
    """Read a file that the user calls scores: any layout, also a table with a header.

    Parameters
    ----------
    criterion : what the scores are called; the column of that name is read where there are several.
    systems : the systems that the corpus has; a table may have a column for each.

    Raises
    ------
    Refused : the file is in none of the layouts of scores.
    """
    found = recognise_scores(text, file, findings, meant=True) or from_table(text, file, criterion, systems, findings)
    if found is not None:
        return found
    lines = split_lines(text)
    start = 1 if lines and known(lines[0]) else 0
    values = [number(line, True) for line in lines[start:]]
    if values and sum(value is not None for value in values) > 0.5 * len(values):
        return _by_line([line.strip() for line in lines[start:]], start + 1, file, findings)
    message = "The file holds no scores: neither one number per line, nor system and score, nor system, segment and score."
    raise refuse("no-scores", file, message, "Give one number per line, in the order of the segments.", 1)


def from_table(text: str, file: str, criterion: str, systems: Collection[str], findings: Findings) -> ScoreFile | None:
    """Scores in a table with a header: a column for each system, or columns that name system, segment and score."""
    grid = read_delimited(text, file, findings)
    if grid is None or not grid.header:
        return None
    owned = [column for column in grid.columns if column in systems]
    if owned:
        cells = [shown(cell) for column in owned for cell in grid.columns[column]]
        lines = list(grid.lines) * len(owned)
        return ScoreFile(
            file, [column for column in owned for _ in grid.lines], None, _numbers(cells, lines, file, findings), lines
        )
    roles = {column: role[0] for column in grid.columns if (role := role_of(column))}
    columns = [column for column in grid.columns if roles.get(column) in ("score", "penalty") or column == criterion]
    chosen = criterion if criterion in columns else columns[0] if len(columns) == 1 else None
    if chosen is None:
        return None
    system = next((column for column, role in roles.items() if role == "system"), None)
    segment = next((column for column, role in roles.items() if role == "segment"), None)
    names = [shown(cell) for cell in grid.columns[system]] if system else None
    keys = [shown(cell) for cell in grid.columns[segment]] if segment and system else None
    values = _numbers([shown(cell) for cell in grid.columns[chosen]], grid.lines, file, findings)
    whole = names is not None and keys is None and max(Counter(names).values()) == 1
    return ScoreFile(file, names, keys, values, grid.lines, whole, chosen)


def _by_line(cells: Sequence[str], first: int, file: str, findings: Findings) -> ScoreFile:
    """One number per line."""
    lines = range(first, first + len(cells))
    return ScoreFile(file, None, None, _numbers(cells, lines, file, findings), lines)


def _by_system(fields: Sequence[tuple[int, Sequence[str]]], sure: bool, file: str, findings: Findings) -> ScoreFile | None:
    """System and score on each line; None where the names are hardly names of systems."""
    systems = [cells[0] for _, cells in fields]
    lines = [line for line, _ in fields]
    most = max(Counter(systems).values())
    whole = most == 1 and ".seg." not in file
    if most == 1 and not sure and (len(systems) > 200 or any(len(name) > 40 or " " in name for name in systems)):
        return None  # rather texts, each with a number
    if most > 1 and len(set(systems)) > max(1, len(systems) // 2):
        return None
    return ScoreFile(file, systems, None, _numbers([cells[1] for _, cells in fields], lines, file, findings), lines, whole)


def attach(draft: Draft, scores: ScoreFile, criterion: Criterion, findings: Findings) -> None:
    """Add scores to a corpus, matching systems by name and segments by id or order.

    Raises
    ------
    Refused : the counts do not fit, or it cannot be told whose scores they are.
    """
    if scores.whole_systems and scores.systems is not None:
        draft.add_scores(criterion, [SYSTEM_LEVEL] * len(scores.values), scores.systems, scores.values, scores.file)
    elif scores.systems is None:
        _attach_lines(draft, scores, criterion, findings)
    else:
        segments = _by_key(draft, scores, findings) if scores.keys is not None else _by_order(draft, scores)
        kept = segments >= 0
        draft.add_scores(
            criterion, segments[kept], np.array(scores.systems, dtype=object)[kept], scores.values[kept], scores.file
        )
    _drop_unknown(draft, scores.file, findings)


def scores_only(scores: ScoreFile, name: str, criterion: Criterion, findings: Findings) -> Draft:
    """A corpus of systems whose texts are not known: all outputs are missing.

    Raises
    ------
    Refused : the scores are not scores of segments by named systems.
    """
    if scores.systems is None or scores.whole_systems:
        what = "only scores of whole systems" if scores.whole_systems else "only numbers"
        raise refuse(
            "no-texts",
            scores.file,
            f"The file holds {what}, no texts.",
            "Give it as --scores CRITERION=FILE together with the texts.",
            1,
        )
    systems = list(dict.fromkeys(scores.systems))
    if scores.keys is not None:
        ids = list(dict.fromkeys(scores.keys))
        draft = Draft(name, size=len(ids), ids=ids)
    else:
        draft = Draft(name, size=max(Counter(scores.systems).values()))
    draft.systems = {system: [None] * draft.size for system in systems}
    attach(draft, scores, criterion, findings)
    findings.add(
        "no-texts",
        scores.file,
        f"The file holds scores ({plural(len(systems), 'system')}, {plural(draft.size, 'segment')}) but no texts.",
        "Give the texts too: --source, --reference and --system, and this file as --scores CRITERION=FILE.",
        1,
    )
    return draft


def _cut(line: str) -> list[str]:
    """The cells of a line: cut at tabs; at the last space where there is none."""
    cells = line.strip().split("\t") if "\t" in line else line.strip().rsplit(" ", 1)
    return [cell.strip() for cell in cells]


def _is_number(text: str) -> bool:
    value = number(text)
    return value is not None and value == value


def _numbers(cells: Sequence[str], lines: Sequence[int], file: str, findings: Findings) -> np.ndarray:
    found = numbers(cells)
    report_numbers(found, "The file", lines, file, findings)
    wrong = [lines[row] for row in found.wrong]
    if wrong:
        findings.lines(
            "non-numeric-scores",
            file,
            wrong,
            "What is no number stands in {lines}; it counts as missing.",
            "Correct them, or leave them empty.",
        )
    return np.array([float("nan") if value is None else value for value in found.values], dtype=np.float64) + 0.0


def _with_header(
    lines: Sequence[str], head: Sequence[str], roles: Sequence[str | None], file: str, findings: Findings
) -> ScoreFile | None:
    """Columns named system, segment and a score, cut at tabs or spaces or both (as some published files are)."""
    system, segment = roles.index("system"), roles.index("segment")
    score = 3 - system - segment
    fields = [re.split(r"[\t ]+", line.strip()) for line in lines[1:]]
    if any(len(cells) != 3 for cells in fields) or sum(number(cells[score], True) is not None for cells in fields) < 0.9 * len(
        fields
    ):
        return None
    numbers = range(2, len(lines) + 1)
    values = _numbers([cells[score] for cells in fields], numbers, file, findings)
    return ScoreFile(
        file, [cells[system] for cells in fields], [cells[segment] for cells in fields], values, numbers, criterion=head[score]
    )


def _attach_lines(draft: Draft, scores: ScoreFile, criterion: Criterion, findings: Findings) -> None:
    count = len(scores.values)
    if count > draft.size and np.isnan(scores.values[draft.size :]).all():
        line = int(scores.lines[draft.size])
        message = (
            f"The file goes on after the last segment, without scores ({plural(count - draft.size, 'line')} from line {line} on)."
        )
        findings.add("blank-end", scores.file, message, "Delete these lines.", line)
        count = draft.size
    if len(draft.systems) != 1:
        raise refuse(
            "whose-scores",
            scores.file,
            f"The file holds {plural(count, 'score')} without system names, and the corpus has "
            f"{plural(len(draft.systems), 'system')}.",
            "Write system, tab, score on every line, or give one system only.",
            1,
        )
    if count != draft.size:
        raise refuse(
            "unequal-lengths",
            scores.file,
            f"The file has {plural(count, 'score')} for {plural(draft.size, 'segment')}.",
            "Give one line per segment; an empty line is a missing score.",
            min(count, draft.size) + 1,
        )
    draft.add_scores(criterion, range(count), [next(iter(draft.systems))] * count, scores.values[:count], scores.file)


def _by_order(draft: Draft, scores: ScoreFile) -> np.ndarray:
    """The segment of each score: its rank within its system."""
    seen: Counter[str] = Counter()
    segments = []
    for system in scores.systems or []:
        segments.append(seen[system])
        seen[system] += 1
    wrong = [f"{system} {count:,}" for system, count in seen.items() if count != draft.size and (system in draft.systems)]
    if wrong:
        raise refuse(
            "unequal-lengths",
            scores.file,
            f"The file does not have {plural(draft.size, 'score')} for every system: {enumerated(wrong)}.",
            "Give one line per system and segment; None is a missing score.",
            1,
        )
    return np.array(
        [segment if system in draft.systems else -1 for segment, system in zip(segments, scores.systems or [])], dtype=np.int64
    )


def _by_key(draft: Draft, scores: ScoreFile, findings: Findings) -> np.ndarray:
    """The segment of each score, by its id (or number, from 1 or 0); -1 where there is no such segment."""
    keys = scores.keys or []
    if draft.ids is not None:
        index = {key: place for place, key in enumerate(draft.ids)}
    else:
        start = 0 if "0" in keys else 1
        index = {str(place + start): place for place in range(draft.size)}
    segments = np.array([index.get(key, -1) for key in keys], dtype=np.int64)
    strange = np.flatnonzero((segments < 0) & ~np.isnan(scores.values))
    if len(strange):
        findings.lines(
            "unknown-segments",
            scores.file,
            [scores.lines[row] for row in strange.tolist()],
            "Scores of segments that are not here stand in {lines}; they were left out.",
            "Add the segments, or correct the ids.",
        )
    return segments


def _drop_unknown(draft: Draft, file: str, findings: Findings) -> None:
    """Leave out scores of systems that the corpus does not have, and say so."""
    frame = draft.scores[-1]
    strange = sorted(set(frame["system"].unique()) - set(draft.systems))
    if strange:
        findings.add(
            "unknown-systems",
            file,
            f"There are scores for systems without outputs here ({enumerated(strange)}); they were left out.",
            "Add the outputs, or correct the system names.",
        )
        draft.scores[-1] = frame[~frame["system"].isin(strange)].reset_index(drop=True)

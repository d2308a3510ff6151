"""Google's MQM ratings: one row per error, marked by <v> … </v>; rows become scores and error spans.

Weights: Freitag et al. 2021, "Experts, Errors, and Context", table 4.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from engine.corpus.draft import Draft, Origin, Texts
from engine.corpus.findings import Findings, enumerated, refuse
from engine.corpus.grid import Grid, shown
from engine.corpus.names import segment_rank, words
from engine.corpus.types import Criterion, ErrorSpan

CRITERION = "mqm"
WEIGHTS = {"major": 5.0, "critical": 5.0, "minor": 1.0, "neutral": 0.0, "no error": 0.0, "noerror": 0.0, "none": 0.0, "": 0.0}
"""Severity → penalty, special categories aside (see `penalty`)."""

_NAMES = {
    "system": ("system", "sys", "system id"),
    "document": ("doc", "document", "doc id"),
    "rater": ("rater", "annotator", "rater id"),
    "source": ("source", "src"),
    "target": ("target", "tgt", "hypothesis", "translation"),
    "category": ("category", "error category"),
    "severity": ("severity", "error severity"),
}
_MARK = re.compile(r"</?v>")


def is_mqm(columns: Sequence[str]) -> bool:
    """Whether a table with these columns holds MQM ratings."""
    found = _find(columns)
    return {"system", "source", "target", "category", "severity"} <= found.keys() and "segment" in found


def penalty(category: str, severity: str) -> float | None:
    """The penalty of one error: Major 5 (non-translation 25), Minor 1 (punctuation 0.1); None for an unknown severity."""
    kind, level = words(category), words(severity)
    if level in ("major", "critical") and kind.startswith("non translation"):
        return 25.0
    if level == "minor" and kind == "fluency punctuation":
        return 0.1
    return WEIGHTS.get(level)


def unmark(text: str) -> tuple[str, list[tuple[int, int]], bool]:
    """Remove <v> and </v>.

    Returns
    -------
    (text without marks, spans as (start, end) in that text with end exclusive, whether every mark had its partner).
    A <v> that is never closed reaches to the end of the text.
    """
    pieces, spans, opened, balanced, length, last = [], [], None, True, 0, 0
    for mark in _MARK.finditer(text):
        pieces.append(text[last : mark.start()])
        length += mark.start() - last
        last = mark.end()
        if mark[0] == "<v>":
            balanced &= opened is None
            opened = length if opened is None else opened
        elif opened is None:
            balanced = False
        else:
            spans.append((opened, length))
            opened = None
    pieces.append(text[last:])
    clean = "".join(pieces)
    if opened is not None:
        spans.append((opened, len(clean)))
        balanced = False
    return clean, spans, balanced


def read_mqm(grid: Grid, name: str, findings: Findings) -> Draft:
    """Make a corpus of MQM ratings: the score of an output is the negated sum of a rater's penalties, averaged over its raters.

    Raises
    ------
    Refused : a severity that has no weight, or rows without system or segment.
    """
    found = _find(list(grid.columns))
    column = {
        role: [shown(cell) for cell in grid.columns[found[role]]] if role in found else [""] * len(grid)
        for role in (*_NAMES, "segment")
    }
    keys = _keys(column, grid)
    order = sorted(dict.fromkeys(keys), key=_sort_key)
    index = {key: place for place, key in enumerate(order)}
    segments = [index[key] for key in keys]
    systems = list(dict.fromkeys(column["system"]))
    targets = [unmark(text) for text in column["target"]]
    sources = [unmark(text) for text in column["source"]]
    _report_marks(targets, sources, grid, findings)
    draft = Draft(name, size=len(order), ids=[key[1] for key in order])
    draft.documents = [key[0] for key in order] if any(key[0] for key in order) else None
    outputs = _agreed(
        [(system, segment) for system, segment in zip(column["system"], segments)],
        [text for text, _, _ in targets],
        grid,
        findings,
    )
    originals = _agreed(segments, [text for text, _, _ in sources], grid, findings)
    first: dict[tuple[str, int], int] = {}
    for row, place in enumerate(zip(column["system"], segments)):
        first.setdefault(place, grid.lines[row])
    draft.sources = [originals[place] for place in range(len(order))]
    by_segment = dict(zip(reversed(segments), reversed(grid.lines)))
    draft.origins["source"] = Origin(grid.file, [by_segment[place] for place in range(len(order))])
    for system in systems:
        draft.systems[system] = [outputs.get((system, place)) for place in range(len(order))]
        draft.origins[f"system:{system}"] = Origin(grid.file, [first.get((system, place), 0) for place in range(len(order))])
    _references(draft, grid, findings)
    _scores(draft, column, segments, grid, findings)
    _spans(draft, column, segments, targets, sources, outputs, originals)
    return draft


def _find(columns: Sequence[str]) -> dict[str, str]:
    """Role → column."""
    plain = {words(column): column for column in reversed(columns)}
    found = {role: next((plain[name] for name in names if name in plain), None) for role, names in _NAMES.items()}
    ids = sorted((column for column in columns if segment_rank(column) < 999), key=segment_rank)
    document_ids = [column for column in columns if words(column) in ("doc seg id", "docsegid")]
    found["segment"] = next(iter(ids or document_ids), None)
    return {role: column for role, column in found.items() if column is not None}


def _keys(column: Mapping[str, Sequence[str]], grid: Grid) -> list[tuple[str, str]]:
    keys = []
    for row, (document, segment, system) in enumerate(zip(column["document"], column["segment"], column["system"])):
        if not segment.strip() or not system.strip():
            raise refuse(
                "missing-ids",
                grid.file,
                "A rating does not say which system or segment it is for.",
                "Fill the cells in.",
                grid.lines[row],
            )
        keys.append((document, segment.strip()))
    return keys


def _sort_key(key: tuple[str, str]) -> tuple[int, int, str, str]:
    """Segments in the order of their numbers."""
    return (0, int(key[1]), "", key[0]) if key[1].isdecimal() else (1, 0, key[1], key[0])


def _report_marks(targets: Sequence[tuple], sources: Sequence[tuple], grid: Grid, findings: Findings) -> None:
    broken = [grid.lines[row] for row, (target, source) in enumerate(zip(targets, sources)) if not (target[2] and source[2])]
    if broken:
        findings.lines(
            "unbalanced-spans",
            grid.file,
            broken,
            "A <v> mark has no partner in {lines}; its span was taken to reach to the end of the text.",
            "Add the missing mark.",
        )


def _agreed(places: Sequence, texts: Sequence[str], grid: Grid, findings: Findings) -> dict:
    """The text of each place: the one that most of its rows give; rows that give another are reported."""
    votes: dict = defaultdict(Counter)
    for place, text in zip(places, texts):
        votes[place][text] += 1
    agreed = {place: counts.most_common(1)[0][0] for place, counts in votes.items()}
    other = [grid.lines[row] for row, (place, text) in enumerate(zip(places, texts)) if text != agreed[place]]
    if other:
        findings.lines(
            "contradicting-texts",
            grid.file,
            other,
            "Ratings quote another text than the others of their segment in {lines}; the commonest text was kept, and the spans "
            "of these ratings were left out.",
            "Correct the text or the segment id.",
        )
    return agreed


def _references(draft: Draft, grid: Grid, findings: Findings) -> None:
    """Human translations that were rated like systems serve as references too."""
    human = sorted(system for system in draft.systems if re.fullmatch(r"ref(erence)?[-_. ]?[A-Za-z0-9]?", system, re.IGNORECASE))
    for number, system in enumerate(human):
        texts: Texts = list(draft.systems[system])
        draft.references.append(texts)
        draft.origins[f"reference:{number}"] = draft.origins[f"system:{system}"]
    if human:
        findings.note(
            "rated-references",
            grid.file,
            f"Human translations were rated too ({enumerated(human)}); they are read as references and as systems.",
            "Leave them out of the systems where only machine output is to be compared.",
        )


def _scores(draft: Draft, column: Mapping[str, Sequence[str]], segments: Sequence[int], grid: Grid, findings: Findings) -> None:
    sums: dict[tuple[str, int, str], float] = defaultdict(float)
    for row, segment in enumerate(segments):
        points = penalty(column["category"][row], column["severity"][row])
        if points is None:
            raise refuse(
                "unknown-severity",
                grid.file,
                f"The severity {column['severity'][row]!r} has no weight.",
                "Use Major, Minor, Neutral or No-error.",
                grid.lines[row],
            )
        sums[column["system"][row], segment, column["rater"][row]] += points
    critical = [grid.lines[row] for row, text in enumerate(column["severity"]) if words(text) == "critical"]
    if critical:
        findings.lines(
            "critical-errors",
            grid.file,
            critical,
            "Critical errors stand in {lines}; they count as Major.",
            "Nothing needs to be done.",
            "note",
        )
    raters: dict[tuple[str, int], list[float]] = defaultdict(list)
    for (system, segment, _), points in sums.items():
        raters[system, segment].append(points)
    how = (
        f"negated MQM penalties of {grid.file}: Major 5 (non-translation 25), Minor 1 (punctuation 0.1); summed per rater, "
        "averaged over raters"
    )
    values = np.array([-sum(points) / len(points) for points in raters.values()]) + 0.0
    draft.add_scores(
        Criterion(CRITERION, how), [segment for _, segment in raters], [system for system, _ in raters], values, grid.file
    )


def _spans(
    draft: Draft,
    column: Mapping[str, Sequence[str]],
    segments: Sequence[int],
    targets: Sequence[tuple],
    sources: Sequence[tuple],
    outputs: dict,
    originals: dict,
) -> None:
    for row, segment in enumerate(segments):
        system = column["system"][row]
        for side, (text, spans, _), agreed in (
            ("hypothesis", targets[row], outputs[system, segment]),
            ("source", sources[row], originals[segment]),
        ):
            if text == agreed:
                draft.spans += [
                    ErrorSpan(
                        segment, system, side, start, end, column["category"][row], column["severity"][row], column["rater"][row]
                    )
                    for start, end in spans
                ]

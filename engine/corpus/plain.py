"""Parallel plain text: one segment per line, one file per part; files of unequal length are refused, never cut."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.corpus.align import find_parting
from engine.corpus.decode import decode, report_newlines, split_lines
from engine.corpus.draft import Draft, Origin, Texts
from engine.corpus.files import Blob
from engine.corpus.findings import Findings, Refused, plural, refuse


@dataclass(frozen=True)
class Lines:
    """The lines of one file."""

    file: str
    lines: list[str]


def read_lines(blob: Blob, findings: Findings) -> Lines:
    """Read a text file as one segment per line.

    Raises
    ------
    Refused : the file is empty or is no text.
    """
    return lines_of(decode_blob(blob, findings), blob.name, findings)


def decode_blob(blob: Blob, findings: Findings) -> str:
    """The decoded text of a file that must not be empty."""
    data = blob.read()
    if not data:
        raise refuse("empty-file", blob.name, "The file is empty.", "Give a file that holds at least one line.")
    text = decode(data, blob.name, findings)
    if not text:
        raise refuse(
            "empty-file", blob.name, "The file holds nothing but a byte order mark.", "Give a file that holds at least one line."
        )
    return text


def lines_of(text: str, file: str, findings: Findings) -> Lines:
    """Split a decoded text into lines, and report what is odd about their ends."""
    report_newlines(text, file, findings)
    lines = split_lines(text)
    blank = trailing_blank(lines)
    if blank:
        findings.add(
            "blank-end",
            file,
            f"The file ends in {plural(blank, 'blank line')}; each counts as an empty segment.",
            "Delete them if no segment is meant.",
            len(lines) - blank + 1,
        )
    return Lines(file, lines)


def trailing_blank(lines: Sequence[str]) -> int:
    """How many lines at the end are blank."""
    count = 0
    while count < len(lines) and not lines[-1 - count].strip():
        count += 1
    return count


def combine(
    name: str,
    source: Lines | None,
    references: Sequence[Lines],
    systems: Mapping[str, Lines],
    findings: Findings,
    documents: Sequence[str] | None = None,
) -> Draft:
    """Put parallel files together.

    A blank line of a reference file is a missing reference; a blank line of another file is an empty text.

    Raises
    ------
    Refused : the files differ in their number of lines (one finding per file that differs; the last is raised).
    """
    parts = [*([source] if source else []), *references, *systems.values()]
    check_lengths(parts, findings)
    size = len(parts[0].lines)
    draft = Draft(name, size=size, documents=list(documents) if documents else None)
    if source:
        draft.sources = list(source.lines)
        draft.origins["source"] = Origin(source.file, range(1, size + 1))
    for index, part in enumerate(references):
        draft.references.append(missing_where_blank(part.lines))
        draft.origins[f"reference:{index}"] = Origin(part.file, range(1, size + 1))
    for system, part in systems.items():
        draft.systems[system] = list(part.lines)
        draft.origins[f"system:{system}"] = Origin(part.file, range(1, size + 1))
    return draft


def missing_where_blank(lines: Sequence[str | None]) -> Texts:
    """A blank reference is a missing one."""
    return [line if line is not None and line.strip() else None for line in lines]


def check_lengths(parts: Sequence[Lines], findings: Findings) -> None:
    """Refuse files of unequal length, with the counts and the place where each seems to part from the others."""
    counts = Counter(len(part.lines) for part in parts)
    if len(counts) < 2:
        return
    usual = max(counts, key=lambda count: (counts[count], -[len(part.lines) for part in parts].index(count)))
    anchors = [part for part in parts if len(part.lines) == usual]
    table = ", ".join(f"{part.file} {len(part.lines):,}" for part in parts)
    problems = [unequal(_closest(anchors, part), part, table) for part in parts if len(part.lines) != usual]
    for problem in problems[1:]:
        findings.extend([problem.finding])
    for part in parts:
        _report_blank(part, findings)
    raise problems[0]


def _report_blank(part: Lines, findings: Findings) -> None:
    """Report blank lines between others: where files differ in length, one may be where a text was lost or a line added."""
    blank = [
        number for number, line in enumerate(part.lines[: len(part.lines) - trailing_blank(part.lines)], 1) if not line.strip()
    ]
    if blank:
        findings.lines(
            "empty-lines",
            part.file,
            blank,
            "Nothing is written in {lines}.",
            "Restore the text, or delete the line if it is too many.",
        )


def unequal(anchor: Lines, part: Lines, table: str) -> Refused:
    """The refusal of a file that is longer or shorter than another, with the likely place."""
    blank = trailing_blank(part.lines)
    kept = part.lines[: len(part.lines) - blank] if len(part.lines) > len(anchor.lines) else part.lines
    counts = f"{part.file} has {plural(len(part.lines), 'line')}" + (
        f" (the last {blank} blank)" if blank > 1 else " (the last one blank)" if blank else ""
    )
    counts += f" where {anchor.file} has {len(anchor.lines):,}"
    if len(kept) == len(anchor.lines):
        return refuse(
            "unequal-lengths",
            part.file,
            f"{counts}; only its blank last lines are too many. All counts: {table}.",
            "Delete the blank lines at the end.",
            len(kept) + 1,
        )
    place = find_parting(anchor.lines, kept)
    longer, shorter = (part.file, anchor.file) if place.extra_in_second else (anchor.file, part.file)
    if place.at_end:
        where = f"{shorter} seems to end early, after line {place.line - 1}"
    else:
        where = f"they seem to part about line {place.line}, where {longer} has a line that {shorter} lacks"
    line = max(1, min(place.line, len(part.lines)))
    return refuse(
        "unequal-lengths",
        part.file,
        f"{counts}; {where}. All counts: {table}.",
        "Compare the files there and restore or delete the line; nothing was cut.",
        line,
    )


def _closest(anchors: Sequence[Lines], part: Lines) -> Lines:
    """The file to compare with: the one whose words are most like those of `part`."""
    words = _words(part)
    return max(anchors, key=lambda anchor: len(words & _words(anchor)))


def _words(part: Lines) -> set[str]:
    return set(re.findall(r"\w+", " ".join(part.lines[:200]))[:4000])

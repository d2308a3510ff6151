"""The import doctor: what is odd about texts and scores that were read, each thing with file, line and remedy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from engine.corpus.characters import CHECKS, EMPTY, Check, suspicious
from engine.corpus.draft import Origin
from engine.corpus.findings import Findings, Severity, enumerated, listed, plural
from engine.corpus.types import Corpus, Finding

_MANY_COPIES = 0.02
"""Where more of a system's outputs repeat their source, something went wrong."""


@dataclass(frozen=True)
class Part:
    """One list of texts of a corpus: the source, a reference or a system."""

    key: str  # as in `Draft.origins`
    label: str
    texts: Sequence[str | None]
    origin: Origin

    @property
    def kind(self) -> str:
        """ "source", "reference" or "system"."""
        return self.key.partition(":")[0]


@dataclass
class _Hits:
    """Where one kind of thing was seen in one file."""

    lines: list[int] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, part: Part, segment: int) -> None:
        line = part.origin.line(segment)
        if line is not None:
            self.lines.append(line)
        self.labels[part.label] += 1

    @property
    def count(self) -> int:
        return sum(self.labels.values())

    @property
    def where(self) -> str:
        """ "lines 3 and 9 (system A)"."""
        lines = sorted(set(self.lines))
        named = (
            enumerated([f"{label} {count:,}" for label, count in self.labels.items()], shown=4)
            if len(self.labels) > 1
            else next(iter(self.labels))
        )
        return f"{named}: {listed(lines, len(lines))}" if lines else named


def examine(corpus: Corpus, origins: Mapping[str, Origin] | None = None) -> tuple[Finding, ...]:
    """Look a corpus over.

    Parameters
    ----------
    origins : where each part was read; without it findings name the part and no line.
    """
    findings = Findings()
    parts = list(_parts(corpus, origins or {}))
    _characters(parts, findings)
    _empty(parts, findings)
    _missing(corpus, parts, findings)
    _copies(corpus, parts, findings)
    _same(corpus, parts, findings)
    _scores(corpus, origins or {}, findings)
    return findings.done()


def _parts(corpus: Corpus, origins: Mapping[str, Origin]) -> Iterator[Part]:
    def part(key: str, label: str, texts: Sequence[str | None]) -> Part:
        return Part(key, label, texts, origins.get(key) or Origin(corpus.name))

    if corpus.sources is not None:
        yield part("source", "source", corpus.sources)
    for index in range(corpus.reference_count):
        label = "reference" if corpus.reference_count == 1 else f"reference {index + 1}"
        yield part(f"reference:{index}", label, [references[index] for references in corpus.references])
    for system, texts in corpus.systems.items():
        yield part(f"system:{system}", f"system {system}", texts)


def _grouped(parts: Sequence[Part], check: Check, findings: Findings) -> None:
    """One finding per file for all texts in which a check finds something."""
    hits: dict[str, _Hits] = defaultdict(_Hits)
    found = check.found
    for part in parts:
        for segment in [segment for segment, text in enumerate(part.texts) if text is not None and found(text)]:
            hits[part.origin.file].add(part, segment)
    for file, hit in hits.items():
        message = check.message.replace("{count}", plural(hit.count, "text")).replace("{where}", hit.where)
        findings.add(check.kind, file, message, check.remedy, min(hit.lines, default=None), check.severity)


def _characters(parts: Sequence[Part], findings: Findings) -> None:
    """Control characters, byte order marks inside, invisible and bidirectional controls, mask words, character references."""
    suspects: dict[str, list[Part]] = defaultdict(list)
    for part in parts:
        written = [text for text in part.texts if text]
        for name in suspicious("\n".join(written), len(written)):
            suspects[name].append(part)
    for name, check in CHECKS.items():
        if suspects[name]:
            _grouped(suspects[name], check, findings)


def _empty(parts: Sequence[Part], findings: Findings) -> None:
    _grouped([part for part in parts if part.kind != "reference"], EMPTY, findings)


def _missing(corpus: Corpus, parts: Sequence[Part], findings: Findings) -> None:
    """Outputs, references and sources that are not there: one finding per file and kind."""
    gaps: dict[tuple[str, str], list[tuple[Part, list[int]]]] = defaultdict(list)
    for part in parts:
        absent = [segment for segment, text in enumerate(part.texts) if text is None]
        if absent:
            gaps[part.origin.file, part.kind].append((part, absent))
    for (file, kind), found in gaps.items():
        lines = sorted({line for part, absent in found for line in map(part.origin.line, absent) if line})
        place = f" ({listed(lines, len(lines))})" if lines else ""
        named = enumerated([f"{part.label} {len(absent):,}" for part, absent in found], shown=8)
        total = plural(len(corpus), "segment")
        if kind == "system":
            everywhere = all(len(absent) == len(corpus) for _, absent in found)
            message = f"Outputs are missing, of {total}: {named}{place}; they are not scored."
            remedy = "Add the outputs, or compare systems on the segments that they share."
            findings.add(
                "missing-outputs", file, message, remedy, lines[0] if lines else None, "note" if everywhere else "warning"
            )
        elif kind == "source":
            findings.add(
                "missing-sources",
                file,
                f"Sources are missing, of {total}: {named}{place}.",
                "Add them.",
                lines[0] if lines else None,
            )
        elif corpus.reference_count > 1:
            findings.note(
                "missing-references", file, f"References are missing, of {total}: {named}.", "Add them, where there are any."
            )
    _without_reference(corpus, parts, findings)


def _without_reference(corpus: Corpus, parts: Sequence[Part], findings: Findings) -> None:
    if not corpus.reference_count:
        if len(corpus) and corpus.systems:
            findings.note(
                "no-references",
                parts[-1].origin.file,
                "There are no references; only metrics that need none can score.",
                "Add references, where there are any.",
            )
        return
    bare = [segment for segment, references in enumerate(corpus.references) if all(text is None for text in references)]
    if bare:
        first = next(part for part in parts if part.kind == "reference")
        lines = [line for line in map(first.origin.line, bare) if line]
        where = f" ({listed(lines, len(lines))})" if lines else ""
        findings.add(
            "missing-references",
            first.origin.file,
            f"There is no reference for {len(bare):,} of {plural(len(corpus), 'segment')}{where}; metrics that need one do "
            "not score them.",
            "Add the references; a blank line is a missing one.",
            min(lines, default=None),
        )


def _copies(corpus: Corpus, parts: Sequence[Part], findings: Findings) -> None:
    """Outputs that repeat their source."""
    sources = corpus.sources
    if sources is None:
        return
    if len(sources) > 2 and len(set(sources)) == 1:
        file = next(part.origin.file for part in parts if part.kind == "source")
        findings.add(
            "constant-source",
            file,
            f"The source is the same for all segments ({str(sources[0])[:40]!r}).",
            "Leave the column or file out where it is only a filler.",
            None,
        )
        return
    plain = [text.strip() if text else None for text in sources]
    few: list[tuple[Part, list[int]]] = []
    for part in parts:
        if part.kind != "system":
            continue
        copies = [
            segment
            for segment, (text, source) in enumerate(zip(part.texts, plain))
            if text and source and (text is source or text.strip() == source) and any(map(str.isalpha, text))
        ]
        if len(copies) > _MANY_COPIES * len(part.texts):
            _report_copies([(part, copies)], corpus, "warning", findings)
        elif copies:
            few.append((part, copies))
    if few:
        _report_copies(few, corpus, "note", findings)


def _report_copies(found: Sequence[tuple[Part, list[int]]], corpus: Corpus, severity: Severity, findings: Findings) -> None:
    lines = sorted({line for part, copies in found for line in map(part.origin.line, copies) if line})
    where = f" ({listed(lines, len(lines))})" if lines else ""
    named = enumerated([f"{part.label} {len(copies):,}" for part, copies in found], shown=8)
    message = f"Outputs repeat their source, of {plural(len(corpus), 'segment')}: {named}{where}."
    remedy = "Check whether they were left untranslated." if severity == "warning" else "Names and numbers may stay as they are."
    findings.add("untranslated", found[0][0].origin.file, message, remedy, lines[0] if lines else None, severity)


def _same(corpus: Corpus, parts: Sequence[Part], findings: Findings) -> None:
    """Systems that are identical to each other or to a reference."""
    by_texts: dict[tuple[str | None, ...], list[Part]] = defaultdict(list)
    for part in parts:
        if part.kind != "source" and any(text is not None for text in part.texts):
            by_texts[tuple(part.texts)].append(part)
    for group in by_texts.values():
        systems = [part for part in group if part.kind == "system"]
        references = [part for part in group if part.kind == "reference"]
        if systems and references:
            human = all(part.label.removeprefix("system ").lower().startswith("ref") for part in systems)
            same = enumerated([part.label for part in systems])
            message = f"The texts of {references[0].label} are those of {same} too; scores against it say nothing there."
            remedy = "Leave the system out, or give another reference."
            findings.add("equals-reference", systems[0].origin.file, message, remedy, None, "note" if human else "warning")
        elif len(systems) > 1:
            findings.add(
                "identical-systems",
                systems[1].origin.file,
                f"{_cap(enumerated([part.label for part in systems]))} have identical outputs.",
                "Check that no file was given twice.",
            )
        if len(references) > 1:
            findings.add(
                "identical-references",
                references[1].origin.file,
                f"{_cap(enumerated([part.label for part in references]))} are identical.",
                "Give each reference once.",
            )


def _cap(text: str) -> str:
    return text[:1].upper() + text[1:]


def _scores(corpus: Corpus, origins: Mapping[str, Origin], findings: Findings) -> None:
    """Human scores that do not vary, and criteria without any score."""
    grouped = corpus.human.groupby("criterion")["score"].agg(["count", "nunique", "min"]) if len(corpus.human) else None
    for criterion in corpus.criteria:
        origin = origins.get(f"score:{criterion.name}")
        file = origin.file if origin else corpus.name
        if grouped is None or criterion.name not in grouped.index:
            message = f"Criterion {criterion.name!r} has no scores."
            findings.add("no-scores", file, message, "Fill them in, or leave the column out.")
            continue
        row = grouped.loc[criterion.name]
        if row["nunique"] == 1 and row["count"] > 1:
            message = f"All {int(row['count']):,} scores of criterion {criterion.name!r} are {row['min']:g}."
            findings.add(
                "constant-scores", file, message, "Check that the right column was read: nothing can correlate with them."
            )

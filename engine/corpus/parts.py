"""Parts that the user names one by one: a source, references, systems and scores, alone or added to a corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.corpus.draft import Draft
from engine.corpus.files import Blob, is_zip
from engine.corpus.findings import Findings, plural, refuse
from engine.corpus.keyed import Parts
from engine.corpus.plain import Lines, combine, decode_blob, lines_of, unequal
from engine.corpus.scores import attach, read_score_lines
from engine.corpus.sgm import looks_like_sgm, read_sgm
from engine.corpus.types import Criterion


def add_parts(
    draft: Draft | None,
    name: str,
    source: Blob | None,
    references: Sequence[Blob],
    systems: Mapping[str, Blob],
    findings: Findings,
) -> Draft:
    """Combine parts with each other, or add them to a corpus that was read.

    Raises
    ------
    Refused : parts of unequal length, a part that the corpus has already.
    """
    read_source = read_part(source, findings) if source else None
    read_references = [read_part(blob, findings) for blob in references]
    read_systems = {system: read_part(blob, findings) for system, blob in systems.items()}
    if draft is None:
        return combine(name, read_source, read_references, read_systems, findings)
    lines = [*([read_source] if read_source else []), *read_references, *read_systems.values()]
    _check_sizes(draft, lines)
    taken = [system for system in systems if system in draft.systems]
    if taken or (source and draft.sources is not None):
        what = f"a system {taken[0]!r}" if taken else "sources"
        raise refuse("given-twice", name, f"The corpus already has {what}.", "Leave the part out, or give it another name.")
    _merge(draft, combine(name, read_source, read_references, read_systems, findings))
    return draft


def read_part(blob: Blob, findings: Findings) -> Lines:
    """Read plain text, or the segments of an SGM file in their order.

    Raises
    ------
    Refused : an archive or workbook, an SGM file that holds more than one part.
    """
    if is_zip(blob.read()):
        message = "This is an archive or workbook, not plain text."
        raise refuse("not-text", blob.name, message, "Read it as a corpus, without naming a part, or unpack it.")
    text = decode_blob(blob, findings)
    if looks_like_sgm(text):
        parts = Parts()
        read_sgm(text, blob.name, parts, findings)
        if len(parts.items) != 1:
            message = f"The file holds {plural(len(parts.items), 'part')}, not one."
            raise refuse("several-parts", blob.name, message, "Read it as a corpus, without naming a part.")
        return Lines(blob.name, [found for found, _ in parts.items[0].texts.values()])
    if text.count("\t") >= text.count("\n") > 2 and len({line.count("\t") for line in text.split("\n")[:200] if line}) == 1:
        message = "The file looks like a table; each whole line was read as one text."
        findings.add("looks-like-table", blob.name, message, "Read it as a corpus, or give the column alone.", 1)
    return lines_of(text, blob.name, findings)


def add_scores(draft: Draft | None, scores: Mapping[str, Blob], findings: Findings) -> None:
    """Add scores by criterion.

    Raises
    ------
    Refused : there are no texts, a file holds no scores, or they do not fit.
    """
    for criterion, blob in scores.items():
        if draft is None:
            remedy = "Name the texts too: --reference FILE --system NAME=FILE."
            raise refuse("no-texts", blob.name, "There are scores but no texts.", remedy)
        found = read_score_lines(decode_blob(blob, findings), blob.name, criterion, draft.systems, findings)
        attach(draft, found, Criterion(criterion, f"{blob.name}, as given; higher is taken as better"), findings)


def _check_sizes(draft: Draft, lines: Sequence[Lines]) -> None:
    for part in lines:
        if len(part.lines) != draft.size:
            anchor = Lines(draft.name, [text or "" for text in next(iter(draft.systems.values()))])
            raise unequal(anchor, part, f"{draft.name} {draft.size:,}, {part.file} {len(part.lines):,}")


def _merge(draft: Draft, added: Draft) -> None:
    """Add the texts of a draft to another of the same size."""
    shift = len(draft.references)
    if added.sources is not None:
        draft.sources = added.sources
    draft.references += added.references
    draft.systems |= added.systems
    for key, origin in added.origins.items():
        kind, _, rest = key.partition(":")
        draft.origins[f"reference:{int(rest) + shift}" if kind == "reference" else key] = origin

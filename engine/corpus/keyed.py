"""Texts that are matched by document and segment id, as SGM and WMT XML give them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.corpus.draft import Draft, Origin
from engine.corpus.findings import Findings, enumerated, refuse
from engine.corpus.languages import code
from engine.corpus.plain import missing_where_blank
from engine.corpus.types import Languages

Key = tuple[str, str]


@dataclass
class Part:
    """The texts of the source, of one reference or of one system: (document, segment id) → (text, line)."""

    kind: str  # "source", "reference" or "system"
    name: str
    file: str
    texts: dict[Key, tuple[str, int]] = field(default_factory=dict)

    def add(self, key: Key, text: str, line: int) -> None:
        """Add a text.

        Raises
        ------
        Refused : there is one already.
        """
        if key in self.texts:
            what = {"source": "the source", "reference": f"reference {self.name!r}", "system": f"system {self.name!r}"}[self.kind]
            raise refuse(
                "duplicate-ids",
                self.file,
                f"Segment {key[1]!r} of document {key[0]!r} stands twice in {what}.",
                "Give every segment of a document its own id.",
                line,
            )
        self.texts[key] = (text, line)


@dataclass
class Parts:
    """Everything one or several files hold."""

    items: list[Part] = field(default_factory=list)
    languages: Languages = (None, None)

    def part(self, kind: str, name: str, file: str) -> Part:
        """The part of this kind and name, made where it is new."""
        for item in self.items:
            if (item.kind, item.name, item.file) == (kind, name, file):
                return item
        self.items.append(Part(kind, name, file))
        return self.items[-1]

    def of(self, kind: str) -> list[Part]:
        """The parts of a kind."""
        return [item for item in self.items if item.kind == kind]

    def set_languages(self, source: str | None, target: str | None) -> None:
        """Remember languages that attributes name ("any" names none)."""
        self.languages = (self.languages[0] or code(source), self.languages[1] or code(target))


def assemble(parts: Parts, name: str, findings: Findings) -> Draft:
    """Line the parts up by document and segment id; what a part lacks is missing.

    Raises
    ------
    Refused : no part is a system, or two sources contradict each other.
    """
    sources, references, systems = (
        parts.of("source"),
        sorted(parts.of("reference"), key=lambda part: part.name),
        parts.of("system"),
    )
    if len(sources) > 1:
        raise refuse(
            "several-sources",
            sources[1].file,
            f"There are several sources ({enumerated([part.file for part in sources])}).",
            "Give one.",
        )
    if not systems:
        raise refuse(
            "no-outputs",
            parts.items[0].file,
            "There are no system outputs, only sources or references.",
            "Give the files of the systems too.",
        )
    keys = list(dict.fromkeys(key for part in [*sources, *references, *systems] for key in part.texts))
    draft = Draft(name, size=len(keys), languages=parts.languages)
    draft.documents = [document for document, _ in keys]
    draft.ids = [f"{document}:{segment}" for document, segment in keys]
    for part in sources:
        draft.sources = _texts(part, keys)
        draft.origins["source"] = _origin(part, keys)
    for index, part in enumerate(references):
        draft.references.append(missing_where_blank(_texts(part, keys)))
        draft.origins[f"reference:{index}"] = _origin(part, keys)
    for part in systems:
        system = part.name if part.name not in draft.systems else f"{part.name} ({part.file})"
        draft.systems[system] = _texts(part, keys)
        draft.origins[f"system:{system}"] = _origin(part, keys)
    _report_strangers(sources or references, systems, findings)
    return draft


def _texts(part: Part, keys: Sequence[Key]) -> list[str | None]:
    return [part.texts[key][0] if key in part.texts else None for key in keys]


def _origin(part: Part, keys: Sequence[Key]) -> Origin:
    return Origin(part.file, [part.texts[key][1] if key in part.texts else 0 for key in keys])


def _report_strangers(anchors: Sequence[Part], systems: Sequence[Part], findings: Findings) -> None:
    """Report outputs for segments that neither source nor reference has."""
    if not anchors:
        return
    known = set().union(*(part.texts for part in anchors))
    for part in systems:
        strange = [key for key in part.texts if key not in known]
        if strange:
            findings.lines(
                "unknown-segments",
                part.file,
                [part.texts[key][1] for key in strange],
                f"System {part.name!r} has segments that the {anchors[0].kind} lacks, in {{lines}}.",
                "Check that the files belong together.",
            )

"""What an evaluation corpus is: texts, human scores and error spans, immutable and hashed by content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import repeat
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

SYSTEM_LEVEL = -1
"""The `segment` of a human score that was given to a system as a whole."""

HUMAN_COLUMNS = ("segment", "system", "criterion", "score")

Languages = tuple[str | None, str | None]
"""Source and target language as ISO 639-1 codes (`("de", "en")`); None where unknown."""


class Segment(NamedTuple):
    """One output with all that a metric may read. A missing text is None; an empty one is ''."""

    source: str | None
    references: tuple[str, ...]
    hypothesis: str | None


@dataclass(frozen=True)
class ErrorSpan:
    """An error marked in a text: characters `start` to `end` (exclusive) of `side`."""

    segment: int
    system: str
    side: str  # "hypothesis", "source" or "reference:0", "reference:1", …
    start: int
    end: int
    category: str
    severity: str = ""
    note: str = ""


@dataclass(frozen=True)
class Criterion:
    """A kind of human score. `provenance` says how the numbers came about, higher being better."""

    name: str
    provenance: str
    planted: bool = False  # a penalty computed from planted errors: not human judgement


@dataclass(frozen=True)
class Finding:
    """One thing that the import doctor noticed. `severity` fatal: the file was refused."""

    kind: str  # a stable short name such as "unequal-lengths"
    file: str
    line: int | None
    message: str
    remedy: str
    severity: Literal["fatal", "warning", "note"] = "warning"


def empty_human_scores() -> pd.DataFrame:
    """A human-score table without rows, with the right columns and types."""
    return pd.DataFrame(
        {
            "segment": pd.Series(dtype="int64"),
            "system": pd.Series(dtype="str"),
            "criterion": pd.Series(dtype="str"),
            "score": pd.Series(dtype="float64"),
        }
    )


@dataclass(frozen=True, eq=False)
class Corpus:
    """System outputs with what they are judged against. n is the number of segments.

    Attributes
    ----------
    name : what the corpus is called on screen.
    systems : system name → n hypotheses; None where a system has no output for a segment.
    references : per segment a tuple of equal length for all segments; None where one is missing.
    sources : n strings (None where one is missing), or None when the corpus has no sources.
    documents : n document ids, or None.
    languages : source and target language.
    human : long table with `HUMAN_COLUMNS`; higher is better; `segment` is `SYSTEM_LEVEL` for a system's score.
    criteria : the kinds of human score, each with its provenance.
    spans : marked errors.
    ids : what the input calls the segments, or None where they have no other name than their number.
    """

    name: str
    systems: Mapping[str, tuple[str | None, ...]]
    references: tuple[tuple[str | None, ...], ...] = ()
    sources: tuple[str | None, ...] | None = None
    documents: tuple[str, ...] | None = None
    languages: Languages = (None, None)
    human: pd.DataFrame = field(default_factory=empty_human_scores)
    criteria: tuple[Criterion, ...] = ()
    spans: tuple[ErrorSpan, ...] = ()
    ids: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        lengths = {name: len(texts) for name, texts in self.systems.items()}
        lengths |= {"references": len(self.references)}
        if self.sources is not None:
            lengths["sources"] = len(self.sources)
        if self.documents is not None:
            lengths["documents"] = len(self.documents)
        if self.ids is not None:
            lengths["ids"] = len(self.ids)
        if len(set(lengths.values())) > 1:
            counts = ", ".join(f"{name} {count}" for name, count in lengths.items())
            raise ValueError(f"parts of the corpus differ in length: {counts}")

    def __len__(self) -> int:
        return len(self.references)

    @property
    def reference_count(self) -> int:
        """The number of reference columns (some may have gaps)."""
        return len(self.references[0]) if self.references else 0

    def segment(self, index: int, system: str) -> Segment:
        """The segment at `index` with the output of `system`; missing references are left out."""
        return Segment(
            None if self.sources is None else self.sources[index],
            tuple(text for text in self.references[index] if text is not None),
            self.systems[system][index],
        )

    @cached_property
    def _present(self) -> Sequence[tuple[str, ...]]:
        """The references of each segment without the missing ones."""
        if not any(None in texts for texts in self.references):
            return self.references
        return [tuple(text for text in texts if text is not None) for texts in self.references]

    def segments(self, system: str, indices: Iterable[int] | None = None) -> list[Segment]:
        """The segments of one system, all of them or those at `indices`."""
        if indices is not None:
            return [self.segment(index, system) for index in indices]
        sources = repeat(None) if self.sources is None else self.sources
        return list(map(partial(tuple.__new__, Segment), zip(sources, self._present, self.systems[system])))

    def head(self, limit: int) -> Corpus:
        """The first `limit` segments with their scores and spans (system-level scores are kept)."""
        if limit >= len(self):
            return self
        return Corpus(
            name=self.name,
            systems={name: texts[:limit] for name, texts in self.systems.items()},
            references=self.references[:limit],
            sources=None if self.sources is None else self.sources[:limit],
            documents=None if self.documents is None else self.documents[:limit],
            languages=self.languages,
            human=self.human[self.human["segment"] < limit].reset_index(drop=True),
            criteria=self.criteria,
            spans=tuple(span for span in self.spans if span.segment < limit),
            ids=None if self.ids is None else self.ids[:limit],
        )

    def with_ids(self, frame: pd.DataFrame) -> pd.DataFrame:
        """A table that counts segments, with what the input calls them (`id`) beside; as it is where they have no names."""
        if self.ids is None:
            return frame
        frame = frame.copy()
        frame.insert(frame.columns.get_loc("segment") + 1, "id", [self.ids[index] for index in frame["segment"]])
        return frame

    def with_systems(self, names: Sequence[str]) -> Corpus:
        """The same corpus with only the named systems, in that order."""
        return Corpus(
            name=self.name,
            systems={name: self.systems[name] for name in names},
            references=self.references,
            sources=self.sources,
            documents=self.documents,
            languages=self.languages,
            human=self.human[self.human["system"].isin(list(names))].reset_index(drop=True),
            criteria=self.criteria,
            spans=tuple(span for span in self.spans if span.system in names),
            ids=self.ids,
        )

    @cached_property
    def hash(self) -> str:
        """A content hash (32 hexadecimal digits): equal content, equal hash, whatever the name or the files."""
        digest = hashlib.blake2b(digest_size=16)

        def feed(texts: Iterable[str | None]) -> None:
            listed = list(texts)
            lengths = np.array([-1 if text is None else len(text) for text in listed], dtype="<i8")
            digest.update(f"{len(listed)}:".encode() + lengths.tobytes())
            digest.update("".join(filter(None, listed)).encode("utf-8", "surrogatepass"))

        feed(self.languages)
        feed(self.sources or ())
        for column in zip(*self.references):
            feed(column)
        for name, texts in self.systems.items():
            feed([name])
            feed(texts)
        feed(self.documents or ())
        for label in ("system", "criterion"):
            codes, names = pd.factorize(self.human[label])
            feed(names)
            digest.update(codes.astype("<i8").tobytes())
        digest.update(self.human["segment"].to_numpy(dtype="<i8").tobytes())
        digest.update(self.human["score"].to_numpy(dtype="<f8").tobytes())
        feed(map(repr, self.spans))
        return digest.hexdigest()

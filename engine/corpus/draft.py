"""A corpus in the making: what readers fill in, and the step that turns it into a `Corpus`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from engine.corpus.findings import Findings
from engine.corpus.languages import code, guess_language, name
from engine.corpus.types import Corpus, Criterion, ErrorSpan, Languages, empty_human_scores

Texts = list[str | None]


@dataclass(frozen=True)
class Origin:
    """Where the texts of one part come from: the file, and the line of each segment (0, or no list, where there is none)."""

    file: str
    lines: Sequence[int] | np.ndarray | None = None

    def line(self, segment: int) -> int | None:
        """The line of a segment."""
        return int(self.lines[segment]) or None if self.lines is not None and segment < len(self.lines) else None


@dataclass
class Draft:
    """Parts of a corpus as a reader finds them; all lists have one entry per segment.

    Attributes
    ----------
    ids : what the input calls the segments.
    mixed : whether the sources, the outputs are in several languages, so that none is to be guessed.
    scores : long tables with the columns of `HUMAN_COLUMNS`.
    origins : part ("source", "reference:0", "system:NAME") → where it was read.
    """

    name: str
    size: int = 0
    systems: dict[str, Texts] = field(default_factory=dict)
    references: list[Texts] = field(default_factory=list)
    sources: Texts | None = None
    documents: list[str] | None = None
    ids: list[str] | None = None
    languages: Languages = (None, None)
    mixed: tuple[bool, bool] = (False, False)
    scores: list[pd.DataFrame] = field(default_factory=list)
    criteria: list[Criterion] = field(default_factory=list)
    spans: list[ErrorSpan] = field(default_factory=list)
    origins: dict[str, Origin] = field(default_factory=dict)

    def add_scores(
        self,
        criterion: Criterion,
        segments: Sequence[int] | np.ndarray,
        systems: Sequence[str] | np.ndarray,
        values: np.ndarray,
        file: str,
    ) -> None:
        """Add the scores that are not NaN. `segments` are indices or `SYSTEM_LEVEL`; `values` float64[n], higher is better."""
        self.origins.setdefault(f"score:{criterion.name}", Origin(file))
        known = ~np.isnan(values)
        frame = pd.DataFrame(
            {
                "segment": np.asarray(segments, dtype=np.int64)[known],
                "system": pd.array(np.asarray(systems, dtype=object)[known], dtype="str"),
                "criterion": pd.array([criterion.name] * int(known.sum()), dtype="str"),
                "score": np.asarray(values, dtype=np.float64)[known],
            }
        )
        self.scores.append(frame)
        if criterion.name not in [kept.name for kept in self.criteria]:
            self.criteria.append(criterion)


def transpose(columns: Sequence[Texts], size: int) -> tuple[tuple[str | None, ...], ...]:
    """Reference columns to one tuple per segment."""
    return tuple(zip(*columns)) if columns else ((),) * size


def finish(draft: Draft, languages: Languages, findings: Findings) -> Corpus:
    """Make the corpus; languages that were not given are guessed, and the guess is reported."""
    scores = pd.concat(draft.scores, ignore_index=True) if draft.scores else empty_human_scores()
    return Corpus(
        name=draft.name,
        systems={system: tuple(texts) for system, texts in draft.systems.items()},
        references=transpose(draft.references, draft.size),
        sources=None if draft.sources is None else tuple(draft.sources),
        documents=None if draft.documents is None else tuple(draft.documents),
        languages=_languages(draft, languages, findings),
        human=scores,
        criteria=tuple(draft.criteria),
        spans=tuple(draft.spans),
        ids=None if draft.ids is None else tuple(draft.ids),
    )


def _languages(draft: Draft, given: Languages, findings: Findings) -> Languages:
    source = code(given[0]) or given[0] or draft.languages[0]
    target = code(given[1]) or given[1] or draft.languages[1]
    guessed = []
    if source is None and draft.sources is not None and not draft.mixed[0]:
        source = guess_language(_spread(draft.sources))
        guessed += [f"source {name(source)}"] if source else []
    if target is None and not draft.mixed[1]:
        target = guess_language(_target_texts(draft))
        guessed += [f"output {name(target)}"] if target else []
    if guessed:
        findings.note(
            "languages",
            draft.name,
            f"Languages judged by the texts: {', '.join(guessed)}.",
            "Name them where this is wrong (--langs de-en).",
        )
    return (source, target)


def _target_texts(draft: Draft) -> Iterable[str | None]:
    for texts in [*draft.references, *draft.systems.values()]:
        yield from _spread(texts)


def _spread(texts: Sequence[str | None], count: int = 100) -> Sequence[str | None]:
    """Texts from all over a list."""
    return texts[:: max(1, len(texts) // count)][:count]

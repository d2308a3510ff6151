"""Explanations as heatmap panels: hypothesis, references and source of one segment for systems A and B."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from components.heatmap import Mark, Panel, Scale
from components.heatmap.panels import largest
from components.numbers import MISSING, number, score_places
from engine.corpus.types import Corpus
from engine.explain.results import Explained, Explanation, SideImportances
from engine.explain.words import split_words
from engine.metrics.base import MetricSpec

TONES = {"a": "A", "b": "B"}
REFERENCES_SHOWN = 2


@dataclass(frozen=True)
class Side:
    """One of the two systems on the page, or the only one (`alone`): `tone` is a or b."""

    tone: str
    system: str
    explanation: Explanation
    alone: bool = False

    @property
    def tag(self) -> str:
        """A or B; empty where there is only one system."""
        return "" if self.alone else TONES[self.tone]


def sides_of(entries: Sequence[Explained]) -> list[Side]:
    """A and B, or the only system."""
    return [Side(tone, entry.system, entry.explanation, len(entries) == 1) for tone, entry in zip("ab", entries, strict=False)]


def importance_scale(sides: Sequence[Side], spec: MetricSpec, explainer: str) -> Scale:
    """One scale for all texts on the page. Blue words improve the score, red ones worsen it, for error rates too.

    `explainer` is empty where several explainers share the scale.
    """
    top = largest(item.importances for side in sides for item in side.explanation.sides)
    return Scale(
        top,
        f"{explainer_title(explainer)} importance" if explainer else "Importance",
        "worsens the score",
        "improves the score",
        unit=spec.name,
        flipped=not spec.higher_is_better,
    )


def explainer_title(name: str) -> str:
    """What an explainer is called on screen."""
    return {"erasure": "Erasure", "lime": "LIME", "shap": "SHAP"}.get(name, name)


def segment_rows(corpus: Corpus, segment: int, sides: Sequence[Side], spec: MetricSpec, references: int) -> list[list[Panel]]:
    """Panels row by row: the source, the outputs beside each other, each reference as it matters to A and to B."""
    rows = []
    if not spec.needs_source and corpus.sources is not None:
        rows.append([_plain_source(corpus, segment, spec)])
    rows.append([hypothesis_panel(corpus, segment, side, spec) for side in sides])
    if spec.needs_source and corpus.sources is not None:
        rows.append([_other_panel(corpus, segment, side, "source") for side in sides])
    names = weightiest([side.explanation for side in sides], corpus.reference_count, references)
    if spec.needs_reference:
        rows += [[_other_panel(corpus, segment, side, name) for side in sides] for name in names]
    else:
        rows += [[_plain_reference(corpus, segment, int(name.partition(":")[2]), spec)] for name in names]
    return rows


def weightiest(explanations: Sequence[Explanation], count: int, shown: int) -> list[str]:
    """The names of the references whose words matter most to any of the explanations, `shown` of `count`, in their order."""
    names = [f"reference:{place}" for place in range(count)]
    found = {name: [side_of(item, name) for item in explanations] for name in names}
    weights = [max((_weight(side) for side in found[name] if side is not None), default=0.0) for name in names]
    chosen = sorted(range(count), key=lambda place: -weights[place])[:shown]
    return [names[place] for place in sorted(chosen)]


def hypothesis_panel(corpus: Corpus, segment: int, side: Side, spec: MetricSpec) -> Panel:
    """The output of a system, with its score."""
    found = side_of(side.explanation, "hypothesis")
    score = number(side.explanation.score, score_places(spec.range))
    return Panel(
        f"{side.tone}-hypothesis",
        f"hypothesis-{side.tone}",
        corpus.systems[side.system][segment],
        found.words if found else (),
        values_of(found),
        side.tone,
        side.tag,
        side.system,
        "Hypothesis",
        meta=f"{spec.name} {score}" if score != MISSING else f"no {spec.name} score",
        note=side.explanation.undefined.capitalize() + "." if side.explanation.undefined else "",
        empty="The output is empty.",
        language=corpus.languages[1] or "",
        marks=segment_marks(corpus, segment, side.system, "hypothesis"),
    )


def _other_panel(corpus: Corpus, segment: int, side: Side, name: str) -> Panel:
    kind, _, place = name.partition(":")
    text = (corpus.sources or ())[segment] if kind == "source" else corpus.references[segment][int(place)]
    found = side_of(side.explanation, name)
    return Panel(
        f"{side.tone}-{name}",
        name,
        text,
        found.words if found else (),
        values_of(found),
        side.tone,
        side.tag,
        "",
        side_title(name, corpus.reference_count) + (f", as it matters to {side.tag}" if side.tag else ""),
        note="" if text is None or found else "Not read by the metric.",
        language=corpus.languages[0 if kind == "source" else 1] or "",
        marks=segment_marks(corpus, segment, side.system, name),
    )


def _plain_source(corpus: Corpus, segment: int, spec: MetricSpec) -> Panel:
    text = (corpus.sources or ())[segment]
    kind = f"Source (not read by {spec.name})"
    return Panel("source", "source", text, split_words(text or ""), kind=kind, language=corpus.languages[0] or "")


def _plain_reference(corpus: Corpus, segment: int, place: int, spec: MetricSpec) -> Panel:
    text, side = corpus.references[segment][place], f"reference:{place}"
    kind = f"{side_title(side, corpus.reference_count)} (not read by {spec.name})"
    return Panel(side, side, text, split_words(text or ""), kind=kind, language=corpus.languages[1] or "")


def side_title(name: str, references: int) -> str:
    """`Reference 2` for `reference:1`; no number where there is only one."""
    kind, _, place = name.partition(":")
    return kind.capitalize() + (f" {int(place) + 1}" if place and references > 1 else "")


def segment_marks(corpus: Corpus, segment: int, system: str, side: str) -> list[Mark]:
    """The marked errors of one text, with their categories."""
    planted = any(criterion.planted for criterion in corpus.criteria)
    origin = "Planted error" if planted else "Marked error"
    return [
        Mark(
            span.start,
            span.end,
            " \u00b7 ".join(filter(None, (span.category, span.severity, span.note))),
            origin,
            span.severity.casefold() in ("minor", "neutral"),
        )
        for span in corpus.spans
        if span.segment == segment and span.system == system and span.side == side
    ]


def explainer_rows(
    corpus: Corpus, segment: int, side: Side, found: Mapping[str, Explanation], references: int
) -> list[list[Panel]]:
    """One row per explainer: the hypothesis, then the references (or the source), under one scale."""
    shown = weightiest(list(found.values()), corpus.reference_count, references)
    rows = []
    for name, explanation in found.items():
        panels = []
        for item in explanation.sides:
            kind, _, place = item.side.partition(":")
            if place and item.side not in shown:
                continue
            marks = segment_marks(corpus, segment, side.system, item.side)
            language = corpus.languages[0 if kind == "source" else 1] or ""
            panels.append(
                Panel(
                    f"{name}-{item.side}",
                    item.side,
                    item.text,
                    item.words,
                    values_of(item),
                    side.tone,
                    side.tag,
                    explainer_title(name),
                    side_title(item.side, corpus.reference_count),
                    language=language,
                    marks=marks,
                )
            )
        rows.append(panels)
    return rows


def side_of(explanation: Explanation, name: str) -> SideImportances | None:
    """The importances of one text, or None where the metric does not read it."""
    return next((item for item in explanation.sides if item.side == name), None)


def values_of(found: SideImportances | None) -> np.ndarray | None:
    """Importances to colour; None where there are none. A single undefined one is drawn in grey."""
    if found is None or np.isnan(found.importances).all():
        return None
    return found.importances


def _weight(found: SideImportances) -> float:
    """The largest absolute importance of a text; 0 where none is defined."""
    sizes = np.abs(found.importances)
    return float(np.nanmax(sizes)) if np.isfinite(sizes).any() else 0.0

"""System A against system B, word by word: which words differ, and which matter more to one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher

import numpy as np

from components.explain.panels import Side, hypothesis_panel, side_of, side_title, values_of
from components.heatmap import Panel, Scale
from components.heatmap.panels import largest
from engine.corpus.types import Corpus
from engine.metrics.base import MetricSpec


def align(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """Positions of the words that two texts share, in order (longest matching blocks)."""
    blocks = SequenceMatcher(None, list(a), list(b), autojunk=False).get_matching_blocks()
    return [(block.a + step, block.b + step) for block in blocks for step in range(block.size)]


def difference_rows(corpus: Corpus, segment: int, sides: Sequence[Side], spec: MetricSpec) -> tuple[list[list[Panel]], Scale]:
    """Panels of importance for A minus importance for B, and their scale.

    A word that only one output has counts in full: the other's share in it is nothing.
    """
    a, b = sides
    rows = [_hypotheses(corpus, segment, a, b, spec), *_shared_texts(corpus, a, b)]
    top = largest(panel.values for row in rows for panel in row if panel.values is not None)
    scale = Scale(
        top, "Importance for A \u2212 importance for B", "matters more to B", "matters more to A", spec.name, "difference"
    )
    return rows, scale


def _hypotheses(corpus: Corpus, segment: int, a: Side, b: Side, spec: MetricSpec) -> list[Panel]:
    panels = [hypothesis_panel(corpus, segment, side, spec) for side in (a, b)]
    words = [[word.text for word in panel.words] for panel in panels]
    pairs = align(*words)
    shared = [frozenset(pair[place] for pair in pairs) for place in (0, 1)]
    changed = [frozenset(range(len(own))) - common for own, common in zip(words, shared, strict=True)]
    if any(panel.values is None for panel in panels):
        return [replace(panel, values=None, changed=lone) for panel, lone in zip(panels, changed, strict=True)]
    values = [np.array(panels[0].values), -np.array(panels[1].values)]
    for left, right in pairs:
        values[0][left] = values[1][right] = panels[0].values[left] - panels[1].values[right]
    return [
        replace(panel, values=own, changed=lone, details=_lone_details(len(own), lone))
        for panel, own, lone in zip(panels, values, changed, strict=True)
    ]


def _lone_details(count: int, lone: frozenset[int]) -> list[list[tuple[str, str]]]:
    return [[("In both outputs", "no")] if place in lone else [("In both outputs", "yes")] for place in range(count)]


def _shared_texts(corpus: Corpus, a: Side, b: Side) -> list[list[Panel]]:
    rows = []
    for item in a.explanation.sides:
        other = side_of(b.explanation, item.side)
        if item.side == "hypothesis" or other is None:
            continue
        left, right = values_of(item), values_of(other)
        kind = side_title(item.side, corpus.reference_count)
        language = corpus.languages[0 if item.side == "source" else 1] or ""
        values = None if left is None or right is None else left - right
        rows.append([Panel(item.side, item.side, item.text, item.words, values, kind=kind, language=language)])
    return rows

"""What a reader must know beside the numbers of an explanation: other masks, truncated texts, empty texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from components import services
from components.explain.panels import Side
from components.states import plain
from components.workspace import Workspace
from engine.metrics.base import Metric


def show_notes(work: Workspace, metric: Metric, sides: Sequence[Side]) -> None:
    """Draw the notes of the explanations and the metric's own remarks on the segments; the same note of A and B once."""
    notes: dict[str, str] = {}
    for side in sides:
        for note in [*side.explanation.notes, *_remarks(work, metric, side)]:
            notes[note] = notes.get(note, "") + side.tag
    for note, owners in notes.items():
        owner = f"{' and '.join(owners)}: " if owners else ""
        st.caption(f":material/info: {plain(owner + note)}")


def _remarks(work: Workspace, metric: Metric, side: Side) -> list[str]:
    remarks = getattr(metric, "remarks", None)
    if remarks is None or np.isnan(side.explanation.score):
        return []
    segment = side.explanation.segment
    key = ("remarks", metric.spec.signature, segment)
    return work.cached(key, lambda: remarks(services.scorer().statistics(metric, [segment])))

"""What charts share: the colours of systems A and B, and of the others."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any

import numpy as np
import streamlit as st

from components.numbers import score_places
from engine.corpus.types import Corpus
from engine.metrics.base import MetricSpec
from engine.report.colours import SYSTEM_A, SYSTEM_B

WIDEST = 76  # letters in a line below a chart
FAINT = ("#7b878d", "#8d999e")
OTHERS = ("#9aa5aa", "#6f7b81")  # grey, light and dark


def is_dark() -> bool:
    """True where the page is drawn in its dark theme."""
    return st.context.theme.type == "dark"


def system_parts(systems: Iterable[str], a: str, b: str) -> list[str]:
    """`A`, `B` or `other` for each system."""
    return ["A" if name == a else "B" if name == b else "other" for name in systems]


def about(corpus: Corpus, spec: MetricSpec) -> tuple[str, str]:
    """What a chart is of: corpus and metric; the metric's signature."""
    return f"{corpus.name} \u00b7 {spec.name}", spec.signature


def rows_height(amount: int) -> int:
    """Height of a chart with one row per system, without what stands below it: rows are lower where there are many."""
    return 60 + max(44 * min(amount, 20), 16 * amount)


def constant_span(values: np.ndarray, spec: MetricSpec) -> list[float] | None:
    """Where an axis begins and ends on which all values are the same, within the metric's range; None where they differ."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    margin = 0.5 if score_places(spec.range) < 4 else 0.05
    if high - low > 1e-6 * margin:
        return None
    return [min(low, max(low - margin, spec.range[0])), max(high, min(high + margin, spec.range[1]))]


def footnote(corpus: Corpus, spec: MetricSpec) -> dict[str, Any]:
    """The title of a chart, small and below it, so that a saved picture says what it is of: corpus, metric, signature."""
    lines = [line for text in about(corpus, spec) for line in textwrap.wrap(text, WIDEST, break_on_hyphens=False)]
    look = {"orient": "bottom", "anchor": "start", "fontSize": 11, "fontWeight": "normal", "lineHeight": 14, "offset": 6}
    return {"text": lines, "color": FAINT[is_dark()], **look}


def system_scale() -> dict[str, list[str]]:
    """Amber for A, blue for B, grey for the others."""
    place = 1 if is_dark() else 0
    return {"domain": ["A", "B", "other"], "range": [SYSTEM_A[place], SYSTEM_B[place], OTHERS[place]]}

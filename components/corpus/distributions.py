"""How segment scores are distributed: one row of bars per system; a click on a bar shows the segments behind it."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np
import pandas as pd
import streamlit as st

from components.charts import constant_span, footnote, rows_height, system_parts, system_scale
from components.downloads import download_csv
from components.numbers import count
from components.vega import Spec, number_field, text_field
from components.workspace import Workspace
from engine.corpus.types import Corpus
from engine.metrics.base import MetricSpec

BINS = 24


def histogram(scores: Mapping[str, np.ndarray], spec: MetricSpec, bins: int = BINS) -> pd.DataFrame:
    """Counts per system and stretch of the score: system, low, high, segments. Undefined scores do not count."""
    defined = {name: values[np.isfinite(values)] for name, values in scores.items()}
    pooled = np.concatenate(list(defined.values())) if defined else np.empty(0)
    columns = ["system", "low", "high", "segments"]
    if not len(pooled):
        return pd.DataFrame(columns=columns)
    ends = constant_span(pooled, spec)
    edges = np.histogram_bin_edges(pooled, bins, None if ends is None else (ends[0], ends[1]))
    rows = [
        (name, low, high, int(amount))
        for name, values in defined.items()
        for low, high, amount in zip(edges[:-1], edges[1:], np.histogram(values, edges)[0], strict=True)
    ]
    return pd.DataFrame(rows, columns=columns)


def show_distributions(
    work: Workspace, corpus: Corpus, scores: Mapping[str, np.ndarray], spec: MetricSpec, a: str, b: str
) -> None:
    """Draw one small histogram per system under a common axis."""
    frame = histogram(scores, spec)
    undefined = sum(int(np.isnan(values).sum()) for values in scores.values())
    if not len(frame):
        st.caption("No segment has a score, so there is no distribution to draw.")
        return
    names = list(scores)
    frame["part"] = system_parts(frame["system"], a, b)
    frame["row"] = frame["system"].map({name: -place for place, name in enumerate(names)})
    frame["top"] = frame["row"] + 0.88 * frame["segments"] / max(1, frame["segments"].max())
    alt_text = f"Distribution of the segments' {spec.name} for each system"
    chart = _chart(frame, names, spec, footnote(corpus, spec))
    st.vega_lite_chart(spec=chart, key="distribution", on_select=lambda: _filter(work), selection_mode="bar", alt=alt_text)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        saved = frame[["system", "low", "high", "segments"]].assign(metric=spec.id, signature=spec.signature)
        download_csv(saved, "distribution", corpus.name, spec.id, key="distribution")
        note = f"; {count(undefined, 'output')} without a score left out" if undefined else ""
        st.caption(f"Click a bar to list the segments behind it{note}.", width="content")


def _chart(frame: pd.DataFrame, names: list[str], spec: MetricSpec, note: Spec) -> Spec:
    """Bars of the counts, the systems below each other; a click picks a bar."""
    axis = {
        "values": [-place for place in range(len(names))],
        "labelExpr": f"{json.dumps(names)}[-datum.value]",
        "labelLimit": 140,
        "labelBaseline": "bottom",
        "labelOverlap": False,
        "domain": False,
        "ticks": False,
    }
    title = f"{spec.name} of a segment (tallest bar: {count(int(frame['segments'].max()), 'segment')})"
    score = {"title": title, "scale": {"zero": False, "nice": False}, "axis": {"grid": False}}
    bounds = [number_field(name, format=".4~f", title=title) for name, title in {"low": "from", "high": "to"}.items()]
    encoding = {
        "x": number_field("low", **score),
        "x2": {"field": "high"},
        "y": number_field("row", title=None, axis=axis, scale={"domain": [1 - len(names), 1], "nice": False}),
        "y2": {"field": "top"},
        "color": text_field("part", scale=system_scale(), legend=None),
        "opacity": {"condition": {"param": "bar", "value": 1}, "value": 0.35},
        "tooltip": [text_field("system"), *bounds, number_field("segments")],
    }
    select = {"type": "point", "fields": ["system", "low", "high"], "on": "click", "clear": "dblclick"}
    return {
        "title": note,
        "datasets": {"bars": frame},
        "data": {"name": "bars"},
        "mark": {"type": "rect", "cursor": "pointer"},
        "encoding": encoding,
        "params": [{"name": "bar", "select": select}],
        "height": rows_height(len(names)) + 14 + 14 * len(note["text"]),
        "padding": {"left": 5, "top": 5, "bottom": 20, "right": 16},
    }


def _filter(work: Workspace) -> None:
    """Narrow the segment table to the bar that was clicked."""
    points = work.read("distribution", {}).get("selection", {}).get("bar", [])
    if points:
        point = points[0]
        work.set(only=(point["system"],), low=f"{point['low']:.10g}", high=f"{point['high']:.10g}", rows="outputs", page=1)
    else:
        work.set(only=(), low="", high="", page=1)

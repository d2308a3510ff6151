"""The p/w surface as a heat map whose cells can be chosen: blue where boosting beats the original metric, red elsewhere."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from components.boost.controls import set_cell
from components.charts import footnote, is_dark
from components.numbers import number, signed
from components.vega import Spec, clickable, draw, faint, ink, layer, named_points, number_field, text_field
from components.workspace import Workspace
from engine.boost.grid import REASONS, Surface
from engine.report.colours import NEGATIVE, NEUTRAL, POSITIVE, UNDEFINED

HALF_P, HALF_W = 0.05, 0.1  # half a cell of the grid
OVERLAP = 0.04  # cells reach under their right neighbours, so that no seams show
LANE = (-0.38, -0.16)  # where the share of collapsed outputs is drawn, below w = 0
HEIGHT = 340
P_TITLE = "p, exponent of the power mean"

Cell = tuple[float, float]


def show_map(work: Workspace, surface: Surface, collapsed: np.ndarray, outputs: int, marks: dict[str, Cell]) -> None:
    """Draw the heat map; a click on a cell puts its p and w into the view.

    Parameters
    ----------
    collapsed : int64[P], how many of the `outputs` collapse at each p.
    marks : what a mark is called → where it stands.
    """
    reach = float(work.view["reach"])
    inside = np.abs(surface.p) <= reach
    frame = cell_frame(surface, collapsed, outputs)[np.repeat(inside, len(surface.w))]
    known = frame["correlation"].notna()
    p = surface.p[inside]
    lane = pd.DataFrame({"p1": p, "high": LANE[0] + collapsed[inside] / max(1, outputs) * (LANE[1] - LANE[0])})
    data = {
        "cells": frame[known],
        "missing": frame[~known],
        "border": outline(surface.improving[inside], p, surface.w),
        "lane": lane,
    }
    layers = [_missing(surface), _cells(surface, p), _border(), *_lane(), _original(surface, p)]
    if np.isfinite(surface.original):
        layers += named_points(_rows({name: cell for name, cell in marks.items() if abs(cell[0]) <= reach}), "p1", "w1")
    said = (
        f"Heat map of the {surface.coefficient} correlation over p and w; the original metric has {number(surface.original, 3)}"
    )
    draw(layers, data, "boost-map", said, HEIGHT, work, "cell", set_cell(work), note=view_note(work))


def view_note(work: Workspace) -> Spec | None:
    """The corpus and the metric of the page, below a chart."""
    return footnote(work.corpus, work.metric(work.corpus).spec) if work.corpus is not None else None


def cell_frame(surface: Surface, collapsed: np.ndarray, outputs: int) -> pd.DataFrame:
    """One row per cell: p, w, correlation, its place on the chart, and what its tooltip says."""
    values, codes = surface.correlation.ravel(), surface.reasons.ravel()
    p, w = np.repeat(surface.p, len(surface.w)), np.tile(surface.w, len(surface.p))
    return pd.DataFrame(
        {
            "p": p,
            "w": w,
            "correlation": values,
            "p1": p - HALF_P,
            "p2": p + HALF_P + OVERLAP,
            "w1": w - HALF_W,
            "w2": w + HALF_W,
            "shown": [REASONS[code] if code else number(value, 4) for value, code in zip(values.tolist(), codes.tolist())],
            "gain": [signed(value, 4) for value in (values - surface.original).tolist()],
            "fallen": np.repeat([f"{amount:,} of {outputs:,}" for amount in collapsed.tolist()], len(surface.w)),
        }
    )


def outline(wanted: np.ndarray, p: np.ndarray, w: np.ndarray) -> pd.DataFrame:
    """The border of the cells where `wanted` (bool[P, W]) holds, as straight lines: p1, w1, p2, w2."""
    padded = np.pad(wanted, 1).astype(np.int8)
    lines = []
    for row, column in np.argwhere(np.diff(padded, axis=0)[:, 1:-1]):
        place = p[row] - HALF_P if row < len(p) else p[-1] + HALF_P
        lines.append((place, w[column] - HALF_W, place, w[column] + HALF_W))
    for column, edge in enumerate(np.diff(padded, axis=1)[1:-1].T):
        height = w[column] - HALF_W if column < len(w) else w[-1] + HALF_W
        ends = np.flatnonzero(np.diff(np.pad(edge != 0, 1).astype(np.int8)))
        for start, stop in zip(ends[::2], ends[1::2]):
            lines.append((p[start] - HALF_P, height, p[stop - 1] + HALF_P, height))
    return pd.DataFrame(lines, columns=["p1", "w1", "p2", "w2"], dtype=float)


def colour_scale(surface: Surface) -> tuple[list[float], list[str]]:
    """Stops of the colours, from the lowest correlation over the original to the highest."""
    dark = is_dark()
    values = surface.correlation[np.isfinite(surface.correlation)]
    if not len(values) or not np.isfinite(surface.original):
        return [0.0, 1.0], [NEUTRAL[dark], POSITIVE[dark]]
    low, middle, high = float(values.min()), surface.original, float(values.max())
    stops = [(low, NEGATIVE[dark])] * (low < middle) + [(middle, NEUTRAL[dark])] + [(high, POSITIVE[dark])] * (high > middle)
    if len(stops) == 1:
        stops.append((middle + 1e-9, NEUTRAL[dark]))
    return [value for value, _ in stops], [colour for _, colour in stops]


def cell_tips(coefficient: str) -> list[Spec]:
    """What the tooltip of a cell says."""
    return [
        number_field("p", format=".1f"),
        number_field("w", format=".1f"),
        text_field("shown", title=coefficient.capitalize()),
        text_field("gain", title="against the original"),
        text_field("fallen", title="outputs collapsed"),
    ]


def show_notes(surface: Surface, chart: str, reach: float, marks: dict[str, Cell]) -> None:
    """What the colours mean, which marks are not drawn, and which cells are undefined and why."""
    better, cells = int(surface.improving.sum()), surface.correlation[:, surface.w != 1].size
    middle = number(surface.original, 3)
    said = {
        "map": f"Blue and outlined: better than the original metric ({middle}). Red: worse. "
        "Grey lane: at each p, how many outputs have collapsed, that is, no longer listen to the word importances. "
        "Click a cell to see what it does.",
        "solid": f"Blue: better than the original metric ({middle}, the plane). Red: worse. Drag to turn it.",
        "lines": f"Dashed: the original metric ({middle}). Click a line to see what that p and w do.",
    }
    if np.isfinite(surface.original):
        st.caption(f"{said[chart]} Of the whole grid {better:,} of {cells:,} settings are better.")
    for name, (p, w) in marks.items():
        if abs(p) > reach:
            st.caption(f":material/info: The {name} p = {number(p, 1)}, w = {w:.1f} lies outside of what is drawn.")
    codes, counts = np.unique(surface.reasons, return_counts=True)
    for code, amount in zip(codes, counts):
        if code:
            st.caption(f":material/info: {amount:,} of {surface.reasons.size:,} cells are undefined (grey): {REASONS[code]}.")


def _cells(surface: Surface, p: np.ndarray) -> Spec:
    stops, colours = colour_scale(surface)
    axis = {"grid": False, "tickCount": 12}
    domain = [float(p[0]) - HALF_P, float(p[-1]) + HALF_P]
    legend: Spec | None = {
        "title": surface.coefficient.capitalize(),
        "gradientLength": HEIGHT - 110,
        "values": stops,
        "format": ".3f",
    }
    if not np.isfinite(surface.correlation).any():
        legend = None
    scale = {"domain": stops, "range": colours, "interpolate": "lab"}
    colour = number_field("correlation", scale=scale, legend=legend)
    encoding = {
        "x": number_field("p1", title=P_TITLE, scale={"domain": domain, "nice": False}, axis=axis),
        "x2": {"field": "p2"},
        "y": number_field(
            "w1", title="w, weight of the original score", scale={"domain": [LANE[0], 1 + HALF_W], "nice": False}, axis=_w_axis()
        ),
        "y2": {"field": "w2"},
        "color": colour,
        "tooltip": cell_tips(surface.coefficient),
    }
    return clickable(layer("cells", "rect", encoding, cursor="pointer", strokeWidth=0, opacity=1), "cell", ["p", "w"])


def _missing(surface: Surface) -> Spec:
    """The cells that are undefined, in grey; their tooltip says why."""
    place = {"x": number_field("p1"), "x2": {"field": "p2"}, "y": number_field("w1"), "y2": {"field": "w2"}}
    return layer("missing", "rect", {**place, "tooltip": cell_tips(surface.coefficient)}, color=UNDEFINED[is_dark()], opacity=1)


def _border() -> Spec:
    place = {"x": number_field("p1"), "x2": {"field": "p2"}, "y": number_field("w1"), "y2": {"field": "w2"}}
    return layer("border", "rule", place, color=ink(), strokeWidth=1.2, strokeCap="square")


def _lane() -> list[Spec]:
    """The share of outputs that collapse at each p, as an area below the map."""
    x, bottom = number_field("p1"), {"datum": LANE[0]}
    back = {"x": x, "y": bottom, "y2": {"datum": LANE[1]}}
    area = {"x": x, "y": number_field("high"), "y2": bottom}
    return [
        layer("lane", "area", back, color=faint(), opacity=0.12),
        layer("lane", "area", area, color=faint(), opacity=0.75, interpolate="step"),
    ]


def _original(surface: Surface, p: np.ndarray) -> Spec:
    text = f"original metric: {number(surface.original, 3) if np.isfinite(surface.original) else surface.original_reason}"
    rows = [{"p1": float(p[0]), "w1": 1.0, "text": text}]
    place = {"x": number_field("p1"), "y": number_field("w1"), "text": text_field("text")}
    return layer(rows, "text", place, align="left", dx=6, color=ink(), fontSize=12)


def _rows(marks: dict[str, Cell]) -> list[Spec]:
    """One row per marked cell; where two marks stand on one cell, it carries both names."""
    places: dict[Cell, list[str]] = {}
    for name, cell in marks.items():
        places.setdefault(cell, []).append(name)
    return [{"p1": p, "w1": w, "text": " \u00b7 ".join(names)} for (p, w), names in places.items()]


def _w_axis() -> Spec:
    label = "datum.value < 0 ? 'collapsed' : format(datum.value, '.1f')"
    values = [sum(LANE) / 2, *(place / 5 for place in range(6))]
    return {"values": values, "labelExpr": label, "grid": False, "domain": False, "ticks": False, "labelPadding": 8}

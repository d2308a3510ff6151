"""The p/w surface as a heat map whose cells can be chosen: blue where boosting beats the original metric, red elsewhere."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st

from components.charts import is_dark
from components.numbers import number, signed
from components.workspace import Workspace
from engine.boost.boost import BoostResult
from engine.boost.grid import REASONS, Surface
from engine.report.colours import NEGATIVE, NEUTRAL, POSITIVE, UNDEFINED

HALF_P, HALF_W = 0.05, 0.1  # half a cell of the grid
OVERLAP = 0.04  # cells reach under their right neighbours, so that no seams show
LANE = (-0.38, -0.16)  # where the share of collapsed outputs is drawn, below w = 0
HEIGHT = 340
INK = ("#1f2a30", "#e4e9ea")
FAINT = ("#7b878d", "#8d999e")

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
    frame = cell_frame(surface, collapsed, outputs)
    scale = alt.Scale(domain=_domain(surface.p[inside]), nice=False)
    x = alt.X("p1:Q", title="p, exponent of the power mean", scale=scale, axis=alt.Axis(grid=False, tickCount=12))
    layers = [_cells(frame[frame["p"].abs() <= reach], surface, x)]
    layers += [_outline(surface, inside), *_lane(surface.p[inside], collapsed[inside], outputs), _original(surface, inside)]
    layers += _marks({name: cell for name, cell in marks.items() if abs(cell[0]) <= reach})
    chart = alt.layer(*layers).properties(height=HEIGHT)
    alt_text = (
        f"Heat map of the {surface.coefficient} correlation over p and w; the original metric has {number(surface.original, 3)}"
    )
    st.altair_chart(chart, key="boost-map", on_select=lambda: _take(work), selection_mode="cell", alt=alt_text)


def cell_frame(surface: Surface, collapsed: np.ndarray, outputs: int) -> pd.DataFrame:
    """One row per cell: p, w, group, correlation, original, its place on the chart, and what its tooltip says."""
    frame = surface.to_frame()
    codes = surface.reasons.ravel()
    frame["p1"], frame["p2"] = frame["p"] - HALF_P, frame["p"] + HALF_P + OVERLAP
    frame["w1"], frame["w2"] = frame["w"] - HALF_W, frame["w"] + HALF_W
    frame["shown"] = [
        number(value, 4) if np.isfinite(value) else REASONS[code] for value, code in zip(frame["correlation"], codes)
    ]
    frame["gain"] = [signed(value, 4) for value in frame["correlation"] - frame["original"]]
    frame["fallen"] = [f"{amount:,} of {outputs:,}" for amount in np.repeat(collapsed, len(surface.w))]
    return frame


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


def show_notes(result: BoostResult, surface: Surface) -> None:
    """What the colours mean, and which cells are undefined and why."""
    better, cells = int(surface.improving.sum()), surface.correlation[:, surface.w != 1].size
    said = (
        f"Blue and outlined: better than the original metric ({number(surface.original, 3)}), {better:,} of {cells:,} settings."
    )
    st.caption(said + " Red: worse. w = 1 is the original itself; click a cell to see what it does.")
    codes, counts = np.unique(surface.reasons, return_counts=True)
    for code, amount in zip(codes, counts):
        if code:
            st.caption(f":material/info: {amount:,} of {surface.reasons.size:,} cells are undefined (grey): {REASONS[code]}.")


def _take(work: Workspace) -> None:
    points = work.read("boost-map", {}).get("selection", {}).get("cell", [])
    if points:
        work.set(p=f"{points[0]['p']:g}", w=f"{points[0]['w']:g}")


def _cells(frame: pd.DataFrame, surface: Surface, x: alt.X) -> alt.Chart:
    picked = alt.selection_point(name="cell", fields=["p", "w"], on="click", clear=False, toggle=False)
    stops, colours = colour_scale(surface)
    legend = alt.Legend(
        title=surface.coefficient.capitalize(), gradientLength=HEIGHT - 110, values=_legend_values(stops), format=".3f"
    )
    colour = alt.Color("correlation:Q", scale=alt.Scale(domain=stops, range=colours, interpolate="lab"), legend=legend)
    missing = alt.value(UNDEFINED[is_dark()])
    return (
        alt.Chart(frame.drop(columns="group"))
        .mark_rect(cursor="pointer", strokeWidth=0)
        .encode(
            x=x,
            x2="p2:Q",
            y=alt.Y("w1:Q", title="w, weight of the original score", scale=_w_scale(), axis=_w_axis(), stack=False),
            y2="w2:Q",
            color=alt.condition("isValid(datum.correlation)", colour, missing),
            tooltip=[
                alt.Tooltip("p:Q", format=".1f"),
                alt.Tooltip("w:Q", format=".1f"),
                alt.Tooltip("shown:N", title=surface.coefficient.capitalize()),
                alt.Tooltip("gain:N", title="against the original"),
                alt.Tooltip("fallen:N", title="outputs that collapse"),
            ],
        )
        .add_params(picked)
    )


def _outline(surface: Surface, inside: np.ndarray) -> alt.Chart:
    lines = outline(surface.improving[inside], surface.p[inside], surface.w)
    return (
        alt.Chart(lines)
        .mark_rule(color=INK[is_dark()], strokeWidth=1.2, strokeCap="square", tooltip=None)
        .encode(x="p1:Q", x2="p2:Q", y="w1:Q", y2="w2:Q")
    )


def _lane(p: np.ndarray, collapsed: np.ndarray, outputs: int) -> list[alt.Chart]:
    """The share of outputs that collapse at each p, as an area below the map."""
    bottom, top = LANE
    share = collapsed / max(1, outputs)
    frame = pd.DataFrame({"p1": p, "low": bottom, "high": bottom + share * (top - bottom), "full": top})
    base = alt.Chart(frame)
    back = base.mark_area(color=FAINT[is_dark()], opacity=0.12).encode(x="p1:Q", y="low:Q", y2="full:Q")
    area = base.mark_area(color=FAINT[is_dark()], opacity=0.75, interpolate="step").encode(x="p1:Q", y="low:Q", y2="high:Q")
    return [back, area]


def _original(surface: Surface, inside: np.ndarray) -> alt.Chart:
    text = f"original metric: {number(surface.original, 3) if np.isfinite(surface.original) else surface.original_reason}"
    frame = pd.DataFrame({"p1": [float(surface.p[inside].mean())], "w1": [1.0], "text": [text]})
    return alt.Chart(frame).mark_text(color=INK[is_dark()], fontSize=12, tooltip=None).encode(x="p1:Q", y="w1:Q", text="text:N")


def _marks(marks: dict[str, Cell]) -> list[alt.Chart]:
    """Rings with a name; where two stand on one cell, the first is drawn with both names."""
    places: dict[Cell, list[str]] = {}
    for name, cell in marks.items():
        places.setdefault(cell, []).append(name)
    frame = pd.DataFrame([(p, w, " \u00b7 ".join(names)) for (p, w), names in places.items()], columns=["p1", "w1", "text"])
    if not len(frame):
        return []
    ink, paper = INK[is_dark()], ("#ffffff", "#14191c")[is_dark()]
    base = alt.Chart(frame).encode(x="p1:Q", y="w1:Q")
    ring = base.mark_point(size=110, color=ink, fill=paper, fillOpacity=0.9, strokeWidth=2, opacity=1, tooltip=None)
    halo = base.mark_text(dy=-14, fontSize=12, fontWeight=600, color=paper, stroke=paper, strokeWidth=4, strokeJoin="round")
    text = base.mark_text(dy=-14, fontSize=12, fontWeight=600, color=ink, tooltip=None)
    return [ring, halo.encode(text="text:N"), text.encode(text="text:N")]


def _domain(p: np.ndarray) -> list[float]:
    return [float(p[0]) - HALF_P, float(p[-1]) + HALF_P]


def _w_scale() -> alt.Scale:
    return alt.Scale(domain=[LANE[0], 1 + HALF_W], nice=False)


def _w_axis() -> alt.Axis:
    middle = sum(LANE) / 2
    label = "datum.value < 0 ? 'collapsed' : format(datum.value, '.1f')"
    values = [middle, *(place / 5 for place in range(6))]
    return alt.Axis(values=values, labelExpr=label, grid=False, domain=False, ticks=False, labelPadding=8)


def _legend_values(stops: list[float]) -> list[float]:
    return [round(value, 4) for value in stops]

"""The p/w surface as one line per w over p, the original metric as a dashed line; and the aggregates themselves over p."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st

from components.boost_surface import INK, Cell, cell_frame
from components.charts import is_dark, system_parts, system_scale
from components.numbers import number
from components.workspace import Workspace
from engine.boost.grid import REASONS, Surface

HEIGHT = 380
W_COLOURS = (
    ("#43287e", "#2f64a3", "#138a8c", "#3aa657", "#a5a800"),
    ("#a48df0", "#64a5ee", "#43c6c4", "#74d782", "#dbd752"),
)
"""w = 0, 0.2 … 0.8 on light and dark pages; lightness rises with w, so that the order is seen without colour, too."""


def show_lines(work: Workspace, surface: Surface, collapsed: np.ndarray, outputs: int, marks: dict[str, Cell]) -> None:
    """Draw the lines; a click on one puts its p and w into the view."""
    reach = float(work.view["reach"])
    frame = cell_frame(surface, collapsed, outputs)
    frame = frame[(frame["p"].abs() <= reach) & (frame["w"] != 1)].drop(columns=["p1", "p2", "w1", "w2"])
    frame["weight"] = frame["w"].map("{:.1f}".format)
    chart = alt.layer(*_lines(frame, surface, reach), *_rings(surface, marks, reach)).properties(height=HEIGHT)
    alt_text = f"{surface.coefficient.capitalize()} correlation over p, one line per w"
    st.altair_chart(chart, key="boost-lines", on_select=lambda: _take(work), selection_mode="cell", alt=alt_text)
    missing = int(np.isnan(frame["correlation"]).sum())
    codes = [REASONS[code] for code in np.unique(surface.reasons) if code]
    if missing:
        st.caption(f":material/info: {missing:,} points are missing from the lines: {'; '.join(codes)}.")


def show_aggregates(frame: pd.DataFrame, reach: float, metric: str, a: str, b: str) -> None:
    """Draw the mean power mean of each system over p; `frame` is that of `engine.boost.effect.aggregate_frame`."""
    frame = frame[frame["p"].abs() <= reach].copy()
    frame["part"] = system_parts(frame["system"], a, b)
    frame["fallen"] = frame["collapsed"].map("{:.0%}".format)
    base = alt.Chart(frame).encode(
        x=alt.X("p:Q", title="p, exponent of the power mean", axis=alt.Axis(grid=False)),
        y=alt.Y("aggregate:Q", title=f"Mean aggregate ({metric} per word)"),
        detail="system:N",
        color=alt.Color("part:N", scale=system_scale(), legend=None),
    )
    tips = ["system:N", alt.Tooltip("p:Q", format=".1f"), alt.Tooltip("aggregate:Q", format=".4~g")]
    tips.append(alt.Tooltip("fallen:N", title="outputs that collapse"))
    points = base.mark_point(size=60, opacity=0).encode(tooltip=tips)
    ends = frame.loc[frame.groupby("system")["p"].idxmax()]
    names = alt.Chart(ends).mark_text(align="right", dy=-8, dx=-2, fontWeight=600)
    names = names.encode(x="p:Q", y="aggregate:Q", text="system:N", color=alt.Color("part:N", scale=system_scale(), legend=None))
    chart = alt.layer(base.mark_line(strokeWidth=2), points, names).properties(height=HEIGHT)
    st.altair_chart(chart, key="boost-aggregates", alt="Aggregate score of each system over p")


def _lines(frame: pd.DataFrame, surface: Surface, reach: float) -> list[alt.Chart]:
    picked = alt.selection_point(name="cell", fields=["p", "w"], on="click", clear=False, toggle=False)
    title = surface.coefficient.capitalize()
    weights = [f"{value:.1f}" for value in surface.w if value != 1]
    colour = alt.Color(
        "weight:N",
        scale=alt.Scale(domain=weights, range=list(W_COLOURS[is_dark()])),
        legend=alt.Legend(title="w", orient="right", symbolStrokeWidth=3),
    )
    base = alt.Chart(frame.drop(columns="group")).encode(
        x=alt.X("p:Q", title="p, exponent of the power mean", scale=alt.Scale(domain=[-reach, reach]), axis=alt.Axis(grid=False)),
        y=alt.Y("correlation:Q", title=f"{title} with the scores", scale=alt.Scale(zero=False)),
        color=colour,
    )
    tips = [alt.Tooltip("p:Q", format=".1f"), alt.Tooltip("w:Q", format=".1f"), alt.Tooltip("shown:N", title=title)]
    tips += [alt.Tooltip("gain:N", title="against the original"), alt.Tooltip("fallen:N", title="outputs that collapse")]
    points = base.mark_point(size=50, opacity=0, cursor="pointer").encode(tooltip=tips).add_params(picked)
    lines = base.mark_line(strokeWidth=2, invalid="break-paths-show-domains")
    if not np.isfinite(surface.original):
        return [lines, points]
    level = pd.DataFrame({"correlation": [surface.original], "p": [reach], "text": [f"original {number(surface.original, 3)}"]})
    rule = alt.Chart(level).mark_rule(strokeDash=[6, 4], color=INK[is_dark()], strokeWidth=1.5).encode(y="correlation:Q")
    text = alt.Chart(level).mark_text(align="right", dx=-2, dy=-8, color=INK[is_dark()], fontWeight=600)
    return [rule, lines, text.encode(x="p:Q", y="correlation:Q", text="text:N"), points]


def _rings(surface: Surface, marks: dict[str, Cell], reach: float) -> list[alt.Chart]:
    rows = [(p, surface.cell(p, w)[0], name) for name, (p, w) in marks.items() if abs(p) <= reach]
    frame = pd.DataFrame(rows, columns=["p", "correlation", "text"]).dropna().drop_duplicates(["p", "correlation"])
    if not len(frame):
        return []
    base = alt.Chart(frame).encode(x="p:Q", y="correlation:Q")
    ink, paper = INK[is_dark()], ("#ffffff", "#14191c")[is_dark()]
    ring = base.mark_point(size=110, color=ink, fill=paper, fillOpacity=0.9, strokeWidth=2, opacity=1)
    return [ring, base.mark_text(dy=-14, fontWeight=600, color=ink).encode(text="text:N")]


def _take(work: Workspace) -> None:
    points = work.read("boost-lines", {}).get("selection", {}).get("cell", [])
    if points:
        work.set(p=f"{points[0]['p']:g}", w=f"{points[0]['w']:g}")

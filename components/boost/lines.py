"""The p/w surface as one line per w over p, the original metric as a dashed line; and the aggregates themselves over p."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from components.boost.controls import reach_of, set_cell
from components.boost.runs import Study
from components.boost.surface import P_TITLE, Cell, cell_frame, cell_tips, p_axis, view_note
from components.charts import footnote, is_dark, system_parts, system_scale
from components.numbers import number
from components.vega import Spec, clickable, draw, halo, ink, layer, named_points, number_field, text_field
from components.workspace import Workspace
from engine.boost.grid import REASONS, Surface

HEIGHT = 380
NAME_LIMIT = 220  # pixels of a system's name
W_COLOURS = (
    ("#43287e", "#2f64a3", "#138a8c", "#3aa657", "#a5a800"),
    ("#a48df0", "#64a5ee", "#43c6c4", "#74d782", "#dbd752"),
)
"""w = 0, 0.2 … 0.8 on light and dark pages; lightness rises with w, so that the order is seen without colour, too."""

UNITS = {
    "paper": "{} per word",
    "minmax": "importances stretched to 0 \u2026 1",
    "softplus": "log(1 + exp({} per word))",
    "rank": "signed ranks of importances",
}
"""What the aggregates are in, by regularisation."""


def show_lines(work: Workspace, surface: Surface, collapsed: np.ndarray, outputs: int, marks: dict[str, Cell]) -> None:
    """Draw the lines; a click on one puts its p and w into the view."""
    reach = reach_of(work)
    frame = cell_frame(surface, collapsed, outputs)
    frame = frame[(frame["p"].abs() <= reach) & (frame["w"] != 1)]
    frame["weight"] = frame["w"].map("{:.1f}".format)
    rows = [(p, surface.cell(p, w)[0], name) for name, (p, w) in marks.items() if abs(p) <= reach]
    points = [{"p": p, "correlation": value, "text": name} for p, value, name in rows if np.isfinite(value)]
    layers = [*_lines(surface, reach), *named_points(points, "p", "correlation")]
    said = f"{surface.coefficient.capitalize()} correlation over p, one line per w"
    draw(
        layers,
        {"cells": frame},
        "boost-lines",
        said,
        HEIGHT,
        work,
        "cell",
        lambda point: set_cell(work, point["p"], point["w"]),
        view_note(work),
    )
    missing = int(np.isnan(frame["correlation"]).sum())
    if missing:
        whys = [REASONS[code] for code in np.unique(surface.reasons) if code]
        st.caption(f":material/info: {missing:,} points are missing from the lines: {'; '.join(whys)}.")


def show_aggregates(study: Study, frame: pd.DataFrame) -> None:
    """Draw the mean power mean of each system over p; `frame` is that of `engine.boost.effect.aggregate_frame`."""
    reach, spec = reach_of(study.work), study.metric.spec
    a, b = study.work.systems(study.corpus)
    unit = UNITS[study.asked.options.regularisation].format(spec.name)
    frame = frame[frame["p"].abs() <= reach].copy()
    if not len(frame):
        st.caption("No output has an aggregate, so there is nothing to draw.")
        return
    frame["part"] = system_parts(frame["system"], a, b)
    frame = frame.sort_values("part", key=lambda parts: parts != "other", kind="stable")  # A and B are drawn last
    frame["fallen"] = frame["collapsed"].map("{:.0%}".format)
    scale = system_scale()
    colour = text_field("part", scale=scale, legend=None)
    place = {
        "x": number_field("p", title=P_TITLE, scale={"domain": [-reach, reach]}, axis=p_axis(reach)),
        "y": number_field("aggregate", title=f"Mean aggregate ({unit})"),
        "color": colour,
    }
    tips = [text_field("system"), number_field("p", format=".1f"), number_field("aggregate", format=".4~g")]
    tips.append(text_field("fallen", title="outputs collapsed"))
    last = frame.loc[frame.groupby("system")["p"].idxmax(), ["p", "system", "aggregate", "part"]]
    named = last[last["part"] != "other"].sort_values("aggregate", ascending=False, kind="stable").to_dict("records")
    look: Spec = {"align": "right", "dx": -2, "fontWeight": 600, "limit": NAME_LIMIT}
    layers = [
        layer("means", "line", {**place, "detail": text_field("system")}, strokeWidth=2),
        layer("means", "point", {**place, "tooltip": tips}, size=60, opacity=0),
    ]
    for row, dy in zip(named, (-9, 14)):  # the higher one above its line, the lower one below
        words = {**place, "text": text_field("system")}
        layers += [layer([row], "text", words, dy=dy, **look, **halo()), layer([row], "text", words, dy=dy, **look)]
    draw(
        layers,
        {"means": frame},
        "boost-aggregates",
        "Aggregate score of each system over p",
        HEIGHT,
        note=footnote(study.corpus, spec),
    )
    others = "; the others are grey, hover for their names" if (frame["part"] == "other").any() else ""
    st.caption(f"Each line is a system: at each p, the mean of its outputs' power means of word importances{others}.")


def _lines(surface: Surface, reach: float) -> list[Spec]:
    title = surface.coefficient.capitalize()
    weights = [f"{value:.1f}" for value in surface.w if value != 1]
    legend = {"title": "w", "orient": "right", "symbolStrokeWidth": 3, "symbolType": "stroke"}
    scale = {"domain": weights, "range": list(W_COLOURS[is_dark()])}
    place = {
        "x": number_field("p", title=P_TITLE, scale={"domain": [-reach, reach]}, axis=p_axis(reach)),
        "y": number_field("correlation", title=f"{title} with the scores", scale={"zero": False}),
        "color": text_field("weight", scale=scale, legend=legend),
    }
    lines = layer("cells", "line", place, strokeWidth=2, invalid="break-paths-show-domains")
    points = layer("cells", "point", {**place, "tooltip": cell_tips(surface.coefficient)}, size=50, opacity=0, cursor="pointer")
    shown = [lines, clickable(points, "cell", ["p", "w"])]
    if not np.isfinite(surface.original):
        return shown
    level = [{"correlation": surface.original, "p": -reach, "text": f"original {number(surface.original, 3)}"}]
    height = number_field("correlation")
    rule = layer(level, "rule", {"y": height}, strokeDash=[6, 4], color=ink(), strokeWidth=1.5)
    words = {"x": number_field("p"), "y": height, "text": text_field("text")}
    text = layer(level, "text", words, align="left", dx=4, dy=11, color=ink(), fontWeight=600)
    return [rule, shown[0], text, shown[1]]

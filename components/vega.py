"""Pieces of Vega-Lite, and how charts are drawn and clicked. Plain dictionaries: quick to make."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from components.charts import FAINT, is_dark
from components.workspace import Workspace

Spec = dict[str, Any]

_INK = ("#1f2a30", "#e4e9ea")
_PAPER = ("#ffffff", "#14191c")


def ink() -> str:
    """The colour of what is written on a chart."""
    return _INK[is_dark()]


def paper() -> str:
    """The colour behind a chart."""
    return _PAPER[is_dark()]


def faint() -> str:
    """The colour of what stands back."""
    return FAINT[is_dark()]


def number_field(name: str, **more: Any) -> Spec:
    """A channel with numbers."""
    return {"field": name, "type": "quantitative", **more}


def text_field(name: str, **more: Any) -> Spec:
    """A channel with names."""
    return {"field": name, "type": "nominal", **more}


def layer(data: str | list[Spec], mark: str, encoding: Spec, **look: Any) -> Spec:
    """A layer: data (a data set's name, or a few rows), a mark with its look, and what it shows."""
    source = {"name": data} if isinstance(data, str) else {"values": data}
    return {"data": source, "mark": {"type": mark, "tooltip": None, **look}, "encoding": encoding}


def clickable(spec: Spec, name: str, fields: list[str]) -> Spec:
    """The layer, with a selection of the point that was clicked."""
    select = {"type": "point", "fields": fields, "on": "click", "clear": False, "toggle": False}
    return {**spec, "params": [{"name": name, "select": select}]}


def halo() -> Spec:
    """The look of a copy of letters below them, so that they are read above lines."""
    return {"stroke": paper(), "strokeWidth": 4, "strokeJoin": "round"}


def named_points(rows: list[Spec], x: str, y: str) -> list[Spec]:
    """Rings with their names above them; `rows` hold x, y and `text`."""
    place = {"x": number_field(x), "y": number_field(y)}
    text = {**place, "text": text_field("text")}
    label: Spec = {"dy": -14, "fontSize": 12, "fontWeight": 600}
    ring = {"size": 110, "color": ink(), "fill": paper(), "fillOpacity": 0.9, "strokeWidth": 2, "opacity": 1}
    return [
        layer(rows, "point", place, **ring),
        layer(rows, "text", text, **label, **halo(), color=paper()),
        layer(rows, "text", text, **label, color=ink()),
    ]


def draw(
    layers: list[Spec],
    data: Mapping[str, pd.DataFrame],
    key: str,
    alt: str,
    height: int,
    work: Workspace | None = None,
    param: str = "",
    then: Callable[[Spec], None] | None = None,
    note: Spec | None = None,
) -> None:
    """Draw layers; `then` gets the fields of the point that is clicked in the layer with the selection `param`.

    `note` stands below, see `components.charts.footnote`.
    """
    spec = {"datasets": dict(data), "layer": layers, "height": height}
    if note is not None:
        spec |= {"title": note, "height": height + 14 + 14 * len(note["text"])}
    if work is None or then is None:
        st.vega_lite_chart(spec=spec, key=key, alt=alt)
        return
    again = work.drafts.get("chart-turn", 0)  # another key forgets the selection, so that the same point can be clicked again
    key = f"{key}-{again}"

    def take() -> None:
        points = work.read(key, {}).get("selection", {}).get(param, [])
        if points:
            then(points[0])

    st.vega_lite_chart(spec=spec, key=key, on_select=take, selection_mode=param, alt=alt)


def forget_clicks(work: Workspace) -> None:
    """Make the charts forget what was clicked."""
    work.drafts["chart-turn"] = work.drafts.get("chart-turn", 0) + 1

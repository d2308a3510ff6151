"""The p/w surface in three dimensions, to be turned, with the original metric as a plane."""

from __future__ import annotations

import html

import numpy as np
import streamlit as st

from components.boost.surface import Cell, colour_stops, p_axis
from components.charts import footnote, is_dark
from components.downloads import file_name
from components.numbers import number
from components.vega import ink, paper
from engine.boost.grid import Surface
from engine.corpus.types import Corpus
from engine.metrics.base import MetricSpec
from engine.report.colours import AMOUNT, diverging_palette

HEIGHT = 600
BAR = 60  # pixels of the bar of colours, below the surface so that it is not cut off on narrow pages
GRID = ("#d3dadc", "#39444a")


def show_solid(surface: Surface, reach: float, marks: dict[str, Cell], corpus: Corpus, spec: MetricSpec) -> None:
    """Draw the surface; it is turned with the mouse, and saved with the camera above it."""
    import plotly.graph_objects as go

    inside = np.abs(surface.p) <= reach
    p, w, height = surface.p[inside], surface.w, surface.correlation[inside].T
    if not np.isfinite(height).any():
        st.caption("No cell of this surface is defined, so there is nothing to draw.")
        return
    figure = go.Figure([_skin(go, surface, p, w, height), _plane(go, surface, p, w), *_points(go, surface, marks, reach)])
    note = footnote(corpus, spec)
    figure.update_layout(_layout(surface, reach, BAR + 14 * len(note["text"]) + 8))
    look = {
        "xref": "paper",
        "yref": "paper",
        "x": 0,
        "y": 0,
        "xanchor": "left",
        "yanchor": "top",
        "align": "left",
        "yshift": -BAR,
    }
    text = "<br>".join(map(html.escape, note["text"]))
    figure.add_annotation(text=text, showarrow=False, font={"size": 11, "color": note["color"]}, **look)
    file = file_name("boost", corpus.name, spec.id)
    config = {"displayModeBar": True, "toImageButtonOptions": {"filename": file, "format": "png", "scale": 2}}
    config["modeBarButtonsToRemove"] = ["orbitRotation", "tableRotation", "resetCameraLastSave3d", "hoverClosest3d"]
    alt_text = f"Surface of the {surface.coefficient} correlation over p and w"
    st.plotly_chart(figure, key="boost-solid", config=config, height=HEIGHT, alt=alt_text)


def _skin(go, surface: Surface, p: np.ndarray, w: np.ndarray, height: np.ndarray):
    palette, stops = diverging_palette(is_dark()), colour_stops(surface)
    if len(stops) == 1:
        stops.append((stops[0][0] + 1e-9, stops[0][1]))
    (low, _), (high, _) = stops[0], stops[-1]
    scale = [[(value - low) / (high - low), palette[tone]] for value, tone in stops]
    bar = {"title": {"text": surface.coefficient.capitalize(), "side": "top"}, "thickness": 12, "tickformat": ".3f"}
    bar |= {"orientation": "h", "len": 0.5, "x": 0.5, "y": 0, "yanchor": "top", "ypad": 0, "outlinewidth": 0}
    apart = [value for value, _ in stops if value in (low, high) or 0.15 < (value - low) / (high - low) < 0.85]
    bar |= {"tickvals": apart, "tickangle": 0}
    return go.Surface(
        x=p,
        y=w,
        z=height,
        colorscale=scale,
        cmin=low,
        cmax=high,
        colorbar=bar,
        lighting={"ambient": 0.85, "diffuse": 0.4, "specular": 0.05, "roughness": 0.9},
        contours={"y": {"show": True, "start": 0, "end": 1, "size": 0.2, "color": GRID[is_dark()], "highlight": False}},
        hovertemplate="p %{x:.1f}<br>w %{y:.1f}<br>correlation %{z:.4f}<extra></extra>",
        name="boosted",
    )


def _plane(go, surface: Surface, p: np.ndarray, w: np.ndarray):
    """The original metric's correlation at every p and w."""
    level = np.full((2, 2), surface.original)
    colour = AMOUNT[is_dark()]
    return go.Surface(
        x=p[[0, -1]],
        y=w[[0, -1]],
        z=level,
        opacity=0.22,
        showscale=False,
        colorscale=[[0, colour], [1, colour]],
        hoverinfo="skip",
        name="original metric",
    )


def _points(go, surface: Surface, marks: dict[str, Cell], reach: float) -> list:
    shown = [(name, p, w, surface.cell(p, w)[0]) for name, (p, w) in marks.items() if abs(p) <= reach]
    shown = [item for item in shown if np.isfinite(item[3])]
    return [
        go.Scatter3d(
            x=[p],
            y=[w],
            z=[value],
            mode="markers+text",
            text=[name],
            textposition="top center",
            textfont={"color": ink(), "size": 13},
            marker={"size": 5, "color": ink()},
            hovertemplate=f"{name}<br>p {p:.1f}<br>w {w:.1f}<br>correlation {number(value, 4)}<extra></extra>",
            showlegend=False,
        )
        for name, p, w, value in shown
    ]


def _layout(surface: Surface, reach: float, below: int) -> dict:
    """`below`: pixels that the bar of colours and the note take."""
    dark = is_dark()
    axis = {"backgroundcolor": "rgba(0,0,0,0)", "gridcolor": GRID[dark], "zerolinecolor": GRID[dark], "color": ink()}
    titles = {"xaxis": "p", "yaxis": "w", "zaxis": surface.coefficient.capitalize()}
    scene = {name: axis | {"title": {"text": title}} for name, title in titles.items()}
    scene["xaxis"] |= {"range": [-reach, reach], "tickvals": p_axis(reach)["values"]}
    scene["yaxis"] |= {"tickvals": surface.w.round(1).tolist()}
    scene |= {
        "camera": {"eye": {"x": -1.45, "y": -1.73, "z": 0.95}, "center": {"x": 0, "y": 0, "z": -0.12}},
        "aspectmode": "manual",
        "aspectratio": {"x": 1.3, "y": 1, "z": 0.8},
    }
    return {
        "scene": scene,
        "margin": {"l": 0, "r": 0, "t": 10, "b": below},
        "paper_bgcolor": paper(),
        "font": {"color": ink()},
    }

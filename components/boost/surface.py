"""The p/w surface as a heat map whose cells can be chosen: blue where boosting beats the original metric, red elsewhere."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from components.boost.controls import COEFFICIENT_TITLES, reach_of, set_cell
from components.cellmap import Axis, CellMap, Lane, Legend, Mark, show_cell_map
from components.charts import about, footnote
from components.downloads import file_name
from components.numbers import number, signed
from components.vega import Spec, number_field, text_field
from components.workspace import Workspace
from engine.boost.grid import REASONS, Surface
from engine.report.colours import STEPS, UNDEFINED, diverging_palette

HALF_P, HALF_W = 0.05, 0.1  # half a cell of the grid
P_TITLE = "p, exponent of the power mean"
W_TITLE = "w, weight of the original"

Cell = tuple[float, float]


def show_map(work: Workspace, surface: Surface, collapsed: np.ndarray, outputs: int, marks: dict[str, Cell]) -> None:
    """Draw the heat map; a click on a cell puts its p and w into the view.

    Parameters
    ----------
    collapsed : int64[P], how many of the `outputs` collapse at each p.
    marks : what a mark is called → where it stands.
    """
    show_cell_map(cell_map(work, surface, collapsed, outputs, marks), "boost-map", work, partial(set_cell, work))


def cell_map(work: Workspace, surface: Surface, collapsed: np.ndarray, outputs: int, marks: dict[str, Cell]) -> CellMap:
    """The heat map of `show_map`."""
    reach = reach_of(work)
    inside = np.abs(surface.p) <= reach
    p, w, title = surface.p[inside], surface.w, surface.coefficient.capitalize()
    frame = cell_frame(surface, collapsed, outputs)[np.repeat(inside, len(w))]
    tips = {title: frame["shown"], "against the original": frame["gain"], "outputs collapsed": frame["fallen"][:: len(w)]}
    defined = np.isfinite(surface.original)
    middle = number(surface.original, 3) if defined else surface.original_reason
    look: dict = {}
    if work.corpus is not None:
        spec = work.metric(work.corpus).spec
        look = {"notes": about(work.corpus, spec), "file": file_name("boost", work.corpus.name, spec.id)}
    return CellMap(
        Axis(P_TITLE, "p", p.tolist(), [number(value, 1) for value in p]),
        Axis(W_TITLE, "w", w.tolist(), [number(value, 1) for value in w]),
        tones(surface)[inside],
        (diverging_palette(), diverging_palette(dark=True)),
        UNDEFINED,
        {name: texts.tolist() for name, texts in tips.items()},
        lines=outline(surface.improving[inside], p, w),
        lane=Lane("collapsed", (collapsed[inside] / max(1, outputs)).tolist()),
        legend=_legend(surface),
        marks=_marks({name: cell for name, cell in marks.items() if abs(cell[0]) <= reach}) if defined else [],
        words=f"original metric: {middle}",
        alt=f"Heat map of the {COEFFICIENT_TITLES[surface.coefficient]} correlation over p and w; the original metric: {middle}",
        **look,
    )


def p_axis(reach: float) -> Spec:
    """The axis of p on charts: round numbers to both ends."""
    return {"grid": False, "values": np.linspace(-reach, reach, 7).round(1).tolist(), "format": "~f"}


def view_note(work: Workspace) -> Spec | None:
    """The corpus and the metric of the page, below a chart."""
    return footnote(work.corpus, work.metric(work.corpus).spec) if work.corpus is not None else None


def cell_frame(surface: Surface, collapsed: np.ndarray, outputs: int) -> pd.DataFrame:
    """One row per cell: p, w, correlation, and what its tooltip says."""
    values, codes = surface.correlation.ravel(), surface.reasons.ravel()
    p, w = np.repeat(surface.p, len(surface.w)), np.tile(surface.w, len(surface.p))
    return pd.DataFrame(
        {
            "p": p,
            "w": w,
            "correlation": values,
            "shown": [REASONS[code] if code else number(value, 4) for value, code in zip(values.tolist(), codes.tolist())],
            "gain": [signed(value, 4) for value in (values - surface.original).tolist()],
            "fallen": np.repeat([f"{amount:,} of {outputs:,}" for amount in collapsed.tolist()], len(surface.w)),
        }
    )


def outline(wanted: np.ndarray, p: np.ndarray, w: np.ndarray) -> list[tuple[float, float, float, float]]:
    """The border of the cells where `wanted` (bool[P, W]) holds, as straight lines: p1, w1, p2, w2."""
    upright, level = [*(p - HALF_P).tolist(), float(p[-1]) + HALF_P], [*(w - HALF_W).tolist(), float(w[-1]) + HALF_W]
    padded = np.pad(wanted, 1).astype(np.int8)
    lines = []
    for row, column in np.argwhere(np.diff(padded, axis=0)[:, 1:-1]):
        lines.append((upright[row], level[column], upright[row], level[column + 1]))
    for column, edge in enumerate(np.diff(padded, axis=1)[1:-1].T):
        ends = np.flatnonzero(np.diff(np.pad(edge != 0, 1).astype(np.int8)))
        for start, stop in zip(ends[::2], ends[1::2]):
            lines.append((upright[start], level[column], upright[stop], level[column]))
    return lines


def colour_stops(surface: Surface) -> list[tuple[float, int]]:
    """Correlations that have the strongest and the neutral colours, from low to high, with their tones (see `tones`)."""
    values, middle = surface.correlation[np.isfinite(surface.correlation)], _neutral(surface)
    low, high = float(np.min(values, initial=middle)), float(np.max(values, initial=middle))
    return [(low, 0)] * (low < middle) + [(middle, STEPS)] + [(high, 2 * STEPS)] * (high > middle)


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


def tones(surface: Surface) -> np.ndarray:
    """int64[P, W]: the place of each cell's colour in `diverging_palette`; −1 where the correlation is undefined.

    The original's correlation is neutral (the lowest of all where it is undefined), the lowest and the highest of the surface
    have the strongest colours.
    """
    gains = surface.correlation - _neutral(surface)
    known = np.nan_to_num(gains)
    size = np.where(known > 0, known.max(), -known.min())
    shares = np.divide(known, size, out=np.zeros_like(known), where=size > 0)
    return np.where(np.isnan(gains), -1, STEPS + np.rint(shares * STEPS).astype(np.int64))


def _neutral(surface: Surface) -> float:
    """The correlation that has the neutral colour; infinite where nothing is defined."""
    if np.isfinite(surface.original):
        return surface.original
    return float(np.min(surface.correlation, initial=np.inf, where=np.isfinite(surface.correlation)))


def _legend(surface: Surface) -> Legend | None:
    stops = colour_stops(surface)
    low, span = stops[0][0], stops[-1][0] - stops[0][0]
    if not span > 0:
        return None
    return Legend(surface.coefficient.capitalize(), [((value - low) / span, tone, number(value, 3)) for value, tone in stops])


def _marks(marks: dict[str, Cell]) -> list[Mark]:
    """One mark per cell; where two stand on one cell, it carries both names."""
    places: dict[Cell, list[str]] = {}
    for name, cell in marks.items():
        places.setdefault(cell, []).append(name)
    return [Mark(p, w, " \u00b7 ".join(names)) for (p, w), names in places.items()]

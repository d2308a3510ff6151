"""Features by systems as a heat map, with the correlation of −MuLER with the metric over systems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from components.charts import footnote, is_dark
from components.downloads import download_csv
from components.features.bar_data import INTERVALS
from components.features.names import feature_title
from components.features.runs import Study
from components.numbers import MISSING, number, score_places
from components.states import plain
from components.vega import Spec, clickable, draw, faint, ink, layer, number_field, text_field
from components.workspace import Workspace
from engine.muler.features import Feature
from engine.muler.results import Breakdown, FeatureScore
from engine.report.colours import SYSTEM_A, SYSTEM_B, diverging, sequential
from engine.stats.correlation import COEFFICIENTS

ROW = 26  # pixels
LEFT = "width < 520 ? 118 : 168"  # where the cells begin
APART = 0.2  # columns between the systems and the correlation
LEVEL = 8  # columns whose names are written level
FEWEST_SYSTEMS, FEW_SYSTEMS = 3, 6
COEFFICIENT_TITLES = {"pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall\u2019s tau-b"}


def pick_coefficient(work: Workspace) -> None:
    """Draw the choice of the coefficient."""
    names = list(COEFFICIENTS)
    st.selectbox("Correlation", names, format_func=COEFFICIENT_TITLES.get, width=120, **work.bound("over", names))


def coefficient_of(work: Workspace) -> str:
    """The coefficient that the view asks for."""
    return work.view["over"] if work.view["over"] in COEFFICIENTS else next(iter(COEFFICIENTS))


def show_map(study: Study, found: Breakdown, features: Sequence[Feature], value: str, coefficient: str) -> None:
    """Draw some features of all systems, the best system first; a click on a cell chooses its feature and system."""
    metric, spec = study.metric.spec.id, study.metric.spec
    sign = -1 if spec.higher_is_better else 1
    systems = sorted(study.systems, key=lambda name: sign * np.nan_to_num(found.overall[metric, name], nan=-sign * np.inf))
    correlations = found.correlations(coefficient) if len(systems) >= FEWEST_SYSTEMS else None
    columns = [*systems, "correlation"] if correlations is not None else systems
    titles = pd.DataFrame([{"row": place, "title": feature_title(feature)} for place, feature in enumerate(features)])
    cells = _cells(study, found, features, systems, value)
    data = {"cells": cells, "heads": _heads(study, found, systems, columns), "titles": titles}
    layers = _cell_layers("cells", len(features), len(columns), systems=True)
    if correlations is not None:
        data["correlations"] = _correlation_cells(features, correlations, len(systems) + APART)
        layers += _cell_layers("correlations", len(features), len(columns), systems=False)
    layers += _head_layers(len(columns))
    said = f"{'MuLER' if value == 'muler' else 'abl-MuLER'} of {len(features)} features for {len(systems)} systems"
    height = _head(len(columns)) + ROW * len(features)
    note = footnote(study.corpus, spec)
    draw(layers, data, f"features-map-{value}", said, height, study.work, "cell", lambda point: _open(study, point), note)
    _note(study, correlations, value)


def show_map_downloads(study: Study, found: Breakdown, value: str, coefficient: str) -> None:
    """Buttons for the matrix, the correlations and all rows."""
    with st.container(horizontal=True, gap="small"):
        matrix = lambda: matrix_frame(found, study.metric.spec.id, value)  # noqa: E731
        download_csv(
            matrix, f"features-systems-{value.replace('_', '-')}", *study.names, key="features-matrix", label="Matrix (CSV)"
        )
        if len(study.systems) >= FEWEST_SYSTEMS:
            made = lambda: found.correlations(coefficient)  # noqa: E731
            download_csv(made, "features-correlations", *study.names, key="features-correlations", label="Correlations (CSV)")
        download_csv(found.to_frame, "features-all-systems", *study.names, key="features-all", label="All rows (CSV)")


def matrix_frame(found: Breakdown, metric: str, value: str) -> pd.DataFrame:
    """One row per feature: the feature, what made the numbers, then a column for each system."""
    table = found.matrix(metric, value)
    named = pd.DataFrame({"feature": table.index, "signature": found.signature(metric)})
    return pd.concat([named, table.reset_index(drop=True)], axis=1)


def _cells(study: Study, found: Breakdown, features: Sequence[Feature], systems: list[str], value: str) -> pd.DataFrame:
    metric, places = study.metric.spec.id, score_places(study.metric.spec.range)
    written = 2 if value == "muler" else places
    scores = [
        (row, column, found.row(metric, name, feature))
        for row, feature in enumerate(features)
        for column, name in enumerate(systems)
    ]
    sizes = [getattr(score, value) for _, _, score in scores]
    limit = max([size for size in sizes if size == size], default=1.0)
    records = []
    for (row, column, score), size in zip(scores, sizes):
        fill, text = sequential(size, limit, is_dark())
        records.append(
            {"row": row, "column": column, "fill": fill, "ink": text, "text": number(size, written), "feature": score.feature.id}
            | {
                "title": feature_title(score.feature),
                "system": score.system,
                "n": score.n,
                "value": number(size, max(3, written)),
            }
            | {"interval": _interval(score, value), "note": score.reason or ""}
        )
    return pd.DataFrame(records)


def _interval(score: FeatureScore, value: str) -> str:
    low, high = (getattr(score, name) for name in INTERVALS[value])
    return f"{number(low, 3)} to {number(high, 3)}" if low == low else "none"


def _correlation_cells(features: Sequence[Feature], correlations: pd.DataFrame, column: float) -> pd.DataFrame:
    known = {(row.family, row.feature): row for row in correlations.itertuples()}
    records = []
    for place, feature in enumerate(features):
        row = known[feature.family, feature.name]
        reason = _reason(row)
        value = float("nan") if reason else float(row.correlation)
        fill, text = diverging(value, 1.0, is_dark())
        records.append(
            {"row": place, "column": column, "fill": fill, "ink": text, "text": number(value, 2), "feature": feature.id}
            | {"title": feature_title(feature), "system": "", "n": row.n, "value": number(value, 3), "note": reason}
        )
    return pd.DataFrame(records)


def _reason(row) -> str:
    """Why a correlation is not shown; empty where it is."""
    if isinstance(row.reason, str) and row.reason:
        return row.reason.replace("the first set of scores is", "MuLER is").replace(
            "the second set of scores is", "the metric is"
        )
    if row.n < FEWEST_SYSTEMS:
        return f"only {row.n} systems have a value; {FEWEST_SYSTEMS} are needed"
    return ""


def _heads(study: Study, found: Breakdown, systems: list[str], columns: list[str]) -> pd.DataFrame:
    """The names above the columns, and the score of each system's whole corpus."""
    metric, places = study.metric.spec.id, score_places(study.metric.spec.range)
    scores = [number(found.overall[metric, name], places) for name in systems] + [""] * (len(columns) - len(systems))
    a, b = study.work.systems(study.corpus)
    tones = {b: SYSTEM_B[is_dark()], a: SYSTEM_A[is_dark()]}
    return pd.DataFrame(
        [
            {"column": place + APART * (place >= len(systems)), "name": name, "score": score, "tone": tones.get(name, ink())}
            for place, (name, score) in enumerate(zip(columns, scores))
        ]
    )


def _cell_layers(data: str, rows: int, columns: int, systems: bool) -> list[Spec]:
    across = {"domain": [-0.5, columns - 0.5 + APART], "nice": False, "zero": False, "range": [{"expr": LEFT}, {"expr": "width"}]}
    down = {"domain": [rows - 0.5, -0.5 - _head(columns) / ROW], "nice": False, "zero": False}
    place = {
        "x": number_field("x1", scale=across, axis=None),
        "x2": {"field": "x2"},
        "y": number_field("y1", scale=down, axis=None),
        "y2": {"field": "y2"},
    }
    change = [
        {"calculate": "datum.column - 0.49", "as": "x1"},
        {"calculate": "datum.column + 0.49", "as": "x2"},
        {"calculate": "datum.row - 0.47", "as": "y1"},
        {"calculate": "datum.row + 0.47", "as": "y2"},
    ]
    tips = [text_field("title", title="feature"), text_field("feature", title="id")]
    if systems:
        tips += [text_field("system"), text_field("value"), text_field("interval", title="95% interval")]
    else:
        tips += [text_field("value", title="correlation")]
    tips += [number_field("n", title="sentences" if systems else "systems"), text_field("note")]
    fill = {"color": {"field": "fill", "type": "nominal", "scale": None}, "tooltip": tips}
    cells = {**layer(data, "rect", {**place, **fill}, cursor="pointer", cornerRadius=2), "transform": change}
    middle = {"x": _at("column"), "y": _at("row"), "text": text_field("text")}
    text = layer(data, "text", {**middle, "color": {"field": "ink", "type": "nominal", "scale": None}}, fontSize=11)
    return [clickable(cells, "cell", ["feature", "system"]) if systems else cells, text]


def _head_layers(columns: int) -> list[Spec]:
    """Names of systems, level or slanting; their scores; names of features."""
    low, high = ({"datum": place, "type": "quantitative", "axis": None} for place in (-0.95, -1.8))
    tone = {"field": "tone", "type": "nominal", "scale": None}
    score = {"x": _at("column"), "y": low, "text": text_field("score"), "color": tone}
    above = {**score, "y": high, "text": text_field("name")}
    level: Spec = {"limit": {"expr": f"(width - 150) / {columns} - 6"}}
    turn = level if columns <= LEVEL else {"angle": -38, "align": "left", "limit": 120}
    left: Spec = {"align": "left", "dx": 4, "limit": {"expr": f"{LEFT} - 12"}, "fontSize": 12}
    beside = {"x": {"value": 0}, "y": _at("row"), "text": text_field("title")}
    overall = {"x": {"value": 0}, "y": low, "text": text_field("text")}
    return [
        layer("heads", "text", score, fontSize=12, fontWeight=600),
        layer("heads", "text", above, fontSize=12, **turn),
        layer("titles", "text", beside, color=ink(), **left),
        layer([{"text": "whole corpus"}], "text", overall, color=faint(), **left),
    ]


def _head(columns: int) -> int:
    """Room above the cells, in pixels."""
    return 56 if columns <= LEVEL else 130


def _at(name: str) -> Spec:
    return number_field(name, axis=None)


def _open(study: Study, point: Spec) -> None:
    """Choose the feature and system of a cell; a system that is neither A nor B becomes A."""
    work, name = study.work, point["system"]
    a, b = work.systems(study.corpus)
    chosen = {"whose": "a" if name == a else "b"} if name in (a, b) else {"a": name, "whose": "a"}
    work.set(feature=point["feature"], leaf=1, **chosen)


def _note(study: Study, correlations: pd.DataFrame | None, value: str) -> None:
    spec = study.metric.spec
    means = "0 nothing is missed, 1 everything" if value == "muler" else f"{spec.name} to gain"
    said = f"The stronger the colour, the more is missed ({means}). Grey: not defined (hover for why)."
    said += f" Systems by {plain(spec.name)}, best first."
    if correlations is None:
        said += f" A correlation over systems needs at least {FEWEST_SYSTEMS}; this corpus has {len(study.systems)}."
    else:
        said += " Last column: correlation of \u2212MuLER with the metric; near 1, better systems are better at it, too."
        if len(study.systems) < FEW_SYSTEMS:
            said += f" Over {len(study.systems)} systems it says little."
        undefined = sum(bool(_reason(row)) for row in correlations.itertuples())
        if undefined:
            said += f" It is not defined ({MISSING}) for {undefined} of {len(correlations)} features."
    st.caption(said)

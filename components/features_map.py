"""Features by systems as a heat map, with the correlation of −MuLER with the metric over systems."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from components.boost_vega import Spec, clickable, draw, ink, layer, number_field, text_field
from components.charts import is_dark
from components.downloads import download_csv
from components.features_names import feature_title
from components.features_runs import Study
from components.numbers import MISSING, number, score_places
from components.states import plain
from components.workspace import Workspace
from engine.muler.features import Feature
from engine.muler.results import Breakdown
from engine.report.colours import diverging, sequential
from engine.stats.correlation import COEFFICIENTS

ROW, HEAD = 26, 96  # pixels
FEWEST_SYSTEMS = 3
COEFFICIENT_TITLES = {"pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall\u2019s tau-b"}


def pick_coefficient(work: Workspace) -> None:
    """Draw the choice of the coefficient."""
    names = list(COEFFICIENTS)
    st.selectbox("Correlation", names, format_func=COEFFICIENT_TITLES.get, width=150, **work.bound("over", names))


def coefficient_of(work: Workspace) -> str:
    """The coefficient that the view asks for."""
    return work.view["over"] if work.view["over"] in COEFFICIENTS else next(iter(COEFFICIENTS))


def show_map(study: Study, found: Breakdown, features: Sequence[Feature], value: str, coefficient: str) -> None:
    """Draw some features of all systems, the best system first; a click on a cell chooses its feature and system."""
    metric, spec = study.metric.spec.id, study.metric.spec
    sign = -1 if spec.higher_is_better else 1
    systems = sorted(study.systems, key=lambda name: sign * np.nan_to_num(found.overall[metric, name], nan=-sign * np.inf))
    correlations = found.correlations(coefficient) if len(systems) >= FEWEST_SYSTEMS else None
    cells = _cells(study, found, features, systems, value)
    columns = [*systems, f"r over {len(systems)} systems"] if correlations is not None else systems
    data = {"cells": cells, "heads": _heads(study, found, systems)}
    layers = [*_layers("cells", len(features), columns, features, True)]
    if correlations is not None:
        data["correlations"] = _correlation_cells(features, correlations, len(systems))
        layers += _layers("correlations", len(features), columns, features, False)
    layers.append(_overall())
    said = f"{'MuLER' if value == 'muler' else 'abl-MuLER'} of {len(features)} features for {len(systems)} systems"
    draw(
        layers,
        data,
        f"features-map-{value}",
        said,
        HEAD + ROW * len(features),
        study.work,
        "cell",
        lambda point: _open(study, point),
    )
    _note(study, correlations, value)


def show_map_downloads(study: Study, found: Breakdown, value: str, coefficient: str) -> None:
    """Buttons for the matrix, the correlations and all rows."""
    metric = study.metric.spec.id
    with st.container(horizontal=True, gap="small"):
        matrix = lambda: found.matrix(metric, value).rename_axis("feature").reset_index()  # noqa: E731
        download_csv(matrix, f"features-systems-{value.replace('_', '-')}", key="features-matrix", label="Matrix (CSV)")
        if len(study.systems) >= FEWEST_SYSTEMS:
            made = lambda: found.correlations(coefficient)  # noqa: E731
            download_csv(made, "features-correlations", key="features-correlations", label="Correlations (CSV)")
        download_csv(found.to_frame, "features-all-systems", key="features-all", label="All rows (CSV)")


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
            | {"title": feature_title(score.feature), "system": score.system, "n": score.n, "value": number(size, 3)}
            | {"low": number(score.low, 3), "high": number(score.high, 3), "note": score.reason or ""}
        )
    return pd.DataFrame(records)


def _correlation_cells(features: Sequence[Feature], correlations: pd.DataFrame, column: int) -> pd.DataFrame:
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


def _heads(study: Study, found: Breakdown, systems: list[str]) -> pd.DataFrame:
    metric, places = study.metric.spec.id, score_places(study.metric.spec.range)
    return pd.DataFrame(
        [{"row": -1, "column": place, "text": number(found.overall[metric, name], places)} for place, name in enumerate(systems)]
    )


def _layers(data: str, rows: int, columns: list[str], features: Sequence[Feature], systems: bool) -> list[Spec]:
    names = json.dumps(columns)
    titles = json.dumps([feature_title(feature) for feature in features])
    look = {"domain": False, "ticks": False, "grid": False, "labelLimit": 150}
    angle = {} if len(columns) <= 8 else {"labelAngle": -40, "labelAlign": "left"}
    over = {"values": list(range(len(columns))), "labelExpr": f"{names}[datum.value]", "orient": "top", **angle, **look}
    beside = {"values": [-1, *range(rows)], "labelExpr": f"datum.value < 0 ? 'whole corpus' : {titles}[datum.value]", **look}
    across = {"domain": [-0.5, len(columns) - 0.5], "nice": False, "zero": False}
    down = {"domain": [rows - 0.5, -1.6], "nice": False, "zero": False}
    place = {
        "x": number_field("x1", title=None, axis=over, scale=across),
        "x2": {"field": "x2"},
        "y": number_field("y1", title=None, axis=beside, scale=down),
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
        tips += [
            text_field("system"),
            text_field("value"),
            text_field("low", title="from (95%)"),
            text_field("high", title="to (95%)"),
        ]
    else:
        tips += [text_field("value", title="correlation")]
    tips += [number_field("n", title="sentences" if systems else "systems"), text_field("note")]
    fill = {"color": {"field": "fill", "type": "nominal", "scale": None}, "tooltip": tips}
    cells = {**layer(data, "rect", {**place, **fill}, cursor="pointer", cornerRadius=2), "transform": change}
    middle = {"x": number_field("column"), "y": number_field("row"), "text": text_field("text")}
    text = layer(data, "text", {**middle, "color": {"field": "ink", "type": "nominal", "scale": None}}, fontSize=11)
    return [clickable(cells, "cell" if systems else "trend", ["feature", "system"]), text]


def _overall() -> Spec:
    place = {"x": number_field("column"), "y": number_field("row"), "text": text_field("text")}
    return layer("heads", "text", place, color=ink(), fontSize=11, fontWeight=600)


def _open(study: Study, point: Spec) -> None:
    """Choose the feature and system of a cell; a system that is neither A nor B becomes A."""
    work, name = study.work, point["system"]
    a, b = work.systems(study.corpus)
    chosen = {"whose": "a" if name == a else "b"} if name in (a, b) else {"a": name, "whose": "a"}
    work.set(feature=point["feature"], leaf=1, **chosen)


def _note(study: Study, correlations: pd.DataFrame | None, value: str) -> None:
    spec = study.metric.spec
    means = "0 nothing is missed, 1 everything" if value == "muler" else f"{spec.name} to gain"
    said = f"Darker: more is missed ({means}). Grey: not defined (hover for why). Systems by {plain(spec.name)}, best first."
    if correlations is None:
        said += f" A correlation over systems needs at least {FEWEST_SYSTEMS}; this corpus has {len(study.systems)}."
    else:
        said += " Last column: correlation of \u2212MuLER with the metric; near 1, better systems are better at it, too."
        undefined = sum(bool(_reason(row)) for row in correlations.itertuples())
        if undefined:
            said += f" It is not defined ({MISSING}) for {undefined} of {len(correlations)} features."
    st.caption(said)

"""Bars per feature, A above B, with 95% intervals and counts; or where the score stands between anti-oracle and oracle."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from components.boost_vega import Spec, clickable, draw, faint, ink, layer, number_field, text_field
from components.charts import is_dark
from components.features_names import feature_title
from components.features_rows import FeatureRow
from components.features_runs import Study
from components.numbers import number, score_places, signed
from components.workspace import Workspace
from engine.muler.results import FeatureScore
from engine.report.colours import SYSTEM_A, SYSTEM_B

HALF, GAP = 0.3, 0.04  # of a row: how far the bars reach to both sides, and what stands between them
ROW, HEAD, AXIS = 34, 26, 46  # pixels
NARROW = 520  # pixels of the chart below which the counts are left to the table
LOW, HIGH = {"muler": "low", "abl_muler": "abl_low"}, {"muler": "high", "abl_muler": "abl_high"}


def show_bars(study: Study, rows: Sequence[FeatureRow], value: str, chosen: str, then: Callable[[Spec], None]) -> None:
    """Draw the features in `rows`; `then` gets `feature` and `part` (A or B) of the bar that is clicked.

    Parameters
    ----------
    value : a key of `components.features_names.VALUES`.
    chosen : the id of the feature that is looked at below.
    """
    spec, pair = study.metric.spec, len(study.systems) > 1
    frame = bar_frame(rows, study.systems, value, score_places(spec.range))
    titles = [feature_title(row.feature) for row in rows]
    scale = _domain(frame, value)
    base: Spec = {"y": _rows_axis(titles), "y2": {"field": "y2"}}
    middle = {"y": number_field("middle")}
    tone = {"field": "tone", "type": "nominal", "scale": None}
    x = {"scale": scale, "title": _title(value, spec.name), "axis": {"grid": True, "tickCount": 6}}
    layers = [
        _ground(len(rows), [row.feature.id for row in rows].index(chosen) if chosen in [row.feature.id for row in rows] else None)
    ]
    if value == "scores":
        layers += [
            layer(
                "bars",
                "rule",
                {**middle, "x": number_field("anti_oracle", **x), "x2": {"field": "oracle"}, "color": tone},
                strokeWidth=5,
                opacity=0.3,
            ),
            layer("bars", "point", {**middle, "x": number_field("value", **x), "color": tone}, filled=True, size=70, opacity=1),
        ]
    else:
        layers += [
            layer(
                "bars", "rect", {**base, "x": number_field("start", **x), "x2": {"field": "value"}, "color": tone}, opacity=0.85
            ),
            layer(
                "bars", "rule", {**middle, "x": number_field("low", **x), "x2": {"field": "high"}}, color=ink(), strokeWidth=1.4
            ),
            *_zero(frame, x),
        ]
    layers += [
        layer(
            "missing",
            "text",
            {**middle, "x": number_field("start", **x), "text": text_field("shown")},
            align="left",
            dx=4,
            color=faint(),
            fontSize=11,
        )
    ]
    layers += _columns(rows, pair)
    layers += [_targets(base, spec.name, value)]
    known = frame["value"].notna()
    data = {
        "bars": frame[known],
        "missing": frame[~known],
        "all": frame,
        "marks": _mark_frame(rows, value, score_places(spec.range)),
    }
    height = HEAD + ROW * len(rows) + AXIS
    said = f"{_title(value, spec.name)} of {len(rows)} features for {' and '.join(study.systems)}"
    draw(layers, data, f"features-{value}", said, height, study.work, "bar", then)


def bar_frame(rows: Sequence[FeatureRow], systems: Sequence[str], value: str, places: int) -> pd.DataFrame:
    """One row per feature and system: its place, its value and what its tooltip says."""
    tones = [colours[is_dark()] for colours in (SYSTEM_A, SYSTEM_B)]
    records = []
    for place, row in enumerate(rows):
        for number_of, (score, name) in enumerate(zip(row.scores, systems)):
            top, bottom = _band(place, number_of, len(systems))
            records.append(
                {"feature": row.feature.id, "part": "AB"[number_of], "tone": tones[number_of], "y1": top, "y2": bottom}
                | {"middle": (top + bottom) / 2, "start": 0.0 if value != "scores" else np.nan}
                | _values(score, value, places)
                | {"title": feature_title(row.feature), "system": name, "reason": score.reason or ""}
            )
    frame = pd.DataFrame(records)
    if value == "scores" and frame["anti_oracle"].notna().any():
        frame["start"] = frame["anti_oracle"].min()
    return frame


def _band(place: int, number_of: int, systems: int) -> tuple[float, float]:
    if systems == 1:
        return place - HALF * 0.7, place + HALF * 0.7
    return (place - HALF, place - GAP / 2) if number_of == 0 else (place + GAP / 2, place + HALF)


def _values(score: FeatureScore, value: str, places: int) -> dict[str, object]:
    own = score.score if value == "scores" else getattr(score, value)
    if value == "scores" and np.isnan(score.muler):
        own = np.nan
    low, high = (float("nan"),) * 2 if value == "scores" else (getattr(score, LOW[value]), getattr(score, HIGH[value]))
    written = 3 if value == "muler" else places
    interval = f"{number(low, written)} to {number(high, written)}" if low == low else "none"
    return {
        "value": own,
        "low": low,
        "high": high,
        "oracle": score.oracle,
        "anti_oracle": score.anti_oracle,
        "shown": number(own, written) if own == own else "not defined",
        "interval": interval,
        "between": f"{number(score.score, places)}; {number(score.oracle, places)}; {number(score.anti_oracle, places)}",
        "muler": number(score.muler, 3),
        "n": score.n,
        "counts": f"{score.add} \u00b7 {score.hit} \u00b7 {score.miss}",
        "held": f"{score.in_references:,} and {score.in_output:,}",
    }


def _title(value: str, metric: str) -> str:
    return {
        "muler": "MuLER: share of the reachable gain that is missed",
        "abl_muler": f"abl-MuLER: {metric} to gain with the feature right",
        "scores": f"{metric} as it is (dot), between anti-oracle and oracle (line)",
    }[value]


def _domain(frame: pd.DataFrame, value: str) -> Spec:
    columns = ["anti_oracle", "oracle", "value"] if value == "scores" else ["value", "low", "high"]
    numbers = frame[columns].to_numpy(float)
    numbers = numbers[np.isfinite(numbers)]
    low, high = (float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 1.0)
    if value != "scores":
        low, high = min(0.0, low), max(0.0, high)
    if low == high:
        high = low + 1
    end = {"expr": f"width < {NARROW} ? width - 70 : width - 236"}
    return {"domain": [low, high], "nice": True, "zero": False, "range": [0, end]}


def _rows_axis(titles: list[str]) -> Spec:
    axis = {
        "values": list(range(len(titles))),
        "labelExpr": f"{json.dumps(titles)}[datum.value]",
        "labelLimit": 150,
        "domain": False,
        "ticks": False,
        "grid": False,
        "labelPadding": 8,
    }
    return number_field("y1", title=None, axis=axis, scale=_rows_scale(len(titles)))


def _rows_scale(rows: int) -> Spec:
    return {"domain": [rows - 0.5, -0.5 - HEAD / ROW], "nice": False, "zero": False}


def _ground(rows: int, chosen: int | None) -> Spec:
    """Faint stripes, and a stronger one behind the feature that is looked at."""
    stripes = [{"y1": place - 0.5, "y2": place + 0.5, "weight": 0.1} for place in range(rows) if place == chosen]
    place = {"y": number_field("y1", scale=_rows_scale(rows)), "y2": {"field": "y2"}, "x": {"value": 0}, "x2": {"value": "width"}}
    return layer(stripes, "rect", place, color=ink(), opacity=0.08, cornerRadius=4)


def _zero(frame: pd.DataFrame, x: Spec) -> list[Spec]:
    rows = [{"start": 0.0, "y1": -0.5, "y2": frame["y1"].max() + 1}]
    return [
        layer(
            rows,
            "rule",
            {"x": number_field("start", **x), "y": number_field("y1"), "y2": {"field": "y2"}},
            color=faint(),
            strokeWidth=1,
        )
    ]


def _mark_frame(rows: Sequence[FeatureRow], value: str, places: int) -> pd.DataFrame:
    written = 3 if value != "abl_muler" else places
    records = [
        {
            "y": float(place),
            "delta": f"{signed(row.delta, written)}{'*' if row.certain else ''}" if row.delta == row.delta else "",
            "certain": row.certain,
        }
        for place, row in enumerate(rows)
    ]
    return pd.DataFrame(records)


def _columns(rows: Sequence[FeatureRow], pair: bool) -> list[Spec]:
    """What stands at the right: the difference, the sentences, how many outputs have the feature more, as, less often."""
    wide = {"expr": f"width < {NARROW} ? 0 : 1"}
    ends = {
        "delta": {"expr": f"width < {NARROW} ? width : width - 160"},
        "n": {"expr": "width - 100"},
        "counts": {"value": "width"},
    }
    titles = {"delta": "A \u2212 B", "n": "sentences", "counts": "more \u00b7 same \u00b7 fewer"}
    layers = []
    for name in ("delta", "n", "counts"):
        if name == "delta" and not pair:
            continue
        x = {"value": ends[name]} if "expr" in ends[name] else ends[name]
        look: Spec = {"align": "right", "fontSize": 11, "opacity": 1 if name == "delta" else wide}
        head = [{"y": -0.5 - HEAD / ROW / 2, "text": titles[name]}]
        layers.append(layer(head, "text", {"y": number_field("y"), "x": x, "text": text_field("text")}, color=faint(), **look))
        if name == "delta":
            weight = {"fontWeight": {"expr": "datum.certain ? 700 : 400"}}
            layers.append(
                layer(
                    "marks", "text", {"y": number_field("y"), "x": x, "text": text_field("delta")}, color=ink(), **look, **weight
                )
            )
        else:
            tone = {"field": "tone", "type": "nominal", "scale": None}
            layers.append(
                layer("all", "text", {"y": number_field("middle"), "x": x, "text": text_field(name), "color": tone}, **look)
            )
    return layers


def _targets(base: Spec, metric: str, value: str) -> Spec:
    """Invisible, as wide as the chart: what is clicked, and what the tooltip hangs on."""
    tips = [
        text_field("title", title="feature"),
        text_field("feature", title="id"),
        text_field("system"),
        text_field("muler", title="MuLER"),
        *([text_field("shown", title="abl-MuLER")] if value == "abl_muler" else []),
        *([text_field("interval", title="95% interval")] if value != "scores" else []),
        text_field("between", title=f"{metric}; oracle; anti-oracle"),
        number_field("n", title="sentences"),
        text_field("counts", title="more \u00b7 same \u00b7 fewer in output"),
        text_field("held", title="in references and output"),
        text_field("reason", title="note"),
    ]
    place = {**base, "x": {"value": 0}, "x2": {"value": "width"}, "tooltip": tips}
    return clickable(layer("all", "rect", place, opacity=0, cursor="pointer"), "bar", ["feature", "part"])


def set_feature(work: Workspace) -> Callable[[Spec], None]:
    """Puts a clicked feature and system into the view."""
    return lambda point: work.set(feature=point["feature"], whose="b" if point.get("part") == "B" else "a", leaf=1)


def show_legend(study: Study, value: str) -> None:
    """What the colours, the columns and the ends of the scale mean."""
    names = [f":{colour}[\u25a0] {tag} {name}" for colour, tag, name in zip(("orange", "blue"), "AB", study.systems)]
    ends = {
        "muler": "0: nothing of the reachable gain is missed; 1: all of it",
        "abl_muler": "how far the score would move if the feature were right throughout",
        "scores": "left end: the feature wrong throughout; right end: right throughout",
    }[value]
    star = " A \u2212 B with *: its paired interval leaves out 0." if len(study.systems) > 1 else ""
    st.caption(f"{' '.join(names)} \u00b7 {ends}. Thin lines: 95% intervals.{star} Click a bar for the segments behind it.")

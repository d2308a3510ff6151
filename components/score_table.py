"""System scores: one row per system, each score with its 95% interval, the signatures below."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from components.charts import constant_span, footnote, rows_height, system_parts, system_scale
from components.downloads import download_csv
from components.numbers import count, number, score_places
from components.states import plain
from components.tables import show_table, title_width
from components.vega import draw, layer, number_field, text_field
from engine.corpus.types import SYSTEM_LEVEL, Corpus, Criterion
from engine.metrics.base import MetricSpec
from engine.scoring.systems import SystemScore, SystemScores

INTERVAL_WIDTH = 112  # pixels, for 100.00 – 100.00
NOT_HUMAN = "planted errors, not human judgement"


def show_scores(corpus: Corpus, found: Mapping[MetricSpec, SystemScores], a: str, b: str) -> None:
    """Draw the table, what does not count and why, and the signatures; `a` and `b` are marked."""
    table, config = _table(corpus, found, a, b)
    show_table(table, config, alt="System scores with 95% intervals", height="content")
    for note in _notes(found):
        st.caption(f":material/info: {plain(note)}")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        merged = pd.concat([scores.to_frame() for scores in found.values()], ignore_index=True)
        human = {title: merged["system"].map(values) for title, values in human_columns(corpus).items()}
        download_csv(merged.assign(**human), "scores", corpus.name, key="scores")
        with st.popover("Signatures", icon=":material/fingerprint:"):
            for spec in found:
                st.markdown(f"**{spec.name}**")
                st.code(spec.signature, language=None, wrap_lines=True)


def _table(corpus: Corpus, found: Mapping[MetricSpec, SystemScores], a: str, b: str) -> tuple[pd.DataFrame, dict]:
    spec, scores = next(iter(found.items()))
    names = best_first(scores, spec)
    columns: dict[str, list] = {"": ["A" if name == a else "B" if name == b else "" for name in names], "System": names}
    config = {"": st.column_config.TextColumn(width=40), "System": st.column_config.TextColumn()}
    if a == b:
        del columns[""], config[""]
    for spec, scores in found.items():
        rows = [scores.row(spec.id, name) for name in names]
        places = score_places(spec.range)
        arrow = "\u2191" if spec.higher_is_better else "\u2193"
        title, interval = f"{spec.name} {arrow}", f"95% interval {spec.name}"
        columns[title] = [row.score for row in rows]
        columns[interval] = [_interval(row, places) for row in rows]
        better = "higher is better" if spec.higher_is_better else "lower is better"
        config[title] = st.column_config.NumberColumn(format=f"%.{places}f", help=f"{spec.name}: {better}")
        help = f"{spec.name}: bootstrap over segments, 1000 resamples"
        config[interval] = st.column_config.TextColumn("95% interval", help=help, alignment="right", width=INTERVAL_WIDTH)
    counts = [[scores.row(spec.id, name).n for spec, scores in found.items()] for name in names]
    columns["Segments"] = [f"{min(row):,}" if min(row) == max(row) else f"{min(row):,} \u2013 {max(row):,}" for row in counts]
    help = "Segments that count; more than one number where metrics differ"
    config["Segments"] = st.column_config.TextColumn(help=help, alignment="right")
    means = human_columns(corpus)
    for criterion in corpus.criteria:
        title = criterion_title(criterion)
        columns[title] = [means[title][name] for name in names]
        config[title] = criterion_column(criterion, len(corpus.criteria) > 1)
    return pd.DataFrame(columns), config


def best_first(scores: SystemScores, spec: MetricSpec) -> list[str]:
    """The systems from the best score to the worst; those without one last, ties in the corpus' order."""
    way = -1 if spec.higher_is_better else 1
    rows = [row for row in scores.rows if row.metric == spec.id]
    return [
        row.system for row in sorted(rows, key=lambda row: (np.isnan(row.score), 0.0 if np.isnan(row.score) else way * row.score))
    ]


def _interval(row: SystemScore, places: int) -> str:
    if np.isnan(row.low):
        return "too few segments" if row.n < 2 else "not defined"
    return f"{number(row.low, places)} \u2013 {number(row.high, places)}"


def _notes(found: Mapping[MetricSpec, SystemScores]) -> list[str]:
    """What does not count and why, and what else a reader should know; the same note of several systems once."""
    notes: dict[str, list[str]] = {}
    for spec, scores in found.items():
        for row in scores.rows:
            why = [f"{count(amount, 'segment')} left out: {reason}" for reason, amount in row.undefined.items()]
            for note in [*why, *row.notes]:
                notes.setdefault(f"{spec.name}: {note}", []).append(row.system)
    return [f"{note} ({', '.join(systems)})" for note, systems in notes.items()]


def human_columns(corpus: Corpus) -> dict[str, dict[str, float]]:
    """Title of each criterion → the mean score of each system."""
    found = {}
    for criterion in corpus.criteria:
        own = corpus.human[corpus.human["criterion"] == criterion.name]
        level = own[own["segment"] == SYSTEM_LEVEL]
        means = (level if len(level) else own).groupby("system")["score"].mean()
        found[criterion_title(criterion)] = {name: float(means.get(name, np.nan)) for name in corpus.systems}
    return found


def criterion_title(criterion: Criterion) -> str:
    """What the scores of a criterion are called on screen; planted errors never pass for human judgement."""
    if not criterion.planted:
        return "Human score" if criterion.name.casefold() == "human" else f"Human: {criterion.name}"
    name = "" if criterion.name.casefold() == "planted" else f"{criterion.name}: "
    return (name + NOT_HUMAN)[:1].upper() + (name + NOT_HUMAN)[1:]


def criterion_column(criterion: Criterion, several: bool) -> Any:
    """How a column with the scores of a criterion is titled and written; beside others, planted errors are named in short."""
    title = criterion_title(criterion)
    short = title
    if several and criterion.planted:
        name = criterion.name if criterion.name.casefold() != "planted" else "planted errors"
        short = name[:1].upper() + name[1:] + ("" if "planted" in name.casefold() else " (planted)")
    help = f"{title}. {criterion.provenance}"
    return st.column_config.NumberColumn(short, format="%.2f", help=help, width=title_width(short))


def show_intervals(corpus: Corpus, scores: SystemScores, spec: MetricSpec, a: str, b: str) -> None:
    """Scores as points on one axis, their 95% intervals as bars."""
    frame = scores.to_frame()
    rows = frame.set_index("system").loc[best_first(scores, spec)].reset_index().dropna(subset=["score"])
    if not len(rows):
        st.caption("No system has a score.")
        return
    rows["part"] = system_parts(rows["system"], a, b)
    tips = [text_field("system"), *(number_field(name, format=".4~f") for name in ("score", "low", "high")), number_field("n")]
    names = {"labelLimit": 140, "labelOverlap": False}
    place = {
        "y": text_field("system", title=None, sort=list(rows["system"]), axis=names),
        "color": text_field("part", scale=system_scale(), legend=None),
        "tooltip": tips,
    }
    known = rows["low"].notna().any()
    ends = constant_span(rows[["score", "low", "high"]].to_numpy(), spec)
    scale = {"zero": False} if ends is None else {"domain": ends}
    along = {"scale": scale, "title": f"{spec.name} with 95% interval" if known else spec.name}
    layers = [
        layer("rows", "rule", {**place, "x": number_field("low", **along), "x2": {"field": "high"}}, strokeWidth=3),
        layer("rows", "point", {**place, "x": number_field("score", **along)}, filled=True, size=90, opacity=1),
    ]
    said = f"{spec.name} of each system with its 95% interval"
    data = {"rows": rows.drop(columns="signature")}
    draw(layers, data, "intervals", said, rows_height(len(rows)), note=footnote(corpus, spec))

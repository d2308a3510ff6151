"""What one p and w do to single outputs: scores against human scores before and after, and the outputs that move most."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from components.boost.controls import COEFFICIENT_TITLES
from components.boost.effect import boosted_format, point_names
from components.boost.runs import Study
from components.charts import footnote, system_parts, system_scale
from components.downloads import download_csv
from components.numbers import count, number, score_places
from components.score_table import criterion_title
from components.states import plain
from components.tables import picked_row, rank_change, show_table
from components.vega import Spec, clickable, draw, forget_clicks, layer, number_field, text_field
from engine.boost.effect import system_frame
from engine.boost.grid import correlate
from engine.boost.rows import Group

POINTS = 3000
"""Outputs that are drawn; of more, that many are drawn at random, and the page says so."""

MOVERS = 8


def show_scatter(study: Study, group: Group, p: float, w: float) -> None:
    """Draw scores against human scores, before and after; a click on an output opens Explain there."""
    options, work = study.asked.options, study.work
    a, b = work.systems(study.corpus)
    frame = (
        study.outputs(group, p, w)
        if options.level == "segment"
        else system_frame(study.rows, p, w, options.regularisation, group)
    )
    known = frame.dropna(subset=["score", "boosted", "human"])
    if not len(known):
        st.caption("No output has a score, an aggregate and a human score, so there is nothing to draw.")
        return
    drawn = known if len(known) <= POINTS else known.sample(POINTS, random_state=0)
    drawn = drawn.assign(part=system_parts(drawn["system"], a, b))
    assert study.asked.criterion is not None
    title = criterion_title(study.asked.criterion)
    titles = {"score": f"{study.metric.spec.name}", "boosted": f"{study.metric.spec.name}, boosted"}
    sign = study.rows.sign
    with st.grid(2, min_column_width=320, gap="medium"):
        for name, axis in titles.items():
            with st.container(gap="small"):
                value, reason = correlate(sign * known[name].to_numpy(), known["human"].to_numpy(), options.coefficient)
                shown = f"not defined: {reason}" if reason else number(value, 3)
                st.markdown(f"**{axis}** :gray[\u00b7 {COEFFICIENT_TITLES[options.coefficient]} {shown}]")
                _points(study, drawn, name, axis, title)
    noun = "system" if options.level == "system" else "output"
    coloured = f", :orange[**{plain(a)}**] in amber and :blue[**{plain(b)}**] in blue" if a != b else ""
    notes = [f"{count(len(known), noun)}{coloured}"]
    if len(drawn) < len(known):
        notes.append(f"{len(drawn):,} of them drawn, taken at random")
    if len(known) < len(frame):
        notes.append(f"{count(len(frame) - len(known), noun)} without a score, an aggregate or a human score left out")
    if options.level == "segment":
        notes.append("click one to see its words on Explain")
    st.caption("; ".join(notes) + ".")


def show_movers(study: Study, group: Group | None, p: float, w: float) -> None:
    """Draw the outputs whose rank changes most; a click on one opens Explain there."""
    frame = study.outputs(group, p, w)
    moved = frame[frame["change"].fillna(0) != 0]
    if len(moved):
        shown = moved.sort_values("change", key=abs, ascending=False, kind="stable").head(MOVERS).reset_index(drop=True)
        st.markdown(f"**Outputs that move most** :gray[\u00b7 ranks among {count(int(frame['rank'].notna().sum()), 'output')}]")
        _mover_table(study, shown)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        names = study.names(*point_names(study, p, w))
        download_csv(frame, "boost-segments", *names, key="boost-segments", label="Outputs (CSV)")
        note = f"{count(len(moved), 'output')} {'changes' if len(moved) == 1 else 'change'} rank; choose a row to see its words."
        st.caption(note if len(moved) else "No output changes its rank.", width="content")


def _mover_table(study: Study, shown: pd.DataFrame) -> None:
    spec, criterion = study.metric.spec, study.asked.criterion
    places = score_places(spec.range)
    form, text = st.column_config.NumberColumn, st.column_config.TextColumn
    table = pd.DataFrame(
        {
            "Segment": shown["segment"],
            "System": shown["system"],
            spec.name: shown["score"],
            "Boosted": shown["boosted"],
            "Rank": shown["rank"],
            "Boosted rank": shown["boosted_rank"],
            "Change": shown["change"].map(rank_change),
        }
    )
    config = {
        "Segment": form(width=70),
        spec.name: form(format=f"%.{places}f"),
        "Boosted": form(format=boosted_format(shown["boosted"], places)),
        "Rank": form(format="%g", help="1 is best; ties share the mean of their ranks"),
        "Boosted rank": form(format="%g"),
        "Change": text(help="Places gained or lost by boosting"),
        "Output": text(width="large"),
    }
    if criterion is not None and "human" in shown:
        table[criterion_title(criterion)] = shown["human"]
        config[criterion_title(criterion)] = form(format="%.2f", help=criterion.provenance, width=215)
    systems = study.corpus.systems
    table["Output"] = [systems[name][place] for name, place in zip(shown["system"], shown["segment"], strict=True)]

    def open_row() -> None:
        row = picked_row(study.work, "boost-movers")
        if row is not None:
            _open(study, shown.iloc[row].to_dict())

    show_table(
        table,
        config,
        height="content",
        key="boost-movers",
        on_select=open_row,
        selection_mode=["single-row", "single-cell"],
        alt="Outputs whose rank changes most; choose a row to explain it",
    )


def _points(study: Study, frame: pd.DataFrame, name: str, axis: str, title: str) -> None:
    few = study.asked.options.level == "system"
    numbers = [number_field("score", format=".4~f"), number_field("boosted", format=".4~g"), number_field("human", format=".3~f")]
    encoding = {
        "x": number_field("human", title=title, scale={"zero": False}, axis={"grid": False}),
        "y": number_field(name, title=axis, scale={"zero": False}, axis={"format": ".4~g"}),
        "color": text_field("part", scale=system_scale(), legend=None),
        "tooltip": [text_field("system"), *numbers] if few else [number_field("segment"), text_field("system"), *numbers],
    }
    look = {"size": 130, "opacity": 0.9} if few else {"size": 38, "opacity": 0.5, "cursor": "pointer"}
    points = layer("points", "circle", encoding, **look)
    said = f"{axis} of each {'system' if few else 'output'} against {title}"
    columns = ["segment", "system", "part", "score", "boosted", "human"]
    data = {"points": frame[[column for column in columns if column in frame]]}
    note = footnote(study.corpus, study.metric.spec)
    if few:
        draw([points], data, f"boost-{name}", said, 300, note=note)
        return
    layers = [clickable(points, "point", ["segment", "system"])]
    draw(layers, data, f"boost-{name}", said, 300, study.work, "point", lambda point: _open(study, point), note)


def _open(study: Study, point: Spec) -> None:
    """Go to Explain at the output that was clicked, its system beside the other one."""
    work, system = study.work, point["system"]
    forget_clicks(work)
    beside = {} if system in (work.view["a"], work.view["b"]) else {"a": system}
    work.go("explain", segment=int(point["segment"]), **beside)

"""Boost: does mixing a metric with its own explanations bring it closer to human scores, for which p and w, and what changes."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.boost.controls import MEAN, WHOLE, pick, pick_group, pick_reach, reach_of
from components.boost.effect import looked_at, pick_cell, show_cell, show_collapse, show_systems, show_use
from components.boost.lines import show_aggregates, show_lines
from components.boost.outputs import show_movers, show_scatter
from components.boost.runs import Study, explained, other_study, surface_of
from components.boost.sentence import show_answer, show_missing, show_unjudged
from components.boost.solid import show_solid
from components.boost.surface import show_map, show_notes
from components.browser import let_paint
from components.downloads import download_csv
from components.explain.panels import explainer_title
from components.job_progress import await_result
from components.states import segments_or_notice
from components.workspace import Workspace, under_entry, workspace
from engine.boost.boost import BoostResult
from engine.boost.calibrate import Calibration
from engine.boost.effect import aggregate_frame

CHARTS = {"map": "Heat map", "solid": "3-D surface", "lines": "Lines", "aggregates": "Aggregates"}
PLAIN = (1.0, 0.4)
"""p and w that are shown where nothing has been calibrated: the arithmetic mean, with some weight."""


def draw(work: Workspace) -> None:
    """The page from top to bottom."""
    st.title("Boost", anchor=False)
    corpus = segments_or_notice(work)
    if corpus is None:
        return
    answer = st.container()
    metric = work.metric(corpus)
    asked = pick(work, corpus)
    outcome = explained(work, corpus, metric, asked.explain)
    title = f"Explaining {metric.spec.name} with {explainer_title(asked.explain.explainer)}"
    if outcome is None or not await_result(outcome, work, title):
        return
    study = Study(work, corpus, metric, asked, outcome.value)
    if asked.criterion is None:
        draw_without_scores(study, answer)
    else:
        draw_with_scores(study, answer)


def draw_with_scores(study: Study, answer: DeltaGenerator) -> None:
    """The sentence, the surface, and what one cell of it does."""
    work = study.work
    other, ready = other_study(work, study.asked)
    if not ready:
        return
    quick = study.calibration(other, tested=False)
    found = quick.value
    if quick.done:
        tested = study.calibration(other, tested=True, start=False)
        found = tested.value or quick.value
        with answer:
            show_answer(study, other, found, tested)
    elif quick.state == "failed":
        with answer:
            show_unjudged(quick.error)
    else:
        await_result(quick, work, "Choosing p and w")
        return
    chosen = (found.choice.p, found.choice.w) if found else PLAIN
    chart, group = draw_chart_choice(study)
    outcome = study.grid(group)
    if not await_result(outcome, work, "Correlating every p and w"):
        return
    surface, outputs, collapsed = surface_of(outcome.value)
    p, w = looked_at(work, chosen)
    marks = ({"calibrated": chosen} if found else {}) | ({"chosen": (p, w)} if (p, w) != chosen else {})
    if chart == "map":
        show_map(work, surface, collapsed, outputs, marks)
    elif chart == "solid":
        show_solid(surface, reach_of(work), {"calibrated": chosen} if found else {}, study.corpus, study.metric.spec)
    elif chart == "lines":
        show_lines(work, surface, collapsed, outputs, marks)
    else:
        draw_aggregates(study)
    if chart != "aggregates":
        show_notes(surface, chart, reach_of(work), marks)
        draw_downloads(study, group, outcome.value, found, other)
    let_paint()
    st.subheader("What one setting does", anchor=False)
    p, w = pick_cell(work, chosen, calibrated=found is not None)
    shown = study.shown(group)
    show_cell(study, surface, shown, p, w)
    show_scatter(study, shown, p, w)
    show_systems(study, shown, p, w)
    show_movers(study, shown, p, w)
    show_use(study, p, w)
    if quick.done and not tested.begun and study.calibration(other, tested=True).done:
        st.rerun()  # begun when all else is drawn, the test was quick: the sentence on top can say more


def draw_without_scores(study: Study, answer: DeltaGenerator) -> None:
    """The aggregates, and what is missing for more."""
    with answer:
        show_missing()
    pick_reach(study.work)
    draw_aggregates(study)
    st.subheader("What one setting does", anchor=False)
    p, w = pick_cell(study.work, PLAIN, calibrated=False)
    show_collapse(study, p)
    show_systems(study, None, p, w)
    show_movers(study, None, p, w)
    show_use(study, p, w)


def draw_chart_choice(study: Study) -> tuple[str, str]:
    """Which chart, of which outputs, how far to both sides of p = 0."""
    work = study.work
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        tie = work.bound("chart", list(CHARTS))
        st.segmented_control("Chart", CHARTS, format_func=CHARTS.get, required=True, **tie)
        pick_reach(work)
        group = pick_group(work, len(study.parts))
    return work.one_of("chart", list(CHARTS)), group


def draw_aggregates(study: Study) -> None:
    """The mean aggregate of each system over p."""
    frame = aggregate_frame(study.rows, study.asked.options.regularisation)
    show_aggregates(study, frame)
    names = study.names(study.asked.options.regularisation)
    download_csv(frame, "boost-aggregates", *names, key="boost-aggregates", label="Aggregates (CSV)")


def draw_downloads(study: Study, group: str, result: BoostResult, found: Calibration | None, other: Study | None) -> None:
    """The tables behind the surface and behind the sentence."""
    options = study.asked.options
    with st.container(horizontal=True, gap="small"):
        names = study.names(*study.correlated, "" if group == WHOLE else f"part {group}" if group != MEAN else "parts")
        download_csv(result.to_frame, "boost-surface", *names, key="boost-surface", label="Surface (CSV)")
        if found:
            names = study.names(*study.correlated, options.calibration, other.corpus.name if other else "")
            download_csv(found.to_frame, "boost-held-out", *names, key="boost-held-out", label="Held-out parts (CSV)")


if under_entry():
    draw(workspace())

"""Explain: which words a metric's score comes from, for systems A and B side by side."""

import streamlit as st

from components import services
from components.downloads import download_explanations
from components.explain.all_segments import show_all_segments
from components.explain.controls import explain_options, pick_explainer
from components.explain.notes import show_notes
from components.explain.panels import (
    REFERENCES_SHOWN,
    Side,
    explainer_rows,
    explainer_title,
    importance_scale,
    segment_rows,
    sides_of,
)
from components.explain.picked_word import HINT, show_picked
from components.explain.picture import segment_caption, segment_file
from components.explain.quality_table import show_quality
from components.explain.segment_picker import pick_segment, segment_place
from components.explain.token_diff import difference_rows
from components.explain.what_if import show_what_if
from components.heatmap import show_heatmap
from components.job_progress import await_result
from components.results import Outcome
from components.states import plain, segments_or_notice
from components.workspace import Workspace, under_entry, workspace
from engine.corpus.types import Corpus
from engine.explain.options import EXPLAINERS, ExplainOptions
from engine.explain.results import Explanations
from engine.metrics.base import Metric

VIEWS = {"heatmap": "Heatmap", "difference": "A \u2212 B", "explainers": "Three explainers", "what-if": "What if"}


def draw(work: Workspace) -> None:
    """The page from top to bottom."""
    st.title("Explain", anchor=False)
    corpus = segments_or_notice(work)
    if corpus is None:
        return
    metric = work.metric(corpus)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        segment = pick_segment(work, corpus)
        st.space("small")
        options = pick_explainer(work)
    views = [name for name in VIEWS if name != "difference" or len(corpus.systems) > 1]
    tie = work.bound("view", views)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.segmented_control("View", views, format_func=VIEWS.get, required=True, label_visibility="collapsed", **tie)
        st.caption(plain(segment_place(corpus, segment)), width="content")
    outcome = explain(work, corpus, metric, options, segment)
    if await_result(outcome, work, f"Explaining {metric.spec.name} with {explainer_title(options.explainer)}"):
        draw_view(work, corpus, metric, options, segment, outcome.value, work.one_of("view", views))
    st.subheader("All segments", anchor=False)
    show_all_segments(work, corpus, metric, options)


def explain(work: Workspace, corpus: Corpus, metric: Metric, options: ExplainOptions, segment: int) -> Outcome:
    """The explanations of one segment for A and B."""
    systems = list(dict.fromkeys(work.systems(corpus)))

    def run(progress):
        from engine.explain.explain import explain_corpus

        return explain_corpus(corpus, metric, options, services.scorer(), systems=systems, indices=[segment], progress=progress)

    key = ("explain", corpus.hash, metric.spec.signature, options, tuple(systems), segment)
    return work.compute(key, f"{explainer_title(options.explainer)} on {metric.spec.name}, segment {segment}", run)


def draw_view(
    work: Workspace, corpus: Corpus, metric: Metric, options: ExplainOptions, segment: int, found: Explanations, view: str
) -> None:
    """The chosen view of the explanations, then what is known of their quality, then the downloads."""
    sides = sides_of(found.entries)
    file = segment_file(corpus, metric.spec, options.explainer, segment)
    caption = segment_caption(corpus, metric.spec, options, segment)
    if view == "explainers":
        draw_explainers(work, corpus, metric, segment)
    elif view == "what-if":
        side = pick_system(work, sides)
        show_what_if(work, corpus, metric, options, side)
    elif view == "difference":
        rows, scale = difference_rows(corpus, segment, sides, metric.spec)
        result = show_heatmap(rows, scale, f"{file}-difference", "heatmap-difference", caption)
        show_picked(work, result, rows, scale, f"{corpus.hash} {segment} {view}")
    else:
        rows = segment_rows(corpus, segment, sides, metric.spec, references_shown(work, corpus))
        scale = importance_scale(sides, metric.spec, options.explainer)
        result = show_heatmap(rows, scale, file, "heatmap", caption)
        show_picked(work, result, rows, scale, f"{corpus.hash} {segment} {view}")
    show_notes(work, metric, sides)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        download_explanations(found, corpus, file, key="segment")
        st.caption(f"Signature: `{metric.spec.signature}`", width="content")
    if view in ("heatmap", "difference"):
        show_quality(work, corpus, metric, options, sides)


def draw_explainers(work: Workspace, corpus: Corpus, metric: Metric, segment: int) -> None:
    """Erasure, LIME and SHAP of one system's output, under one scale."""
    found = {}
    for name in EXPLAINERS:
        outcome = explain(work, corpus, metric, explain_options(work, name), segment)
        if await_result(outcome, work, f"Explaining with {explainer_title(name)}"):
            found[name] = outcome.value.entries
    if not found:
        return
    entries = next(iter(found.values()))
    side = pick_system(work, sides_of(entries))
    own = {name: next(item.explanation for item in items if item.system == side.system) for name, items in found.items()}
    rows = explainer_rows(corpus, segment, side, own, references_shown(work, corpus))
    scale = importance_scale([Side(side.tone, side.system, item) for item in own.values()], metric.spec, "")
    file = segment_file(corpus, metric.spec, "explainers", segment)
    caption = segment_caption(corpus, metric.spec, None, segment, side.system)
    show_heatmap(rows, scale, file, "heatmap-explainers", caption)
    st.caption(HINT)


def pick_system(work: Workspace, sides: list[Side]) -> Side:
    """A or B, where a view shows one system."""
    if len(sides) == 1:
        return sides[0]
    names = {side.tone: f"{side.tone.upper()} \u00b7 {plain(side.system)}" for side in sides}
    st.segmented_control(
        "System", names, format_func=names.get, required=True, label_visibility="collapsed", **work.bound("whose", list(names))
    )
    return next(side for side in sides if side.tone == work.one_of("whose", list(names)))


def references_shown(work: Workspace, corpus: Corpus) -> int:
    """How many references are drawn; all of them on request."""
    if corpus.reference_count <= REFERENCES_SHOWN:
        return corpus.reference_count
    hidden = corpus.reference_count - REFERENCES_SHOWN
    choice = {"few": f"The {REFERENCES_SHOWN} that matter most", "all": f"All {corpus.reference_count} ({hidden} more)"}
    st.segmented_control("References", choice, format_func=choice.get, required=True, **work.bound("references", list(choice)))
    return corpus.reference_count if work.view["references"] == "all" else REFERENCES_SHOWN


if under_entry():
    draw(workspace())

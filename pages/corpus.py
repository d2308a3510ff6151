"""Corpus: what was read, what is wrong with it, how the systems score."""

import streamlit as st

from components import services
from components.corpus.distributions import show_distributions
from components.corpus.segment_browser import show_segments
from components.corpus.upload import show_kept, show_upload
from components.findings import show_findings
from components.job_progress import await_result
from components.numbers import count
from components.results import Outcome
from components.score_table import NOT_HUMAN, best_first, show_intervals, show_scores
from components.sidebar import METRIC_TITLES, metric_title
from components.states import corpus_or_notice, plain
from components.workspace import Workspace, under_entry, workspace
from engine.corpus.types import Corpus
from engine.metrics.base import Metric, MetricSpec
from engine.metrics.registry import METRICS
from engine.scoring.systems import SystemScores, score_systems

QUICK = ("bleu", "chrf")
"""Metrics that are shown beside the chosen one unless others are asked for."""


def draw(work: Workspace) -> None:
    """The page from top to bottom."""
    st.title("Corpus", anchor=False)
    show_upload(work)
    corpus = corpus_or_notice(work)
    if corpus is None:
        return
    draw_facts(corpus)
    show_kept(work)
    show_findings(work.findings, key="corpus")
    a, b = work.systems(corpus)
    chosen = work.metric(corpus)
    names = draw_metric_choice(work, corpus)
    scores = {name: score(work, corpus, work.metric(corpus, name)) for name in names}
    ready = {work.metric(corpus, name).spec: outcome.value for name, outcome in scores.items() if outcome.done}
    if ready:
        show_scores(corpus, ready, a, b)
    for name, outcome in scores.items():
        if not outcome.done:
            await_result(outcome, work, f"Scoring with {metric_title(name)}")
    outcome = scores[work.view["metric"]]
    if outcome.done:
        draw_charts(work, corpus, chosen.spec, outcome.value, a, b)
    st.subheader("Segments", anchor=False)
    show_segments(work, corpus, outcome.value if outcome.done else None, chosen.spec, a, b)


def draw_facts(corpus: Corpus) -> None:
    """What the corpus is, in one line, and where its scores come from."""
    source, target = corpus.languages
    facts = [
        count(len(corpus), "segment"),
        count(len(corpus.systems), "system"),
        count(corpus.reference_count, "reference"),
        count(len(set(corpus.documents)), "document") if corpus.documents is not None else "",
        f"{source or '?'} \u2192 {target or '?'}" if source or target else "language not known",
        "" if corpus.sources is not None else "no sources",
    ]
    st.markdown(f"**{plain(corpus.name)}** :gray[\u00b7 " + " \u00b7 ".join(filter(None, facts)) + "]")
    if any(criterion.planted for criterion in corpus.criteria):
        st.caption(f":material/info: The scores that come with this sample are {NOT_HUMAN}.")


def draw_metric_choice(work: Workspace, corpus: Corpus) -> list[str]:
    """Which metrics the table shows: the chosen one first, then those picked here."""
    st.subheader("System scores", anchor=False)
    chosen = work.view["metric"]
    beside = [name for name in METRICS if name != chosen.partition(":")[0]]
    quick = QUICK if corpus.reference_count else ()
    current = work.view["metrics"] or tuple(name for name in quick if name in beside)
    st.pills(
        "Metrics beside the chosen one",
        beside,
        selection_mode="multi",
        format_func=lambda name: METRIC_TITLES.get(name, name).partition(" (")[0],
        **work.bound("metrics", beside, show=lambda _: current),
    )
    return [chosen, *(name for name in current if name in beside)]


def score(work: Workspace, corpus: Corpus, metric: Metric) -> Outcome:
    """The scores of all systems under one metric."""

    def run(progress):
        return score_systems(corpus, [metric], services.scorer(), progress=progress)

    return work.compute(("scores", corpus.hash, metric.spec.signature), f"{metric.spec.name} of all systems", run)


def draw_charts(work: Workspace, corpus: Corpus, spec: MetricSpec, found: SystemScores, a: str, b: str) -> None:
    """The chosen metric in charts: intervals and distributions."""
    with st.grid(2, min_column_width=340, gap="medium"):
        with st.container():
            st.subheader(f"{spec.name} with its uncertainty", anchor=False)
            show_intervals(corpus, found, spec, a, b)
        with st.container():
            st.subheader("Segment scores", anchor=False)
            segments = {name: found.segments[spec.id][name] for name in best_first(found, spec)}
            show_distributions(work, corpus, segments, spec, a, b)


if under_entry():
    draw(workspace())

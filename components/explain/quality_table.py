"""How far an explanation can be trusted: stability under another seed, faithfulness against random words."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components import services
from components.explain.panels import Side
from components.job_progress import await_result
from components.numbers import decimals, number, signed
from components.states import plain
from components.workspace import Workspace
from engine.corpus.types import Corpus
from engine.explain.options import ExplainOptions
from engine.explain.quality import DETERMINISTIC, Faithfulness, Stability, faithfulness, stability
from engine.metrics.base import Metric, MetricSpec
from engine.progress import Progress, part

STABILITY_HELP = (
    "Rank correlation (Spearman) between the importances of two seeds, over all words: 1 is the same order, 0 is chance."
)
FAITHFULNESS_HELP = (
    "How much worse the score gets when the fifth of the words that help it most is removed than when as many random words are; "
    "the mean over hypothesis, references and source. Above 0: the words matter as the explanation says."
)
COLOURS = {"a": "orange", "b": "blue"}


def show_quality(work: Workspace, corpus: Corpus, metric: Metric, options: ExplainOptions, sides: Sequence[Side]) -> None:
    """Draw stability and faithfulness of the explanations on the page."""
    segments = [side.explanation.segment for side in sides]
    explanations = [side.explanation for side in sides]

    def measure(progress: Progress) -> tuple[list[Stability], list[Faithfulness]]:
        stable = stability(segments, metric, options, services.scorer(), part(progress, 0, 2, 3))
        return stable, faithfulness(explanations, metric, services.scorer(), part(progress, 2, 3, 3))

    key = ("quality", metric.spec.signature, options, tuple(segments))
    title = f"Stability and faithfulness, segment {work.view['segment']}"
    outcome = work.compute(key, title, measure, patience=0.3)
    if not await_result(outcome, work, "Measuring stability and faithfulness"):
        return
    with st.grid(len(sides), min_column_width=300):
        for side, stable, faithful in zip(sides, *outcome.value, strict=True):
            with st.container(border=True):
                _one_system(side, stable, faithful, metric.spec)


def _one_system(side: Side, stable: Stability, faithful: Faithfulness, spec: MetricSpec) -> None:
    st.markdown(f":{COLOURS[side.tone]}-badge[{side.tag}] **{plain(side.system)}**" if side.tag else f"**{plain(side.system)}**")
    left, right = st.columns(2)
    with left:
        if stable.undefined == DETERMINISTIC:
            _fact("Stability", "exact", STABILITY_HELP, "The importances do not depend on the seed.")
        elif stable.undefined:
            _fact("Stability", "not defined", STABILITY_HELP, _sentence(stable.undefined))
        else:
            _fact("Stability", number(stable.spearman), STABILITY_HELP, "Rank correlation with another seed.")
    with right:
        if faithful.undefined:
            _fact("Faithfulness", "not defined", FAITHFULNESS_HELP, _sentence(faithful.undefined))
        else:
            places = decimals(max(abs(faithful.top), abs(faithful.random)))
            top, random = (_change(loss, places, spec.higher_is_better) for loss in (faithful.top, faithful.random))
            falls = f"{plain(spec.name)} {top} without the top words, {random} without random ones."
            _fact("Faithfulness", signed(faithful.difference, places), FAITHFULNESS_HELP, falls)


def _change(loss: float, places: int, higher_is_better: bool) -> str:
    return f"{'drops' if (loss >= 0) == higher_is_better else 'rises'} by {number(abs(loss), places)}"


def _fact(label: str, value: str, help: str, note: str) -> None:
    with st.container(gap=None):
        st.metric(label, value, help=help)
        st.caption(note)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."

"""Explain every segment: a background job, then the words that matter most and the downloads."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from components import services
from components.downloads import download_explanations, file_name
from components.explain.panels import explainer_title
from components.job_progress import await_result
from components.numbers import count, decimals
from components.tables import show_table
from components.workspace import Workspace
from engine.corpus.types import Corpus
from engine.explain.options import ExplainOptions
from engine.explain.results import Explanations
from engine.metrics.base import Metric

WORDS_SHOWN = 200


def show_all_segments(work: Workspace, corpus: Corpus, metric: Metric, options: ExplainOptions) -> None:
    """Draw the choice of systems, the button, and what came of it."""
    names = list(corpus.systems)
    both = list(dict.fromkeys(work.systems(corpus)))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = st.multiselect("Systems", names, default=both, key=f"all-systems-{corpus.hash}-{'-'.join(both)}")
        asked = ("all", corpus.hash, metric.spec.signature, options, tuple(chosen))
        started = work.drafts.setdefault("started", set())
        label = f"Explain all {count(len(corpus), 'segment')}"
        st.button(
            label,
            type="primary",
            key="explain-all",
            icon=":material/play_arrow:",
            disabled=not chosen or asked in started,
            on_click=started.add,
            args=(asked,),
        )
    if not chosen:
        st.caption("Choose at least one system.")
        return
    if asked not in started:
        st.caption(_expected(corpus, metric, options, chosen))
        return

    def explain(progress) -> Explanations:
        from engine.explain.explain import explain_corpus

        return explain_corpus(corpus, metric, options, services.scorer(), systems=chosen, progress=progress)

    title = f"{explainer_title(options.explainer)} on {metric.spec.name}, all segments"
    outcome = work.compute(asked, title, explain, long=True)
    if await_result(outcome, work, title):
        _show_words(work, outcome.value, metric)
        file = file_name("explain", corpus.name, metric.spec.id, options.explainer)
        download_explanations(outcome.value, corpus, file, key="all")


def _expected(corpus: Corpus, metric: Metric, options: ExplainOptions, systems: list[str]) -> str:
    """How much work it will be, from a sample of the segments when there are many."""
    from engine.explain.explain import evaluations

    sample = range(0, len(corpus), max(1, len(corpus) // 200))
    segments = [corpus.segment(place, name) for place in sample for name in systems]
    total = round(evaluations(segments, metric, options) * len(corpus) / max(1, len(sample)))
    about = "about " if len(sample) < len(corpus) else "at most "
    cost = f"{about.capitalize()}{count(total, 'text')} to score."
    return f"{cost} Runs in the background; other pages stay usable, and a cancelled run resumes."


def _show_words(work: Workspace, found: Explanations, metric: Metric) -> None:
    """Words by their mean importance in the outputs, per system."""
    undefined = sum(entry.explanation.undefined is not None for entry in found.entries)
    words = work.latest("word table", id(found), lambda: word_table(found))
    repeated = words[words["occurrences"] > 1]
    words = (repeated if len(repeated) else words).sort_values("mean", ascending=metric.spec.higher_is_better)
    costly = len(words) and words["mean"].iloc[0] * (1 if metric.spec.higher_is_better else -1) < 0
    where = " (in at least two places)" if len(repeated) else ""
    st.markdown(f"**Words of the outputs that {'cost the most' if costly else 'help the least'} on average**{where}")
    places = decimals(float(words["mean"].abs().max())) if len(words) else 2
    form = st.column_config.NumberColumn
    show_table(
        words.head(WORDS_SHOWN),
        height="content" if len(words) < 7 else 260,
        alt="Words of the outputs by mean importance",
        column_order=None if metric.spec.higher_is_better else ["word", "system", "occurrences", "mean"],
        config={
            "word": st.column_config.TextColumn("Word"),
            "system": st.column_config.TextColumn("System"),
            "occurrences": form("Places"),
            "mean": form(f"Mean importance ({metric.spec.name})", format=f"%.{places}f"),
            "lowest": form("Lowest importance", format=f"%.{places}f"),
        },
    )
    done = f"{count(len(found.entries), 'output')} explained"
    st.caption(done + (f"; {count(undefined, 'is', 'are')} undefined" if undefined else "") + ".")


def word_table(found: Explanations) -> pd.DataFrame:
    """Words of the outputs per system, whatever their case: word, system, occurrences, mean and lowest importance."""
    parts = []
    for frame in found.frames():
        outputs = frame[frame["side"] == "hypothesis"].dropna(subset=["importance"])
        keyed = outputs.assign(word=outputs["word"].str.casefold()).groupby(["word", "system"])["importance"]
        parts.append(keyed.agg(["size", "sum", "min"]).reset_index())
    joined = pd.concat(parts, ignore_index=True).groupby(["word", "system"], as_index=False)
    words = joined.agg(occurrences=("size", "sum"), total=("sum", "sum"), lowest=("min", "min"))
    words["mean"] = words["total"] / words["occurrences"]
    return words[["word", "system", "occurrences", "mean", "lowest"]]

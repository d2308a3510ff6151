"""What if: edit the hypothesis or a reference, and see score and heatmap follow."""

from __future__ import annotations

import streamlit as st

from components import services
from components.editor import Field, live_editor
from components.explain.panels import Side, explainer_title, importance_scale, side_title
from components.explain.picked_word import HINT
from components.explain.picture import segment_caption, segment_file
from components.heatmap import Panel, show_heatmap
from components.job_progress import await_result
from components.numbers import number, score_places, signed
from components.workspace import Workspace
from engine.corpus.types import Corpus, Segment
from engine.explain.options import ExplainOptions
from engine.explain.results import Explanation
from engine.metrics.base import Metric


@st.fragment
def show_what_if(work: Workspace, corpus: Corpus, metric: Metric, options: ExplainOptions, side: Side) -> None:
    """Draw the editor, the new score beside the old one, and the heatmap of the edited texts."""
    segment = side.explanation.segment
    texts = live_editor(_fields(corpus, segment), key="what-if")
    edited = Segment(
        texts.get("source", segment.source),
        tuple(texts.get(f"reference:{place}", text) for place, text in enumerate(segment.references)),
        texts["hypothesis"],
    )

    def explain(progress) -> Explanation:
        from engine.explain.explain import explain_segments

        return explain_segments([edited], metric, options, services.scorer(), progress)[0]

    key = ("what-if", metric.spec.signature, options, edited)
    outcome = work.compute(key, "What if", explain, patience=2.0)
    if await_result(outcome, work, f"Explaining with {explainer_title(options.explainer)}", poll=True):
        _show_result(work, corpus, metric, options, side, outcome.value)


def _fields(corpus: Corpus, segment: Segment) -> list[Field]:
    source_language, target_language = (code or "" for code in corpus.languages)
    fields = [Field("hypothesis", "Hypothesis", segment.hypothesis or "", lang=target_language)]
    for place, text in enumerate(segment.references[:4]):
        label = side_title(f"reference:{place}", len(segment.references))
        fields.append(Field(f"reference:{place}", label, text, lang=target_language))
    if segment.source is not None:
        fields.append(Field("source", "Source", segment.source, lang=source_language))
    return fields


def _show_result(
    work: Workspace, corpus: Corpus, metric: Metric, options: ExplainOptions, side: Side, found: Explanation
) -> None:
    places = score_places(metric.spec.range)
    before, after = side.explanation.score, found.score
    left, middle, right = st.columns(3)
    left.metric(f"{metric.spec.name}, original", number(before, places))
    middle.metric(f"{metric.spec.name}, edited", number(after, places), border=False)
    right.metric("Change", signed(after - before, places))
    if found.undefined:
        st.info(f"{found.undefined[:1].upper()}{found.undefined[1:]}.", icon=":material/info:")
    panels = [
        [
            Panel(
                item.side,
                item.side,
                item.text,
                item.words,
                None if found.undefined else item.importances,
                side.tone if item.side == "hypothesis" else "",
                "",
                "",
                side_title(item.side, len(found.segment.references)),
                language=corpus.languages[0 if item.side == "source" else 1] or "",
            )
        ]
        for item in found.sides
    ]
    scale = importance_scale([Side(side.tone, side.system, found)], metric.spec, options.explainer)
    place = work.view["segment"]
    file = segment_file(corpus, metric.spec, options.explainer, place)
    caption = segment_caption(corpus, metric.spec, options, place, f"{side.system}, edited")
    show_heatmap(panels, scale, f"{file}-edited", "heatmap-what-if", caption)
    st.caption(HINT)

"""The segments behind a bar: those that cost the score most, the feature's words marked, masked texts on demand."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

import streamlit as st

from components import services
from components.downloads import download_csv
from components.features.names import feature_title, feature_words
from components.features.rows import FeatureRow
from components.features.runs import Found, Study
from components.features.text import folded, lone_spans, masked_row, style, text_row
from components.job_progress import await_result
from components.numbers import count, decimals, number, score_places
from components.states import plain
from engine.muler.features import Feature
from engine.muler.reasons import Disagreement, disagreements
from engine.muler.segments import FeatureSegment, FeatureSegments, Span, scored_as_text, scored_texts, word_spans

PER_PAGE = 6
NOTHING = 1e-12
"""Up to where a contribution is 0 but for rounding."""
ENDS = {"most": "Largest loss first", "least": "Smallest first"}
DISAGREEMENTS = 12
REFERENCES_SHOWN = 2
MASKS = (
    "Masks are written for reading here. As scored, those of X and Y have nothing in common, so scoring these lines gives other "
    "numbers."
)


def pick_feature(study: Study, rows: Sequence[FeatureRow]) -> FeatureRow:
    """Draw the choice of the feature (the way to a bar by keyboard) and of the system."""
    work = study.work
    known = {row.feature.id: row for row in rows}
    names = list(known)
    titles = {name: f"{feature_title(row.feature)} \u00b7 {name}" for name, row in known.items()}
    restart = {"then": lambda: work.set(leaf=1)}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.selectbox("Feature", names, format_func=titles.get, width=300, **work.bound("feature", names, **restart))
        if len(study.systems) > 1:
            sides = {tag.lower(): f"{tag} \u00b7 {plain(name)}" for tag, name in zip("AB", study.systems)}
            st.segmented_control(
                "System", sides, format_func=sides.get, required=True, **work.bound("whose", list(sides), **restart)
            )
        st.segmented_control("Order", ENDS, format_func=ENDS.get, required=True, **work.bound("ends", list(ENDS), **restart))
    return known.get(work.view["feature"], rows[0])


def show_segments(study: Study, found: Found, row: FeatureRow) -> None:
    """Draw one page of the segments in which the chosen system loses by the feature."""
    whose = study.work.view["whose"] if len(study.systems) > 1 else "a"
    place = 1 if whose == "b" else 0
    score = row.scores[place]
    if score.reason:
        st.info(plain(f"{score.system}: {score.reason}."), icon=":material/info:")
    if not score.in_references + score.in_output:
        return
    outcome = study.segments(row.feature, score.system, found.families)
    if not await_result(outcome, study.work, f"Looking for {feature_words(row.feature)} in {plain(score.system)}"):
        return
    segments: FeatureSegments = outcome.value
    if not segments.total:
        st.caption("No sentence has it on both sides, so there is nothing to mask.")
        return
    ordered = list(segments.segments)
    if study.work.view["ends"] == "least":
        ordered.sort(key=lambda item: (isnan(item.contribution), item.contribution))
    pages = -(-len(ordered) // PER_PAGE)
    page = min(max(study.work.view["leaf"], 1), pages)
    _say(study, row.feature, segments)
    st.html(style())
    shown = ordered[(page - 1) * PER_PAGE : page * PER_PAGE]
    others = _others(study, segments, shown, 1 - place)
    for item, other in zip(shown, others, strict=True):
        _card(study, segments, item, place, other)
    if pages > 1:
        turn = study.work.tied("features-leaf", page, lambda chosen: study.work.set(leaf=chosen), preset=False)
        st.pagination(pages, default=page, **turn)
    _show_scored(study, segments)
    _show_disagreements(study, segments)


def _show_scored(study: Study, segments: FeatureSegments) -> None:
    """A button for all masked texts of the feature as the metric gets them, so that others can score them too."""
    if scored_as_text(study.metric):
        download_csv(
            lambda: study.corpus.with_ids(scored_texts(segments, study.metric, services.scorer())),
            "features-masked-texts",
            *study.names,
            segments.system,
            segments.feature.id,
            key="features-masked",
            label="Masked texts as scored (CSV)",
        )


def _say(study: Study, feature: Feature, segments: FeatureSegments) -> None:
    losing = sum(item.contribution > NOTHING for item in segments.segments)
    move = "rise" if study.metric.spec.higher_is_better else "fall"
    name = plain(study.metric.spec.name)
    words = plain(feature_words(feature))
    effect = f"with these right, {name} would {move} in {losing:,} of them" if losing else f"none of them costs {name} anything"
    st.caption(
        f"{count(segments.total, 'segment')} of {plain(segments.system)} with {words}; {effect}. "
        f"First number: by how much {name} of all these together would {move} if the segment alone were right. "
        "Strong marks: words that the other side lacks."
    )


def _others(study: Study, segments: FeatureSegments, shown: Sequence[FeatureSegment], place: int) -> list[tuple[Span, ...]]:
    """Where the feature is in the outputs of the other system."""
    if len(study.systems) < 2:
        return [()] * len(shown)
    outputs = [study.corpus.systems[study.systems[place]][item.segment] for item in shown]
    known = word_spans(segments._prepared, segments.feature, [text for text in outputs if text is not None])
    spans = iter(known)
    return [next(spans) if text is not None else () for text in outputs]


def _card(study: Study, segments: FeatureSegments, item: FeatureSegment, place: int, other: tuple[Span, ...]) -> None:
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
            st.markdown(_title(study, item), width="stretch")
            st.button(
                "Explain",
                key=f"features-explain-{item.segment}",
                icon=":material/format_color_text:",
                type="tertiary",
                on_click=study.work.go,
                args=("explain",),
                kwargs={"segment": item.segment, "whose": "ab"[place]},
            )
        st.html(_texts(study, segments, item, place, other))


def _title(study: Study, item: FeatureSegment) -> str:
    """Which segment it is, what it costs, and its own scores."""
    spec, ids = study.metric.spec, study.corpus.ids
    places = score_places(spec.range)
    name = f" \u00b7 {plain(ids[item.segment])}" if ids and ids[item.segment] != str(item.segment) else ""
    gain = number(item.contribution, max(places, decimals(abs(item.contribution), 2)))
    name += f" \u00b7 **{gain}** :gray[{plain(spec.name)} to {'gain' if spec.higher_is_better else 'save'}"
    own = (number(value, places) for value in (item.score, item.oracle, item.anti_oracle))
    scores = "{}, if right {}, if wrong {}".format(*own)
    return f"**Segment {item.segment}**{name} \u00b7 by itself {scores}]"


def _texts(study: Study, segments: FeatureSegments, item: FeatureSegment, place: int, other: tuple[Span, ...]) -> str:
    """The card's texts: references, both outputs; further references and the masked versions folded away."""
    corpus, language = study.corpus, study.corpus.languages[1] or ""
    references = corpus.segment(item.segment, segments.system).references
    output = corpus.systems[segments.system][item.segment] or ""
    held = list(zip(references, item.references))
    rows = []
    for number_of, (text, spans) in enumerate(zip(references, item.references), 1):
        who = "Reference" + (f" {number_of}" if len(references) > 1 else "")
        rows.append(text_row(who, "", text, spans, lone_spans(text, spans, [(output, item.output)]), "", language))
    fullest = sorted(range(len(rows)), key=lambda number_of: -len(item.references[number_of]))[:REFERENCES_SHOWN]
    shown = [rows[number_of] for number_of in sorted(fullest)]
    hidden = [row for number_of, row in enumerate(rows) if number_of not in fullest]
    for side, name in enumerate(study.systems):
        text, spans = corpus.systems[name][item.segment], item.output if side == place else other
        shown.append(text_row(name, "AB"[side], text, spans, lone_spans(text or "", spans, held), "ab"[side], language))
    if hidden:
        shown.append(folded(f"{count(len(hidden), 'more reference')}", hidden))
    shown.append(folded("Masked texts: oracle and anti-oracle", _masked(study, segments, item, place), MASKS))
    return f'<div class="fx">{"".join(shown)}</div>'


def _masked(study: Study, segments: FeatureSegments, item: FeatureSegment, place: int) -> list[str]:
    """Both masked versions of references and output."""
    rows = []
    for title, oracle in (("if right", True), ("if wrong", False)):
        masked = segments.masked(item.segment, oracle)
        texts = [("Reference", text) for text in masked.references] + [(study.systems[place], masked.hypothesis)]
        rows += [masked_row(f"{who}, {title}", text, segments.feature.name) for who, text in texts]
    return rows


def _show_disagreements(study: Study, segments: FeatureSegments) -> None:
    """Words that the tagger reads as the feature on one side only."""
    found = study.work.latest(
        "features disagreements", (*study.key, segments.feature, segments.system), lambda: _disagreements(segments)
    )
    if not found:
        return
    more = " or more" if len(found) == DISAGREEMENTS else ""
    title = f"Where the tagger reads the same word differently ({count(len(found), 'word')}{more})"
    with st.expander(title, icon=":material/alt_route:", key="features-disagreements"):
        st.caption("Such words count as missed or added although both sides have them; they can push a value below 0.")
        st.markdown("\n".join(f"- {plain(str(item))}" for item in found))


def _disagreements(segments: FeatureSegments) -> list[Disagreement]:
    prepared = segments._prepared
    rows = prepared.rows(prepared.counts(segments.feature, segments.system))
    cover = prepared.cover(segments.feature)
    return disagreements(segments.feature, prepared.table, prepared.texts, cover, segments.system, rows, DISAGREEMENTS)

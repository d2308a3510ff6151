"""Features: which words and signs a score is lost at (MuLER), for A and B, for all systems, and in which segments."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.features.chart import show_bars, show_legend
from components.features.controls import pick
from components.features.map import coefficient_of, show_map, show_map_downloads
from components.features.rows import PER_PAGE, FeatureRow, feature_rows
from components.features.runs import Found, Study, may_start
from components.features.segments import pick_feature, show_segments
from components.features.sentence import show_answer
from components.features.tables import show_downloads, show_lexicons, show_missing, show_numbers, show_odd, show_undefined
from components.features.view import pick_view
from components.job_progress import await_result
from components.states import plain, segments_or_notice, show_empty
from components.workspace import Workspace, under_entry, workspace
from engine.muler.features import Feature


def draw(work: Workspace) -> None:
    """The page from top to bottom."""
    st.title("Features", anchor=False)
    corpus = segments_or_notice(work)
    if corpus is None:
        return
    if not any(text is not None for references in corpus.references for text in references):
        remedy = "MuLER masks words in output and reference. Upload a reference with the outputs on the page Corpus."
        show_empty("The corpus has no references", remedy, ":material/compare_arrows:")
        return
    answer = st.container(key="features-answer")
    asked = pick(work)
    if not asked.families:
        show_empty("No features are chosen", "Choose one or more kinds of features above.", ":material/category:")
        return
    systems = tuple(dict.fromkeys(work.systems(corpus)))
    chosen = pick_view(work, len(corpus.systems))
    study = Study(work, corpus, work.metric(corpus), asked, systems)
    if not may_start(study):
        return
    outcome = study.breakdown()
    if await_result(outcome, work, f"Breaking {plain(study.metric.spec.name)} down by feature"):
        draw_found(study, outcome.value, answer, chosen)


def draw_found(study: Study, found: Found, answer: DeltaGenerator, chosen: tuple[str, str, str]) -> None:
    """The sentence, the chosen view, the segments behind one feature."""
    work, breakdown = study.work, found.breakdown
    show_missing(study, found)
    if not breakdown.rows:
        show_empty("None of these features is in the texts", "Choose other kinds of features above.")
        return
    pair = len(study.systems) > 1
    kept = work.latest("features differences", study.key, lambda: study.differences(breakdown))
    with answer:
        show_answer(study, breakdown, kept.get("muler"))
    show, value, order = chosen
    by = "abl_muler" if value == "abl_muler" else "muler"
    rows = feature_rows(breakdown, study.systems, kept.get(by) if pair else None, by, order)
    if show == "systems":
        draw_systems(study, by, [row.feature for row in rows])
    else:
        draw_pair(study, found, rows, show, value)
    st.subheader("Segments behind a feature", anchor=False)
    show_segments(study, found, pick_feature(study, rows))


def draw_pair(study: Study, found: Found, rows: list[FeatureRow], show: str, value: str) -> None:
    """A and B: bars or the table, what is odd or undefined, the downloads."""
    known = [row for row in rows if row.defined]
    if show == "table":
        show_numbers(study, rows)
    elif known:
        sheet, sheets = sheet_of(study.work, known)
        chosen = study.work.view["feature"] or rows[0].feature.id
        show_bars(study, sheet, value, chosen)
        draw_turn(study.work, sheets)
        show_legend(study, value)
        show_odd(sheet)
    show_undefined(rows)
    show_lexicons(study, found.breakdown)
    show_downloads(study, found.breakdown)


def draw_systems(study: Study, value: str, order: list[Feature]) -> None:
    """All systems of the corpus: the heat map and its downloads."""
    everyone = study.of(tuple(study.corpus.systems))
    if not may_start(everyone):
        return
    outcome = everyone.breakdown(long=len(everyone.systems) > 2)
    if not await_result(outcome, study.work, f"Breaking {len(everyone.systems)} systems down by feature"):
        return
    breakdown = outcome.value.breakdown
    features = [
        *(item for item in order if item in breakdown.features),
        *(item for item in breakdown.features if item not in order),
    ]
    coefficient = coefficient_of(study.work)
    sheet, sheets = sheet_of(study.work, features)
    show_map(everyone, breakdown, sheet, value, coefficient)
    draw_turn(study.work, sheets)
    show_map_downloads(everyone, breakdown, value, coefficient)


def sheet_of(work: Workspace, rows: list) -> tuple[list, int]:
    """The part of a long list of features that is on the screen, and into how many it is cut."""
    sheets = max(1, -(-len(rows) // PER_PAGE))
    sheet = min(max(work.view["sheet"], 1), sheets)
    return rows[(sheet - 1) * PER_PAGE : sheet * PER_PAGE], sheets


def draw_turn(work: Workspace, sheets: int) -> None:
    """The way to the other features, where there are more than fit."""
    if sheets > 1:
        sheet = min(max(work.view["sheet"], 1), sheets)
        turn = work.tied("features-sheet", sheet, lambda chosen: work.set(sheet=chosen), preset=False)
        st.pagination(sheets, default=sheet, **turn)


if under_entry():
    draw(workspace())

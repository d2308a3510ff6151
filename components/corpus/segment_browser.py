"""The segment table: search, filter, sort, page; a click on a row opens Explain at that segment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from components.corpus.segment_rows import ROWS_PER_PAGE, SORTS, SegmentRows, Wanted
from components.downloads import download_csv
from components.numbers import count, score_places
from components.score_table import criterion_column, criterion_title
from components.states import show_empty
from components.tables import picked_row, show_table, title_width
from components.workspace import Workspace
from engine.corpus.types import SYSTEM_LEVEL, Corpus
from engine.metrics.base import MetricSpec
from engine.scoring.systems import SystemScores

MODES = {"outputs": "All outputs", "pairs": "A beside B"}
Reasons = Mapping[str, Sequence[str | None]] | None
"""Why scores are undefined, by system and segment; None while there are no scores."""


def show_segments(work: Workspace, corpus: Corpus, found_scores: SystemScores | None, spec: MetricSpec, a: str, b: str) -> None:
    """Draw the controls and one page of the table; without scores while they are on their way."""
    if found_scores is None:
        scores, reasons = {name: np.full(len(corpus), np.nan) for name in corpus.systems}, None
    else:
        scores, reasons = found_scores.segments[spec.id], found_scores.reasons[spec.id]
    known = spec.signature if found_scores is not None else ""
    made = ("segment rows", corpus.hash, known)
    rows = work.latest("segment rows", made, lambda: SegmentRows(corpus, scores, spec.higher_is_better))
    paired = _controls(work, corpus, spec)
    wanted = Wanted(work.view["find"], work.view["only"], _bound(work.view["low"]), _bound(work.view["high"]), work.view["sort"])
    key = ("rows", corpus.hash, known, a, b, paired, wanted)
    found = work.latest("rows", key, lambda: rows.select_pairs(wanted, a, b) if paired else rows.select(wanted, a, b))
    total = len(found) if paired else len(found[0])
    if not total:
        show_empty("No segment matches", "Change the search, the systems or the range of scores.")
        st.button("Clear filters", on_click=_clear, args=(work,), key="clear-filters")
        return
    pages = -(-total // ROWS_PER_PAGE)
    page = min(max(work.view["page"], 1), pages)
    part = slice((page - 1) * ROWS_PER_PAGE, page * ROWS_PER_PAGE)
    if paired:
        segments = found[part]
        frame, systems = rows.pair_frame(segments, a, b), None
    else:
        systems, segments = found[0][part], found[1][part]
        frame = _outputs(rows, found[0][part], found[1][part], reasons)
        if len(rows.systems) == 1:
            frame = frame.drop(columns="system")
    _table(work, corpus, frame, systems, segments, spec)
    whole = _whole(rows, found, paired, (a, b), reasons, spec)
    _foot(work, whole, (corpus.name, spec.id), count(total, "segment" if paired else "output"), pages, page)


def _controls(work: Workspace, corpus: Corpus, spec: MetricSpec) -> bool:
    restart = {"then": lambda: work.set(page=1)}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input(
            "Search",
            placeholder="text in source, reference or output",
            icon=":material/search:",
            width=280,
            live=True,
            **work.bound("find", **restart),
        )
        alone = len(corpus.systems) == 1
        if not alone:
            st.segmented_control(
                "Rows", MODES, format_func=MODES.get, required=True, **work.bound("rows", list(MODES), **restart)
            )
        sorts = [name for name in SORTS if not (alone and name.startswith("gap"))]
        st.selectbox("Order", sorts, format_func=SORTS.get, width=230, **work.bound("sort", sorts, **restart))
        narrowed = bool(work.view["only"] or work.view["low"] or work.view["high"])
        with st.popover("Filters", icon=":material/filter_alt:" if narrowed else ":material/filter_list:"):
            names = list(corpus.systems)
            if not alone:
                st.multiselect("Systems", names, placeholder="all systems", **work.bound("only", names, **restart))
            left, right = st.columns(2)
            left.text_input(f"{spec.name} from", placeholder="lowest", **work.bound("low", **restart))
            right.text_input(f"{spec.name} to", placeholder="highest", **work.bound("high", **restart))
        if narrowed or work.view["find"]:
            st.button("Clear", icon=":material/filter_alt_off:", type="tertiary", key="clear", on_click=_clear, args=(work,))
    return work.view["rows"] == "pairs" and not alone


def _clear(work: Workspace) -> None:
    work.set(find="", only=(), low="", high="", page=1)


def _bound(text: str) -> float | None:
    """A bound of the score as typed; a decimal comma is understood, anything else is no bound and says so."""
    if not text.strip():
        return None
    try:
        return float(text.replace(",", ".").replace("\u2212", "-"))
    except ValueError:
        st.caption(f":red[The range of scores needs numbers; this is not one and is left out: {text!r}]")
        return None


def _human(corpus: Corpus, systems: Sequence[str]) -> dict[str, np.ndarray]:
    """Scores that come with the corpus, float64[n_systems, n_segments] per criterion; NaN where there is none."""
    found = {}
    own = corpus.human[corpus.human["segment"] != SYSTEM_LEVEL]
    for criterion in corpus.criteria:
        part = own[(own["criterion"] == criterion.name) & own["system"].isin(list(systems))]
        if len(part):
            values = np.full((len(systems), len(corpus)), np.nan)
            values[
                part["system"].map({name: place for place, name in enumerate(systems)}).to_numpy(), part["segment"].to_numpy()
            ] = part["score"]
            found[criterion_title(criterion)] = values
    return found


def _outputs(rows: SegmentRows, systems: np.ndarray, segments: np.ndarray, reasons: Reasons) -> pd.DataFrame:
    """Beside undefined scores, why they are undefined; without the scores where there are none yet."""
    frame = rows.output_frame(systems, segments, _human(rows.corpus, rows.systems))
    if reasons is None:
        return frame.drop(columns="score")
    if frame["score"].isna().any():
        whys = [reasons[system][segment] or "" for system, segment in zip(frame["system"], frame["segment"], strict=True)]
        frame.insert(int(frame.columns.get_loc("score")) + 1, "why no score", whys)
    return frame


def _table(work: Workspace, corpus: Corpus, frame: pd.DataFrame, systems, segments: np.ndarray, spec: MetricSpec) -> None:
    names = list(corpus.systems)

    def open_row() -> None:
        row = picked_row(work, "segments")
        if row is not None:
            chosen = {} if systems is None else _beside(work, names[systems[row]])
            work.go("explain", segment=int(segments[row]), **chosen)

    show_table(
        frame,
        _columns(frame, corpus, spec),
        height=460 if len(frame) > 12 else "content",
        key="segments",
        on_select=open_row,
        selection_mode=["single-row", "single-cell"],
        alt="Segments with scores and texts; choose a row to explain it",
    )


def _columns(frame: pd.DataFrame, corpus: Corpus, spec: MetricSpec) -> dict[str, Any]:
    """How each column of the table is titled and written."""
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    plain, signed = (f"%{sign}.{score_places(spec.range)}f" for sign in ("", "+"))
    fixed = {
        "segment": number("Segment", width=70),
        "id": text("Id"),
        "document": text("Document"),
        "system": text("System"),
        "why no score": text("Why no score", width=280),
        "score": number(spec.name, format=plain, width=title_width(spec.name)),
        "score A": number(f"{spec.name} A", format=plain, width=title_width(f"{spec.name} A")),
        "score B": number(f"{spec.name} B", format=plain, width=title_width(f"{spec.name} B")),
        "A \u2212 B": number(format=signed, width=80),
    }
    config = {name: column for name, column in fixed.items() if name in frame}
    others = frame.columns.difference(list(fixed))
    own = {criterion_title(criterion): criterion for criterion in corpus.criteria}
    for name in others:
        if name in own:
            config[name] = criterion_column(own[name], len(own) > 1)
        else:
            config[name] = text(name[:1].upper() + name[1:], width="large")
    return config


def _beside(work: Workspace, system: str) -> dict[str, str]:
    """Make the system of the chosen row A, unless it is on the page already."""
    if system in (work.view["a"], work.view["b"]):
        return {"whose": "a" if system == work.view["a"] else "b"}
    return {"a": system, "whose": "a"}


def _whole(
    rows: SegmentRows, found, paired: bool, pair: tuple[str, str], reasons: Reasons, spec: MetricSpec
) -> Callable[[], pd.DataFrame]:
    """All rows as they are saved: with the names of A and B, and with metric and signature where there are scores."""

    def make() -> pd.DataFrame:
        frame = rows.pair_frame(found, *pair) if paired else _outputs(rows, *found, reasons)
        first = "score A" if paired else "score"
        if paired:
            for name, system in zip(("system A", "system B"), pair, strict=True):
                frame.insert(int(frame.columns.get_loc(first)), name, system)
        if reasons is None:
            return frame.drop(columns=["score A", "score B", "A \u2212 B"]) if paired else frame
        frame.insert(int(frame.columns.get_loc(first)), "metric", spec.id)
        return frame.assign(signature=spec.signature)

    return make


def _foot(work: Workspace, whole: Callable[[], pd.DataFrame], name: tuple[str, str], amount: str, pages: int, page: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", horizontal_alignment="distribute"):
        with st.container(horizontal=True, vertical_alignment="center", gap="medium", width="content"):
            download_csv(whole, "segments", *name, key="segments")
            st.caption(f"{amount} \u00b7 choose a row to explain it", width="content")
        if pages > 1:
            turn = work.tied("page", page, lambda chosen: work.set(page=chosen), preset=False)
            st.pagination(pages, default=page, **turn)

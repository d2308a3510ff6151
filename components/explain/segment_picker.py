"""Which segment is on the page: previous, next, by number, by text."""

from __future__ import annotations

import streamlit as st

from components.numbers import count
from components.states import plain
from components.workspace import Workspace
from engine.corpus.types import Corpus

FOUND_SHOWN = 30


def pick_segment(work: Workspace, corpus: Corpus) -> int:
    """Draw the picker, and return the segment, counted from 0 as in every export."""
    last = len(corpus) - 1
    segment = min(max(work.view["segment"], 0), last)
    work.set(segment=segment)
    _step(work, "previous", ":material/chevron_left:", -1, segment == 0)
    st.number_input(f"Segment, 0 to {last:,}", 0, last, step=1, width=150, **work.bound("segment"))
    _step(work, "next", ":material/chevron_right:", 1, segment == last)
    with st.popover("", icon=":material/search:", help="Find a segment by its text"):
        _find(work, corpus)
    return segment


def segment_place(corpus: Corpus, segment: int) -> str:
    """Where the segment stands in the corpus: its own id and its document."""
    facts = []
    if corpus.ids is not None and corpus.ids[segment] != str(segment):
        facts.append(f"id {corpus.ids[segment]}")
    if corpus.documents is not None:
        facts.append(f"document {corpus.documents[segment]}")
    return " \u00b7 ".join(facts)


def _step(work: Workspace, name: str, icon: str, way: int, disabled: bool) -> None:
    """A button to the segment before or after the one that is shown when it is pressed, and a key that does the same."""
    letter = name[0].upper()

    def step() -> None:
        work.set(segment=work.view["segment"] + way)

    help = f"{name.capitalize()} segment (key {letter})"
    st.button("", icon=icon, help=help, key=name, shortcut=letter, disabled=disabled, on_click=step)


def _find(work: Workspace, corpus: Corpus) -> None:
    wanted = st.text_input("Text in source, references or outputs", key="find-segment", live=True).casefold().strip()
    if not wanted:
        return
    found = work.latest("found segments", (corpus.hash, wanted), lambda: _holding(corpus, wanted))
    st.caption(
        f"{count(len(found), 'segment')} found" + (f"; the first {FOUND_SHOWN} are shown" if len(found) > FOUND_SHOWN else "")
    )
    for place in found[:FOUND_SHOWN]:
        text = next(text for text in _texts(corpus, place) if wanted in text.casefold())
        label = f"{place}: {text[:70]}" + ("\u2026" if len(text) > 70 else "")
        st.button(plain(label), key=f"found-{place}", type="tertiary", on_click=work.set, kwargs={"segment": place})


def _holding(corpus: Corpus, wanted: str) -> list[int]:
    """The segments that hold a text, whatever its case."""
    return [place for place in range(len(corpus)) if any(wanted in text.casefold() for text in _texts(corpus, place))]


def _texts(corpus: Corpus, place: int) -> list[str]:
    source = corpus.sources[place] if corpus.sources is not None else None
    outputs = [texts[place] for texts in corpus.systems.values()]
    return [text for text in (*outputs, *corpus.references[place], source) if text]

"""What a page shows when there is nothing to show: faults, missing corpora, empty results."""

from __future__ import annotations

import streamlit as st

from components.uploads import PREFIX, readable
from components.workspace import Workspace
from engine.corpus.kept import DAYS
from engine.corpus.types import Corpus


def show_fault(message: str) -> None:
    """A fault that the user can mend, in one line."""
    st.error(plain(message), icon=":material/error:")


def corpus_or_notice(work: Workspace) -> Corpus | None:
    """The chosen corpus; where it is not on this computer, None and a notice that says why."""
    corpus = work.corpus
    if corpus is not None:
        return corpus
    name = work.view["corpus"]
    if name.startswith(PREFIX):
        st.warning(
            f"This link names an upload that is not on this computer: **{plain(readable(name))}**. "
            f"Uploads are found again only on the computer where they were made, by their whole link, and until they are "
            f"deleted or nobody has opened them for {DAYS} days. Upload the same files again on the Corpus page, or choose "
            "another corpus.",
            icon=":material/link_off:",
        )
    else:
        st.warning(f"There is no corpus called **{plain(name)}**. Choose one in the sidebar.", icon=":material/help:")
    st.button(
        "Open the sample corpus", type="primary", on_click=work.set, kwargs={"corpus": "demo:mt", "a": "", "b": "", "segment": 0}
    )
    return None


def segments_or_notice(work: Workspace) -> Corpus | None:
    """The chosen corpus where it has segments; else None and a notice."""
    corpus = corpus_or_notice(work)
    if corpus is None or len(corpus):
        return corpus
    show_empty("The corpus has no segments", "Choose another one in the sidebar.")
    return None


def show_empty(title: str, remedy: str, icon: str = ":material/search_off:") -> None:
    """Nothing matches, and what to do about it."""
    with st.container(border=True, horizontal_alignment="center"):
        st.markdown(f"{icon} **{title}**", width="content")
        st.caption(remedy, width="content")


def plain(text: str) -> str:
    """Text with the signs of Markdown made harmless, for texts of the user inside it."""
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]()#+-!|<>:$~" else sign for sign in text)

"""The word that was picked in a heatmap: its value, and a way to the other segments that hold it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from components.heatmap import Panel, Scale
from components.numbers import signed
from components.states import plain
from components.workspace import Workspace

HINT = "Hover over a word, or move with the arrow keys, for its value."


def show_picked(work: Workspace, result: Any, rows: Sequence[Sequence[Panel]], scale: Scale, where: str) -> None:
    """Draw a line about the picked word; it stays until another one is picked or the segment changes.

    Parameters
    ----------
    result : what the heatmap returned.
    where : names the segment and view, so that a pick does not outlive them.
    """
    if result.picked:
        work.drafts["picked"] = (where, result.picked["place"])
    kept_where, place = work.drafts.get("picked", ("", ""))
    if kept_where != where:
        st.caption(f"{HINT} Click it, or press Enter, to keep it here.")
        return
    name, _, position = place.rpartition(":")
    panel = next((panel for row in rows for panel in row if panel.id == name), None)
    if panel is None or int(position) >= len(panel.words):
        return
    word = panel.words[int(position)].text
    value = (
        ""
        if panel.values is None
        else f" \u00b7 {scale.title} **{signed(float(panel.values[int(position)]), scale.places)}** {scale.unit}"
    )
    owner = " \u00b7 ".join(filter(None, (panel.tag, panel.title, panel.kind)))
    with st.container(horizontal=True, vertical_alignment="center", gap="small", border=True):
        st.markdown(f"**{plain(word)}** :gray[\u00b7 {plain(owner)}]{value}", width="content")
        bare = word.strip(".,;:!?\u201c\u201d\"'()[]") or word
        st.button(
            "Other segments with this word",
            key="find-word",
            icon=":material/search:",
            type="tertiary",
            on_click=work.go,
            args=("corpus",),
            kwargs={"find": bare, "page": 1, "only": (), "low": "", "high": ""},
        )

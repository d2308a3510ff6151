"""What each uploaded file is, where its name does not say: source, reference, a system's output, scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import streamlit as st

from components.states import plain
from components.workspace import Workspace

PARTS = {
    "": "as recognised",
    "source": "source texts",
    "reference": "reference texts",
    "system": "outputs of a system",
    "scores": "scores, higher is better",
}


def ask_roles(work: Workspace, names: Sequence[str], choices: dict[str, Any]) -> None:
    """Draw one choice per file; confirming stores them in `choices["parts"]`."""
    drafts = choices.setdefault("part drafts", {name: (choices["parts"] or {}).get(name, "") for name in names})
    with st.grid(3, min_column_width=220):
        for place, name in enumerate(names):
            tie = work.tied(f"part-{place}", drafts[name], lambda chosen, name=name: drafts.update({name: chosen}))
            st.selectbox(plain(name), PARTS, format_func=PARTS.get, **tie)
    confirm = {"type": "primary", "on_click": lambda: choices.update(parts=dict(drafts))}
    st.button("Read the files like this", key="confirm-parts", **confirm)


def part_arguments(parts: Mapping[str, str] | None) -> dict[str, Any]:
    """The choices as `load_bytes` takes them; a system or criterion is named by its file."""
    chosen = {name: part for name, part in (parts or {}).items() if part}
    sources = [name for name, part in chosen.items() if part == "source"]
    return {
        "source": sources[0] if sources else None,
        "references": [name for name, part in chosen.items() if part == "reference"],
        "systems": {_stem(name): name for name, part in chosen.items() if part == "system"},
        "scores": {_stem(name): name for name, part in chosen.items() if part == "scores"},
    }


def _stem(name: str) -> str:
    return PurePosixPath(name).stem or name

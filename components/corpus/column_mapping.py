"""Which column of a table is what: a preview, the best guess filled in, and a button that confirms it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from components.states import plain
from components.workspace import Workspace
from engine.corpus.loaded import TablePreview

KINDS = {
    "ignore": "not used",
    "source": "source",
    "reference": "reference",
    "hypothesis": "hypothesis",
    "system": "name of the system",
    "segment": "segment id",
    "document": "document id",
    "languages": "language pair",
    "score": "score, higher is better",
    "penalty": "penalty, lower is better",
}
PER_ROW = 4
PREVIEW_ROWS = 8


def ask_columns(work: Workspace, table: TablePreview, identity: Any, choices: dict[str, Any]) -> None:
    """Say why the columns are not certain, and draw the form."""
    reason = f": {table.reason.rstrip('.')}" if table.reason else ""
    message = f"Which column is what cannot be told for certain{plain(reason)}. Check the guess below."
    st.warning(message, icon=":material/help:")
    column_form(work, table, identity, choices)


def column_form(work: Workspace, table: TablePreview, identity: Any, choices: dict[str, Any]) -> None:
    """Draw the preview and one choice per column; confirming stores the mapping in `choices["columns"]`."""
    preview = pd.DataFrame([row[: len(table.columns)] for row in table.rows[:PREVIEW_ROWS]], columns=list(table.columns))
    st.dataframe(preview, hide_index=True, height="content", alt="The first rows of the table")
    kinds = work.drafts.setdefault(
        ("columns", identity), {name: _kind(table.guess.get(name, "ignore")) for name in table.columns}
    )
    for start in range(0, len(table.columns), PER_ROW):
        for place, cell in zip(range(start, min(start + PER_ROW, len(table.columns))), st.columns(PER_ROW), strict=False):
            name = table.columns[place]
            tie = work.tied(f"column-{place}", kinds[name], lambda chosen, name=name: kinds.update({name: chosen}))
            cell.selectbox(plain(name) or f"column {place + 1}", KINDS, format_func=KINDS.get, **tie)
    st.caption(
        "Several hypothesis columns: one system each, named by its column. "
        "One hypothesis column and a system column: one row per output."
    )
    problem = _problem(kinds)
    if problem:
        st.caption(f":red[{problem}]")
    st.button(
        "Read the table like this",
        type="primary",
        key="confirm-columns",
        disabled=bool(problem),
        on_click=lambda: choices.update(columns=roles(kinds, table.guess)),
    )


def roles(kinds: Mapping[str, str], guess: Mapping[str, str]) -> dict[str, str]:
    """Role → column, with references numbered and systems and criteria named, as the reader takes it.

    Names that the guess already gives to a column (`score:adequacy@A`) are kept.
    """
    mapping: dict[str, str] = {}
    amounts = Counter(kinds.values())
    references = 0
    for column, kind in kinds.items():
        guessed = guess.get(column, "")
        if kind == "ignore":
            continue
        if kind == "reference":
            references += 1
            mapping["reference" if references == 1 else f"reference:{references}"] = column
        elif kind == "hypothesis" and amounts[kind] == 1:
            mapping["hypothesis"] = column
        elif kind in ("hypothesis", "score", "penalty"):
            mapping[guessed if guessed.startswith(f"{kind}:") else f"{kind}:{column}"] = column
        else:
            mapping[kind] = column
    return mapping


def _kind(role: str) -> str:
    return role.partition(":")[0]


def _problem(kinds: Mapping[str, str]) -> str:
    """Why the choice cannot be read; empty where it can."""
    amounts = Counter(kinds.values())
    for kind in ("source", "system", "segment", "document", "languages"):
        if amounts[kind] > 1:
            return f"Only one column can be the {KINDS[kind]}."
    if not amounts["hypothesis"]:
        return "Choose at least one hypothesis column."
    if amounts["hypothesis"] > 1 and amounts["system"]:
        return "Either one hypothesis column with a system column, or several hypothesis columns without one."
    return ""

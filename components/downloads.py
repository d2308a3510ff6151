"""Downloads: tables as CSV, explanations as CSV and as a stand-alone HTML page. Made when the button is pressed."""

from __future__ import annotations

import re
from collections.abc import Callable

import pandas as pd
import streamlit as st

from engine.corpus.types import Corpus
from engine.explain.results import Explanations

LONGEST = 48
"""Characters of each part of a file's name."""


def file_name(*parts: str) -> str:
    """A file's name without its ending: the parts, joined by hyphens, with the letters and digits of any script."""
    kept = (re.sub(r"[^\w.+]+", "-", part).strip("-.")[:LONGEST].strip("-.") for part in parts)
    return "-".join(filter(None, kept)) or "plumbline"


def download_csv(frame: pd.DataFrame | Callable[[], pd.DataFrame], *name: str, key: str, label: str = "CSV") -> None:
    """A button that saves a table, written as the command line writes it; `name` are the parts of the file's name."""
    from engine.report.frames import to_bytes

    st.download_button(
        label,
        lambda: to_bytes(frame() if callable(frame) else frame, ".csv"),
        f"{file_name(*name)}.csv",
        "text/csv",
        key=f"csv-{key}",
        icon=":material/download:",
        on_click="ignore",
    )


def download_explanations(found: Explanations, corpus: Corpus, file: str, key: str) -> None:
    """Buttons for the rows that the command line's `explain` gives, and for a page that opens without Plumbline."""
    from engine.report.frames import to_bytes
    from engine.report.html import explanations_page

    with st.container(horizontal=True, gap="small", width="content"):
        st.download_button(
            "CSV",
            lambda: to_bytes(map(corpus.with_ids, found.frames()), ".csv"),
            f"{file}.csv",
            "text/csv",
            key=f"explanations-csv-{key}",
            icon=":material/download:",
            on_click="ignore",
        )
        st.download_button(
            "HTML",
            lambda: explanations_page(found, corpus).encode("utf-8"),
            f"{file}.html",
            "text/html",
            key=f"explanations-html-{key}",
            icon=":material/download:",
            on_click="ignore",
        )

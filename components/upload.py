"""Upload: files of any recognised format become a corpus of this session; tables whose columns are not certain are asked about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st
from engine.corpus.read import Loaded, load_bytes

from components.column_mapping import ask_columns
from components.findings import show_findings
from components.job_progress import await_result
from components.numbers import count
from components.workspace import Workspace

FORMATS = (
    "Plain text (one segment per line: source, references and one file per system), TSV or CSV, XLSX, JSON or JSONL, Google MQM ratings, "
    "WMT SGM or XML, the mt-metrics-eval folder layout; several files at once, or a zip of them. Formats are recognised by content."
)


def show_upload(work: Workspace) -> None:
    """Draw the box for files, what was found in them, and what has to be asked."""
    with st.expander("Upload your own files", icon=":material/upload_file:", key="upload-box"):
        files = st.file_uploader("Files", accept_multiple_files=True, key="upload", help=FORMATS, label_visibility="collapsed")
        st.caption(FORMATS + " They stay on this computer, and in this browser session.")
        if files:
            _read(work, files)


def _read(work: Workspace, files: Sequence[Any]) -> None:
    identity = tuple((file.name, file.file_id) for file in files)
    choices = work.drafts.setdefault(("upload", identity), {"columns": None, "languages": None})
    contents = {file.name: file.getvalue() for file in files}

    def load(_: Any) -> Loaded:
        return load_bytes(contents, columns=choices["columns"], languages=_pair(choices["languages"]))

    asked = tuple(sorted((choices["columns"] or {}).items()))
    key = ("upload", identity, asked, choices["languages"])
    outcome = work.compute(key, f"Reading {count(len(files), 'file')}", load, patience=2.0)
    if not await_result(outcome, work, f"Reading {count(len(files), 'file')}"):
        return
    loaded: Loaded = outcome.value
    if loaded.corpus is not None:
        _open_once(work, key, loaded)
    else:
        show_findings(loaded.findings, key="upload", expanded=True)
    if len(loaded.language_pairs) > 1:
        _ask_languages(work, loaded.language_pairs, choices)
    if loaded.table is not None:
        ask_columns(work, loaded.table, identity, choices, open_already=loaded.corpus is not None)


def _open_once(work: Workspace, key: Any, loaded: Loaded) -> None:
    """Make the corpus the chosen one when it has just been read, not each time the page is drawn."""
    opened = work.drafts.setdefault("opened", set())
    if key not in opened:
        opened.add(key)
        work.add_upload(loaded.corpus, loaded.findings)
        work.publish()
        st.rerun()
    st.success(
        f"Opened: {count(len(loaded.corpus), 'segment')}, {count(len(loaded.corpus.systems), 'system')}.",
        icon=":material/check_circle:",
    )


def _ask_languages(work: Workspace, pairs: Sequence[str], choices: dict[str, Any]) -> None:
    st.selectbox(
        "The files hold several language pairs; which one?",
        pairs,
        **work.tied("upload-languages", choices["languages"] or pairs[0], lambda pair: choices.update(languages=pair)),
    )


def _pair(text: str | None) -> tuple[str | None, str | None]:
    source, _, target = (text or "").partition("-")
    return source or None, target or None

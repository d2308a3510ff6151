"""Upload: files of any recognised format become a corpus; how long it is kept; what is not certain is asked about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import streamlit as st

from components import services
from components.corpus.column_mapping import ask_columns, column_form
from components.corpus.file_roles import ask_roles, part_arguments
from components.findings import show_findings
from components.job_progress import await_result
from components.numbers import count
from components.states import plain
from components.uploads import Upload
from components.workspace import Workspace
from engine.corpus.kept import DAYS, LIMIT
from engine.corpus.languages import NAMES, code
from engine.corpus.read import Loaded, load_bytes
from engine.corpus.types import Corpus, Finding, Languages

FORMATS = (
    "Plain text (one segment per line: source, references and one file per system), TSV or CSV, XLSX, JSON or JSONL, "
    "Google MQM ratings, WMT SGM or XML, the mt-metrics-eval folder layout; several files at once, or a zip of them. "
    "Formats are recognised by content."
)
JUDGED = "languages"
"""A finding that no longer holds once somebody has said what the languages are."""
ASKED = "unclear-columns"
"""A finding that the form for the columns is the answer to; it is not said twice."""

PRIVACY = (
    f"What is read from them is kept on this computer until you delete it, or until nobody has opened it for {DAYS} days; only "
    f"someone with the link of the page sees it. All uploads together take up to {LIMIT >> 30} GB: beyond, those unopened for "
    "longest go first."
)


def show_upload(work: Workspace) -> None:
    """Draw the box for files, what was found in them, and what has to be asked."""
    with st.expander("Upload your own files", icon=":material/upload_file:", key="upload-box"):
        turn = work.drafts.get("upload turn", 0)  # another key after a deletion, so that the box is empty
        key = f"upload-{turn}" if turn else "upload"
        files = st.file_uploader("Files", accept_multiple_files=True, key=key, label_visibility="collapsed")
        st.caption(f"{FORMATS} {PRIVACY}")
        if files:
            _read(work, files)


def show_kept(work: Workspace) -> None:
    """Say how long the chosen upload is kept and who can open it, and offer to change or delete it; nothing for a sample."""
    upload = work.upload
    if upload is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f":material/lock: {_kept(upload)}", width="content")
        with st.popover("Set the languages", icon=":material/translate:", type="tertiary"):
            _change_languages(work, upload)
        with st.popover("Delete", icon=":material/delete:", type="tertiary"):
            st.markdown(
                "The texts and scores of this upload are removed from this computer, and its link opens nothing any more. "
                "The files that you uploaded stay where they are."
            )
            st.button("Delete this upload", type="primary", key="delete-upload", on_click=work.delete_upload, args=(upload.name,))


def _kept(upload: Upload) -> str:
    job = upload.job
    if job is not None and job.state == "running":
        return "Being written to this computer; until that is done, it is in this browser session only."
    if job is not None and job.state != "done":
        why = f": {plain(job.error)}" if job.error else ""
        return f":orange[In this browser session only, and gone with it{why}.]"
    until = services.kept().until(upload.token)
    if until is None:
        return ":orange[No longer on the disk; in this browser session only, and gone with it.]"
    day = datetime.fromtimestamp(until)
    said = f"Kept on this computer until {day.day} {day:%B %Y}, {DAYS} days after it was last opened. "
    said += "Whoever has the link of this page sees it."
    if job is not None and job.result:
        were = count(
            job.result, "upload that nobody had opened for longest was", "uploads that nobody had opened for longest were"
        )
        said += f" To make room, {were} removed."
    return said


def _read(work: Workspace, files: Sequence[Any]) -> None:
    identity = tuple((file.name, file.file_id) for file in files)
    choices = work.drafts.setdefault(("upload", identity), {"columns": None, "languages": None, "parts": None})
    contents = {file.name: file.getvalue() for file in files}
    columns, languages, parts = choices["columns"], _pair(choices["languages"]), part_arguments(choices["parts"])

    def load(_: Any) -> Loaded:
        return load_bytes(contents, columns, languages=languages, **parts)

    key = ("upload", identity, repr(columns), languages, repr(parts))
    title = f"Reading {count(len(files), 'file')}"
    outcome = work.compute(key, title, load, patience=2.0)
    if not await_result(outcome, work, title):
        return
    loaded: Loaded = outcome.value
    if loaded.corpus is not None:
        _open_once(work, key, loaded, choices)
    else:
        show_findings([item for item in loaded.findings if item.kind != ASKED], key="upload", expanded=True)
    if loaded.table is not None and loaded.corpus is None:
        ask_columns(work, loaded.table, identity, choices)
    with st.container(horizontal=True, gap="small"):
        if loaded.table is not None and loaded.corpus is not None:
            with st.popover("Change the columns", icon=":material/view_column:"):
                column_form(work, loaded.table, identity, choices)
        elif len(contents) > 1:
            with st.popover("Say what each file is", icon=":material/rule:"):
                ask_roles(work, list(contents), choices)
        if loaded.corpus is None or len(loaded.language_pairs) > 1:
            with st.popover("Choose the language pair", icon=":material/translate:"):
                _ask_languages(work, loaded, choices)


def _open_once(work: Workspace, key: Any, loaded: Loaded, choices: dict[str, Any]) -> None:
    """Make the corpus the chosen one when it has just been read, not each time the page is drawn.

    It takes the place of what the same files were read as before.
    """
    before, known = choices.get("opened", (None, ""))
    if key != before:
        there = {upload.name for upload in work.uploads}
        corpus, findings = _named(loaded.corpus), loaded.findings
        said = work.drafts.get(("languages", known))
        if said is not None:
            corpus, findings = _with_languages(corpus, findings, said)
        name = work.add_upload(corpus, findings)
        work.drafts["languages", name] = said
        choices["opened"] = key, "" if name in there else name
        if known and known != name:
            work.uploads.delete(known)
        work.publish()
        st.rerun()
    size = f"{count(len(loaded.corpus), 'segment')}, {count(len(loaded.corpus.systems), 'system')}"
    st.success(f"Opened: {size}.", icon=":material/check_circle:")


def _named(corpus: Corpus) -> Corpus:
    """The corpus under a telling name, where the files had none in common."""
    if corpus.name != "upload":
        return corpus
    systems = " + ".join(corpus.systems)
    return replace(corpus, name=systems if len(systems) <= 40 else f"{count(len(corpus.systems), 'system')}")


def _ask_languages(work: Workspace, loaded: Loaded, choices: dict[str, Any]) -> None:
    """Which language pair to read, where there are several or nothing could be read."""
    known = _written(loaded.corpus.languages) if loaded.corpus is not None else ""
    tie = work.tied("upload-languages", choices["languages"] or known, lambda pair: choices.update(languages=pair or None))
    if len(loaded.language_pairs) > 1:
        st.selectbox("The files hold several language pairs", ["", *loaded.language_pairs], **tie)
    else:
        st.text_input("Source and target language", placeholder="de-en", **tie)


def _change_languages(work: Workspace, upload: Upload) -> None:
    """Another language pair for a corpus that has been read."""

    def save(text: str) -> None:
        pair = _pair(text)
        for language in filter(lambda language: language not in (None, *NAMES), pair):
            if not re.fullmatch("[a-z]{2,3}", language):
                work.notice = f"{language!r} is no language that is known; write codes, as in de-en."
                return
            work.notice = f"Nothing is known of a language {language!r}; whatever depends on the language takes its default."
        work.drafts["languages", upload.name] = pair
        work.uploads.change(upload, *_with_languages(upload.corpus, upload.findings, pair))

    st.text_input(
        "Source and target language",
        placeholder="de-en",
        help="Codes such as de-en. They choose the encoder, how texts are cut into words, and which features there are.",
        **work.tied("kept-languages", _written(upload.corpus.languages), save),
    )


def _with_languages(corpus: Corpus, findings: Sequence[Finding], pair: Languages) -> tuple[Corpus, tuple[Finding, ...]]:
    return replace(corpus, languages=pair), tuple(item for item in findings if item.kind != JUDGED)


def _written(languages: Languages) -> str:
    return "-".join(code or "" for code in languages) if any(languages) else ""


def _pair(text: str | None) -> Languages:
    """The languages in a text such as `de-en`; a single one is that of the outputs."""
    source, dash, target = (text or "").partition("-")
    source, target = (code(part) or part.strip() or None for part in ((source, target) if dash else ("", source)))
    return source, target

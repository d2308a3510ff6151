"""Background jobs on screen: the tray in the sidebar, and the place where a result will appear."""

from __future__ import annotations

from collections.abc import Hashable

import streamlit as st

from components.numbers import duration
from components.workspace import Outcome, Workspace
from engine.scoring.jobs import Job

REFRESH = 0.6  # seconds between two looks at a running job
ENDED_SHOWN = 3


def await_result(outcome: Outcome, work: Workspace, doing: str) -> bool:
    """True where the result is there; otherwise draw progress, the error, or a way to start again."""
    if outcome.done:
        return True
    if outcome.state == "running":
        _progress_panel(outcome.job, doing)
    elif outcome.state == "failed":
        st.error(outcome.error, icon=":material/error:")
        st.button("Try again", key=f"retry-{_name(outcome.key)}", on_click=work.retry, args=(outcome.key,))
    else:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.info(f"{doing} was cancelled.", icon=":material/cancel:")
            st.button("Start again", key=f"retry-{_name(outcome.key)}", on_click=work.retry, args=(outcome.key,))
    return False


def job_tray(work: Workspace) -> None:
    """Running jobs with their progress; looks again by itself while there are any."""
    running = work.running()
    st.fragment(_tray, run_every=REFRESH if running else None)(work)


def _tray(work: Workspace) -> None:
    running = work.running()
    for job in running:
        _bar(job)
        st.button(
            "Cancel",
            key=f"tray-{id(job)}",
            on_click=job.cancel,
            icon=":material/close:",
            type="tertiary",
            disabled=job.cancelling,
        )
    for job in work.ended()[:ENDED_SHOWN]:
        icon = {"done": ":material/check:", "failed": ":material/error:", "cancelled": ":material/cancel:"}[job.state]
        st.caption(f"{icon} {job.title} \u00b7 {duration(job.elapsed_s)}")
    if not running and not work.ended():
        st.caption("Nothing is running.")
    if work.news():
        st.rerun()


def _progress_panel(job: Job, doing: str) -> None:
    """Progress where the result will stand, until it is there."""

    @st.fragment(run_every=REFRESH)
    def panel() -> None:
        with st.container(border=True):
            _bar(job, doing)
            st.button("Cancel", key=f"cancel-{id(job)}", on_click=job.cancel, icon=":material/close:", disabled=job.cancelling)
        if job.state != "running":
            st.rerun()

    panel()


def _bar(job: Job, doing: str = "") -> None:
    progress = job.progress
    title = doing or job.title
    if job.cancelling:
        text = f"{title} \u00b7 stopping"
    elif job.waiting:
        text = f"{title} \u00b7 waiting for its turn"
    else:
        left = duration(progress.remaining_s)
        text = f"{title} \u00b7 {progress.share:.0%}" + (f" \u00b7 about {left} left" if left else "")
    st.progress(progress.share, text=text)


def _name(key: Hashable) -> str:
    return str(abs(hash(key)))

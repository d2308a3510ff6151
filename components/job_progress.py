"""Background jobs on screen: the tray in the sidebar, and the place where a result will appear."""

from __future__ import annotations

from collections.abc import Hashable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components import services
from components.numbers import duration
from components.results import Outcome
from components.states import plain
from components.workspace import Workspace
from engine.scoring.jobs import Job

REFRESH = 1.0  # seconds between two looks at the running jobs
ENDED_SHOWN = 3
ENDED_LOOKS = {"done": ":material/check:", "failed": ":material/error:", "cancelled": ":material/cancel:"}


def await_result(outcome: Outcome, work: Workspace, doing: str, poll: bool = False) -> bool:
    """True where the result is there; otherwise draw progress, the error, or a way to start again.

    `poll` is True inside a fragment, which the tray cannot redraw: then the progress looks after itself.
    """
    if outcome.done:
        return True
    if outcome.state == "running" and outcome.job is not None:
        place = st.container(border=True)
        place.markdown(plain(doing))
        if poll:
            _poll(place, outcome.job)
        else:
            work.awaited.append((place, outcome.job))
    elif outcome.state == "failed":
        st.error(plain(outcome.error), icon=":material/error:")
        st.button("Try again", key=f"retry-{_name(outcome.key)}", on_click=work.retry, args=(outcome.key,))
    else:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.info(f"{plain(doing)} was cancelled.", icon=":material/cancel:")
            st.button("Start again", key=f"retry-{_name(outcome.key)}", on_click=work.retry, args=(outcome.key,))
    return False


def _poll(place: DeltaGenerator, job: Job) -> None:
    @st.fragment(run_every=REFRESH)
    def look() -> None:
        _bar(job, "")
        _cancel(job, f"poll-{id(job)}")
        if job.state != "running":
            st.rerun()

    with place:
        look()


def job_tray(work: Workspace) -> None:
    """Running jobs with their progress. While there are any, it looks again by itself, and redraws the page at their end."""
    running = bool(work.running())
    st.fragment(_tray, run_every=REFRESH if running else None)(work)


def _tray(work: Workspace) -> None:
    work.stay()
    running = work.running()
    for job in running:
        _bar(job, job.title)
        _cancel(job, f"tray-{id(job)}")
    for job in work.ended()[:ENDED_SHOWN]:
        st.caption(f"{ENDED_LOOKS[job.state]} {plain(job.title)} \u00b7 {duration(job.elapsed_s)}")
    if not running and not work.ended():
        st.caption("Nothing is running.")
    if services.store().notice:
        st.caption(f":orange[:material/database:] {plain(services.store().notice)}")
    for place, job in work.awaited:
        with place:
            _bar(job, "")
            _cancel(job, f"page-{id(job)}")
    if work.news():
        st.rerun()


def _bar(job: Job, title: str) -> None:
    progress = job.progress
    left = duration(progress.remaining_s)
    if job.cancelling:
        state = ["stopping"]
    elif job.waiting:
        state = ["waiting for its turn"]
    else:
        state = [f"{progress.share:.0%}", f"about {left} left" if left else ""]
    st.progress(progress.share, text=plain(" \u00b7 ".join(filter(None, [title, *state]))))


def _cancel(job: Job, key: str) -> None:
    st.button(
        "Cancel", key=f"cancel-{key}", on_click=job.cancel, icon=":material/close:", type="tertiary", disabled=job.cancelling
    )


def _name(key: Hashable) -> str:
    return str(abs(hash(key)))

"""What one browser session knows, and what becomes of its jobs."""

from __future__ import annotations

import time

import pytest

from components import workspace as module
from components.workspace import Workspace
from engine.progress import Progress
from engine.scoring.jobs import Job


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setattr(module, "GRACE", 0.2)
    monkeypatch.setattr(module, "_presence", lambda work: work)  # there is no browser whose leaving is told
    return Workspace()


def endless(progress: Progress) -> None:
    while True:
        progress(0, 1)
        time.sleep(0.01)


def begin(work: Workspace) -> list[Job]:
    return [work.compute(name, name, endless, patience=0, long=name == "long").job for name in ("short", "long")]


def test_the_jobs_of_a_user_who_has_left_are_cancelled(work: Workspace) -> None:
    jobs = begin(work)
    work.leave()
    assert all(job.wait(10) and job.state == "cancelled" for job in jobs)


def test_the_jobs_of_a_user_who_is_back_in_a_moment_go_on(work: Workspace) -> None:
    jobs = begin(work)
    work.leave()
    work.stay()
    assert not jobs[0].wait(0.6) and all(job.state == "running" for job in jobs)
    work.leave()
    assert all(job.wait(10) for job in jobs)

"""Results of one browser session: in memory, or on their way in background jobs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Literal

from streamlit.delta_generator import DeltaGenerator

from engine.progress import Progress
from engine.scoring.jobs import Job, JobTray, Slots

KEPT_RESULTS = 400
PATIENCE = 0.7  # seconds that a page waits for a result before it shows progress instead
PAGE_SLOTS = Slots(4)
"""What pages are waiting for does not queue behind the long runs of all users."""


@dataclass(frozen=True)
class Outcome:
    """A result as a page finds it: there, on its way, or not coming."""

    state: Literal["done", "running", "failed", "cancelled"]
    value: Any = None
    error: str = ""
    job: Job | None = None
    key: Hashable = None

    @property
    def done(self) -> bool:
        """True where `value` is the result."""
        return self.state == "done"

    @property
    def begun(self) -> bool:
        """False where nobody has started it."""
        return self.done or self.job is not None


@dataclass
class Results:
    """What has been computed, and the jobs that compute. `awaited` is where the page shows the progress of which job."""

    long_runs: JobTray = field(default_factory=JobTray)
    page_jobs: JobTray = field(default_factory=lambda: JobTray(PAGE_SLOTS))
    awaited: list[tuple[DeltaGenerator, Job]] = field(default_factory=list)
    _results: OrderedDict[Hashable, Any] = field(default_factory=OrderedDict)
    _newest: dict[str, tuple[Hashable, Any]] = field(default_factory=dict)
    _jobs: dict[Hashable, Job] = field(default_factory=dict)
    _watched: list[Job] = field(default_factory=list)

    def compute(
        self,
        key: Hashable,
        title: str,
        function: Callable[[Progress], Any],
        patience: float = PATIENCE,
        long: bool = False,
        start: bool = True,
    ) -> Outcome:
        """The result of `function` under `key`: from memory, or from a background job that this call starts.

        Parameters
        ----------
        key : decides the result: content hashes, signatures, options.
        title : what the job is called in the tray.
        function : does the work; it may not touch the page.
        patience : seconds to wait for it before the page goes on with progress instead.
        long : True for runs over a whole corpus that may take minutes; few of them run at a time.
        start : False to look only; what has not been started is told as running, for whoever starts it further down the page.
        """
        if key in self._results:
            self._results.move_to_end(key)
            return Outcome("done", self._results[key], key=key)
        job = self._jobs.get(key)
        if job is None and not start:
            return Outcome("running", key=key)
        if job is None:
            tray = self.long_runs if long else self.page_jobs
            job = tray.start(title, function, key)
            self._jobs[key] = job
            job.wait(patience)
        return self._settle(key, job)

    def known(self, key: Hashable) -> Any:
        """The result under `key` if it is there already, else None."""
        return self._results.get(key)

    def cached(self, key: Hashable, function: Callable[[], Any]) -> Any:
        """The result of something quick, kept under `key`."""
        if key not in self._results:
            self._keep(key, function())
        return self._results[key]

    def latest(self, name: str, key: Hashable, function: Callable[[], Any]) -> Any:
        """The result of something quick whose value is large: only the newest one under `name` is kept."""
        kept = self._newest.get(name)
        if kept is None or kept[0] != key:
            kept = self._newest[name] = (key, function())
        return kept[1]

    def forget(self) -> None:
        """Drop what has been computed."""
        self._results.clear()
        self._newest.clear()

    def cancel_all(self) -> None:
        """Cancel whatever waits or runs."""
        self.page_jobs.cancel_all()
        self.long_runs.cancel_all()

    def running(self) -> list[Job]:
        """Jobs that have not ended, the oldest first."""
        return [job for tray in (self.page_jobs, self.long_runs) for job in tray.list()[::-1] if job.state == "running"]

    def ended(self) -> list[Job]:
        """Jobs that have ended after more than a moment, the newest first."""
        return [
            job
            for tray in (self.long_runs, self.page_jobs)
            for job in tray.list()
            if job.state != "running" and job.elapsed_s > 1.5
        ]

    def watch(self) -> None:
        """Note which jobs are running now that the page is drawn."""
        self._watched = self.running()

    def news(self) -> bool:
        """True where a job has ended since the page was drawn or began to wait for it."""
        return any(job.state != "running" for job in [*self._watched, *(job for _, job in self.awaited)])

    def retry(self, key: Hashable) -> None:
        """Forget a failed or cancelled job, so that the next `compute` starts again."""
        self._jobs.pop(key, None)

    def _settle(self, key: Hashable, job: Job) -> Outcome:
        if job.state == "done":
            self._keep(key, job.result)
            self._jobs.pop(key, None)
            return Outcome("done", job.result, key=key)
        if job.state == "failed":
            return Outcome("failed", error=job.error or "", job=job, key=key)
        return Outcome("cancelled" if job.state == "cancelled" else "running", job=job, key=key)

    def _keep(self, key: Hashable, value: Any) -> None:
        self._results[key] = value
        while len(self._results) > KEPT_RESULTS:
            self._results.popitem(last=False)

"""Background jobs: work in threads with progress, remaining time and cancelling, and a tray that holds a user's jobs."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable
from typing import Any, Literal, NamedTuple

from engine.errors import Cancelled, PlumblineError
from engine.progress import Progress

State = Literal["running", "done", "failed", "cancelled"]
Work = Callable[[Progress], Any]

MESSAGE_LIMIT = 300

log = logging.getLogger("plumbline")


class JobProgress(NamedTuple):
    """How far a job is: `done` of `total` in any unit, and seconds still to go (None: not known yet)."""

    done: float
    total: float
    remaining_s: float | None

    @property
    def share(self) -> float:
        """The part that is done, 0 … 1."""
        return min(1.0, max(0.0, self.done / self.total)) if self.total else 0.0


class Clock:
    """Remaining time from a smoothed rate: recent work counts more, with a memory of about ten seconds."""

    MEMORY = 10.0
    PATIENCE = 0.5  # seconds before anything is said

    def __init__(self) -> None:
        self._share = 0.0
        self._time: float | None = None
        self._rate = 0.0  # shares per second
        self._weight = 0.0  # how much of the memory is filled, 0 … 1

    def report(self, share: float, now: float) -> None:
        """Take note that `share` (0 … 1) of the work is done at `now` (seconds)."""
        if self._time is None or share < self._share:  # the first report, or a new start
            self._share, self._time, self._rate, self._weight = share, now, 0.0, 0.0
            return
        passed = now - self._time
        if passed < 0.1:  # many small steps are taken together
            return
        fade = 0.5 ** (passed / (self.MEMORY / 2))
        self._rate = fade * self._rate + (1 - fade) * (share - self._share) / passed
        self._weight = fade * self._weight + (1 - fade)
        self._share, self._time = share, now

    def remaining(self, now: float) -> float | None:
        """Seconds to go, counting down between reports; None where nothing can be said."""
        if self._time is None or self._rate <= 0 or self._weight < 1 - 0.5 ** (self.PATIENCE / (self.MEMORY / 2)):
            return None
        return max(0.0, (1 - self._share) * self._weight / self._rate - (now - self._time))


class Job:
    """One piece of work in a thread of its own. Made by `Job.start` or by a tray.

    `state` is "running" (also while the job waits for its turn: `waiting`), "done", "failed" or "cancelled"; `result` is
    there when it is "done"; `error` is one line for the user when it is "failed".
    """

    def __init__(self, work: Work, title: str = "", key: Hashable = None) -> None:
        self.title = title
        self.key = key
        self.state: State = "running"
        self.result: Any = None
        self.error: str | None = None
        self._work: Work | None = work
        self._lock = threading.Lock()
        self._cancel = threading.Event()
        self._finished = threading.Event()
        self._clock = Clock()
        self._counts = (0.0, 0.0)
        self._began: float | None = None
        self._ended: float | None = None

    @classmethod
    def start(cls, work: Work, title: str = "") -> Job:
        """Start `work(progress)` at once, in a thread."""
        job = cls(work, title)
        job._launch(lambda: None)
        return job

    @property
    def waiting(self) -> bool:
        """True while other jobs have to end first."""
        return self.state == "running" and self._began is None

    @property
    def cancelling(self) -> bool:
        """True from the wish to cancel until the work has noticed."""
        return self._cancel.is_set() and self.state == "running"

    @property
    def progress(self) -> JobProgress:
        """How far the job is."""
        with self._lock:
            done, total = self._counts
            remaining = self._clock.remaining(time.monotonic()) if self.state == "running" else None
        return JobProgress(done, total, remaining)

    @property
    def elapsed_s(self) -> float:
        """Seconds the job has run."""
        began, ended = self._began, self._ended
        return 0.0 if began is None else (time.monotonic() if ended is None else ended) - began

    def cancel(self) -> None:
        """Ask the job to stop: at once when it waits, at its next report of progress when it runs."""
        self._cancel.set()
        with self._lock:
            if self.waiting:
                self._end("cancelled")

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the job has ended, at most `timeout` seconds; True when it has."""
        return self._finished.wait(timeout)

    def _launch(self, afterwards: Callable[[], None]) -> bool:
        """Start the thread; `afterwards` is called at its end. False when the job was cancelled before."""
        with self._lock:
            if not self.waiting:
                return False
            self._began = time.monotonic()
        threading.Thread(target=self._run, args=(afterwards,), name=f"job {self.title}", daemon=True).start()
        return True

    def _run(self, afterwards: Callable[[], None]) -> None:
        assert self._work is not None
        try:
            result = self._work(self._report)
            state: State = "cancelled" if self._cancel.is_set() else "done"
            error = None
        except Cancelled:
            result, state, error = None, "cancelled", None
        except PlumblineError as fault:
            result, state, error = None, "failed", str(fault)
        except BaseException as fault:  # whatever happens in the thread has to reach the screen
            log.exception("the job %r failed", self.title)
            result, state, error = None, "failed", _short(fault)
        with self._lock:
            self.result = result if state == "done" else None
            self.error = error
            self._end(state)
        afterwards()

    def _report(self, done: float, total: float) -> None:
        with self._lock:
            self._counts = (float(done), float(total))
            self._clock.report(self._counts[0] / self._counts[1] if self._counts[1] else 0.0, time.monotonic())
        if self._cancel.is_set():
            raise Cancelled

    def _end(self, state: State) -> None:
        self._work = None  # what the work holds on to can go
        self._ended = time.monotonic()
        self.state = state
        self._finished.set()


class Slots:
    """How many jobs run at once; the others wait in the order in which they came."""

    def __init__(self, count: int = 2) -> None:
        self._free = count
        self._waiting: deque[Job] = deque()
        self._lock = threading.Lock()

    def submit(self, job: Job) -> None:
        """Start the job as soon as there is room."""
        with self._lock:
            self._waiting.append(job)
            self._fill()

    def _fill(self) -> None:
        while self._free and self._waiting:
            if self._waiting.popleft()._launch(self._ended):
                self._free -= 1

    def _ended(self) -> None:
        with self._lock:
            self._free += 1
            self._fill()


SHARED_SLOTS = Slots()
"""The slots of this process: all users' jobs together are no more than the machine can bear."""


class JobTray:
    """The jobs of one user session, newest first, each under a key that says what it computes.

    Parameters
    ----------
    slots : how many jobs run at once, and with whom that is shared.
    keep : how many ended jobs are kept; the oldest go first, and their results with them.
    """

    def __init__(self, slots: Slots | None = None, keep: int = 12) -> None:
        self._slots = slots or SHARED_SLOTS
        self._keep = keep
        self._jobs: dict[Hashable, Job] = {}  # oldest first
        self._lock = threading.Lock()

    def start(self, title: str, work: Work, key: Hashable = None) -> Job:
        """Start `work(progress)`; while a job with the same key waits or runs, that one is returned instead.

        Without a key the job is unlike any other.
        """
        key = object() if key is None else key
        with self._lock:
            present = self._jobs.get(key)
            if present is not None and present.state == "running" and not present.cancelling:
                return present
            self._jobs.pop(key, None)
            job = self._jobs[key] = Job(work, title, key)
            self._trim()
        self._slots.submit(job)
        return job

    def get(self, key: Hashable) -> Job | None:
        """The newest job with this key, ended or not."""
        with self._lock:
            return self._jobs.get(key)

    def list(self) -> list[Job]:
        """All jobs, newest first."""
        with self._lock:
            self._trim()
            return list(self._jobs.values())[::-1]

    def clear_finished(self) -> None:
        """Forget the jobs that have ended, with their results."""
        with self._lock:
            self._jobs = {key: job for key, job in self._jobs.items() if job.state == "running"}

    def remove(self, key: Hashable) -> None:
        """Cancel a job and forget it."""
        with self._lock:
            job = self._jobs.pop(key, None)
        if job is not None:
            job.cancel()

    def cancel_all(self) -> None:
        """Cancel whatever waits or runs."""
        for job in self.list():
            job.cancel()

    def _trim(self) -> None:
        ended = [key for key, job in self._jobs.items() if job.state != "running"]
        for key in ended[: max(0, len(ended) - self._keep)]:
            del self._jobs[key]


def _short(fault: BaseException) -> str:
    """An unexpected fault in one line; the log has the rest."""
    text = " ".join(str(fault).split())
    if len(text) > MESSAGE_LIMIT:
        text = text[:MESSAGE_LIMIT] + "…"
    return f"something went wrong ({type(fault).__name__}{': ' if text else ''}{text}); the log has the details"

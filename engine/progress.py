"""Progress and cancelling: one callback that an analysis calls often, and that may raise `Cancelled`."""

from collections.abc import Callable

Progress = Callable[[float, float], None]
"""`progress(done, total)`: reports work done, in any unit; raises `engine.errors.Cancelled` to stop it."""


def silent(done: float, total: float) -> None:
    """Report nothing, never cancel."""


def part(progress: Progress, start: float, end: float, total: float) -> Progress:
    """Map the progress of one step onto the stretch `start … end` of a whole that has `total` units."""

    def report(done: float, step_total: float) -> None:
        share = done / step_total if step_total else 1.0
        progress(start + (end - start) * share, total)

    return report

"""The scorer: gives segments to a metric once each, keeps what it learns, can be stopped and resumed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from engine.corpus.types import Segment
from engine.metrics.base import Metric, unscorable
from engine.progress import Progress, silent
from engine.scoring.batches import Pace, Plan
from engine.scoring.pool import Pool
from engine.scoring.store import Store


@dataclass(frozen=True)
class Batch:
    """Segments that a metric gets in one call, and where they stand in the plan."""

    segments: list[Segment]
    start: int
    end: int


@dataclass(frozen=True)
class Scored:
    """A finished batch: its statistics float64[n, k] and the seconds it took."""

    batch: Batch
    statistics: np.ndarray
    seconds: float


class Executor(Protocol):
    """Where batches are scored."""

    def run(self, metric: Metric, batches: Iterable[Batch]) -> Iterator[Scored]:
        """Score every batch, in any order. A batch is taken only when there is room for it: its size follows the pace."""
        ...


class LocalExecutor:
    """Scores in the calling thread."""

    def run(self, metric: Metric, batches: Iterable[Batch]) -> Iterator[Scored]:
        for batch in batches:
            start = time.perf_counter()
            statistics = metric.statistics(batch.segments)
            yield Scored(batch, statistics, time.perf_counter() - start)


class Scorer:
    """Scores any number of segments or variants with any metric.

    Duplicates are scored once; what the store knows is not scored at all; the rest goes to the metric in batches of
    about half a second, and each batch is stored when it is done, so that a run that was killed or cancelled goes on
    where it stopped. Several threads may use one scorer.

    Parameters
    ----------
    store : where statistics are kept between runs; None keeps nothing.
    executor : where batches are scored; None for the calling thread.
    """

    def __init__(self, store: Store | None = None, executor: Executor | None = None) -> None:
        self.store = store
        self._executor = executor or LocalExecutor()
        self._paces: dict[str, Pace] = {}
        self._widths: dict[str, int] = {}

    def statistics(
        self, metric: Metric, segments: Sequence[Segment] | Pool, progress: Progress = silent, keep: bool = True
    ) -> np.ndarray:
        """Statistics of segments under a metric.

        Parameters
        ----------
        segments : a `Pool` where several metrics score the same ones.
        progress : called after every batch, in segments that had to be scored; may raise `Cancelled`.
        keep : False for perturbed variants, whose scores are neither looked up nor stored unless the metric is slow.

        Returns
        -------
        float64[n, k] in the order of `segments`; rows of NaN where the metric cannot score a segment (`reasons` says why).
        """
        pool = segments if isinstance(segments, Pool) else Pool(segments)
        able = [index for index, item in enumerate(pool.distinct) if unscorable(metric.spec, item) is None]
        scorable = np.array(able, dtype=np.int64)
        rows = self._score(pool, scorable, metric, progress, keep or metric.spec.slow)
        if len(scorable) == len(pool.inverse):
            return rows
        table = np.full((len(pool.distinct), rows.shape[1]), np.nan)
        table[scorable] = rows
        return table[pool.inverse]

    def segment_scores(
        self, metric: Metric, segments: Sequence[Segment], progress: Progress = silent, keep: bool = True
    ) -> np.ndarray:
        """Scores of segments in the metric's unit, float64[n]; NaN where undefined. See `statistics`."""
        return reduce_segments(metric, self.statistics(metric, segments, progress, keep))

    def _score(self, pool: Pool, scorable: np.ndarray, metric: Metric, progress: Progress, keep: bool) -> np.ndarray:
        """Statistics of distinct, scorable segments: those in the store from there, the others from the metric."""
        store = self.store if keep else None
        if store is None or not len(scorable):
            known = np.zeros(len(scorable), dtype=bool)
            table = np.full((len(scorable), 0), np.nan)
        else:
            table, known = store.get_by_key(metric.spec.key, pool.keys(scorable))
        missing = np.flatnonzero(~known)
        if known.any() and not len(missing):
            progress(1, 1)
            return table
        fresh = self._run(pool, scorable[missing], metric, progress, store)
        if not known.any():
            return fresh
        if fresh.shape[1] != table.shape[1]:
            raise ValueError(
                f"{metric.spec.id} gives rows of width {fresh.shape[1]} where {table.shape[1]} are stored: change its signature"
            )
        table[missing] = fresh
        return table

    def _run(self, pool: Pool, indices: np.ndarray, metric: Metric, progress: Progress, store: Store | None) -> np.ndarray:
        total = len(indices)
        if not total:
            progress(1, 1)
            return np.full((0, self._width(metric)), np.nan)
        progress(0, total)
        plan, pace = pool.plan(indices), self._paces.setdefault(metric.spec.key, Pace())
        table, spent = np.empty((0, 0)), 0.0
        ordered = indices[plan.order]
        for scored in self._executor.run(metric, _batches(pool, ordered, plan, pace, metric.spec.batch_size)):
            batch, rows = scored.batch, _checked(metric, scored)
            if not table.size:
                table = np.full((total, rows.shape[1]), np.nan)
            table[plan.order[batch.start : batch.end]] = rows
            if store is not None:
                store.put_by_key(metric.spec.key, pool.keys(ordered[batch.start : batch.end]), rows)
            cost = plan.costs[batch.end] - plan.costs[batch.start]
            pace.learn(cost, scored.seconds)
            spent += cost
            progress(total * spent / plan.costs[-1], total)
        self._widths[metric.spec.key] = table.shape[1]
        return table

    def _width(self, metric: Metric) -> int:
        """The number of statistics of a metric that has nothing to score."""
        if metric.spec.key not in self._widths:
            empty = np.asarray(metric.statistics([]))
            self._widths[metric.spec.key] = empty.shape[1] if empty.ndim == 2 else 1
        return self._widths[metric.spec.key]


def reduce_segments(metric: Metric, statistics: np.ndarray) -> np.ndarray:
    """Segment scores float64[n] from statistics; NaN rows stay NaN and are never shown to the metric."""
    defined = ~np.isnan(statistics).any(axis=1)
    if defined.all() and len(statistics):
        return np.asarray(metric.segment_scores(statistics), dtype=float)
    scores = np.full(len(statistics), np.nan)
    if defined.any():
        scores[defined] = metric.segment_scores(statistics[defined])
    return scores


def reasons(metric: Metric, segments: Sequence[Segment], scores: np.ndarray) -> list[str | None]:
    """Why each score is undefined, in words; None where there is a score."""
    found: list[str | None] = [None] * len(segments)
    for index in np.flatnonzero(np.isnan(scores)).tolist():
        found[index] = unscorable(metric.spec, segments[index]) or "the metric gives no value for these texts"
    return found


def _batches(pool: Pool, ordered: np.ndarray, plan: Plan, pace: Pace, most: int) -> Iterator[Batch]:
    """Batches one after the other; each is cut when it is asked for, with what the pace has learned by then."""
    start = 0
    while start < len(ordered):
        end = plan.end(start, pace.next_budget(plan), max(1, most))
        yield Batch([pool.distinct[index] for index in ordered[start:end].tolist()], start, end)
        start = end


def _checked(metric: Metric, scored: Scored) -> np.ndarray:
    rows = np.asarray(scored.statistics, dtype=float)
    if rows.ndim != 2 or len(rows) != len(scored.batch.segments):
        raise ValueError(f"{metric.spec.id} gave statistics of shape {rows.shape} for {len(scored.batch.segments)} segments")
    return rows

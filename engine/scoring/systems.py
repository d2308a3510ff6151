"""System scores: every system under every metric, with bootstrap intervals computed from the statistics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from engine.corpus.types import Corpus
from engine.metrics.base import Metric
from engine.progress import Progress, part, silent
from engine.scoring.pool import pool_of
from engine.scoring.scorer import Scorer, reasons, reduce_segments
from engine.stats.resampling import bootstrap_chunks, interval

COLUMNS = ("system", "metric", "score", "low", "high", "n", "signature")
SEGMENT_COLUMNS = ("segment", "system", "metric", "score")

BOOTSTRAP_SHARE = 0.05
"""How much of the whole time the intervals take, for the progress bar."""


@dataclass(frozen=True)
class SystemScore:
    """One system under one metric.

    Attributes
    ----------
    score : of the whole corpus, in the metric's unit; NaN where no segment is defined.
    low, high : 95% bootstrap interval; NaN where fewer than two segments are defined.
    n : segments that count.
    undefined : why segments do not count → how many.
    notes : what a reader should know about this number: too few segments, and what the metric itself remarks on its
        statistics (`remarks(statistics) -> list[str]`, where it has that), such as truncated texts.
    """

    system: str
    metric: str
    score: float
    low: float
    high: float
    n: int
    signature: str
    undefined: Mapping[str, int]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class SystemScores:
    """All systems of a corpus under some metrics. The inner keys are metric id, then system.

    Attributes
    ----------
    rows : metric by metric, the systems in the corpus' order.
    statistics : float64[n, k]; NaN rows where undefined.
    segments : segment scores, float64[n].
    reasons : per segment why its score is undefined, or None.
    """

    rows: tuple[SystemScore, ...]
    statistics: Mapping[str, Mapping[str, np.ndarray]]
    segments: Mapping[str, Mapping[str, np.ndarray]]
    reasons: Mapping[str, Mapping[str, list[str | None]]]

    def row(self, metric: str, system: str) -> SystemScore:
        """One system under one metric (an id).

        Raises
        ------
        KeyError : no such pair.
        """
        for item in self.rows:
            if (item.metric, item.system) == (metric, system):
                return item
        raise KeyError((metric, system))

    def to_frame(self) -> pd.DataFrame:
        """One row per metric and system, with `COLUMNS`."""
        return pd.DataFrame({name: _series([getattr(row, name) for row in self.rows]) for name in COLUMNS})

    def undefined_frame(self) -> pd.DataFrame:
        """Why segments do not count: system, metric, reason, count. Empty where all count."""
        rows = [(row.system, row.metric, why, count) for row in self.rows for why, count in row.undefined.items()]
        names = ("system", "metric", "reason", "count")
        return pd.DataFrame({name: _series([row[place] for row in rows]) for place, name in enumerate(names)})

    def segment_frame(self, with_reasons: bool = False) -> pd.DataFrame:
        """One row per metric, system and segment, with `SEGMENT_COLUMNS`, and `reason` for undefined scores if asked for."""
        blocks = [(metric, system, scores) for metric, of in self.segments.items() for system, scores in of.items()]
        lengths = [len(scores) for *_, scores in blocks]
        columns = {
            "segment": np.concatenate([np.arange(length) for length in lengths]) if blocks else np.empty(0, dtype=np.int64),
            "system": _texts(np.repeat(np.array([system for _, system, _ in blocks], dtype=object), lengths)),
            "metric": _texts(np.repeat(np.array([metric for metric, *_ in blocks], dtype=object), lengths)),
            "score": np.concatenate([scores for *_, scores in blocks]) if blocks else np.empty(0),
        }
        if with_reasons:
            whys = [why for metric, system, _ in blocks for why in self.reasons[metric][system]]
            columns["reason"] = _texts(whys)
        return pd.DataFrame(columns)


def score_systems(
    corpus: Corpus,
    metrics: Sequence[Metric],
    scorer: Scorer,
    resamples: int = 1000,
    seed: int = 0,
    progress: Progress = silent,
) -> SystemScores:
    """Score every system of a corpus with every metric.

    Parameters
    ----------
    resamples : bootstrap resamples for the intervals; 0 gives none. All systems and metrics get the same resamples, so
        that differences between them are paired.
    seed : of the resampling.

    Source of the intervals: Koehn 2004, percentile bootstrap over segments.
    """
    share = BOOTSTRAP_SHARE if resamples else 0.0
    names = list(corpus.systems)
    pool = pool_of(corpus)
    statistics: dict[str, dict[str, np.ndarray]] = {}
    shared: dict[tuple[str, bool, bool], np.ndarray] = {}  # metrics that differ in their reduction only
    for place, metric in enumerate(metrics):
        spec = metric.spec
        key = (spec.key, spec.needs_reference, spec.needs_source)
        step = part(progress, place * (1 - share) / len(metrics), (place + 1) * (1 - share) / len(metrics), 1.0)
        if key not in shared:
            shared[key] = scorer.statistics(metric, pool, step)
        statistics[spec.id] = dict(zip(names, np.split(shared[key], len(names)), strict=True)) if names else {}
    resampled = _resample(metrics, statistics, len(corpus), resamples, seed, part(progress, 1 - share, 1.0, 1.0))
    segments, whys, rows = {}, {}, []
    for metric in metrics:
        of = statistics[metric.spec.id]
        scores = segments[metric.spec.id] = {name: reduce_segments(metric, of[name]) for name in names}
        whys[metric.spec.id] = {name: _reasons(metric, corpus, name, scores[name]) for name in names}
        for name in names:
            rows.append(_row(metric, name, of[name], whys[metric.spec.id][name], resampled[metric.spec.id][name]))
    progress(1.0, 1.0)
    return SystemScores(tuple(rows), statistics, segments, whys)


def _reasons(metric: Metric, corpus: Corpus, system: str, scores: np.ndarray) -> list[str | None]:
    """Why each score of a system is undefined, or None."""
    if not np.isnan(scores).any():
        return [None] * len(scores)
    return reasons(metric, corpus.segments(system), scores)


def _series(values: list[Any]) -> pd.Series:
    return _texts(values) if not values or isinstance(values[0], str) else pd.Series(values)


def _texts(values: Sequence[str | None] | np.ndarray) -> pd.Series:
    """Texts as pandas keeps them best; half a surrogate pair (from a file name), which that form cannot hold, stays an object."""
    try:
        return pd.Series(values, dtype="str")
    except UnicodeEncodeError:
        return pd.Series(values, dtype="object")


def _resample(
    metrics: Sequence[Metric],
    statistics: Mapping[str, Mapping[str, np.ndarray]],
    n: int,
    resamples: int,
    seed: int,
    progress: Progress,
) -> dict[str, dict[str, np.ndarray]]:
    """Corpus scores of the same resamples for all metrics and systems, float64[resamples] each."""
    results = {metric: {name: np.full(resamples, np.nan) for name in of} for metric, of in statistics.items()}
    wanted = [
        (metric, table, results[metric.spec.id][name])
        for metric in metrics
        for name, table in statistics[metric.spec.id].items()
        if not np.isnan(table).all()
    ]
    done = 0
    for weights in bootstrap_chunks(n, resamples, np.random.default_rng(seed)):
        rows = slice(done, done + len(weights))
        for metric, table, scores in wanted:
            scores[rows] = metric.corpus_score(table, weights)
        done += len(weights)
        progress(done, resamples)
    return results


def _row(metric: Metric, name: str, table: np.ndarray, whys: Sequence[str | None], resampled: np.ndarray) -> SystemScore:
    undefined = Counter(why for why in whys if why is not None)
    n = len(table) - sum(undefined.values())
    score = float(metric.corpus_score(table)) if n else float("nan")
    low, high = interval(resampled) if n > 1 else (float("nan"), float("nan"))
    notes = []
    if n == 0:
        notes.append("no segment has a score")
    elif n == 1:
        notes.append("one segment is too few for an interval")
    remarks = getattr(metric, "remarks", None)
    if remarks is not None and n:
        notes += remarks(table[~np.isnan(table).any(axis=1)])
    return SystemScore(name, metric.spec.id, score, low, high, n, metric.spec.signature, dict(undefined), tuple(notes))

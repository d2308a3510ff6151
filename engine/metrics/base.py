"""What a metric is: statistics per segment, and two ways to reduce them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from engine.corpus.types import Segment
from engine.options import join_pairs, to_pairs


@dataclass(frozen=True)
class MetricSpec:
    """What can be said of a metric without running it.

    Attributes
    ----------
    id : the name that makes this metric again, options included (`bertscore:layer=5`).
    name : the name on screen.
    needs_reference, needs_source : what a segment must have to be scored.
    higher_is_better : False for error rates.
    range : smallest and largest possible score, in the metric's unit; infinite where there is no bound.
    signature : everything that decides the number: versions, tokeniser, model revision, layer, …
    statistics_key : what decides the *statistics*, where that is less than the signature; else the signature.
    slow : True where one call costs so much that even scores of perturbed variants are worth storing.
    batch_size : how many segments one call of `statistics` should get at most.
    """

    id: str
    name: str
    needs_reference: bool
    needs_source: bool
    higher_is_better: bool
    range: tuple[float, float]
    signature: str
    statistics_key: str = ""
    slow: bool = False
    batch_size: int = 4096

    @property
    def key(self) -> str:
        """The identity of the statistics in the store."""
        return self.statistics_key or self.signature


class Metric(Protocol):
    """A metric knows texts and numbers; it knows nothing of caches, pages or explanations."""

    @property
    def spec(self) -> MetricSpec: ...

    def statistics(self, segments: Sequence[Segment]) -> np.ndarray:
        """Per-segment statistics, float64[n_segments, k]. Every segment is scorable (see `unscorable`)."""
        ...

    def segment_scores(self, statistics: np.ndarray) -> np.ndarray:
        """Scores of single segments, float64[n_segments]; NaN where the statistics are NaN."""
        ...

    def corpus_score(self, statistics: np.ndarray, weights: np.ndarray | None = None) -> float | np.ndarray:
        """The score of a set of segments; rows that are NaN do not count.

        `weights` float64[n_segments] says how often each segment counts; float64[b, n_segments] gives float64[b], one
        score per row of weights (bootstrap resamples). NaN where no segment counts.
        """
        ...


def unscorable(spec: MetricSpec, segment: Segment) -> str | None:
    """Why this metric is undefined for this segment, in words; None where it is defined."""
    if segment.hypothesis is None:
        return "the system has no output for this segment"
    if spec.needs_reference and not segment.references:
        return "the segment has no reference"
    if spec.needs_source and segment.source is None:
        return "the segment has no source"
    return None


def weighted_sums(statistics: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Sums of the defined rows and how much weight they carry.

    Returns
    -------
    (float64[k], float64[]) without weights or with weights of shape [n]; (float64[b, k], float64[b]) with [b, n].
    """
    if weights is None:
        weights = np.ones(len(statistics))
    sums = weights @ statistics
    if np.isfinite(sums).all():  # the usual case: all rows are defined, for a row of NaN makes NaN of all sums
        return sums, weights.sum(axis=-1)
    defined = ~np.isnan(statistics).any(axis=1)
    kept = weights[..., defined]
    return kept @ statistics[defined], kept.sum(axis=-1)


def metric_id(name: str, options: Any) -> str:
    """The name that makes a metric again: `bertscore:layer=5` for options that differ from their defaults."""
    pairs = to_pairs(options)
    return f"{name}:{join_pairs(pairs)}" if pairs else name


class MeanMetric:
    """The reductions of a metric whose corpus score is the mean of its segment scores (column 0 of its statistics)."""

    def segment_scores(self, statistics: np.ndarray) -> np.ndarray:
        return statistics[:, 0]

    def corpus_score(self, statistics: np.ndarray, weights: np.ndarray | None = None) -> float | np.ndarray:
        sums, total = weighted_sums(self.segment_scores(statistics)[:, None], weights)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.where(total > 0, sums[..., 0] / total, np.nan)
        return float(means) if means.ndim == 0 else means

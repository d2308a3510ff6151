"""From statistics of sentences, masked and not, to MuLER and its interval."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.metrics.base import MeanMetric, Metric
from engine.metrics.bleu import Bleu
from engine.metrics.chrf import Chrf
from engine.metrics.ter import Ter
from engine.scoring.scorer import reduce_segments
from engine.stats.resampling import bootstrap_chunks

_CELLS = 2_000_000  # weights that are unpacked at once
_FLAT = 1e-9  # oracle and anti-oracle closer than this, in relation to their size, are equal

Reducer = Callable[[np.ndarray], float]
"""Statistics float64[m, k] of some sentences to their score."""


def reducer(metric: Metric, mode: str) -> Reducer:
    """How the score of a set of sentences is made: the metric's own corpus score, or the mean of their scores (`paper`)."""
    if mode == "corpus":
        return lambda statistics: float(metric.corpus_score(statistics))
    return lambda statistics: float(reduce_segments(metric, statistics).mean()) if len(statistics) else float("nan")


def muler(score: Any, oracle: Any, anti_oracle: Any) -> Any:
    """How much of the reachable gain is missed: (oracle − score) / (oracle − anti-oracle); NaN where these two are equal.

    Parameters
    ----------
    score, oracle, anti_oracle : numbers or arrays, in the metric's unit; error rates as they are.

    Source: Karidi et al. 2023, section 3.
    """
    score, oracle, anti_oracle = (np.asarray(value, float) for value in (score, oracle, anti_oracle))
    reach = oracle - anti_oracle
    flat = ~(np.abs(reach) > _FLAT * np.maximum(np.abs(oracle), np.abs(anti_oracle)))
    with np.errstate(invalid="ignore", divide="ignore"):
        value = np.where(flat, np.nan, (oracle - score) / reach)
    return float(value) if value.ndim == 0 else value


class Resamples:
    """Bootstrap resamples of the corpus' segments, the same for all systems, features and metrics.

    Parameters
    ----------
    n : segments of the corpus.
    resamples : how many; 0 gives none.
    seed : of the draws.
    """

    def __init__(self, n: int, resamples: int, seed: int) -> None:
        self.count = resamples
        self._weights = np.empty((n, resamples), np.uint16)  # by segment, so that a few segments are read quickly
        done = 0
        for chunk in bootstrap_chunks(n, resamples, np.random.default_rng(seed)):
            self._weights[:, done : done + len(chunk)] = chunk.T
            done += len(chunk)

    def scores(self, metric: Metric, mode: str, tables: Sequence[np.ndarray], segments: np.ndarray) -> list[np.ndarray]:
        """Scores of each resample, float64[resamples] for each table.

        Parameters
        ----------
        mode : see `reducer`.
        tables : statistics float64[m, k] of the same m segments.
        segments : int64[m], their places in the corpus.
        """
        if mode == "paper" or isinstance(metric, MeanMetric):
            return list(self.means([reduce_segments(metric, table) for table in tables], segments))
        if isinstance(metric, Bleu | Chrf | Ter):
            return [_of_sums(metric, sums) for sums in np.split(self._sums(np.hstack(tables), segments), len(tables), axis=1)]
        results = [np.full(self.count, np.nan) for _ in tables]
        for start, weights in self._chunks(segments):
            for result, table in zip(results, tables):
                result[start : start + len(weights)] = metric.corpus_score(table, weights)
        return results

    def means(self, scores: Sequence[np.ndarray], segments: np.ndarray) -> np.ndarray:
        """Mean scores of each resample, float64[len(scores), resamples]; NaN where a resample has none of the segments."""
        sums = self._sums(np.stack([*scores, np.ones(len(segments))], axis=1), segments).T
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(sums[-1] > 0, sums[:-1] / sums[-1], np.nan)

    def _sums(self, columns: np.ndarray, segments: np.ndarray) -> np.ndarray:
        """Sums of columns float64[m, c] in each resample, float64[resamples, c]."""
        return np.concatenate([np.empty((0, columns.shape[1])), *(weights @ columns for _, weights in self._chunks(segments))])

    def _chunks(self, segments: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """How often some segments occur in the resamples, float64[b, m] from resample `start` on."""
        step = max(1, _CELLS // max(len(segments), 1))
        for start in range(0, self.count, step):
            yield start, self._weights[segments, start : start + step].T.astype(np.float64)


def _of_sums(metric: Bleu | Chrf | Ter, sums: np.ndarray) -> np.ndarray:
    """Corpus scores from sums of statistics, float64[b]; NaN where nothing was summed."""
    return np.where(sums.any(axis=1), metric.scores_of_sums(sums), np.nan)


@dataclass(frozen=True, eq=False)
class Value:
    """One feature of one system, as numbers.

    Attributes
    ----------
    segments : the places in the corpus of the sentences that count, int64[n].
    score, oracle, anti_oracle, muler, abl_muler : see `engine.muler.results.FeatureScore`; NaN where undefined.
    resampled : MuLER in each resample, float64[resamples]; empty where MuLER is undefined.
    gains : abl-MuLER in each resample, likewise.
    """

    segments: np.ndarray
    score: float
    oracle: float
    anti_oracle: float
    muler: float
    abl_muler: float
    resampled: np.ndarray
    gains: np.ndarray

    @property
    def n(self) -> int:
        """How many sentences count."""
        return len(self.segments)


def no_value(segments: np.ndarray) -> Value:
    """What stands where these sentences are too few."""
    nan = float("nan")
    return Value(segments, nan, nan, nan, nan, nan, np.empty(0), np.empty(0))


def value_of(
    metric: Metric, mode: str, tables: Sequence[np.ndarray], segments: np.ndarray, minimum: int, resamples: Resamples
) -> Value:
    """MuLER of one feature and system.

    Parameters
    ----------
    tables : statistics float64[m, k] of the sentences as they are, under the oracle and under the anti-oracle.
    segments : int64[m], which segments of the corpus these are.
    minimum : fewest sentences for which there is a value.
    """
    defined = ~np.any([np.isnan(table).any(axis=1) for table in tables], axis=0)
    tables, segments = [table[defined] for table in tables], segments[defined]
    n = len(segments)
    if n < minimum:
        return no_value(segments)
    reduce = reducer(metric, mode)
    score, oracle, anti = (reduce(table) for table in tables)
    ratio = muler(score, oracle, anti)
    sign = 1 if metric.spec.higher_is_better else -1
    resampled, gains = np.empty(0), np.empty(0)
    if not np.isnan(ratio) and n > 1 and resamples.count:
        drawn = resamples.scores(metric, mode, tables, segments)
        resampled, gains = muler(*drawn), sign * (drawn[1] - drawn[0])
    return Value(segments, score, oracle, anti, ratio, sign * (oracle - score), resampled, gains)


def losses_of(metric: Metric, value: Value, tables: Sequence[np.ndarray]) -> np.ndarray:
    """What makes a value odd, sentence by sentence, float64[m] in the metric's unit, better scores counting as higher.

    By how much the oracle is worse than the sentence as it is where MuLER is below 0, else by how much that is worse than the
    anti-oracle.
    """
    sign = 1 if metric.spec.higher_is_better else -1
    score, oracle, anti = (sign * reduce_segments(metric, table) for table in tables)
    return score - oracle if value.muler < 0 else anti - score

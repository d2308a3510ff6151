"""Bootstrap resampling: weights, percentile intervals, and the paired test of two systems."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from engine.progress import Progress, silent

CELLS = 1_000_000
"""How many weights are held at once: 8 MB, which stay in the processor's cache while they are used."""

Score = Callable[[np.ndarray], np.ndarray]
"""From weights float64[b, n] to one score per row, float64[b]."""


@dataclass(frozen=True)
class PairedBootstrap:
    """The difference of two systems under the paired bootstrap.

    Attributes
    ----------
    delta : score of A minus score of B on the segments as they are.
    low, high : 95% percentile interval of the difference.
    p_value : two-sided; NaN where the difference is undefined.
    resamples : how many resamples were defined.
    """

    delta: float
    low: float
    high: float
    p_value: float
    resamples: int


def bootstrap_weights(n: int, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """How often each of n segments occurs in each resample drawn with replacement.

    Returns
    -------
    float64[resamples, n]; every row sums to n.
    """
    return np.concatenate([np.empty((0, n)), *bootstrap_chunks(n, resamples, rng)])


def bootstrap_chunks(n: int, resamples: int, rng: np.random.Generator, cells: int = CELLS) -> Iterator[np.ndarray]:
    """The rows of `bootstrap_weights` in pieces of at most `cells` numbers; the same rows whatever the pieces.

    A multinomial draw is made as n uniform draws that are counted, which is exact and, for large n, several times
    faster than `Generator.multinomial`.
    """
    step = max(1, cells // max(n, 1))
    kind = np.int32 if n < 2**31 else np.int64  # the same draws
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        weights = np.empty((rows, n))
        for row in range(rows if n else 0):
            weights[row] = np.bincount(rng.integers(0, n, size=n, dtype=kind), minlength=n)
        yield weights


def interval(values: np.ndarray, level: float = 0.95) -> tuple[float, float]:
    """The percentile interval of resampled values.

    Parameters
    ----------
    values : float64[b]; undefined resamples (NaN) do not count.
    level : how much of the distribution the interval holds.

    Returns
    -------
    (low, high) in the unit of the values; (NaN, NaN) when fewer than two are defined.
    """
    defined = values[~np.isnan(values)]
    if len(defined) < 2:
        return float("nan"), float("nan")
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def paired_bootstrap(
    score_a: Score,
    score_b: Score,
    n: int,
    resamples: int,
    rng: np.random.Generator,
    level: float = 0.95,
    progress: Progress = silent,
) -> PairedBootstrap:
    """Compare two systems on the same resamples of the same n segments.

    Parameters
    ----------
    score_a, score_b : from weights float64[b, n] to scores float64[b].

    Source: Koehn 2004, with the p-value of sacrebleu's paired bootstrap (see `folded_p_value`).
    """
    parts = []
    for weights in bootstrap_chunks(n, resamples, rng):
        parts.append(np.atleast_1d(score_a(weights)) - np.atleast_1d(score_b(weights)))
        progress(sum(map(len, parts)), resamples)
    deltas = np.concatenate(parts) if parts else np.empty(0)
    once = np.ones((1, n))
    delta = float(np.atleast_1d(score_a(once))[0] - np.atleast_1d(score_b(once))[0])
    low, high = interval(deltas, level)
    return PairedBootstrap(delta, low, high, folded_p_value(deltas, delta), int((~np.isnan(deltas)).sum()))


def bootstrap_p_value(deltas: np.ndarray, delta: float) -> float:
    """Two-sided p-value of a difference from its bootstrap distribution, moved so that it lies around 0.

    p = (1 + #{|centred| ≥ |delta|}) / (1 + resamples).

    Parameters
    ----------
    deltas : float64[b], differences in the resamples; NaN does not count.
    delta : the observed difference.

    Returns
    -------
    p in (0, 1]; NaN where the observed difference or every resample is undefined.

    Source: Davison and Hinkley 1997, section 4.4.
    """
    defined = deltas[~np.isnan(deltas)]
    return _share_reaching(np.abs(defined - defined.mean()) if len(defined) else defined, delta)


def folded_p_value(deltas: np.ndarray, delta: float) -> float:
    """The same as sacrebleu's `paired-bs` has it: the differences lose their signs before they are centred, not after.

    Where the systems do not differ this is about half of `bootstrap_p_value`, so too many differences pass for significant.

    Source: Riezler and Maxwell 2005, as sacrebleu computes it, but for one thing: it counts > instead of ≥, and so
    calls two identical systems significantly different.
    """
    sizes = np.abs(deltas[~np.isnan(deltas)])
    return _share_reaching(sizes - sizes.mean() if len(sizes) else sizes, delta)


def _share_reaching(sizes: np.ndarray, delta: float) -> float:
    if np.isnan(delta) or len(sizes) == 0:
        return float("nan")
    reached = int(np.sum(sizes >= abs(delta) - 1e-12 * max(1.0, abs(delta))))
    return (reached + 1) / (len(sizes) + 1)

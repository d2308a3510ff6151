"""Power means of word importances: one number per segment, for every exponent p of the grid (BMX, arXiv 2212.10469)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from engine.threads import available_threads

PER_UNIT = 10  # the grid's exponents are whole numbers divided by this, so that they are exact
P_GRID = np.arange(-300, 300) / PER_UNIT
"""The exponents of the grid: -30.0, -29.9 … 29.9."""

REGULARISATIONS = ("paper", "minmax", "softplus", "rank")
GEOMETRIC = 1e-6  # exponents nearer to zero than this mean the geometric mean
FLOOR = 1e-9
_AT_FLOOR = np.log(1.001 * FLOOR)


@dataclass(frozen=True, eq=False)
class Importances:
    """Word importances of n segments, one after another.

    Attributes
    ----------
    values : float64[m], in the metric's own unit; a segment that holds a NaN or an infinity has no power mean.
    offsets : int64[n + 1]; segment i has the words offsets[i] … offsets[i + 1].
    """

    values: np.ndarray
    offsets: np.ndarray

    @classmethod
    def of(cls, segments: Sequence[np.ndarray]) -> Importances:
        """From one vector per segment (empty where a segment has no words)."""
        lengths = [len(values) for values in segments]
        joined = np.concatenate(segments) if segments else np.empty(0)
        return cls(np.asarray(joined, np.float64), np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True, eq=False)
class PowerMeans:
    """Power means of n segments for P exponents, and where they say nothing.

    Attributes
    ----------
    p : float64[P].
    means : float64[P, n]; NaN for a segment without words or with an undefined importance.
    below, above : float64[n]; a segment *collapses* at every p ≤ below and every p ≥ above: there its mean is decided by a
        constant of the regularisation and by the number of words, no longer by the importances (see `collapsed`).
    """

    p: np.ndarray
    means: np.ndarray
    below: np.ndarray
    above: np.ndarray

    def collapsed(self, p: float) -> np.ndarray:
        """Which segments collapse at this exponent, bool[n].

        At least 99.9% of the power sum then comes from words at the constant: 1e-9, where `paper` and `minmax` put the least
        important word, or 1, where `minmax` puts the most important one. `softplus` and `rank` have no such constant.
        """
        return (p <= self.below) | (p >= self.above)

    def collapsed_counts(self) -> np.ndarray:
        """How many segments collapse at each exponent, int64[P]."""
        defined = ~np.isnan(self.means[0]) if len(self.means) else np.zeros(len(self.below), bool)
        inside = (self.p[:, None] > self.below[defined]) & (self.p[:, None] < self.above[defined])
        return defined.sum() - inside.sum(axis=1)

    def only(self, chosen: np.ndarray) -> PowerMeans:
        """The same for some of the segments."""
        return PowerMeans(self.p, self.means[:, chosen], self.below[chosen], self.above[chosen])

    def at(self, p: float) -> np.ndarray:
        """The means for one exponent of the grid, float64[n]."""
        return self.means[nearest(self.p, p)]


def nearest(grid: np.ndarray, value: float) -> int:
    """The place of the grid's value that is nearest; an infinite value is nearest to an end of the grid."""
    return int(np.argmin(np.abs(grid - np.clip(value, grid.min(), grid.max()))))


def power_means(
    importances: Importances,
    p: np.ndarray = P_GRID,
    regularisation: str = "paper",
    threads: int | None = None,
) -> PowerMeans:
    """Power means M_p = (mean of v^p)^(1/p) of each segment's regularised importances v.

    Exponents that are a stretch of the grid take the fast way (a running product); any others, infinite ones included, are
    computed one by one.

    Parameters
    ----------
    p : float64[P]; |p| < 1e-6 is the geometric mean, -∞ the smallest and +∞ the largest value.
    regularisation : how importances are made positive, see `log_values`.
    threads : how many processor threads to use; all of them when None.

    Returns
    -------
    The means, float64[P, n], in the regularised importances' unit.
    """
    logs = log_values(importances, regularisation)
    exponents = np.atleast_1d(np.asarray(p, np.float64))
    floor = _AT_FLOOR if regularisation in ("paper", "minmax") else np.nan
    ceiling = 0.0 if regularisation == "minmax" else np.nan
    stretch = _grid_stretch(exponents)
    if stretch is None:
        return _one_by_one(logs, importances.offsets, exponents, floor, ceiling)
    return _by_running_product(logs, importances.offsets, exponents, stretch, floor, ceiling, threads)


def log_values(importances: Importances, regularisation: str = "paper") -> np.ndarray:
    """Natural logarithms of the importances after they were made positive, segment by segment.

    `paper`: shifted by |minimum| + 1e-9 where the minimum is ≤ 0, else by 1e-9 (BMX). `minmax`: stretched to [1e-9, 1]; all 1
    where all are equal. `softplus`: log(1 + exp φ). `rank`: (1 + s / (n + 1)) / 2, with s the rank of |φ| (ties averaged)
    carrying the sign of φ, so that scale plays no role but sign and order do.

    Returns
    -------
    float64[m]; NaN for every word of a segment that holds a NaN or an infinity.
    """
    if regularisation not in REGULARISATIONS:
        raise ValueError(f"unknown regularisation {regularisation!r}; choose one of {', '.join(REGULARISATIONS)}")
    if len(importances.values) == 0:
        return np.empty(0)
    filled = np.flatnonzero(np.diff(importances.offsets))
    starts = importances.offsets[filled]
    lengths = np.diff(importances.offsets)[filled]
    spread = partial(np.repeat, repeats=lengths)
    finite = spread(np.logical_and.reduceat(np.isfinite(importances.values), starts))
    values = np.where(finite, importances.values, 0.0)
    logs = _REGULARISE[regularisation](values, starts, lengths, spread)
    return np.where(finite, logs, np.nan)


Spread = Callable[[np.ndarray], np.ndarray]  # one number per segment → one per word


def _paper(values: np.ndarray, starts: np.ndarray, lengths: np.ndarray, spread: Spread) -> np.ndarray:
    smallest = spread(np.minimum.reduceat(values, starts))
    return np.log(np.where(smallest <= 0, values + np.abs(smallest) + FLOOR, values + FLOOR))


def _minmax(values: np.ndarray, starts: np.ndarray, lengths: np.ndarray, spread: Spread) -> np.ndarray:
    smallest = spread(np.minimum.reduceat(values, starts))
    width = spread(np.maximum.reduceat(values, starts)) - smallest
    share = np.divide(values - smallest, width, out=np.ones_like(values), where=width > 0)
    return np.log(FLOOR + (1 - FLOOR) * share)


def _softplus(values: np.ndarray, starts: np.ndarray, lengths: np.ndarray, spread: Spread) -> np.ndarray:
    small = np.minimum(values, 0.0)
    exact = np.log(np.logaddexp(0.0, np.maximum(values, -30.0)))
    return np.where(values < -30.0, small, exact)  # log(1 + e^φ) = e^φ to the last bit there


def _rank(values: np.ndarray, starts: np.ndarray, lengths: np.ndarray, spread: Spread) -> np.ndarray:
    segment = spread(np.arange(len(starts)))
    sizes = np.abs(values)
    order = np.lexsort((sizes, segment))
    new = np.ones(len(order), bool)
    new[1:] = (np.diff(sizes[order]) != 0) | (np.diff(segment[order]) != 0)
    run_starts = np.flatnonzero(new)
    run_ends = np.append(run_starts[1:], len(order))
    places = (run_starts + 1 + run_ends) / 2 - starts[segment[order][run_starts]]
    ranks = np.empty(len(order))
    ranks[order] = np.repeat(places, run_ends - run_starts)
    return np.log((1 + np.sign(values) * ranks / (spread(lengths) + 1)) / 2)


_REGULARISE = {"paper": _paper, "minmax": _minmax, "softplus": _softplus, "rank": _rank}


def _grid_stretch(exponents: np.ndarray) -> tuple[int, int] | None:
    """First and last whole number when the exponents are consecutive grid points, else None."""
    if len(exponents) < 4 or not np.isfinite(exponents).all():
        return None
    numbers = np.rint(exponents * PER_UNIT)
    if np.array_equal(numbers / PER_UNIT, exponents) and (np.diff(numbers) == 1).all():
        return int(numbers[0]), int(numbers[-1])
    return None


def _by_running_product(
    logs: np.ndarray,
    offsets: np.ndarray,
    exponents: np.ndarray,
    stretch: tuple[int, int],
    floor: float,
    ceiling: float,
    threads: int | None,
) -> PowerMeans:
    from engine.boost.kernels import grid_means

    n = len(offsets) - 1
    result = PowerMeans(exponents, np.empty((len(exponents), n)), np.empty(n), np.empty(n))
    workers = threads or available_threads()
    cuts = np.searchsorted(offsets[:-1], np.linspace(0, len(logs), 4 * workers + 1)[1:-1])
    borders = np.unique(np.concatenate([[0], cuts, [n]]))

    def work(begin: int, end: int) -> None:
        grid_means(logs, offsets, begin, end, *stretch, PER_UNIT, floor, ceiling, result.means, result.below, result.above)

    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(work, int(begin), int(end)) for begin, end in zip(borders[:-1], borders[1:])]:
            done.result()
    return result


def _one_by_one(logs: np.ndarray, offsets: np.ndarray, exponents: np.ndarray, floor: float, ceiling: float) -> PowerMeans:
    n = len(offsets) - 1
    result = PowerMeans(exponents, np.full((len(exponents), n), np.nan), np.full(n, -np.inf), np.full(n, np.inf))
    lengths = np.diff(offsets)
    filled = np.flatnonzero(lengths)
    if not len(filled):
        return result
    starts, counts = offsets[filled], lengths[filled]
    at_floor = np.add.reduceat((logs <= floor).astype(float), starts)
    at_ceiling = np.add.reduceat((logs >= ceiling).astype(float), starts)
    below, above = result.below, result.above
    for row, p in enumerate(exponents):
        means, shares = _power_mean(logs, starts, counts, p)
        result.means[row, filled] = means
        if p < 0:
            hit = filled[at_floor >= 0.999 * shares]
            below[hit] = np.maximum(below[hit], p)
        elif p > 0:
            hit = filled[at_ceiling >= 0.999 * shares]
            above[hit] = np.minimum(above[hit], p)
    below[filled[(at_floor == counts) | (at_ceiling == counts)]] = np.inf
    return result


def _power_mean(logs: np.ndarray, starts: np.ndarray, counts: np.ndarray, p: float) -> tuple[np.ndarray, np.ndarray]:
    """One power mean per segment, and the power sum in units of the smallest value's (p < 0) or the largest's (p > 0)."""
    if abs(p) < GEOMETRIC:
        return np.exp(np.add.reduceat(logs, starts) / counts), counts.astype(float)
    extreme = np.maximum.reduceat(logs, starts) if p > 0 else np.minimum.reduceat(logs, starts)
    relative = logs - np.repeat(extreme, counts)
    if np.isinf(p):
        shares = np.add.reduceat(np.where(np.isnan(relative), np.nan, relative == 0), starts)
        return np.exp(extreme), shares
    if abs(p) < 0.1:  # near zero expm1 keeps the digits that the sum of powers near one would lose
        excess = np.add.reduceat(np.expm1(p * relative), starts)
        return np.exp(extreme + np.log1p(excess / counts) / p), counts + excess
    shares = np.add.reduceat(np.exp(p * relative), starts)
    return np.exp(extreme + np.log(shares / counts) / p), shares

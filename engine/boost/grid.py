"""The p/w grid: how well w · score + (1 - w) · power mean agrees with human scores, for every p and w (BMX)."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from engine.boost.power import P_GRID, nearest
from engine.progress import Progress, silent
from engine.threads import available_threads

W_GRID = np.arange(6) / 5
"""The weights of the original score: 0, 0.2 … 1; 1 is the original metric."""

COEFFICIENTS = ("kendall", "pearson", "spearman")

MARGIN = 1e-6
"""Correlations that differ by no more are called equal: where the aggregate is all but constant (large |p|), Pearson's
coefficient moves in its last digits only, and such cells would outnumber those that improve."""

REASONS = (
    "",
    "all combined scores are equal (to 10 significant digits)",
    "all human scores are equal",
    "fewer than two items have both a score and a human score",
    "undefined in at least one of the groups that are averaged",
    "the human scores are of whole systems, not of outputs; correlate at system level",
)
_CONSTANT, _CONSTANT_HUMAN, _TOO_FEW, _IN_PART, _SYSTEMS_ONLY = range(1, 6)


@dataclass(frozen=True, eq=False)
class Items:
    """What is correlated in one group: segments, or systems with their means.

    Attributes
    ----------
    group : language pair, criterion, split … as it is shown.
    scores, human : float64[n], the metric's scores and the human scores, both with higher being better.
    aggregates : float64[P, n], power means for every p of the grid.
    systems_only : the human scores are of whole systems, so that outputs have none.
    """

    group: str
    scores: np.ndarray
    aggregates: np.ndarray
    human: np.ndarray
    systems_only: bool = False

    def complete(self) -> Items:
        """Only the items that have a score, a power mean and a human score."""
        kept = ~(np.isnan(self.scores) | np.isnan(self.human) | np.isnan(self.aggregates).any(axis=0))
        if kept.all():
            return self
        return Items(self.group, self.scores[kept], self.aggregates[:, kept], self.human[kept], self.systems_only)


@dataclass(frozen=True, eq=False)
class Surface:
    """The correlation with human scores over the whole grid, for one group.

    Attributes
    ----------
    group, coefficient : what was correlated, and how (`kendall` is tau-b).
    n : number of items (segments or systems) behind every cell.
    p, w : float64[P], float64[W].
    correlation : float64[P, W]; NaN where undefined.
    reasons : int8[P, W], places in `REASONS`.
    original : the unboosted metric's correlation (w = 1); NaN where undefined.
    original_reason : why it is undefined, else an empty text.
    """

    group: str
    coefficient: str
    n: int
    p: np.ndarray
    w: np.ndarray
    correlation: np.ndarray
    reasons: np.ndarray
    original: float
    original_reason: str

    def cell(self, p: float, w: float) -> tuple[float, str]:
        """The correlation nearest to (p, w) on the grid, and why it is undefined where it is."""
        row, column = nearest(self.p, p), nearest(self.w, w)
        return float(self.correlation[row, column]), REASONS[self.reasons[row, column]]

    @property
    def improving(self) -> np.ndarray:
        """Where boosting beats the original metric (by more than `MARGIN`), bool[P, W]."""
        return (self.correlation - self.original > MARGIN) & (self.w != 1)

    def to_frame(self) -> pd.DataFrame:
        """One row per cell: p, w, group, correlation, original."""
        rows, columns = self.correlation.shape
        return pd.DataFrame(
            {
                "p": np.repeat(self.p, columns),
                "w": np.tile(self.w, rows),
                "group": self.group,
                "correlation": self.correlation.ravel(),
                "original": self.original,
            }
        )


def surfaces(
    groups: Sequence[Items],
    coefficient: str = "kendall",
    p: np.ndarray = P_GRID,
    w: np.ndarray = W_GRID,
    threads: int | None = None,
    progress: Progress = silent,
) -> list[Surface]:
    """The whole grid for every group.

    Combined scores are rounded to 10 significant digits before they are ranked, since near-ties in collapsed regions would
    otherwise hang on the last bit. w = 1 is the original metric and is computed once.

    Parameters
    ----------
    groups : their aggregates must have one row per exponent of `p`.
    coefficient : `kendall` (tau-b), `pearson` or `spearman`.
    threads : processor threads to use; all of them when None. May be called from background threads.
    """
    if coefficient not in COEFFICIENTS:
        raise ValueError(f"unknown coefficient {coefficient!r}; choose one of {', '.join(COEFFICIENTS)}")
    done = 0
    results = []
    with ThreadPoolExecutor(threads or available_threads()) as pool:
        for items in groups:
            results.append(_surface(items.complete(), coefficient, np.asarray(p), np.asarray(w), pool))
            done += 1
            progress(done, len(groups))
    return results


def to_frame(results: Sequence[Surface]) -> pd.DataFrame:
    """All surfaces as one table: p, w, group, correlation, original."""
    if not results:
        return pd.DataFrame(columns=["p", "w", "group", "correlation", "original"])
    return pd.concat([surface.to_frame() for surface in results], ignore_index=True)


def average(results: Sequence[Surface], name: str) -> Surface:
    """The mean of several surfaces, cell by cell; undefined where one of them is."""
    first = results[0]
    correlation = np.mean([surface.correlation for surface in results], axis=0)
    original = float(np.mean([surface.original for surface in results]))
    reasons = np.where(np.isnan(correlation), _IN_PART, 0).astype(np.int8)
    why = REASONS[_IN_PART] if np.isnan(original) else ""
    count = sum(surface.n for surface in results)
    return Surface(name, first.coefficient, count, first.p, first.w, correlation, reasons, original, why)


def stretches(p: np.ndarray, wanted: np.ndarray) -> list[tuple[float, float]]:
    """The stretches of exponents where `wanted` (bool[P]) holds, as (first, last)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], wanted, [False]]).astype(np.int8)))
    return [(float(p[start]), float(p[end - 1])) for start, end in zip(edges[::2], edges[1::2])]


def correlate(scores: np.ndarray, human: np.ndarray, coefficient: str, systems_only: bool = False) -> tuple[float, str]:
    """One correlation computed just as a cell of the grid is, and why it is undefined where it is (else an empty text)."""
    items = Items("", scores, np.asarray(scores)[None, :], human, systems_only).complete()
    values, reasons = _cells(items, coefficient, np.ones(1))
    return float(values[0, 0]), REASONS[reasons[0, 0]]


def _surface(items: Items, coefficient: str, p: np.ndarray, w: np.ndarray, pool: ThreadPoolExecutor) -> Surface:
    if len(items.aggregates) != len(p):
        raise ValueError(f"group {items.group!r} has power means for {len(items.aggregates)} exponents, the grid has {len(p)}")
    original, reason = correlate(items.scores, items.human, coefficient, items.systems_only)
    mixed = np.flatnonzero(w != 1)
    correlation = np.full((len(p), len(w)), original)
    reasons = np.full((len(p), len(w)), REASONS.index(reason), np.int8)
    pieces = np.array_split(np.arange(len(p)), 4)

    def work(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        part = replace(items, aggregates=items.aggregates[rows[0] : rows[-1] + 1])
        return _cells(part, coefficient, w[mixed])

    for rows, (values, codes) in zip(pieces, pool.map(work, [rows for rows in pieces if len(rows)])):
        correlation[np.ix_(rows, mixed)] = values
        reasons[np.ix_(rows, mixed)] = codes
    return Surface(items.group, coefficient, len(items.scores), p, w, correlation, reasons, original, reason)


def _cells(items: Items, coefficient: str, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Correlations and reason codes, float64[P, W] and int8[P, W]; `items` are complete."""
    shape = (len(items.aggregates), len(weights))
    problem = 0
    if len(items.scores) < 2:
        problem = _SYSTEMS_ONLY if items.systems_only else _TOO_FEW
    elif np.ptp(items.human) == 0:
        problem = _CONSTANT_HUMAN
    if problem:
        return np.full(shape, np.nan), np.full(shape, problem, np.int8)
    if coefficient == "pearson":
        return _pearson_cells(items, weights)
    return _rank_cells(items, weights, coefficient == "kendall")


def _rank_cells(items: Items, weights: np.ndarray, kendall: bool) -> tuple[np.ndarray, np.ndarray]:
    from engine.boost.kernels import rank_surface

    values = np.empty((len(items.aggregates), len(weights)))
    reasons = np.zeros(values.shape, np.int8)
    _, dense, counts = np.unique(items.human, return_inverse=True, return_counts=True)
    average = (np.cumsum(counts) - (counts - 1) / 2)[dense]
    aggregates = np.ascontiguousarray(items.aggregates)
    rank_surface(
        np.ascontiguousarray(items.scores), aggregates, weights, dense, average - average.mean(), kendall, values, reasons
    )
    return values, reasons


def _pearson_cells(items: Items, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pearson from moments: w enters only through sums that all cells share."""
    scores, human, n = items.scores - items.scores.mean(), items.human - items.human.mean(), len(items.scores)
    middle = items.aggregates.mean(axis=1)
    aggregates = items.aggregates - middle[:, None]
    own = (weights**2) * (scores @ scores)
    other = np.einsum("pn,pn->p", aggregates, aggregates)[:, None] * (1 - weights) ** 2
    variance = own + other + 2 * (aggregates @ scores)[:, None] * weights * (1 - weights)
    covariance = weights * (scores @ human) + (1 - weights) * (aggregates @ human)[:, None]
    level = weights * items.scores.mean() + (1 - weights) * middle[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        values = covariance / np.sqrt(variance) / np.sqrt(human @ human)
    reasons = np.zeros(values.shape, np.int8)
    for row, column in np.argwhere(~(variance > 1e-8 * (own + other)) | ~(variance > 1e-16 * n * level**2)):
        combined = weights[column] * items.scores + (1 - weights[column]) * items.aggregates[row]
        values[row, column], reasons[row, column] = _pearson_direct(combined, human)
    return np.clip(values, -1, 1), reasons


def _pearson_direct(combined: np.ndarray, human: np.ndarray) -> tuple[float, int]:
    """For cells whose moments cancel: scores that are all but constant."""
    from engine.boost.kernels import round_all

    if np.ptp(round_all(combined)) == 0:
        return np.nan, _CONSTANT
    centred = combined - combined.mean()
    return float(centred @ human / np.sqrt(centred @ centred) / np.sqrt(human @ human)), 0

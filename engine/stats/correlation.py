"""Correlation of metric and human scores: Pearson, Spearman, Kendall's tau-b; undefined values carry their reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

PAIR_BLOCK = 2_000_000
"""How many comparisons `kendall_rows` holds at once."""


@dataclass(frozen=True)
class Correlation:
    """A correlation coefficient in −1 … 1 over n pairs; NaN with the reason in `undefined` where there is none."""

    value: float
    n: int
    undefined: str | None = None


def pearson(x: np.ndarray, y: np.ndarray) -> Correlation:
    """Pearson's r of two score vectors, float64[n] each; pairs with a NaN do not count."""
    return _correlate(x, y, pearson_rows, finite=True)


def spearman(x: np.ndarray, y: np.ndarray) -> Correlation:
    """Spearman's rho (Pearson's r of average ranks) of two score vectors; pairs with a NaN do not count."""
    return _correlate(x, y, spearman_rows)


def kendall(x: np.ndarray, y: np.ndarray) -> Correlation:
    """Kendall's tau-b of two score vectors in O(n log² n) time; pairs with a NaN do not count.

    Source: Kendall 1945 (tau-b corrects for ties); Knight 1966 (discordant pairs are the inversions of y sorted by x).
    """
    return _correlate(x, y, lambda a, b: np.array([_tau_b(a[0], b[0])]))


COEFFICIENTS: dict[str, Callable[[np.ndarray, np.ndarray], Correlation]] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
}


def segment_level(metric: np.ndarray, human: np.ndarray, coefficient: str = "kendall") -> Correlation:
    """Correlation over all outputs of all systems.

    Parameters
    ----------
    metric, human : float64[systems, segments]; NaN where there is no score.
    coefficient : a key of `COEFFICIENTS`.
    """
    return COEFFICIENTS[coefficient](np.ravel(metric), np.ravel(human))


def system_level(metric: np.ndarray, human: np.ndarray, coefficient: str = "kendall") -> Correlation:
    """Correlation of the systems' mean scores; both means are taken over the outputs that have both scores.

    Parameters
    ----------
    metric, human : float64[systems, segments]; NaN where there is no score.
    """
    return COEFFICIENTS[coefficient](*common_means(metric, human))


def segment_mean_level(metric: np.ndarray, human: np.ndarray, coefficient: str = "kendall") -> Correlation:
    """The mean, over segments, of the correlation across systems; segments where it is undefined do not count.

    Parameters
    ----------
    metric, human : float64[systems, segments]; NaN where there is no score.

    Returns
    -------
    Correlation whose n is the number of segments that count.
    """
    found = [COEFFICIENTS[coefficient](m, h) for m, h in zip(np.transpose(metric), np.transpose(human), strict=True)]
    values = [item.value for item in found if item.undefined is None]
    if not values:
        return Correlation(float("nan"), 0, "no segment has scores that differ between at least two systems")
    return Correlation(float(np.mean(values)), len(values))


def common_means(metric: np.ndarray, human: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean metric and human score of each system over the outputs that have both, float64[systems] each."""
    both = ~(np.isnan(metric) | np.isnan(human))
    counts = both.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = [np.where(counts > 0, np.where(both, scores, 0.0).sum(axis=1) / counts, np.nan) for scores in (metric, human)]
    return means[0], means[1]


def pearson_rows(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Pearson's r of each row of x with the same row of y, float64[m, n] → float64[m]; NaN where a row is constant."""
    x, y = _standard_rows(x), _standard_rows(y)
    return np.clip((x * y).sum(axis=-1), -1.0, 1.0)


def spearman_rows(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Spearman's rho of each row of x with the same row of y, float64[m, n] → float64[m]; NaN where a row is constant."""
    return pearson_rows(rank_rows(x), rank_rows(y))


def kendall_rows(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Kendall's tau-b of each row of x with the same row of y, for short rows (n² / 2 comparisons a row).

    float64[m, n] → float64[m]; NaN where a row is constant. Rows of length one in x or y are broadcast.
    """
    x, y = np.broadcast_arrays(np.atleast_2d(x), np.atleast_2d(y))
    first, second = np.triu_indices(x.shape[1], k=1)
    step = max(1, PAIR_BLOCK // max(1, len(first)))
    parts = [np.empty(0)]
    for start in range(0, len(x), step):
        rows = slice(start, start + step)
        a = _order(x[rows], first, second)
        b = _order(y[rows], first, second)
        with np.errstate(invalid="ignore", divide="ignore"):
            parts.append((a * b).sum(axis=1) / np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1)))
    return np.concatenate(parts)


ROWS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "pearson": pearson_rows,
    "spearman": spearman_rows,
    "kendall": kendall_rows,
}


def rank_rows(values: np.ndarray) -> np.ndarray:
    """Average ranks within each row, from 1; float64[m, n] → float64[m, n]."""
    values = np.atleast_2d(values)
    rows, n = values.shape
    order = np.argsort(values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    starts = np.ones((rows, n), dtype=bool)
    starts[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    group = np.cumsum(starts.ravel()) - 1  # a new row always starts a new group
    counts = np.bincount(group)
    ends = np.cumsum(counts)
    average = (ends - (counts - 1) / 2)[group] - np.repeat(np.arange(rows) * n, n)
    ranks = np.empty((rows, n))
    np.put_along_axis(ranks, order, average.reshape(rows, n), axis=1)
    return ranks


def inversions(values: np.ndarray) -> int:
    """The number of pairs i < j with values[i] > values[j], in O(n log² n) time."""
    n = len(values)
    ranks = np.unique(values, return_inverse=True)[1].astype(np.int64)
    size = 1 << max(0, (n - 1).bit_length())
    work = np.concatenate([ranks, np.full(size - n, n, dtype=np.int64)])  # larger than all: adds no inversion
    total, width = 0, 1
    while width < size:
        blocks = work.reshape(-1, 2 * width)
        shift = np.arange(len(blocks), dtype=np.int64)[:, None] * (n + 1)
        left, right = (blocks[:, :width] + shift).ravel(), (blocks[:, width:] + shift).ravel()
        # left is sorted as a whole; what lies at or below a right value includes all earlier blocks
        below = np.searchsorted(left, right, side="right").reshape(-1, width)
        total += int((np.arange(1, len(blocks) + 1)[:, None] * width - below).sum())
        work = np.sort(blocks, axis=1).ravel()
        width *= 2
    return total


def _correlate(x: np.ndarray, y: np.ndarray, rows: Callable[..., np.ndarray], finite: bool = False) -> Correlation:
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError(f"two vectors of equal length are needed, not shapes {x.shape} and {y.shape}")
    kept = ~(np.isnan(x) | np.isnan(y))
    x, y = x[kept], y[kept]
    reason = _undefined(x, y, finite)
    if reason is not None:
        return Correlation(float("nan"), len(x), reason)
    return Correlation(float(rows(x[None], y[None])[0]), len(x))


def _undefined(x: np.ndarray, y: np.ndarray, finite: bool) -> str | None:
    if len(x) < 2:
        return f"only {len(x)} pair of scores; at least 2 are needed" if len(x) else "no pair of scores"
    if finite and not (np.isfinite(x).all() and np.isfinite(y).all()):
        return "a score is infinite"
    constant = [name for name, values in (("first", x), ("second", y)) if (values == values[0]).all()]
    if constant:
        which = "both sets of scores are" if len(constant) == 2 else f"the {constant[0]} set of scores is"
        return f"{which} constant"
    return None


def _standard_rows(values: np.ndarray) -> np.ndarray:
    """Rows with mean 0 and length 1; NaN where all values of a row are equal."""
    values = np.atleast_2d(values)
    constant = (values == values[:, :1]).all(axis=1, keepdims=True)
    scale = np.abs(values).max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        centred = values / np.where(scale > 0, scale, 1.0)
        centred = centred - centred.mean(axis=1, keepdims=True)
        largest = np.abs(centred).max(axis=1, keepdims=True)
        centred = centred / largest
        return np.where(constant, np.nan, centred / np.sqrt((centred**2).sum(axis=1, keepdims=True)))


def _order(values: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    a, b = values[:, first], values[:, second]
    return (a > b).astype(np.int8).astype(float) - (a < b)


def _tau_b(x: np.ndarray, y: np.ndarray) -> float:
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    both = (x[1:] != x[:-1]) | (y[1:] != y[:-1])
    pairs = len(x) * (len(x) - 1) // 2
    tied_x, tied_y = _tied_pairs(x), _tied_pairs(np.sort(y))
    tied_both = _pairs(np.diff(np.flatnonzero(np.concatenate([[True], both, [True]]))))
    discordant = inversions(y)
    concordant_minus = pairs - tied_x - tied_y + tied_both - 2 * discordant
    tau = concordant_minus / np.sqrt(float(pairs - tied_x)) / np.sqrt(float(pairs - tied_y))
    return float(np.clip(tau, -1.0, 1.0))


def _tied_pairs(ordered: np.ndarray) -> int:
    edges = np.concatenate([[True], ordered[1:] != ordered[:-1], [True]])
    return _pairs(np.diff(np.flatnonzero(edges)))


def _pairs(counts: np.ndarray) -> int:
    return int((counts * (counts - 1) // 2).sum())

"""Differences of two metrics' correlations when their scores are swapped for whole systems and whole segments."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.threads import available_threads

Differences = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""From swapped systems [m, systems] and segments [m, segments], 0 or 1, to correlation of a less that of b, float64[m]."""

CONSTANT = 1e-12
"""Scores that were standardised to deviation 1 count as constant below this variance."""


def segment_differences(a: np.ndarray, b: np.ndarray, human: np.ndarray, coefficient: str) -> Differences:
    """All outputs together, under any number of swaps at once.

    Parameters
    ----------
    a, b, human : float64[systems, segments], NaN in the same cells; a and b standardised.
    coefficient : pearson, spearman or kendall (tau-b).
    """
    if coefficient == "pearson":
        return _pearson_sums(a, b, human)
    return _kendall_union(a, b, human) if coefficient == "kendall" else _spearman_union(a, b, human)


def segment_mean_differences(a: np.ndarray, b: np.ndarray, human: np.ndarray, coefficient: str) -> Differences:
    """Mean over segments of the correlation across systems, under any number of swaps at once; see `segment_differences`."""
    if coefficient == "pearson":
        return _pearson_columns(a, b, human)
    return _ranked_columns(a, b, human, coefficient == "kendall")


def _pearson_sums(a: np.ndarray, b: np.ndarray, human: np.ndarray) -> Differences:
    """Every sum in Pearson's r is a constant plus a part that is bilinear in the two kinds of coins."""
    n = int((~np.isnan(human)).sum())
    a, b, human = np.nan_to_num(a), np.nan_to_num(b), np.nan_to_num(human)
    fields = [b - a, b**2 - a**2, (b - a) * human]
    human_sums = human.sum(), (human**2).sum()

    def differences(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        rows, columns = rows.astype(float), columns.astype(float)
        moved = [rows @ f.sum(axis=1) + columns @ f.sum(axis=0) - 2 * ((rows @ f) * columns).sum(axis=1) for f in fields]
        first = _pearson(n, a.sum() + moved[0], (a**2).sum() + moved[1], (a * human).sum() + moved[2], *human_sums)
        second = _pearson(n, b.sum() - moved[0], (b**2).sum() - moved[1], (b * human).sum() - moved[2], *human_sums)
        return first - second

    return _in_threads(differences, 256)


def _pearson_columns(a: np.ndarray, b: np.ndarray, human: np.ndarray) -> Differences:
    """As `_pearson_sums`, one column at a time: there only the rows' coins mix, and the column's coin exchanges the two."""
    counts = (~np.isnan(human)).sum(axis=0)
    a, b, human = np.nan_to_num(a), np.nan_to_num(b), np.nan_to_num(human)
    fields = [b - a, b**2 - a**2, (b - a) * human]
    sums_a, sums_b = [a, a**2, a * human], [b, b**2, b * human]
    human_sums = human.sum(axis=0), (human**2).sum(axis=0)

    def differences(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        moved = [rows.astype(float) @ f for f in fields]
        sums_one = [s.sum(axis=0) + m for s, m in zip(sums_a, moved)]
        sums_two = [s.sum(axis=0) - m for s, m in zip(sums_b, moved)]
        one = _pearson(counts, sums_one[0], sums_one[1], sums_one[2], *human_sums)
        two = _pearson(counts, sums_two[0], sums_two[1], sums_two[2], *human_sums)
        swapped = columns.astype(bool)
        return _mean_defined(np.where(swapped, two, one)) - _mean_defined(np.where(swapped, one, two))

    return _in_threads(differences, 32)


@dataclass(frozen=True, eq=False)
class _Union:
    """The cells that count and both metrics' values in them, in ascending order.

    Attributes
    ----------
    row_of, column_of : int64[n], where each cell lies.
    cell, of_second : int64[2n], int8[2n]: the cell of each value, and 1 for the second metric's.
    run_ends : int64[runs], where each run of equal values ends.
    dense : int64[n], human scores as dense ranks.
    sizes : int64[levels], how many human scores have each rank.
    """

    row_of: np.ndarray
    column_of: np.ndarray
    cell: np.ndarray
    of_second: np.ndarray
    run_ends: np.ndarray
    dense: np.ndarray
    sizes: np.ndarray

    @property
    def where(self) -> tuple[np.ndarray, ...]:
        """What kernels need to tell which mixture owns a value."""
        return self.row_of, self.column_of, self.cell, self.of_second


def _union(a: np.ndarray, b: np.ndarray, human: np.ndarray) -> _Union:
    row_of, column_of = np.nonzero(~np.isnan(human))
    n = len(row_of)
    values = np.concatenate([a[row_of, column_of], b[row_of, column_of]])
    order = np.argsort(values, kind="stable")
    run_ends = np.append(np.flatnonzero(np.diff(values[order])) + 1, 2 * n)
    _, dense, sizes = np.unique(human[row_of, column_of], return_inverse=True, return_counts=True)
    return _Union(row_of, column_of, order % n, (order >= n).astype(np.int8), run_ends, dense, sizes)


def _undefined(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    return np.full(len(rows), np.nan)


def _kendall_union(a: np.ndarray, b: np.ndarray, human: np.ndarray) -> Differences:
    """Tau-b: the mixtures' numerators differ by a sum that is linear in the coins, so one product gives all resamples.

    Where the mixtures have equally many ties, that is all. Where not, one of the two numerators is counted.
    """
    from engine.stats.swap_kernels import LANES, mixed_lower, tied_pairs, value_gains

    if (~np.isnan(human)).sum() < 2:
        return _undefined
    cells = _union(a, b, human)
    n = len(cells.dense)
    pairs = n * (n - 1) // 2
    human_pairs = pairs - float((cells.sizes * (cells.sizes - 1) // 2).sum())
    begins = np.append(0, cells.run_ends[:-1])
    runs = np.stack([begins, cells.run_ends], axis=1)[cells.run_ends - begins > 1]
    bits = 16 if n < 1 << 16 else 32
    own_gains, gains = np.empty(n), np.zeros(human.shape)
    value_gains(cells.cell, cells.of_second, cells.run_ends, cells.dense, own_gains)
    gains[cells.row_of, cells.column_of] = own_gains

    def work(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        difference = ((gains @ (1.0 - 2.0 * columns)) * (1.0 - 2.0 * rows)).sum(axis=0)
        tied = np.zeros((2, LANES), np.int64)
        if len(runs):
            tied_pairs(rows, columns, *cells.where, runs, tied)
        own = (pairs - tied).astype(float)
        with np.errstate(invalid="ignore", divide="ignore"):
            if (tied[0] == tied[1]).all():
                return difference / np.sqrt(own[0]) / np.sqrt(human_pairs)
            sums = np.empty(LANES, np.int64)
            packed = rows.view(np.uint64), columns.view(np.uint64)
            human_ties = len(cells.sizes) < n
            mixed_lower(*packed, bits, *cells.where, cells.run_ends, cells.dense, human_ties, sums)
            first = sums - own[0]
            return (first / np.sqrt(own[0]) - (first - difference) / np.sqrt(own[1])) / np.sqrt(human_pairs)

    return _in_lanes(work, np.uint16 if bits == 16 else np.uint32)


def _spearman_union(a: np.ndarray, b: np.ndarray, human: np.ndarray) -> Differences:
    if (~np.isnan(human)).sum() < 2:
        return _undefined
    cells = _union(a, b, human)
    average = (np.cumsum(cells.sizes) - (cells.sizes - 1) / 2)[cells.dense]
    centred = average - average.mean()

    def work(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        from engine.stats.swap_kernels import LANES, mixed_spearman

        product, square = np.empty((2, LANES)), np.empty((2, LANES))
        mixed_spearman(rows, columns, *cells.where, cells.run_ends, centred, product, square)
        with np.errstate(invalid="ignore", divide="ignore"):
            values = product / np.sqrt(square) / np.sqrt(float(centred @ centred))
        return values[0] - values[1]

    return _in_lanes(work, np.int16)


def _ranked_columns(a: np.ndarray, b: np.ndarray, human: np.ndarray, kendall: bool) -> Differences:
    systems, segments = human.shape
    ranks_a, ranks_b = np.zeros((segments, systems), np.int32), np.zeros((segments, systems), np.int32)
    ranks_human = np.full((segments, systems), -1, np.int32)
    sizes = np.zeros(segments)
    for column in range(segments):
        kept = np.flatnonzero(~np.isnan(human[:, column]))
        both = np.unique(np.concatenate([a[kept, column], b[kept, column]]), return_inverse=True)[1]
        ranks_a[column, kept], ranks_b[column, kept] = both[: len(kept)], both[len(kept) :]
        own = ranks_human[column, kept] = np.unique(human[kept, column], return_inverse=True)[1]
        signs = np.sign(own[:, None] - own[None, :])
        sizes[column] = np.abs(signs).sum() if kendall else (signs.sum(axis=1) ** 2).sum()

    def work(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        from engine.stats.swap_kernels import LANES, column_means

        result = np.empty(LANES)
        column_means(rows, columns, ranks_a, ranks_b, ranks_human, sizes, kendall, result)
        return result

    return _in_lanes(work, np.int32)


def _in_lanes(work: Differences, kind: type) -> Differences:
    """Give a kernel its resamples `LANES` at a time, as [systems, LANES] and [segments, LANES] of one integer type."""

    def differences(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        from engine.stats.swap_kernels import LANES

        m = len(rows)
        lanes: list[np.ndarray] = [np.zeros((part.shape[1], LANES), kind) for part in (rows, columns)]
        for lane, part in zip(lanes, (rows, columns)):
            lane[:, :m] = part.T
        return work(*lanes)[:m]

    return _in_threads(differences, 32)


def _in_threads(work: Differences, size: int) -> Differences:
    """Share the resamples out among the processor's threads, `size` at a time; `work` releases the interpreter lock."""

    def differences(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        starts = range(0, len(rows), size)
        with ThreadPoolExecutor(available_threads()) as pool:
            parts = list(pool.map(lambda start: work(rows[start : start + size], columns[start : start + size]), starts))
        return np.concatenate(parts) if parts else np.empty(0)

    return differences


def _pearson(n: Any, total: np.ndarray, square: np.ndarray, product: np.ndarray, human_sum: Any, human_square: Any) -> np.ndarray:
    """Pearson's r from sums; NaN where the scores or the human scores are constant."""
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = square - total**2 / n
        human_variance = human_square - human_sum**2 / n
        flat = (variance <= CONSTANT * n) | (human_variance <= CONSTANT * human_square)
        r = (product - total * human_sum / n) / np.sqrt(variance * human_variance)
    return np.clip(np.where(flat | (np.asarray(n) < 2), np.nan, r), -1.0, 1.0)


def _mean_defined(values: np.ndarray) -> np.ndarray:
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(defined, values, 0.0).sum(axis=1) / defined.sum(axis=1)

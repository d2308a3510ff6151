"""Permutation tests: paired approximate randomisation of two systems, and permute-both of two metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from engine.progress import Progress, silent
from engine.stats.correlation import COEFFICIENTS, ROWS, common_means
from engine.stats.resampling import CELLS
from engine.stats.swaps import Differences, segment_differences, segment_mean_differences

LEVELS = ("segment", "system", "segment-mean")
ALTERNATIVES = ("greater", "two-sided")
AT_ONCE = 1024
"""Resamples between two reports of progress."""

TOLERANCE = 1e-12
"""Permuted values this close to the observed one count as equal: the same numbers summed in another order."""


@dataclass(frozen=True)
class PermutationTest:
    """An observed difference and how often chance reaches it; NaN with the reason in `undefined` where there is none."""

    delta: float
    p_value: float
    resamples: int
    undefined: str | None = None


def paired_randomisation(
    score: Callable[[np.ndarray], np.ndarray],
    n: int,
    resamples: int,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> PermutationTest:
    """Two-sided paired approximate randomisation: outputs of A and B are swapped segment by segment with chance 1/2.

    Parameters
    ----------
    score : from weights float64[b, 2n] to scores float64[b]; the first n segments are those of A, the others those of
        B in the same order. Segments that one system lacks must have been left out on both sides.
    n : segments per system.
    resamples : permutations drawn. p = (1 + #{permuted ≥ observed}) / (1 + resamples).

    Source: Riezler and Maxwell 2005; the smoothing is Phipson and Smyth 2010.
    """
    own, other = np.ones((1, n)), np.zeros((1, n))
    delta = float((_scores(score, own, other) - _scores(score, other, own))[0])
    if np.isnan(delta):
        return PermutationTest(delta, float("nan"), 0, "the difference is undefined")
    reached = 0
    for done, swapped in _coins(resamples, n, rng, 4):
        differences = _scores(score, 1 - swapped, swapped) - _scores(score, swapped, 1 - swapped)
        reached += _reaching(np.abs(differences), abs(delta))
        progress(done, resamples)
    return PermutationTest(delta, (1 + reached) / (1 + resamples), resamples)


def permute_both(
    a: np.ndarray,
    b: np.ndarray,
    human: np.ndarray,
    level: str,
    coefficient: str,
    resamples: int,
    rng: np.random.Generator,
    alternative: str = "greater",
    progress: Progress = silent,
) -> PermutationTest:
    """Test whether metric a correlates better with the human scores than metric b.

    Both metrics are standardised as a whole; each resample swaps their scores for whole systems with chance 1/2, then
    for whole segments with chance 1/2. Outputs that lack one of the three scores do not count.

    Parameters
    ----------
    a, b, human : float64[systems, segments].
    level : "segment" (all outputs together), "system" (means of systems), "segment-mean" (mean over segments of the
        correlation across systems).
    coefficient : pearson, spearman or kendall.
    alternative : "greater" (a is better) or "two-sided".

    Returns
    -------
    PermutationTest with the difference of the correlations. Undefined permuted differences count as reached.

    Source: Deutsch, Dror and Roth 2021, PERM-BOTH; with p = (1 + #) / (1 + resamples).
    """
    if alternative not in ALTERNATIVES:
        raise ValueError(f"unknown alternative {alternative!r}")
    delta, permuted = permuted_differences(a, b, human, level, coefficient, resamples, rng, progress)
    if np.isnan(delta):
        return PermutationTest(delta, float("nan"), 0, f"a correlation at {level} level is undefined")
    sign = np.abs if alternative == "two-sided" else np.asarray
    return PermutationTest(delta, smoothed_p_value(sign(permuted), float(sign(delta))), resamples)


def permuted_differences(
    a: np.ndarray,
    b: np.ndarray,
    human: np.ndarray,
    level: str,
    coefficient: str,
    resamples: int,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> tuple[float, np.ndarray]:
    """The difference of two metrics' correlations as it is, and in every resample of `permute_both`.

    Matrices of one shape get the same swaps from generators of one seed, wherever they have gaps: so tests of several
    parts of one corpus can be combined, resample by resample.

    Returns
    -------
    (delta, float64[resamples]); (NaN, nothing) where the difference itself is undefined.
    """
    if level not in LEVELS or coefficient not in COEFFICIENTS:
        raise ValueError(f"unknown level {level!r} or coefficient {coefficient!r}")
    a, b, human = _common(a, b, human)
    a, b = _standard(a), _standard(b)
    difference = _differences(a, b, human, level, coefficient)
    systems, segments = a.shape
    delta = float(difference(np.zeros((1, systems)), np.zeros((1, segments)))[0])
    if np.isnan(delta):
        return delta, np.empty(0)
    parts = [np.empty(0)]
    for done, coins in _coins(resamples, systems + segments, rng, 1):
        parts.append(difference(coins[:, :systems], coins[:, systems:]))
        progress(done, resamples)
    return delta, np.concatenate(parts)


def smoothed_p_value(permuted: np.ndarray, observed: float) -> float:
    """p = (1 + #{permuted ≥ observed}) / (1 + resamples); an undefined permuted value counts as reached."""
    return (1 + _reaching(permuted, observed)) / (1 + len(permuted))


def _differences(a: np.ndarray, b: np.ndarray, human: np.ndarray, level: str, coefficient: str) -> Differences:
    if level == "segment":
        return segment_differences(a, b, human, coefficient)
    if level == "segment-mean":
        return segment_mean_differences(a, b, human, coefficient)
    return _system_differences(a, b, human, coefficient)


def _system_differences(a: np.ndarray, b: np.ndarray, human: np.ndarray, coefficient: str) -> Differences:
    """Means of systems under swaps, as one matrix product: swapping segments moves their part of b − a across."""
    mean_a, target = common_means(a, human)
    mean_b, _ = common_means(b, human)
    counts = (~np.isnan(a)).sum(axis=1)
    shares = np.nan_to_num(b - a) / np.maximum(counts, 1)[:, None]
    kept = ~np.isnan(target)
    mean_a, mean_b, target, shares = mean_a[kept], mean_b[kept], target[kept], shares[kept]
    rows_of = ROWS[coefficient]

    def differences(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        if len(target) < 2:
            return np.full(len(rows), np.nan)
        moved = columns @ shares.T
        swapped = rows[:, kept].astype(bool)
        first = np.where(swapped, mean_b - moved, mean_a + moved)
        targets = np.broadcast_to(target, first.shape)
        # equal means may differ in the last bits after summing in another order: rank what is equal as equal
        first, second = np.round(first, 12), np.round(mean_a + mean_b - first, 12)
        return rows_of(first, targets) - rows_of(second, targets)

    return differences


def _coins(resamples: int, width: int, rng: np.random.Generator, cost: int) -> Iterator[tuple[int, np.ndarray]]:
    """Fair coins float64[m, width] in pieces, with the number drawn so far; `cost` numbers are held per coin."""
    step = min(AT_ONCE, max(1, CELLS // max(1, width * cost)))
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        yield start + rows, rng.integers(0, 2, size=(rows, width), dtype=np.uint8).astype(float)


def _scores(score: Callable[[np.ndarray], np.ndarray], of_a: np.ndarray, of_b: np.ndarray) -> np.ndarray:
    return np.atleast_1d(score(np.concatenate([of_a, of_b], axis=1)))


def _reaching(values: np.ndarray, observed: float) -> int:
    slack = TOLERANCE * max(1.0, abs(observed))
    return int((~(values < observed - slack)).sum())


def _common(a: np.ndarray, b: np.ndarray, human: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    matrices = [np.asarray(item, dtype=float) for item in (a, b, human)]
    if matrices[0].ndim != 2 or len({item.shape for item in matrices}) > 1:
        raise ValueError(f"three matrices of equal shape are needed, not {[item.shape for item in matrices]}")
    missing = np.isnan(matrices).any(axis=0)
    first, second, third = (np.where(missing, np.nan, item) for item in matrices)
    return first, second, third


def _standard(values: np.ndarray) -> np.ndarray:
    """Mean 0 and deviation 1 over all cells; a constant matrix stays constant."""
    if np.isnan(values).all() or np.nanmin(values) == np.nanmax(values):
        return values * 0
    return (values - np.nanmean(values)) / np.nanstd(values)

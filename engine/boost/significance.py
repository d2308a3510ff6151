"""Is the boosted metric better than the original one? Permute-both per group and over all groups, and how many groups count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.progress import Progress, part, silent
from engine.stats.permutation import PermutationTest, permuted_differences, smoothed_p_value

ALPHA = 0.05


@dataclass(frozen=True, eq=False)
class Pair:
    """What is tested in one group.

    Attributes
    ----------
    boosted, original, human : float64[systems, segments], NaN where an output does not belong to the group.
    corpus : groups of the same corpus have equal numbers and equal shapes; their scores are swapped together.
    """

    boosted: np.ndarray
    original: np.ndarray
    human: np.ndarray
    corpus: int = 0


@dataclass(frozen=True)
class Significance:
    """Tests of several groups.

    Attributes
    ----------
    groups : one test per group.
    p_value : one-sided test of the mean difference over all groups where it is defined; NaN where there is none.
    significant : which groups count as significant, see `bonferroni_dror`.
    """

    groups: tuple[PermutationTest, ...]
    p_value: float
    significant: tuple[bool, ...]

    @property
    def count(self) -> int:
        """How many groups are significant."""
        return sum(self.significant)


def compare_groups(
    pairs: Sequence[Pair],
    level: str,
    coefficient: str,
    resamples: int = 9999,
    seed: int = 0,
    progress: Progress = silent,
) -> Significance:
    """Test, group by group and together, whether the boosted metric correlates better than the original (one-sided).

    Parameters
    ----------
    level : `segment` (all outputs together), `system` (means of systems) or `segment-mean`.
    coefficient : pearson, spearman or kendall.

    Source: permute-both of Deutsch, Dror and Roth 2021, with p = (1 + #) / (1 + resamples).
    """
    tests, observed, permuted = [], [], []
    for place, pair in enumerate(pairs):
        rng = np.random.default_rng([seed, pair.corpus])
        step = part(progress, place, place + 1, len(pairs))
        matrices = pair.boosted, pair.original, pair.human
        delta, values = permuted_differences(*matrices, level, coefficient, resamples, rng, step)
        if np.isnan(delta):
            tests.append(PermutationTest(delta, np.nan, 0, f"a correlation at {level} level is undefined"))
            continue
        tests.append(PermutationTest(delta, smoothed_p_value(values, delta), resamples))
        observed.append(delta)
        permuted.append(values)
    together = smoothed_p_value(np.mean(permuted, axis=0), float(np.mean(observed))) if observed else float("nan")
    return Significance(tuple(tests), together, bonferroni_dror([test.p_value for test in tests]))


def bonferroni_dror(p_values: Sequence[float], alpha: float = ALPHA) -> tuple[bool, ...]:
    """Which of several tests count as significant: the k with the smallest p-values, k being the partial-conjunction count.

    With the N p-values in ascending order, k is the number of u for which the largest of (N - v + 1) · p_v over v ≤ u is at most
    alpha. An undefined p-value (NaN) counts as 1.

    Source: Dror, Baumer, Bogomolov and Reichart 2017 (Bonferroni variant, for tests that may depend on each other).
    """
    values = np.nan_to_num(np.asarray(p_values, float), nan=1.0)
    order = np.argsort(values, kind="stable")
    bounds = np.maximum.accumulate(np.arange(len(values), 0, -1) * values[order])
    count = int((bounds <= alpha).sum())
    chosen = np.zeros(len(values), bool)
    chosen[order[:count]] = True
    return tuple(chosen.tolist())

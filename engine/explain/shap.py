"""SHAP: Shapley values of the words, exact up to 7 words, else from antithetic permutations (Lundberg and Lee 2017)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import comb

import numpy as np

from engine.explain.lime import unique_masks
from engine.explain.masking import library_draws

EXACT_WORDS = 7
"""Texts of up to so many words get exact values."""


@dataclass(frozen=True)
class ExactPlan:
    """All subsets of the words but the full one; bit i of a variant's number says whether word i is kept."""

    words: int
    note: str | None = None

    @property
    def count(self) -> int:
        return 2**self.words - 1

    def masks(self, start: int, stop: int) -> np.ndarray:
        """bool[stop − start, words]: the words that variants `start` to `stop` keep."""
        return (np.arange(start, stop)[:, None] >> np.arange(self.words) & 1).astype(bool)


@dataclass(frozen=True, eq=False)
class PermutationPlan:
    """Orders in which the words come in one by one, and then go again in the same order.

    Attributes
    ----------
    ranks : int[p, n], the place of each word in each of p orders.
    rows : int[p, 2n + 1], the variant at each step; −1 is the original.
    kept : bool[count, n], the distinct variants; None for a single order, whose variants are made when they are needed.
    """

    ranks: np.ndarray
    rows: np.ndarray
    kept: np.ndarray | None
    note: str | None = None

    @property
    def words(self) -> int:
        return self.ranks.shape[1]

    @property
    def count(self) -> int:
        return 2 * self.words - 1 if self.kept is None else len(self.kept)

    def masks(self, start: int, stop: int) -> np.ndarray:
        """bool[stop − start, words]: the words that variants `start` to `stop` keep."""
        if self.kept is not None:
            return self.kept[start:stop]
        steps = np.arange(start, stop)
        return _steps_kept(self.ranks[0], np.where(steps < self.words, steps, steps + 1))


def plan(words: int, evaluations: int, seed: int) -> ExactPlan | PermutationPlan:
    """Plan the variants of a text: all subsets up to 7 words, else as many permutations as the evaluations allow.

    The permutations are those of the library `shap` with the same seed, each a shuffle of the one before. There is at
    least one, which takes 2n + 1 evaluations; the note says where that is more than was asked for.
    """
    if words <= EXACT_WORDS:
        return ExactPlan(words)
    steps = 2 * words + 1
    state = library_draws(seed)
    order = np.arange(words)
    ranks = np.empty((max(1, evaluations // steps), words), dtype=np.intp)
    for row in ranks:
        state.shuffle(order)
        row[order] = np.arange(words)
    if len(ranks) == 1:
        rows = np.concatenate([np.arange(words), [-1], np.arange(words, 2 * words - 1), [0]])
        return PermutationPlan(ranks, rows[None, :], None, _note(steps, evaluations))
    masks = np.concatenate([_steps_kept(item, np.arange(steps)) for item in ranks])
    distinct, rows = unique_masks(masks)
    full = rows[words]  # every order passes the original at step n
    rows = np.where(rows == full, -1, rows - (rows > full))
    return PermutationPlan(ranks, rows.reshape(len(ranks), steps), np.delete(distinct, full, axis=0))


def importances(item: ExactPlan | PermutationPlan, original: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Shapley values of the words.

    Parameters
    ----------
    item : the plan of a text.
    original : float64[k], scores of the k segments that share the text.
    scores : float64[k, item.count], their scores on its variants.

    Returns
    -------
    float64[k, words] in the metric's unit; each row sums to the score minus that of the text without words.
    """
    outputs = np.concatenate([scores, original[:, None]], axis=1)
    if isinstance(item, ExactPlan):
        return outputs @ _exact_coefficients(item.words)
    steps = np.diff(outputs[:, item.rows], axis=2)
    gains = steps[:, :, : item.words] - steps[:, :, item.words :]
    of_words = np.take_along_axis(gains, item.ranks[None], axis=2)
    return of_words.sum(axis=1) / (2 * len(item.ranks))


def _steps_kept(ranks: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """bool[steps, n]: at step s ≤ n the first s words of the order are there; later, the first s − n are gone."""
    words = len(ranks)
    steps = steps[:, None]
    return np.where(steps <= words, ranks < steps, ranks >= steps - words)


def _note(needed: int, evaluations: int) -> str | None:
    if needed <= evaluations:
        return None
    return f"SHAP needs {needed} masked texts for {(needed - 1) // 2} words, more than the {evaluations} asked for"


@cache
def _exact_coefficients(words: int) -> np.ndarray:
    """float64[2ⁿ, n]: a subset of size s counts 1 / (n C(n−1, s−1)) for its words and −1 / (n C(n−1, s)) for the others."""
    kept = ExactPlan(words).masks(0, 2**words)
    sizes = kept.sum(axis=1)
    inside = np.array([0.0, *(1 / (words * comb(words - 1, size - 1)) for size in range(1, words + 1))])
    outside = np.array([*(1 / (words * comb(words - 1, size)) for size in range(words)), 0.0])
    return np.where(kept, inside[sizes][:, None], -outside[sizes][:, None])

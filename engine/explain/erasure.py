"""Erasure: the importance of a word is what the score loses without it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class ErasurePlan:
    """One variant per word: all words but that one. The plan of a text of `words` words."""

    words: int
    note: str | None = None

    @property
    def count(self) -> int:
        return self.words

    def masks(self, start: int, stop: int) -> np.ndarray:
        """bool[stop − start, words]: the words that variants `start` to `stop` keep."""
        return np.arange(start, stop)[:, None] != np.arange(self.words)


def plan(words: int) -> ErasurePlan:
    """Plan the variants of a text of `words` words."""
    return ErasurePlan(words)


def importances(original: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Importances φᵢ = s₀ − s₋ᵢ.

    Parameters
    ----------
    original : float64[k], scores of k segments that share the text.
    scores : float64[k, words], their scores with each word erased.

    Returns
    -------
    float64[k, words] in the metric's unit.
    """
    return original[:, None] - scores

"""LIME: a weighted ridge regression of the score on the words that are left (Ribeiro et al. 2016)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.explain.masking import library_draws

KERNEL_WIDTH = 25.0
RIDGE_PENALTY = 1.0
_BLOCK = 4096  # words handled at a time where a text has more words than samples
_STACK_CELLS = 4_000_000  # cells of the regressions that are solved together


@dataclass(frozen=True, eq=False)
class LimePlan:
    """The neighbourhood of a text of n words.

    Attributes
    ----------
    kept : bool[count, n], the distinct variants, the original left out.
    rows : int[samples], the variant that each sample is; −1 is the original.
    """

    kept: np.ndarray
    rows: np.ndarray
    note: str | None = None

    @property
    def count(self) -> int:
        return len(self.kept)

    @property
    def words(self) -> int:
        return self.kept.shape[1]

    def masks(self, start: int, stop: int) -> np.ndarray:
        """bool[stop − start, words]: the words that variants `start` to `stop` keep."""
        return self.kept[start:stop]


def plan(words: int, samples: int, seed: int) -> LimePlan:
    """Draw the neighbourhood: the original and `samples` − 1 texts in which a uniform number of words is masked.

    The draws are those of the library `lime` with the same seed: first all the numbers of masked words, then for each
    sample a permutation whose beginning is masked.
    """
    state = library_draws(seed)
    sizes = state.randint(1, words + 1, samples - 1).tolist()
    kept = np.ones((samples - 1, words), dtype=bool)
    for row, size in zip(kept, sizes):
        row[state.permutation(words)[:size]] = False
    distinct, rows = unique_masks(kept)
    return LimePlan(distinct, np.concatenate([[-1], rows]))


def unique_masks(masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct rows of a bool matrix in order of first occurrence, and the place of each row among them."""
    packed = np.packbits(masks, axis=1)
    data, width = packed.tobytes(), packed.shape[1]
    places: dict[bytes, int] = {}
    rows = np.array([places.setdefault(data[at : at + width], len(places)) for at in range(0, len(data), width)], dtype=np.intp)
    first = np.full(len(places), len(masks), dtype=np.intp)
    np.minimum.at(first, rows, np.arange(len(masks)))
    return masks[first], rows


def importances(plans: Sequence[LimePlan], originals: Sequence[np.ndarray], scores: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Coefficients of the local regressions, texts of equal length solved together.

    Parameters
    ----------
    plans : one per text.
    originals : per text float64[k], the scores of the k segments that share it.
    scores : per text float64[k, plan.count], their scores on its variants.

    Returns
    -------
    Per text float64[k, words], in the metric's unit.
    """
    together: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    for place, (item, original) in enumerate(zip(plans, originals)):
        together[item.words, len(item.rows), len(original)].append(place)
    found: list[np.ndarray] = [np.empty(0)] * len(plans)
    for (words, samples, _), places in together.items():
        step = 1 if words > samples else max(1, _STACK_CELLS // (words * samples))
        for start in range(0, len(places), step):
            chosen = places[start : start + step]
            kept = np.stack([_with_original(plans[place]) for place in chosen])
            targets = np.stack([_targets(plans[place], originals[place], scores[place]) for place in chosen])
            for place, values in zip(chosen, _ridge(kept, targets)):
                found[place] = values
    return found


def sample_weights(kept: np.ndarray) -> np.ndarray:
    """Kernel weights of the samples: √exp(−d²/25²) with d = 100 × the cosine distance to the original.

    Parameters
    ----------
    kept : bool[…, samples, words].

    Returns
    -------
    float64[…, samples].
    """
    cosine = np.sqrt(kept.sum(axis=-1) / kept.shape[-1])
    return np.exp(-0.5 * (100.0 * (1.0 - cosine) / KERNEL_WIDTH) ** 2)


def _with_original(item: LimePlan) -> np.ndarray:
    return np.concatenate([item.kept, np.ones((1, item.words), dtype=bool)])[item.rows]


def _targets(item: LimePlan, original: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """float64[samples, k]"""
    return np.concatenate([scores, original[:, None]], axis=1).T[item.rows]


def _ridge(kept: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Weighted ridge regressions with an intercept, float64[texts, k, words].

    kept bool[texts, samples, words], targets float64[texts, samples, k]. Centring on the weighted means takes the
    intercept out; the smaller of the two normal equations is solved.
    """
    weights = sample_weights(kept)
    share = weights / weights.sum(axis=1, keepdims=True)
    root = np.sqrt(weights)[:, :, None]
    residuals = (targets - np.einsum("ts,tsk->tk", share, targets)[:, None, :]) * root
    if kept.shape[2] > kept.shape[1]:
        return np.stack([_dual(*item) for item in zip(kept, share, root, residuals)])
    design = (kept - np.einsum("ts,tsw->tw", share, kept.astype(np.float64))[:, None, :]) * root
    transposed = design.transpose(0, 2, 1)
    normal = transposed @ design
    diagonal = np.arange(normal.shape[1])
    normal[:, diagonal, diagonal] += RIDGE_PENALTY
    return np.linalg.solve(normal, transposed @ residuals).transpose(0, 2, 1)


def _dual(kept: np.ndarray, share: np.ndarray, root: np.ndarray, residuals: np.ndarray) -> np.ndarray:
    """One regression with more words than samples, float64[k, words]: φ = Zᵀ (Z Zᵀ + αI)⁻¹ y, Z in blocks of words."""
    blocks = [slice(start, start + _BLOCK) for start in range(0, kept.shape[1], _BLOCK)]

    def design(block: slice) -> np.ndarray:
        cells = kept[:, block].astype(np.float64)
        return (cells - share @ cells) * root

    gram = RIDGE_PENALTY * np.eye(len(kept))
    for block in blocks:
        part = design(block)
        gram += part @ part.T
    solved = np.linalg.solve(gram, residuals)
    return np.concatenate([solved.T @ design(block) for block in blocks], axis=1)

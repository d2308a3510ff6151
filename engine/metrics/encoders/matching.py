"""Greedy matching of token vectors (Zhang et al. 2020, section 3): many variants of a text against one partner at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

_CELLS = 1 << 22  # similarities held at once


def best_matches(partner: Tensor, variants: Sequence[Tensor]) -> tuple[np.ndarray, np.ndarray]:
    """The cosine of every token with its best match on the other side.

    Parameters
    ----------
    partner : float32[m, d], unit vectors of the tokens of one text.
    variants : k times float32[n_i, d].

    Returns
    -------
    (float32[n_1 + … + n_k], each variant's tokens against the partner; float32[k, m], the partner's tokens against each variant).
    """
    if partner.shape[0] * sum(variant.shape[0] for variant in variants) > _CELLS:
        return _in_portions(partner, variants)
    return _at_once(partner, variants)


def _at_once(partner: Tensor, variants: Sequence[Tensor]) -> tuple[np.ndarray, np.ndarray]:
    """One product, then maxima by row and by stretch of rows."""
    import torch

    stacked = variants[0] if len(variants) == 1 else torch.cat(list(variants))
    similarity = stacked @ partner.t()
    forward = similarity.amax(1).cpu().numpy()
    if len(variants) == 1:
        return forward, similarity.amax(0).cpu().numpy()[None]
    starts = np.concatenate([[0], np.cumsum([len(variant) for variant in variants[:-1]])])
    return forward, np.maximum.reduceat(similarity.cpu().numpy(), starts, axis=0)


def _in_portions(partner: Tensor, variants: Sequence[Tensor]) -> tuple[np.ndarray, np.ndarray]:
    """The same with bounded memory: a few variants at a time, a long variant in pieces."""
    step = max(1, _CELLS // len(partner))
    forward: list[np.ndarray] = []
    backward: list[np.ndarray] = []
    waiting: list[Tensor] = []

    def flush() -> None:
        if waiting:
            found = _at_once(partner, waiting)
            forward.append(found[0])
            backward.append(found[1])
            waiting.clear()

    for variant in variants:
        if len(variant) > step:
            flush()
            pieces = [_at_once(partner, [piece]) for piece in variant.split(step)]
            forward.extend(piece[0] for piece in pieces)
            backward.append(np.max([piece[1] for piece in pieces], axis=0))
            continue
        if sum(map(len, waiting)) + len(variant) > step:
            flush()
        waiting.append(variant)
    flush()
    return np.concatenate(forward), np.concatenate(backward)

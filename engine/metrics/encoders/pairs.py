"""BERTScore of many pairs of texts: each text is encoded once, pairs that share a text are matched together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from engine.metrics.encoders.encoder import Embedded

Pair = tuple[str, str]
"""A hypothesis and what it is compared with: a reference or the source."""

Group = tuple[int, list[int]]
"""Pairs that share a text: 0 where they share the hypothesis, 1 where they share the partner; and their indices."""

_BLOCK = 1 << 16  # characters of distinct texts whose vectors are held at once


def score_pairs(
    pairs: Sequence[Pair], embed: Callable[[list[str]], dict[str, Embedded]], weigh: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Precision, recall and F1 of pairs, and the tokens of either text that were cut off, float64[n, 5].

    Parameters
    ----------
    pairs : distinct pairs.
    embed : distinct texts → their token vectors.
    weigh : token ids → weights, float64[n].

    A text without tokens gives three zeros; one with two tokens in all, special ones included, gives precision and recall 0,
    as in bert-score; a text without weight gives NaN. Memory is bounded, however many pairs there are.

    Source: Zhang et al. 2020, section 3.
    """
    import torch

    rows = np.zeros((len(pairs), 5))
    for block in _blocks(_groups(pairs), pairs):
        embedded = embed(list(dict.fromkeys(text for _, indices in block for index in indices for text in pairs[index])))
        with torch.inference_mode():
            _score_block(block, pairs, embedded, _weights(embedded, weigh), rows)
    return rows


def _groups(pairs: Sequence[Pair]) -> list[Group]:
    """Pairs by the text that more of them share."""
    uses = [Counter(pair[side] for pair in pairs) for side in (0, 1)]
    groups: dict[tuple[int, str], list[int]] = {}
    for index, pair in enumerate(pairs):
        side = 1 if uses[1][pair[1]] >= uses[0][pair[0]] else 0
        groups.setdefault((side, pair[side]), []).append(index)
    return [(side, indices) for (side, _), indices in groups.items()]


def _blocks(groups: Sequence[Group], pairs: Sequence[Pair]) -> Iterator[list[Group]]:
    """Groups whose texts together stay within `_BLOCK` characters; large groups are divided."""
    block: list[Group] = []
    size = 0
    for side, indices in groups:
        shared = len(pairs[indices[0]][side])
        part: list[int] = []
        size += shared
        for index in indices:
            length = len(pairs[index][1 - side]) + 16
            if size + length > _BLOCK and (block or part):
                yield [*block, (side, part)] if part else block
                block, part, size = [], [], shared
            part.append(index)
            size += length
        block.append((side, part))
    if block:
        yield block


def _weights(embedded: dict[str, Embedded], weigh: Callable[[np.ndarray], np.ndarray]) -> dict[str, np.ndarray]:
    """The weights of every text's tokens, looked up for all texts at once."""
    ids = [item.tokens.ids for item in embedded.values()]
    ends = np.cumsum([len(item) for item in ids])
    return dict(zip(embedded, np.split(weigh(np.concatenate(ids)), ends[:-1])))


@dataclass
class _Matches:
    """Best matches of one direction, pair after pair, with the weights of the tokens they belong to."""

    values: list[np.ndarray] = field(default_factory=list)
    weights: list[np.ndarray] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)

    def means(self) -> np.ndarray:
        """The weighted mean of each pair, float64[pairs]; NaN where a text has no weight."""
        lengths = np.array(self.lengths, np.int64)
        starts = np.cumsum(lengths) - lengths
        weights = np.concatenate(self.weights)
        sums = np.add.reduceat(np.concatenate(self.values) * weights, starts)
        with np.errstate(invalid="ignore", divide="ignore"):
            return sums / np.add.reduceat(weights, starts)


def _score_block(
    block: Sequence[Group],
    pairs: Sequence[Pair],
    embedded: dict[str, Embedded],
    weights: dict[str, np.ndarray],
    rows: np.ndarray,
) -> None:
    """Fill the rows of one block's pairs."""
    from engine.metrics.encoders.matching import best_matches

    scored: list[int] = []
    sides: list[int] = []
    theirs, ours = _Matches(), _Matches()
    for side, indices in block:
        shared = embedded[pairs[indices[0]][side]]
        rows[indices, 3 + side] = shared.tokens.cut
        rows[indices, 4 - side] = [embedded[pairs[index][1 - side]].tokens.cut for index in indices]
        kept = [index for index in indices if shared.tokens.body and embedded[pairs[index][1 - side]].tokens.body]
        if not kept:
            continue
        names = [pairs[index][1 - side] for index in kept]
        forward, backward = best_matches(shared.vectors, [embedded[name].vectors for name in names])
        theirs.values.append(forward)
        theirs.weights.extend(weights[name] for name in names)
        theirs.lengths.extend(len(weights[name]) for name in names)
        ours.values.append(backward.ravel())
        ours.weights.extend([weights[pairs[kept[0]][side]]] * len(kept))
        ours.lengths.extend([len(shared.tokens.ids)] * len(kept))
        scored.extend(kept)
        sides.extend([side] * len(kept))
    if scored:
        rows[scored, :3] = _values(theirs, ours, np.array(sides) == 1)


def _values(theirs: _Matches, ours: _Matches, partner_shared: np.ndarray) -> np.ndarray:
    """Precision, recall and F1, float64[pairs, 3], from the matches of the texts that are not shared and of those that are."""
    mine, shared = theirs.means(), ours.means()
    precision, recall = np.where(partner_shared, mine, shared), np.where(partner_shared, shared, mine)
    with np.errstate(invalid="ignore", divide="ignore"):
        f1 = np.where(precision + recall == 0, 0.0, 2 * precision * recall / (precision + recall))
    two = (np.array(theirs.lengths) == 2) | (np.array(ours.lengths) == 2)
    return np.column_stack([np.where(two, 0.0, precision), np.where(two, 0.0, recall), f1])

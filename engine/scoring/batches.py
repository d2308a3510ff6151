"""Cutting segments into batches: what shares a text stays together, short before long, about half a second at a time."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

import numpy as np

from engine.corpus.types import Segment

T = TypeVar("T", bound=Hashable)

SECONDS = 0.6
"""What a batch should take: a cancel is noticed at its end."""

FIRST = 8
"""Segments in the very first batch of a metric, when nothing is known of its speed."""

SHORT = 8
"""Characters up to which a text is too cheap to keep segments together for its sake."""

OVERHEAD = 16.0
"""What a segment costs besides its texts, in characters."""


@dataclass(frozen=True)
class Plan:
    """An order of segments and what each costs.

    Attributes
    ----------
    order : int64[n], the segments in the order in which to score them.
    costs : float64[n + 1], the summed cost of the first i segments of the order, in characters that have not been seen
        before.
    edges : bool[n + 1], True where no text is shared between what lies before and after.
    """

    order: np.ndarray
    costs: np.ndarray
    edges: np.ndarray

    def end(self, start: int, budget: float, most: int) -> int:
        """Where the batch that begins at `start` ends, given what it may cost and how many segments it may hold."""
        n = len(self.order)
        last = int(np.searchsorted(self.costs, self.costs[start] + budget, side="right")) - 1
        last = min(n, max(start + 1, min(last, start + most)))
        half = start + (last - start) // 2
        between = np.flatnonzero(self.edges[half + 1 : last + 1])
        return half + 1 + int(between[-1]) if len(between) else last


class Pace:
    """How much a metric gets done: the cost of the next batch, learned from those before."""

    def __init__(self) -> None:
        self.budget: float | None = None

    def next_budget(self, plan: Plan) -> float:
        """What the next batch may cost."""
        if self.budget is None:
            self.budget = float(plan.costs[min(FIRST, len(plan.order))])
        return self.budget

    def learn(self, cost: float, seconds: float) -> None:
        """Take account of a finished batch. The budget changes by a factor of four at most: one batch may mislead."""
        budget = self.budget or cost
        wanted = cost * SECONDS / max(seconds, 1e-6)
        whole = cost >= budget / 2 or seconds >= SECONDS  # a small batch is slow per segment, and says little
        if whole or wanted > budget:
            self.budget = float(np.clip(wanted, budget / 4, 4 * budget))


def plan_batches(segments: Sequence[Segment]) -> Plan:
    """Order segments so that those that share a text are neighbours, and groups come in order of length.

    A metric does the work on a text once per call, so the variants of one hypothesis belong beside the reference they
    share, and the variants of one reference beside the hypotheses they share: groups are the connected components of
    the graph of texts. Within a group segments are sorted by reference, then by the hypothesis' length.
    """
    rows = [(s, *r, h) for s, r, h in segments]
    distinct, texts = number(chain.from_iterable(rows))
    owners = np.repeat(np.arange(len(rows)), list(map(len, rows)))
    sizes = np.array([0 if text is None else len(text) for text in distinct], dtype=np.int64)
    groups = _components(len(rows), owners, texts, sizes > SHORT)
    longest = np.zeros(len(rows), dtype=np.int64)
    np.maximum.at(longest, groups[owners], sizes[texts])
    _, references = number(item.references for item in segments)
    hypotheses = np.array([len(item.hypothesis or "") for item in segments], dtype=np.int64)
    order = np.lexsort((hypotheses, references, groups, longest[groups]))
    ordered = groups[order]
    edges = np.ones(len(rows) + 1, dtype=bool)
    edges[1:-1] = ordered[1:] != ordered[:-1]
    return Plan(order, _summed_costs(order, owners, texts, sizes), edges)


def number(items: Iterable[T]) -> tuple[list[T], np.ndarray]:
    """The distinct items in order of appearance, and which of them each item is, int64[n]."""
    listed = list(items)
    numbers = {item: place for place, item in enumerate(dict.fromkeys(listed))}
    return list(numbers), np.fromiter(map(numbers.__getitem__, listed), np.int64, len(listed))


def _components(n: int, owners: np.ndarray, texts: np.ndarray, links: np.ndarray) -> np.ndarray:
    """The connected component of each of n segments, int64[n], named by its first segment.

    `owners` and `texts` say which segment has which text; `links` which texts count. Labels are lowered along the edges
    and shortened by pointer jumping until nothing changes, which takes about log n rounds.
    """
    used = links[texts]
    owners, nodes = owners[used], n + texts[used]
    labels = np.arange(n + len(links))
    while True:
        first, second = labels[owners], labels[nodes]
        low, high = np.minimum(first, second), np.maximum(first, second)
        if np.array_equal(low, high):
            return labels[:n]
        np.minimum.at(labels, high, low)
        while not np.array_equal(shorter := labels[labels], labels):
            labels = shorter


def _summed_costs(order: np.ndarray, owners: np.ndarray, texts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Costs up to each place of the order, float64[n + 1]; a text costs something where it comes first."""
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    places = rank[owners]
    walk = np.argsort(places, kind="stable")
    new = np.zeros(len(walk), dtype=bool)
    new[np.unique(texts[walk], return_index=True)[1]] = True
    costs = np.bincount(places[walk], weights=sizes[texts[walk]] * new, minlength=len(order))
    return np.concatenate([[0.0], np.cumsum(costs + OVERHEAD)])

"""Segments without repetition, with what every metric's run needs of them: worked out once, used by all."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from weakref import WeakKeyDictionary

import numpy as np

from engine.corpus.collector import no_collector
from engine.corpus.types import Corpus, Segment
from engine.scoring.batches import Plan, number, plan_batches
from engine.scoring.keys import KEY_BYTES, segment_keys

_pools: WeakKeyDictionary[Corpus, Pool] = WeakKeyDictionary()
_lock = threading.Lock()


class Pool:
    """Distinct segments.

    Attributes
    ----------
    distinct : in order of appearance.
    inverse : int64[n], which of them each of the n segments is.
    """

    def __init__(self, segments: Sequence[Segment]) -> None:
        self.distinct, self.inverse = number(segments)
        self._lock = threading.Lock()

    @cached_property
    def _all_keys(self) -> np.ndarray:
        return np.frombuffer(segment_keys(self.distinct), dtype=f"V{KEY_BYTES}")

    @cached_property
    def _whole_plan(self) -> Plan:
        return plan_batches(self.distinct)

    def keys(self, indices: np.ndarray) -> bytes:
        """The store's keys of some distinct segments, 16 bytes each."""
        with self._lock:
            return self._all_keys[indices].tobytes()

    def plan(self, indices: np.ndarray) -> Plan:
        """The order in which to score some distinct segments."""
        if len(indices) < len(self.distinct):
            return plan_batches([self.distinct[index] for index in indices.tolist()])
        with self._lock:
            return self._whole_plan


def pool_of(corpus: Corpus) -> Pool:
    """The outputs of all systems of a corpus, one system after the other; made once and kept as long as the corpus."""
    with _lock:
        if corpus not in _pools:
            with no_collector():
                _pools[corpus] = Pool(list(chain.from_iterable(map(corpus.segments, corpus.systems))))
        return _pools[corpus]

"""Small metrics, and a scorer, for tests of explanations."""

import hashlib
from collections.abc import Callable, Sequence

import numpy as np

from engine.corpus.types import Segment
from engine.metrics.base import MeanMetric, MetricSpec


def noise(segment: Segment) -> float:
    """A score that depends on everything in a segment and on nothing smooth, 0 … 1."""
    digest = hashlib.blake2b(repr(tuple(segment)).encode("utf-8", "backslashreplace"), digest_size=6).digest()
    return int.from_bytes(digest, "big") / 2**48


class FakeMetric(MeanMetric):
    """A metric made from a function of a segment; counts the segments that it scored."""

    def __init__(
        self,
        score: Callable[[Segment], float] = noise,
        needs_source: bool = False,
        higher_is_better: bool = True,
        needs_reference: bool = True,
    ) -> None:
        self.score = score
        self.calls: list[list[Segment]] = []
        self.spec = MetricSpec(
            id="fake",
            name="Fake",
            needs_reference=needs_reference,
            needs_source=needs_source,
            higher_is_better=higher_is_better,
            range=(0.0, 1.0),
            signature="fake|1",
        )

    @property
    def scored(self) -> int:
        return sum(map(len, self.calls))

    def statistics(self, segments: Sequence[Segment]) -> np.ndarray:
        self.calls.append(list(segments))
        return np.array([self.score(segment) for segment in segments], dtype=np.float64).reshape(-1, 1)


class PlainScorer:
    """Gives everything to the metric, in one call."""

    def __init__(self, store=None):
        self.store = store

    def segment_scores(self, metric, segments, progress=lambda done, total: None, keep=True):
        progress(0, len(segments))
        return metric.segment_scores(metric.statistics(segments))


def words(count: int) -> str:
    """A text of so many distinct words."""
    return " ".join(f"w{number}" for number in range(count))

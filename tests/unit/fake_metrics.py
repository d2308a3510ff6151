"""Tiny metrics whose numbers are obvious, and that count how often they are asked."""

import threading
import time
from dataclasses import replace

import numpy as np

from engine.corpus.types import Segment
from engine.metrics.base import MeanMetric, MetricSpec, weighted_sums

SPEC = MetricSpec(
    id="length",
    name="Length",
    needs_reference=True,
    needs_source=False,
    higher_is_better=True,
    range=(0.0, float("inf")),
    signature="length|v:1",
    batch_size=64,
)


class Length(MeanMetric):
    """Characters of the hypothesis plus those of the first reference / 1000."""

    def __init__(self, delay: float = 0.0, **changes) -> None:
        self.spec = replace(SPEC, **changes)
        self.delay = delay
        self.calls: list[list[Segment]] = []
        self.lock = threading.Lock()

    @property
    def asked(self) -> list[Segment]:
        return [segment for call in self.calls for segment in call]

    def statistics(self, segments):
        with self.lock:
            self.calls.append(list(segments))
        time.sleep(self.delay * len(segments))
        return np.array([[length(item)] for item in segments], dtype=float).reshape(-1, 1)


class Ratio:
    """Characters of all hypotheses by characters of all first references: two statistics, NaN where the reference is empty."""

    spec = replace(SPEC, id="ratio", name="Ratio", signature="ratio|v:1")

    def statistics(self, segments):
        rows = [[len(h), len(r[0])] if r[0] else [np.nan, np.nan] for _, r, h in segments]
        return np.array(rows, dtype=float).reshape(-1, 2)

    def segment_scores(self, statistics):
        return statistics[:, 0] / statistics[:, 1]

    def corpus_score(self, statistics, weights=None):
        sums, total = weighted_sums(statistics, weights)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.where(total > 0, sums[..., 0] / sums[..., 1], np.nan)
        return float(ratio) if ratio.ndim == 0 else ratio

    def remarks(self, statistics):
        longest = int(statistics[:, 0].max())
        return [f"longest output {longest}"]


def length(segment: Segment) -> float:
    return len(segment.hypothesis) + len("".join(segment.references[:1])) / 1000


def make_segments(count: int, seed: int = 0) -> list[Segment]:
    rng = np.random.default_rng(seed)
    return [
        Segment(None, ("r" * int(rng.integers(9, 40)) + str(i),), "h" * int(rng.integers(9, 60)) + str(i)) for i in range(count)
    ]

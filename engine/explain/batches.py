"""Variants on their way through the scorer: segments that share texts are kept together, and memory is bounded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.corpus.types import Segment
from engine.explain.methods import Plan, make_plan
from engine.explain.options import ExplainOptions
from engine.explain.words import Masker, Word, split_words
from engine.metrics.base import MetricSpec
from engine.progress import Progress, part

MOST_VARIANTS = 16_384
"""The most variants that the scorer gets in one call."""

MOST_BYTES = 600_000
"""The most text, in UTF-8 bytes and counted once where segments share it, that the scorer gets in one call."""

BUNDLE_SIZE = 64
"""The most segments that are kept together because they share references and source."""


@dataclass(eq=False)
class Side:
    """One text of a bundle, the segments that it belongs to and the scores of its variants.

    Attributes
    ----------
    name : "hypothesis", "reference:j" (j-th of the segment's own references) or "source".
    owners : places in the bundle of the k segments that share the text.
    scores : float64[k, plan.count].
    """

    name: str
    text: str
    words: list[Word]
    plan: Plan
    owners: list[int]
    scores: np.ndarray

    @property
    def bytes(self) -> int:
        """The length of the text."""
        return len(self.text.encode("utf-8", "surrogatepass"))


@dataclass(eq=False)
class Bundle:
    """Segments that share references and source (one segment of several systems), masked with the same word."""

    segments: list[Segment]
    mask: str
    originals: np.ndarray
    sides: list[Side] = field(default_factory=list)

    @property
    def variants(self) -> int:
        return len(self.segments) + sum(side.scores.size for side in self.sides)

    @property
    def bytes(self) -> int:
        return sum(side.bytes * (side.plan.count + 1) for side in self.sides)


def read_sides(segment: Segment, spec: MetricSpec) -> list[tuple[str, str]]:
    """The name and text of every side of a segment that the metric reads."""
    sides = [] if segment.hypothesis is None else [("hypothesis", segment.hypothesis)]
    if spec.needs_reference:
        sides += [(f"reference:{place}", text) for place, text in enumerate(segment.references)]
    if spec.needs_source and segment.source is not None:
        sides.append(("source", segment.source))
    return sides


def make_bundle(segments: Sequence[Segment], mask: str, spec: MetricSpec, options: ExplainOptions) -> Bundle:
    """Plan the variants of scorable segments that share references and source."""
    bundle = Bundle(list(segments), mask, np.full(len(segments), np.nan))
    everyone = list(range(len(segments)))
    for place, segment in enumerate(segments):
        bundle.sides.append(_side("hypothesis", segment.hypothesis or "", [place], options))
    for name, text in read_sides(segments[0], spec):
        if name != "hypothesis":
            bundle.sides.append(_side(name, text, everyone, options))
    return bundle


class Group:
    """Bundles that go to the scorer together, as far as one call takes them."""

    def __init__(self) -> None:
        self.bundles: list[Bundle] = []
        self._variants = self._bytes = 0

    def takes(self, bundle: Bundle) -> bool:
        """Whether there is room for one more bundle; an empty group takes any."""
        fits = self._variants + bundle.variants <= MOST_VARIANTS and self._bytes + bundle.bytes <= MOST_BYTES
        return fits or not self.bundles

    def add(self, bundle: Bundle) -> None:
        """Put a bundle into the group."""
        self.bundles.append(bundle)
        self._variants += bundle.variants
        self._bytes += bundle.bytes


def score_group(group: Sequence[Bundle], metric: Any, options: ExplainOptions, scorer: Any, progress: Progress) -> None:
    """Score all variants of a group, in one call unless a bundle is larger than one call takes."""
    total = sum(bundle.variants for bundle in group)
    done = 0
    waiting: list[tuple[list[Segment], np.ndarray]] = []
    count = size = 0

    def flush() -> None:
        nonlocal done, count, size
        segments = [segment for block, _ in waiting for segment in block]
        step = part(progress, done, done + len(segments), total)
        scores = scorer.segment_scores(metric, segments, step, keep=False)
        start = 0
        for block, target in waiting:
            target[...] = scores[start : start + len(block)].reshape(target.shape)
            start += len(block)
        done += len(segments)
        waiting.clear()
        count = size = 0

    for bundle in group:
        for block, target, weight in _blocks(bundle, options.separators):
            if waiting and (count + len(block) > MOST_VARIANTS or size + weight > MOST_BYTES):
                flush()
            waiting.append((block, target))
            count += len(block)
            size += weight
    flush()


def _side(name: str, text: str, owners: list[int], options: ExplainOptions) -> Side:
    words = split_words(text)
    plan = make_plan(text, len(words), options) if words else _NOTHING
    return Side(name, text, words, plan, owners, np.full((len(owners), plan.count), np.nan))


@dataclass(frozen=True)
class _NoVariants:
    """The plan of a text without words."""

    words: int = 0
    count: int = 0
    note: str | None = None

    def masks(self, start: int, stop: int) -> np.ndarray:
        return np.ones((0, 0), dtype=bool)


_NOTHING = _NoVariants()


def _blocks(bundle: Bundle, separators: str) -> Iterator[tuple[list[Segment], np.ndarray, int]]:
    """Segments to score, where their scores go and how many bytes of new text they hold.

    Variants of a shared text come for all its segments before the next variant, so that wherever the scorer cuts the
    list, a variant is with few exceptions encoded once.
    """
    yield bundle.segments, bundle.originals, sum(side.bytes for side in bundle.sides)
    for side in bundle.sides:
        owners = [bundle.segments[place] for place in side.owners]
        weight = side.bytes
        masked = Masker(side.text, side.words, bundle.mask, separators)
        step = max(1, min(MOST_VARIANTS // len(owners), MOST_BYTES // max(1, weight)))
        for start in range(0, side.plan.count, step):
            stop = min(start + step, side.plan.count)
            texts = masked(side.plan.masks(start, stop))
            yield variants_of(side.name, texts, owners), side.scores[:, start:stop].T, weight * len(texts)


def variants_of(side: str, texts: list[str], owners: list[Segment]) -> list[Segment]:
    """The segments that have each of `texts` in place of a text that the owners share, variant by variant."""
    if side == "hypothesis":
        source, references, _ = owners[0]
        return [Segment(source, references, text) for text in texts]
    if side == "source":
        return [Segment(text, owner.references, owner.hypothesis) for text in texts for owner in owners]
    place = int(side.partition(":")[2])
    before, after = owners[0].references[:place], owners[0].references[place + 1 :]
    lists = [(*before, text, *after) for text in texts]
    return [Segment(owner.source, references, owner.hypothesis) for references in lists for owner in owners]

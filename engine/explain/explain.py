"""Explain a metric word by word: plan masked texts, score them, reduce the scores to importances."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from engine.corpus.types import Corpus, Segment
from engine.explain.batches import BUNDLE_SIZE, Bundle, Group, make_bundle, read_sides, score_group
from engine.explain.masking import free_mask, requested_mask
from engine.explain.methods import most_variants, reduce
from engine.explain.options import ExplainOptions
from engine.explain.pieces import Pieces
from engine.explain.results import Explained, Explanation, Explanations, SideImportances
from engine.explain.words import count_words
from engine.metrics.base import MetricSpec, unscorable
from engine.options import check, describe
from engine.progress import Progress, part, silent

LOOK_UP = 64
"""How many segments are looked up in the store at a time."""


def explain_segments(
    segments: Sequence[Segment],
    metric: Any,
    options: ExplainOptions,
    scorer: Any,
    progress: Progress = silent,
    columns: Sequence[Sequence[int]] | None = None,
) -> list[Explanation]:
    """Explain a metric's score of each segment, on every side that the metric reads.

    Parameters
    ----------
    segments : what to explain; equal segments are explained once.
    metric, options, scorer : what is explained, how, and who scores. Finished explanations are looked up in the
        scorer's store and put there.
    progress : reports masked texts scored.
    columns : per segment the numbers that its references have in their corpus, for the sides' names; else 0, 1, ….

    Returns
    -------
    One explanation per segment, in order.

    Raises
    ------
    InputError : an option that is not allowed, or a mask token that the metric does not have.
    """
    _check(options)
    requested = requested_mask(options, metric)
    distinct = list(dict.fromkeys(segments))
    found = dict(_explain_distinct(distinct, metric, options, requested, scorer, progress))
    if columns is None:
        return [found[segment] for segment in segments]
    return [_with_columns(found[segment], numbers) for segment, numbers in zip(segments, columns, strict=True)]


def explain_corpus(
    corpus: Corpus,
    metric: Any,
    options: ExplainOptions,
    scorer: Any,
    systems: Sequence[str] | None = None,
    indices: Iterable[int] | None = None,
    progress: Progress = silent,
) -> Explanations:
    """Explain a metric on segments of a corpus.

    Parameters
    ----------
    systems : the systems to explain; all when None.
    indices : the segments to explain; all when None.

    Returns
    -------
    One explanation per segment and system, segment by segment. Sides carry the numbers of the corpus's reference
    columns: where the first reference is missing, the second is still "reference:1".
    """
    names = list(corpus.systems if systems is None else systems)
    places = [(index, name) for index in (range(len(corpus)) if indices is None else indices) for name in names]
    segments = [corpus.segment(index, name) for index, name in places]
    columns = None
    if any(text is None for references in corpus.references for text in references):
        columns = [[j for j, text in enumerate(corpus.references[index]) if text is not None] for index, _ in places]
    explained = explain_segments(segments, metric, options, scorer, progress, columns)
    entries = tuple(Explained(index, name, item) for (index, name), item in zip(places, explained))
    return Explanations(metric.spec, options, entries)


def evaluations(segments: Sequence[Segment], metric: Any, options: ExplainOptions) -> int:
    """How many segments, masked or not, the metric has to score at most to explain these segments.

    Masks that repeat are scored once, and texts that segments share are encoded once; both make it less.
    """
    return sum(_cost(segment, metric.spec, options) for segment in dict.fromkeys(segments))


def _check(options: ExplainOptions) -> None:
    for item in describe(type(options)):
        check(item, getattr(options, item.name), "the explanation")


def _cost(segment: Segment, spec: MetricSpec, options: ExplainOptions) -> int:
    if unscorable(spec, segment) is not None:
        return 0
    return 1 + sum(most_variants(count_words(text), options) for _, text in read_sides(segment, spec))


def _explain_distinct(
    segments: Sequence[Segment], metric: Any, options: ExplainOptions, requested: str, scorer: Any, progress: Progress
) -> Iterator[tuple[Segment, Explanation]]:
    """Explain distinct segments, group by group; every group's explanations are stored before the next begins."""
    spec = metric.spec
    pieces = Pieces(getattr(scorer, "store", None), spec, options)
    total = float(evaluations(segments, metric, options))
    done = 0.0
    progress(done, total)
    for planned in _planned(segments, spec, options, requested, pieces):
        if isinstance(planned, Explanation):
            yield planned.segment, planned
            cost = _cost(planned.segment, spec, options)
        else:
            cost = sum(_cost(segment, spec, options) for bundle in planned for segment in bundle.segments)
            score_group(planned, metric, options, scorer, part(progress, done, done + cost, total))
            finished = list(_finish(planned, spec, options, requested))
            pieces.put(finished)
            yield from ((item.segment, item) for item in finished)
        done += cost
        progress(done, total)


def _planned(
    segments: Sequence[Segment], spec: MetricSpec, options: ExplainOptions, requested: str, pieces: Pieces
) -> Iterator[Explanation | list[Bundle]]:
    """Explanations that need no scoring, and groups of bundles that do."""
    together: dict[tuple, list[Segment]] = {}
    for segment in segments:
        together.setdefault((segment.source, segment.references), []).append(segment)
    group = Group()
    for families in _portions(together.values()):
        masks = {segment: free_mask(requested, _texts(segment))[0] for family in families for segment in family}
        reasons = {segment: reason for segment in masks if (reason := unscorable(spec, segment))}
        known = {segment: _undefined(segment, spec, reason) for segment, reason in reasons.items()}
        known |= pieces.get({segment: mask for segment, mask in masks.items() if segment not in known})
        yield from known.values()
        for family in families:
            for bundle in _bundles([segment for segment in family if segment not in known], masks, spec, options):
                if not group.takes(bundle):
                    yield group.bundles
                    group = Group()
                group.add(bundle)
    if group.bundles:
        yield group.bundles


def _portions(families: Iterable[list[Segment]]) -> Iterator[list[list[Segment]]]:
    """Families of segments, as many at a time as are looked up in the store together."""
    portion: list[list[Segment]] = []
    for family in families:
        portion.append(family)
        if sum(map(len, portion)) >= LOOK_UP:
            yield portion
            portion = []
    if portion:
        yield portion


def _bundles(
    segments: Sequence[Segment], masks: Mapping[Segment, str], spec: MetricSpec, options: ExplainOptions
) -> Iterator[Bundle]:
    """Bundles of segments that share references and source, apart where the mask word differs."""
    by_mask: dict[str, list[Segment]] = {}
    for segment in segments:
        by_mask.setdefault(masks[segment], []).append(segment)
    for mask, members in by_mask.items():
        for start in range(0, len(members), BUNDLE_SIZE):
            yield make_bundle(members[start : start + BUNDLE_SIZE], mask, spec, options)


def _finish(group: Sequence[Bundle], spec: MetricSpec, options: ExplainOptions, requested: str) -> Iterator[Explanation]:
    """Reduce a scored group to its explanations."""
    sides = [(bundle, side) for bundle in group for side in bundle.sides]
    wordy = [(bundle, side) for bundle, side in sides if side.words]
    reduced = reduce(
        options,
        [side.plan for _, side in wordy],
        [bundle.originals[side.owners] for bundle, side in wordy],
        [side.scores for _, side in wordy],
    )
    values = {id(side): importances for (_, side), importances in zip(wordy, reduced)}
    for bundle in group:
        for place, segment in enumerate(bundle.segments):
            own = [(side, side.owners.index(place)) for side in bundle.sides if place in side.owners]
            found = tuple(
                SideImportances(side.name, side.text, values[id(side)][row] if side.words else np.empty(0)) for side, row in own
            )
            notes = [free_mask(requested, _texts(segment))[1], *(side.plan.note for side, _ in own)]
            yield Explanation(
                segment,
                float(bundle.originals[place]),
                found,
                _why_undefined(bundle.originals[place], [side.scores[row] for side, row in own]),
                spec.higher_is_better,
                bundle.mask,
                tuple(dict.fromkeys(note for note in notes if note)),
            )


def _why_undefined(original: float, scores: Sequence[np.ndarray]) -> str | None:
    if np.isnan(original):
        return "the metric gives no score for this segment"
    missing = sum(int(np.isnan(values).sum()) for values in scores)
    if missing:
        return f"the metric gives no score for {missing} of {sum(map(len, scores))} masked texts"
    return None


def _undefined(segment: Segment, spec: MetricSpec, reason: str) -> Explanation:
    sides = tuple(SideImportances(name, text, np.full(count_words(text), np.nan)) for name, text in read_sides(segment, spec))
    return Explanation(segment, float("nan"), sides, reason, spec.higher_is_better)


def _with_columns(explanation: Explanation, numbers: Sequence[int]) -> Explanation:
    """The same explanation, its references named by their numbers in the corpus."""
    if list(numbers) == list(range(len(numbers))):
        return explanation
    sides = []
    for item in explanation.sides:
        kind, _, place = item.side.partition(":")
        name = f"{kind}:{numbers[int(place)]}" if place else item.side
        sides.append(SideImportances(name, item.text, item.importances))
    return Explanation(
        explanation.segment,
        explanation.score,
        tuple(sides),
        explanation.undefined,
        explanation.higher_is_better,
        explanation.mask,
        explanation.notes,
    )


def _texts(segment: Segment) -> tuple[str | None, ...]:
    return (segment.source, *segment.references, segment.hypothesis)

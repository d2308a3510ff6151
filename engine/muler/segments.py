"""The segments behind one value: those that cost the score most, where the feature is in them, and their masked texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from engine.corpus.types import Segment
from engine.metrics.base import MeanMetric, Metric
from engine.metrics.bertscore import BertScore
from engine.metrics.bleu import Bleu
from engine.metrics.chrf import Chrf
from engine.metrics.ter import Ter
from engine.muler.bertscore import BertScoreMasker
from engine.muler.corpus_texts import Cover
from engine.muler.features import Feature
from engine.muler.maskers import TextMasker, make_masker
from engine.muler.masks import ORACLE, OUTPUT, REFERENCE, MaskedTexts, MaskWords
from engine.muler.muler import Prepared
from engine.muler.spans import Spans, Style
from engine.progress import Progress, silent
from engine.scoring.scorer import Scorer, reduce_segments

Span = tuple[int, int]
"""First character and the one after the last."""

_CANDIDATES = 2000  # segments whose part in the corpus score is worked out exactly
_CELLS = 4_000_000


@dataclass(frozen=True)
class FeatureSegment:
    """One segment of one system.

    Attributes
    ----------
    segment : its place in the corpus.
    contribution : by how much the score of all sentences with the feature would rise (an error rate fall) if this sentence alone
        had it as the oracle has, in the metric's unit.
    score, oracle, anti_oracle : of this sentence.
    references, output : where the feature is, as characters; one tuple of spans for each reference.
    in_references, in_output : how often it is there.
    """

    segment: int
    contribution: float
    score: float
    oracle: float
    anti_oracle: float
    references: tuple[tuple[Span, ...], ...]
    output: tuple[Span, ...]

    @property
    def in_output(self) -> int:
        """Occurrences in the output."""
        return len(self.output)

    @property
    def in_references(self) -> tuple[int, ...]:
        """Occurrences in each reference."""
        return tuple(map(len, self.references))


@dataclass(frozen=True, eq=False)
class FeatureSegments:
    """The segments of one feature and system under one metric, those that cost most first.

    Attributes
    ----------
    feature, system, metric : what they belong to; the metric's id.
    segments : at most as many as were asked for.
    total : segments with the feature.
    """

    feature: Feature
    system: str
    metric: str
    segments: tuple[FeatureSegment, ...]
    total: int
    _masked: MaskedTexts = field(repr=False)
    _prepared: Prepared = field(repr=False)

    def masked(self, segment: int, oracle: bool) -> Segment:
        """A segment with its masks written so that people can read them: [NOUN] on both sides, or [X1] against [Y1]."""
        texts = self._prepared.texts
        members = texts.members[texts.offsets[segment] : texts.offsets[segment + 1]].tolist()
        plain, output = texts.segment(segment, self.system), int(texts.outputs[self.system][segment])
        references = tuple(self._masked.text(member, ORACLE if oracle else REFERENCE) for member in members)
        return Segment(plain.source, references, self._masked.text(output, ORACLE if oracle else OUTPUT))


def feature_segments(
    prepared: Prepared,
    metric: Metric,
    feature: Feature,
    system: str,
    scorer: Scorer,
    limit: int = 50,
    progress: Progress = silent,
) -> FeatureSegments:
    """The segments in which a system loses most by a feature.

    Parameters
    ----------
    limit : most segments that are returned.
    """
    options, texts, cover = prepared.options, prepared.texts, prepared.cover(feature)
    rows = prepared.rows(prepared.counts(feature, system))
    spans = texts.finder(Style()).find(cover.mask, cover.entities)
    masked = MaskedTexts(texts.tagged, spans, _readable(feature), options.numbering)
    found: list[FeatureSegment] = []
    if len(rows):
        masker = make_masker(metric, texts, scorer, options.numbering, options.unit)
        raw = scorer.statistics(metric, [texts.segment(row, system) for row in rows.tolist()])
        oracle, anti = masker.statistics(cover, {system: rows}, progress)[system]
        tables = [reduce_segments(metric, table) for table in (raw, oracle, anti)]
        gains = contributions(metric, options.mode, raw, oracle)
        order = np.argsort(-np.nan_to_num(gains, nan=-np.inf), kind="stable")[:limit]
        for place in order.tolist():
            row = int(rows[place])
            members = texts.members[texts.offsets[row] : texts.offsets[row + 1]].tolist()
            score, best, worst = (float(table[place]) for table in tables)
            references = tuple(_spans(spans, member) for member in members)
            output = _spans(spans, int(texts.outputs[system][row]))
            found.append(FeatureSegment(row, float(gains[place]), score, best, worst, references, output))
    return FeatureSegments(feature, system, metric.spec.id, tuple(found), len(rows), masked, prepared)


def scored_as_text(metric: Metric) -> bool:
    """Whether a metric is given masked texts; BERTScore's similarities are edited instead."""
    return not (isinstance(metric, BertScore) and BertScoreMasker.can_mask(metric))


def scored_texts(found: FeatureSegments, metric: Metric, scorer: Scorer) -> pd.DataFrame:
    """The texts behind a value just as they are scored, three rows per segment: as it is, oracle, anti-oracle.

    Masks are characters or words that occur in no text. Columns: system, metric, family, feature, segment, version, hypothesis,
    reference (or reference_1 …), signature.
    """
    prepared, system = found._prepared, found.system
    options, texts = prepared.options, prepared.texts
    rows = prepared.rows(prepared.counts(found.feature, system))
    masker = TextMasker(metric, texts, scorer, options.numbering, options.unit)
    oracle, anti = masker.segments(masker.masked(prepared.cover(found.feature)), {system: rows})
    own = [texts.segment(row, system) for row in rows.tolist()]
    most = max((len(segment.references) for segment in own), default=1)
    names = ["reference"] if most == 1 else [f"reference_{number}" for number in range(1, most + 1)]
    about = {"system": system, "metric": metric.spec.id, "family": found.feature.family, "feature": found.feature.name}
    made = {"signature": f"{metric.spec.signature}|{options.signature(texts.tagged.tagger.identity)}"}
    table = [
        about
        | {"segment": row, "version": version, "hypothesis": segment.hypothesis}
        | dict(zip(names, segment.references))
        | made
        for row, versions in zip(rows.tolist(), zip(own, oracle, anti))
        for version, segment in zip(("as it is", "oracle", "anti-oracle"), versions)
    ]
    return pd.DataFrame(table, columns=[*about, "segment", "version", "hypothesis", *names, *made])


def contributions(metric: Metric, mode: str, raw: np.ndarray, oracle: np.ndarray) -> np.ndarray:
    """By how much the score of all sentences improves when one of them gets its oracle statistics, float64[n], one by one.

    Of very many sentences, under a metric that is neither a mean nor made from sums, those whose own score gains least get NaN.

    Parameters
    ----------
    raw, oracle : statistics float64[n, k].
    """
    sign = 1 if metric.spec.higher_is_better else -1
    own = sign * (reduce_segments(metric, oracle) - reduce_segments(metric, raw))
    defined = ~np.isnan(own)
    if mode == "paper" or isinstance(metric, MeanMetric):
        return own / max(1, int(defined.sum()))
    if isinstance(metric, Bleu | Chrf | Ter):
        sums = raw[defined].sum(axis=0)
        after = metric.scores_of_sums(sums - raw + oracle)
        return np.where(defined, sign * (after - metric.scores_of_sums(sums[None])[0]), np.nan)
    gains = np.full(len(raw), np.nan)
    tried = np.flatnonzero(defined)
    tried = tried[np.argsort(-own[tried], kind="stable")][:_CANDIDATES]
    base = float(metric.corpus_score(raw[defined])) if defined.any() else float("nan")
    step = max(1, _CELLS // max(1, len(raw)))
    for start in range(0, len(tried), step):
        block = tried[start : start + step]
        weights = np.ones((len(block), len(raw) + len(block)))
        weights[:, ~np.append(defined, np.ones(len(block), bool))] = 0
        weights[np.arange(len(block)), block] = 0
        weights[:, len(raw) :] = np.eye(len(block))
        gains[block] = sign * (np.asarray(metric.corpus_score(np.concatenate([raw, oracle[block]]), weights)) - base)
    return gains


def _readable(feature: Feature) -> MaskWords:
    def word(kind: int, number: int) -> str:
        if kind == ORACLE:
            return f"[{feature.name}]" + (f"{number}" if number else "")
        return f"[{'X' if kind == REFERENCE else 'Y'}{number + 1}]"

    return MaskWords(word, True)


def _spans(spans: Spans, text: int) -> tuple[Span, ...]:
    inside = slice(spans.offsets[text], spans.offsets[text + 1])
    return tuple(zip(spans.start[inside].tolist(), spans.end[inside].tolist()))


def word_spans(prepared: Prepared, feature: Feature, texts: Sequence[str]) -> list[tuple[Span, ...]]:
    """Where a feature is in some of the corpus' texts, as characters.

    Raises
    ------
    KeyError : a text that the corpus does not have.
    """
    cover: Cover = prepared.cover(feature)
    spans = prepared.texts.finder(Style()).find(cover.mask, cover.entities)
    return [_spans(spans, prepared.texts.tagged.index[text]) for text in texts]

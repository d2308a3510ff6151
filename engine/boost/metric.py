"""BoostedMetric: a metric mixed with the power mean of its own word importances, itself a metric (BMX, arXiv 2212.10469)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from engine.boost.power import REGULARISATIONS, power_means
from engine.boost.rows import SIDES, importances_of
from engine.corpus.types import Corpus, Languages, Segment
from engine.errors import InputError
from engine.explain.explain import explain_segments
from engine.explain.options import ExplainOptions
from engine.metrics import registry
from engine.metrics.base import MeanMetric, Metric, MetricSpec
from engine.options import from_pairs, join_pairs, option, split_pairs, to_pairs
from engine.scoring.scorer import Scorer

NAME = "boosted"
BATCH = 256  # segments explained per call: enough for systems that share references, and progress is still seen


@dataclass(frozen=True)
class Setting:
    """Where on the grid a metric is boosted, and how its importances are made positive."""

    p: float = option(1.0, "exponent of the power mean; -inf is the smallest importance, inf the largest")
    w: float = option(0.5, "weight of the original score; 1 is the original metric", low=0.0, high=1.0)
    regularisation: str = option("paper", "how importances are made positive before the power mean", choices=REGULARISATIONS)
    sides: str = option("all", "whose words count: all that the metric reads, or the hypothesis' only", choices=SIDES)


class BoostedMetric:
    """w · score + (1 - w) · power mean of the word importances; the corpus score is the mean.

    Statistics per segment are the score, the power mean, so that another w needs no new explanation, and whether that mean has
    collapsed. Where the metric is an error rate, the power mean is taken of the negated importances and subtracted: lower stays
    better.

    Parameters
    ----------
    metric : any metric, a boosted one included (iterated boosting).
    explain : how its words are explained.
    setting : p, w, regularisation, sides.
    scorer : scores the explainer's variants; its store keeps finished explanations.
    """

    def __init__(self, metric: Metric, explain: ExplainOptions, setting: Setting, scorer: Scorer | None = None) -> None:
        if math.isnan(setting.p) or not 0 <= setting.w <= 1:
            raise InputError(f"boosting with p = {setting.p}, w = {setting.w}: p must be a number and w between 0 and 1")
        self.metric = metric
        self.explain = explain
        self.setting = setting
        self.scorer = Scorer() if scorer is None else scorer

    @cached_property
    def spec(self) -> MetricSpec:
        inner = self.metric.spec
        setting, w = self.setting, _number(self.setting.w)
        p = _number(setting.p).replace("-", "\u2212")
        own = f"p:{_number(setting.p)}|{setting.regularisation}|{setting.sides}"
        how = "|".join([own, *self.explain.identity(), f"mask:{self.explain.mask_word}"])
        return MetricSpec(
            id=self._id(),
            name=f"{inner.name}, boosted (p {p}, w {w})",
            needs_reference=inner.needs_reference,
            needs_source=inner.needs_source,
            higher_is_better=inner.higher_is_better,
            range=inner.range if setting.w == 1 else (-math.inf, math.inf),
            signature=f"{NAME}|{how}|w:{w}({inner.signature})",
            statistics_key=f"{NAME}|{how}|columns:3({inner.signature})",
            slow=True,
            batch_size=BATCH,
        )

    def bind_corpus(self, corpus: Corpus) -> BoostedMetric:
        """The same, its metric with what it needs to know of the corpus."""
        return BoostedMetric(registry.bind_corpus(self.metric, corpus), self.explain, self.setting, self.scorer)

    @property
    def mask_word(self) -> str | None:
        """The mask token of the metric that is boosted, if it has one."""
        word = getattr(self.metric, "mask_word", None)
        return word() if callable(word) else word

    def statistics(self, segments: Sequence[Segment]) -> np.ndarray:
        """float64[n, 3]: the metric's score and the power mean of its importances, in its own unit and direction; 1 where that
        mean has collapsed, else 0.
        """
        explanations = explain_segments(segments, self.metric, self.explain, self.scorer)
        sign = 1 if self.metric.spec.higher_is_better else -1
        importances = importances_of(explanations, sign, self.setting.sides)
        means = power_means(importances, np.array([self.setting.p]), self.setting.regularisation, threads=1)
        scores = np.array([explanation.score for explanation in explanations], float)
        return np.stack([scores, sign * means.means[0], means.collapsed(self.setting.p)], axis=1)

    def segment_scores(self, statistics: np.ndarray) -> np.ndarray:
        """float64[n]: w · score + (1 - w) · power mean."""
        w = self.setting.w
        return statistics[:, 0] if w == 1 else w * statistics[:, 0] + (1 - w) * statistics[:, 1]

    def corpus_score(self, statistics: np.ndarray, weights: np.ndarray | None = None) -> float | np.ndarray:
        """The mean of the segment scores."""
        return MeanMetric().corpus_score(self.segment_scores(statistics)[:, None], weights)

    def _id(self) -> str:
        point = {"p": _number(self.setting.p), "w": _number(self.setting.w), "explainer": self.explain.explainer}
        pairs = point | to_pairs(self.setting) | to_pairs(self.explain) | point
        return f"{NAME}:{join_pairs(pairs)},metric={self.metric.spec.id}"


def make_metric(text: str, languages: Languages = (None, None), scorer: Scorer | None = None) -> Metric:
    """Make the metric that `text` names, a boosted one included.

    `boosted:p=-1,w=0.4,explainer=lime,metric=bertscore:layer=5`: `metric=` comes last and takes the rest, which may be boosted
    again.

    Raises
    ------
    InputError : an unknown name or option.
    """
    name, _, rest = text.strip().partition(":")
    if name != NAME:
        return registry.make_metric(text, languages)
    own, found, inner = rest.partition("metric=")
    if not found or (own and not own.endswith(",")):
        raise InputError(f"{text!r} does not say which metric is boosted; end it with metric=NAME")
    pairs = split_pairs(own, f"{text!r}")
    known = {item.name for item in fields(Setting)}
    setting = from_pairs(Setting, {key: value for key, value in pairs.items() if key in known}, NAME)
    explain = from_pairs(ExplainOptions, {key: value for key, value in pairs.items() if key not in known}, NAME)
    return BoostedMetric(make_metric(inner, languages, scorer), explain, setting, scorer)


def _number(value: float) -> str:
    return f"{value:.12g}"

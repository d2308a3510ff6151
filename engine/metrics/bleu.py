"""BLEU (Papineni et al. 2002): sacreBLEU's numbers, counted natively so that variants of a text cost microseconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.corpus.types import Languages, Segment
from engine.metrics.base import Metric, MetricSpec, metric_id, weighted_sums
from engine.metrics.lexical import Tokens, plan, signature, token_ids, word_ids
from engine.metrics.tokenizers import TOKENIZERS, Tokenizer, default_tokenizer, tokenizer
from engine.options import option

SMOOTHING_VALUES = {"exp": None, "floor": 0.1, "add-k": 1.0, "none": None}
"""The smoothing methods and the value each takes by default (Chen and Cherry 2014)."""

_LOG_OF_ZERO = -9999999999.0  # sacreBLEU's floor: the score becomes 0


@dataclass(frozen=True)
class Options:
    """Options of BLEU."""

    tokenize: str = option(
        "auto", "Tokenizer; auto takes sacreBLEU's choice for the target language", choices=("auto", *TOKENIZERS)
    )
    lowercase: bool = option(False, "Ignore case")
    smooth_method: str = option("exp", "Smoothing of orders without a match", choices=tuple(SMOOTHING_VALUES), label="Smoothing")
    smooth_value: float | None = option(
        None, "Value of floor (not given: 0.1) and of add-k (not given: 1)", low=0.0, advanced=True, label="Smoothing value"
    )
    max_ngram_order: int = option(4, "The longest n-gram", low=1, high=16, advanced=True, label="Longest n-gram")
    effective_order: bool = option(
        True, "Score a segment by the orders that it is long enough for; a corpus always by all", advanced=True
    )


def make(name: str, options: Options, languages: Languages) -> Metric:
    """Make BLEU for a corpus in these languages."""
    chosen = default_tokenizer(languages[1]) if options.tokenize == "auto" else options.tokenize
    tokens = tokenizer(chosen)
    return Bleu(_spec(name, options, tokens), options, tokens)


def _spec(name: str, options: Options, tokens: Tokenizer) -> MetricSpec:
    method, value = options.smooth_method, _smoothing_value(options)
    counted = {"case": "lc" if options.lowercase else "mixed", "tok": tokens.signature}
    if options.max_ngram_order != 4:
        counted["order"] = str(options.max_ngram_order)
    smoothing = method if value is None else f"{method}[{value:g}]"
    reduced = {"eff": False, "segments-eff": options.effective_order, "smooth": smoothing}
    return MetricSpec(
        id=metric_id(name, options),
        name="BLEU" if options.max_ngram_order == 4 else f"BLEU-{options.max_ngram_order}",
        needs_reference=True,
        needs_source=False,
        higher_is_better=True,
        range=(0.0, 100.0),
        signature=signature("BLEU", "sacrebleu", **counted, **reduced),
        statistics_key=signature("BLEU-statistics", "sacrebleu", **counted),
    )


def _smoothing_value(options: Options) -> float | None:
    default = SMOOTHING_VALUES[options.smooth_method]
    return default if default is None or options.smooth_value is None else options.smooth_value


@dataclass(frozen=True)
class Bleu:
    """BLEU as a `Metric`.

    Its statistics are sacreBLEU's, float64[n, 2 + 2 · order]: hypothesis length, closest reference length, matches by order,
    n-grams of the hypothesis by order. Scores are in 0 … 100.
    """

    spec: MetricSpec
    options: Options
    tokenizer: Tokenizer

    def statistics(self, segments: Sequence[Segment]) -> np.ndarray:
        from engine.metrics.kernels.ngrams import clipped_matches

        planned, order = plan(segments), self.options.max_ngram_order
        texts = [text.lower() for text in planned.texts] if self.options.lowercase else planned.texts
        tokens = self._tokens([text.rstrip() for text in texts])
        hypotheses, references = tokens.split(len(planned.hypotheses))
        matches, reference_lengths = clipped_matches(
            hypotheses.ids, hypotheses.offsets, references.ids, references.offsets,
            planned.groups, planned.group_offsets, planned.hypothesis, planned.group, order,
        )  # fmt: skip
        lengths = hypotheses.lengths[planned.hypothesis]
        totals = np.maximum(lengths[:, None] - np.arange(order), 0)
        pairs = np.concatenate([lengths[:, None], reference_lengths[:, None], matches, totals], axis=1, dtype=np.float64)
        return pairs[planned.inverse]

    def _tokens(self, texts: Sequence[str]) -> Tokens:
        if self.tokenizer.clean is not None:
            return word_ids([self.tokenizer.clean(text) for text in texts], self.tokenizer.pieces)
        return token_ids([self.tokenizer.words(text) for text in texts], self.tokenizer.pieces)

    def segment_scores(self, statistics: np.ndarray) -> np.ndarray:
        return self._scores(statistics, self.options.effective_order)

    def scores_of_sums(self, sums: np.ndarray) -> np.ndarray:
        """Corpus scores from sums of statistics, float64[n, k], one score for each row, float64[n]."""
        return self._scores(sums, False)

    def corpus_score(self, statistics: np.ndarray, weights: np.ndarray | None = None) -> float | np.ndarray:
        sums, total = weighted_sums(statistics, weights)
        scores = self.scores_of_sums(np.atleast_2d(sums))
        scores = np.where(np.atleast_1d(total) > 0, scores, np.nan)
        return scores if np.ndim(total) else float(scores[0])

    def _scores(self, sums: np.ndarray, effective_order: bool) -> np.ndarray:
        value = _smoothing_value(self.options)
        return bleu_scores(sums, self.options.smooth_method, value, effective_order)


def bleu_scores(
    sums: np.ndarray, smooth_method: str = "exp", smooth_value: float | None = None, effective_order: bool = False
) -> np.ndarray:
    """BLEU of each row of statistics or of sums of statistics, smoothed as sacreBLEU does.

    Parameters
    ----------
    sums : float64[n, 2 + 2 · order], the layout of `Bleu`.
    smooth_method, smooth_value : a method of `SMOOTHING_VALUES` and its value.
    effective_order : True leaves out the orders for which the hypothesis is too short.

    Returns
    -------
    float64[n], 0 … 100; NaN where a row is NaN.

    Source: Papineni et al. 2002; smoothing methods 1 to 3 of Chen and Cherry 2014.
    """
    order = (sums.shape[1] - 2) // 2
    lengths, reference_lengths = sums[:, 0], sums[:, 1]
    matches, totals = sums[:, 2 : 2 + order].copy(), sums[:, 2 + order :].copy()
    value = 0.0 if smooth_value is None else smooth_value
    undefined, matched = np.isnan(sums).any(axis=1), (matches > 0).any(axis=1)
    if smooth_method == "add-k":
        matches[:, 1:] += value
        totals[:, 1:] += value
    reached = np.logical_and.accumulate(totals > 0, axis=1)  # orders after the first one without n-grams do not count
    with np.errstate(divide="ignore", invalid="ignore"):
        precisions = np.where(reached & (matches > 0), 100.0 * matches / totals, 0.0)
        missed = reached & (matches == 0)
        if smooth_method == "exp":
            precisions = np.where(missed, 100.0 / (2.0 ** np.cumsum(missed, axis=1) * totals), precisions)
        elif smooth_method == "floor":
            precisions = np.where(missed, 100.0 * value / totals, precisions)
        logs = np.where(precisions > 0, np.log(precisions), _LOG_OF_ZERO)
        orders = np.maximum(reached.sum(axis=1), 1) if effective_order else np.full(len(sums), order)
        logs = np.where(np.arange(order) < orders[:, None], logs, 0.0)
        brevity = np.where(lengths < reference_lengths, np.exp(1.0 - reference_lengths / lengths), 1.0)
        scores = np.where(matched, brevity * np.exp(logs.sum(axis=1) / orders), 0.0)
    return np.where(undefined, np.nan, scores)

"""chrF and chrF++ (Popović 2015, 2017): sacreBLEU's numbers, counted natively."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.corpus.types import Languages, Segment
from engine.metrics.base import Metric, MetricSpec, metric_id, weighted_sums
from engine.metrics.lexical import SinglePairs, Tokens, character_ids, plan, signature, single_pairs, word_ids
from engine.options import option

_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_EPSILON = 1e-16  # what chrF++'s own program takes for a missing precision or recall


@dataclass(frozen=True)
class Options:
    """Options of chrF and chrF++."""

    word_order: int | None = option(
        None, "The longest word n-gram; not given: 0 for chrF, 2 for chrF++", low=0, high=4, advanced=True
    )
    char_order: int = option(6, "The longest character n-gram", low=1, high=16, advanced=True, label="Character order")
    beta: int = option(2, "How many times recall counts more than precision", low=0, high=10)
    lowercase: bool = option(False, "Ignore case")
    whitespace: bool = option(False, "Count white space as characters", advanced=True)
    eps_smoothing: bool = option(False, "Smooth as chrF++'s own program does, instead of by effective order", advanced=True)


def make(name: str, options: Options, languages: Languages) -> Metric:
    """Make `chrf` or `chrf++`; the languages do not matter."""
    words = options.word_order if options.word_order is not None else 2 if name == "chrf++" else 0
    facts = {
        "case": "lc" if options.lowercase else "mixed",
        "eff": not options.eps_smoothing,
        "nc": options.char_order,
        "nw": words,
        "space": options.whitespace,
    }
    shown = f"chrF{options.beta}" + "+" * words
    spec = MetricSpec(
        id=metric_id(name, options),
        name="chrF" + "+" * words if options.beta == 2 else shown,
        needs_reference=True,
        needs_source=False,
        higher_is_better=True,
        range=(0.0, 100.0),
        signature=signature(shown, "sacrebleu", **facts),
    )
    return Chrf(spec, options, words)


@dataclass(frozen=True)
class Chrf:
    """chrF as a `Metric`.

    Its statistics are sacreBLEU's, float64[n, 3 · (character order + word order)]: for each order the n-grams of the hypothesis,
    of the reference, and matched; of several references the one with the highest score counts. Scores are in 0 … 100.
    """

    spec: MetricSpec
    options: Options
    word_order: int

    def statistics(self, segments: Sequence[Segment]) -> np.ndarray:
        planned = plan(segments)
        texts = [text.lower() for text in planned.texts] if self.options.lowercase else planned.texts
        count, pairs = len(planned.hypotheses), single_pairs(planned)
        characters = character_ids(texts, spaces=self.options.whitespace)
        counts = [_counts(characters, count, pairs, self.options.char_order)]
        if self.word_order:
            words = word_ids(texts, _split_punctuation)
            counts.append(_counts(words, count, pairs, self.word_order))
        single = np.concatenate(counts, axis=1)
        return single[pairs.best(self.segment_scores(single))][planned.inverse]

    def segment_scores(self, statistics: np.ndarray) -> np.ndarray:
        return chrf_scores(statistics, self.options.beta, self.options.eps_smoothing)

    def scores_of_sums(self, sums: np.ndarray) -> np.ndarray:
        """Corpus scores from sums of statistics, float64[n, k], one score for each row, float64[n]."""
        return self.segment_scores(sums)

    def corpus_score(self, statistics: np.ndarray, weights: np.ndarray | None = None) -> float | np.ndarray:
        sums, total = weighted_sums(statistics, weights)
        scores = np.where(np.atleast_1d(total) > 0, self.scores_of_sums(np.atleast_2d(sums)), np.nan)
        return scores if np.ndim(total) else float(scores[0])


def _counts(tokens: Tokens, count: int, pairs: SinglePairs, order: int) -> np.ndarray:
    """Per single pair and order: n-grams of the hypothesis, of the reference, matched; float64[n_single, 3 · order]."""
    from engine.metrics.kernels.ngrams import clipped_matches

    hypotheses, references = tokens.split(count)
    alone = np.arange(len(references.lengths), dtype=np.int64)
    matches, _ = clipped_matches(
        hypotheses.ids, hypotheses.offsets, references.ids, references.offsets,
        alone, np.arange(len(alone) + 1, dtype=np.int64), pairs.hypothesis, pairs.reference, order,
    )  # fmt: skip
    counts = np.empty((len(matches), order, 3))
    counts[:, :, 0] = np.maximum(hypotheses.lengths[pairs.hypothesis, None] - np.arange(order), 0)
    counts[:, :, 1] = np.maximum(references.lengths[pairs.reference, None] - np.arange(order), 0)
    counts[:, :, 2] = matches
    counts[:, :, 0] *= counts[:, :, 1] > 0  # an order for which the reference is too short does not count
    return counts.reshape(len(matches), 3 * order)


def _split_punctuation(word: str) -> list[str]:
    """Separate one punctuation mark from the end of a word, or else from its start (Popović 2017)."""
    if len(word) > 1 and word[-1] in _PUNCTUATION:
        return [word[:-1], word[-1]]
    if len(word) > 1 and word[0] in _PUNCTUATION:
        return [word[0], word[1:]]
    return [word]


def chrf_scores(sums: np.ndarray, beta: int = 2, eps_smoothing: bool = False) -> np.ndarray:
    """chrF of each row of statistics or of sums of statistics.

    Parameters
    ----------
    sums : float64[n, 3 · orders], the layout of `Chrf`.
    beta : how many times recall counts more than precision.
    eps_smoothing : the mean of the orders' F scores (as chrF++'s own program) instead of the F score of the mean precision and
        the mean recall over the orders that both sides have.

    Returns
    -------
    float64[n], 0 … 100; NaN where a row is NaN.

    Source: Popović 2015, equation 1.
    """
    hypothesis, reference, matched = (sums[:, part::3] for part in range(3))
    factor = beta**2
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(hypothesis > 0, matched / hypothesis, _EPSILON)
        recall = np.where(reference > 0, matched / reference, _EPSILON)
        if eps_smoothing:
            below = factor * precision + recall
            by_order = np.where(below > 0, (1 + factor) * precision * recall / below, _EPSILON)
            scores = 100 * _in_order(by_order) / by_order.shape[1]
        else:
            both = (hypothesis > 0) & (reference > 0)
            orders = np.maximum(both.sum(axis=1), 1)
            precision, recall = (_in_order(np.where(both, part, 0.0)) / orders for part in (precision, recall))
            ratio = (1 + factor) * precision * recall / (factor * precision + recall)
            scores = np.where(precision + recall > 0, 100 * ratio, 0.0)
    return np.where(np.isnan(sums).any(axis=1), np.nan, scores)


def _in_order(values: np.ndarray) -> np.ndarray:
    """Row sums added from left to right, so that ties between references fall as they do in sacreBLEU."""
    return np.add.accumulate(values, axis=1)[:, -1]

"""TER, translation edit rate (Snover et al. 2006): sacreBLEU's numbers from a native search for shifts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from engine.corpus.types import Languages, Segment
from engine.metrics.base import Metric, MetricSpec, metric_id, weighted_sums
from engine.metrics.lexical import Plan, SinglePairs, plan, signature, single_pairs, token_ids
from engine.options import option

Splitter = Callable[[str], list[str]]

_ASIAN = ("zh", "yue", "ja")  # targets whose text Tercom's Asian rules cut into words


@dataclass(frozen=True)
class Options:
    """Options of TER."""

    normalized: bool | None = option(None, "Separate punctuation and undo XML entities; not given: only for Chinese and Japanese")
    no_punct: bool = option(False, "Leave punctuation out", label="Without punctuation")
    asian_support: bool | None = option(
        None, "Cut Chinese characters apart (with normalized) and drop Asian punctuation (with no punct); "
        "not given: only for Chinese and Japanese",
    )  # fmt: skip
    case_sensitive: bool = option(False, "Tell upper from lower case")


def make(name: str, options: Options, languages: Languages) -> Metric:
    """Make TER for a corpus in these languages.

    Chinese and Japanese are normalized with Asian support unless the options say otherwise: without it a sentence is one word.
    """
    asian_target = languages[1] in _ASIAN
    normalized = asian_target if options.normalized is None else options.normalized
    asian = asian_target if options.asian_support is None else options.asian_support
    facts = {
        "case": "mixed" if options.case_sensitive else "lc",
        "tok": "tercom",
        "norm": normalized,
        "punct": not options.no_punct,
        "asian": asian,
    }
    spec = MetricSpec(
        id=metric_id(name, options),
        name="TER",
        needs_reference=True,
        needs_source=False,
        higher_is_better=False,
        range=(0.0, float("inf")),
        signature=signature("TER", "sacrebleu", **facts),
        batch_size=1024,
    )
    return Ter(spec, *_splitters(normalized, options.no_punct, asian, options.case_sensitive))


def _splitters(normalized: bool, no_punct: bool, asian: bool, case_sensitive: bool) -> tuple[Splitter, Splitter]:
    """How sacreBLEU's Tercom tokenizer splits a hypothesis, and how it splits a reference.

    sacreBLEU tokenizes references twice. It shows only where the rules find something new in their own result: `a..5`.
    """
    if not normalized and not no_punct:
        words = str.split if case_sensitive else lambda text: text.lower().split()
        return words, words
    from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

    tokenize = TercomTokenizer(normalized, no_punct, asian, case_sensitive)
    return lambda text: tokenize(text.rstrip()).split(), lambda text: tokenize(tokenize(text.rstrip())).split()


@dataclass(frozen=True)
class Ter:
    """TER as a `Metric`.

    Its statistics are sacreBLEU's, float64[n, 2]: edits against the reference that needs fewest, mean length of the references in
    words. Scores are edits per 100 words of reference, 0 or more; lower is better.

    Long texts are searched like short ones, without a limit on their length: a pair of texts of 100,000 characters takes well
    under a second, where the same search in Python takes a minute for a twentieth of it.
    """

    spec: MetricSpec
    split_hypothesis: Splitter
    split_reference: Splitter

    def statistics(self, segments: Sequence[Segment]) -> np.ndarray:
        from engine.metrics.kernels.edits import translation_edits

        planned = plan(segments)
        pairs = single_pairs(planned)
        words = [self.split_hypothesis(text) for text in planned.hypotheses]
        words += [self.split_reference(text) for text in planned.references]
        hypotheses, references = token_ids(words).split(len(planned.hypotheses))
        edits = translation_edits(
            hypotheses.ids, hypotheses.offsets, references.ids, references.offsets, pairs.hypothesis, pairs.reference
        )
        fewest = edits[pairs.best(-edits)]
        lengths = _mean_lengths(references.lengths, pairs, planned)
        return np.stack([fewest, lengths], axis=1, dtype=np.float64)[planned.inverse]

    def segment_scores(self, statistics: np.ndarray) -> np.ndarray:
        return ter_scores(statistics)

    def scores_of_sums(self, sums: np.ndarray) -> np.ndarray:
        """Corpus scores from sums of statistics, float64[n, k], one score for each row, float64[n]."""
        return ter_scores(sums)

    def corpus_score(self, statistics: np.ndarray, weights: np.ndarray | None = None) -> float | np.ndarray:
        sums, total = weighted_sums(statistics, weights)
        scores = np.where(np.atleast_1d(total) > 0, self.scores_of_sums(np.atleast_2d(sums)), np.nan)
        return scores if np.ndim(total) else float(scores[0])


def _mean_lengths(lengths: np.ndarray, pairs: SinglePairs, planned: Plan) -> np.ndarray:
    """The mean length of each pair's references, float64[n_pairs]."""
    present = pairs.rows >= 0
    by_reference = np.where(present, lengths[pairs.reference[pairs.rows]], 0)
    return by_reference.sum(axis=1) / present.sum(axis=1)


def ter_scores(sums: np.ndarray) -> np.ndarray:
    """TER of each row of statistics or of sums of statistics (float64[n, 2], the layout of `Ter`): float64[n].

    Against an empty reference a text scores 100, unless it is empty itself (0). NaN where a row is NaN.
    """
    edits, lengths = sums[:, 0], sums[:, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = np.where(lengths > 0, 100 * (edits / lengths), np.where(edits > 0, 100.0, 0.0))
    return np.where(np.isnan(sums).any(axis=1), np.nan, rate)

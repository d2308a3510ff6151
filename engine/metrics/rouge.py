"""ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004): rouge-score's numbers, counted natively; words of every script where needed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from engine.corpus.types import Languages, Segment
from engine.metrics.base import MeanMetric, Metric, MetricSpec, metric_id
from engine.metrics.lexical import Plan, SinglePairs, Tokens, plan, signature, single_pairs, token_ids
from engine.options import option

VALUES = ("f1", "precision", "recall")

_LATIN_WORD = re.compile(r"[a-z0-9]+")

_OTHER_SCRIPTS = """
    ab am ar as av ba be bg bn bo ce chr ckb cv dv dz el fa gu he hi hy ii iu ja ka kk km kn ko kv ky lo mk ml mn mr my ne or os
    pa ps ru sa sd si sr ta te tg th ti tt ug uk ur yi yue zh
"""
OTHER_SCRIPTS = frozenset(_OTHER_SCRIPTS.split())
"""Languages (ISO 639) that are mostly written in another script than the Latin one: rouge-score would drop their words."""


@dataclass(frozen=True)
class Options:
    """Options of ROUGE."""

    value: str = option("f1", "Which of the three values is the score", choices=VALUES)
    use_stemmer: bool = option(False, "Compare word stems (Porter), not words")
    tokenizer: str = option(
        "auto",
        "rouge: words of a–z and 0–9, as rouge-score has them; unicode: words of every script; auto: unicode for target "
        "languages that are not written in Latin letters",
        choices=("auto", "rouge", "unicode"),
        advanced=True,
    )


def make(name: str, options: Options, languages: Languages) -> Metric:
    """Make `rouge-1`, `rouge-2` or `rouge-l` for a corpus in these languages."""
    kind = name.removeprefix("rouge-")
    tokens = options.tokenizer
    if tokens == "auto":
        tokens = "unicode" if languages[1] in OTHER_SCRIPTS else "rouge"
    counted = {"tok": tokens, "stem": options.use_stemmer, "refs": "best-f1"}
    spec = MetricSpec(
        id=metric_id(name, options),
        name=f"ROUGE-{kind.upper()}" + ("" if options.value == "f1" else f" {options.value}"),
        needs_reference=True,
        needs_source=False,
        higher_is_better=True,
        range=(0.0, 1.0),
        signature=signature(f"ROUGE-{kind.upper()}", "rouge-score", value=options.value, corpus="mean", **counted),
        statistics_key=signature(f"ROUGE-{kind.upper()}-statistics", "rouge-score", **counted),
    )
    stem = _stemmer() if options.use_stemmer else None
    return Rouge(spec, 0 if kind == "l" else int(kind), options.value, _words(tokens), stem)


class Rouge(MeanMetric):
    """ROUGE as a `Metric`.

    Its statistics are float64[n, 3]: matches (n-grams, or the length of the longest common subsequence), n-grams of the
    hypothesis, n-grams of the reference; of several references the one with the highest F1 counts, whichever value is asked for
    (rouge-score's rule). Scores are in 0 … 1; the score of a corpus is the mean of its segments'.
    """

    def __init__(
        self, spec: MetricSpec, order: int, value: str, words: Callable[[str], list[str]], stem: Callable[[str], list[str]] | None
    ) -> None:
        self.spec = spec
        self._order = order  # 0 for the longest common subsequence
        self._value = value
        self._words = words
        self._stem = stem

    def statistics(self, segments: Sequence[Segment]) -> np.ndarray:
        planned = plan(segments)
        tokens = token_ids([self._words(text) for text in planned.texts], self._stem)
        pairs = single_pairs(planned)
        single = self._counts(tokens, planned, pairs)
        return single[pairs.best(rouge_scores(single, "f1"))][planned.inverse]

    def segment_scores(self, statistics: np.ndarray) -> np.ndarray:
        return rouge_scores(statistics, self._value)

    def _counts(self, tokens: Tokens, planned: Plan, pairs: SinglePairs) -> np.ndarray:
        hypotheses, references = tokens.split(len(planned.hypotheses))
        texts = hypotheses.ids, hypotheses.offsets, references.ids, references.offsets
        if self._order:
            from engine.metrics.kernels.ngrams import clipped_matches

            alone = np.arange(len(planned.references) + 1, dtype=np.int64)
            matches = clipped_matches(*texts, alone[:-1], alone, pairs.hypothesis, pairs.reference, self._order)[0][:, -1]
        else:
            from engine.metrics.kernels.subsequence import common_subsequences

            matches = common_subsequences(*texts, pairs.hypothesis, pairs.reference)
        shorter = max(self._order - 1, 0)
        ours = np.maximum(hypotheses.lengths[pairs.hypothesis] - shorter, 0)
        theirs = np.maximum(references.lengths[pairs.reference] - shorter, 0)
        return np.stack([matches, ours, theirs], axis=1, dtype=np.float64)


def rouge_scores(statistics: np.ndarray, value: str) -> np.ndarray:
    """Precision, recall or F1 of each row of statistics (float64[n, 3] as `Rouge` has them): float64[n], NaN where a row is."""
    matches, ours, theirs = statistics.T
    precision, recall = matches / np.maximum(ours, 1), matches / np.maximum(theirs, 1)
    if value != "f1":
        return precision if value == "precision" else recall
    with np.errstate(invalid="ignore"):
        both = precision + recall
        return np.where(both == 0, 0.0, 2 * precision * recall / both)


def _words(tokens: str) -> Callable[[str], list[str]]:
    if tokens == "rouge":
        return lambda text: _LATIN_WORD.findall(text.lower())
    import regex

    # a character by itself in scripts that do not write spaces, with its marks; elsewhere a run of letters, marks and digits
    unspaced = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}"
    word = regex.compile(rf"[[{unspaced}]&&[\p{{L}}\p{{N}}]]\p{{M}}*|[[\p{{L}}\p{{M}}\p{{N}}]--[{unspaced}]]+", regex.V1)
    return lambda text: word.findall(text.lower())


def _stemmer() -> Callable[[str], list[str]]:
    from nltk.stem.porter import PorterStemmer

    stem = PorterStemmer().stem

    @lru_cache(1 << 16)
    def stemmed(word: str) -> list[str]:
        return [stem(word) if len(word) > 3 else word]

    return stemmed

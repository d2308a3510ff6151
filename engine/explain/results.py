"""What an explanation is, and the table that it becomes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pandas as pd

from engine.corpus.types import Segment
from engine.explain.options import ExplainOptions
from engine.explain.words import Word, split_words
from engine.metrics.base import MetricSpec

COLUMNS = ("segment", "system", "metric", "explainer", "side", "position", "word", "importance", "score")


@dataclass(frozen=True, eq=False, slots=True)
class SideImportances:
    """The importances of one text of a segment.

    Attributes
    ----------
    side : "hypothesis", "reference:0", "reference:1", … or "source".
    text : the text as it is.
    importances : float64[n_words] in the metric's unit; positive where the word raises the score, NaN where undefined.
    """

    side: str
    text: str
    importances: np.ndarray

    @property
    def words(self) -> tuple[Word, ...]:
        """The words that the importances belong to; made anew each time, since many explanations are kept."""
        return tuple(split_words(self.text))


@dataclass(frozen=True, eq=False, slots=True)
class Explanation:
    """A metric's score of one segment, word by word.

    Attributes
    ----------
    segment : what was scored.
    score : the metric's score of the segment, NaN where undefined.
    sides : the texts that the metric reads: hypothesis, references, source.
    undefined : why the score or an importance is undefined; None where all are defined.
    higher_is_better : False for error rates, where a word that raises the score does harm.
    mask : the mask word that was used; empty where words were removed.
    notes : what a reader must know beside the numbers: another mask word, more evaluations than asked for.
    """

    segment: Segment
    score: float
    sides: tuple[SideImportances, ...]
    undefined: str | None = None
    higher_is_better: bool = True
    mask: str = ""
    notes: tuple[str, ...] = ()

    def side(self, name: str) -> SideImportances:
        """The side of that name.

        Raises
        ------
        KeyError : there is no such side.
        """
        for item in self.sides:
            if item.side == name:
                return item
        raise KeyError(name)

    @property
    def importances(self) -> np.ndarray:
        """The importances of all sides in a row, float64[n_words of all sides]."""
        return np.concatenate([item.importances for item in self.sides]) if self.sides else np.empty(0)


@dataclass(frozen=True, slots=True)
class Explained:
    """An explanation and where it belongs in the corpus."""

    segment: int
    system: str
    explanation: Explanation


@dataclass(frozen=True, eq=False)
class Explanations:
    """The explanations of a corpus under one metric and one explainer."""

    metric: MetricSpec
    options: ExplainOptions
    entries: tuple[Explained, ...]

    @property
    def higher_is_better(self) -> bool:
        """False for error rates, where a word that raises the score does harm."""
        return self.metric.higher_is_better

    def to_frame(self) -> pd.DataFrame:
        """One row per word, with `COLUMNS`; `score` is the segment's."""
        return pd.concat(self.frames(), ignore_index=True)

    def frames(self, size: int = 10_000) -> Iterator[pd.DataFrame]:
        """The rows of `to_frame`, `size` explanations at a time, for exports that must not hold all of them."""
        for start in range(0, max(1, len(self.entries)), size):
            yield self._frame(self.entries[start : start + size])

    def _frame(self, entries: Sequence[Explained]) -> pd.DataFrame:
        rows = [(entry, item) for entry in entries for item in entry.explanation.sides]
        lengths = np.array([len(item.importances) for _, item in rows], dtype=np.int64)

        def spread(values: list) -> np.ndarray:
            return np.repeat(np.array(values, dtype=object), lengths)

        total = int(lengths.sum())
        starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
        words = [word.text for _, item in rows for word in split_words(item.text)]
        columns = {
            "segment": spread([entry.segment for entry, _ in rows]).astype(np.int64),
            "system": pd.Series(spread([entry.system for entry, _ in rows]), dtype="str"),
            "metric": pd.Series([self.metric.id] * total, dtype="str"),
            "explainer": pd.Series([self.options.explainer] * total, dtype="str"),
            "side": pd.Series(spread([item.side for _, item in rows]), dtype="str"),
            "position": np.arange(total) - starts,
            "word": _text_series(words),
            "importance": np.fromiter(chain.from_iterable(item.importances for _, item in rows), np.float64, total),
            "score": spread([entry.explanation.score for entry, _ in rows]).astype(np.float64),
        }
        return pd.DataFrame(columns, columns=list(COLUMNS))


def _text_series(texts: list[str]) -> pd.Series:
    """Texts as pandas keeps them best; lone surrogates, which that form cannot hold, stay plain objects."""
    try:
        return pd.Series(texts, dtype="str")
    except UnicodeEncodeError:
        return pd.Series(texts, dtype="object")

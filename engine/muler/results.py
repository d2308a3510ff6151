"""The result of a breakdown: one row per system, metric and feature, and tables made from the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from engine.errors import InputError
from engine.muler.features import Feature
from engine.stats.correlation import COEFFICIENTS
from engine.stats.resampling import bootstrap_p_value, interval

COLUMNS = (
    "system", "metric", "family", "feature", "n", "score", "oracle", "anti_oracle", "muler", "low", "high", "abl_muler",
    "add", "hit", "miss", "reason", "signature",
)  # fmt: skip
DIFFERENCE_COLUMNS = (
    "metric", "family", "feature", "a", "b", "muler_a", "muler_b", "delta", "low", "high", "p_value", "reason", "signature",
)  # fmt: skip
CORRELATION_COLUMNS = ("metric", "family", "feature", "coefficient", "correlation", "n", "reason", "signature")
LEXICON_COLUMNS = ("system", "lexicon", "n", "difference", "low", "high", "reason", "signature")
"""Columns of the tables; `signature` says what made the numbers: that of the metric, then the options and the tagger."""


@dataclass(frozen=True)
class FeatureScore:
    """One feature of one system under one metric.

    Attributes
    ----------
    system, metric : the metric's id.
    feature : family and name.
    n : sentences that hold the feature and are scored.
    score : of these sentences as they are (the paper's indices score), in the metric's unit.
    oracle, anti_oracle : their score with the feature as if translated perfectly, and as if wholly wrong.
    muler : (oracle − score) / (oracle − anti-oracle): 0 nothing is missed, 1 everything; NaN where undefined.
    low, high : 95% bootstrap interval of `muler` over sentences.
    abl_muler : how much the score would rise (for error rates: fall) to the oracle, in the metric's unit.
    add, hit, miss : how many of the n sentences have it more often in the output than in the reference, as often, less often.
    in_references, in_output : how often the feature is masked, all references and the system's outputs taken together.
    reason : why there is no value, or what is odd about it; None otherwise.
    abl_low, abl_high : 95% bootstrap interval of `abl_muler`.
    """

    system: str
    metric: str
    feature: Feature
    n: int
    score: float
    oracle: float
    anti_oracle: float
    muler: float
    low: float
    high: float
    abl_muler: float
    add: int
    hit: int
    miss: int
    in_references: int
    in_output: int
    reason: str | None = None
    abl_low: float = float("nan")
    abl_high: float = float("nan")


@dataclass(frozen=True)
class LexiconDifference:
    """How far a system's sentences are from their references in the mean lexicon value of their words.

    Attributes
    ----------
    n : sentences in which both sides have a word of the lexicon.
    difference : mean absolute difference, in the lexicon's unit; NaN where undefined.
    low, high : 95% bootstrap interval over sentences.
    """

    system: str
    lexicon: str
    n: int
    difference: float
    low: float
    high: float
    reason: str | None = None


@dataclass(frozen=True, eq=False)
class Breakdown:
    """Scores of systems broken down by feature.

    Attributes
    ----------
    rows : metric by metric, feature by feature, the systems in the corpus' order.
    overall : (metric, system) → score of the whole corpus, in the metric's unit.
    higher_is_better : metric → False for error rates.
    resampled : (metric, system, feature) → MuLER in each resample, float64[resamples]; the same resamples throughout.
    lexicons : differences in lexicon values.
    notes : what the reader should know: families without features, entries left out.
    gains : abl-MuLER in each resample, as `resampled`.
    made : the options and the tagger, as one signature.
    signatures : metric → its signature.
    """

    rows: tuple[FeatureScore, ...]
    overall: Mapping[tuple[str, str], float]
    higher_is_better: Mapping[str, bool]
    resampled: Mapping[tuple[str, str, Feature], np.ndarray] = field(repr=False)
    lexicons: tuple[LexiconDifference, ...] = ()
    notes: tuple[str, ...] = ()
    gains: Mapping[tuple[str, str, Feature], np.ndarray] = field(default_factory=dict, repr=False)
    made: str = ""
    signatures: Mapping[str, str] = field(default_factory=dict)

    @property
    def features(self) -> tuple[Feature, ...]:
        """All features, in order."""
        return tuple(dict.fromkeys(row.feature for row in self.rows))

    def signature(self, metric: str) -> str:
        """What made the numbers of a metric: its own signature, then that of the breakdown."""
        return "|".join(filter(None, (self.signatures.get(metric, ""), self.made)))

    def row(self, metric: str, system: str, feature: Feature) -> FeatureScore:
        """One row.

        Raises
        ------
        KeyError : there is none.
        """
        return self._index[metric, system, feature]

    def to_frame(self) -> pd.DataFrame:
        """One row per metric, feature and system, with `COLUMNS`."""
        rows = [[*(_cell(row, name) for name in COLUMNS[:-1]), self.signature(row.metric)] for row in self.rows]
        return pd.DataFrame(rows, columns=list(COLUMNS))

    def matrix(self, metric: str, value: str = "muler") -> pd.DataFrame:
        """One metric's table of features (rows, as `pos:NOUN`) by systems (columns)."""
        table: dict[str, dict[str, float]] = {}
        for row in self.rows:
            if row.metric == metric:
                table.setdefault(row.system, {})[row.feature.id] = getattr(row, value)
        return pd.DataFrame(table)

    def differences(self, a: str, b: str, value: str = "muler") -> pd.DataFrame:
        """MuLER of system a less that of system b for every metric and feature, with a paired bootstrap interval.

        Below 0 system a misses less. Columns: `DIFFERENCE_COLUMNS`; with `value` "abl_muler" the two values are called after it.

        Raises
        ------
        InputError : one of the systems is not in the breakdown.
        """
        known = {row.system for row in self.rows}
        for name in (a, b):
            if name not in known:
                raise InputError(f"system {name!r} is not in this breakdown; it has {', '.join(sorted(known))}")
        pairs = dict.fromkeys((row.metric, row.feature) for row in self.rows)
        rows = [self._difference(metric, feature, a, b, value) for metric, feature in pairs]
        return pd.DataFrame(rows, columns=[name.replace("muler", value) for name in DIFFERENCE_COLUMNS])

    def correlations(self, coefficient: str = "pearson") -> pd.DataFrame:
        """Correlation over systems of −MuLER with the metric itself (turned so that higher is better), feature by feature.

        High: a system that is better overall also does better on the feature. Columns: `CORRELATION_COLUMNS`.
        Source: Karidi et al. 2023, section 5.
        """
        rows = []
        for metric, feature in dict.fromkeys((row.metric, row.feature) for row in self.rows):
            of = [row for row in self.rows if (row.metric, row.feature) == (metric, feature)]
            sign = 1.0 if self.higher_is_better[metric] else -1.0
            scores = np.array([sign * self.overall[metric, row.system] for row in of])
            found = COEFFICIENTS[coefficient](np.array([-row.muler for row in of]), scores)
            rows.append(
                (metric, feature.family, feature.name, coefficient, found.value, found.n, found.undefined, self.signature(metric))
            )
        return pd.DataFrame(rows, columns=list(CORRELATION_COLUMNS))

    def lexicon_frame(self) -> pd.DataFrame:
        """One row per lexicon and system, with `LEXICON_COLUMNS`."""
        rows = [[*(getattr(row, name) for name in LEXICON_COLUMNS[:-1]), self.made] for row in self.lexicons]
        return pd.DataFrame(rows, columns=list(LEXICON_COLUMNS))

    @cached_property
    def _index(self) -> dict[tuple[str, str, Feature], FeatureScore]:
        return {(row.metric, row.system, row.feature): row for row in self.rows}

    def _difference(self, metric: str, feature: Feature, a: str, b: str, value: str) -> tuple:
        first, second = self.row(metric, a, feature), self.row(metric, b, feature)
        values = getattr(first, value), getattr(second, value)
        delta = values[0] - values[1]
        drawn = self.resampled if value == "muler" else self.gains
        ones, twos = (drawn.get((metric, name, feature), np.empty(0)) for name in (a, b))
        low, high, p_value = float("nan"), float("nan"), float("nan")
        if not np.isnan(delta) and len(ones) and len(ones) == len(twos):
            low, high = interval(ones - twos)
            p_value = bootstrap_p_value(ones - twos, delta)
        whys = [f"{row.system}: {row.reason}" for row in (first, second) if row.reason]
        numbers = (*values, delta, low, high, p_value)
        return (metric, feature.family, feature.name, a, b, *numbers, "; ".join(whys) or None, self.signature(metric))


def joined(parts: Sequence[Breakdown]) -> Breakdown:
    """Breakdowns of the same corpus, metrics and systems by other features, as one.

    Raises
    ------
    ValueError : there is none.
    """
    if not parts:
        raise ValueError("no breakdowns to join")
    return Breakdown(
        tuple(row for part in parts for row in part.rows),
        {key: value for part in parts for key, value in part.overall.items()},
        {key: value for part in parts for key, value in part.higher_is_better.items()},
        {key: value for part in parts for key, value in part.resampled.items()},
        tuple(dict.fromkeys(item for part in parts for item in part.lexicons)),
        tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        {key: value for part in parts for key, value in part.gains.items()},
        parts[0].made,
        parts[0].signatures,
    )


def _cell(row: FeatureScore, name: str) -> object:
    if name == "family":
        return row.feature.family
    return row.feature.name if name == "feature" else getattr(row, name)

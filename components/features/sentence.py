"""What the breakdown says, in two sentences: what costs A most, and where A and B differ most."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from components.features.chart import TINTS
from components.features.names import feature_words
from components.features.runs import Study
from components.numbers import decimals, number, score_places, signed
from components.states import plain
from engine.muler.features import Feature
from engine.muler.results import Breakdown, FeatureScore

PLACES = 3
"""Decimals of MuLER."""

NOTHING, LITTLE = 5e-7, 0.005
"""Up to where a MuLER is 0 but for rounding, and below what it is less than a per cent."""


def show_answer(study: Study, found: Breakdown, differences: pd.DataFrame | None) -> None:
    """Draw the sentences. `differences` are those of MuLER, None where there is one system."""
    a = study.systems[0]
    rows = [row for row in found.rows if row.system == a and row.muler == row.muler]
    if not rows:
        st.markdown(f"No feature has a value for **{plain(a)}**: see below why.")
        return
    worst = max(rows, key=lambda row: row.muler)
    st.markdown(_cost(study, found, worst))
    if differences is not None:
        st.markdown(_difference(study, differences))


def _cost(study: Study, found: Breakdown, row: FeatureScore) -> str:
    spec = study.metric.spec
    name, words = _named(study)[0], feature_words(row.feature)
    if row.muler <= NOTHING:
        return f"No feature costs {name} anything: the largest MuLER is {number(row.muler, PLACES)}."
    sure = ""
    if row.low == row.low:
        sure = f", 95% interval {number(row.low, PLACES)} to {number(row.high, PLACES)}"
    if row.muler < LITTLE:
        size = number(row.muler, max(PLACES, decimals(row.muler, 1)))
        return f"{name} misses next to nothing at any feature: MuLER is largest at **{plain(words)}** (**{size}**{sure})."
    places = score_places(spec.range)
    better = signed(row.abl_muler if spec.higher_is_better else -row.abl_muler, places)
    return (
        f"{name} loses most at **{plain(words)}**: it misses {row.muler:.0%} of what they can add "
        f"(MuLER **{number(row.muler, PLACES)}**{sure}). With all of them right, {spec.name} of the {row.n:,} sentences "
        f"that have them would be {number(row.oracle, places)} instead of {number(row.score, places)} ({better})."
    )


def _difference(study: Study, differences: pd.DataFrame) -> str:
    a, b = _named(study)
    known = differences.dropna(subset=["delta"])
    if not len(known):
        return f"{a} and {b} cannot be compared: no feature has a value for both."
    certain = known[(known["low"] > 0) | (known["high"] < 0)]
    widest = known.loc[known["delta"].abs().idxmax()]
    if abs(widest["delta"]) <= NOTHING:
        return f"{a} and {b} do not differ at any feature."
    said = f"{a} and {b} differ most at **{_words(widest)}** ({_numbers(widest)}): {_verdict(widest, a, b)}"
    if not significant(widest) and len(certain):
        most = certain.loc[certain["delta"].abs().idxmax()]
        said += f" The largest difference that is significant is at **{_words(most)}** ({_numbers(most)})."
    if len(certain):
        by_chance = 0.05 * len(known)
        chance = f"about {by_chance:.0f}" if by_chance >= 1 else "fewer than 1"
        verb = "is" if len(certain) == 1 else "are"
        said += f" In all, {len(certain)} of {len(known)} differences {verb} significant; {chance} would be by chance."
    return said


def significant(row: pd.Series) -> bool:
    """Whether the paired interval of a difference leaves out 0."""
    return bool(row["low"] > 0 or row["high"] < 0)


def _named(study: Study) -> list[str]:
    """The systems' names, each with the colour of its bars."""
    return [f":{colour}[**{plain(name)}**]" for colour, name in zip(TINTS, study.systems)]


def _words(row: pd.Series) -> str:
    return plain(feature_words(Feature(row["family"], row["feature"])))


def _numbers(row: pd.Series) -> str:
    sure = f", {number(row['low'], PLACES)} to {number(row['high'], PLACES)}" if row["low"] == row["low"] else ""
    return (
        f"MuLER {number(row['muler_a'], PLACES)} and {number(row['muler_b'], PLACES)}, "
        f"difference {signed(row['delta'], PLACES)}{sure}"
    )


def _verdict(row: pd.Series, a: str, b: str) -> str:
    better, worse = (a, b) if row["delta"] < 0 else (b, a)
    if row["low"] != row["low"]:
        return f"{better} misses less; without resamples nothing is known of its significance."
    if significant(row):
        return f"{better} misses less than {worse}, significantly by the paired interval."
    return f"{better} misses less, but not significantly: the paired interval holds 0."

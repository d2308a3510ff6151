"""The numbers behind the bars of the Features page: one row per feature and system, one per feature."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from components.charts import is_dark
from components.features.names import feature_title
from components.features.rows import FeatureRow
from components.numbers import number, signed
from engine.muler.results import FeatureScore
from engine.report.colours import SYSTEM_A, SYSTEM_B

HALF, GAP = 0.3, 0.04  # of a row: how far the bars reach to both sides, and what stands between them
NOTED = " \u24d8"
"""Stands behind the name of a feature with a note."""

LIMITS = (-0.5, 1.0)
"""How far the scale of MuLER reaches at most for the sake of an interval."""

INTERVALS = {"muler": ("low", "high"), "abl_muler": ("abl_low", "abl_high")}


def bar_frame(rows: Sequence[FeatureRow], systems: Sequence[str], value: str, places: int) -> pd.DataFrame:
    """One row per feature and system: its place, its value and what its tooltip says.

    Parameters
    ----------
    value : a key of `components.features.names.VALUES`.
    places : decimals of the metric.
    """
    tones = [colours[is_dark()] for colours in (SYSTEM_A, SYSTEM_B)]
    records = []
    for place, row in enumerate(rows):
        for side, score in enumerate(row.scores):
            top, bottom = _band(place, side, len(systems))
            where = {"y1": top, "y2": bottom, "middle": (top + bottom) / 2, "start": 0.0}
            step = 1 / len(systems)
            where |= {"top": place - 0.5 + side * step, "bottom": place - 0.5 + (side + 1) * step}
            who = {"feature": row.feature.id, "part": "AB"[side], "tone": tones[side], "system": systems[side]}
            told = {"title": feature_title(row.feature), "reason": score.reason or ""}
            records.append(who | where | _values(score, value, places) | told)
    frame = pd.DataFrame(records)
    if value == "scores" and frame["anti_oracle"].notna().any():
        frame["start"] = frame["anti_oracle"].min()
    return frame


def row_frame(rows: Sequence[FeatureRow], value: str, places: int) -> pd.DataFrame:
    """One row per feature: its name, and the difference of A and B."""
    written = places if value == "abl_muler" else 3
    return pd.DataFrame(
        [
            {
                "y": float(place),
                "name": feature_title(row.feature) + (NOTED if any(score.reason for score in row.scores) else ""),
                "feature": row.feature.id,
                "delta": f"{signed(row.delta, written)}{'*' if row.certain else ''}" if row.delta == row.delta else "",
                "certain": row.certain,
            }
            for place, row in enumerate(rows)
        ]
    )


def ends(frame: pd.DataFrame, value: str) -> list[float]:
    """Where the scale of the bars begins and ends. Intervals of MuLER that go far beyond 0 … 1 do not stretch it."""
    low, high = _extent(frame, ["anti_oracle", "oracle", "value"] if value == "scores" else ["value", "low", "high"])
    if value == "muler":
        least, most = _extent(frame, ["value"])
        low, high = max(low, min(least, LIMITS[0])), min(high, max(most, LIMITS[1]))
    if value != "scores":
        low, high = min(0.0, low), max(0.0, high)
    return [low, high if high > low else low + 1]


def cut(frame: pd.DataFrame, low: float, high: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The bars with their intervals cut at the ends of the scale, and an arrow for each place where one was cut."""
    known = frame[frame["value"].notna()]
    over, under = known[known["high"] > high], known[known["low"] < low]
    arrows = pd.concat([over.assign(x=high, arrow="\u25b8"), under.assign(x=low, arrow="\u25c2")])
    columns = {"low": known["low"].clip(low, high), "high": known["high"].clip(low, high)}
    return known.assign(**columns), arrows[["x", "middle", "arrow"]]


def _extent(frame: pd.DataFrame, columns: list[str]) -> tuple[float, float]:
    numbers = frame[columns].to_numpy(float)
    numbers = numbers[np.isfinite(numbers)]
    return (float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 1.0)


def _band(place: int, side: int, systems: int) -> tuple[float, float]:
    """Where a bar stands: A above, B below; a single system in the middle."""
    if systems == 1:
        return place - HALF * 0.7, place + HALF * 0.7
    return (place - HALF, place - GAP / 2) if side == 0 else (place + GAP / 2, place + HALF)


def _values(score: FeatureScore, value: str, places: int) -> dict[str, object]:
    low = high = float("nan")
    if value in INTERVALS:
        low, high = (getattr(score, name) for name in INTERVALS[value])
        own = getattr(score, value)
    else:
        own = float("nan") if np.isnan(score.muler) else score.score
    written = 3 if value == "muler" else places
    return {
        "value": own,
        "low": low,
        "high": high,
        "oracle": score.oracle,
        "anti_oracle": score.anti_oracle,
        "shown": number(own, written) if own == own else "not defined",
        "interval": f"{number(low, written)} to {number(high, written)}" if low == low else "none",
        "between": f"{number(score.score, places)}; {number(score.oracle, places)}; {number(score.anti_oracle, places)}",
        "muler": number(score.muler, 3),
        "n": score.n,
        "counts": f"{score.add} \u00b7 {score.hit} \u00b7 {score.miss}",
        "held": f"{score.in_references:,} and {score.in_output:,}",
    }

"""Choosing p and w: from which surfaces, by which rule, and what the choice is worth on data that had no say in it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from engine.boost.grid import MARGIN, Surface
from engine.errors import InputError

METHODS = ("median", "best", "area")


@dataclass(frozen=True)
class Choice:
    """A chosen cell of the grid.

    Attributes
    ----------
    p, w : the exponent and the weight of the original score; w = 1 is the original metric, unboosted.
    improving : how many cells of the calibrating surfaces beat the original metric.
    cells : how many cells were compared.
    note : what the user should know (nothing improved, surfaces left out), else an empty text.
    """

    p: float
    w: float
    improving: int
    cells: int
    note: str = ""


@dataclass(frozen=True)
class HeldOut:
    """One group judged with values that it had no say in."""

    group: str
    p: float
    w: float
    original: float
    boosted: float
    p_value: float = float("nan")
    note: str = ""


@dataclass(frozen=True)
class Calibration:
    """The values to use from now on, and what such values are worth on held-out data.

    Attributes
    ----------
    method : the rule of the choice.
    choice : the values chosen from all calibrating groups.
    held_out : one row per group that was judged.
    p_value : one-sided permute-both test of boosted over original on the held-out groups together; NaN where not tested.
    significant : how many groups are significant on their own (Bonferroni–Dror count); None where not tested.
    """

    method: str
    choice: Choice
    held_out: tuple[HeldOut, ...]
    p_value: float = float("nan")
    significant: int | None = None

    @property
    def original(self) -> float:
        """Mean correlation of the unboosted metric over the held-out groups where both are defined."""
        return self._mean("original")

    @property
    def boosted(self) -> float:
        """Mean correlation of the boosted metric over the same groups."""
        return self._mean("boosted")

    def to_dict(self) -> dict[str, Any]:
        """p, w, original, boosted, p_value; then method, note, significant, and held_out with one object per group."""
        return {
            "p": self.choice.p,
            "w": self.choice.w,
            "original": self.original,
            "boosted": self.boosted,
            "p_value": self.p_value,
            "method": self.method,
            "note": self.choice.note,
            "significant": self.significant,
            "held_out": [asdict(row) for row in self.held_out],
        }

    def to_frame(self) -> pd.DataFrame:
        """One row per held-out group: group, p, w, original, boosted, p_value, note."""
        columns = ["group", "p", "w", "original", "boosted", "p_value", "note"]
        return pd.DataFrame([[getattr(row, name) for name in columns] for row in self.held_out], columns=columns)

    def _mean(self, name: str) -> float:
        rows = [row for row in self.held_out if np.isfinite(row.original) and np.isfinite(row.boosted)]
        return float(np.mean([getattr(row, name) for row in rows])) if rows else float("nan")


def choose(surfaces: Sequence[Surface], method: str = "median") -> Choice:
    """Choose p and w from the surfaces of the calibrating groups; only those whose original correlation is positive count.

    `median`: the median p and, independently, the median w of all improving cells of all surfaces, each snapped to the
    nearest grid value (BMX). `best`: the cell with the highest mean correlation. `area`: the centre of the largest connected
    region of cells whose mean correlation beats the original's. Where two values are equally near or equally good, the milder
    one is taken: w nearer to 1, then p nearer to 0. Where nothing improves, the choice is the original metric (p = 1, w = 1).
    """
    if method not in METHODS:
        raise ValueError(f"unknown calibration {method!r}; choose one of {', '.join(METHODS)}")
    if not surfaces:
        raise InputError("nothing to calibrate on: there is no group besides the one held out; give a calibration corpus")
    counted = [surface for surface in surfaces if surface.original > 0]
    notes = []
    undefined = sum(np.isnan(surface.original) for surface in surfaces)
    for left_out, reason in (
        (undefined, "the original correlation is undefined"),
        (len(surfaces) - len(counted) - undefined, "no positive original correlation"),
    ):
        if left_out:
            notes.append(f"{left_out} of {len(surfaces)} calibrating groups left out: {reason}")
    cells = sum(surface.correlation[:, surface.w != 1].size for surface in counted)
    improving = sum(int(surface.improving.sum()) for surface in counted)
    found = _RULES[method](counted) if improving else None
    if found is None:
        notes.insert(0, f"no setting improves on the original metric{' on average' if improving else ''}")
        return Choice(1.0, 1.0, improving, cells, "; ".join(notes))
    row, column = found
    return Choice(float(counted[0].p[row]), float(counted[0].w[column]), improving, cells, "; ".join(notes))


def splits(keys: Sequence[Hashable], rows: int = 200) -> list[range]:
    """Cut consecutive rows into parts of at least `rows` rows that never cut a document.

    A part is extended while the key (document id, or the first reference) stays the same; the last part holds what is left
    and may be shorter. SummEval's 1600 rows give seven parts of 208 and one of 144.

    Parameters
    ----------
    keys : one per row, equal for rows of one document.
    rows : smallest size of a part; 1 or more.
    """
    if rows < 1:
        raise ValueError("a part must have at least one row")
    parts = []
    start = 0
    while start < len(keys):
        end = min(start + rows, len(keys))
        while end < len(keys) and keys[end] == keys[end - 1]:
            end += 1
        parts.append(range(start, end))
        start = end
    return parts


Cell = tuple[int, int]  # row (p) and column (w)


def _median(surfaces: Sequence[Surface]) -> Cell:
    rows, columns = [], []
    for surface in surfaces:
        row, column = np.nonzero(surface.improving)
        rows.append(row)
        columns.append(column)
    p, w = surfaces[0].p, surfaces[0].w
    median_p = np.median(p[np.concatenate(rows)])
    median_w = np.median(w[np.concatenate(columns)])
    return _nearest(p, median_p, np.abs(p)), _nearest(w, median_w, 1 - w)


def _nearest(grid: np.ndarray, value: float, severity: np.ndarray) -> int:
    distance = np.round(np.abs(grid - value), 9)
    return int(np.lexsort((severity, distance))[0])


def _best(surfaces: Sequence[Surface]) -> Cell | None:
    mean = _mean_gain(surfaces)
    if not (mean > MARGIN).any():
        return None
    p, w = np.meshgrid(np.abs(surfaces[0].p), 1 - surfaces[0].w, indexing="ij")
    place = np.lexsort((p.ravel(), w.ravel(), -np.nan_to_num(mean, nan=-np.inf).ravel()))[0]
    row, column = np.unravel_index(place, mean.shape)
    return int(row), int(column)


def _area(surfaces: Sequence[Surface]) -> Cell | None:
    from scipy.ndimage import label

    better = _mean_gain(surfaces) > MARGIN
    regions, count = label(better)
    if not count:
        return None
    rows, columns = np.nonzero(regions == 1 + np.argmax(np.bincount(regions.ravel())[1:]))
    away_p = (rows - rows.mean()) / len(surfaces[0].p)
    away_w = (columns - columns.mean()) / len(surfaces[0].w)
    distance = np.round(away_p**2 + away_w**2, 12)
    place = np.lexsort((np.abs(surfaces[0].p[rows]), -columns, distance))[0]
    return int(rows[place]), int(columns[place])


def _mean_gain(surfaces: Sequence[Surface]) -> np.ndarray:
    """Mean of boosted less original over the groups, float64[P, W]; NaN where undefined in any group and for w = 1."""
    gain = np.mean([surface.correlation - surface.original for surface in surfaces], axis=0)
    return np.where(surfaces[0].w == 1, np.nan, gain)


_RULES: Mapping[str, Callable[[Sequence[Surface]], Cell | None]] = {"median": _median, "best": _best, "area": _area}

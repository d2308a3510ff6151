"""The rows of the Features page: one per feature with the values of A and B, sorted and cut into pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from components.features.names import feature_title
from engine.muler.features import Feature
from engine.muler.options import FAMILIES
from engine.muler.results import Breakdown, FeatureScore

PER_PAGE = 20


@dataclass(frozen=True, eq=False)
class FeatureRow:
    """One feature.

    Attributes
    ----------
    scores : of A and (where there are two systems) of B.
    difference : the row of `Breakdown.differences`, None where there is one system.
    """

    feature: Feature
    scores: tuple[FeatureScore, ...]
    difference: Mapping[str, object] | None

    @property
    def defined(self) -> bool:
        """Whether any system has a value."""
        return any(not np.isnan(score.muler) for score in self.scores)

    @property
    def delta(self) -> float:
        """Value of A less that of B; NaN where there is none."""
        return float("nan") if self.difference is None else float(self.difference["delta"])  # type: ignore[arg-type]

    @property
    def certain(self) -> bool:
        """Whether the paired interval of the difference leaves out 0."""
        return self.difference is not None and bool(self.difference["low"] > 0 or self.difference["high"] < 0)  # type: ignore[operator]


def feature_rows(
    found: Breakdown, systems: Sequence[str], differences: pd.DataFrame | None, value: str, order: str
) -> list[FeatureRow]:
    """All features in the order asked for; those without any value come last.

    Parameters
    ----------
    differences : of `value`, None where there is one system.
    value : muler or abl_muler, by which "value" sorts.
    order : a key of `components.features.names.ORDERS`.
    """
    metric = found.rows[0].metric if found.rows else ""
    known = {} if differences is None else {(row["family"], row["feature"]): row for row in differences.to_dict("records")}
    rows = [
        FeatureRow(
            feature,
            tuple(found.row(metric, name, feature) for name in systems),
            known.get((feature.family, feature.name)),
        )
        for feature in found.features
    ]
    return sorted(rows, key=lambda row: (not row.defined, *_place(row, value, order)))


def _place(row: FeatureRow, value: str, order: str) -> tuple:
    if order == "name":
        return FAMILIES.index(row.feature.family), feature_title(row.feature)
    if order == "frequency":
        return (-max(score.in_references + score.in_output for score in row.scores),)
    if order == "difference" and row.difference is not None:
        return (_last(-abs(row.delta)),)
    score = row.scores[-1 if order == "value-b" else 0]
    return (_last(-getattr(score, value)),)


def _last(number: float) -> float:
    return float("inf") if np.isnan(number) else number

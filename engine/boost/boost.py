"""Boosting a metric with its own explanations: the surface over the grid, the choice of p and w, and what it changes (BMX)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from engine.boost.calibrate import METHODS, Calibration, HeldOut, choose, splits
from engine.boost.grid import COEFFICIENTS, Surface, correlate, surfaces, to_frame
from engine.boost.power import REGULARISATIONS
from engine.boost.rows import SIDES, Group, items
from engine.boost.significance import Pair, compare_groups
from engine.errors import InputError
from engine.options import option
from engine.progress import Progress, part, silent


@dataclass(frozen=True)
class BoostOptions:
    """How explanations are turned into scores, compared with human scores and calibrated."""

    level: str = option("segment", "correlate single outputs, or the means of the systems", choices=("segment", "system"))
    coefficient: str = option("kendall", "correlation with the human scores (kendall is tau-b)", choices=COEFFICIENTS)
    regularisation: str = option(
        "paper",
        "how importances are made positive before the power mean: paper shifts the smallest to 1e-9, minmax stretches them to "
        "1e-9 ... 1, softplus is log(1 + exp), rank is (1 + signed rank of the size / (n + 1)) / 2",
        choices=REGULARISATIONS,
    )
    sides: str = option("all", "whose words count: all that the metric reads, or the hypothesis' only", choices=SIDES)
    calibration: str = option(
        "median",
        "how p and w are chosen from the settings that improve the correlation: median p and median w of them, best mean gain of "
        "the groups, or centre of the largest connected area of gain",
        choices=METHODS,
    )
    parts: int = option(
        8, "calibrating on one corpus: into how many parts of whole documents it is cut, each judged by the others", low=2
    )
    judged: str = option(
        "part",
        "each part is judged with values from all others (part), or all others with values from it (rest, as in BMX)",
        choices=("part", "rest"),
        advanced=True,
    )
    resamples: int = option(9999, "resamples of the significance test; 0 leaves it out", low=0, advanced=True)


@dataclass(frozen=True, eq=False)
class BoostResult:
    """The surfaces of all groups.

    Attributes
    ----------
    surfaces : one per group.
    collapsed : per group int64[P], how many of `rows` collapse at each p (their power mean no longer depends on the
        importances).
    rows : per group, how many rows have a power mean and a human score.
    """

    options: BoostOptions
    surfaces: tuple[Surface, ...]
    collapsed: tuple[np.ndarray, ...]
    rows: tuple[int, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row per cell and group: p, w, group, correlation, original."""
        return to_frame(self.surfaces)


def boost(groups: Sequence[Group], options: BoostOptions, threads: int | None = None, progress: Progress = silent) -> BoostResult:
    """The whole p/w grid for every group.

    Parameters
    ----------
    groups : what is correlated with what, see `engine.boost.rows.human_group`.
    threads : processor threads to use; all when None.
    """
    found = _surfaces(groups, options, threads, progress)
    collapsed, rows = [], []
    for group in groups:
        means = group.rows.means(options.regularisation, threads).only(group.chosen[group.judged])
        collapsed.append(means.collapsed_counts())
        rows.append(int((~np.isnan(means.means[0])).sum()))
    return BoostResult(options, tuple(found), tuple(collapsed), tuple(rows))


@dataclass(frozen=True, eq=False)
class Fold:
    """Groups that p and w are chosen from, and groups that are judged with them."""

    train: tuple[Group, ...]
    test: tuple[Group, ...]


def folds(groups: Sequence[Group], options: BoostOptions, on: Sequence[Group] = ()) -> list[Fold]:
    """Who is judged with values chosen from whom; never the same outputs on both sides.

    With groups of another corpus (`on`), all are judged with values from there. Groups of several corpora (language pairs) are
    held out corpus by corpus. One corpus is cut into parts of whole documents.

    Raises
    ------
    InputError : one corpus with a single document.
    """
    if on:
        return [Fold(tuple(on), tuple(groups))]
    corpora = list({id(group.rows): group.rows for group in groups}.values())
    if len(corpora) > 1:
        return [
            Fold(
                tuple(group for group in groups if group.rows is not rows),
                tuple(group for group in groups if group.rows is rows),
            )
            for rows in corpora
        ]
    cut = cut_groups(groups, options.parts)
    if len(cut) < 2:
        raise InputError(
            "the corpus is a single document and cannot be cut into parts to calibrate on; give a calibration corpus"
        )
    if options.judged == "part":
        return [Fold(tuple(g for other in cut if other is not own for g in other), own) for own in cut]
    parts = _parts(groups[0], options.parts)
    rests = [tuple(_part(g, groups, ~rows, f"all but part {k}") for g in groups) for k, rows in enumerate(parts, 1)]
    return [Fold(own, rest) for own, rest in zip(cut, rests)]


def cut_groups(groups: Sequence[Group], parts: int) -> list[tuple[Group, ...]]:
    """The groups of one corpus cut into at most `parts` parts of whole documents: per part, what each group has in it."""
    cut = enumerate(_parts(groups[0], parts), 1)
    return [tuple(_part(group, groups, rows, f"part {k}") for group in groups) for k, rows in cut]


def calibrate(
    groups: Sequence[Group],
    options: BoostOptions,
    on: Sequence[Group] = (),
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = silent,
) -> Calibration:
    """Choose p and w, and say what such values are worth on outputs that had no say in them.

    Parameters
    ----------
    groups : the groups to be judged.
    on : groups of a calibration corpus; without them the groups are cross-validated, see `folds`.
    seed : of the significance test.

    Raises
    ------
    InputError : nothing to calibrate on.
    """
    plan = folds(groups, options, on)
    trained = list({id(group): group for fold in plan for group in fold.train}.values())
    found = _surfaces(trained, options, threads, part(progress, 0, 1, 2))
    surface_of = {id(group): surface for group, surface in zip(trained, found)}
    judged = []
    for fold in plan:
        choice = choose([surface_of[id(group)] for group in fold.train], options.calibration)
        judged += [(group, choice) for group in fold.test]
    held_out = [judge(group, choice.p, choice.w, options, choice.note) for group, choice in judged]
    choice = choose(found, options.calibration)
    if not options.resamples:
        return Calibration(options.calibration, choice, tuple(held_out))
    corpora = {id(rows): k for k, rows in enumerate({id(g.rows): g.rows for g in groups}.values())}
    pairs = [as_pair(group, choice.p, choice.w, options, corpora[id(group.rows)]) for group, choice in judged]
    step = part(progress, 1, 2, 2)
    tested = compare_groups(pairs, options.level, options.coefficient, options.resamples, seed, step)
    rows = tuple(
        HeldOut(row.group, row.p, row.w, row.original, row.boosted, test.p_value, row.note)
        for row, test in zip(held_out, tested.groups)
    )
    return Calibration(options.calibration, choice, rows, tested.p_value, tested.count)


def judge(group: Group, p: float, w: float, options: BoostOptions, note: str = "") -> HeldOut:
    """The correlation of the original and of the boosted metric in a group, at one point of the grid."""
    own = items(group, group.rows.means(options.regularisation).at(p)[None, :], options.level).complete()
    original, reason = correlate(own.scores, own.human, options.coefficient, own.systems_only)
    mixed = w * own.scores + (1 - w) * own.aggregates[0]
    boosted, why = correlate(mixed, own.human, options.coefficient, own.systems_only)
    return HeldOut(group.name, p, w, original, boosted, note="; ".join(filter(None, [note, reason or why])))


def as_pair(group: Group, p: float, w: float, options: BoostOptions, corpus: int = 0) -> Pair:
    """Boosted, original and human scores of a group as matrices, for `compare_groups`."""
    scores, means = group.rows.scores, group.rows.means(options.regularisation).at(p)
    boosted = np.where(np.isnan(means), np.nan, scores if w == 1 else w * scores + (1 - w) * means)
    human = group.human_matrix(options.level)
    return Pair(group.matrix(boosted[group.chosen]), group.matrix(scores[group.chosen]), human, corpus)


def _surfaces(groups: Sequence[Group], options: BoostOptions, threads: int | None, progress: Progress) -> list[Surface]:
    found = []
    for place, group in enumerate(groups):
        means = group.rows.means(options.regularisation, threads)
        own = items(group, means.means, options.level)
        found += surfaces([own], options.coefficient, means.p, threads=threads)
        progress(place + 1, len(groups))
    return found


def _parts(group: Group, parts: int) -> list[np.ndarray]:
    """Places of rows that are cut out together, as bool[m] over all rows of the corpus."""
    documents = group.rows.documents
    _, first = np.unique(documents, return_index=True)
    order = np.argsort(first[np.searchsorted(np.unique(documents), documents)], kind="stable")
    size = -(-len(documents) // parts)
    cut = []
    for places in splits(documents[order].tolist(), max(1, size)):
        mask = np.zeros(len(documents), bool)
        mask[order[places.start : places.stop]] = True
        cut.append(mask)
    return cut


def _part(group: Group, groups: Sequence[Group], rows: np.ndarray, name: str) -> Group:
    return group.part(name if len(groups) == 1 else f"{group.name}, {name}", rows[group.chosen])

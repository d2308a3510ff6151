"""Explained outputs as rows of numbers, and the groups of rows in which a metric is correlated with human scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from engine.boost.grid import Items
from engine.boost.power import P_GRID, Importances, PowerMeans, power_means
from engine.corpus.types import SYSTEM_LEVEL, Corpus
from engine.explain.results import Explanation, Explanations

SIDES = ("all", "hypothesis")


@dataclass(frozen=True, eq=False)
class Rows:
    """n explained outputs of one corpus, oriented so that higher is better (an error rate and its importances are negated).

    Attributes
    ----------
    segments : int64[n], places in the corpus.
    systems : int64[n], places in `names`.
    documents : int64[n], equal for rows of one document; the segment's place where the corpus knows no documents.
    names : the systems' names.
    scores : float64[n], NaN where undefined.
    importances : of all sides' words together, or of the hypothesis' only.
    sign : 1, or -1 where the metric is an error rate.
    """

    segments: np.ndarray
    systems: np.ndarray
    documents: np.ndarray
    names: tuple[str, ...]
    scores: np.ndarray
    importances: Importances
    sign: int
    _kept: dict[str, PowerMeans] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.scores)

    def means(self, regularisation: str, threads: int | None = None) -> PowerMeans:
        """Power means of every row's importances over the whole grid; those of the last regularisation are kept."""
        kept = self._kept.get(regularisation)
        if kept is None:
            kept = power_means(self.importances, P_GRID, regularisation, threads)
            self._kept.clear()
            self._kept[regularisation] = kept
        return kept

    def boosted(self, p: float, w: float, regularisation: str) -> np.ndarray:
        """w · score + (1 - w) · power mean of every row, float64[n], higher being better; any p, on the grid or not."""
        if w == 1:
            return self.scores
        return w * self.scores + (1 - w) * self.aggregates(p, regularisation)

    def aggregates(self, p: float, regularisation: str) -> np.ndarray:
        """Power means for one exponent, float64[n]."""
        return power_means(self.importances, np.array([p]), regularisation).means[0]


@dataclass(frozen=True, eq=False)
class Group:
    """Rows that are correlated together, and what humans said of them.

    Attributes
    ----------
    name : language pair, criterion, part of the corpus … as it is shown.
    rows : the rows of the corpus that the group is chosen from.
    chosen : int64[m], which rows belong to the group.
    human : float64[m], the human score of each of them; NaN where there is none.
    system_human : system → human score of the system as a whole; used instead of the mean of `human` where it is given.
    """

    name: str
    rows: Rows
    chosen: np.ndarray
    human: np.ndarray
    system_human: Mapping[str, float] | None = None

    def part(self, name: str, chosen: np.ndarray) -> Group:
        """The same group cut down to some of its rows: bool[m] or places in `chosen`."""
        return Group(name, self.rows, self.chosen[chosen], self.human[chosen], self.system_human)

    @property
    def judged(self) -> np.ndarray:
        """Which of the rows have a human score, their own or their system's, bool[m]."""
        if self.system_human is None:
            return ~np.isnan(self.human)
        return ~np.isnan(self._of_systems(self.system_human))

    def matrix(self, values: np.ndarray) -> np.ndarray:
        """Values of the group's rows (float64[m]) as systems × segments of the whole corpus, NaN where there is no row."""
        matrix = np.full((len(self.rows.names), int(self.rows.segments.max(initial=-1)) + 1), np.nan)
        matrix[self.rows.systems[self.chosen], self.rows.segments[self.chosen]] = values
        return matrix

    def human_matrix(self, level: str) -> np.ndarray:
        """Human scores as systems × segments; at system level a system's own score stands in each of its cells."""
        if self.system_human is None or level == "segment":
            return self.matrix(self.human)
        return self.matrix(self._of_systems(self.system_human))

    def _of_systems(self, values: Mapping[str, float]) -> np.ndarray:
        """For each row the value of its system, float64[m]."""
        return np.array([values.get(name, np.nan) for name in self.rows.names])[self.rows.systems[self.chosen]]


def explained_rows(corpus: Corpus, explanations: Explanations, sides: str = "all") -> Rows:
    """Explanations as rows, in their order.

    Parameters
    ----------
    sides : `all`, or `hypothesis` to leave out the importances of references and source.
    """
    names = tuple(corpus.systems)
    places = {name: place for place, name in enumerate(names)}
    entries = explanations.entries
    sign = 1 if explanations.metric.higher_is_better else -1
    return Rows(
        np.array([entry.segment for entry in entries], np.int64),
        np.array([places[entry.system] for entry in entries], np.int64),
        _document_numbers(corpus)[[entry.segment for entry in entries]],
        names,
        sign * np.array([entry.explanation.score for entry in entries], float),
        importances_of([entry.explanation for entry in entries], sign, sides),
        sign,
    )


def importances_of(explanations: Sequence[Explanation], sign: int, sides: str = "all") -> Importances:
    """The importances of several explanations, each with its sides in a row, times `sign`."""
    if sides not in SIDES:
        raise ValueError(f"unknown sides {sides!r}; choose one of {', '.join(SIDES)}")

    def values(explanation: Explanation) -> np.ndarray:
        if sides == "all":
            return sign * explanation.importances
        return sign * np.concatenate(
            [item.importances for item in explanation.sides if item.side == "hypothesis"] or [np.empty(0)]
        )

    return Importances.of([values(explanation) for explanation in explanations])


def _document_numbers(corpus: Corpus) -> np.ndarray:
    if corpus.documents is None:
        return np.arange(len(corpus))
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in corpus.documents], np.int64)


def shared_outputs(corpus: Corpus, other: Corpus) -> int:
    """How many outputs of a corpus are in another one, too, with the same references and source: the other cannot judge them."""
    known = {segment for system in other.systems for segment in other.segments(system)}
    return sum(segment in known for system in corpus.systems for segment in corpus.segments(system))


def human_group(corpus: Corpus, rows: Rows, criterion: str, name: str = "") -> Group:
    """All rows of a corpus with the human scores of one criterion; several ratings of one output are averaged.

    Scores that were given to systems as a whole are used only where no output has one of its own.
    """
    table = corpus.human[corpus.human["criterion"] == criterion]
    of_system = table["segment"] == SYSTEM_LEVEL
    means = table[~of_system].groupby(["segment", "system"])["score"].mean()
    lookup: Callable[[tuple[int, str]], float] = means.to_dict().get  # type: ignore[assignment]
    keys = zip(rows.segments.tolist(), (rows.names[place] for place in rows.systems))
    human = np.array([lookup(key) for key in keys], dtype=float)
    whole = None
    if np.isnan(human).all() and of_system.any():
        whole = table[of_system].groupby("system")["score"].mean().to_dict()
    return Group(name or criterion, rows, np.arange(len(rows)), human, whole)


def items(group: Group, means: np.ndarray, level: str) -> Items:
    """What the grid correlates in a group.

    Parameters
    ----------
    means : float64[P, n], power means of all rows of `group.rows`.
    level : `segment`, every output by itself; `system`, the means of the systems over the outputs that have a score, a power
        mean and a human score.
    """
    scores, aggregates = group.rows.scores[group.chosen], means[:, group.chosen]
    if level == "segment":
        return Items(group.name, scores, aggregates, group.human, group.system_human is not None)
    if level != "system":
        raise ValueError(f"unknown level {level!r}; choose segment or system")
    whole = group.system_human
    kept = ~(np.isnan(scores) | np.isnan(aggregates).any(axis=0))
    if whole is None:
        kept &= ~np.isnan(group.human)
    present, systems = np.unique(group.rows.systems[group.chosen][kept], return_inverse=True)
    member = np.zeros((kept.sum(), len(present)))
    member[np.arange(len(systems)), systems] = 1
    share = member / np.maximum(member.sum(axis=0), 1)
    if whole is None:
        human = group.human[kept] @ share
    else:
        human = np.array([whole.get(group.rows.names[place], np.nan) for place in present])
    return Items(group.name, scores[kept] @ share, aggregates[:, kept] @ share, human)

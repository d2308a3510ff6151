"""How much boosting hangs on the seed of the explainer: the importances themselves, and what p, w and the gain become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from engine.boost.boost import BoostOptions, calibrate
from engine.boost.rows import Group, explained_rows, human_group
from engine.corpus.types import Corpus
from engine.explain.explain import explain_corpus
from engine.explain.options import ExplainOptions
from engine.explain.quality import compare_runs
from engine.explain.results import Explanations
from engine.metrics.base import Metric
from engine.progress import Progress, part, silent
from engine.scoring.scorer import Scorer


@dataclass(frozen=True, eq=False)
class Judged:
    """A corpus, the metric that is boosted on it, and the human scores that it is compared with."""

    corpus: Corpus
    metric: Metric
    criterion: str


@dataclass(frozen=True)
class SeedRun:
    """What one seed gives: the chosen p and w, and the held-out correlation before and after."""

    seed: int
    p: float
    w: float
    original: float
    boosted: float

    @property
    def gain(self) -> float:
        """Boosted less original."""
        return self.boosted - self.original


@dataclass(frozen=True)
class SeedStudy:
    """Several seeds beside each other.

    Attributes
    ----------
    runs : one per seed.
    pearson : correlation of the importances of two seeds, mean over outputs and pairs of seeds; NaN where undefined.
    outputs : for how many outputs it is defined.
    """

    runs: tuple[SeedRun, ...]
    pearson: float
    outputs: int

    def to_frame(self) -> pd.DataFrame:
        """One row per seed: seed, p, w, original, boosted."""
        columns = ["seed", "p", "w", "original", "boosted"]
        return pd.DataFrame([[getattr(run, name) for name in columns] for run in self.runs], columns=columns)


def over_seeds(
    judged: Judged,
    explain: ExplainOptions,
    options: BoostOptions,
    scorer: Scorer,
    seeds: Sequence[int],
    on: Sequence[Judged] = (),
    progress: Progress = silent,
) -> SeedStudy:
    """Explain, calibrate and judge once per seed.

    Parameters
    ----------
    judged, on : the corpus that is judged, and those that p and w are chosen on (else it is cross-validated).
    seeds : of the explainer; explanations that are in the store are not redone.
    """
    options = replace(options, resamples=0)
    items = [judged, *on]
    runs, explained = [], []
    for place, seed in enumerate(seeds):
        step = part(progress, place, place + 1, len(seeds))
        found = _explain(items, replace(explain, seed=seed), scorer, step)
        groups = [_group(item, explanations, options) for item, explanations in zip(items, found)]
        chosen = calibrate(groups[:1], options, groups[1:])
        runs.append(SeedRun(seed, chosen.choice.p, chosen.choice.w, chosen.original, chosen.boosted))
        explained.append(found[0])
    agreement = [
        compare_runs([entry.explanation for entry in entries], explain).pearson
        for entries in zip(*(found.entries for found in explained))
    ]
    defined = [value for value in agreement if np.isfinite(value)]
    return SeedStudy(tuple(runs), float(np.mean(defined)) if defined else float("nan"), len(defined))


def _explain(items: Sequence[Judged], explain: ExplainOptions, scorer: Scorer, progress: Progress) -> list[Explanations]:
    steps = [part(progress, place, place + 1, len(items)) for place in range(len(items))]
    return [explain_corpus(item.corpus, item.metric, explain, scorer, progress=step) for item, step in zip(items, steps)]


def _group(item: Judged, explanations: Explanations, options: BoostOptions) -> Group:
    return human_group(item.corpus, explained_rows(item.corpus, explanations, options.sides), item.criterion)

"""What the Boost page computes and waits for: explanations, the grid, the choice of p and w, its test, other seeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from components import services
from components.boost.controls import MEAN, WHOLE, Asked
from components.explain.panels import explainer_title
from components.job_progress import await_result
from components.numbers import count
from components.results import Outcome
from components.states import plain
from components.workspace import Workspace
from engine.boost.boost import BoostResult, boost, calibrate, cut_groups
from engine.boost.effect import segment_frame
from engine.boost.grid import Surface, average
from engine.boost.rows import Group, Rows, explained_rows, human_group, shared_outputs
from engine.boost.seeds import Judged, over_seeds
from engine.corpus.types import Corpus
from engine.errors import InputError
from engine.explain.options import ExplainOptions
from engine.explain.results import Explanations
from engine.metrics.base import Metric

AT_ONCE = 100_000
"""Masked texts that are scored without asking; more than that starts with a button."""

SEEDS = 3


def explained(work: Workspace, corpus: Corpus, metric: Metric, options: ExplainOptions) -> Outcome | None:
    """The explanations of all outputs; None where they would take long and nobody has asked for them yet (a button is drawn)."""
    key = ("boost explained", corpus.hash, metric.spec.signature, options)
    cost = work.cached(("cost", *key), lambda: _cost(corpus, metric, options))
    started = work.drafts.setdefault("started", set())
    if cost > (AT_ONCE if not metric.spec.slow else AT_ONCE // 50) and key not in started and work.known(key) is None:
        with st.container(border=True):
            st.markdown(f"Boosting needs the explanations of all outputs of **{len(corpus.systems)}** systems.")
            label = f"Explain {count(len(corpus) * len(corpus.systems), 'output')}"
            st.button(
                label,
                type="primary",
                icon=":material/play_arrow:",
                key=f"start-boost-{corpus.hash}",
                on_click=started.add,
                args=(key,),
            )
            note = "Runs in the background; other pages stay usable, and a cancelled run resumes."
            each = ", each by explaining it" if metric.spec.slow else ""
            st.caption(f"About {count(cost, 'text')} to score{each}. {note}")
        return None

    def run(progress) -> Explanations:
        from engine.explain.explain import explain_corpus

        return explain_corpus(corpus, metric, options, services.scorer(), progress=progress)

    title = f"{explainer_title(options.explainer)} on {metric.spec.name}, all outputs"
    return work.compute(key, title, run, long=cost > AT_ONCE)


def _cost(corpus: Corpus, metric: Metric, options: ExplainOptions) -> int:
    """How many texts have to be scored, from a sample of the segments where there are many."""
    from engine.explain.explain import evaluations

    sample = range(0, len(corpus), max(1, len(corpus) // 100))
    segments = [corpus.segment(place, name) for place in sample for name in corpus.systems]
    return round(evaluations(segments, metric, options) * len(corpus) / max(1, len(sample)))


@dataclass(frozen=True, eq=False)
class Study:
    """A corpus that is explained, and what is asked of it. Everything slow is kept by the workspace.

    `role` is "own" for the corpus of the page, "other" for the one that p and w are chosen on.
    """

    work: Workspace
    corpus: Corpus
    metric: Metric
    asked: Asked
    explanations: Explanations
    role: str = "own"

    def names(self, *more: str) -> tuple[str, ...]:
        """For the names of files: corpus, metric, explainer, and what else the file hangs on."""
        return self.corpus.name, self.metric.spec.id, self.asked.explain.explainer, *more

    @property
    def correlated(self) -> tuple[str, ...]:
        """What correlations hang on, as it stands in the names of files."""
        assert self.asked.criterion is not None
        options = self.asked.options
        return self.asked.criterion.name, options.level, options.coefficient, options.regularisation

    @property
    def key(self) -> tuple:
        """What decides the rows."""
        return self.corpus.hash, self.metric.spec.signature, self.asked.explain, self.asked.options.sides

    def _latest(self, what: str, key: tuple, make: Callable[[], Any]) -> Any:
        """Kept until something else is asked for: power means over the whole grid are large."""
        return self.work.latest(f"boost {what} {self.role}", (*self.key, *key), make)

    @cached_property
    def rows(self) -> Rows:
        """The explained outputs as numbers; their power means are kept with them."""
        return self._latest("rows", (), lambda: explained_rows(self.corpus, self.explanations, self.asked.options.sides))

    def outputs(self, group: Group | None, p: float, w: float) -> pd.DataFrame:
        """What boosting makes of each output, see `engine.boost.effect.segment_frame`."""
        criterion, parts = self.asked.criterion, self.asked.options.parts
        key = (p, w, self.asked.options.regularisation, criterion, parts, group and (group.name, len(group.chosen)))
        return self._latest("outputs", key, lambda: segment_frame(self.rows, p, w, self.asked.options.regularisation, group))

    @cached_property
    def group(self) -> Group:
        """All outputs with their human scores."""
        assert self.asked.criterion is not None
        name = self.asked.criterion.name
        return self._latest("group", (name, id(self.rows)), lambda: human_group(self.corpus, self.rows, name))

    @cached_property
    def parts(self) -> list[Group]:
        """All outputs cut into parts of whole documents."""
        parts = self.asked.options.parts
        key = (self.group.name, parts, id(self.rows))
        return self._latest("parts", key, lambda: [group for (group,) in cut_groups([self.group], parts)])

    def shown(self, group: str) -> Group:
        """The outputs that a click on the surface is about."""
        return self.parts[int(group) - 1] if group not in (WHOLE, MEAN) else self.group

    def grid(self, group: str) -> Outcome:
        """The surface of the chosen outputs: a `BoostResult`."""
        options = replace(self.asked.options, calibration="median", resamples=0, judged="part")
        groups = self.parts if group == MEAN else [self.shown(group)]
        if group != MEAN:
            options = replace(options, parts=2)
        key = ("boost grid", *self.key, self.group.name, group, self.asked.options.parts if group != WHOLE else 0, options)
        return self.work.compute(key, "The p/w grid", lambda progress: boost(groups, options, progress=progress), patience=0.6)

    def shared_with(self, other: Study) -> int:
        """How many outputs are also in the corpus that p and w are chosen on."""
        key = ("boost shared", self.corpus.hash, other.corpus.hash)
        return self.work.cached(key, lambda: shared_outputs(self.corpus, other.corpus))

    def calibration(self, other: Study | None, tested: bool, start: bool = True) -> Outcome:
        """The choice of p and w and what it is worth: a `Calibration`, with p-values where `tested`; see `Workspace.compute`."""
        options = self.asked.options if tested else replace(self.asked.options, resamples=0)
        on = [other.group] if other else []
        key = ("boost calibration", *self.key, self.group.name, options, *(other.key if other else ()))
        title = "Testing the gain" if tested else "Choosing p and w"

        def run(progress):
            return calibrate([self.group], options, on, progress=progress)

        return self.work.compute(key, title, run, patience=0.15 if tested else 0.6, start=start)

    def seeds(self, other: Study | None) -> tuple[tuple, Outcome | None]:
        """Key and outcome of the study over several seeds (a `SeedStudy`); None where nobody has asked for it yet."""
        start, options = self.asked.explain.seed, replace(self.asked.options, resamples=0)
        key = ("boost seeds", *self.key, self.group.name, options, *(other.key if other else ()))
        if key not in self.work.drafts.setdefault("started", set()):
            return key, None
        on = [other.judged] if other else []

        def run(progress):
            seeds = range(start, start + SEEDS)
            return over_seeds(self.judged, self.asked.explain, options, services.scorer(), seeds, on, progress)

        return key, self.work.compute(key, f"{SEEDS} seeds of {explainer_title(self.asked.explain.explainer)}", run, long=True)

    @property
    def judged(self) -> Judged:
        """The same for the study over several seeds."""
        return Judged(self.corpus, self.metric, self.group.name)


def surface_of(result: BoostResult) -> tuple[Surface, int, np.ndarray]:
    """The one surface to draw, over how many outputs, and how many of them collapse at each p (int64[P])."""
    surfaces = result.surfaces
    surface = surfaces[0] if len(surfaces) == 1 else average(surfaces, f"mean of {len(surfaces)} parts")
    return surface, sum(result.rows), np.sum(result.collapsed, axis=0)


def other_study(work: Workspace, asked: Asked) -> tuple[Study | None, bool]:
    """The corpus that p and w are chosen on, explained, if one is asked for; and whether what is asked for is there.

    Raises
    ------
    InputError : it has no human scores.
    """
    if not asked.on or asked.criterion is None:
        return None, True
    corpus = work.corpus_called(asked.on)
    if corpus is None:
        return None, True
    if not corpus.criteria:
        raise InputError(f"{corpus.name} has no human scores, so p and w cannot be chosen on it; choose another corpus")
    known = {item.name: item for item in corpus.criteria}
    criterion = known.get(asked.criterion.name, corpus.criteria[0])
    metric = work.metric(corpus)
    outcome = explained(work, corpus, metric, asked.explain)
    if outcome is None or not await_result(outcome, work, f"Explaining {plain(corpus.name)}"):
        return None, False
    return Study(work, corpus, metric, replace(asked, criterion=criterion, on=""), outcome.value, "other"), True

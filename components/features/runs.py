"""What the Features page computes and waits for: the breakdown of A and B, that of all systems, the segments behind a bar."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property

import pandas as pd
import streamlit as st

from components import services
from components.features.controls import Asked
from components.features.names import feature_title
from components.numbers import count
from components.results import Outcome
from components.states import plain
from components.workspace import Workspace
from engine.corpus.types import Corpus
from engine.errors import InputError
from engine.metrics.base import Metric
from engine.muler.features import Feature, FeatureTable, parse_selection
from engine.muler.muler import Prepared, break_down_prepared, prepare
from engine.muler.results import Breakdown, joined
from engine.muler.segments import FeatureSegments, feature_segments
from engine.muler.taggers import choose_tagger
from engine.progress import Progress, part, silent

NEEDS_MODEL = frozenset({"pos", "ner", "morph"})
WITHOUT_MODEL = ("gender", "negation", "number", "punctuation", "frequency")
"""Families that are shown where the chosen ones need a model and there is none."""

PATIENCE = 1.5  # seconds; the usual breakdown of a small corpus is there by then
KEPT_PARTS, KEPT_TEXTS = 60, 2
TAGGED = 0.4  # where tagging ends on the progress bar


@dataclass(frozen=True)
class Found:
    """A breakdown, of which families, and why others are missing (empty where none is)."""

    breakdown: Breakdown
    families: tuple[str, ...]
    missing: str


@dataclass
class Parts:
    """What the runs of one session share: breakdowns by family, and the tagged texts last used."""

    breakdowns: OrderedDict[Hashable, Breakdown] = field(default_factory=OrderedDict)
    texts: OrderedDict[Hashable, Prepared] = field(default_factory=OrderedDict)

    def keep(self, key: Hashable, found: Breakdown) -> None:
        """Keep a family's breakdown."""
        self.breakdowns[key] = found
        while len(self.breakdowns) > KEPT_PARTS:
            self.breakdowns.popitem(last=False)

    def keep_texts(self, key: Hashable, prepared: Prepared) -> None:
        """Keep tagged texts; only the newest, as they are large."""
        self.texts[key] = prepared
        while len(self.texts) > KEPT_TEXTS:
            self.texts.popitem(last=False)


@dataclass(frozen=True, eq=False)
class Study:
    """A corpus, a metric, and what is asked of them. Everything slow is kept by the workspace."""

    work: Workspace
    corpus: Corpus
    metric: Metric
    asked: Asked
    systems: tuple[str, ...]

    @property
    def names(self) -> tuple[str, str]:
        """Corpus and metric, for the names of files."""
        return self.corpus.name, self.metric.spec.id

    @cached_property
    def key(self) -> tuple:
        """What decides the breakdown."""
        digests = tuple(digest for _, digest in self.asked.lexicons)
        return self.corpus.hash, self.metric.spec.signature, self.asked.options, digests, self.systems

    @cached_property
    def parts(self) -> Parts:
        """Shared by all runs of the session."""
        return self.work.drafts.setdefault("features parts", Parts())

    def of(self, systems: tuple[str, ...]) -> Study:
        """The same for other systems."""
        return replace(self, systems=systems)

    def breakdown(self, long: bool = False) -> Outcome:
        """The breakdown of the systems: `Found`."""
        who = "all systems" if long else " and ".join(self.systems)
        title = f"Features of {self.metric.spec.name}, {who}"
        _ = self.parts  # made before the run, which may not touch the page
        return self.work.compute(("features", *self.key), title, self._break_down, patience=PATIENCE, long=long)

    def differences(self, found: Breakdown) -> dict[str, pd.DataFrame]:
        """The differences of A and B by measure; none where there is one system."""
        if len(self.systems) < 2:
            return {}
        return {value: found.differences(*self.systems, value) for value in ("muler", "abl_muler")}

    def segments(self, feature: Feature, system: str, families: tuple[str, ...]) -> Outcome:
        """All segments of a system with a feature: `FeatureSegments`."""
        asked = self.asked.only(families)

        def run(progress: Progress) -> FeatureSegments:
            prepared = self._prepared(asked, progress)
            return feature_segments(
                prepared, self.metric, feature, system, services.scorer(), limit=len(self.corpus), progress=progress
            )

        title = f"{feature_title(feature)} in {count(len(self.corpus), 'segment')} of {system}"
        return self.work.compute(("features segments", *self.key, feature, system), title, run)

    def _break_down(self, progress: Progress) -> Found:
        families, missing = usable(self.asked.families, self.corpus, self.asked.options.tagger)
        asked = self.asked.only(families)
        prepared = self._prepared(asked, part(progress, 0, TAGGED, 1))
        found = []
        for place, family in enumerate(families):
            step = part(
                progress, TAGGED + (1 - TAGGED) * place / len(families), TAGGED + (1 - TAGGED) * (place + 1) / len(families), 1
            )
            found.append(self._family(prepared, asked, family, step))
        progress(1, 1)
        return Found(joined(found), families, missing)

    def _prepared(self, asked: Asked, progress: Progress = silent) -> Prepared:
        key = (self.corpus.hash, asked.options, self.key[3], self.systems)
        found = self.parts.texts.get(key)
        if found is None:
            lexicons = [lexicon for lexicon, _ in asked.lexicons] if "lexicon" in asked.families else []
            found = prepare(self.corpus, asked.options, services.scorer(), lexicons, self.systems, progress)
            self.parts.keep_texts(key, found)
        return found

    def _family(self, prepared: Prepared, asked: Asked, family: str, progress: Progress) -> Breakdown:
        """The breakdown of one family, from an earlier run where there was one."""
        options = replace(asked.options, features=family)
        digests = self.key[3] if family == "lexicon" else ()
        tagger = prepared.texts.tagged.tagger.identity
        key = (self.corpus.hash, self.metric.spec.signature, options, digests, self.systems, tagger)
        if key not in self.parts.breakdowns:
            lexicons = prepared.lexicons if family == "lexicon" else ()
            texts = prepared.texts
            table = FeatureTable(texts.tagged, parse_selection(family), options, texts.members, lexicons)
            own = replace(prepared, options=options, table=table, lexicons=lexicons)
            self.parts.keep(key, break_down_prepared(own, [self.metric], services.scorer(), progress))
        return self.parts.breakdowns[key]


def may_start(study: Study) -> bool:
    """True where the run is quick, or somebody has asked for it; otherwise draw a button."""
    started = study.work.drafts.setdefault("started", set())
    if not study.metric.spec.slow or study.key in started or study.work.known(("features", *study.key)):
        return True
    with st.container(border=True):
        st.markdown(f"**{plain(study.metric.spec.name)}** explains every masked text, which takes long.")
        start = {"on_click": started.add, "args": (study.key,), "key": f"features-start-{len(study.systems)}"}
        st.button("Break it down", type="primary", icon=":material/play_arrow:", **start)
        st.caption("Runs in the background; other pages stay usable. A metric such as chrF is broken down at once.")
    return False


def usable(families: tuple[str, ...], corpus: Corpus, model: str) -> tuple[tuple[str, ...], str]:
    """The families that can be had, and why others cannot; where none can be had, those that need no model.

    Raises
    ------
    InputError : a model is named that does not exist.
    """
    if not NEEDS_MODEL & set(families):
        return families, ""
    try:
        choose_tagger(corpus.languages[1], model)
    except InputError as fault:
        if model:
            raise
        return tuple(family for family in families if family not in NEEDS_MODEL) or WITHOUT_MODEL, str(fault)
    return families, ""

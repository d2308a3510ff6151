"""What all sessions of one process share: the store, the scorer, the sample corpora, the metrics once made."""

from __future__ import annotations

import streamlit as st

from engine.boost.metric import make_metric
from engine.corpus.demo import demo_names, load_demo
from engine.corpus.kept import KeptCorpora
from engine.corpus.types import Corpus, Languages
from engine.metrics.base import Metric
from engine.scoring.scorer import Scorer
from engine.scoring.store import Store, default_path

DEMO = "demo:"
DEMO_TITLES = {"mt": "Sample: translation", "sum": "Sample: summaries"}


@st.cache_resource(show_spinner=False)
def store() -> Store:
    """The store of this computer."""
    return Store(default_path())


@st.cache_resource(show_spinner=False)
def scorer() -> Scorer:
    """The one scorer: every page's variants go through it."""
    return Scorer(store())


@st.cache_resource(show_spinner=False)
def kept() -> KeptCorpora:
    """The uploads that are kept on this computer."""
    return KeptCorpora(default_path().parent / "uploads")


@st.cache_resource(show_spinner=False)
def sample(name: str) -> Corpus:
    """A sample corpus, read once."""
    return load_demo(name)


def samples() -> dict[str, str]:
    """Sample corpora: identifier in the address → title on screen."""
    return {DEMO + name: DEMO_TITLES.get(name, DEMO + name) for name in demo_names()}


@st.cache_resource(show_spinner=False, max_entries=32)
def metric(name: str, languages: Languages) -> Metric:
    """The metric that `name` asks for (`boosted:…` among them), made once per name and language pair."""
    return make_metric(name, languages, scorer())

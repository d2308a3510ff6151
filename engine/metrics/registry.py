"""The metrics that have a name. A new metric is one file and one line in `METRICS`.

The file defines `Options` (a dataclass made with `engine.options.option`) and `make(name, options, languages)`, which
returns a `Metric`. Heavy imports belong inside `make` or the metric's methods, so that naming a metric costs nothing.
"""

from __future__ import annotations

from importlib import import_module

from engine.corpus.types import Corpus, Languages
from engine.errors import InputError
from engine.metrics.base import Metric
from engine.options import from_pairs, split_pairs

METRICS: dict[str, str] = {  # name → module
    "bleu": "engine.metrics.bleu",
    "chrf": "engine.metrics.chrf",
    "chrf++": "engine.metrics.chrf",
    "ter": "engine.metrics.ter",
    "rouge-1": "engine.metrics.rouge",
    "rouge-2": "engine.metrics.rouge",
    "rouge-l": "engine.metrics.rouge",
    "bertscore": "engine.metrics.bertscore",
    "xbertscore": "engine.metrics.bertscore",
}


def split_name(text: str) -> tuple[str, dict[str, str]]:
    """Split `bertscore:model=roberta-large,layer=17` into the name and its options, still as text.

    Raises
    ------
    InputError : an unknown name, or an option that is not written key=value.
    """
    name, _, rest = text.strip().partition(":")
    if name not in METRICS:
        raise InputError(f"unknown metric {name!r}; known metrics: {', '.join(METRICS)}")
    return name, split_pairs(rest, f"metric {name!r}")


def options_type(name: str) -> type:
    """The options dataclass of a metric."""
    return import_module(METRICS[name]).Options


def make_metric(text: str, languages: Languages = (None, None)) -> Metric:
    """Make the metric that `text` names (`bleu`, `bertscore:layer=5`), for a corpus in these languages."""
    name, pairs = split_name(text)
    module = import_module(METRICS[name])
    return module.make(name, from_pairs(module.Options, pairs, f"metric {name!r}"), languages)


def bind_corpus(metric: Metric, corpus: Corpus) -> Metric:
    """The same metric with what it needs to know of the corpus (the token frequencies behind IDF); most need nothing."""
    return metric.bind_corpus(corpus) if hasattr(metric, "bind_corpus") else metric

"""`explain`: how much each word of hypothesis, references and source adds to a metric's score."""

from __future__ import annotations

import argparse
from collections import Counter
from itertools import chain

import numpy as np

from engine.commands.context import Context
from engine.commands.result import Result
from engine.corpus.findings import plural
from engine.explain.explain import evaluations, explain_corpus
from engine.explain.options import ExplainOptions
from engine.explain.results import Explanations
from engine.metrics.base import Metric
from engine.options import add_flags as add_option_flags
from engine.options import from_namespace
from engine.progress import part

NAME = "explain"
HELP = "explain a metric word by word (Erasure, LIME, SHAP)"
NEEDS_SCORING = True
MANY = 100_000
"""Masked texts from which on their number is told beforehand."""


def add_flags(parser: argparse.ArgumentParser) -> None:
    """One flag per option of the explainers; the seed is the command's own."""
    add_option_flags(parser.add_argument_group("explainer"), ExplainOptions, skip=("seed",))


def run(context: Context) -> Result:
    """One row per word: segment, system, metric, explainer, side, position, word, importance, score; 2 if all are undefined."""
    corpus = context.corpus
    options = from_namespace(ExplainOptions, context.arguments, seed=context.arguments.seed)
    metrics = context.metrics(["bertscore" if corpus.reference_count else "xbertscore"])
    explained = []
    for place, metric in enumerate(metrics):
        count = evaluations([segment for name in corpus.systems for segment in corpus.segments(name)], metric, options)
        if count >= MANY:
            context.tell(f"{metric.spec.id}: at most {count:,} texts to score")
        step = part(context.progress, place, place + 1, len(metrics))
        explained.append(explain_corpus(corpus, metric, options, context.scorer, progress=step))
        _tell(context, metric, explained[-1])
    scored = any(np.isfinite(entry.explanation.score) for found in explained for entry in found.entries)
    return Result(chain.from_iterable(found.frames() for found in explained), 0 if scored else 2)


def _tell(context: Context, metric: Metric, found: Explanations) -> None:
    """Say why numbers are undefined, and what a reader must know beside them."""
    items = [entry.explanation for entry in found.entries]
    undefined = Counter(item.undefined for item in items if item.undefined)
    said = [f"{count:,} of {plural(len(items), 'output')} undefined: {reason}" for reason, count in undefined.items()]
    notes = Counter(note for item in items for note in item.notes)
    said += [f"{count:,} of {plural(len(items), 'output')}: {note}" for note, count in notes.items()]
    scored = list(dict.fromkeys(item.segment for item in items if np.isfinite(item.score)))
    remarks = getattr(metric, "remarks", None)
    if remarks is not None and scored:
        said += remarks(context.scorer.statistics(metric, scored))
    for line in said:
        context.tell(f"{metric.spec.id}: {line}")

"""`explain`: how much each word of hypothesis, references and source adds to a metric's score."""

from __future__ import annotations

import argparse

import pandas as pd

from engine.commands.context import Context
from engine.explain.explain import explain_corpus
from engine.explain.options import ExplainOptions
from engine.options import add_flags as add_option_flags
from engine.options import from_namespace

NAME = "explain"
HELP = "explain a metric word by word (Erasure, LIME, SHAP)"
NEEDS_SCORING = True


def add_flags(parser: argparse.ArgumentParser) -> None:
    """One flag per option of the explainers; the seed is the command's own."""
    add_option_flags(parser.add_argument_group("explainer"), ExplainOptions, skip=("seed",))


def run(context: Context) -> tuple[pd.DataFrame, int]:
    """One row per word: segment, system, metric, explainer, side, position, word, importance, score."""
    corpus = context.corpus
    options = from_namespace(ExplainOptions, context.arguments, seed=context.arguments.seed)
    metrics = context.metrics(["bertscore" if corpus.reference_count else "xbertscore"])
    frames = [
        explain_corpus(corpus, metric, options, context.scorer, progress=_share(context.progress, place, len(metrics))).to_frame()
        for place, metric in enumerate(metrics)
    ]
    return pd.concat(frames, ignore_index=True), 0


def _share(progress, place: int, count: int):
    def report(done: float, total: float) -> None:
        progress(place + (done / total if total else 1.0), count)

    return report

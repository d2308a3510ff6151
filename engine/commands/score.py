"""`score`: system scores with confidence intervals, or the scores of every segment."""

from __future__ import annotations

import argparse

from engine.commands.context import Context
from engine.commands.result import Result
from engine.corpus.findings import plural
from engine.scoring.systems import score_systems

NAME = "score"
HELP = "score every system with every metric"
NEEDS_SCORING = True


def add_flags(parser: argparse.ArgumentParser) -> None:
    """The flags of `score`."""
    parser.add_argument("--segments", action="store_true", help="one row per segment instead of one per system")
    parser.add_argument("--resamples", metavar="N", type=int, default=1000, help="bootstrap resamples (default 1000)")


def run(context: Context) -> Result:
    """System scores (system, metric, score, low, high, n, signature) or segment scores (segment, system, metric, score)."""
    corpus = context.corpus
    default = ["bleu", "chrf", "ter"] if corpus.reference_count else ["xbertscore"]
    scores = score_systems(
        corpus,
        context.metrics(default),
        context.scorer,
        resamples=context.arguments.resamples,
        seed=context.arguments.seed,
        progress=context.progress,
    )
    for row in scores.rows:
        counts = [f"{plural(count, 'segment')} undefined: {reason}" for reason, count in row.undefined.items()]
        for remark in [*row.notes, *counts]:
            context.tell(f"{row.metric}, {row.system}: {remark}")
    status = 0 if any(row.n for row in scores.rows) else 2
    return Result(scores.segment_frame() if context.arguments.segments else scores.to_frame(), status)

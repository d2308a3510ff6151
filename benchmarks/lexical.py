"""Lexical metrics against sacreBLEU and rouge-score: `python -m benchmarks.lexical`.

Both sides score the same texts, turn about, on one thread; rates are medians, of processor time, so that a busy machine does not
blur the ratios.

Three loads: the masked variants of a 25-word text against one fixed reference (what LIME scores), the same with the masks in the
reference, and plain scoring of a system. The texts are those of newstest2019 (German to English) where the public data is there
(`PLUMBLINE_DATA`, else ../shared/data), else the sample corpus. A last table shows how TER grows with the length of a text.
"""

from __future__ import annotations

import os
import random
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from engine.corpus.types import Segment
from engine.metrics.base import Metric
from engine.metrics.registry import make_metric

ROUNDS = 9
VARIANTS = 100
WORDS = 25
PART = 200  # segments that a library scores at a time in the plain load; ours scores all
MASK = "UNKWORDZ"

Judge = Callable[[Any], float]


def main() -> None:
    """Print the tables."""
    segments = texts()
    fixed = min(segments, key=lambda segment: abs(len(str(segment.hypothesis).split()) - WORDS))
    print(f"{'metric':10}{'load':32}{'ours /s':>10}{'library /s':>12}{'ratio':>8}{'largest difference':>20}")
    for name, judge in judges().items():
        metric = make_metric(name, ("de", "en"))
        started = time.perf_counter()
        metric.statistics(segments[:1])
        first = time.perf_counter() - started
        for side in ("hypothesis", "reference"):
            loads = [variants(fixed, side, turn) for turn in range(ROUNDS)]
            report(name, f"{VARIANTS} masked variants, {side}", metric, judge, loads)
        report(name, f"{len(segments)} segments", metric, judge, [segments] * 3)
        print(f"{'':10}first call {first:.2f} s (the very first compiles)")
    long_texts()


def report(name: str, load: str, metric: Metric, judge: Judge, loads: Sequence[Sequence[Segment]]) -> None:
    """Score every load both ways, turn about, and print one row; of a long load the library scores a part."""
    ours, theirs, difference = [], [], 0.0
    for turn, cases in enumerate(loads):
        started = time.process_time()
        scores = metric.segment_scores(metric.statistics(cases))
        ours.append(len(cases) / (time.process_time() - started))
        part = slice(turn * PART, (turn + 1) * PART) if len(cases) > PART * len(loads) else slice(None)
        started = time.process_time()
        expected = [judge(case) for case in cases[part]]
        theirs.append(len(expected) / (time.process_time() - started))
        difference = max(difference, np.abs(scores[part] - expected).max())
    rate, library = statistics.median(ours), statistics.median(theirs)
    print(f"{name:10}{load:32}{rate:10.0f}{library:12.0f}{rate / library:8.1f}{difference:20.1e}")


def judges() -> dict[str, Judge]:
    """The libraries, kept in memory as a caller would keep them."""
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu.metrics import BLEU, CHRF, TER

    scorers = {"bleu": BLEU(effective_order=True), "chrf": CHRF(), "chrf++": CHRF(word_order=2), "ter": TER()}
    made: dict[str, Judge] = {name: partial(_sacrebleu, scorer) for name, scorer in scorers.items()}
    for name, kind in (("rouge-1", "rouge1"), ("rouge-2", "rouge2"), ("rouge-l", "rougeL")):
        made[name] = partial(_rouge_score, RougeScorer([kind]), kind)
    return made


def _sacrebleu(scorer: Any, case: Segment) -> float:
    return scorer.sentence_score(case.hypothesis, case.references).score


def _rouge_score(scorer: Any, kind: str, case: Segment) -> float:
    return scorer.score_multi(case.references, case.hypothesis)[kind].fmeasure


def texts() -> list[Segment]:
    """Segments of one system."""
    named = os.environ.get("PLUMBLINE_DATA")
    folder = (Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data") / "mt" / "wmt19" / "de-en"
    if not folder.is_dir():
        from engine.corpus.demo import load_demo

        corpus = load_demo("mt")
        return corpus.segments(next(iter(corpus.systems)))
    files = (folder / "newstest2019-deen-ref.en", folder / "system-outputs" / "newstest2019.Facebook_FAIR.6750.de-en")
    references, outputs = (path.read_text(encoding="utf-8").split("\n")[:-1] for path in files)
    return [Segment(None, (reference,), output) for reference, output in zip(references, outputs)]


def variants(segment: Segment, side: str, seed: int) -> list[Segment]:
    """The segment with random words of one side masked, as LIME masks them: 1 to n words, each number as likely."""
    rng = random.Random(seed)
    words = str(segment.hypothesis if side == "hypothesis" else segment.references[0]).split()
    made = []
    for _ in range(VARIANTS):
        masked = set(rng.sample(range(len(words)), rng.randint(1, len(words))))
        text = " ".join(MASK if place in masked else word for place, word in enumerate(words))
        if side == "hypothesis":
            made.append(segment._replace(hypothesis=text))
        else:
            made.append(segment._replace(references=(text,)))
    return made


def long_texts() -> None:
    """Print how long TER takes for one pair of long texts with moved blocks, and sacreBLEU for the short ones of them."""
    from sacrebleu.metrics import TER

    metric, judge = make_metric("ter"), TER()
    print(f"\n{'TER, words':12}{'characters':>12}{'ours s':>10}{'sacreBLEU s':>14}{'equal':>8}")
    for count in (100, 300, 1000, 20_000):
        rng = random.Random(count)
        reference = [f"w{rng.randrange(3000)}" for _ in range(count)]
        hypothesis = list(reference)
        for _ in range(count // 15):
            start = rng.randrange(count)
            block, hypothesis[start : start + 5] = hypothesis[start : start + 5], []
            target = max(0, start + rng.randint(-30, 30))
            hypothesis[target:target] = block
        text = " ".join(hypothesis)
        case = Segment(None, (" ".join(reference),), text)
        started = time.process_time()
        score = metric.segment_scores(metric.statistics([case]))[0]
        ours = time.process_time() - started
        theirs, equal = "", ""
        if count <= 1000:
            started = time.process_time()
            equal = str(abs(judge.sentence_score(text, case.references).score - score) < 1e-9)
            theirs = f"{time.process_time() - started:.2f}"
        print(f"{count:<12}{len(text):12}{ours:10.4f}{theirs:>14}{equal:>8}")


if __name__ == "__main__":
    main()

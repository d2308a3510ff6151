"""Explanations against the libraries: `python -m benchmarks.explain`. Ratios come from interleaved runs on the same texts.

BERTScore is that of `bert_score` with the encoder and layer of ours; both get the same threads. The texts are those of
newstest2019 (German to English) where the public data is there, else the sample corpus. On a busy machine `--cpu` gives ratios
that still mean something: one thread, and processor time instead of time.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.explain_judges import (
    SYSTEMS,
    Score,
    as_it_comes,
    bertscore,
    by_lime,
    by_shap,
    clock,
    fresh,
    importances,
    kept_scorer,
    of_length,
    rows,
    shared,
    words_of,
)
from engine.corpus.types import Segment
from engine.explain import shap
from engine.explain.explain import explain_segments
from engine.explain.options import ExplainOptions
from engine.metrics.registry import make_metric
from engine.scoring.scorer import Scorer

ROUNDS = 3
LIME = ExplainOptions(explainer="lime")
SHAP = ExplainOptions(explainer="shap")
ERASURE = ExplainOptions(explainer="erasure")
TOLERANCE = 1e-3
"""Of importances. Most agree to 1e-7; in bert_score padding counts as similarity 0, which shows where all others are negative."""


def main() -> None:
    """Run the chosen parts and print one line each."""
    parts = {
        "lexical": lexical,
        "lime": lime_bertscore,
        "systems": systems,
        "shap": shap_bertscore,
        "outside": outside,
        "single": single,
        "memory": memory,
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"any of {', '.join(parts)} (default all)")
    parser.add_argument("--cpu", action="store_true", help="measure the processor time of one thread")
    arguments = parser.parse_args()
    chosen = arguments.parts or list(parts)
    if unknown := set(chosen) - set(parts):
        parser.error(f"no part {sorted(unknown)[0]!r}; there are {', '.join(parts)}")
    warnings.filterwarnings("ignore")
    if arguments.cpu:
        clock.now, clock.threads = time.process_time, 1
    for name in chosen:
        parts[name]()


def lexical() -> None:
    """LIME on the lexical metrics against `lime` with sacrebleu's sentence scores."""
    import sacrebleu

    judges = {"bleu": sacrebleu.BLEU(effective_order=True), "chrf": sacrebleu.CHRF(), "ter": sacrebleu.TER()}
    for name, judge in judges.items():
        metric, segments, score = make_metric(name, ("de", "en")), rows(4 if name == "ter" else 30), sentence_scores(judge)
        own(segments[:1], metric, LIME)
        seconds = race(lambda: own(segments, metric, LIME), lambda: [v for item in segments for v in by_lime(item, score)])  # noqa: B023
        report(f"LIME on {name}, against lime with sacrebleu's sentence scores", seconds, len(segments), 6)


def sentence_scores(judge: Any) -> Score:
    """Scores by a metric of sacrebleu, one after the other."""
    return lambda hypotheses, references: np.array([judge.sentence_score(h, [r]).score for h, r in zip(hypotheses, references)])


def lime_bertscore() -> None:
    """LIME on BERTScore against `lime` with a kept BERTScorer, its neighbourhood in one call and text by text."""
    metric, segments, score = bertscore(), rows(6), kept_scorer()

    def one_by_one(hypotheses: list[str], references: list[str]) -> np.ndarray:
        return np.concatenate([score([h], [r]) for h, r in zip(hypotheses, references)])

    seconds = race(lambda: own(segments, metric, LIME), lambda: [v for item in segments for v in by_lime(item, score)])
    report("LIME on BERTScore, against lime with a kept scorer", seconds, len(segments), 1.5)
    few = segments[:2]
    seconds = race(lambda: own(few, metric, LIME), lambda: [v for item in few for v in by_lime(item, one_by_one)], rounds=1)
    report("LIME on BERTScore, against lime text by text", seconds, len(few), 4)


def systems() -> None:
    """LIME on systems that share a reference, against the better of lime's two ways."""
    metric, segments, score = bertscore(), shared(0), kept_scorer()
    seconds = race(lambda: own(segments, metric, LIME), lambda: [v for item in segments for v in by_lime(item, score)])
    report(f"LIME on BERTScore, {SYSTEMS} systems and one reference, against lime", seconds, len(segments), 3)


def shap_bertscore() -> None:
    """SHAP on BERTScore against `shap` with a kept BERTScorer at its best batch size, and as it comes.

    How much is saved depends on how many masks repeat: two in three of a text of 8 words, one in eight of a text of 20.
    """
    metric, score = bertscore(), kept_scorer(sweep=True)
    for words in (8, 20):
        some = of_length(words, 2)
        seconds = race(lambda: own(some, metric, SHAP), lambda: [v for item in some for v in by_shap(item, score, 500)], 1)  # noqa: B023
        report(f"SHAP on BERTScore, texts of {words} words, against shap with a kept scorer", seconds, len(some), 5)
    segment = of_length(8, 1)[0]
    seconds = race(lambda: own([segment], metric, SHAP), lambda: by_shap(segment, as_it_comes, "auto"), 1)
    report("SHAP on BERTScore, a text of 8 words, against shap and bert_score.score as they come", seconds, 1, 25)
    calls = sum(plan.rows.size if isinstance(plan, shap.PermutationPlan) else plan.count + 1 for plan in plans(segment))
    start = clock.now()
    for _ in range(10):
        as_it_comes([segment.hypothesis or ""], list(segment.references))
    ratio = (clock.now() - start) / 10 * calls / seconds[0][0]
    print(f"… with every text in a call of its own (10 of {calls} calls were measured): {ratio:.0f} × (target 25)", flush=True)


def own(segments: Sequence[Segment], metric: Any, options: ExplainOptions) -> list[np.ndarray]:
    """Our importances, segment by segment and side by side."""
    return importances(explain_segments(segments, metric, options, Scorer()))


def plans(segment: Segment) -> list[shap.ExactPlan | shap.PermutationPlan]:
    """What SHAP evaluates for hypothesis and reference."""
    return [shap.plan(len(words_of(text)), 500, 0) for text in (segment.hypothesis or "", segment.references[0])]


def race(ours: Callable[[], list], theirs: Callable[[], list], rounds: int = ROUNDS) -> tuple[list[float], list[float]]:
    """Seconds of both, in turn; their importances must agree."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        found = []
        for place, run in enumerate((ours, theirs)):
            fresh()
            start = clock.now()
            found.append(run())
            seconds[place].append(clock.now() - start)
        apart = max(float(np.abs(a - b).max()) for a, b in zip(*found, strict=True))
        scale = max(float(np.abs(b).max()) for b in found[1])
        assert apart < TOLERANCE * max(1.0, scale), f"the importances differ by {apart}"
    return seconds


def report(what: str, seconds: tuple[list[float], list[float]], count: int, target: float) -> None:
    """Print one comparison: the median ratio of the rounds."""
    ours, theirs = seconds
    ratio = statistics.median(b / a for a, b in zip(ours, theirs))
    mine, other = statistics.median(ours) / count, statistics.median(theirs) / count
    print(f"{what}: {ratio:.1f} × (target {target}); {mine:.3f} s against {other:.3f} s a segment", flush=True)


def outside() -> None:
    """The share of the time of LIME on BERTScore that is not the encoder's forward pass."""
    metric, segments = bertscore(), rows(12)
    model = fresh().model
    forward, inside = model.last, 0.0

    def timed(ids: Sequence[np.ndarray]) -> Any:
        nonlocal inside
        start = clock.now()
        result = forward(ids)
        inside += clock.now() - start
        return result

    setattr(model, "last", timed)  # noqa: B010
    scorer = Scorer()
    explain_segments(segments[:1], metric, LIME, scorer)
    inside, start = 0.0, clock.now()
    explain_segments(segments[1:], metric, LIME, scorer)
    whole = clock.now() - start
    print(f"LIME on BERTScore, time outside the encoder: {1 - inside / whole:.1%} (target 5%)", flush=True)


def single() -> None:
    """Seconds for one segment of 20 words and one reference, with either mask word; the model is loaded already."""
    metric, (segment, warm) = bertscore(), of_length(20, 2)
    for mask, target in (("UNKWORDZ", 3.0), ("model", 1.5)):
        options, scorer = ExplainOptions(explainer="lime", mask=mask), Scorer()
        fresh()
        explain_segments([warm], metric, options, scorer)
        start = clock.now()
        explain_segments([segment], metric, options, scorer)
        seconds = clock.now() - start
        print(f"LIME on BERTScore, one segment of 20 words, mask {mask}: {seconds:.2f} s (target {target})", flush=True)


def memory() -> None:
    """Peak memory of explaining few and many segments, in a process of its own."""
    code = "from benchmarks.explain import peaks; peaks()"
    subprocess.run([sys.executable, "-c", code], check=True)


def peaks() -> None:
    """Print this process' peak memory after each of several jobs."""
    for name, count, options in (("bertscore", 40, LIME), ("bleu", 500, LIME), ("bleu", 4000, LIME), ("bleu", 16000, ERASURE)):
        metric = bertscore() if name == "bertscore" else make_metric(name, ("de", "en"))
        explain_segments(rows(count), metric, options, Scorer())
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"peak memory after {options.explainer} on {name}, {count} segments: {peak:.0f} MiB (target 1536)", flush=True)


if __name__ == "__main__":
    main()

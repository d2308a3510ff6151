"""Explanations against the libraries: `python -m benchmarks.explain`. Ratios come from interleaved runs on the same texts.

BERTScore is that of `bert_score` with the encoder and layer of ours; both get the same threads. The texts are those of
newstest2019 (German to English) where the public data is there, else the sample corpus. On a busy machine `--cpu` gives ratios
that still mean something: one thread, and processor time instead of time.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from engine.corpus.demo import load_demo
from engine.corpus.types import Segment
from engine.explain.explain import explain_segments
from engine.explain.masking import text_seed
from engine.explain.options import ExplainOptions
from engine.explain.words import rebuild, split_words
from engine.metrics.registry import make_metric
from engine.scoring.scorer import Scorer

SYSTEMS = 8
ROUNDS = 3
LIME = ExplainOptions(explainer="lime")
SHAP = ExplainOptions(explainer="shap")
ERASURE = ExplainOptions(explainer="erasure")
BATCHES = (16, 32, 64, 128)

clock = SimpleNamespace(now=time.perf_counter, threads=2)

Score = Callable[[list[str], list[str]], np.ndarray]
"""Scores of hypotheses, each with its reference."""


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
        metric = make_metric(name, ("de", "en"))
        segments = rows(4 if name == "ter" else 30)

        def score(hypotheses: list[str], references: list[str], judge: Any = judge) -> np.ndarray:
            return np.array([judge.sentence_score(h, [r]).score for h, r in zip(hypotheses, references)])

        explain_segments(segments[:1], metric, LIME, Scorer())
        ours, theirs = race(
            lambda metric=metric, segments=segments: importances(explain_segments(segments, metric, LIME, Scorer())),
            lambda segments=segments, score=score: [values for segment in segments for values in by_lime(segment, score)],
        )
        report(f"LIME on {name}, against lime with sacrebleu's sentence scores", ours, theirs, len(segments), 6)


def lime_bertscore() -> None:
    """LIME on BERTScore against `lime` with a kept BERTScorer, its neighbourhood in one call and text by text."""
    metric, segments = bertscore(), rows(6)
    score = kept_scorer()

    def one_by_one(hypotheses: list[str], references: list[str]) -> np.ndarray:
        return np.concatenate([score([h], [r]) for h, r in zip(hypotheses, references)])

    def own() -> list[np.ndarray]:
        return importances(explain_segments(segments, metric, LIME, Scorer()))

    ours, theirs = race(own, lambda: [values for segment in segments for values in by_lime(segment, score)])
    report("LIME on BERTScore, against lime with a kept scorer", ours, theirs, len(segments), 1.5)
    few = segments[:2]
    ours, theirs = race(
        lambda: importances(explain_segments(few, metric, LIME, Scorer())),
        lambda: [values for segment in few for values in by_lime(segment, one_by_one)],
        rounds=1,
    )
    report("LIME on BERTScore, against lime text by text", ours, theirs, len(few), 4)


def systems() -> None:
    """LIME on systems that share a reference, against the better of lime's two ways."""
    metric, score = bertscore(), kept_scorer()
    segments = shared(0)
    ours, theirs = race(
        lambda: importances(explain_segments(segments, metric, LIME, Scorer())),
        lambda: [values for segment in segments for values in by_lime(segment, score)],
        rounds=2,
    )
    report(f"LIME on BERTScore, {SYSTEMS} systems and one reference, against lime", ours, theirs, len(segments), 3)


def shap_bertscore() -> None:
    """SHAP on BERTScore against `shap` with a kept BERTScorer, at its best batch size and as it comes."""
    metric, segments = bertscore(), rows(2)
    score = kept_scorer()

    def own() -> list[np.ndarray]:
        return importances(explain_segments(segments, metric, SHAP, Scorer()))

    ours, theirs = race(own, lambda: [values for segment in segments for values in by_shap(segment, score, 500)], rounds=2)
    report("SHAP on BERTScore, against shap with a kept scorer, batches of 500", ours, theirs, len(segments), 5)

    def as_it_comes(hypotheses: list[str], references: list[str]) -> np.ndarray:
        import bert_score

        folder, layer = encoder()
        found = bert_score.score(hypotheses, references, model_type=folder, num_layers=layer, device="cpu")
        return found[2].numpy().astype(np.float64)

    few = segments[:1]
    ours, theirs = race(
        lambda: importances(explain_segments(few, metric, SHAP, Scorer())),
        lambda: [values for segment in few for values in by_shap(segment, as_it_comes, "auto")],
        rounds=1,
    )
    report("SHAP on BERTScore, against shap and bert_score as they come", ours, theirs, len(few), 25)


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
        assert apart < 1e-5 * max(1.0, scale), f"the importances differ by {apart}"
    return seconds


def fresh() -> Any:
    """Our BERTScore's encoder, loaded, with no text remembered."""
    from engine.metrics.encoders.encoder import forget, load_encoder

    forget()
    metric = bertscore()
    return load_encoder(metric.checkpoint, metric.layer)


def report(what: str, ours: Sequence[float], theirs: Sequence[float], count: int, target: float) -> None:
    """Print one comparison: the median ratio of the rounds."""
    ratio = statistics.median(b / a for a, b in zip(ours, theirs))
    mine, other = statistics.median(ours) / count, statistics.median(theirs) / count
    print(f"{what}: {ratio:.1f} × (target {target}); {mine:.3f} s against {other:.3f} s a segment", flush=True)


def importances(explanations: Sequence[Any]) -> list[np.ndarray]:
    """All importances, segment by segment and side by side."""
    return [side.importances for explanation in explanations for side in explanation.sides]


def by_lime(segment: Segment, score: Score) -> list[np.ndarray]:
    """Importances of hypothesis and reference by the library, with the seeds that ours has."""
    from lime.lime_text import LimeTextExplainer

    found = []
    for text, scored in both_sides(segment, score):
        count = len(split_words(text))
        explainer = LimeTextExplainer(bow=False, split_expression=words_of, random_state=text_seed(text, 0))
        explained = explainer.explain_instance(
            text, lambda texts, scored=scored: np.repeat(scored(texts)[:, None], 2, axis=1), num_features=count, num_samples=100
        )
        values = np.zeros(count)
        for place, value in explained.local_exp[1]:
            values[place] = value
        found.append(values)
    return found


def by_shap(segment: Segment, score: Score, batch: int | str) -> list[np.ndarray]:
    """Importances of hypothesis and reference by the library, with the seeds that ours has."""
    import shap

    found = []
    for text, scored in both_sides(segment, score):
        words = split_words(text)

        def model(masks: np.ndarray, text: str = text, words: list = words, scored: Any = scored) -> np.ndarray:
            return scored([rebuild(text, words, row.astype(bool), "UNKWORDZ") for row in masks])

        exact = len(words) <= 7
        kind = shap.explainers.ExactExplainer if exact else shap.explainers.PermutationExplainer
        explainer = kind(model, lambda mask, row: (row * mask)[None, :], **({} if exact else {"seed": text_seed(text, 0)}))
        found.append(explainer(np.ones((1, len(words))), max_evals=500, batch_size=batch, silent=True).values[0])
    return found


def both_sides(segment: Segment, score: Score) -> list[tuple[str, Callable[[Sequence[str]], np.ndarray]]]:
    """Hypothesis and reference, each with the scores of texts in its place."""
    hypothesis, reference = segment.hypothesis or "", segment.references[0]
    return [
        (hypothesis, lambda texts: score(list(texts), [reference] * len(texts))),
        (reference, lambda texts: score([hypothesis] * len(texts), list(texts))),
    ]


def words_of(text: str) -> list[str]:
    """Words as the library wants them."""
    return [word.text for word in split_words(text)]


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
    metric = bertscore()

    def apart(segment: Segment) -> int:
        return sum(abs(len(words_of(text)) - 20) for text in (segment.hypothesis or "", segment.references[0]))

    segment, warm = sorted(rows(400), key=apart)[:2]
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


def rows(count: int) -> list[Segment]:
    """So many segments, the systems in turn."""
    references, outputs = texts()
    systems = list(outputs)
    places = [(index, systems[(index + turn) % len(systems)]) for turn in range(len(systems)) for index in range(len(references))]
    return [Segment(None, (references[index],), outputs[name][index]) for index, name in places[:count]]


def shared(index: int) -> list[Segment]:
    """The outputs of `SYSTEMS` systems for one reference."""
    references, outputs = texts()
    return [Segment(None, (references[index],), outputs[name][index]) for name in list(outputs)[:SYSTEMS]]


@cache
def texts() -> tuple[list[str], dict[str, list[str]]]:
    """References, and the outputs of at least `SYSTEMS` systems."""
    folder = Path(os.environ.get("PLUMBLINE_DATA") or Path(__file__).parents[2] / "shared" / "data") / "mt" / "wmt19" / "de-en"
    if folder.is_dir():
        files = sorted((folder / "system-outputs").iterdir())
        return lines(folder / "newstest2019-deen-ref.en"), {file.name: lines(file) for file in files}
    corpus = load_demo("mt")
    outputs = {name: [text or "" for text in found] for name, found in corpus.systems.items()}
    for number, (name, found) in enumerate(list(outputs.items()) * SYSTEMS):  # more systems: each misses another word
        outputs[f"{name}-{number}"] = [without(text, number) for text in found]
    return [found[0] or "" for found in corpus.references], outputs


def without(text: str, number: int) -> str:
    """The text without one of its words."""
    return " ".join(word for place, word in enumerate(words_of(text)) if place != number)


def lines(path: Path) -> list[str]:
    """The lines of a file."""
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


@cache
def bertscore() -> Any:
    """Our BERTScore with the default encoder for English; both sides of a comparison get the same threads."""
    import torch

    torch.set_num_threads(clock.threads)
    return make_metric("bertscore", ("de", "en"))


def encoder() -> tuple[str, int]:
    """The folder and the layer of our encoder."""
    metric = bertscore()
    return str(metric.checkpoint.folder), metric.layer


@cache
def kept_scorer() -> Score:
    """F1 by one `BERTScorer` that is kept in memory, at the batch size that is best for the neighbourhood of a segment."""
    import bert_score

    folder, layer = encoder()
    scorer = bert_score.BERTScorer(model_type=folder, num_layers=layer, device="cpu")

    def score(hypotheses: list[str], references: list[str], batch: int) -> np.ndarray:
        return scorer.score(hypotheses, references, batch_size=batch)[2].numpy().astype(np.float64)

    segment = rows(1)[0]
    text, words = segment.hypothesis or "", split_words(segment.hypothesis or "")
    variants = [rebuild(text, words, np.random.default_rng(seed).random(len(words)) < 0.5, "UNKWORDZ") for seed in range(100)]
    seconds = {}
    for batch in (BATCHES[0], *BATCHES):  # the first one twice: its first run warms up
        start = clock.now()
        score(variants, [segment.references[0]] * len(variants), batch)
        seconds[batch] = clock.now() - start
    best = min(seconds, key=lambda batch: seconds[batch])
    print(f"bert_score's best batch size here: {best}", flush=True)
    return lambda hypotheses, references: score(hypotheses, references, best)


if __name__ == "__main__":
    main()

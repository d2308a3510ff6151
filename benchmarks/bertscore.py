"""BERTScore against bert-score, and the encoder against the machine's matrix products: `python -m benchmarks.bertscore`.

All ways run in turn, round after round; medians are printed. On a busy machine `--cpu` helps: one thread, and processor time
instead of time. The texts are outputs and references of WMT 2017 in `../shared/data` (or `PLUMBLINE_DATA`).
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np

from engine.corpus.types import Segment
from engine.metrics import encoders
from engine.metrics.encoders import encoder as encoder_module
from engine.metrics.encoders.encoder import Encoder
from engine.metrics.registry import make_metric

BATCHES = (16, 32, 64, 128)
clock = time.perf_counter


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--layer", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--cpu", action="store_true", help="one thread, measured in processor time")
    arguments = parser.parse_args()
    if arguments.cpu:
        global clock
        clock, arguments.threads = time.process_time, 1
    import torch
    import transformers

    torch.set_num_threads(arguments.threads)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    pairs = read_pairs(arguments.pairs)
    encoder = encoders.load(encoders.MINILM, layer=arguments.layer)
    folder, layer = str(encoder.checkpoint.folder), arguments.layer
    metric = make_metric(f"bertscore:model={encoders.MINILM},layer={layer}")
    segments = [Segment(None, (reference,), hypothesis) for reference, hypothesis in pairs]
    variants = lime_variants(segments, 5)
    ways = {
        "bert-score": lambda: bert_score_best(pairs, folder, layer),
        "plumbline": lambda: timed(lambda: fresh(metric, segments)),
        "encoder": lambda: timed(lambda: embed(encoder, pairs)),
        "matrices": lambda: matrix_rate(encoder),
        "variants": lambda: timed(lambda: fresh(metric, variants)),
        "variants' encoder": lambda: timed(lambda: embed(encoder, [(s.references[0], s.hypothesis or "") for s in variants])),
    }
    figures: dict[str, list] = {name: [] for name in ways}
    for _ in range(arguments.rounds):
        for name, way in ways.items():
            figures[name].append(way())
    report(figures, encoder, pairs, len(variants))
    print(f"largest difference from bert-score: {difference(metric, segments, pairs, folder, layer):.1e}")


def report(figures: dict[str, list], encoder: Encoder, pairs: list[tuple[str, str]], variants: int) -> None:
    """Print the medians and the two ratios that matter."""
    rows = token_rows(encoder, pairs)
    flops = rows * flops_per_row(encoder)
    rates = {size: len(pairs) / median(run[size] for run in figures["bert-score"]) for size in (*BATCHES, "kept")}
    best = max(BATCHES, key=rates.__getitem__)
    own = len(pairs) / median(figures["plumbline"])
    print(f"{len(pairs)} pairs, {rows} tokens, layer {encoder.layer} of {encoder.checkpoint.name}")
    for size in BATCHES:
        print(f"  bert_score.score, batch {size:3d}: {rates[size]:7.1f} pairs/s")
    print(f"  BERTScorer kept, batch {best:3d}: {rates['kept']:7.1f} pairs/s")
    print(f"  plumbline:                  {own:7.1f} pairs/s")
    by_round = median(min(run[size] for size in BATCHES) / mine for run, mine in zip(figures["bert-score"], figures["plumbline"]))
    kept = median(run["kept"] / mine for run, mine in zip(figures["bert-score"], figures["plumbline"]))
    print(f"plumbline / bert_score.score at its best batch: {by_round:.2f} (target 1.5); / kept scorer: {kept:.2f}")
    rate = median(figures["matrices"])
    share = median(flops / seconds / rate for seconds, rate in zip(figures["encoder"], figures["matrices"]))
    achieved = flops / median(figures["encoder"])
    print(f"encoder: {achieved / 1e9:.1f} GFLOP/s in linear layers; the same matrix products alone: {rate / 1e9:.1f} GFLOP/s")
    print(f"encoder / matrix products: {share:.0%} (target 80%)")
    outside = median(1 - inner / whole for inner, whole in zip(figures["encoder"], figures["plumbline"]))
    print(f"outside the encoder: {outside:.1%} of scoring pairs", end="; ")
    outside = median(1 - inner / whole for inner, whole in zip(figures["variants' encoder"], figures["variants"]))
    print(f"{outside:.1%} of scoring {variants} variants of 5 pairs")


def read_pairs(count: int) -> list[tuple[str, str]]:
    """(reference, hypothesis) of WMT 2017, shuffled."""
    data = Path(os.environ.get("PLUMBLINE_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    with gzip.open(data / "mt" / "wmt17" / "wmt17_toen_da_joined.tsv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    random.Random(0).shuffle(rows)
    return [(row["ref"], row["hyp"]) for row in rows[:count]]


def lime_variants(segments: list[Segment], count: int) -> list[Segment]:
    """A hundred maskings of the hypothesis and of the reference of each segment."""
    chance, made = random.Random(0), []
    for segment in segments[:count]:
        (reference,), hypothesis = segment.references, segment.hypothesis or ""
        for _ in range(100):
            made.append(segment._replace(hypothesis=masked(hypothesis, chance)))
            made.append(segment._replace(references=(masked(reference, chance),)))
    return made


def masked(text: str, chance: random.Random) -> str:
    words = text.split()
    hidden = set(chance.sample(range(len(words)), chance.randint(1, len(words))))
    return " ".join("UNKWORDZ" if place in hidden else word for place, word in enumerate(words))


def timed(action: Callable[[], object]) -> float:
    start = clock()
    action()
    return clock() - start


def fresh(metric, segments: list[Segment]) -> np.ndarray:
    """Statistics with no text remembered from before."""
    encoder_module._memory.clear()
    return metric.statistics(segments)


def embed(encoder: Encoder, pairs: list[tuple[str, str]]) -> None:
    encoder_module._memory.clear()
    encoder.embed(list(dict.fromkeys(text for pair in pairs for text in pair)))


def bert_score_best(pairs: list[tuple[str, str]], folder: str, layer: int) -> dict:
    """Seconds by batch size, and with a scorer kept in memory at the fastest of them ("kept")."""
    from bert_score import BERTScorer, score

    references, hypotheses = map(list, zip(*pairs))
    settings = {"model_type": folder, "num_layers": layer, "nthreads": 0}
    seconds: dict = {}
    for size in BATCHES:
        seconds[size] = timed(lambda size=size: score(hypotheses, references, batch_size=size, **settings))
    scorer = BERTScorer(batch_size=min(BATCHES, key=seconds.__getitem__), **settings)
    seconds["kept"] = timed(lambda: scorer.score(hypotheses, references, batch_size=scorer.batch_size))
    return seconds


def token_rows(encoder: Encoder, pairs: list[tuple[str, str]]) -> int:
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    return sum(len(tokens.ids) for tokens in encoder.tokenizer(texts))


def shapes(encoder: Encoder) -> list[tuple[int, int]]:
    """Inputs and outputs of one layer's matrix products."""
    width, wide = encoder.model.width, encoder.checkpoint.config["intermediate_size"]
    return [(width, 3 * width), (width, width), (width, wide), (wide, width)]


def flops_per_row(encoder: Encoder) -> int:
    return encoder.layer * sum(2 * inputs * outputs for inputs, outputs in shapes(encoder))


def matrix_rate(encoder: Encoder) -> float:
    """FLOP/s of one layer's matrix products, as many rows at once as the encoder takes, with nothing in between."""
    import torch

    rows, sizes = encoder.model.rows, shapes(encoder)
    inputs = [torch.randn(rows, size) for size, _ in sizes]
    weights = [torch.randn(outputs, size) for size, outputs in sizes]
    biases = [torch.randn(outputs) for _, outputs in sizes]
    results = [torch.empty(rows, outputs) for _, outputs in sizes]

    def once() -> None:
        for x, weight, bias, result in zip(inputs, weights, biases, results):
            torch.addmm(bias, x, weight.t(), out=result)

    with torch.inference_mode():
        once()
        repeats = max(1, 3 * encoder.layer)
        seconds = timed(lambda: [once() for _ in range(repeats)])
    return repeats * rows * sum(2 * size * outputs for size, outputs in sizes) / seconds


def difference(metric, segments: list[Segment], pairs: list[tuple[str, str]], folder: str, layer: int) -> float:
    from bert_score import score

    references, hypotheses = map(list, zip(*pairs))
    theirs = score(hypotheses, references, model_type=folder, num_layers=layer, nthreads=0, batch_size=64)
    mine = fresh(metric, segments)[:, :3]
    return float(np.abs(mine - np.stack([part.numpy() for part in theirs], axis=1)).max())


if __name__ == "__main__":
    main()

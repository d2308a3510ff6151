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
from engine.metrics.base import Metric
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
        "encoder": lambda: against_matrices(encoder, pairs),
        "outside": lambda: outside_share(metric, encoder, segments),
        "outside variants": lambda: outside_share(metric, encoder, variants),
    }
    figures: dict[str, list] = {name: [] for name in ways}
    for _ in range(arguments.rounds):
        for name, way in ways.items():
            figures[name].append(way())
    report(figures, encoder, len(pairs), len(variants))
    print(f"largest difference from bert-score: {difference(metric, segments, pairs, folder, layer):.1e}")


def report(figures: dict[str, list], encoder: Encoder, pairs: int, variants: int) -> None:
    """Print the medians and the two ratios that matter."""
    rates = {size: pairs / median(run[size] for run in figures["bert-score"]) for size in (*BATCHES, "kept")}
    best = max(BATCHES, key=rates.__getitem__)
    print(f"{pairs} pairs, layer {encoder.layer} of {encoder.checkpoint.name}")
    for size in BATCHES:
        print(f"  bert_score.score, batch {size:3d}: {rates[size]:7.1f} pairs/s")
    print(f"  BERTScorer kept, batch {best:3d}: {rates['kept']:7.1f} pairs/s")
    print(f"  plumbline:                  {pairs / median(figures['plumbline']):7.1f} pairs/s")
    rounds = list(zip(figures["bert-score"], figures["plumbline"]))
    whole = median(min(run[size] for size in BATCHES) / own for run, own in rounds)
    kept = median(run["kept"] / own for run, own in rounds)
    print(f"plumbline / bert_score.score at its best batch: {whole:.2f} (target 1.5); / a kept BERTScorer: {kept:.2f}")
    achieved, possible = (median(run[place] for run in figures["encoder"]) / 1e9 for place in (0, 1))
    share = median(run[0] / run[1] for run in figures["encoder"])
    print(f"encoder, tokens included: {achieved:.1f} GFLOP/s in linear layers; the same products alone: {possible:.1f} GFLOP/s")
    print(f"encoder / matrix products: {share:.0%} (target 80%)")
    print(f"outside the encoder: {median(figures['outside']):.1%} of scoring the pairs", end=", ")
    print(f"{median(figures['outside variants']):.1%} of scoring {variants} variants of 5 pairs")


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


def fresh(metric: Metric, segments: list[Segment]) -> np.ndarray:
    """Statistics with no text remembered from before."""
    encoder_module._memory.clear()
    return metric.statistics(segments)


def outside_share(metric: Metric, encoder: Encoder, segments: list[Segment]) -> float:
    """The share of the time of scoring that is not spent in the encoder."""
    inside = []
    embed = encoder.embed

    def watched(texts: list[str], long: str = "truncate") -> dict:
        found: list[dict] = []
        inside.append(timed(lambda: found.append(embed(texts, long))))
        return found[0]

    encoder.embed = watched  # type: ignore[method-assign]
    try:
        whole = timed(lambda: fresh(metric, segments))
    finally:
        del encoder.embed
    return 1 - sum(inside) / whole


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


def against_matrices(encoder: Encoder, pairs: list[tuple[str, str]]) -> tuple[float, float]:
    """FLOP/s in linear layers of the encoder, and of the same matrix products with nothing in between, batch by batch in turn."""
    texts = sorted({text for pair in pairs for text in pair})
    lengths = [len(tokens.ids) for tokens in encoder.tokenizer(texts)]
    flops = encoder_seconds = matrix_seconds = 0.0
    for batch in encoder_module._batches(lengths, encoder.model.rows):
        rows = sum(lengths[index] for index in batch)
        flops += rows * encoder.layer * sum(2 * inputs * outputs for inputs, outputs in shapes(encoder))
        encoder_seconds += timed(lambda batch=batch: encoder._embed(encoder.tokenizer([texts[index] for index in batch])))
        matrix_seconds += matrix_products(encoder, rows)
    return flops / encoder_seconds, flops / matrix_seconds


def shapes(encoder: Encoder) -> list[tuple[int, int]]:
    """Inputs and outputs of one layer's matrix products."""
    width, wide = encoder.model.width, encoder.checkpoint.config["intermediate_size"]
    return [(width, 3 * width), (width, width), (width, wide), (wide, width)]


def matrix_products(encoder: Encoder, rows: int) -> float:
    """Seconds that the linear layers (with bias) of all layers take for so many rows."""
    import torch

    sizes = shapes(encoder)
    inputs = [torch.randn(rows, size) for size, _ in sizes]
    weights = [torch.randn(outputs, size) for size, outputs in sizes]
    biases = [torch.randn(outputs) for _, outputs in sizes]
    results = [torch.zeros(rows, outputs) for _, outputs in sizes]

    def run() -> None:
        for _ in range(encoder.layer):
            for x, weight, bias, result in zip(inputs, weights, biases, results):
                torch.addmm(bias, x, weight.t(), out=result)

    with torch.inference_mode():
        return timed(run)


def difference(metric: Metric, segments: list[Segment], pairs: list[tuple[str, str]], folder: str, layer: int) -> float:
    from bert_score import score

    references, hypotheses = map(list, zip(*pairs))
    theirs = score(hypotheses, references, model_type=folder, num_layers=layer, nthreads=0, batch_size=64)
    mine = fresh(metric, segments)[:, :3]
    return float(np.abs(mine - np.stack([part.numpy() for part in theirs], axis=1)).max())


if __name__ == "__main__":
    main()

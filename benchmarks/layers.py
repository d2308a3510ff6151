"""Which layer of an encoder agrees best with human judgement: `python -m benchmarks.layers [--model NAME] [--threads N]`.

Prints, by layer, Pearson's r and Kendall's tau-b of BERTScore F1 with human scores on every data set, their means, and what
unrelated texts score (the baseline for rescaling). All layers come from one forward pass. The data lie in `../shared/data` or in
the folder that `PLUMBLINE_DATA` names. The layers in `engine/metrics/encoders/known.py` were chosen with it.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.metrics import encoders
from engine.metrics.encoders.encoder import Encoder, forget
from engine.metrics.encoders.matching import best_matches
from engine.stats.correlation import kendall, pearson

BATCH = 128  # pairs whose vectors of all layers are held at once
UNRELATED = 1500  # pairs for a baseline


@dataclass(frozen=True)
class Judged:
    """Outputs with human scores: what each is compared with (a reference or the source), the output, the score."""

    name: str
    partners: list[str]
    outputs: list[str]
    scores: np.ndarray


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", nargs="*", default=[encoders.MINILM, encoders.E5])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=int, default=10**9, help="outputs per data set")
    arguments = parser.parse_args()
    import torch

    torch.set_num_threads(arguments.threads)
    data = Path(os.environ.get("PLUMBLINE_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    for model in arguments.model:
        checkpoint = encoders.locate(model)
        encoder = encoders.load(model, layer=checkpoint.layers)
        english = list(wmt17(data, "references"))
        report(f"{model}: hypothesis against reference, English", encoder, english, arguments.limit)
        if model == encoders.MINILM:
            continue
        report(f"{model}: hypothesis against reference, isiZulu and isiXhosa", encoder, list(flores(data)), arguments.limit)
        crossing = [*wmt17(data, "sources"), *quality_estimation(data)]
        report(f"{model}: hypothesis against source", encoder, crossing, arguments.limit)
        forget()


def wmt17(data: Path, partner: str) -> Iterator[Judged]:
    """The seven language pairs of WMT 2017 into English."""
    with gzip.open(data / "mt" / "wmt17" / "wmt17_toen_da_joined.tsv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    column = "ref" if partner == "references" else "src"
    for pair in dict.fromkeys(row["lp"] for row in rows):
        chosen = [row for row in rows if row["lp"] == pair]
        scores = np.array([float(row["da_z"]) for row in chosen])
        yield Judged(f"wmt17 {pair}", [row[column] for row in chosen], [row["hyp"] for row in chosen], scores)


def quality_estimation(data: Path) -> Iterator[Judged]:
    """Sources with one output each: Eval4NLP 2021."""
    for folder in sorted((data / "qe" / "eval4nlp21").iterdir()):
        split = folder.name.rpartition("-")[2]
        scores = np.array([float(line) for line in _lines(folder / f"{split}.da")])
        yield Judged(folder.name, _lines(folder / f"{split}.src"), _lines(folder / f"{split}.mt"), scores)


def flores(data: Path) -> Iterator[Judged]:
    """References and outputs in languages other than English: WMT 2021, isiXhosa to isiZulu and back."""
    home = data / "mt" / "wmt21_flores"
    for pair in ("xh-zu", "zu-xh"):
        references = _lines(home / "references" / f"{pair}.ref-A.txt")
        outputs = {path.name.removesuffix(".txt"): _lines(path) for path in (home / "system-outputs" / pair).iterdir()}
        judged: dict[str, list[str]] = {}
        for line in _lines(home / "human-scores" / f"{pair}.wmt-z.seg.score"):
            system, score = line.split("\t")
            judged.setdefault(system, []).append(score)
        rows = [
            (references[index], outputs[system][index], float(score))
            for system, scores in judged.items()
            if system in outputs and not system.startswith("ref")
            for index, score in enumerate(scores)
            if score != "None"
        ]
        yield Judged(f"flores {pair}", [row[0] for row in rows], [row[1] for row in rows], np.array([row[2] for row in rows]))


def report(title: str, encoder: Encoder, judged: Sequence[Judged], limit: int) -> None:
    """Print the table of one group of data sets."""
    start = time.perf_counter()
    print(f"\n{title}\n{'':24}" + "".join(f"{layer:7d}" for layer in range(encoder.layer + 1)))
    table: dict[str, list[np.ndarray]] = {"pearson": [], "kendall": []}
    pooled: list[np.ndarray] = []
    for item in judged:
        values = score_layers(encoder, item.partners[:limit], item.outputs[:limit])[:, :, 2]
        human = item.scores[:limit]
        pooled.append(values)
        for name, coefficient in (("pearson", pearson), ("kendall", kendall)):
            row = np.array([coefficient(layer, human).value for layer in values.T])
            table[name].append(row)
            _print_row(f"{item.name} {name}", row)
    for name, rows in table.items():
        _print_row(f"mean {name}", np.mean(rows, axis=0))
    human = np.concatenate([item.scores[:limit] for item in judged])
    for name, coefficient in (("pearson", pearson), ("kendall", kendall)):
        _print_row(f"all pairs {name}", np.array([coefficient(layer, human).value for layer in np.concatenate(pooled).T]))
    for name, row in zip(("P", "R", "F"), baseline(encoder, judged).T):
        _print_row(f"unrelated {name}", row, "7.4f")
    print(f"({time.perf_counter() - start:.0f} s)", file=sys.stderr, flush=True)


def baseline(encoder: Encoder, judged: Sequence[Judged]) -> np.ndarray:
    """Mean precision, recall and F1 of texts with partners of other texts, float64[layers, 3]; data sets count equally."""
    means = []
    for item in judged:
        chance = np.random.default_rng(0)
        texts, partners = sorted(set(item.outputs)), sorted(set(item.partners))
        count = UNRELATED // len(judged)
        places = zip(chance.integers(len(texts), size=count), chance.integers(len(partners), size=count))
        pairs = [(texts[a], partners[b]) for a, b in places]
        own = set(zip(item.outputs, item.partners))
        pairs = [pair for pair in pairs if pair not in own]
        means.append(score_layers(encoder, [partner for _, partner in pairs], [text for text, _ in pairs]).mean(axis=0))
    return np.mean(means, axis=0)


def score_layers(encoder: Encoder, partners: Sequence[str], outputs: Sequence[str]) -> np.ndarray:
    """Precision, recall and F1 of every pair at every layer, float64[n, layers, 3]."""
    rows = np.empty((len(outputs), encoder.layer + 1, 3))
    order = sorted(range(len(outputs)), key=lambda index: len(outputs[index]))
    for start in range(0, len(order), BATCH):
        batch = order[start : start + BATCH]
        texts = list(dict.fromkeys(text for index in batch for text in (partners[index], outputs[index])))
        vectors = dict(zip(texts, encoder.hidden(texts)))
        inner = {text: _weights(encoder, text) for text in texts}
        for index in batch:
            partner, output = partners[index], outputs[index]
            for layer, (mine, theirs) in enumerate(zip(vectors[output], vectors[partner])):
                forward, backward = best_matches(theirs, [mine])
                precision = forward @ inner[output] / inner[output].sum()
                recall = backward[0] @ inner[partner] / inner[partner].sum()
                rows[index, layer] = precision, recall, 2 * precision * recall / (precision + recall)
    return rows


def _weights(encoder: Encoder, text: str) -> np.ndarray:
    (tokens,) = encoder.tokenizer([text])
    return np.where(np.isin(tokens.ids, list(encoder.tokenizer.unweighted)), 0.0, 1.0)


def _print_row(name: str, values: np.ndarray, width: str = "7.3f") -> None:
    best = int(np.argmax(values))
    print(f"{name:24}" + "".join(f"{value:{width}}" for value in values) + f"   best {best}", flush=True)


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


if __name__ == "__main__":
    main()

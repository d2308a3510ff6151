"""Which layer of an encoder agrees best with human judgement: `python -m benchmarks.layers [--model NAME …] [--threads N]`.

Prints, by layer, Pearson's r and Kendall's tau-b of BERTScore F1 with human scores on every data set and their means; with
`--baselines` instead what unrelated texts score, as rows of a baseline file. All layers come from one forward pass. The data lie
in `../shared/data` or in the folder that `PLUMBLINE_DATA` names. The layers in `engine/metrics/encoders/known.py` and the
baselines in `assets/baselines` were found with it.
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
UNRELATED = 3000  # pairs for a baseline


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
    parser.add_argument("--baselines", action="store_true", help="what unrelated texts score, instead of correlations")
    arguments = parser.parse_args()
    import torch

    torch.set_num_threads(arguments.threads)
    data = Path(os.environ.get("PLUMBLINE_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    for model in arguments.model:
        encoder = encoders.load(model, layer=encoders.locate(model).layers)
        english, crossing = list(wmt17(data, "references")), [*wmt17(data, "sources"), *quality_estimation(data)]
        if arguments.baselines:
            print_baselines(f"{model}, English", encoder, [own_language("en", english)])
            if model != encoders.MINILM:
                print_baselines(f"{model}, other languages", encoder, other_languages(data))
                print_baselines(f"{model}, source and output", encoder, crossing)
        else:
            report(f"{model}: hypothesis against reference, English", encoder, english, arguments.limit)
            if model != encoders.MINILM:
                report(f"{model}: hypothesis against reference, other languages", encoder, list(flores(data)), arguments.limit)
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
    """Print the table of one group of data sets; the last rows are means over data sets."""
    start = time.perf_counter()
    print(f"\n{title}\n{'':24}" + "".join(f"{layer:7d}" for layer in range(encoder.layer + 1)))
    table: dict[str, list[np.ndarray]] = {"pearson": [], "kendall": []}
    for item in judged:
        values = score_layers(encoder, item.partners[:limit], item.outputs[:limit])[:, :, 2]
        for name, coefficient in (("pearson", pearson), ("kendall", kendall)):
            table[name].append(np.array([coefficient(layer, item.scores[:limit]).value for layer in values.T]))
            _print_row(f"{item.name} {name}", table[name][-1])
    for name, rows in table.items():
        _print_row(f"mean {name}", np.mean(rows, axis=0))
    print(f"({time.perf_counter() - start:.0f} s)", file=sys.stderr, flush=True)


def own_language(name: str, judged: Sequence[Judged]) -> Judged:
    """All outputs and partners of data sets in one language, to be compared with one another."""
    texts = [text for item in judged for text in (*item.outputs, *item.partners)]
    return Judged(name, texts, texts, np.empty(0))


def other_languages(data: Path) -> list[Judged]:
    """Texts in eleven languages other than English, each to be compared with others in its language."""
    found = {item.name[6:8]: item.partners for item in wmt17(data, "sources")}
    found |= {item.name.rpartition("-")[2]: item.partners for item in flores(data)}
    found |= {item.name[:2]: item.partners for item in quality_estimation(data) if item.name.endswith("dev")}
    return [Judged(language, texts, texts, np.empty(0)) for language, texts in sorted(found.items())]


def print_baselines(title: str, encoder: Encoder, judged: Sequence[Judged]) -> None:
    """Print mean precision, recall and F1 of unrelated texts by layer; data sets count equally."""
    means = []
    for item in judged:
        chance = np.random.default_rng(0)
        texts, partners = sorted(set(item.outputs)), sorted(set(item.partners))
        count = UNRELATED // len(judged)
        places = zip(chance.integers(len(texts), size=count), chance.integers(len(partners), size=count))
        related = {*zip(item.outputs, item.partners), *zip(item.partners, item.partners)}
        pairs = [pair for pair in ((texts[a], partners[b]) for a, b in places) if pair not in related]
        means.append(score_layers(encoder, [partner for _, partner in pairs], [text for text, _ in pairs]).mean(axis=0))
    print(f"\n{title} ({', '.join(item.name for item in judged)})\nLAYER,P,R,F")
    for layer, values in enumerate(np.mean(means, axis=0)):
        print(f"{layer}," + ",".join(f"{value:.4f}" for value in values), flush=True)
    spread = np.ptp(np.array(means)[:, :, 2], axis=0)
    print("spread of F over data sets: " + " ".join(f"{value:.2f}" for value in spread))


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


def _print_row(name: str, values: np.ndarray) -> None:
    print(f"{name:24}" + "".join(f"{value:7.3f}" for value in values) + f"   best {int(np.argmax(values))}", flush=True)


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


if __name__ == "__main__":
    main()

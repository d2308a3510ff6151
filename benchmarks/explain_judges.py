"""The libraries that explanations are measured against, and the texts that both explain."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from engine.corpus.demo import load_demo
from engine.corpus.types import Segment
from engine.explain import lime, shap
from engine.explain.masking import text_seed
from engine.explain.words import rebuild, split_words
from engine.metrics.registry import make_metric

SYSTEMS = 8
BATCHES = (16, 32, 64, 128)

clock = SimpleNamespace(now=time.perf_counter, threads=2)

Score = Callable[[list[str], list[str]], np.ndarray]
"""Scores of hypotheses, each with its reference."""


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
    import shap as library

    found = []
    for text, scored in both_sides(segment, score):
        words = split_words(text)

        def model(masks: np.ndarray, text: str = text, words: list = words, scored: Any = scored) -> np.ndarray:
            return scored([rebuild(text, words, row.astype(bool), "UNKWORDZ") for row in masks])

        exact = len(words) <= 7
        kind = library.explainers.ExactExplainer if exact else library.explainers.PermutationExplainer
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


def rows(count: int) -> list[Segment]:
    """So many segments, the systems in turn."""
    references, outputs = texts()
    systems = list(outputs)
    places = [(index, systems[(index + turn) % len(systems)]) for turn in range(len(systems)) for index in range(len(references))]
    return [Segment(None, (references[index],), outputs[name][index]) for index, name in places[:count]]


def of_length(words: int, count: int) -> list[Segment]:
    """The segments whose texts are nearest to a number of words."""

    def apart(segment: Segment) -> int:
        return sum(abs(len(words_of(text)) - words) for text in (segment.hypothesis or "", segment.references[0]))

    return sorted(rows(2000), key=apart)[:count]


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
def kept_scorer(sweep: bool = False) -> Score:
    """F1 by one `BERTScorer` that is kept in memory, at its best batch size for a neighbourhood, or for a sweep of SHAP."""
    import bert_score

    folder, layer = encoder()
    scorer = bert_score.BERTScorer(model_type=folder, num_layers=layer, device="cpu")

    def score(hypotheses: list[str], references: list[str], batch: int) -> np.ndarray:
        return scorer.score(hypotheses, references, batch_size=batch)[2].numpy().astype(np.float64)

    segment = of_length(20, 1)[0]
    text, words = segment.hypothesis or "", split_words(segment.hypothesis or "")
    masks = shap.plan(len(words), 1, 0).masks(0, 40) if sweep else lime.plan(len(words), 100, 0).kept
    variants = [rebuild(text, words, mask, "UNKWORDZ") for mask in masks]
    seconds = dict.fromkeys(BATCHES, np.inf)
    for batch in BATCHES * 2:  # twice: the first runs warm up
        start = clock.now()
        score(variants, [segment.references[0]] * len(variants), batch)
        seconds[batch] = min(seconds[batch], clock.now() - start)
    best = min(seconds, key=lambda batch: seconds[batch])
    print(f"bert_score's best batch size here, {'a sweep of SHAP' if sweep else 'a neighbourhood of LIME'}: {best}", flush=True)
    return lambda hypotheses, references: score(hypotheses, references, best)


def as_it_comes(hypotheses: list[str], references: list[str]) -> np.ndarray:
    """F1 by `bert_score.score`, which loads its model at every call."""
    import bert_score

    folder, layer = encoder()
    found = bert_score.score(hypotheses, references, model_type=folder, num_layers=layer, device="cpu")
    return found[2].numpy().astype(np.float64)


def fresh() -> Any:
    """Our BERTScore's encoder, loaded, with no text remembered."""
    from engine.metrics.encoders.encoder import forget, load_encoder

    forget()
    metric = bertscore()
    return load_encoder(metric.checkpoint, metric.layer)

"""SHAP against the library: the same masks and the same values for the same seed."""

from itertools import permutations

import numpy as np
import pytest
from explain_fakes import FakeMetric, PlainScorer, words

from engine.corpus.types import Segment
from engine.explain import shap
from engine.explain.explain import explain_segments
from engine.explain.masking import text_seed
from engine.explain.options import ExplainOptions
from engine.explain.words import rebuild, split_words

TEXTS = ["the cat sat on the mat", "a b c d e f g", words(8), words(20), words(60), words(130), "私はPythonが好きです。"]


def library(text: str, score, seed: int, evaluations: int = 500) -> tuple[np.ndarray, list[str]]:
    """Values by the library, and the masked texts that it asked for."""
    import shap as judge

    split, seen = split_words(text), []

    def model(rows: np.ndarray) -> np.ndarray:
        texts = [rebuild(text, split, row.astype(bool), "UNKWORDZ") for row in rows]
        seen.extend(texts)
        return np.array([score(item) for item in texts])

    def masker(mask: np.ndarray, row: np.ndarray) -> np.ndarray:
        return (row * mask)[None, :]

    features = np.ones((1, len(split)))
    if len(split) <= 7:
        explainer = judge.explainers.ExactExplainer(model, masker)
        return explainer(features, max_evals=evaluations).values[0], seen
    explainer = judge.explainers.PermutationExplainer(model, masker, seed=seed)
    return explainer(features, max_evals=evaluations, silent=True).values[0], seen


@pytest.mark.parametrize("text", TEXTS)
def test_values_equal_the_library(text: str) -> None:
    metric = FakeMetric()
    segment = Segment(None, ("a reference",), text)
    (found,) = explain_segments([segment], metric, ExplainOptions(explainer="shap"), PlainScorer())
    expected, seen = library(text, lambda value: metric.score(segment._replace(hypothesis=value)), text_seed(text, 0))
    np.testing.assert_allclose(found.sides[0].importances, expected, atol=1e-6, rtol=0)
    asked = {item.hypothesis for item in metric.calls[0]}
    assert asked == set(seen) | {text}


@pytest.mark.parametrize(("evaluations", "seed"), [(60, 1), (41, 2), (1000, 3), (5000, 4)])
def test_options_equal_the_library(evaluations: int, seed: int) -> None:
    metric, text = FakeMetric(), words(20)
    segment = Segment(None, ("a reference",), text)
    options = ExplainOptions(explainer="shap", evaluations=evaluations, seed=seed)
    (found,) = explain_segments([segment], metric, options, PlainScorer())
    expected, _ = library(
        text, lambda value: metric.score(segment._replace(hypothesis=value)), text_seed(text, seed), evaluations
    )
    np.testing.assert_allclose(found.sides[0].importances, expected, atol=1e-6, rtol=0)
    assert found.notes == ()


def test_distinct_masks_are_scored_once() -> None:
    plan = shap.plan(20, 500, 0)
    assert plan.rows.size == 12 * 41
    assert len(np.unique(plan.masks(0, plan.count), axis=0)) == plan.count < 12 * 41 - 24
    assert not plan.masks(0, plan.count).all(axis=1).any()


def test_exact_values_are_means_over_all_orders() -> None:
    generator = np.random.default_rng(0)
    plan = shap.plan(4, 500, 0)
    outputs = generator.random(16)  # number of a subset: bit i for word i
    found = shap.importances(plan, outputs[None, -1], outputs[None, :-1])[0]
    gains = np.zeros(4)
    for order in permutations(range(4)):
        subset = 0
        for word in order:
            gains[word] += outputs[subset | 1 << word] - outputs[subset]
            subset |= 1 << word
    np.testing.assert_allclose(found, gains / 24, atol=1e-12)


def test_texts_above_249_words_take_more_evaluations_and_say_so() -> None:
    metric, text = FakeMetric(), words(300)
    segment = Segment(None, ("a",), text)
    (found,) = explain_segments([segment], metric, ExplainOptions(explainer="shap"), PlainScorer())
    assert any("601" in note and "500" in note for note in found.notes)
    expected, _ = library(text, lambda value: metric.score(segment._replace(hypothesis=value)), text_seed(text, 0), 601)
    np.testing.assert_allclose(found.sides[0].importances, expected, atol=1e-6, rtol=0)
    everything_masked = " ".join(["UNKWORDZ"] * 300)
    total = metric.score(segment) - metric.score(segment._replace(hypothesis=everything_masked))
    assert found.sides[0].importances.sum() == pytest.approx(total)

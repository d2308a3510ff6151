"""LIME against the library: the same neighbourhood and the same coefficients for the same seed."""

import numpy as np
import pytest
import sacrebleu
from explain_fakes import FakeMetric, PlainScorer, words
from lime.lime_text import LimeTextExplainer

from engine.corpus.types import Segment
from engine.explain import lime
from engine.explain.explain import explain_segments
from engine.explain.masking import text_seed
from engine.explain.options import ExplainOptions
from engine.explain.words import split_words
from engine.metrics.registry import make_metric
from engine.scoring.scorer import Scorer

TEXTS = [words(count) for count in (1, 2, 3, 5, 6, 7, 8, 20, 61, 99, 100, 130)] + [
    "the cat sat on the mat the cat",
    "  two  spaces   and\ttabs\nand lines  ",
    "私はPythonが好きです。",
]


def library(text: str, score, seed: int = 0, samples: int = 100, mask: str = "UNKWORDZ", split=None) -> np.ndarray:
    """Importances by the library, in the order of the words."""
    explainer = LimeTextExplainer(
        bow=False,
        split_expression=split or (lambda value: [word.text for word in split_words(value)]),
        mask_string=mask,
        random_state=text_seed(text, seed),
    )
    count = len(split_words(text))
    found = explainer.explain_instance(
        text, lambda texts: np.array([[score(item)] * 2 for item in texts]), num_features=count, num_samples=samples
    )
    values = np.zeros(count)
    for place, value in found.local_exp[1]:
        values[place] = value
    return values


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.filterwarnings("ignore")
def test_both_sides_equal_the_library(text: str) -> None:
    metric = FakeMetric()
    segment = Segment(None, (text + " end", "another reference"), text)
    (found,) = explain_segments([segment], metric, ExplainOptions(explainer="lime"), PlainScorer())
    assert [item.side for item in found.sides] == ["hypothesis", "reference:0", "reference:1"]
    expected = [
        library(text, lambda value: metric.score(segment._replace(hypothesis=value))),
        library(text + " end", lambda value: metric.score(segment._replace(references=(value, "another reference")))),
        library("another reference", lambda value: metric.score(segment._replace(references=(text + " end", value)))),
    ]
    for item, values in zip(found.sides, expected):
        np.testing.assert_allclose(item.importances, values, atol=1e-6, rtol=0)


@pytest.mark.parametrize(("samples", "seed", "mask"), [(2, 0, "UNKWORDZ"), (30, 5, "X"), (500, 1, "[MASK]"), (100, 2**31, "")])
@pytest.mark.filterwarnings("ignore")
def test_options_equal_the_library(samples: int, seed: int, mask: str) -> None:
    metric, text = FakeMetric(), "one two three four five six seven eight nine"
    segment = Segment(None, ("ref",), text)
    options = ExplainOptions(explainer="lime", samples=samples, seed=seed, mask=mask, separators="keep")
    (found,) = explain_segments([segment], metric, options, PlainScorer())
    expected = library(text, lambda value: metric.score(segment._replace(hypothesis=value)), seed, samples, mask)
    np.testing.assert_allclose(found.sides[0].importances, expected, atol=1e-6, rtol=0)


@pytest.mark.filterwarnings("ignore")
def test_single_spaces_equal_the_original_wrapper() -> None:
    """`split_expression=' '`, as the BMX code calls it."""
    metric, text = FakeMetric(), "the quick brown fox jumps over the lazy dog"
    segment = Segment(None, ("ref",), text)
    (found,) = explain_segments([segment], metric, ExplainOptions(explainer="lime"), PlainScorer())
    expected = library(text, lambda value: metric.score(segment._replace(hypothesis=value)), split=" ")
    np.testing.assert_allclose(found.sides[0].importances, expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter"])
def test_real_metrics_equal_the_library_with_sacrebleu(name: str) -> None:
    judge = {"bleu": sacrebleu.BLEU(effective_order=True), "chrf": sacrebleu.CHRF(), "ter": sacrebleu.TER()}[name]
    hypothesis, reference = "the cat is sitting on the red mat .", "a cat sat on the mat , which was red ."
    segment = Segment(None, (reference,), hypothesis)
    options = ExplainOptions(explainer="lime", samples=40)
    (found,) = explain_segments([segment], make_metric(name, ("de", "en")), options, Scorer())
    expected = library(hypothesis, lambda value: judge.sentence_score(value, [reference]).score, samples=40)
    np.testing.assert_allclose(found.side("hypothesis").importances, expected, atol=1e-6, rtol=0)
    expected = library(reference, lambda value: judge.sentence_score(hypothesis, [value]).score, samples=40)
    np.testing.assert_allclose(found.side("reference:0").importances, expected, atol=1e-6, rtol=0)


def test_bertscore_with_its_own_mask_word() -> None:
    metric = make_metric("bertscore", ("de", "en"))
    hypothesis = "the cat sat on the mat"
    segment = Segment(None, ("a cat lay there",), hypothesis)
    options = ExplainOptions(explainer="lime", samples=30, mask="model")
    (found,) = explain_segments([segment], metric, options, Scorer())
    assert found.mask == "[MASK]"

    def score(value: str) -> float:
        return metric.segment_scores(metric.statistics([segment._replace(hypothesis=value)]))[0]

    expected = library(hypothesis, score, samples=30, mask="[MASK]")
    np.testing.assert_allclose(found.side("hypothesis").importances, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("count", [1, 4, 20, 300])
def test_neighbourhood_equals_the_library(count: int) -> None:
    """The very masks, in their order."""
    text, seen = words(count), []

    def record(texts: list[str]) -> np.ndarray:
        seen.extend(texts)
        return np.zeros((len(texts), 2))

    LimeTextExplainer(bow=False, split_expression=" ", feature_selection="none", random_state=9).explain_instance(
        text, record, num_samples=100
    )
    plan = lime.plan(count, 100, 9)
    kept = np.concatenate([plan.kept, np.ones((1, count), bool)])[plan.rows]
    expected = [[word != "UNKWORDZ" for word in item.split(" ")] for item in seen]
    np.testing.assert_array_equal(kept, expected)
    assert len(np.unique(plan.kept, axis=0)) == plan.count < 100


def test_shared_text_gives_each_segment_its_own_importances() -> None:
    plan = lime.plan(12, 100, 1)
    generator = np.random.default_rng(0)
    original, scores = generator.random(5), generator.random((5, plan.count))
    (together,) = lime.importances([plan], [original], [scores])
    for row in range(5):
        (alone,) = lime.importances([plan], [original[row : row + 1]], [scores[row : row + 1]])
        np.testing.assert_allclose(together[row], alone[0], atol=1e-12)


def test_many_more_words_than_samples() -> None:
    """The dual regression gives what the primal one gives."""
    plan = lime.plan(9000, 20, 3)
    generator = np.random.default_rng(1)
    original, scores = generator.random(1), generator.random((1, plan.count))
    (found,) = lime.importances([plan], [original], [scores])
    kept = np.concatenate([plan.kept, np.ones((1, 9000), bool)])[plan.rows]
    weights = lime.sample_weights(kept)
    targets = np.concatenate([scores, original[:, None]], axis=1)[0][plan.rows]
    intercept = np.average(targets, weights=weights) - np.average(kept, axis=0, weights=weights) @ found[0]
    residual = weights * (targets - intercept - kept @ found[0])
    np.testing.assert_allclose(kept.T @ residual - found[0] * lime.RIDGE_PENALTY, 0, atol=1e-10)  # the gradient is 0

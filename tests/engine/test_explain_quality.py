"""Stability and faithfulness of explanations."""

import numpy as np
import pytest
from explain_fakes import FakeMetric, PlainScorer, words
from scipy.stats import pearsonr, spearmanr

from engine.corpus.types import Segment
from engine.explain.explain import explain_segments
from engine.explain.options import ExplainOptions
from engine.explain.quality import faithfulness, stability
from engine.metrics.registry import make_metric
from engine.scoring.scorer import Scorer

LONG = Segment(None, (words(15), "a b"), words(12))


def weighted(segment: Segment) -> float:
    """A score to which word wᵢ of the hypothesis adds i."""
    return float(sum(int(word[1:]) for word in segment.hypothesis.split() if word[1:].isdigit()))


def test_stability_is_the_correlation_between_seeds() -> None:
    options = ExplainOptions(explainer="lime", seed=4)
    (found,) = stability([LONG], FakeMetric(), options, PlainScorer())
    runs = [
        explain_segments([LONG], FakeMetric(), ExplainOptions(explainer="lime", seed=seed), PlainScorer())[0] for seed in (4, 5)
    ]
    assert found.spearman == pytest.approx(spearmanr(runs[0].importances, runs[1].importances).statistic)
    assert found.pearson == pytest.approx(pearsonr(runs[0].importances, runs[1].importances).statistic)
    assert [item.side for item in found.sides] == ["hypothesis", "reference:0", "reference:1"]
    hypothesis = [run.side("hypothesis").importances for run in runs]
    assert found.sides[0].spearman == pytest.approx(spearmanr(*hypothesis).statistic)


def test_three_seeds_give_the_mean_of_the_pairs() -> None:
    options = ExplainOptions(explainer="shap")
    three = stability([LONG], FakeMetric(), options, PlainScorer(), seeds=(1, 2, 3))[0]
    pairs = [stability([LONG], FakeMetric(), options, PlainScorer(), seeds=pair)[0] for pair in ((1, 2), (1, 3), (2, 3))]
    assert three.pearson == pytest.approx(np.mean([pair.pearson for pair in pairs]))
    assert three.sides[2].undefined and "deterministic" in three.sides[2].undefined  # two words are exact


def test_an_additive_metric_is_perfectly_stable_under_shap() -> None:
    (found,) = stability(
        [Segment(None, ("r",), words(12))], FakeMetric(weighted), ExplainOptions(explainer="shap"), PlainScorer()
    )
    assert found.spearman == pytest.approx(1)


def test_what_does_not_depend_on_the_seed_says_so() -> None:
    (erasure,) = stability([LONG], FakeMetric(), ExplainOptions(explainer="erasure"), PlainScorer())
    (exact,) = stability([Segment(None, ("r",), "a b")], FakeMetric(), ExplainOptions(explainer="shap"), PlainScorer())
    for found in (erasure, exact):
        assert np.isnan(found.spearman) and "deterministic" in found.undefined
    (constant,) = stability([LONG], FakeMetric(lambda segment: 1.0), ExplainOptions(explainer="lime"), PlainScorer())
    assert np.isnan(constant.spearman) and constant.undefined
    (missing,) = stability([Segment(None, (), "a b")], FakeMetric(), ExplainOptions(explainer="lime"), PlainScorer())
    assert missing.undefined == "the segment has no reference"
    with pytest.raises(ValueError):
        stability([LONG], FakeMetric(), ExplainOptions(explainer="lime"), PlainScorer(), seeds=(1, 1))


def test_faithfulness_of_a_right_explanation() -> None:
    metric = FakeMetric(weighted)
    explained = explain_segments([Segment(None, ("r",), words(12))], metric, ExplainOptions(), PlainScorer())
    (found,) = faithfulness(explained, metric, PlainScorer(), draws=200)
    hypothesis, reference = found.sides
    assert hypothesis.words == 2 and hypothesis.top == 10 + 11
    assert hypothesis.random == pytest.approx(11, abs=1.5)  # two of 0 … 11 at random
    assert hypothesis.difference == hypothesis.top - hypothesis.random
    assert reference.undefined == "the text has only one word"
    assert (found.top, found.random, found.undefined) == (hypothesis.top, hypothesis.random, None)
    assert faithfulness(explained, metric, PlainScorer(), draws=200) == [found]


def test_an_error_rate_rises_without_the_words_that_help() -> None:
    segment = Segment(None, ("the cat sat on the mat today",), "the cat sat on the mat now")
    metric, scorer = make_metric("ter"), Scorer()
    (found,) = faithfulness(explain_segments([segment], metric, ExplainOptions(explainer="erasure"), scorer), metric, scorer)
    hypothesis = found.sides[0]
    # sacrebleu: TER 1/7; any right word less is one edit more, without "now" the edit stays
    assert hypothesis.words == 1 and hypothesis.top == pytest.approx(100 / 7)
    assert hypothesis.random == pytest.approx(100 / 7 * 6 / 7)
    assert found.difference > 0


def test_few_possible_sets_are_all_tried() -> None:
    metric = FakeMetric(weighted)
    explained = explain_segments([Segment(None, ("r",), "w1 w2 w6")], metric, ExplainOptions(), PlainScorer())
    (found,) = faithfulness(explained, metric, PlainScorer())
    assert (found.sides[0].top, found.sides[0].random) == (6, 3)


def test_faithfulness_is_undefined_with_a_reason() -> None:
    metric = FakeMetric()
    explained = explain_segments([Segment(None, ("r",), "x"), Segment(None, (), "a b")], metric, ExplainOptions(), PlainScorer())
    one_word, no_reference = faithfulness(explained, metric, PlainScorer())
    assert np.isnan(one_word.top) and one_word.undefined == "the text has only one word"
    assert no_reference.undefined == "the segment has no reference"
    assert faithfulness([], metric, PlainScorer()) == []


def test_references_are_removed_in_their_own_place() -> None:
    metric = FakeMetric(lambda segment: float(len(segment.references[1].split())))
    explained = explain_segments(
        [Segment(None, ("a b", "c d e"), "x y")], metric, ExplainOptions(), PlainScorer(), columns=[(1, 4)]
    )
    (found,) = faithfulness(explained, metric, PlainScorer())
    assert [(item.side, item.top) for item in found.sides] == [("hypothesis", 0), ("reference:1", 0), ("reference:4", 1)]

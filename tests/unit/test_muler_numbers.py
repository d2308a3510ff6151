"""From statistics to MuLER, its interval and the tables: small numbers worked out by hand, and the authors' stored ones."""

import json
from pathlib import Path

import numpy as np
import pytest
from fake_metrics import Length, Ratio

from engine.corpus.types import Segment
from engine.errors import InputError
from engine.metrics.registry import make_metric
from engine.muler.corpus_texts import Counts
from engine.muler.features import Feature
from engine.muler.reduce import Resamples, muler, value_of
from engine.muler.results import COLUMNS, Breakdown, FeatureScore
from engine.stats.resampling import bootstrap_weights, interval

NOUN, VERB = Feature("pos", "NOUN"), Feature("pos", "VERB")


def test_muler_is_the_share_of_the_reach_that_is_missed() -> None:
    assert muler(30, 40, 20) == 0.5
    assert muler(40, 40, 20) == 0 and muler(20, 40, 20) == 1
    assert muler(45, 40, 20) == -0.25
    assert muler(60, 40, 80) == 0.5, "an error rate: the oracle is the smaller"
    assert np.isnan(muler(30, 40, 40)) and np.isnan(muler(30, 40, 40 + 1e-12)) and np.isnan(muler(np.nan, 40, 20))
    np.testing.assert_array_equal(muler([30, 40], [40, 40], [20, 40]), [0.5, np.nan])


def test_the_formula_gives_the_stored_values_of_the_authors(data: Path) -> None:
    """Each stored file keeps one raw score, that of its last feature; for that feature all is there."""
    files = json.loads((data / "gold" / "muler_wmt20_de-en_results.json").read_text(encoding="utf-8"))
    checked = 0
    for content in files.values():
        item = content[0]
        name, stored = list(item["bleu"].items())[-1]
        ours = muler(item["bleu_indices"], item["max_bleu"][name], item["min_bleu"][name])
        assert ours == pytest.approx(stored, abs=1e-12)
        checked += 1
    assert checked == 44


@pytest.mark.parametrize("name", ["bleu", "chrf", "rouge-l", "ter"])
@pytest.mark.parametrize("mode", ["corpus", "paper"])
def test_intervals_come_from_sums_and_equal_rescoring(name: str, mode: str) -> None:
    rng = np.random.default_rng(3)
    words = [[" ".join(rng.choice(list("abcdef"), 6)) for _ in range(40)] for _ in range(2)]
    metric = make_metric(name)
    variants = [
        [Segment(None, (r,), h) for r, h in zip(*words)],
        [Segment(None, (r,), r) for r in words[0]],
        [Segment(None, ("x " + r,), "y " + h) for r, h in zip(*words)],
    ]
    rows = np.arange(5, 45)
    statistics = [metric.statistics(variant) for variant in variants]
    value = value_of(metric, mode, statistics, rows, 10, Resamples(50, 30, seed=7))
    weights = bootstrap_weights(50, 30, np.random.default_rng(7))[:, rows].astype(int)
    for resample, found in zip(weights, value.resampled):
        drawn = [np.repeat(table, resample, axis=0) for table in statistics]
        if mode == "corpus":
            score, oracle, anti = (metric.corpus_score(table) for table in drawn)
        else:
            score, oracle, anti = (metric.segment_scores(table).mean() for table in drawn)
        assert found == pytest.approx((oracle - score) / (oracle - anti), rel=1e-9)
    sign = 1 if metric.spec.higher_is_better else -1
    assert value.abl_muler == pytest.approx(sign * (value.oracle - value.score))
    assert interval(value.resampled)[0] <= value.muler <= interval(value.resampled)[1]


def test_any_metric_can_be_resampled() -> None:
    metric, rng = Ratio(), np.random.default_rng(0)
    statistics = [rng.uniform(1, 2, (30, 2)) for _ in range(3)]
    value = value_of(metric, "corpus", statistics, np.arange(30), 10, Resamples(30, 5, 1))
    weights = bootstrap_weights(30, 5, np.random.default_rng(1))
    expected = muler(*(metric.corpus_score(table, weights) for table in statistics))
    np.testing.assert_allclose(value.resampled, expected)


def test_undefined_sentences_do_not_count() -> None:
    metric = Length()
    raw = np.array([[3.0], [np.nan], [5.0]])
    oracle, anti = raw + 1, raw - 1
    value = value_of(metric, "corpus", [raw, oracle, anti], np.array([0, 4, 9]), 2, Resamples(10, 0, 0))
    assert (value.n, value.score, value.muler) == (2, 4.0, 0.5)
    none = value_of(metric, "corpus", [raw, oracle, anti], np.array([0, 4, 9]), 3, Resamples(10, 0, 0))
    assert none.n == 2 and np.isnan(none.muler) and not len(none.resampled)


def test_add_hit_and_miss_are_counted_by_hand() -> None:
    """Per segment: masks in the output; masks in the reference with fewest and in the one with most."""
    counts = Counts(
        output=np.array([2, 1, 0, 0, 2, 3, 1, 5]),
        fewest=np.array([1, 1, 1, 0, 1, 1, 2, 1]),
        most=np.array([1, 1, 1, 0, 3, 2, 2, 1]),
        usable=np.array([1, 1, 1, 1, 1, 1, 1, 0], bool),
    )
    assert counts.add.nonzero()[0].tolist() == [0, 5]
    assert counts.hit.nonzero()[0].tolist() == [1, 4], "between two references is a hit"
    assert counts.miss.nonzero()[0].tolist() == [2, 6]
    assert counts.both.nonzero()[0].tolist() == [0, 1, 4, 5, 6]
    assert counts.either.nonzero()[0].tolist() == [0, 1, 2, 4, 5, 6]


def score(system: str, feature: Feature, value: float, reason: str | None = None, metric: str = "bleu") -> FeatureScore:
    return FeatureScore(
        system, metric, feature, 20, 30.0, 40.0, 20.0, value, value - 0.1, value + 0.1, 10.0, 1, 2, 3, 4, 5, reason
    )


def breakdown(**changes) -> Breakdown:
    rows = [score(system, NOUN, value) for system, value in (("A", 0.2), ("B", 0.5), ("C", 0.4))]
    rows += [score("A", VERB, 0.3), score("B", VERB, float("nan"), "too few"), score("C", VERB, 0.6)]
    overall = {("bleu", "A"): 30.0, ("bleu", "B"): 20.0, ("bleu", "C"): 22.0}
    resampled = {("bleu", name, NOUN): np.array(values) for name, values in (("A", [0.1, 0.2, 0.3]), ("B", [0.5, 0.5, 0.6]))}
    return Breakdown(tuple(rows), overall, {"bleu": True} | changes, resampled)


def test_frames() -> None:
    result = breakdown()
    frame = result.to_frame()
    assert tuple(frame.columns) == COLUMNS
    assert frame.iloc[0][["system", "family", "feature", "n", "add", "hit", "miss"]].tolist() == ["A", "pos", "NOUN", 20, 1, 2, 3]
    matrix = result.matrix("bleu")
    assert matrix.index.tolist() == ["pos:NOUN", "pos:VERB"] and matrix.columns.tolist() == ["A", "B", "C"]
    assert matrix.loc["pos:NOUN"].tolist() == [0.2, 0.5, 0.4]


def test_differences_are_paired() -> None:
    frame = breakdown().differences("A", "B")
    noun = frame[frame.feature == "NOUN"].iloc[0]
    assert noun.delta == pytest.approx(-0.3)
    assert (noun.low, noun.high) == pytest.approx(interval(np.array([-0.4, -0.3, -0.3])))
    verb = frame[frame.feature == "VERB"].iloc[0]
    assert np.isnan(verb.delta) and verb.reason == "B: too few"
    with pytest.raises(InputError, match="'Z' is not in this breakdown; it has A, B, C"):
        breakdown().differences("A", "Z")


def test_correlation_of_minus_muler_with_the_metric() -> None:
    frame = breakdown().correlations("spearman")
    assert frame[frame.feature == "NOUN"].correlation.item() == pytest.approx(1.0)
    assert frame[frame.feature == "NOUN"].n.item() == 3
    turned = breakdown(bleu=False).correlations("spearman")
    assert turned[turned.feature == "NOUN"].correlation.item() == pytest.approx(-1.0)
    assert frame[frame.feature == "VERB"].n.item() == 2

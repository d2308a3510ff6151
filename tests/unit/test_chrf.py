"""chrF and chrF++ against sacreBLEU and scores that were stored elsewhere."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from lexical_texts import lines, segments, several_references, wmt19
from sacrebleu.metrics import CHRF as SacreCHRF

from engine.corpus.types import Segment
from engine.metrics.registry import make_metric


def judged(judge: SacreCHRF, cases: list[Segment]) -> np.ndarray:
    return np.array([judge.sentence_score(case.hypothesis, case.references).score for case in cases])


def corpus_judged(judge: SacreCHRF, cases: list[Segment]) -> float:
    most = max(len(case.references) for case in cases)
    columns = [[case.references[k] if k < len(case.references) else None for case in cases] for k in range(most)]
    return judge.corpus_score([case.hypothesis for case in cases], columns).score


VARIANTS = {
    "chrf": {},
    "chrf++": {"word_order": 2},
    "chrf++:lowercase=true": {"word_order": 2, "lowercase": True},
    "chrf:whitespace=true": {"whitespace": True},
    "chrf:eps_smoothing=true": {"eps_smoothing": True},
    "chrf++:eps_smoothing=true,beta=1": {"word_order": 2, "eps_smoothing": True, "beta": 1},
    "chrf:beta=3,char_order=4": {"beta": 3, "char_order": 4},
    "chrf:word_order=1": {"word_order": 1},
    "chrf:beta=0": {"beta": 0},
}


@pytest.mark.parametrize("name", VARIANTS)
def test_real_text_equals_sacrebleu(data: Path, name: str) -> None:
    cases = several_references(data)
    metric, judge = make_metric(name), SacreCHRF(**VARIANTS[name])
    statistics = metric.statistics(cases)
    np.testing.assert_allclose(metric.segment_scores(statistics), judged(judge, cases), rtol=0, atol=1e-9)
    assert metric.corpus_score(statistics) == pytest.approx(corpus_judged(judge, cases), abs=1e-9)


@pytest.mark.parametrize("name", VARIANTS)
@given(cases=segments())
@settings(max_examples=40, deadline=None)
def test_any_text_equals_sacrebleu(name: str, cases: list[Segment]) -> None:
    metric, judge = make_metric(name), SacreCHRF(**VARIANTS[name])
    statistics = metric.statistics(cases)
    np.testing.assert_allclose(metric.segment_scores(statistics), judged(judge, cases), rtol=0, atol=1e-9)
    assert metric.corpus_score(statistics) == pytest.approx(corpus_judged(judge, cases), abs=1e-9)


@pytest.mark.parametrize("word_order", [0, 2])
def test_statistics_have_the_layout_of_sacrebleu(data: Path, word_order: int) -> None:
    cases = several_references(data)
    columns = [[case.references[k] if k < len(case.references) else None for case in cases] for k in range(3)]
    judge = SacreCHRF(word_order=word_order)
    expected = judge._extract_corpus_statistics([case.hypothesis for case in cases], columns)
    np.testing.assert_array_equal(make_metric(f"chrf:word_order={word_order}").statistics(cases), expected)


def test_known_scores_of_wmt21(data: Path) -> None:
    folder = data / "mt" / "wmt21_flores"
    references = lines(folder / "references" / "xh-zu.ref-A.txt")
    rows = [line.split("\t") for line in lines(folder / "metric-scores" / "xh-zu" / "chrF-ref-A.seg.score")]
    metric = make_metric("chrf", ("xh", "zu"))
    for system in ("HuaweiTSC", "Online-G"):
        stored = [100 * float(row[1]) for row in rows if row[0] == system]
        outputs = lines(folder / "system-outputs" / "xh-zu" / f"{system}.txt")
        scores = metric.segment_scores(metric.statistics([Segment(None, (r,), h) for r, h in zip(references, outputs)]))
        np.testing.assert_allclose(scores, stored, atol=1e-9)


def test_extreme_texts() -> None:
    long = "word, " * 16_667
    cases = [
        Segment(None, ("",), ""),
        Segment(None, ("a b c d",), ""),
        Segment(None, ("",), "a b c d"),
        Segment(None, ("\x00 a \x00 b",), "\x00 a b"),
        Segment(None, ("\ud800 x",), "\ud800"),
        Segment(None, (long,), long + "x"),
        Segment(None, ("a" * 100_000, ""), "a" * 99_000 + "b"),
    ]
    for name, word_order in (("chrf", 0), ("chrf++", 2)):
        metric = make_metric(name)
        expected = judged(SacreCHRF(word_order=word_order), cases)
        np.testing.assert_allclose(metric.segment_scores(metric.statistics(cases)), expected, atol=1e-9)


def test_weights_repeat_segments(data: Path) -> None:
    cases = wmt19(data, "online-X.0", 20)
    metric = make_metric("chrf++")
    statistics = metric.statistics(cases)
    weights = np.random.default_rng(0).integers(0, 3, (3, len(cases))).astype(float)
    for row, score in zip(weights, metric.corpus_score(statistics, weights)):
        repeated = [case for case, count in zip(cases, row) for _ in range(int(count))]
        assert score == pytest.approx(corpus_judged(SacreCHRF(word_order=2), repeated), abs=1e-9)


def test_undefined_rows_do_not_count() -> None:
    metric = make_metric("chrf")
    statistics = metric.statistics([Segment(None, ("a b c d e",), "a b c d x"), Segment(None, ("u v",), "w")])
    statistics = np.insert(statistics, 1, np.nan, axis=0)
    assert np.isnan(metric.segment_scores(statistics)).tolist() == [False, True, False]
    assert metric.corpus_score(statistics) == metric.corpus_score(statistics[[0, 2]])
    assert np.isnan(metric.corpus_score(statistics[1:2]))
    assert metric.statistics([]).shape == (0, 18)


def test_specification() -> None:
    assert make_metric("chrf").spec.signature.startswith("chrF2|case:mixed|eff:yes|nc:6|nw:0|space:no|version:")
    assert make_metric("chrf++").spec.signature.startswith("chrF2++|case:mixed|eff:yes|nc:6|nw:2|space:no|version:")
    assert make_metric("chrf++").spec.name == "chrF++"
    assert make_metric("chrf:beta=3").spec.key != make_metric("chrf").spec.key, "beta decides which reference counts"

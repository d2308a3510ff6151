"""TER against sacreBLEU, stored scores, and long texts."""

import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lexical_texts import lines, segments, several_references, wmt19
from sacrebleu.metrics import TER as SacreTER
from sacrebleu.metrics.lib_ter import translation_edit_rate

from engine.corpus.types import Segment
from engine.metrics.kernels.edits import translation_edits
from engine.metrics.lexical import token_ids
from engine.metrics.registry import make_metric


def judged(judge: SacreTER, cases: list[Segment]) -> np.ndarray:
    return np.array([judge.sentence_score(case.hypothesis, case.references).score for case in cases])


def corpus_judged(judge: SacreTER, cases: list[Segment]) -> float:
    most = max(len(case.references) for case in cases)
    columns = [[case.references[k] if k < len(case.references) else None for case in cases] for k in range(most)]
    return judge.corpus_score([case.hypothesis for case in cases], columns).score


VARIANTS = {
    "ter": {},
    "ter:case_sensitive=true": {"case_sensitive": True},
    "ter:no_punct=true": {"no_punct": True},
    "ter:normalized=true": {"normalized": True},
    "ter:normalized=true,asian_support=true": {"normalized": True, "asian_support": True},
    "ter:normalized=true,no_punct=true,asian_support=true,case_sensitive=true": {
        "normalized": True, "no_punct": True, "asian_support": True, "case_sensitive": True,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", VARIANTS)
def test_real_text_equals_sacrebleu(data: Path, name: str) -> None:
    cases = several_references(data, 30)
    metric, judge = make_metric(name), SacreTER(**VARIANTS[name])
    statistics = metric.statistics(cases)
    np.testing.assert_allclose(metric.segment_scores(statistics), judged(judge, cases), rtol=0, atol=1e-9)
    assert metric.corpus_score(statistics) == pytest.approx(corpus_judged(judge, cases), abs=1e-9)


@pytest.mark.parametrize("name", VARIANTS)
@given(cases=segments())
@settings(max_examples=25, deadline=None)
def test_any_text_equals_sacrebleu(name: str, cases: list[Segment]) -> None:
    metric, judge = make_metric(name), SacreTER(**VARIANTS[name])
    statistics = metric.statistics(cases)
    np.testing.assert_allclose(metric.segment_scores(statistics), judged(judge, cases), rtol=0, atol=1e-9)
    assert metric.corpus_score(statistics) == pytest.approx(corpus_judged(judge, cases), abs=1e-9)


def test_references_are_normalized_twice_as_in_sacrebleu() -> None:
    """sacreBLEU tokenizes references twice; hypotheses, and texts without `normalized` or `no_punct`, are not affected."""
    texts = ("a..5 and", "..5", "the cat's.", "it's, 5", "a b")
    cases = [Segment(None, (text, "x"), text) for text in texts]
    for name in VARIANTS:
        metric, judge = make_metric(name), SacreTER(**VARIANTS[name])
        np.testing.assert_allclose(metric.segment_scores(metric.statistics(cases)), judged(judge, cases), atol=1e-9)
    metric = make_metric("ter:normalized=true")
    assert metric.segment_scores(metric.statistics(cases)).any(), "a text differs from itself where the rules find more to do"


@st.composite
def rearranged(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """A text and the same text with blocks moved, words dropped, put in and changed; up to about 80 words."""
    words = st.integers(0, draw(st.sampled_from([1, 3, 8, 40])))
    reference = draw(st.lists(words, max_size=60))
    hypothesis = list(reference)
    for _ in range(draw(st.integers(0, 5))):
        start, length = draw(st.integers(0, len(hypothesis))), draw(st.integers(1, 14))
        block, hypothesis[start : start + length] = hypothesis[start : start + length], []
        kind = draw(st.sampled_from(["move", "move", "move", "drop", "change"]))
        if kind == "move":
            target = draw(st.integers(0, len(hypothesis)))
            hypothesis[target:target] = block
        elif kind == "change":
            hypothesis[start:start] = draw(st.lists(words, max_size=12))
    return hypothesis, reference


@given(case=rearranged())
@example(case=([3], list(range(200))))
@example(case=(list(range(120)), [5]))
@example(case=(list(range(60)) + list(range(60, 90)) * 2, list(range(60, 90)) + list(range(60))))
@example(case=([k % 2 for k in range(70)], [k % 3 for k in range(75)]))
@settings(max_examples=60, deadline=None)
def test_search_for_shifts_equals_sacrebleu(case: tuple[list[int], list[int]]) -> None:
    hypothesis, reference = ([str(word) for word in words] for words in case)
    left, right = token_ids([hypothesis, reference]).split(1)
    first = np.zeros(1, np.int64)
    edits = translation_edits(left.ids, left.offsets, right.ids, right.offsets, first, first)
    assert edits[0] == translation_edit_rate(hypothesis, reference)[0]


def test_statistics_have_the_layout_of_sacrebleu(data: Path) -> None:
    cases = several_references(data, 20)
    columns = [[case.references[k] if k < len(case.references) else None for case in cases] for k in range(3)]
    expected = SacreTER()._extract_corpus_statistics([case.hypothesis for case in cases], columns)
    np.testing.assert_array_equal(make_metric("ter").statistics(cases), expected)


def test_known_scores_of_wmt21(data: Path) -> None:
    folder = data / "mt" / "wmt21_flores"
    for pair in ("xh-zu", "zu-xh"):
        references = lines(folder / "references" / f"{pair}.ref-A.txt")
        rows = [line.split("\t") for line in lines(folder / "metric-scores" / pair / "TER-ref-A.seg.score") if line]
        metric = make_metric("ter")
        for system in {row[0] for row in rows}:
            stored = [-100 * float(row[1]) for row in rows if row[0] == system]
            outputs = lines(folder / "system-outputs" / pair / f"{system}.txt")
            scores = metric.segment_scores(metric.statistics([Segment(None, (r,), h) for r, h in zip(references, outputs)]))
            np.testing.assert_allclose(scores, stored, atol=1e-9)


def test_close_to_tercom(data: Path) -> None:
    """MultEval runs Tercom itself, whose beam and shift limits sacreBLEU follows only nearly."""
    folder = data / "gold" / "multeval"
    outputs = lines(folder / "example" / "hyps.lc.tok.en.baseline.opt0")
    references = lines(folder / "example" / "refs.test2010.lc.tok.en.0")
    metric = make_metric("ter")
    score = metric.corpus_score(metric.statistics([Segment(None, (r,), h) for r, h in zip(references, outputs)]))
    assert score == pytest.approx(100 * float((folder / "hyps.baseline.opt0.ter.gold").read_text()), abs=0.005)


def test_extreme_texts() -> None:
    cases = [
        Segment(None, ("",), ""),
        Segment(None, ("a b c d",), ""),
        Segment(None, ("",), "a b c d"),
        Segment(None, ("", "a b"), "a b"),
        Segment(None, ("\x00 a \x00 b",), "\x00 a b"),
        Segment(None, ("\ud800 x",), "\ud800"),
        Segment(None, ("a" * 100_000,), "b" * 100_000),
        Segment(None, ("A\u00a0b\u2028c",), "a b c"),
    ]
    metric = make_metric("ter")
    np.testing.assert_allclose(metric.segment_scores(metric.statistics(cases)), judged(SacreTER(), cases), atol=1e-9)


def test_long_texts_are_searched_in_full() -> None:
    metric = make_metric("ter")
    metric.statistics([Segment(None, ("a b",), "b a")])
    words = [f"w{k}" for k in range(18_000)]
    swapped = words[:]
    for k in range(0, 8_000, 40):
        swapped[k], swapped[k + 1] = swapped[k + 1], swapped[k]
    letters = "ab " * 50_000
    started = time.perf_counter()
    cases = [Segment(None, (" ".join(words),), " ".join(swapped)), Segment(None, (letters + "x",), "x " + letters)]
    statistics = metric.statistics(cases)
    assert time.perf_counter() - started < 20
    assert 200 <= statistics[0, 0] <= 400, "a shift for each swap as long as candidates last, two substitutions after that"
    assert statistics[1].tolist() == [2.0, 50_001.0]


def test_weights_repeat_segments(data: Path) -> None:
    cases = wmt19(data, "online-X.0", 10)
    metric = make_metric("ter")
    statistics = metric.statistics(cases)
    weights = np.random.default_rng(0).integers(0, 3, (2, len(cases))).astype(float)
    for row, score in zip(weights, metric.corpus_score(statistics, weights)):
        repeated = [case for case, count in zip(cases, row) for _ in range(int(count))]
        assert score == pytest.approx(corpus_judged(SacreTER(), repeated), abs=1e-9)


def test_undefined_rows_do_not_count() -> None:
    metric = make_metric("ter")
    statistics = metric.statistics([Segment(None, ("a b c d e",), "a b c d x"), Segment(None, ("u v",), "w")])
    statistics = np.insert(statistics, 1, np.nan, axis=0)
    assert np.isnan(metric.segment_scores(statistics)).tolist() == [False, True, False]
    assert metric.corpus_score(statistics) == metric.corpus_score(statistics[[0, 2]])
    assert np.isnan(metric.corpus_score(statistics[1:2]))
    assert metric.statistics([]).shape == (0, 2)


def test_specification() -> None:
    plain = make_metric("ter", ("de", "en")).spec
    assert plain.signature.startswith("TER|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:")
    assert not plain.higher_is_better


def test_chinese_and_japanese_are_cut_into_words() -> None:
    cases = [Segment(None, ("今天天气很好，我们去公园。",), "今天的天气好，我们公园去。")]
    for target in ("zh", "ja"):
        metric = make_metric("ter", ("en", target))
        assert "norm:yes|punct:yes|asian:yes" in metric.spec.signature
        expected = judged(SacreTER(normalized=True, asian_support=True), cases)
        np.testing.assert_allclose(metric.segment_scores(metric.statistics(cases)), expected, atol=1e-9)
    metric = make_metric("ter:normalized=false,asian_support=false", ("en", "zh"))
    np.testing.assert_allclose(metric.segment_scores(metric.statistics(cases)), judged(SacreTER(), cases), atol=1e-9)

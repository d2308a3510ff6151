"""ROUGE against rouge-score, and words of scripts that rouge-score drops."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lexical_texts import segments, several_references
from rouge_score.rouge_scorer import RougeScorer

from engine.corpus.types import Segment
from engine.metrics.kernels.subsequence import common_subsequences
from engine.metrics.lexical import token_ids
from engine.metrics.registry import make_metric

KINDS = {"rouge-1": "rouge1", "rouge-2": "rouge2", "rouge-l": "rougeL"}
VALUES = {"f1": "fmeasure", "precision": "precision", "recall": "recall"}


def assert_equals_rouge_score(cases: list[Segment], stemmer: bool) -> None:
    judge = RougeScorer(list(KINDS.values()), use_stemmer=stemmer)
    expected = [judge.score_multi(list(case.references), case.hypothesis) for case in cases]
    for name, kind in KINDS.items():
        for value, attribute in VALUES.items():
            metric = make_metric(f"{name}:value={value},use_stemmer={stemmer}")
            statistics = metric.statistics(cases)
            scores = [getattr(row[kind], attribute) for row in expected]
            np.testing.assert_allclose(metric.segment_scores(statistics), scores, rtol=0, atol=1e-12)
            assert metric.corpus_score(statistics) == pytest.approx(np.mean(scores), abs=1e-12)


@pytest.mark.parametrize("stemmer", [False, True])
def test_real_text_equals_rouge_score(data: Path, stemmer: bool) -> None:
    assert_equals_rouge_score(several_references(data), stemmer)


@pytest.mark.parametrize("stemmer", [False, True])
@given(cases=segments())
@settings(max_examples=60, deadline=None)
def test_any_text_equals_rouge_score(stemmer: bool, cases: list[Segment]) -> None:
    assert_equals_rouge_score(cases, stemmer)


tokens = st.lists(st.integers(0, 6).map(str), max_size=200)


@given(hypothesis=tokens, reference=tokens)
@settings(max_examples=150, deadline=None)
def test_kernel_equals_the_table(hypothesis: list[str], reference: list[str]) -> None:
    left, right = token_ids([hypothesis, reference]).split(1)
    first = np.zeros(1, np.int64)
    row = [0] * (len(reference) + 1)
    for word in hypothesis:
        above = row
        row = [0] * len(row)
        for k, other in enumerate(reference):
            row[k + 1] = above[k] + 1 if word == other else max(above[k + 1], row[k])
    assert common_subsequences(left.ids, left.offsets, right.ids, right.offsets, first, first)[0] == row[-1]


def test_rouge_l_of_nlg_eval_differs_by_definition() -> None:
    """nlg-eval takes precision and recall each at its maximum over the references and weighs recall with 1.2."""
    case = [Segment(None, ("this is a test", "this is also a test"), "this is a good test")]
    best = {}
    for value in VALUES:
        metric = make_metric(f"rouge-l:value={value}")
        best[value] = metric.segment_scores(metric.statistics(case))[0]
    assert best == pytest.approx({"precision": 0.8, "recall": 1.0, "f1": 8 / 9})
    weighted = (1 + 1.2**2) * best["precision"] * best["recall"] / (best["recall"] + 1.2**2 * best["precision"])
    assert weighted == pytest.approx(0.907063, abs=1e-6)


def test_extreme_texts() -> None:
    cases = [
        Segment(None, ("",), ""),
        Segment(None, ("a b c d",), ""),
        Segment(None, ("",), "a b c d"),
        Segment(None, ("\x00 a \x00 b",), "\x00 a b"),
        Segment(None, ("\ud800 x",), "\ud800"),
        Segment(None, ("...",), "..."),
    ]
    assert_equals_rouge_score(cases, False)
    words = [f"w{k % 977}" for k in range(20_000)]
    long = [Segment(None, (" ".join(words),), " ".join(words[10:])), Segment(None, ("ab " * 33_333,), "ba " * 33_333)]
    metric = make_metric("rouge-l")
    np.testing.assert_array_equal(metric.statistics(long), [[19_990, 19_990, 20_000], [0, 33_333, 33_333]])


def test_target_languages_in_other_scripts_keep_their_words() -> None:
    cases = [Segment(None, ("Кошка сидит на коврике.",), "Кошка лежит на коврике")]
    assert make_metric("rouge-1", ("en", "ru")).spec.signature.startswith("ROUGE-1|value:f1|corpus:mean|tok:unicode|stem:no|")
    for languages, name, expected in (
        (("en", "ru"), "rouge-1", 0.75),
        (("en", "ru"), "rouge-l", 0.75),
        (("en", "ru"), "rouge-1:tokenizer=rouge", 0.0),
        ((None, None), "rouge-1", 0.0),
    ):
        metric = make_metric(name, languages)
        assert metric.segment_scores(metric.statistics(cases)) == pytest.approx([expected])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't, wörld 12.5", ["don", "t", "wörld", "12", "5"]),
        ("今日は良い", ["今", "日", "は", "良", "い"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("العَرَبِيَّة جميلة", ["العَرَبِيَّة", "جميلة"]),
        ("ภาษา GPT4", ["ภ", "า", "ษ", "า", "gpt4"]),
        ("한국어 문장", ["한국어", "문장"]),
    ],
)
def test_words_of_every_script(text: str, words: list[str]) -> None:
    metric = make_metric("rouge-1:tokenizer=unicode")
    statistics = metric.statistics([Segment(None, (" ".join(words),), text)])
    assert statistics.tolist() == [[len(words)] * 3]


def test_weights_and_undefined_rows() -> None:
    metric = make_metric("rouge-l")
    statistics = metric.statistics([Segment(None, ("a b c d",), "a b c d"), Segment(None, ("u v",), "w")])
    statistics = np.insert(statistics, 1, np.nan, axis=0)
    assert np.isnan(metric.segment_scores(statistics)).tolist() == [False, True, False]
    assert metric.corpus_score(statistics) == 0.5
    scores = metric.corpus_score(statistics, np.array([[3.0, 1, 1], [0, 1, 0]]))
    assert scores[0] == 0.75 and np.isnan(scores[1])
    assert metric.statistics([]).shape == (0, 3)


def test_specification() -> None:
    plain, recall = make_metric("rouge-2"), make_metric("rouge-2:value=recall")
    assert recall.spec.id == "rouge-2:value=recall" and recall.spec.name == "ROUGE-2 recall"
    assert plain.spec.signature != recall.spec.signature and "version:0.1.2" in plain.spec.signature
    assert plain.spec.key == recall.spec.key, "the statistics hold all three values"
    assert plain.spec.key != make_metric("rouge-1").spec.key
    assert "refs:best-f1" in plain.spec.signature, "which of several references counts is stated"

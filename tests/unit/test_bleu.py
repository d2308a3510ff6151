"""BLEU against sacreBLEU, published numbers, and a slow count of n-grams."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lexical_texts import hazardous_texts, lines, segments, several_references, wmt19
from sacrebleu.metrics import BLEU as SacreBLEU

from engine.corpus.types import Segment
from engine.errors import InputError
from engine.metrics.kernels.ngrams import clipped_matches
from engine.metrics.lexical import token_ids
from engine.metrics.registry import make_metric
from engine.metrics.tokenizers import default_tokenizer, tokenizer


def judged(judge: SacreBLEU, cases: list[Segment]) -> np.ndarray:
    return np.array([judge.sentence_score(case.hypothesis, case.references).score for case in cases])


def corpus_judged(judge: SacreBLEU, cases: list[Segment]) -> float:
    most = max(len(case.references) for case in cases)
    columns = [[case.references[k] if k < len(case.references) else None for case in cases] for k in range(most)]
    return judge.corpus_score([case.hypothesis for case in cases], columns).score


VARIANTS = {
    "bleu": {},
    "bleu:lowercase=true": {"lowercase": True},
    "bleu:tokenize=intl": {"tokenize": "intl"},
    "bleu:tokenize=none": {"tokenize": "none"},
    "bleu:tokenize=char": {"tokenize": "char"},
    "bleu:tokenize=zh,lowercase=true": {"tokenize": "zh", "lowercase": True},
    "bleu:smooth_method=floor": {"smooth_method": "floor"},
    "bleu:smooth_method=floor,smooth_value=0.5": {"smooth_method": "floor", "smooth_value": 0.5},
    "bleu:smooth_method=add-k": {"smooth_method": "add-k"},
    "bleu:smooth_method=none": {"smooth_method": "none"},
    "bleu:max_ngram_order=2": {"max_ngram_order": 2},
    "bleu:max_ngram_order=7": {"max_ngram_order": 7},
}


@pytest.mark.parametrize("name", VARIANTS)
def test_real_text_equals_sacrebleu(data: Path, name: str) -> None:
    cases = several_references(data)
    metric = make_metric(name)
    statistics = metric.statistics(cases)
    expected = judged(SacreBLEU(effective_order=True, **VARIANTS[name]), cases)
    np.testing.assert_allclose(metric.segment_scores(statistics), expected, rtol=0, atol=1e-9)
    corpus = corpus_judged(SacreBLEU(**VARIANTS[name]), cases)
    assert metric.corpus_score(statistics) == pytest.approx(corpus, abs=1e-9)


@pytest.mark.parametrize("name", VARIANTS)
@given(cases=segments())
@settings(max_examples=40, deadline=None)
def test_any_text_equals_sacrebleu(name: str, cases: list[Segment]) -> None:
    metric = make_metric(name)
    statistics = metric.statistics(cases)
    expected = judged(SacreBLEU(effective_order=True, **VARIANTS[name]), cases)
    np.testing.assert_allclose(metric.segment_scores(statistics), expected, rtol=0, atol=1e-9)
    assert metric.corpus_score(statistics) == pytest.approx(corpus_judged(SacreBLEU(**VARIANTS[name]), cases), abs=1e-9)


@given(text=hazardous_texts)
@settings(max_examples=400, deadline=None)
def test_words_can_be_tokenized_one_by_one(text: str) -> None:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    tokens = tokenizer("13a")
    by_word = [token for word in tokens.words(text) for token in tokens.pieces(word)]
    assert by_word == Tokenizer13a()(text).split()


def test_statistics_have_the_layout_of_sacrebleu(data: Path) -> None:
    cases = wmt19(data, "online-G.0", 50)
    judge = SacreBLEU()
    expected = judge._extract_corpus_statistics([case.hypothesis for case in cases], [[case.references[0] for case in cases]])
    np.testing.assert_array_equal(make_metric("bleu").statistics(cases), expected)


def test_without_effective_order_short_segments_score_zero() -> None:
    case = [Segment(None, ("a b",), "a b")]
    for value in (True, False):
        metric = make_metric(f"bleu:effective_order={value}")
        assert metric.segment_scores(metric.statistics(case)) == pytest.approx([100.0 if value else 0.0])


def test_known_scores_of_wmt19(data: Path) -> None:
    known = json.loads((data / "gold" / "expected_numbers_computed.json").read_text(encoding="utf-8"))["wmt19 de-en sacreBLEU"]
    assert known["Facebook_FAIR.6750"] == 40.75 and known["online-G.0"] == 34.34
    metric = make_metric("bleu", ("de", "en"))
    for system, score in known.items():
        assert round(metric.corpus_score(metric.statistics(wmt19(data, system))), 2) == score


def test_known_score_of_multeval(data: Path) -> None:
    folder = data / "gold" / "multeval"
    outputs = lines(folder / "example" / "hyps.lc.tok.en.baseline.opt0")
    references = lines(folder / "example" / "refs.test2010.lc.tok.en.0")
    metric = make_metric("bleu:tokenize=none")
    score = metric.corpus_score(metric.statistics([Segment(None, (r,), h) for r, h in zip(references, outputs)]))
    assert round(score, 2) == float((folder / "hyps.baseline.opt0.bleu.gold").read_text())


def test_known_scores_of_wmt21(data: Path) -> None:
    folder = data / "mt" / "wmt21_flores"
    references = lines(folder / "references" / "zu-xh.ref-A.txt")
    rows = [line.split("\t") for line in lines(folder / "metric-scores" / "zu-xh" / "sentBLEU-ref-A.seg.score")]
    stored = [float(row[1]) for row in rows if row[0] == "Online-G"]
    outputs = lines(folder / "system-outputs" / "zu-xh" / "Online-G.txt")
    metric = make_metric("bleu", ("zu", "xh"))
    scores = metric.segment_scores(metric.statistics([Segment(None, (r,), h) for r, h in zip(references, outputs)]))
    np.testing.assert_allclose(scores, stored, atol=1e-9)


def test_known_scores_of_nlg_eval() -> None:
    case = [Segment(None, ("this is a test", "this is also a test"), "this is a good test")]
    for order, expected in ((1, 0.799999), (2, 0.632455)):
        metric = make_metric(f"bleu:max_ngram_order={order}")
        assert metric.segment_scores(metric.statistics(case)) == pytest.approx([100 * expected], abs=2e-4)


def test_extreme_texts() -> None:
    long = "word. " * 16_667
    cases = [
        Segment(None, ("",), ""),
        Segment(None, ("a b c d",), ""),
        Segment(None, ("",), "a b c d"),
        Segment(None, ("\x00 a \x00 b",), "\x00 a \x00 b"),
        Segment(None, ("\ud800",), "\ud800"),
        Segment(None, (long,), long),
        Segment(None, ("a" * 100_000,), "a" * 100_000 + " b"),
    ]
    metric = make_metric("bleu")
    scores = metric.segment_scores(metric.statistics(cases))
    np.testing.assert_allclose(scores, judged(SacreBLEU(effective_order=True), cases), atol=1e-9)


def test_no_segments() -> None:
    metric = make_metric("bleu")
    statistics = metric.statistics([])
    assert statistics.shape == (0, 10)
    assert metric.segment_scores(statistics).shape == (0,)
    assert np.isnan(metric.corpus_score(statistics))


def test_weights_repeat_segments(data: Path) -> None:
    cases = wmt19(data, "online-X.0", 40)
    metric = make_metric("bleu")
    statistics = metric.statistics(cases)
    weights = np.random.default_rng(0).integers(0, 3, (5, len(cases))).astype(float)
    scores = metric.corpus_score(statistics, weights)
    for row, score in zip(weights, scores):
        repeated = [case for case, count in zip(cases, row) for _ in range(int(count))]
        assert score == pytest.approx(corpus_judged(SacreBLEU(), repeated), abs=1e-9)
        assert metric.corpus_score(statistics, row) == pytest.approx(score, abs=1e-12)


def test_undefined_rows_do_not_count() -> None:
    metric = make_metric("bleu")
    statistics = metric.statistics([Segment(None, ("a b c d e",), "a b c d x"), Segment(None, ("u v",), "w")])
    statistics = np.insert(statistics, 1, np.nan, axis=0)
    assert np.isnan(metric.segment_scores(statistics)).tolist() == [False, True, False]
    assert metric.corpus_score(statistics) == metric.corpus_score(statistics[[0, 2]])
    assert np.isnan(metric.corpus_score(statistics[1:2]))
    assert np.isnan(metric.corpus_score(statistics, np.array([[1.0, 1, 1], [0, 5, 0]]))).tolist() == [False, True]


def test_order_and_repetition_of_segments_do_not_matter(data: Path) -> None:
    cases = several_references(data, 20)
    metric = make_metric("bleu")
    shuffled = np.random.default_rng(1).integers(0, len(cases), 100)
    np.testing.assert_array_equal(metric.statistics([cases[k] for k in shuffled]), metric.statistics(cases)[shuffled])


def test_the_target_language_chooses_the_tokenizer() -> None:
    assert [default_tokenizer(code) for code in ("en", None, "zh", "th")] == ["13a", "13a", "zh", "char"]
    assert default_tokenizer("ja") in ("ja-mecab", "char")
    expected = "BLEU|case:mixed|tok:zh|eff:no|segments-eff:yes|smooth:exp|version:"
    assert make_metric("bleu", ("en", "zh")).spec.signature.startswith(expected)
    assert "tok:13a" in make_metric("bleu:tokenize=13a", ("en", "zh")).spec.signature
    cases = [Segment(None, ("今天天气很好。",), "今天的天气好。")]
    metric = make_metric("bleu", ("en", "zh"))
    expected = judged(SacreBLEU(trg_lang="zh", effective_order=True), cases)
    np.testing.assert_allclose(metric.segment_scores(metric.statistics(cases)), expected, atol=1e-9)


def test_a_tokenizer_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sacrebleu.tokenizers.tokenizer_ko_mecab as module

    monkeypatch.setattr(module, "MeCab", None)
    with pytest.raises(InputError, match=r"ko-mecab.*sacrebleu\[ko\]"):
        make_metric("bleu:tokenize=ko-mecab")


def test_specification() -> None:
    plain, smoothed = make_metric("bleu"), make_metric("bleu:smooth_method=add-k,smooth_value=2")
    assert plain.spec.id == "bleu" and smoothed.spec.id == "bleu:smooth_method=add-k,smooth_value=2.0"
    assert plain.spec.signature != smoothed.spec.signature and "smooth:add-k[2]" in smoothed.spec.signature
    assert plain.spec.key == smoothed.spec.key, "smoothing does not change the statistics"
    assert plain.spec.key != make_metric("bleu:lowercase=true").spec.key
    assert plain.spec.key != make_metric("bleu:max_ngram_order=2").spec.key
    with pytest.raises(InputError, match="smooth_method"):
        make_metric("bleu:smooth_method=nist")


token_lists = st.lists(st.integers(0, 5).map(str), max_size=12)


groups_of_references = st.lists(st.lists(token_lists, min_size=1, max_size=3), min_size=1, max_size=3)


@given(hypotheses=st.lists(token_lists, min_size=1, max_size=4), groups=groups_of_references)
@settings(max_examples=200, deadline=None)
def test_kernel_equals_a_slow_count(hypotheses: list[list[str]], groups: list[list[list[str]]]) -> None:
    flat = [reference for group in groups for reference in group]
    left, right = token_ids(hypotheses + flat).split(len(hypotheses))
    pairs = np.array([(group, text) for group in range(len(groups)) for text in range(len(hypotheses))])
    offsets = np.cumsum([0, *map(len, groups)])
    matches, lengths = clipped_matches(
        left.ids, left.offsets, right.ids, right.offsets, np.arange(len(flat)), offsets, pairs[:, 1].copy(), pairs[:, 0].copy(), 4
    )
    for row, (group, text) in enumerate(pairs):
        for order in range(1, 5):
            clip = Counter()
            for reference in groups[group]:
                clip |= ngrams(reference, order)
            assert matches[row, order - 1] == (ngrams(hypotheses[text], order) & clip).total()
        nearest = min((abs(len(reference) - len(hypotheses[text])), len(reference)) for reference in groups[group])
        assert lengths[row] == nearest[1]


def ngrams(tokens: list[str], order: int) -> Counter:
    return Counter(tuple(tokens[k : k + order]) for k in range(len(tokens) - order + 1))


def test_threads_may_score_at_once(data: Path) -> None:
    cases = wmt19(data, "online-Y.0", 300)
    metrics = [make_metric(name) for name in ("bleu", "chrf++", "ter", "rouge-l")]
    alone = [metric.statistics(cases) for metric in metrics]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda turn: metrics[turn % 4].statistics(cases), range(24)))
    for turn, statistics in enumerate(together):
        np.testing.assert_array_equal(statistics, alone[turn % 4])


def test_a_missing_model_of_a_tokenizer_is_named_with_the_remedy(tmp_path, monkeypatch):
    from sacrebleu.tokenizers import tokenizer_spm

    def offline(*_: object) -> None:
        raise OSError("<urlopen error no network>")

    monkeypatch.setattr(tokenizer_spm, "SACREBLEU_DIR", str(tmp_path))
    monkeypatch.setattr("sacrebleu.utils.SACREBLEU_DIR", str(tmp_path))
    monkeypatch.setattr(tokenizer_spm, "download_file", offline)
    with pytest.raises(InputError, match="model that is not on this computer.*no network.*save .* as .*flores200.*tokenize=13a"):
        tokenizer("flores200")
    model = tmp_path / "models" / "flores200sacrebleuspm"
    model.parent.mkdir()
    model.write_bytes(b"no model")
    with pytest.raises(InputError, match="flores200sacrebleuspm cannot be read .* delete it"):
        tokenizer("flores200")

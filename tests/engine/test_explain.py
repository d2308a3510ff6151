"""Explanations of segments and corpora: sides, batches, resuming, undefined values."""

import numpy as np
import pandas as pd
import pytest
from explain_fakes import FakeMetric, PlainScorer, noise, words
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.corpus.types import Corpus, Segment
from engine.errors import Cancelled, InputError
from engine.explain import batches
from engine.explain.explain import evaluations, explain_corpus, explain_segments
from engine.explain.masking import free_mask, text_seed
from engine.explain.options import EXPLAINERS, ExplainOptions
from engine.explain.results import COLUMNS
from engine.explain.words import split_words
from engine.scoring.scorer import Scorer
from engine.scoring.store import Store


def explain(segments, metric=None, scorer=None, **options):
    return explain_segments(segments, metric or FakeMetric(), ExplainOptions(**options), scorer or PlainScorer())


def test_erasure_is_the_loss_without_the_word() -> None:
    metric = FakeMetric(needs_source=True)
    segment = Segment("quelle", ("the first", "the  second one"), "a b c")
    (found,) = explain([segment], metric)
    assert [item.side for item in found.sides] == ["hypothesis", "reference:0", "reference:1", "source"]
    assert found.score == noise(segment)
    expected = [found.score - noise(segment._replace(hypothesis=text)) for text in ("b c", "a c", "a b")]
    np.testing.assert_allclose(found.side("hypothesis").importances, expected)
    masked = [("the first", text) for text in ("second one", "the one", "the  second")]
    expected = [found.score - noise(segment._replace(references=texts)) for texts in masked]
    np.testing.assert_allclose(found.side("reference:1").importances, expected)
    np.testing.assert_allclose(found.side("source").importances, [found.score - noise(segment._replace(source=""))])


def test_a_reference_free_metric_is_explained_on_source_and_hypothesis() -> None:
    metric = FakeMetric(needs_source=True, needs_reference=False)
    segments = [Segment("eine quelle", ("r",), "a b"), Segment("eine quelle", (), "c"), Segment(None, ("r",), "a b")]
    first, second, none = explain(segments, metric)
    assert [item.side for item in first.sides] == [item.side for item in second.sides] == ["hypothesis", "source"]
    assert none.undefined == "the segment has no source"


def test_erasure_can_leave_the_separators_or_put_a_word() -> None:
    segment = Segment(None, ("r",), "a b c")
    (kept,) = explain([segment], separators="keep")
    assert kept.sides[0].importances[1] == noise(segment) - noise(segment._replace(hypothesis="a  c"))
    (word,) = explain([segment], erasure_mask="X")
    assert word.sides[0].importances[1] == noise(segment) - noise(segment._replace(hypothesis="a X c"))
    assert word.mask == "X"


@pytest.mark.parametrize("explainer", EXPLAINERS)
def test_systems_that_share_a_reference_share_its_variants(explainer: str) -> None:
    metric = FakeMetric()
    reference = words(15)
    segments = [Segment("s", (reference,), f"{words(9)} x{number}") for number in range(8)]
    explained = explain(segments, metric, explainer=explainer)
    assert len(metric.calls) == 1
    distinct = {item.references[0] for item in metric.calls[0]}
    assert metric.scored > 7 * len(distinct)
    for segment, found in zip(segments, explained):
        (alone,) = explain([segment], explainer=explainer)
        for item, other in zip(found.sides, alone.sides):
            np.testing.assert_allclose(item.importances, other.importances, atol=1e-12)


@pytest.mark.parametrize("explainer", EXPLAINERS)
def test_the_real_scorer_gives_the_same(explainer: str) -> None:
    segments = [Segment("s", (words(9 + number % 2), "a b c"), f"{words(number)} end") for number in range(8)]
    for found, plain in zip(explain(segments, scorer=Scorer(), explainer=explainer), explain(segments, explainer=explainer)):
        np.testing.assert_allclose(found.importances, plain.importances, atol=1e-12)


@pytest.mark.parametrize("explainer", EXPLAINERS)
def test_small_batches_give_the_same(explainer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    segments = [Segment(None, (words(12), words(5)), f"{words(number)} end") for number in range(6)]
    expected = explain(segments, explainer=explainer)
    monkeypatch.setattr(batches, "MOST_VARIANTS", 10)
    monkeypatch.setattr(batches, "MOST_BYTES", 300)
    metric = FakeMetric()
    for found, whole in zip(explain(segments, metric, explainer=explainer), expected):
        assert found.score == whole.score
        np.testing.assert_allclose(found.importances, whole.importances, atol=1e-12)
    assert max(map(len, metric.calls)) <= 10


def test_equal_segments_are_explained_once() -> None:
    metric = FakeMetric()
    segment = Segment(None, ("a b",), "c d")
    first, second = explain([segment, segment], metric)
    assert first is second
    assert metric.scored == 5


def test_missing_references_keep_their_column() -> None:
    corpus = Corpus("c", {"A": ("x y", None), "B": ("x", "z")}, ((None, "r q"), ("p", None)))
    found = explain_corpus(corpus, FakeMetric(), ExplainOptions(), PlainScorer())
    assert [(entry.segment, entry.system) for entry in found.entries] == [(0, "A"), (0, "B"), (1, "A"), (1, "B")]
    assert [item.side for item in found.entries[0].explanation.sides] == ["hypothesis", "reference:1"]
    assert [item.side for item in found.entries[3].explanation.sides] == ["hypothesis", "reference:0"]
    missing = found.entries[2].explanation
    assert missing.undefined == "the system has no output for this segment"
    assert np.isnan(missing.score) and np.isnan(missing.importances).all()
    frame = found.to_frame()
    assert tuple(frame.columns) == COLUMNS
    assert frame["side"].tolist()[:4] == ["hypothesis", "hypothesis", "reference:1", "reference:1"]
    row = frame.iloc[1]
    assert (row.segment, row.system, row.metric, row.explainer, row.position, row.word) == (0, "A", "fake", "erasure", 1, "y")
    assert row.score == noise(corpus.segment(0, "A"))
    assert row.importance == row.score - noise(Segment(None, ("r q",), "x"))
    pd.testing.assert_frame_equal(pd.concat(found.frames(1), ignore_index=True), frame)


def test_chosen_systems_and_segments_and_empty_results() -> None:
    corpus = Corpus("c", {"A": ("x", "y"), "B": ("x", "")}, (("r",), ("",)))
    found = explain_corpus(corpus, FakeMetric(), ExplainOptions(), PlainScorer(), ["B"], [1])
    (entry,) = found.entries
    assert entry.explanation.score == noise(Segment(None, ("",), "")) and entry.explanation.undefined is None
    frame = found.to_frame()
    assert len(frame) == 0 and tuple(frame.columns) == COLUMNS
    assert len(explain_corpus(corpus, FakeMetric(), ExplainOptions(), PlainScorer(), []).to_frame()) == 0


def test_undefined_scores_say_why() -> None:
    no_short = FakeMetric(lambda segment: noise(segment) if segment.hypothesis != "b" else float("nan"))
    (found,) = explain([Segment(None, ("r",), "a b")], no_short)
    assert found.undefined == "the metric gives no score for 1 of 3 masked texts"
    assert np.isnan(found.sides[0].importances).tolist() == [True, False]
    (nothing,) = explain([Segment(None, ("r",), "a b")], FakeMetric(lambda segment: float("nan")))
    assert nothing.undefined == "the metric gives no score for this segment"
    (without,) = explain([Segment(None, (), "a b")])
    assert without.undefined == "the segment has no reference"


def test_error_rates_keep_the_raw_difference() -> None:
    (found,) = explain([Segment(None, ("r",), "a b")], FakeMetric(higher_is_better=False))
    assert not found.higher_is_better
    (other,) = explain([Segment(None, ("r",), "a b")])
    np.testing.assert_array_equal(found.importances, other.importances)


def test_a_mask_word_in_the_text_is_replaced() -> None:
    metric = FakeMetric()
    segment = Segment(None, ("r UNKWORDZ",), "a UNKWORDZ2 b")
    (found,) = explain([segment], metric, explainer="lime")
    assert found.mask == "UNKWORDZ3"
    assert found.notes == ("the mask word 'UNKWORDZ' occurs in the text, so 'UNKWORDZ3' was used",)
    assert any("UNKWORDZ3" in item.hypothesis for item in metric.calls[0])
    assert free_mask("", ["a"]) == ("", None)


def test_the_models_own_mask_word() -> None:
    metric = FakeMetric()
    with pytest.raises(InputError, match="no mask token"):
        explain([Segment(None, ("r",), "a b")], metric, explainer="lime", mask="model")
    metric.mask_word = "[MASK]"
    (found,) = explain([Segment(None, ("r",), "a b")], metric, explainer="lime", mask="model")
    assert found.mask == "[MASK]"


@pytest.mark.parametrize("wrong", [{"explainer": "magic"}, {"samples": 1}, {"seed": -1}, {"separators": "half"}])
def test_wrong_options_are_refused(wrong: dict) -> None:
    with pytest.raises(InputError):
        explain([], **wrong)


@pytest.mark.parametrize("explainer", EXPLAINERS)
def test_finished_explanations_are_resumed_from_the_store(explainer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "MOST_VARIANTS", 1)
    segments = [Segment(None, (words(5 + number),), f"{words(number)} end") for number in range(4)]
    segments += [Segment(None, (), "undefined"), Segment(None, ("UNKWORDZ \ud800",), "x")]
    expected = explain(segments, explainer=explainer)
    whole = FakeMetric()
    explain(segments, whole, explainer=explainer)
    store, calls = Store(":memory:"), 0

    def score(segment: Segment) -> float:
        nonlocal calls
        calls += 1
        if calls > whole.scored / 2:
            raise KeyboardInterrupt
        return noise(segment)

    with pytest.raises(KeyboardInterrupt):
        explain(segments, FakeMetric(score), PlainScorer(store), explainer=explainer)
    rest = FakeMetric()
    resumed = explain(segments, rest, PlainScorer(store), explainer=explainer)
    assert 0 < rest.scored < whole.scored
    again = FakeMetric()
    stored = explain(segments, again, PlainScorer(store), explainer=explainer)
    assert again.scored == 0
    for found in (resumed, stored):
        for item, other in zip(found, expected):
            assert (item.undefined, item.mask, item.notes) == (other.undefined, other.mask, other.notes)
            np.testing.assert_array_equal(item.score, other.score)
            np.testing.assert_allclose(item.importances, other.importances, atol=1e-12)
            assert [side.side for side in item.sides] == [side.side for side in other.sides]
    explain(segments, again, PlainScorer(store), explainer=explainer, separators="keep", seed=3)
    assert again.scored > 0


@pytest.mark.parametrize("explainer", EXPLAINERS)
def test_progress_and_expected_evaluations(explainer: str) -> None:
    metric = FakeMetric()
    segments = [Segment(None, (words(number),), words(2 * number)) for number in range(1, 20)]
    options = ExplainOptions(explainer=explainer)
    seen = []
    explain_segments(segments, metric, options, PlainScorer(), lambda done, total: seen.append((done, total)))
    expected = evaluations(segments, metric, options)
    assert expected >= metric.scored > 0.7 * expected
    assert {total for _, total in seen} == {expected}
    assert seen[-1] == (expected, expected)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)

    def cancel(done: float, total: float) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        explain_segments(segments, metric, options, PlainScorer(), cancel)


def test_huge_texts_tell_their_cost_beforehand() -> None:
    segment = Segment(None, ("r",), "a " * 50_000)
    metric = FakeMetric()
    assert evaluations([segment], metric, ExplainOptions(explainer="erasure")) == 1 + 50_000 + 1
    assert evaluations([segment], metric, ExplainOptions(explainer="lime")) == 1 + 99 + 1
    assert evaluations([segment], metric, ExplainOptions(explainer="shap")) == 1 + 99_999 + 1


@pytest.mark.parametrize("text", ["字" * 100_000, "word " * 20_000, "x" * 100_000, " " * 100_000])
def test_a_text_of_100000_characters(text: str) -> None:
    (found,) = explain(
        [Segment(None, ("r",), text)], FakeMetric(lambda segment: float(len(segment.hypothesis))), explainer="lime"
    )
    assert len(found.side("hypothesis").importances) == len(split_words(text))
    assert np.isfinite(found.importances).all()


def test_many_variants_of_a_long_text_are_never_all_in_memory() -> None:
    metric = FakeMetric(lambda segment: float(len(segment.hypothesis)))
    text = "ab " * 3000
    for explainer in ("erasure", "shap"):
        metric.calls.clear()
        (found,) = explain([Segment(None, ("r",), text)], metric, explainer=explainer)
        assert max(sum(len(item.hypothesis) for item in call) for call in metric.calls) < 4 * batches.MOST_BYTES
        assert len(found.sides[0].importances) == 3000


def test_seeds_depend_on_the_text_and_the_seed() -> None:
    assert text_seed("a", 0) == text_seed("a", 0)
    assert len({text_seed("a", 0), text_seed("a", 1), text_seed("b", 0), text_seed("", 0), text_seed("\ud800", 0)}) == 5


ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=30) | st.text("a \n字ส\u200b\x00😀", max_size=12)


@settings(max_examples=60, deadline=None)
@given(
    ANY_TEXT, st.lists(ANY_TEXT, max_size=2), st.none() | ANY_TEXT, st.sampled_from(EXPLAINERS), st.sampled_from(["UNKWORDZ", ""])
)
def test_any_text_is_explained(hypothesis: str, references: list[str], source: str | None, explainer: str, mask: str) -> None:
    metric = FakeMetric(lambda segment: float(len(segment.hypothesis) + sum(map(len, segment.references))))
    segment = Segment(source, tuple(references), hypothesis)
    (found,) = explain([segment], metric, explainer=explainer, mask=mask, samples=20, evaluations=60)
    assert (found.undefined is None) == bool(references)
    texts = [hypothesis, *references]
    assert [item.text for item in found.sides] == texts
    assert [len(item.importances) for item in found.sides] == [len(split_words(text)) for text in texts]
    assert found.undefined or np.isfinite(found.importances).all()

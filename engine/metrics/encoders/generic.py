"""Any transformers encoder, where packing is not possible: texts of equal length together, so that no padding is needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import InputError
from engine.metrics.encoders.locate import Checkpoint

if TYPE_CHECKING:
    from torch import Tensor

_T5 = {"t5": "T5EncoderModel", "mt5": "MT5EncoderModel", "umt5": "UMT5EncoderModel"}
_NEVER_EMPTY = {"deberta-v2"}  # their forward pass fails without a layer
_WORKSPACE = 64 << 20


def load_model(checkpoint: Checkpoint, folder: Path) -> Any:
    """The transformers encoder in `folder`, in single precision; of a model with a decoder only the encoder.

    Code that a model brings along is not run; pickled weights are read without running anything.

    Raises
    ------
    InputError : the model cannot be loaded.
    """
    import torch
    import transformers

    kind = getattr(transformers, _T5.get(checkpoint.config["model_type"], "AutoModel"))
    try:
        with _quiet(transformers):
            model = kind.from_pretrained(str(folder), trust_remote_code=False, local_files_only=True, dtype=torch.float32)
    except UnpicklingError as error:
        raise InputError(f"model {checkpoint.name!r}: its weights are a pickle that would run code; give safetensors") from error
    except (OSError, ValueError, KeyError, ImportError, AttributeError, RuntimeError) as error:
        first = str(error).strip().partition("\n")[0]
        raise InputError(f"model {checkpoint.name!r} cannot be loaded ({first}); name another model") from error
    if hasattr(model, "decoder") and hasattr(model, "encoder"):
        model = model.encoder
    return model.eval()


def keep_layers(model: Any, layers: int) -> bool:
    """Drop all layers of a transformers encoder after the first `layers`; False where its structure is unknown.

    What follows the last layer stays (the final norm of T5 and ModernBERT, for one).
    """
    from torch.nn import ModuleList

    encoder = getattr(model, "encoder", None)
    if hasattr(encoder, "albert_layer_groups"):  # one set of weights, used again and again
        encoder.config.num_hidden_layers = layers
        return True
    if hasattr(model, "n_layers") and hasattr(model, "attentions"):  # XLM
        model.n_layers = layers
        return True
    places = [(model, "layer"), (encoder, "block"), (encoder, "layer"), (getattr(model, "transformer", None), "layer")]
    for owner, name in [*places, (model, "layers"), (model, "block"), (model, "h"), (encoder, "layers")]:
        found = getattr(owner, name, None)
        if isinstance(found, ModuleList):
            setattr(owner, name, ModuleList(found[:layers]))
            return True
    return False


class GenericEncoder:
    """A transformers encoder that keeps its first `layers` layers."""

    def __init__(self, model: Any, config: Any, layers: int, device: str) -> None:
        import torch

        self.width = int(getattr(model.config, "hidden_size", None) or model.config.d_model)
        self._device = torch.device(device)
        self._layers = layers
        bare = layers == 0 and config["model_type"] in _NEVER_EMPTY
        self._whole = not keep_layers(model, 1 if bare else layers) or bare
        self._model = model.to(self._device)
        self._padding = config.get("pad_token_id")
        self.rows = int(np.clip(_WORKSPACE // (4 * 12 * self.width), 256, 4096))

    def last(self, texts: Sequence[np.ndarray]) -> Tensor:
        """Vectors of the last kept layer, float32[rows, width], text after text. Texts of equal length must be neighbours."""
        import torch

        parts = [self._forward(batch, self._whole) for batch in _batches(texts, self.rows)]
        chosen = [part[1][self._layers] if self._whole else part[0] for part in parts]
        return torch.cat([vectors.reshape(-1, vectors.shape[-1]) for vectors in chosen])

    def hidden(self, texts: Sequence[np.ndarray]) -> Iterator[Tensor]:
        """The vectors of every kept layer, from the embeddings on, as the model reports them (without a final norm)."""
        import torch

        parts = [self._forward(batch, True)[1] for batch in _batches(texts, self.rows)]
        for level in zip(*parts):
            yield torch.cat([vectors.reshape(-1, vectors.shape[-1]) for vectors in level])

    def _forward(self, batch: np.ndarray, all_layers: bool) -> tuple[Tensor, Sequence[Tensor]]:
        import torch

        ids = torch.from_numpy(batch).to(self._device)
        out = self._model(ids, attention_mask=torch.ones_like(ids), output_hidden_states=all_layers, return_dict=True)
        vectors = out[0]
        return vectors, out.hidden_states if all_layers else ()


def _batches(texts: Sequence[np.ndarray], rows: int) -> Iterator[np.ndarray]:
    """int64[count, length] of neighbouring texts of equal length, at most about `rows` tokens each."""
    for length, same in groupby(texts, key=len):
        group = np.stack(list(same)).astype(np.int64)
        step = max(1, rows // max(1, length))
        for start in range(0, len(group), step):
            yield group[start : start + step]


class _quiet:
    """Keeps transformers from drawing progress bars and reports while a model is loaded."""

    def __init__(self, transformers: Any) -> None:
        self._logging = transformers.utils.logging

    def __enter__(self) -> None:
        self._level = self._logging.get_verbosity()
        self._bars = self._logging.is_progress_bar_enabled()
        self._logging.set_verbosity_error()
        self._logging.disable_progress_bar()

    def __exit__(self, *failure: object) -> None:
        self._logging.set_verbosity(self._level)
        if self._bars:
            self._logging.enable_progress_bar()

"""Encoders that turn texts into vectors of their tokens: the two defaults, local folders, names on the Hugging Face hub."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.corpus.types import Languages
from engine.errors import InputError
from engine.metrics.encoders.known import best_layer
from engine.metrics.encoders.locate import E5, MINILM, Checkpoint, default_name, locate

if TYPE_CHECKING:
    from engine.metrics.encoders.encoder import Encoder

__all__ = ["E5", "MINILM", "Checkpoint", "choose_layer", "default_name", "load", "locate"]


def load(
    model: str | None = None, languages: Languages = (None, None), layer: int | None = None, cross_lingual: bool = False
) -> Encoder:
    """Load an encoder, once per process.

    Parameters
    ----------
    model : a default's name, a folder or a Hugging Face name; None for the default of the languages.
    languages : source and target language of the texts.
    layer : 0 (embeddings) … number of layers; None for the best known one.
    cross_lingual : True where source and output are compared with one another.

    Raises
    ------
    InputError : the model is not there or has no such layer; the message names the remedy.
    """
    from engine.metrics.encoders.encoder import load_encoder

    checkpoint = locate(model or default_name(languages, cross_lingual))
    return load_encoder(checkpoint, choose_layer(checkpoint, layer))


def choose_layer(checkpoint: Checkpoint, layer: int | None = None) -> int:
    """`layer` where the model has it, the best known layer for None.

    Raises
    ------
    InputError : the model has fewer layers.
    """
    if layer is None:
        return best_layer(checkpoint)
    if not 0 <= layer <= checkpoint.layers:
        raise InputError(f"layer {layer} of model {checkpoint.name!r}: it has layers 0 to {checkpoint.layers}")
    return layer

"""What masks must look like for each metric: how it splits texts, and which characters it keeps."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from engine.metrics.base import Metric
from engine.metrics.bleu import Bleu
from engine.metrics.chrf import Chrf
from engine.metrics.rouge import Rouge
from engine.metrics.ter import Ter
from engine.muler.spans import Style

_LATIN_WORD = re.compile("[A-Za-z0-9]+")
_ANY_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class MaskStyle:
    """How words are masked for a metric.

    Attributes
    ----------
    spans : where masks stand apart.
    characters : "private" or "han" characters, or "visible" words for metrics that may drop or merge unknown characters.
    by_character : True where the metric counts characters: masks are as long as the feature's words are on average, so that a
        feature weighs what it did and a wrong length is no mistake.
    tokens : the tokens into which the metric splits a word; None where a word is one, or where it is not known.
    """

    spans: Style
    characters: Literal["private", "han", "visible"] = "private"
    by_character: bool = False
    tokens: Callable[[str], Sequence[str]] | None = None


def mask_style(metric: Metric) -> MaskStyle:
    """How words are masked for a metric."""
    if isinstance(metric, Bleu):
        return _bleu_style(metric)
    if isinstance(metric, Chrf):
        return MaskStyle(Style("words"), by_character=True)
    if isinstance(metric, Ter):
        separate = metric.split_hypothesis("a.") != ["a."]
        blind = not metric.split_hypothesis(".")
        style = Style("words" if separate else "none", sees="letters" if blind else "all")
        return MaskStyle(style, tokens=metric.split_hypothesis)
    if isinstance(metric, Rouge):
        unicode = "|tok:unicode|" in metric.spec.signature
        word = _ANY_WORD if unicode else _LATIN_WORD
        return MaskStyle(Style("none", sees="letters" if unicode else "ascii"), "visible", tokens=word.findall)
    return MaskStyle(Style("words"), "visible")


def _bleu_style(metric: Bleu) -> MaskStyle:
    tokenizer = metric.tokenizer

    def tokens(text: str) -> list[str]:
        return bleu_tokens(metric, text)

    if tokenizer.name == "char":
        return MaskStyle(Style("none"), by_character=True)
    if tokenizer.name == "zh":
        return MaskStyle(Style("words"), "han", tokens=tokens)
    seams = {"none": "none", "intl": "unicode"}.get(tokenizer.name, "words")
    return MaskStyle(Style(seams), tokens=tokens)  # type: ignore[arg-type]


def bleu_tokens(metric: Bleu, text: str) -> list[str]:
    """The tokens of a word, or of a few."""
    text = text.lower() if metric.options.lowercase else text
    if metric.tokenizer.name == "13a" and text.isalnum():
        return [text]
    words, pieces = metric.tokenizer.words(text), metric.tokenizer.pieces
    return words if pieces is None else [piece for word in words for piece in pieces(word)]

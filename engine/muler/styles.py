"""What masks must look like for each metric: how it splits texts, and which characters it keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engine.metrics.base import Metric
from engine.metrics.bleu import Bleu
from engine.metrics.chrf import Chrf
from engine.metrics.rouge import Rouge
from engine.metrics.ter import Ter
from engine.muler.spans import Style


@dataclass(frozen=True)
class MaskStyle:
    """How words are masked for a metric.

    Attributes
    ----------
    spans : where masks stand apart.
    characters : "private" or "han" characters, or "visible" words for metrics that may drop or merge unknown characters.
    by_length : True where the metric counts characters: masks are as long as the masked words are on average.
    """

    spans: Style
    characters: Literal["private", "han", "visible"] = "private"
    by_length: bool = False


def mask_style(metric: Metric) -> MaskStyle:
    """How words are masked for a metric."""
    if isinstance(metric, Bleu):
        return _bleu_style(metric.tokenizer.name)
    if isinstance(metric, Chrf):
        return MaskStyle(Style("words"), by_length=True)
    if isinstance(metric, Ter):
        separate = metric.split_hypothesis("a.") != ["a."]
        blind = not metric.split_hypothesis(".")
        return MaskStyle(Style("words" if separate else "none", sees="letters" if blind else "all"))
    if isinstance(metric, Rouge):
        return MaskStyle(Style("none", sees="letters" if "|tok:unicode|" in metric.spec.signature else "ascii"), "visible")
    return MaskStyle(Style("words"), "visible")


def _bleu_style(tokenizer: str) -> MaskStyle:
    if tokenizer == "none":
        return MaskStyle(Style("none"))
    if tokenizer == "char":
        return MaskStyle(Style("none"), by_length=True)
    if tokenizer == "zh":
        return MaskStyle(Style("words"), "han", by_length=True)
    return MaskStyle(Style("unicode" if tokenizer == "intl" else "words"))

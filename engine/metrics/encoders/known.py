"""The layer at which an encoder serves BERTScore best, where that is known."""

from __future__ import annotations

from engine.metrics.encoders.locate import E5, MINILM, Checkpoint

MEASURED = {MINILM: 6, E5: 8}
"""Encoder → the layer with the highest mean correlation with human scores (`python -m benchmarks.layers`).

all-MiniLM-L6-v2: 6 of 6, best on wmt17 (seven language pairs into English): mean Pearson .639, mean Kendall .453.
multilingual-e5-small: 8 of 12, best between source and output (wmt17 and eval4nlp21, twelve sets: .343 and .228), and within
.003 of the best, 7, for references in other languages than English (wmt21 flores: .400 and .265)."""

PUBLISHED = {
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "bert-base-multilingual-cased": 9,
    "bert-base-chinese": 8,
    "roberta-base": 10,
    "roberta-large": 17,
    "roberta-large-mnli": 19,
    "xlm-roberta-base": 9,
    "xlm-roberta-large": 17,
    "xlm-roberta-large-xnli": 16,
    "distilbert-base-uncased": 5,
    "distilbert-base-multilingual-cased": 5,
    "distilroberta-base": 5,
    "albert-base-v2": 9,
    "albert-large-v2": 14,
    "albert-xlarge-v2": 13,
    "albert-xxlarge-v2": 8,
    "xlnet-base-cased": 5,
    "xlnet-large-cased": 7,
    "electra-base-discriminator": 9,
    "electra-large-discriminator": 14,
    "mpnet-base": 8,
    "bart-base": 6,
    "bart-large": 10,
    "bart-large-cnn": 10,
    "bart-large-mnli": 11,
    "mbart-large-50": 12,
    "deberta-base": 9,
    "deberta-base-mnli": 9,
    "deberta-large": 16,
    "deberta-large-mnli": 18,
    "deberta-xlarge": 18,
    "deberta-xlarge-mnli": 40,
    "deberta-v2-xlarge": 10,
    "deberta-v2-xlarge-mnli": 17,
    "deberta-v2-xxlarge": 21,
    "deberta-v3-xsmall": 10,
    "deberta-v3-small": 4,
    "deberta-v3-base": 9,
    "deberta-v3-large": 12,
    "mdeberta-v3-base": 10,
    "t5-small": 6,
    "t5-base": 11,
    "t5-large": 23,
    "mt5-small": 8,
    "mt5-base": 11,
    "mt5-large": 19,
    "byt5-small": 1,
    "byt5-base": 17,
    "byt5-large": 30,
    "sup-simcse-bert-base-uncased": 10,
    "sup-simcse-roberta-large": 16,
}
"""Model name without its owner → layer, as the authors of bert-score chose it on WMT16 (Zhang et al. 2020, appendix B, and their
later additions); xlm-roberta-large-xnli as in BMX (Leiter et al. 2022)."""


def best_layer(checkpoint: Checkpoint) -> int:
    """The layer to use where the user names none: measured, published, or three quarters of the depth.

    Three quarters, rounded, is where most published choices lie (9 of 12, 18 of 24).
    """
    name = checkpoint.name.partition("@")[0].rstrip("/").rpartition("/")[2]
    known = MEASURED.get(checkpoint.name) or (PUBLISHED.get(name) if checkpoint.origin == "hub" else None)
    if known is not None and known <= checkpoint.layers:
        return known
    return round(0.75 * checkpoint.layers)

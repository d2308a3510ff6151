"""The options of an explanation."""

from __future__ import annotations

from dataclasses import dataclass

from engine.options import option

EXPLAINERS = ("erasure", "lime", "shap")
MODEL_MASK = "model"
"""The value of `mask` that stands for the metric's own one-token mask word."""


@dataclass(frozen=True)
class ExplainOptions:
    """How a metric is explained word by word."""

    explainer: str = option("erasure", "how words are taken away and their importances worked out", choices=EXPLAINERS)
    samples: int = option(100, "LIME: masked texts per explained text, the original among them", low=2, high=100_000)
    evaluations: int = option(
        500,
        "SHAP: most masked texts per explained text; up to 7 words are exact, n words take at least 2 n + 1",
        low=1,
        high=100_000,
    )
    mask: str = option(
        "UNKWORDZ", "LIME and SHAP: what stands for a masked word; 'model' is the metric's own mask token, empty removes the word"
    )
    erasure_mask: str = option("", "Erasure: what stands for an erased word; empty removes the word", advanced=True)
    separators: str = option(
        "drop",
        "a removed word takes one separator with it (drop) or leaves both (keep)",
        choices=("drop", "keep"),
        advanced=True,
    )
    seed: int = option(0, "seed of the random masks of LIME and SHAP", low=0)

    @property
    def mask_word(self) -> str:
        """What stands for a masked word under the chosen explainer."""
        return self.erasure_mask if self.explainer == "erasure" else self.mask

    def identity(self) -> tuple[str, ...]:
        """What decides the importances under the chosen explainer, for the store."""
        own = {
            "erasure": (),
            "lime": (str(self.samples), str(self.seed)),
            "shap": (str(self.evaluations), str(self.seed)),
        }[self.explainer]
        return (self.explainer, self.separators, *own)

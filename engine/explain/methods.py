"""The three explainers behind one face: plan the masks of a text, reduce scores to importances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, cast

import numpy as np

from engine.explain import erasure, lime, shap
from engine.explain.masking import text_seed
from engine.explain.options import ExplainOptions


class Plan(Protocol):
    """Which words the variants of a text keep. The original is not among them."""

    @property
    def words(self) -> int: ...

    @property
    def count(self) -> int: ...

    @property
    def note(self) -> str | None: ...

    def masks(self, start: int, stop: int) -> np.ndarray:
        """bool[stop − start, words]: the words that variants `start` to `stop` keep."""
        ...


def make_plan(text: str, words: int, options: ExplainOptions) -> Plan:
    """Plan the variants of a text of `words` ≥ 1 words, seeded by the text itself and the options' seed."""
    if options.explainer == "erasure":
        return erasure.plan(words)
    seed = text_seed(text, options.seed)
    if options.explainer == "lime":
        return lime.plan(words, options.samples, seed)
    return shap.plan(words, options.evaluations, seed)


def most_variants(words: int, options: ExplainOptions) -> int:
    """The most distinct variants, beside the original, that a plan for `words` words can have."""
    if words == 0:
        return 0
    if options.explainer == "erasure":
        return words
    subsets = 2**words - 1 if words < 60 else 2**60
    if options.explainer == "lime":
        return min(options.samples - 1, subsets)
    if words <= shap.EXACT_WORDS:
        return subsets
    orders = max(1, options.evaluations // (2 * words + 1))
    return min(2 * orders * (words - 1) + 1, subsets)


def is_deterministic(words: int, options: ExplainOptions) -> bool:
    """Whether the importances of a text of `words` words are the same for every seed."""
    return words == 0 or options.explainer == "erasure" or (options.explainer == "shap" and words <= shap.EXACT_WORDS)


def reduce(
    options: ExplainOptions, plans: Sequence[Plan], originals: Sequence[np.ndarray], scores: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Importances of the words of several texts.

    Parameters
    ----------
    plans : one per text.
    originals : per text float64[k], the scores of the k segments that share it.
    scores : per text float64[k, plan.count], their scores on its variants.

    Returns
    -------
    Per text float64[k, words], in the metric's unit; positive where the word raises the score.
    """
    if options.explainer == "lime":
        return lime.importances(cast("Sequence[lime.LimePlan]", plans), originals, scores)
    if options.explainer == "erasure":
        return [erasure.importances(original, values) for original, values in zip(originals, scores)]
    own = cast("Sequence[shap.ExactPlan | shap.PermutationPlan]", plans)
    return [shap.importances(*item) for item in zip(own, originals, scores)]

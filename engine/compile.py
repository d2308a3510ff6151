"""Compile every kernel now, so that no user waits for it later: `python -m engine.compile`."""

import numpy as np

from engine.boost.grid import Items, surfaces
from engine.boost.kernels import round_all
from engine.boost.power import Importances, power_means
from engine.metrics.kernels.edits import translation_edits
from engine.metrics.kernels.ngrams import clipped_matches
from engine.metrics.kernels.subsequence import common_subsequences
from engine.metrics.kernels.words import drop_spaces, number_words
from engine.muler.ngram_kernel import masked_matches
from engine.muler.similarity_kernel import edited_means
from engine.stats.permutation import COEFFICIENTS, permuted_differences


def main() -> None:
    """Call each kernel once with arrays of the types that its callers pass."""
    tokens, offsets, first = np.array([0, 1], np.int32), np.array([0, 2]), np.zeros(1, np.int64)
    texts = tokens, offsets, tokens, offsets
    clipped_matches(*texts, first, np.array([0, 1]), first, first, 4)
    translation_edits(*texts, first, first)
    common_subsequences(*texts, first, first)
    number_words(tokens, offsets)
    drop_spaces(tokens, offsets)

    plain, span = np.zeros(2, bool), np.array([[0, 2]])
    masked_matches(tokens, np.arange(3), plain, tokens, span, span, first, np.array([0, 1]), first, first, 4)
    edited_means(np.ones(4, np.float32), first, first, first, offsets, plain, np.ones(2), first)

    scores = np.array([[1.0, 2.0, 2.0], [2.0, 3.0, 1.0]])  # ties between the two metrics lead through every kernel
    importances = Importances(scores.ravel(), np.arange(0, 7, 2))
    items = Items("", scores[0], power_means(importances).means, scores[1])
    round_all(scores[0])
    for coefficient in COEFFICIENTS:
        surfaces([items], coefficient)
        for level in ("segment", "segment-mean"):
            for other in (scores[::-1], np.ones_like(scores)):
                permuted_differences(scores, other, scores, level, coefficient, 1, np.random.default_rng(0))


if __name__ == "__main__":
    main()

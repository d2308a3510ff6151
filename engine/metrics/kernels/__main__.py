"""Compile every kernel now, so that no user waits for it later: `python -m engine.metrics.kernels`."""

import numpy as np

from engine.metrics.kernels.edits import translation_edits
from engine.metrics.kernels.ngrams import clipped_matches
from engine.metrics.kernels.subsequence import common_subsequences
from engine.metrics.kernels.words import drop_spaces, number_words


def main() -> None:
    """Call each kernel once with arrays of the types that the metrics pass."""
    tokens, offsets, first = np.array([0, 1], np.int32), np.array([0, 2]), np.zeros(1, np.int64)
    texts = tokens, offsets, tokens, offsets
    clipped_matches(*texts, first, np.array([0, 1]), first, first, 4)
    translation_edits(*texts, first, first)
    common_subsequences(*texts, first, first)
    number_words(tokens, offsets)
    drop_spaces(tokens, offsets)


if __name__ == "__main__":
    main()

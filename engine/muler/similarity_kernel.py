"""BERTScore with an edited similarity matrix: feature tokens as if matched perfectly, and as if matched by nothing."""

from __future__ import annotations

import numpy as np

from engine.kernels import kernel


@kernel
def edited_means(similarities, starts, hypotheses, references, token_offsets, marked, weights, rows):
    """Precision and recall of pairs of texts under the oracle and under the anti-oracle.

    The oracle sets the best match of each feature token to 1; the anti-oracle sets it to 0 and takes feature tokens away as
    matches for others.

    Parameters
    ----------
    similarities : float32[n]; the cosines of pair p are a matrix of hypothesis tokens by reference tokens from `starts[p]` on.
    starts : int64[n_pairs].
    hypotheses, references : int64[n_pairs], texts.
    token_offsets : int64[n_texts + 1]; the tokens of text i are `token_offsets[i]` … `token_offsets[i + 1]`.
    marked : bool[n_tokens]; tokens of the feature.
    weights : float64[n_tokens]; how much each token counts in the means.
    rows : int64[m], the pairs to work out.

    Returns
    -------
    float64[m, 4]: precision and recall under the oracle, precision and recall under the anti-oracle; NaN without weight.

    Source: Karidi et al. 2023, section 3.2 (BERTScore); Zhang et al. 2020, section 3.
    """
    values = np.empty((len(rows), 4))
    longest = 0
    for row in rows:
        longest = max(longest, token_offsets[references[row] + 1] - token_offsets[references[row]])
    best = np.empty(longest)
    unmarked_best = np.empty(longest)
    for place in range(len(rows)):
        row = rows[place]
        first, other = token_offsets[hypotheses[row]], token_offsets[references[row]]
        n, m = token_offsets[hypotheses[row] + 1] - first, token_offsets[references[row] + 1] - other
        for column in range(m):
            best[column] = -2.0
            unmarked_best[column] = -2.0
        oracle, anti, total = 0.0, 0.0, 0.0
        for token in range(n):
            mine = marked[first + token]
            highest, unmarked_highest = -2.0, -2.0
            for column in range(m):
                cosine = similarities[starts[row] + token * m + column]
                highest = max(highest, cosine)
                best[column] = max(best[column], cosine)
                if not marked[other + column]:
                    unmarked_highest = max(unmarked_highest, cosine)
                if not mine:
                    unmarked_best[column] = max(unmarked_best[column], cosine)
            weight = weights[first + token]
            total += weight
            oracle += weight * (1.0 if mine else highest)
            if not mine and unmarked_highest > -2.0:
                anti += weight * unmarked_highest
        values[place, 0] = oracle / total if total > 0 else np.nan
        values[place, 2] = anti / total if total > 0 else np.nan
        oracle, anti, total = 0.0, 0.0, 0.0
        for column in range(m):
            weight = weights[other + column]
            total += weight
            oracle += weight * (1.0 if marked[other + column] else best[column])
            if not marked[other + column] and unmarked_best[column] > -2.0:
                anti += weight * unmarked_best[column]
        values[place, 1] = oracle / total if total > 0 else np.nan
        values[place, 3] = anti / total if total > 0 else np.nan
    return values

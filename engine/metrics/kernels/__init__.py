"""Counting on token ids, with no knowledge of metrics: one kernel per file. What holds for every kernel: `engine.kernels`.

Texts come as two arrays, `ids` int32[n_tokens] and `offsets` int64[n_texts + 1]; `engine.metrics.lexical.token_ids` makes them.
"""

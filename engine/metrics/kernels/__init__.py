"""Counting at native speed: one numba kernel per file, on token ids, with no knowledge of metrics.

A kernel is a plain function on numpy arrays that is compiled on its first call and kept on disk (`@njit(cache=True)`), so the
compile is paid once per installation. What holds for all of them, and for the next one:

- Texts come as two arrays, `ids` int32[n_tokens] and `offsets` int64[n_texts + 1]; `engine.metrics.lexical.token_ids` makes them.
  Always pass these types: each new combination of types is another compile of a second or more.
- `nogil=True` and no `parallel=True`. Jobs call kernels from several Python threads at once, and numba's own threading layers are
  not safe there unless TBB is installed; threads that call a kernel without the GIL are.
- Exact: ids or keys that cannot collide, integers rather than floats, no limit that is not part of the method.
- Import numba at the top of the kernel's file, and import that file only inside the function that calls it: naming a metric must
  not load numba.
- The docstring gives shapes, meaning and source; the test compares with a slow, independent count.

To add one: a new file here, `def` with `@njit(cache=True, nogil=True)`, called from the metric's `statistics`.
"""

"""Loops at native speed: numba kernels, and what the files that hold them share.

A kernel is a plain function on numpy arrays that is compiled on its first call and kept on disk, so the compile is paid once per
installation. It stands in a file beside what calls it (`engine.metrics.kernels`, `engine.boost.kernels`,
`engine.stats.swap_kernels`, `engine.muler.ngram_kernel`, …). What holds for all of them, and for the next one:

- The function that others call is decorated with `@kernel`, its helpers in the same file with `@kernel_part`; what several files
  need stands here (`tables`).
- Always pass the same types, writable and contiguous: each new combination of types is another compile of seconds.
- The GIL is released, and nothing is parallel inside. Jobs call kernels from several Python threads at once, and numba's own
  threading layers are not safe there unless TBB is installed; threads that call a kernel are.
- Exact: ids or keys that cannot collide, integers rather than floats, no limit that is not part of the method.
- numba's own `sort`, `cumsum`, slice assignment and tuple comparison cost seconds of compile time each: a loop costs none.
- Import the kernel's file only inside the function that calls it: naming a metric must not load numba.
- The docstring gives shapes, meaning and source; the test compares with a slow, independent count.
- `python -m engine.compile` compiles them all, so that no user waits for it: add the new one there; a test names those that are
  missing.
"""

from __future__ import annotations

from typing import Any

from numba import njit

kernel: Any = njit(cache=True, nogil=True)
"""Decorates a function that is called from Python: compiled once, kept on disk, run without the GIL."""

PART: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""What `njit` is told of a function that only kernels call."""
kernel_part: Any = njit(**PART)
"""Decorates a function that only kernels call: compiled into them. It stands in the same file, but for what several share."""

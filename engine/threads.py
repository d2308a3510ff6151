"""How many processor threads an analysis may use."""

import os


def available_threads() -> int:
    """The processor threads of this process; `NUMBA_NUM_THREADS` limits them."""
    limit = os.environ.get("NUMBA_NUM_THREADS", "")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, int(limit))) if limit.isdigit() else cores

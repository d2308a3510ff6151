"""Freed memory goes back to the system: the C library keeps the holes that tensors of many sizes leave, and they add up."""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable
from contextlib import suppress

EVERY = 2.0
"""Seconds between two clean-ups; one takes about 10 ms."""


def _find_trim() -> Callable[[int], int] | None:
    """The C library's `malloc_trim`, where there is one (glibc)."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            return ctypes.CDLL(None).malloc_trim
    return None


_trim = _find_trim()
_last = time.monotonic()


def give_back() -> None:
    """Hand holes in the heap back to the system, unless that was done a moment ago."""
    global _last
    now = time.monotonic()
    if _trim is not None and now - _last >= EVERY:
        _last = now
        _trim(0)

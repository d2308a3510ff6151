"""Numbers as they are written on screen: enough digits, never a bare NaN."""

from __future__ import annotations

import math

MINUS = "\u2212"
MISSING = "\u2013"


def decimals(largest: float, significant: int = 3) -> int:
    """How many decimals show `significant` digits of a number as large as `largest` (at least 0, at most 6)."""
    if not math.isfinite(largest) or largest == 0:
        return 2
    return min(6, max(0, significant - 1 - math.floor(math.log10(abs(largest)))))


def number(value: float, places: int = 2) -> str:
    """`value` with a fixed number of decimals and a true minus sign; a dash where it is undefined."""
    if value is None or not math.isfinite(value):
        return MISSING
    text = f"{value:.{places}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    return text.replace("-", MINUS)


def signed(value: float, places: int = 2) -> str:
    """As `number`, with a plus sign before positive values."""
    text = number(value, places)
    return text if text.startswith((MINUS, MISSING)) or float(text) == 0 else f"+{text}"


def score_places(score_range: tuple[float, float]) -> int:
    """Decimals that suit scores of a metric: two for percentages, four for fractions."""
    high = score_range[1]
    return 2 if not math.isfinite(high) or high > 1.5 else 4


def duration(seconds: float | None) -> str:
    """A remaining time in words; empty where it is not known yet."""
    if seconds is None or not math.isfinite(seconds):
        return ""
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def count(amount: int, singular: str, plural: str | None = None) -> str:
    """An amount with its noun: `1 segment`, `1,200 segments`."""
    return f"{amount:,} {singular if amount == 1 else plural or singular + 's'}"

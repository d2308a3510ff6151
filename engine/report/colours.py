"""Colours that mean something: scales for importances, system A and B, text that stays readable. Light and dark."""

from __future__ import annotations

import math
from functools import lru_cache

Pair = tuple[str, str]

SYSTEM_A: Pair = ("#b45309", "#f5a623")
"""Amber, for light and dark pages."""

SYSTEM_B: Pair = ("#1d5fd1", "#6aaeff")
"""Blue, for light and dark pages."""

NEUTRAL: Pair = ("#f3f3f1", "#2a2d33")
"""A value of zero, on light and dark pages."""

UNDEFINED: Pair = ("#d5d5d5", "#45474c")
"""A value that is not there."""

POSITIVE: Pair = ("#2264c0", "#5ba4f5")
NEGATIVE: Pair = ("#c2302c", "#f3685e")
MORE_A: Pair = ("#c46f00", "#f0a030")
MORE_B: Pair = ("#3b7ddb", "#5ba4f5")
AMOUNT: Pair = ("#6a3fa3", "#b792f0")

STEPS = 128
LEAST_CONTRAST = 4.5
"""WCAG 2.2, level AA, for text of normal size. The better of black and white always has 4.58 or more."""


def diverging(value: float, limit: float, dark: bool = False) -> Pair:
    """The blue–neutral–red scale of signed importances: blue above zero, red below, neutral at zero.

    Parameters
    ----------
    value : the importance; NaN gets the colour of undefined values.
    limit : the size that has the strongest colour; what lies beyond has it too.
    dark : True on a dark page.

    Returns
    -------
    (background, text) as `#rrggbb`; the text's contrast with the background is at least `LEAST_CONTRAST`.
    """
    return _signed(value, limit, POSITIVE[dark], NEGATIVE[dark], dark)


def difference(value: float, limit: float, dark: bool = False) -> Pair:
    """The scale of differences between two systems: amber where A has more, blue where B has. See `diverging`."""
    return _signed(value, limit, MORE_A[dark], MORE_B[dark], dark)


def diverging_palette(dark: bool = False) -> tuple[str, ...]:
    """The backgrounds of `diverging` in order: 2 × STEPS + 1 colours, strongest red first, neutral in the middle."""
    below, above = (_ramp(NEUTRAL[dark], end) for end in (NEGATIVE[dark], POSITIVE[dark]))
    return tuple(background for background, _ in (*below[:0:-1], *above))


def sequential(value: float, limit: float, dark: bool = False) -> Pair:
    """The single-hue scale of unsigned values, from neutral at zero (and below) to violet at `limit`. See `diverging`."""
    if math.isnan(value):
        return _undefined(dark)
    return _ramp(NEUTRAL[dark], AMOUNT[dark])[_step(max(0.0, value), limit)]


def contrast_text(background: str) -> str:
    """Black or white, whichever can be read better on a background `#rrggbb`."""
    return max(("#000000", "#ffffff"), key=lambda text: contrast(text, background))


def contrast(first: str, second: str) -> float:
    """The contrast ratio of two colours, 1 … 21. Source: WCAG 2.2, definition of contrast ratio."""
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    """The relative luminance of `#rrggbb`, 0 … 1. Source: WCAG 2.2."""
    red, green, blue = _linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def oklab(colour: str) -> tuple[float, float, float]:
    """Lightness, green–red and blue–yellow of `#rrggbb` in OKLab, where equal distances look alike. Source: Ottosson 2020."""
    red, green, blue = _linear(colour)
    long = math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue)
    middle = math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue)
    short = math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue)
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


def _from_oklab(lightness: float, a: float, b: float) -> str:
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
    )
    return "#" + "".join(f"{_encoded(part):02x}" for part in linear)


def _signed(value: float, limit: float, above: str, below: str, dark: bool) -> Pair:
    if math.isnan(value):
        return _undefined(dark)
    return _ramp(NEUTRAL[dark], above if value > 0 else below)[_step(abs(value), limit)]


def _undefined(dark: bool) -> Pair:
    return UNDEFINED[dark], contrast_text(UNDEFINED[dark])


def _step(size: float, limit: float) -> int:
    if not limit > 0 or math.isinf(limit):
        return 0
    return round(min(1.0, size / limit) * STEPS)


@lru_cache(maxsize=32)
def _ramp(start: str, end: str) -> tuple[Pair, ...]:
    """Backgrounds from one colour to another in even steps to the eye, each with its text colour."""
    first, last = oklab(start), oklab(end)
    backgrounds = [
        _from_oklab(*(a + (b - a) * step / STEPS for a, b in zip(first, last, strict=True))) for step in range(STEPS + 1)
    ]
    return tuple((background, contrast_text(background)) for background in backgrounds)


def _linear(colour: str) -> tuple[float, float, float]:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return red, green, blue


def _encoded(part: float) -> int:
    part = min(1.0, max(0.0, part))
    return round(255 * (12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055))

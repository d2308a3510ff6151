"""Where two files that should be parallel seem to part: an alignment by length and shared words."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

_WORDS = re.compile(r"\d+|[^\W\d_]+|[^\w\s]")
_BITS = 256
_SKIP = 0.65  # the least cost of a line without partner; two cost more than the worst pair, so that one odd pair is no shift
_SLACK = 3  # shifts beyond the difference of the line counts that are considered
_WIDEST = 60  # larger differences are looked for in one step
_SMALL = 6_000  # longer files are first searched by halves, probing so many lines:
_PROBE, _STEP = 150, 1_000
_WORDS_READ = 14  # words of a line that are compared


@dataclass(frozen=True)
class Parting:
    """The place where two files part: `line` (from 1) is the first line that has no partner, in the file that has a line more."""

    line: int
    extra_in_second: bool
    at_end: bool


def find_parting(first: Sequence[str], second: Sequence[str]) -> Parting:
    """Estimate where two files of different length part.

    Lines are paired in order, at the least cost; a pair costs little where the lines share words, numbers and signs and
    their lengths agree, and a line may stay without partner at a price.
    """
    shorter = min(len(first), len(second))
    if not shorter:
        return Parting(1, len(second) > 0, True)
    shift = len(second) - len(first)
    start = _bisect(first, second, shift) if shorter > _SMALL else 0
    end = start + 2 * _PROBE + _STEP if shorter > _SMALL else max(len(first), len(second))
    first, second = first[start:end], second[start:end]
    a, b = _features(first), _features(second)
    ratio = _ratio(a, b)
    place = _one_step(a, b, shift, ratio) if abs(shift) > _WIDEST else _first_step(a, b, shift, ratio, shorter <= _SMALL)
    if place is None:
        place = (shorter + 1 - start) * (1 if shift > 0 else -1)
    return Parting(abs(place) + start, place > 0, abs(place) + start > shorter)


@dataclass(frozen=True)
class _Features:
    """What is compared: log lengths float64[n], hashed words uint64[n, 4], the number of set bits int[n]."""

    length: np.ndarray
    words: np.ndarray
    count: np.ndarray


def _features(lines: Sequence[str]) -> _Features:
    packed = bytearray()
    for line in lines:
        bits = 0
        for word in _WORDS.findall(line[:160].casefold())[:_WORDS_READ]:
            bits |= 1 << (crc32(word[:6].encode("utf-8", "replace")) % _BITS)
        packed += bits.to_bytes(_BITS // 8, "little")
    words = np.frombuffer(bytes(packed), dtype=np.uint64).reshape(len(lines), _BITS // 64)
    length = np.array([math.log(len(line.strip()) + 3) for line in lines])
    return _Features(length, words, np.bitwise_count(words).sum(axis=1))


def _cost(a: _Features, b: _Features, start: int, end: int, shift: int, ratio: float) -> np.ndarray:
    """The cost of pairing lines `start … end` of the first file with those `shift` further on in the second: 0 … 1."""
    left, right = slice(start, end), slice(start + shift, end + shift)
    shared = np.bitwise_count(a.words[left] & b.words[right]).sum(axis=1)
    fewest = np.minimum(a.count[left], b.count[right])
    overlap = np.where(fewest > 0, shared / np.maximum(fewest, 1), (a.count[left] == b.count[right]).astype(float))
    closeness = np.exp(-2 * np.abs(a.length[left] - b.length[right] - ratio))
    return 1 - 0.65 * overlap - 0.35 * closeness


def _ratio(a: _Features, b: _Features) -> float:
    """The usual difference of the log lengths of two lines that belong together."""
    shorter = min(len(a.length), len(b.length))
    return float(np.median(a.length[:shorter] - b.length[:shorter])) if shorter else 0.0


def _bisect(first: Sequence[str], second: Sequence[str], shift: int) -> int:
    """A line up to which the files are in step, at most `_STEP` lines before they part."""
    low, high = 0, min(len(first), len(second))
    while high - low > _STEP:
        middle = (low + high) // 2
        if _in_step(first, second, middle, shift):
            low = middle
        else:
            high = middle
    return low


def _in_step(first: Sequence[str], second: Sequence[str], line: int, shift: int) -> bool:
    """Whether the lines after `line` fit better as they stand than with any shift."""
    widest = min(abs(shift), _WIDEST) + _SLACK
    start = max(0, line - widest)
    a, b = _features(first[line : line + _PROBE]), _features(second[start : line + _PROBE + widest])
    ratio = _ratio(a, _features(second[line : line + _PROBE]))
    costs = {}
    for step in range(-min(widest, line), widest + 1):
        rows = min(len(a.length), len(b.length) - (line - start) - step)
        if rows > _PROBE // 2:
            moved = _Features(*(values[line - start + step :] for values in (b.length, b.words, b.count)))
            costs[step] = float(_cost(a, moved, 0, rows, 0, ratio).mean())
    if 0 not in costs:
        return True
    others = [cost for step, cost in costs.items() if step]
    return costs[0] <= min(others) and float(np.median(others)) - costs[0] > 0.02


def _first_step(a: _Features, b: _Features, shift: int, ratio: float, whole: bool) -> int | None:
    """The first line without partner on the cheapest path, negative where it is in the first file; None at the end."""
    rows, others = len(a.length), len(b.length)
    shifts = np.arange(min(0, shift) - _SLACK, max(0, shift) + _SLACK + 1)
    pairs = np.full((rows, len(shifts)), np.inf)
    for column, step in enumerate(shifts.tolist()):
        start, end = max(0, -step), min(rows, others - step)
        if end > start:
            pairs[start:end, column] = _cost(a, b, start, end, step, ratio)
    typical = min(float(np.median(cost[np.isfinite(cost)])) for cost in pairs.T if np.isfinite(cost).any())
    skip = max(_SKIP, typical + 0.3)
    index = np.arange(len(shifts))
    zero = int(np.flatnonzero(shifts == 0)[0])
    cost = np.where(index >= zero, (index - zero) * skip, np.inf)
    left = np.where(index > zero, 1, 0)  # where the path to each state first left the shift of zero; 0: not yet
    for row in range(rows):
        matched = cost + pairs[row]
        alone = np.append(cost[1:], np.inf) + skip  # this line of the first file has no partner
        use = alone < matched
        new = np.where(use, alone, matched)
        from_left = np.append(left[1:], 0)
        new_left = np.where(use, np.where(from_left == 0, -(row + 1), from_left), left)
        floor = np.minimum.accumulate(new - index * skip)  # lines of the second file without partner
        source = np.maximum.accumulate(np.where(new - index * skip <= floor, index, 0))
        moved = source != index
        left = np.where(moved & (new_left[source] == 0), row + 2, new_left[source])
        cost = floor + index * skip
    rest = others - rows - shifts
    total = np.where(rest >= 0, cost + rest * skip, np.inf) if whole else cost
    best = int(np.argmin(total))
    return int(left[best]) or None


def _one_step(a: _Features, b: _Features, shift: int, ratio: float) -> int | None:
    """Where the lines cease to fit as they stand: the change of the mean cost of a pair, for differences of many lines."""
    shorter = min(len(a.length), len(b.length))
    cost = _cost(a, b, 0, shorter, 0, ratio)
    unrelated = np.concatenate([_cost(a, b, 0, shorter - step, step, ratio) for step in (1, 2, 3) if shorter > step] or [cost])
    apart = float(unrelated.mean())
    together = min(float(np.quantile(cost, 0.3)), apart - 0.05)
    gains = np.concatenate([[0.0], np.cumsum((apart + together) / 2 - cost)])
    place = int(np.argmax(gains))
    at_end = gains[-1] >= gains[place] - 0.5
    return None if at_end else (place + 1) * (1 if shift > 0 else -1)

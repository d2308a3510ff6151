"""Word tags of quality estimation (0/1 or OK/BAD, for words alone or words and gaps); tagged words become error spans."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.corpus.findings import Findings
from engine.corpus.plain import Lines
from engine.corpus.types import ErrorSpan

_GOOD, _BAD = frozenset({"0", "OK", "ok"}), frozenset({"1", "BAD", "bad"})


def is_tags(lines: Sequence[str]) -> bool:
    """Whether lines hold nothing but tags."""
    tags = [tag for line in lines[:200] for tag in line.split()]
    return bool(tags) and all(tag in _GOOD or tag in _BAD for tag in tags)


def spans_of(tags: Lines, texts: Sequence[str | None], system: str, side: str, findings: Findings) -> list[ErrorSpan]:
    """The tagged words of all segments as error spans; where tags and words differ in number, that is reported.

    Parameters
    ----------
    texts : the tagged texts, words separated by spaces.
    side : "hypothesis" or "source".
    """
    spans: list[ErrorSpan] = []
    wrong: list[int] = []
    for segment, (line, text) in enumerate(zip(tags.lines, texts)):
        marks = line.split()
        words = [match.span() for match in re.finditer(r"\S+", text or "")]
        if len(marks) not in (len(words), 2 * len(words) + 1) or any(mark not in _GOOD | _BAD for mark in marks):
            wrong.append(segment + 1)
            continue
        gaps = len(marks) != len(words)
        for place, mark in enumerate(marks):
            if mark in _BAD and not gaps:
                spans.append(ErrorSpan(segment, system, side, *words[place], "tagged word"))
            elif mark in _BAD and place % 2:
                spans.append(ErrorSpan(segment, system, side, *words[place // 2], "tagged word"))
            elif mark in _BAD:
                edge = words[place // 2][0] if place // 2 < len(words) else len(text or "")
                spans.append(ErrorSpan(segment, system, side, edge, edge, "missing words"))
    if wrong:
        findings.lines(
            "tag-mismatch",
            tags.file,
            wrong,
            "Tags and words differ in number in {lines}; these tags were left out.",
            "Give the tokenised text that was tagged.",
        )
    return spans

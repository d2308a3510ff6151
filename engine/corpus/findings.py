"""How readers report: a list of findings that grows, and a way to refuse a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from engine.corpus.types import Finding

Severity = Literal["fatal", "warning", "note"]


class Refused(Exception):
    """A reader cannot go on; `finding` says why. Caught where the files were named."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


def refuse(kind: str, file: str, message: str, remedy: str, line: int | None = None) -> Refused:
    """The exception that refuses a file."""
    return Refused(Finding(kind, file, line, message, remedy, "fatal"))


class Findings:
    """What has been noticed so far, in order, each thing once."""

    def __init__(self) -> None:
        self._items: dict[Finding, None] = {}

    def add(
        self, kind: str, file: str, message: str, remedy: str, line: int | None = None, severity: Severity = "warning"
    ) -> None:
        """Report one thing."""
        self._items[Finding(kind, file, line, message, remedy, severity)] = None

    def note(
        self, kind: str, file: str, message: str, remedy: str = "Nothing needs to be done.", line: int | None = None
    ) -> None:
        """Report something that is in order, but should be known."""
        self.add(kind, file, message, remedy, line, "note")

    def lines(
        self,
        kind: str,
        file: str,
        lines: Sequence[int | None],
        message: str,
        remedy: str,
        severity: Severity = "warning",
        total: int | None = None,
    ) -> None:
        """Report the same thing on many lines as one finding.

        Parameters
        ----------
        lines : the lines; the first is the finding's line.
        message : its `{lines}` becomes "line 3", "lines 3 and 9" or "lines 3, 5, 9, 12, 15 and 40 more" (by `total`, if given).
        """
        count = len(lines) if total is None else total
        known = [line for line in lines if line]
        text = message.replace("{lines}", listed(known, count))
        self.add(kind, file, text, remedy, known[0] if known else None, severity)

    def extend(self, findings: Iterable[Finding]) -> None:
        """Take over other findings."""
        self._items.update(dict.fromkeys(findings))

    def done(self) -> tuple[Finding, ...]:
        """All findings: fatal ones first, then warnings, then notes."""
        order = {"fatal": 0, "warning": 1, "note": 2}
        return tuple(sorted(self._items, key=lambda finding: order[finding.severity]))

    @property
    def fatal(self) -> bool:
        """Whether anything was refused."""
        return any(finding.severity == "fatal" for finding in self._items)


def listed(lines: Sequence[int], count: int | None = None, shown: int = 5) -> str:
    """Name lines in words: "line 3", "lines 3, 5 and 9", "lines 3, 5, 9, 12, 15 and 40 more"; "places" where no line is known."""
    count = len(lines) if count is None else count
    if not lines:
        return "one place" if count == 1 else f"{count:,} places"
    if count == 1:
        return f"line {lines[0]}"
    return "lines " + enumerated([str(line) for line in lines], count, shown)


def enumerated(names: Sequence[str], count: int | None = None, shown: int = 5) -> str:
    """Join names: "a", "a and b", "a, b, c, d, e and 40 more"."""
    count = len(names) if count is None else count
    head = list(names[:shown])
    if count > len(head):
        return ", ".join(head) + f" and {count - len(head):,} more"
    return head[0] if len(head) == 1 else ", ".join(head[:-1]) + f" and {head[-1]}"


def plural(count: int, noun: str) -> str:
    """`1 line`, `2 lines`, `1,000 lines`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"

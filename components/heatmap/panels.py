"""What a heatmap shows, as plain data: panels of words with values, and the runs of text the browser draws."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from components.numbers import decimals, signed
from engine.explain.words import Word
from engine.report.colours import difference, diverging


@dataclass(frozen=True)
class Mark:
    """A marked error in a panel's text: characters `start` to `end` (exclusive); equal where something is missing."""

    start: int
    end: int
    label: str  # "number · major"
    origin: str  # "Planted error" or "Marked error"
    minor: bool = False


@dataclass(frozen=True)
class Scale:
    """The colour scale that all panels of one heatmap share.

    Attributes
    ----------
    limit : the value of the strongest colour.
    title, low, high : what is coloured, and what the two ends of the legend mean.
    unit : the unit of the values.
    kind : "importance" (signed, blue to red), "difference" (signed, blue for B to amber for A).
    flipped : True for error rates, where a positive importance is bad and so red.
    """

    limit: float
    title: str
    low: str
    high: str
    unit: str = ""
    kind: str = "importance"
    flipped: bool = False

    @property
    def places(self) -> int:
        """Decimals that show three digits of the largest value."""
        return decimals(self.limit)

    def colour(self, value: float, dark: bool) -> tuple[str, str]:
        """Background and text colour of a value."""
        paint = difference if self.kind == "difference" else diverging
        return paint(-value if self.flipped else value, self.limit, dark)

    def stops(self) -> list[dict[str, str]]:
        """The legend's swatches, from the low end to the high one."""
        way = -1 if self.flipped else 1
        shares = [way * step / 3 for step in range(-3, 4)]
        return [
            {
                "light": self.colour(share * self.limit, False)[0],
                "dark": self.colour(share * self.limit, True)[0],
                "label": signed(share * self.limit, self.places) if place in (0, 3, 6) else "",
            }
            for place, share in enumerate(shares)
        ]


def largest(arrays: Iterable[np.ndarray]) -> float:
    """The largest absolute value in any of the arrays; 1 where there is none, so that a scale can be made of it."""
    tops = [float(np.nanmax(np.abs(values))) for values in arrays if len(values) and not np.isnan(values).all()]
    return max(tops, default=0.0) or 1.0


@dataclass(frozen=True, eq=False)
class Panel:
    """One text as a heatmap shows it.

    Attributes
    ----------
    id : unique within the heatmap; `side` says which text it is, so that the same reference is linked across systems.
    words, values : the words and one value each; None where there is nothing to colour.
    tone, tag : `a` or `b` and the letter on the coloured tag; empty for texts that both systems share.
    changed : positions of the words that the other system does not have.
    """

    id: str
    side: str
    text: str | None
    words: Sequence[Word] = ()
    values: np.ndarray | None = None
    tone: str = ""
    tag: str = ""
    title: str = ""
    kind: str = ""
    meta: str = ""
    note: str = ""
    empty: str = "empty text"
    language: str = ""
    marks: Sequence[Mark] = ()
    changed: frozenset[int] = frozenset()
    details: Sequence[Sequence[tuple[str, str]]] = field(default=())

    def as_data(self, scale: Scale) -> dict[str, Any]:
        """The panel as the browser gets it."""
        return {
            "id": self.id,
            "side": self.side,
            "tone": self.tone,
            "tag": self.tag,
            "title": self.title,
            "kind": self.kind,
            "meta": self.meta,
            "note": self.note,
            "empty": self.empty if self.text == "" else "no text",
            "lang": self.language,
            "coloured": self.values is not None,
            "runs": self._runs(scale),
        }

    def _runs(self, scale: Scale) -> list[dict[str, Any]]:
        """Words, what stands between them, and a caret where a mark has no width."""
        if not self.text:
            return []
        ranks = _ranks(self.values)
        gaps = sorted((mark for mark in self.marks if mark.start == mark.end), key=lambda mark: -mark.start)
        runs: list[dict[str, Any]] = []
        done = 0

        def go_to(place: int) -> None:
            runs.extend(_carets(gaps, done))
            if place > done:
                runs.append({"pieces": self._pieces(done, place)})
            runs.extend(_carets(gaps, place))

        for position, word in enumerate(self.words):
            go_to(word.start)
            runs.append(self._word(position, word, ranks, scale))
            done = word.end
        go_to(len(self.text))
        return runs + _carets(gaps, len(self.text) + 1)

    def _word(self, position: int, word: Word, ranks: np.ndarray | None, scale: Scale) -> dict[str, Any]:
        run: dict[str, Any] = {"word": position, "pieces": self._pieces(word.start, word.end)}
        marks = [mark for mark in self.marks if mark.start < word.end and mark.end > word.start]
        rows: list[tuple[str, str]] = []
        if self.values is not None and ranks is not None:
            value = float(self.values[position])
            run["light"], run["dark"] = scale.colour(value, False), scale.colour(value, True)
            run["value"] = signed(value, scale.places)
            if np.isnan(value):
                rows.append((scale.title, "not defined"))
            else:
                rows.append((scale.title, " ".join(filter(None, (run["value"], scale.unit)))))
                rows.append(("Rank", f"{ranks[position]} of {len(self.words)}"))
        if self.details:
            rows += list(self.details[position])
        rows += [(mark.origin, mark.label) for mark in marks]
        run["tip"] = rows
        run["label"] = ", ".join([word.text] + [f"{name} {value}" for name, value in rows])
        if position in self.changed:
            run["changed"] = True
        return run

    def _pieces(self, start: int, end: int) -> list[tuple[str, str]]:
        """The text from `start` to `end`, cut where marks begin and end; each piece with its style."""
        assert self.text is not None
        cuts = sorted({start, end, *(edge for mark in self.marks for edge in (mark.start, mark.end) if start < edge < end)})
        pieces = []
        for left, right in zip(cuts, cuts[1:], strict=False):
            covering = [mark for mark in self.marks if mark.start <= left and mark.end >= right and mark.end > mark.start]
            style = "" if not covering else "minor" if all(mark.minor for mark in covering) else "major"
            pieces.append((self.text[left:right], style))
        return pieces


def _carets(gaps: list[Mark], place: int) -> list[dict[str, Any]]:
    """Take the marks up to `place` off the end of `gaps`, as runs."""
    carets = []
    while gaps and gaps[-1].start <= place:
        mark = gaps.pop()
        carets.append({"caret": f"{mark.origin}: {mark.label}"})
    return carets


def _ranks(values: np.ndarray | None) -> np.ndarray | None:
    """Rank of each word by absolute value, the strongest first, from 1."""
    if values is None:
        return None
    ranks = np.empty(len(values), dtype=int)
    ranks[np.argsort(-np.abs(values), kind="stable")] = np.arange(1, len(values) + 1)
    return ranks

"""The map of cells over two numbers: coloured by value, read with the pointer or the arrow keys, chosen with a click or Enter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from components.browser import mounted
from components.workspace import Workspace

_mount = mounted(Path(__file__).parent)


@dataclass(frozen=True)
class Axis:
    """What stands on one side: values in even steps, from low to high, and how each is written."""

    title: str
    name: str
    values: Sequence[float]
    texts: Sequence[str]


@dataclass(frozen=True)
class Legend:
    """What the colours mean: the title, and from low to high where (0 … 1) which tone stands, and how its value is written."""

    title: str
    stops: Sequence[tuple[float, int, str]]


@dataclass(frozen=True)
class Lane:
    """Below the cells, a share (0 … 1) for each column."""

    name: str
    shares: Sequence[float]


@dataclass(frozen=True)
class Mark:
    """A ring on a cell, with its name."""

    x: float
    y: float
    text: str


@dataclass(frozen=True)
class CellMap:
    """A map of X columns and Y rows.

    Attributes
    ----------
    tones : int[X, Y], place of each cell's colour in the palettes; −1 where the cell is undefined.
    palettes, undefined : colours of the tones and of undefined cells, on light and on dark pages.
    tips : what a cell says: name → its texts, one for each column (X) or for each cell (X × Y, column by column).
    lines : border lines (x1, y1, x2, y2) in the values of the axes.
    words : written into the highest row, from the left.
    notes : what stands below; long ones are broken into lines.
    file : name of the saved image, without its ending.
    alt : what the map is, for those who do not see it.
    """

    x: Axis
    y: Axis
    tones: np.ndarray
    palettes: tuple[Sequence[str], Sequence[str]]
    undefined: tuple[str, str]
    tips: Mapping[str, Sequence[str]]
    lines: Sequence[tuple[float, float, float, float]] = ()
    lane: Lane | None = None
    legend: Legend | None = None
    marks: Sequence[Mark] = ()
    words: str = ""
    notes: Sequence[str] = ()
    file: str = "map"
    alt: str = ""

    def as_data(self) -> dict[str, Any]:
        """The map as the browser gets it."""
        plain = {name: value for name, value in vars(self).items() if name not in ("x", "y", "tones", "lane", "legend", "marks")}
        return plain | {
            "x": vars(self.x),
            "y": vars(self.y),
            "tones": self.tones.ravel().tolist(),
            "tips": list(self.tips.items()),
            "lane": self.lane and vars(self.lane),
            "legend": self.legend and vars(self.legend),
            "marks": [vars(mark) for mark in self.marks],
        }


def show_cell_map(cells: CellMap, key: str, work: Workspace, then: Callable[[float, float], None]) -> None:
    """Draw the map; `then` gets the column's and the row's value of the cell that is chosen."""

    def take() -> None:
        picked = work.read(key).picked
        x, y = (_nearest(axis, picked[name]) for axis, name in ((cells.x, "x"), (cells.y, "y")))
        then(x, y)

    _mount(data=cells.as_data(), key=key, on_picked_change=take)


def _nearest(axis: Axis, value: float) -> float:
    return min(axis.values, key=lambda known: abs(known - value))

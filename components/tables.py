"""Tables whose negative numbers have a true minus sign, as everywhere on screen, and sort as numbers nevertheless."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from components.numbers import MINUS, MISSING
from components.workspace import Workspace


def show_table(frame: pd.DataFrame, config: Mapping[str, Any], **arguments: Any) -> Any:
    """Draw a table as `st.dataframe` does; a dash stands where there is no value.

    Parameters
    ----------
    config : column → its configuration; a number column's format is in the style of printf.
    """
    arguments = {"hide_index": True, "placeholder": MISSING, **arguments}
    writers = {name: _writer(format) for name, format in _formats(frame, config).items()}
    if not writers:
        return st.dataframe(frame, column_config=dict(config), **arguments)
    own = {name: _without_format(column) if name in writers else column for name, column in config.items()}
    return st.dataframe(frame.style.format(writers), column_config=own, **arguments)


def picked_row(work: Workspace, key: str) -> int | None:
    """The row of the table with this key that was clicked, be it at its mark or in a cell; None where none was."""
    selection = work.read(key, {}).get("selection", {})
    rows = selection.get("rows") or [cell[0] for cell in selection.get("cells", [])]
    return rows[0] if rows else None


def title_width(title: str) -> int:
    """How many pixels a column needs for its title."""
    return max(80, 26 + 6 * len(title))


def rank_change(places: float) -> str:
    """Places gained (▲) or lost (▼) in a ranking; empty where a rank is missing."""
    if not math.isfinite(places):
        return ""
    return "=" if places == 0 else ("\u25b2" if places > 0 else "\u25bc") + f" {abs(places):g}"


def _formats(frame: pd.DataFrame, config: Mapping[str, Any]) -> dict[str, str]:
    """The formats of the columns that hold negative numbers."""
    found = {}
    for name, column in config.items():
        format = (column.get("type_config") or {}).get("format") if isinstance(column, dict) else None
        if format and name in frame and pd.api.types.is_numeric_dtype(frame[name]) and (frame[name] < 0).any():
            found[name] = format
    return found


def _writer(format: str) -> Callable[[float], str]:
    def write(value: float) -> str:
        if value is None or math.isnan(value):
            return MISSING
        text = format % value
        return text.lstrip("+-") if float(text) == 0 else text.replace("-", MINUS)

    return write


def _without_format(column: dict[str, Any]) -> dict[str, Any]:
    return {**column, "type_config": {**column["type_config"], "format": None}}

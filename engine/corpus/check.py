"""Findings as a table, for the command `check` and for the page."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from engine.corpus.types import Finding

COLUMNS = ("kind", "file", "line", "message", "remedy", "severity")


def findings_frame(findings: Sequence[Finding]) -> pd.DataFrame:
    """One row per finding, in the order given, with the columns of `COLUMNS`; `line` is missing where none is known.

    A file name that is no UTF-8 reaches Python with half surrogate pairs, which a table cannot hold; they become escapes.
    """
    rows = [[_whole(getattr(finding, column)) for column in COLUMNS] for finding in findings]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    frame["line"] = frame["line"].astype("Int64")
    return frame


def _whole(value: str | int | None) -> str | int | None:
    return value.encode("utf-8", "backslashreplace").decode("utf-8") if isinstance(value, str) else value

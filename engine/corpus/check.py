"""Findings as a table, for the command `check` and for the page."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from engine.corpus.file_names import whole
from engine.corpus.types import Finding

COLUMNS = ("kind", "file", "line", "message", "remedy", "severity")


def findings_frame(findings: Sequence[Finding]) -> pd.DataFrame:
    """One row per finding, in the order given, with the columns of `COLUMNS`; `line` is missing where none is known.

    Names that a table cannot hold are escaped (see `whole`).
    """
    values = [[getattr(finding, column) for column in COLUMNS] for finding in findings]
    rows = [[whole(value) if isinstance(value, str) else value for value in row] for row in values]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    frame["line"] = frame["line"].astype("Int64")
    return frame

"""What a command gives back: a table for files, and what is printed where no file is named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True, eq=False)
class Result:
    """The outcome of a command.

    Attributes
    ----------
    table : one table, or its parts one after the other, so that a long one need not be held at once.
    status : the exit status: 0, or 2 where nothing in the table is defined.
    shown : makes the text that is printed where no file is named; the whole table where not given.
    last_lines : what goes to standard output after that text, or alone where the table goes to a file.
    """

    table: pd.DataFrame | Iterable[pd.DataFrame]
    status: int = 0
    shown: Callable[[], str] | None = None
    last_lines: tuple[str, ...] = ()

    def parts(self) -> Iterator[pd.DataFrame]:
        """The parts of the table."""
        return iter([self.table] if isinstance(self.table, pd.DataFrame) else self.table)

"""What goes into reading and what comes out: the files named, the corpus, the findings, the table that needs a mapping."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from engine.corpus.types import Corpus, Finding, Languages


@dataclass(frozen=True)
class Inputs:
    """What the user names: whole corpora (`paths`), or parts.

    Attributes
    ----------
    paths : files or folders in a recognised format.
    source, references, systems : plain text, one segment per line; `systems` by name.
    scores : human scores by criterion.
    languages : source and target language; also chooses among the language pairs of a folder or table that holds several.
    """

    paths: tuple[Path, ...] = ()
    source: Path | None = None
    references: tuple[Path, ...] = ()
    systems: Mapping[str, Path] = field(default_factory=dict)
    scores: Mapping[str, Path] = field(default_factory=dict)
    languages: Languages = (None, None)


@dataclass(frozen=True)
class TablePreview:
    """A table as the user sees it while saying which column is what.

    Attributes
    ----------
    columns : the columns' names.
    rows : the first rows, as text.
    guess : column → role ("source", "reference", "reference:2", "hypothesis", "hypothesis:NAME", "system", "segment", "document",
        "languages", "score:CRITERION", "score:CRITERION@SYSTEM", "penalty:CRITERION", "ignore").
    certain : whether the guess can stand without asking.
    reader : the kind of file.
    reason : why the guess is not certain.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    guess: Mapping[str, str]
    certain: bool
    reader: str
    file: str = ""
    reason: str = ""

    def mapping(self) -> dict[str, str]:
        """The guess as `load` takes it: role → column."""
        return {role: column for column, role in self.guess.items() if role != "ignore"}


@dataclass(frozen=True)
class Loaded:
    """The outcome of reading.

    Attributes
    ----------
    corpus : None where reading was refused (a finding is fatal) or a mapping must be asked for (`table` is set).
    findings : what was noticed, fatal things first.
    table : set for every table, so that its mapping can be shown and changed.
    language_pairs : the language pairs to choose from, where the input holds several.
    """

    corpus: Corpus | None
    findings: tuple[Finding, ...]
    table: TablePreview | None = None
    language_pairs: tuple[str, ...] = ()

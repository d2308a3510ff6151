"""Which column of a table is what: the mapping a user writes, and the guess where none is given."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine.corpus.findings import Refused, enumerated, refuse
from engine.corpus.grid import Grid
from engine.errors import InputError

ROLES = ("source", "reference", "hypothesis", "system", "segment", "document", "languages", "score", "penalty", "ignore")
"""The roles that a column can have; reference may carry a number, hypothesis a system's name, score and penalty a criterion."""

_ALIASES = {
    "src": "source",
    "ref": "reference",
    "references": "reference",
    "hyp": "hypothesis",
    "mt": "hypothesis",
    "output": "hypothesis",
    "sys": "system",
    "seg": "segment",
    "id": "segment",
    "doc": "document",
    "lp": "languages",
    "langs": "languages",
}


@dataclass(frozen=True)
class ScoreColumn:
    """A column of human scores. `system` is None where the row says whose they are; `sign` is -1 for penalties."""

    column: str
    criterion: str
    system: str | None = None
    sign: int = 1


@dataclass(frozen=True)
class Columns:
    """Which columns hold what. `hypotheses` maps system names to columns; a single unnamed column stands under ""."""

    source: str | None = None
    references: tuple[str, ...] = ()
    hypotheses: Mapping[str, str] = field(default_factory=dict)
    system: str | None = None
    segment: str | None = None
    document: str | None = None
    languages: str | None = None
    scores: tuple[ScoreColumn, ...] = ()

    @property
    def used(self) -> set[str]:
        """The columns that are read."""
        single = [self.source, self.system, self.segment, self.document, self.languages]
        return {*filter(None, single), *self.references, *self.hypotheses.values(), *(score.column for score in self.scores)}


def parse_columns(text: str) -> dict[str, str]:
    """Read a mapping such as `source=src,hypothesis=mt,reference=ref,reference:2=ref b,score:adequacy=adq`.

    Each item is ROLE=COLUMN. Roles: source, reference (reference:2 …), hypothesis (hypothesis:NAME for each system of a table
    with one column per system), system, segment, document, languages, score (score:CRITERION, score:CRITERION@SYSTEM) and
    penalty (a score where lower is better). A column is named by its header, or by its number as #1, #2 … An item that holds a
    comma stands in double quotes: `"source=text, original"`.

    Returns
    -------
    role → column.

    Raises
    ------
    InputError : an item that is not ROLE=COLUMN, an unknown role, or a role given twice.
    """
    mapping: dict[str, str] = {}
    for item in _items(text):
        role, equals, column = item.partition("=")
        role, column = role.strip(), column.strip()
        if not equals or not role or not column:
            raise InputError(f"--columns {item!r} is not written ROLE=COLUMN; roles are {', '.join(ROLES[:-1])}")
        kind, colon, rest = role.partition(":")
        kind = _ALIASES.get(kind.strip().casefold(), kind.strip().casefold())
        if kind not in ROLES:
            raise InputError(f"--columns names the unknown role {role!r}; roles are {', '.join(ROLES[:-1])}")
        if kind == "ignore":
            continue
        role = f"{kind}:{rest.strip()}" if colon else kind
        if role in mapping:
            raise InputError(
                f"--columns gives the role {role!r} twice; number references (reference:2) and name systems (hypothesis:NAME)"
            )
        mapping[role] = column
    return mapping


def format_columns(mapping: Mapping[str, str]) -> str:
    """Write a mapping as `parse_columns` reads it."""
    items = [f"{role}={column}" for role, column in mapping.items()]
    return ",".join('"' + item.replace('"', '""') + '"' if re.search('[",]', item) else item for item in items)


def resolve(mapping: Mapping[str, str], grid: Grid) -> Columns:
    """The columns that a mapping names.

    Raises
    ------
    Refused : a column that the table does not have, a role that is unknown or has a wrong number.
    """
    source = system = segment = document = languages = None
    references: list[tuple[int, str]] = []
    hypotheses: dict[str, str] = {}
    scores: list[ScoreColumn] = []
    for role, named in mapping.items():
        kind, _, rest = role.partition(":")
        kind = _ALIASES.get(kind.strip().casefold(), kind.strip().casefold())
        rest = rest.strip()
        column = _column(named, grid)
        if kind == "source":
            source = column
        elif kind == "reference":
            if rest and not rest.isdecimal():
                raise _wrong_role(role, grid.file)
            references.append((int(rest or 1), column))
        elif kind == "hypothesis":
            hypotheses[rest] = column
        elif kind == "system":
            system = column
        elif kind == "segment":
            segment = column
        elif kind == "document":
            document = column
        elif kind == "languages":
            languages = column
        elif kind in ("score", "penalty"):
            criterion, owner = _owner(rest or column, mapping)
            scores.append(ScoreColumn(column, criterion or column, owner, -1 if kind == "penalty" else 1))
        elif kind != "ignore":
            raise _wrong_role(role, grid.file)
    chosen = tuple(column for _, column in sorted(references, key=lambda item: item[0]))
    return Columns(source, chosen, hypotheses, system, segment, document, languages, tuple(scores))


def _owner(text: str, mapping: Mapping[str, str]) -> tuple[str, str | None]:
    """Split `human@System A` where a system of that name is mapped."""
    systems = {role.partition(":")[2].strip() for role in mapping if role.startswith("hypothesis:")}
    criterion, at, system = text.rpartition("@")
    return (criterion.strip(), system.strip()) if at and system.strip() in systems else (text, None)


def _column(name: str, grid: Grid) -> str:
    if name in grid.columns:
        return name
    folded = [column for column in grid.columns if column.casefold() == name.strip().casefold()]
    if len(folded) == 1:
        return folded[0]
    number = re.fullmatch(r"#(\d+)", name.strip())
    if number and 1 <= int(number[1]) <= len(grid.columns):
        return list(grid.columns)[int(number[1]) - 1]
    raise refuse(
        "unknown-column",
        grid.file,
        f"The table has no column {name!r}; its columns are {enumerated(list(grid.columns), shown=30)}.",
        "Name one of these columns, or give its number (#1, #2 …).",
        grid.lines[0] if grid.lines else None,
    )


def _wrong_role(role: str, file: str) -> Refused:
    return refuse("unknown-role", file, f"The mapping names the unknown role {role!r}.", f"Use {', '.join(ROLES[:-1])}.")


def _items(text: str) -> Sequence[str]:
    """Cut at commas outside of double quotes."""
    items, current, quoted = [], "", False
    index = 0
    while index < len(text):
        character = text[index]
        if character == '"' and (quoted or not current.strip()):
            if quoted and text[index + 1 : index + 2] == '"':
                current += '"'
                index += 1
            else:
                quoted = not quoted
        elif character == "," and not quoted:
            items.append(current)
            current = ""
        else:
            current += character
        index += 1
    items.append(current)
    return [item.strip() for item in items if item.strip()]

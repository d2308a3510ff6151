"""From JSON records to a table: nested systems become rows, nested scores become columns, lists of references stay lists."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from engine.corpus.findings import Findings, enumerated
from engine.corpus.grid import Grid
from engine.corpus.json_text import read_records
from engine.corpus.languages import NAMES
from engine.corpus.names import role_of, score_like
from engine.corpus.numerals import number

_NESTED = frozenset({dict, list})
_MERGED = ("source", "hypothesis", "system", "segment")


def read_json(text: str, file: str, findings: Findings) -> Grid:
    """Read JSON or JSONL as a table.

    Raises
    ------
    Refused : text that is no JSON, with the line; JSON without records.
    """
    records = read_records(text, file, findings)
    flat = _Flattener()
    rows, lines = [], []
    for item, line in zip(records.items, records.lines):
        for row in flat.rows(item):
            rows.append(row)
            lines.append(line)
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns: dict[str, list[Any]] = {name: [row.get(name) for row in rows] for name in names}
    if flat.averaged:
        findings.note("averaged-ratings", file, f"Ratings by several people were averaged: {enumerated(sorted(flat.averaged))}.")
    columns = _merge(columns, lines, file, findings)
    return Grid(file, records.kind, columns, lines, {name: group for name, group in flat.groups.items() if name in columns})


class _Flattener:
    """Turns nested records into flat rows; remembers which columns came from an object of scores."""

    def __init__(self) -> None:
        self.groups: dict[str, str] = {}
        self.averaged: set[str] = set()

    def rows(self, record: Mapping[str, Any]) -> list[dict[str, Any]]:
        """One row, or one per system where the record holds outputs of several."""
        if _NESTED.isdisjoint(map(type, record.values())):
            return [dict(record)]
        base: dict[str, Any] = {}
        outputs: list[dict[str, Any]] = []
        for key, value in record.items():
            found = self._outputs(key, value, record)
            if found is None:
                self._add(base, key, value)
            else:
                outputs += found
        return [base | row for row in outputs] if outputs else [base]

    def _outputs(self, key: str, value: Any, record: Mapping[str, Any]) -> list[dict[str, Any]] | None:
        """The rows of several systems that stand under one key, or None where the key holds something else."""
        if isinstance(value, dict) and value:
            if all(isinstance(item, dict) and _has_output(item) for item in value.values()):
                return [{"system": name} | self._nested(item, key) for name, item in value.items()]
            if _is_output(key) and all(isinstance(item, str) for item in value.values()) and not set(value) <= NAMES.keys():
                return [{"system": name, "hypothesis": item} for name, item in value.items()]
        if isinstance(value, list) and value:
            if all(isinstance(item, dict) and _has_output(item) for item in value):
                return [
                    ({} if _has_system(item) else {"system": f"{key} {place}"}) | self._nested(item, key)
                    for place, item in enumerate(value, 1)
                ]
            if (
                _is_output(key)
                and all(isinstance(item, str) for item in value)
                and not (len(value) == 1 and any(_is_system(name) for name in record))
            ):
                return [
                    {"system": f"{key} {place}" if len(value) > 1 else key, "hypothesis": item}
                    for place, item in enumerate(value, 1)
                ]
        return None

    def _nested(self, item: Mapping[str, Any], group: str) -> dict[str, Any]:
        """The fields of one system: its numbers are scores."""
        row: dict[str, Any] = {}
        for key, value in item.items():
            self._add(row, key, value)
            if isinstance(value, (int, float)) and not role_is(key, "segment", "document"):
                self.groups.setdefault(key, group)
        return row

    def _add(self, row: dict[str, Any], name: str, value: Any) -> None:
        """Put a value under a column's name; objects are spread over several columns."""
        if isinstance(value, dict):
            numeric = bool(value) and all(number(item) is not None for item in value.values())
            for key, item in value.items():
                self._add(row, f"{name}.{key}", item)
                if numeric:
                    self.groups.setdefault(f"{name}.{key}", name)
        elif isinstance(value, list):
            self._add_list(row, name, value)
        else:
            row[name] = value

    def _add_list(self, row: dict[str, Any], name: str, value: list[Any]) -> None:
        if value and all(isinstance(item, dict) for item in value):
            texts = [_only_text(item) for item in value]
            if all(text is not None for text in texts):
                row[name] = texts
            elif all(number(score) is not None for item in value for score in item.values() if not isinstance(score, str)):
                self._average(row, name, value)
            else:
                row[name] = [str(item) for item in value]
        elif (
            value
            and all(isinstance(item, (int, float)) or item is None for item in value)
            and (score_like(name) or role_is(name, "score"))
        ):
            row[name] = _mean(value)
            self.averaged.add(name)
        elif len(value) == 1 and role_is(name, "hypothesis"):
            row[name] = value[0]
        else:
            row[name] = [item if isinstance(item, str) or item is None else str(item) for item in value]

    def _average(self, row: dict[str, Any], name: str, value: list[dict[str, Any]]) -> None:
        """Ratings by several people: the mean per criterion."""
        ratings: dict[str, list[Any]] = defaultdict(list)
        for item in value:
            for key, score in item.items():
                if not isinstance(score, str):
                    ratings[key].append(score)
        for key, scores in ratings.items():
            column = f"{name}.{key}"
            row[column] = _mean(scores)
            self.groups.setdefault(column, name)
            self.averaged.add(column)


def role_is(name: str, *roles: str) -> bool:
    """Whether a name stands for one of the roles."""
    role = role_of(name)
    return role is not None and role[0] in roles


def _is_output(name: str) -> bool:
    return role_is(name, "hypothesis", "weak hypothesis") or name.endswith("negative_responses") or role_is(name, "system")


def _is_system(name: str) -> bool:
    return role_is(name, "system")


def _has_output(item: Mapping[str, Any]) -> bool:
    return any(
        role_is(key, "hypothesis", "weak hypothesis", "either") and isinstance(value, (str, type(None)))
        for key, value in item.items()
    ) or (_has_system(item) and any(key in ("text", "value") for key in item))


def _has_system(item: Mapping[str, Any]) -> bool:
    return any((role_is(key, "system") or key == "name") and isinstance(value, str) for key, value in item.items())


def _only_text(item: Mapping[str, Any]) -> str | None:
    """The text of an object such as {"text": …}."""
    texts = [value for value in item.values() if isinstance(value, str)]
    return texts[0] if len(texts) == 1 and len(item) == 1 else item.get("text") if isinstance(item.get("text"), str) else None


def _mean(values: list[Any]) -> float | None:
    known = [float(value) for value in values if isinstance(value, (int, float)) and abs(value) < 1e300 and value == value]
    return sum(known) / len(known) if known else None


def _merge(columns: dict[str, list[Any]], lines: list[int], file: str, findings: Findings) -> dict[str, list[Any]]:
    """Where some records name a field otherwise (`hypothesis` beside `decoded`), put both under the commoner name."""
    for role in _MERGED:
        names = [name for name in columns if role_of(name) == (role, "")]
        names.sort(key=lambda name: -sum(value is not None for value in columns[name]))
        for other in names[1:]:
            main = columns[names[0]]
            if all(first is None or second is None for first, second in zip(main, columns[other])):
                rows = [row for row, value in enumerate(columns[other]) if value is not None]
                columns[names[0]] = [first if first is not None else second for first, second in zip(main, columns[other])]
                del columns[other]
                findings.lines(
                    "other-key",
                    file,
                    [lines[row] or None for row in rows],
                    f"What other records call {names[0]!r} is called {other!r} in {{lines}}; both were read as the same.",
                    "Use one name.",
                )
    return columns

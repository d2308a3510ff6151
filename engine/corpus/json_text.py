"""JSON and JSONL as text: records with their lines; every line that is no record is named."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.corpus.decode import split_lines
from engine.corpus.findings import Findings, Refused, enumerated, plural, refuse
from engine.corpus.names import known, role_of

_STARTS = re.compile(r'\s*(\{\s*("|\})|\[\s*\{)')
_SURROGATES = re.compile("[\ud800-\udfff]")
_ESCAPED = re.compile(r"\\u[dD][89a-fA-F]")
_LISTS = (
    "data",
    "segments",
    "examples",
    "items",
    "records",
    "rows",
    "instances",
    "documents",
    "outputs",
    "results",
    "translations",
)
_TEXTS = ("source", "reference", "hypothesis", "either", "weak source", "weak reference", "weak hypothesis")
_ODD_LINES = {
    "comments": ("Comments stand in {lines}; they were passed over.", "Delete them: JSONL has no comments."),
    "blank-lines": ("Nothing stands in {lines}; blank lines were passed over.", "Delete them."),
    "trailing-commas": (
        "A comma follows the object in {lines}; it was dropped.",
        "Delete it: JSONL has no commas between lines.",
    ),
}
_FIX = "Write one JSON object per line, complete and without comments."


@dataclass
class Records:
    """Objects with the line where each begins (0 where that is not known), and what was odd."""

    kind: str = "JSON"
    items: list[dict[str, Any]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    constants: list[int] = field(default_factory=list)  # lines with NaN or Infinity
    repeated: list[int] = field(default_factory=list)  # lines with a key twice in one object
    surrogates: list[int] = field(default_factory=list)  # lines with half a character


def looks_like_json(text: str, file: str) -> bool:
    """Whether a file is meant as JSON."""
    if re.search(r"\.(json|jsonl|ndjson|jsonlines)(\.gz)?$", file.lower()):
        return text.lstrip()[:1] in ("{", "[") or file.lower().removesuffix(".gz").endswith("l") and "{" in text
    return bool(_STARTS.match(text))


def read_records(text: str, file: str, findings: Findings) -> Records:
    """Read an array of objects, an object that holds one, columns of equal length, or one object per line.

    Raises
    ------
    Refused : text that is no JSON, with the line; JSON that holds no records.
    """
    records = Records()
    reader = _Reader(records)
    try:
        if text.lstrip().startswith("["):
            _read_array(text, file, reader, findings)
        elif not _is_single(text):
            _read_lines(text, file, reader, findings)
        else:
            _read_object(reader.decode(text, 1), file, records)
    except json.JSONDecodeError as error:
        raise _broken(error, file) from None
    except ValueError:
        raise refuse("not-json", file, "A number in the JSON is too long.", "Correct the number.", reader.line) from None
    except RecursionError:
        raise refuse("not-json", file, "The JSON is nested too deeply.", "Flatten it.", 1) from None
    if not records.items:
        raise refuse(
            "no-records",
            file,
            "The JSON holds no records (objects with texts).",
            "Give a list of objects, or one object per line.",
            1,
        )
    _report(records, file, findings)
    return records


class _Reader:
    """A decoder that remembers constants, repeated keys and half characters."""

    def __init__(self, records: Records) -> None:
        self.records = records
        self.line = 0
        self.decoder = json.JSONDecoder(parse_constant=self._constant, object_pairs_hook=self._object)

    def decode(self, text: str, line: int) -> Any:
        self.line = line
        if text[:1] in ("{", "["):
            value, end = self.decoder.raw_decode(text)
            if end == len(text):
                return self._clean(value, text)
        return self._clean(self.decoder.decode(text), text)

    def decode_at(self, text: str, position: int, line: int) -> tuple[Any, int]:
        self.line = line
        value, end = self.decoder.raw_decode(text, position)
        return self._clean(value, text[position:end]), end

    def _clean(self, value: Any, text: str) -> Any:
        if "\\u" in text and _ESCAPED.search(text):
            cleaned = _without_surrogates(value)
            if cleaned != value:
                self.records.surrogates.append(self.line)
            return cleaned
        return value

    def _constant(self, name: str) -> float | None:
        self.records.constants.append(self.line)
        return None

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            self.records.repeated.append(self.line)
        return made


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATES.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value


def _is_single(text: str) -> bool:
    """Whether the first value of the text is followed by nothing else (a JSON document, not JSONL)."""
    first = text.lstrip().partition("\n")[0].strip()
    try:
        json.loads(first)
    except ValueError:
        return first in ("{", "") or first.endswith(("{", "[", ",")) and not first.endswith("},") or "\n" not in text.strip()
    return "\n" not in text.strip()


def _read_array(text: str, file: str, reader: _Reader, findings: Findings) -> None:
    """An array, item by item, so that each item's line is known."""
    position = text.index("[") + 1
    line = text.count("\n", 0, position) + 1
    last = position
    while True:
        position = _skip(text, position)
        line += text.count("\n", last, position)
        last = position
        if text.startswith("]", position):
            break
        value, position = reader.decode_at(text, position, line)
        if not isinstance(value, dict):
            message = f"The array holds {_named(value)} where an object is expected."
            raise refuse("no-records", file, message, "Give a list of objects with a source and a hypothesis.", line)
        reader.records.items.append(value)
        reader.records.lines.append(line)
        position = _skip(text, position)
        if text.startswith(",", position):
            position += 1
            if text.startswith("]", _skip(text, position)):
                findings.add("trailing-commas", file, "A comma follows the last object; it was dropped.", "Delete it.", line)
        elif not text.startswith("]", position):
            place = min(text.count("\n", 0, position), text.rstrip().count("\n")) + 1
            raise refuse("not-json", file, "The JSON array is cut off or a comma is missing.", "Complete the array.", place)
    if text[position + 1 :].strip():
        message = "Something follows the end of the JSON array."
        raise refuse("not-json", file, message, "Make it one array, or one object per line.", line)


def _skip(text: str, position: int) -> int:
    match = re.compile(r"[ \t\r\n]*").match(text, position)
    return match.end() if match else position


def _broken(error: json.JSONDecodeError, file: str) -> Refused:
    if not error.doc[error.pos :].strip():
        return refuse("not-json", file, "The JSON is cut off.", "Restore its end.", error.doc.rstrip().count("\n") + 1)
    return refuse("not-json", file, f"This is not JSON: {error.msg} (column {error.colno}).", "Correct it there.", error.lineno)


def _read_lines(text: str, file: str, reader: _Reader, findings: Findings) -> None:
    """One object per line. Comments and blank lines are passed over, a comma after the object is dropped; all are reported."""
    reader.records.kind = "JSONL"
    broken: dict[int, str] = {}
    odd: dict[str, list[int]] = {kind: [] for kind in _ODD_LINES}
    for number, raw in enumerate(split_lines(text), 1):
        line = raw.strip()
        if not line:
            odd["blank-lines"].append(number)
        elif line.startswith(("#", "//")):
            odd["comments"].append(number)
        else:
            fault, comma = _read_line(line, number, reader)
            if fault:
                broken[number] = fault
            if comma:
                odd["trailing-commas"].append(number)
    for kind, lines in odd.items():
        if lines:
            findings.lines(kind, file, lines, *_ODD_LINES[kind])
    if broken:
        where = enumerated([f"line {number}: {reason}" for number, reason in broken.items()])
        message = (
            f"{len(broken):,} of {plural(len(broken) + len(reader.records.items), 'line')} cannot be read as JSON ({where})."
        )
        raise refuse("not-json", file, message, _FIX, next(iter(broken)))


def _read_line(line: str, number: int, reader: _Reader) -> tuple[str, bool]:
    """Read one object; what is wrong with the line ("" where nothing is), and whether a comma was dropped from its end."""
    comma = False
    try:
        value = reader.decode(line, number)
    except ValueError as error:
        try:
            value = reader.decode(line.rstrip(","), number)
        except ValueError:
            return _reason(error, line), False
        comma = True
    if not isinstance(value, dict):
        return f"it is {_named(value)}, no object", comma
    reader.records.items.append(value)
    reader.records.lines.append(number)
    return "", comma


def _named(value: Any) -> str:
    """What JSON calls a value that is no object."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return "a list" if isinstance(value, list) else "a text" if isinstance(value, str) else "a number"


def _reason(error: ValueError, line: str) -> str:
    if not isinstance(error, json.JSONDecodeError):
        return "a number is too long"
    if error.pos >= len(line) - 1 or error.msg.startswith("Unterminated string"):
        return "it is cut off"
    return f"{error.msg[0].lower()}{error.msg[1:]} at column {error.colno}"


def _read_object(value: Any, file: str, records: Records) -> None:
    """An object that holds the records: under a usual key, as its only list, by id, or as columns."""
    lists = {
        key: item
        for key, item in value.items()
        if isinstance(item, list) and item and all(isinstance(entry, dict) for entry in item)
    }
    chosen = next((lists[key] for key in _LISTS if key in lists), None) or (
        next(iter(lists.values())) if len(lists) == 1 else None
    )
    columns = {key: item for key, item in value.items() if isinstance(item, list) and known(key)}
    single = any(known(key) and not isinstance(item, (list, dict)) for key, item in value.items())
    if chosen and not _is_record(value):
        records.items = list(chosen)
    elif len(columns) >= 2 and not single:
        sizes = {key: len(item) for key, item in columns.items()}
        if len(set(sizes.values())) > 1:
            raise refuse(
                "unequal-lengths",
                file,
                f"The lists differ in length: {enumerated([f'{key} {size:,}' for key, size in sizes.items()])}.",
                "Give lists of equal length.",
                1,
            )
        records.items = [dict(zip(columns, cells)) for cells in zip(*columns.values())]
    elif (
        value
        and all(isinstance(item, dict) for item in value.values())
        and sum(map(_is_record, value.values())) > 0.5 * len(value)
    ):
        records.items = [{"id": key} | item for key, item in value.items()]
    elif _is_record(value) or columns:
        records.items = [value]
    records.lines = [1 if len(records.items) == 1 else 0] * len(records.items)


def _is_record(value: Mapping[str, Any]) -> bool:
    """Whether an object describes one segment: some text stands under a known name."""
    return any(isinstance(item, str) and (role := role_of(key)) is not None and role[0] in _TEXTS for key, item in value.items())


def _report(records: Records, file: str, findings: Findings) -> None:
    if records.constants:
        findings.lines(
            "json-constants",
            file,
            sorted(set(records.constants)),
            "NaN or Infinity stands in {lines}; it counts as missing.",
            "Write null.",
            "note",
        )
    if records.repeated:
        findings.lines(
            "repeated-keys",
            file,
            sorted(set(records.repeated)),
            "An object has the same key twice in {lines}; the last value was read.",
            "Give every key once.",
        )
    if records.surrogates:
        findings.lines(
            "half-characters",
            file,
            sorted(set(records.surrogates)),
            "Half of a surrogate pair stands alone in {lines}; it became U+FFFD (�).",
            "Restore the character.",
        )

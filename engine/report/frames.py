"""Tables as files and as text: .csv, .json, .jsonl and .parquet by suffix, and a table for the terminal.

CSV cells that a spreadsheet would run as a formula get an apostrophe in front, as spreadsheets themselves mark text: texts
that begin with = + - @, a tab or a carriage return and hold a letter, digit, bracket or bar after it. Plain numbers, lone
signs and everything else stay as they are, and a text that already has such an apostrophe gets another, so that `read_frame`
gives back what was written. JSON, JSONL and Parquet need no such care and hold the texts as they are.
"""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from engine.errors import InputError
from engine.report.tables import render_table

__all__ = ["SUFFIXES", "check_suffix", "read_frame", "render_table", "to_bytes", "write_frame"]

SUFFIXES = (".csv", ".json", ".jsonl", ".parquet")
ROWS = 50_000
"""Rows that are turned into text at once."""

_FORMULA = re.compile(r"'*[=+\-@\t\r](?=.*[^\W_]|.*[(|])", re.DOTALL)
_MARKED = re.compile(r"'+[=+\-@\t\r](?=.*[^\W_]|.*[(|])", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
_QUOTED = re.compile(r'[",\r\n]|^\s|\s$')
_UNSAFE_JSON = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")

Frames: TypeAlias = pd.DataFrame | Iterable[pd.DataFrame]


def check_suffix(path: Path) -> str:
    """The suffix of a file that can be written, in lower case.

    Raises
    ------
    InputError : none of `SUFFIXES`.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{path}: results cannot be written as {suffix or 'a file without a suffix'}; use {', '.join(SUFFIXES)}")
    return suffix


def write_frame(frame: Frames, path: Path) -> None:
    """Write a table; the file is there as a whole or not at all.

    Parameters
    ----------
    frame : one table, or its parts one after the other, so that a long one need not be held at once.
    path : its suffix says the format. NaN and None become an empty cell (CSV) or null.

    Raises
    ------
    InputError : an unknown suffix, or a place that cannot be written: a device or a pipe is not replaced by a file.
    """
    suffix = check_suffix(path)
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        if target.exists() and not target.is_file():
            raise OSError(None, "is a folder" if target.is_dir() else "is no regular file")
        try:
            with draft.open("wb") as file:
                _write(frame, suffix, file)
            os.replace(draft, target)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as fault:
        raise InputError(f"{path}: cannot be written ({fault.strerror}); choose another place") from None


def to_bytes(frame: Frames, suffix: str) -> bytes:
    """A table as the bytes of a file with this suffix; the same bytes that `write_frame` writes."""
    file = io.BytesIO()
    _write(frame, check_suffix(Path("table" + suffix)), file)
    return file.getvalue()


def read_frame(path: Path) -> pd.DataFrame:
    """Read what `write_frame` wrote. In CSV, columns of texts that are all numbers come back as numbers, '' as NaN."""
    suffix = check_suffix(path)
    if suffix == ".parquet":
        return pd.read_parquet(path)
    if suffix == ".csv":
        frame = pd.read_csv(path, keep_default_na=False, na_values=[""], encoding="utf-8", float_precision="round_trip")
        texts = [name for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name])]
        return frame.assign(**{name: frame[name].map(_unmarked, na_action="ignore") for name in texts})
    text = path.read_text(encoding="utf-8")
    records = json.loads(text) if suffix == ".json" else [json.loads(line) for line in text.split("\n") if line]
    names = list(dict.fromkeys(chain.from_iterable(records)))
    return pd.DataFrame({name: _series([record.get(name) for record in records]) for name in names})


def _write(frames: Frames, suffix: str, file: Any) -> None:
    parts = iter([frames] if isinstance(frames, pd.DataFrame) else frames)
    first = next(parts, pd.DataFrame())
    if suffix == ".parquet":
        _write_parquet(first, parts, file)
        return
    lines = {".csv": _csv, ".json": _json, ".jsonl": _jsonl}[suffix](first.columns, _pieces(chain([first], parts)))
    for text in lines:
        file.write(text.encode("utf-8", "backslashreplace"))


def _pieces(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for frame in frames:
        for start in range(0, len(frame), ROWS):
            yield frame.iloc[start : start + ROWS]


def _csv(names: Iterable[Any], pieces: Iterable[pd.DataFrame]) -> Iterator[str]:
    yield ",".join(_quoted(str(name)) for name in names) + "\n"
    for piece in pieces:
        columns = [_csv_cells(piece.iloc[:, place]) for place in range(piece.shape[1])]
        yield "".join(",".join(row) + "\n" for row in zip(*columns, strict=True))


def _csv_cells(column: pd.Series) -> list[str]:
    if pd.api.types.is_numeric_dtype(column.dtype):
        return ["" if item is None else repr(item) for item in _values(column)]
    return ["" if item is None else _csv_cell(item) for item in _values(column)]


def _csv_cell(value: Any) -> str:
    if isinstance(value, float):
        return repr(value)
    return _quoted(_marked(value) if isinstance(value, str) else str(value))


def _quoted(text: str) -> str:
    """An empty text is written as "", a missing one as nothing."""
    if text and not _QUOTED.search(text):
        return text
    return '"' + text.replace('"', '""') + '"'


def _marked(text: str) -> str:
    return "'" + text if text and text[0] in "'=+-@\t\r" and _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def _unmarked(text: Any) -> Any:
    return text[1:] if isinstance(text, str) and _MARKED.match(text) and not _NUMBER.fullmatch(text[1:]) else text


def _json(names: Iterable[Any], pieces: Iterable[pd.DataFrame]) -> Iterator[str]:
    opening = "[\n"
    for line in _records(names, pieces):
        yield opening + line
        opening = ",\n"
    yield "\n]\n" if opening != "[\n" else "[]\n"


def _jsonl(names: Iterable[Any], pieces: Iterable[pd.DataFrame]) -> Iterator[str]:
    for line in _records(names, pieces):
        yield line + "\n"


def _records(names: Iterable[Any], pieces: Iterable[pd.DataFrame]) -> Iterator[str]:
    """One JSON object per row. What some readers take for the end of a line, and half a surrogate pair, is escaped."""
    keys = [str(name) for name in names]
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
    for piece in pieces:
        columns = [[_json_value(item) for item in _values(piece.iloc[:, place])] for place in range(piece.shape[1])]
        for row in zip(*columns, strict=True):
            text = encode(dict(zip(keys, row, strict=True)))
            yield _UNSAFE_JSON.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def _json_value(value: Any) -> Any:
    """Infinity, which JSON lacks, becomes a text."""
    if isinstance(value, float) and np.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def _series(values: list[Any]) -> pd.Series:
    """Values as pandas keeps them best; half a surrogate pair, which that form cannot hold, stays a plain object."""
    try:
        return pd.Series(values)
    except UnicodeEncodeError:
        return pd.Series(values, dtype="object")


def _values(column: pd.Series) -> list[Any]:
    """Plain Python values, None where missing."""
    missing = column.isna().tolist()
    return [None if gone else item for item, gone in zip(column.tolist(), missing, strict=True)]


def _write_parquet(first: pd.DataFrame, rest: Iterable[pd.DataFrame], file: Any) -> None:
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.Table.from_pandas(_whole_texts(first), preserve_index=False)
    with pyarrow.parquet.ParquetWriter(file, table.schema) as writer:
        writer.write_table(table)
        for frame in rest:
            writer.write_table(pyarrow.Table.from_pandas(_whole_texts(frame), schema=table.schema, preserve_index=False))


def _whole_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Half a surrogate pair, which UTF-8 cannot hold, is written as its escape."""
    texts = [name for name in frame.columns if frame[name].dtype == object]
    escaped = {name: frame[name].map(_whole, na_action="ignore") for name in texts}
    return frame.assign(**escaped)


def _whole(value: Any) -> Any:
    return value.encode("utf-8", "backslashreplace").decode("utf-8") if isinstance(value, str) else value

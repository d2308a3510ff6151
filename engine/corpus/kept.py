"""Corpora kept on disk under tokens that cannot be guessed, so that a link finds an upload again. JSON, never a pickle."""

from __future__ import annotations

import gzip
import json
import os
import re
import secrets
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from engine.corpus.types import Corpus, Criterion, ErrorSpan, Finding
from engine.errors import InputError

DAYS = 30
"""A corpus that nobody has opened for so many days is removed."""

LIMIT = 2 * 1024**3
"""Bytes that all kept corpora may take together; beyond, those that were opened longest ago are removed."""

FORM = 1
_DAY = 24 * 3600
_TOKEN = re.compile(r"[0-9a-f]{32}")
_SUFFIX = ".json.gz"


@dataclass(frozen=True, eq=False)
class Kept:
    """A corpus as it is kept, and what the import doctor said of it."""

    corpus: Corpus
    findings: tuple[Finding, ...] = ()


def new_token() -> str:
    """128 random bits as 32 hexadecimal digits."""
    return secrets.token_hex(16)


class KeptCorpora:
    """A folder of corpora, one file each, named by a random token of 128 bits and readable by the owner only.

    Whoever has the token can open the corpus; nothing here lists tokens.

    Parameters
    ----------
    folder : made when the first corpus is kept.
    limit : bytes of all files together.
    days : how long a corpus is kept after it was last opened.
    """

    def __init__(self, folder: Path, limit: int = LIMIT, days: float = DAYS) -> None:
        self.folder, self.limit, self.days = folder, limit, days
        self._lock = threading.Lock()
        self._forgotten: set[str] = set()

    def keep(self, kept: Kept, token: str) -> int:
        """Write a corpus under a token of `new_token`; returns how many others were removed to make room.

        Raises
        ------
        InputError : the disk is full, the folder cannot be written to, or the corpus alone is beyond the limit.
        """
        content = gzip.compress(to_json(kept), compresslevel=1, mtime=0)
        if len(content) > self.limit:
            raise InputError("it is larger than all kept corpora may be together")
        try:
            with self._lock:
                return self._put(self._path(token), content)
        except OSError as error:
            raise InputError(f"it cannot be written to {self.folder} ({error.strerror or error})") from error

    def _put(self, path: Path, content: bytes) -> int:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(OSError):  # a folder of somebody else's making
            self.folder.chmod(0o700)
        removed = self._make_room(len(content))
        self._write(path, content)
        return removed

    def open(self, token: str) -> Kept | None:
        """The corpus under a token, which now counts as just opened; None where there is none, or it is damaged or too old."""
        if not _TOKEN.fullmatch(token) or token in self._forgotten:
            return None
        path = self._path(token)
        try:
            if self._too_old(path.stat().st_mtime):
                path.unlink(missing_ok=True)
                return None
            kept = from_json(gzip.decompress(path.read_bytes()))
            os.utime(path)
        except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return kept

    def forget(self, token: str) -> None:
        """Remove a corpus for good.

        Raises
        ------
        InputError : the file cannot be removed.
        """
        if not _TOKEN.fullmatch(token):
            return
        try:
            self._path(token).unlink(missing_ok=True)
        except OSError as error:
            raise InputError(f"{self._path(token)} cannot be removed ({error.strerror or error}); remove it by hand") from error
        self._forgotten.add(token)

    def forgotten(self, token: str) -> bool:
        """True where this process has removed the corpus on somebody's wish."""
        return token in self._forgotten

    def until(self, token: str) -> float | None:
        """When the corpus will be removed unless it is opened before (seconds since the epoch); None where it is not there."""
        try:
            return self._path(token).stat().st_mtime + self.days * _DAY if _TOKEN.fullmatch(token) else None
        except OSError:
            return None

    def _path(self, token: str) -> Path:
        return self.folder / f"{token}{_SUFFIX}"

    def _too_old(self, opened: float) -> bool:
        return time.time() - opened > self.days * _DAY

    def _make_room(self, needed: int) -> int:
        """Remove what is too old, and what is beyond the limit, the longest unopened first; returns how many of the latter."""
        held = sorted(self._files())
        for opened, _, path in held:
            if self._too_old(opened):
                path.unlink(missing_ok=True)
        held = [item for item in held if not self._too_old(item[0])]
        total, removed = sum(size for _, size, _ in held), 0
        for _, size, path in held:
            if total + needed <= self.limit:
                break
            path.unlink(missing_ok=True)
            total, removed = total - size, removed + 1
        return removed

    def _files(self) -> Iterator[tuple[float, int, Path]]:
        """When it was last opened, its size, its path: of every file, half-written ones of a killed process among them."""
        for path in self.folder.iterdir():
            if path.name.endswith((_SUFFIX, ".part")):
                with suppress(OSError):
                    found = path.stat()
                    yield found.st_mtime, found.st_size, path

    @staticmethod
    def _write(path: Path, content: bytes) -> None:
        """Whole or not at all, for the owner's eyes only."""
        part = path.with_suffix(".part")
        try:
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(content)
            part.replace(path)
        except OSError:
            part.unlink(missing_ok=True)
            raise


def to_json(kept: Kept) -> bytes:
    """A corpus and its findings as ASCII JSON; every text comes back as it was, half surrogate pairs too."""
    corpus = kept.corpus
    codes = {column: pd.factorize(corpus.human[column]) for column in ("system", "criterion")}
    content = {
        "form": FORM,
        "name": corpus.name,
        "systems": list(corpus.systems.items()),
        "references": corpus.references,
        "sources": corpus.sources,
        "documents": corpus.documents,
        "ids": corpus.ids,
        "languages": corpus.languages,
        "human": {
            "segment": corpus.human["segment"].tolist(),
            "score": corpus.human["score"].tolist(),
            **{column: {"codes": code.tolist(), "names": list(names)} for column, (code, names) in codes.items()},
        },
        "criteria": [asdict(item) for item in corpus.criteria],
        "spans": [asdict(item) for item in corpus.spans],
        "findings": [asdict(item) for item in kept.findings],
    }
    return json.dumps(content, separators=(",", ":")).encode("ascii")


def from_json(content: bytes) -> Kept:
    """What `to_json` has written.

    Raises
    ------
    ValueError, KeyError, TypeError, AttributeError : it was not written by `to_json`, or by another version.
    """
    read = json.loads(content)
    if read["form"] != FORM:
        raise ValueError("another form")
    human = read["human"]
    named = {column: [human[column]["names"][code] for code in human[column]["codes"]] for column in ("system", "criterion")}
    columns = {
        "segment": pd.Series(human["segment"], dtype="int64"),
        "system": pd.Series(named["system"], dtype="str"),
        "criterion": pd.Series(named["criterion"], dtype="str"),
        "score": pd.Series(human["score"], dtype="float64"),
    }
    source, target = read["languages"]
    corpus = Corpus(
        name=read["name"],
        systems={name: tuple(texts) for name, texts in read["systems"]},
        references=tuple(map(tuple, read["references"])),
        sources=_tuple(read["sources"]),
        documents=_tuple(read["documents"]),
        languages=(source, target),
        human=pd.DataFrame(columns),
        criteria=tuple(Criterion(**item) for item in read["criteria"]),
        spans=tuple(ErrorSpan(**item) for item in read["spans"]),
        ids=_tuple(read["ids"]),
    )
    return Kept(corpus, tuple(Finding(**item) for item in read["findings"]))


def _tuple(values: Sequence[Any] | None) -> tuple[Any, ...] | None:
    return None if values is None else tuple(values)

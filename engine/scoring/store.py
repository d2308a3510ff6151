"""The store: one SQLite file that keeps statistics of segments and finished pieces of analyses between runs."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from engine.corpus.types import Segment
from engine.errors import InputError
from engine.scoring.database import Unusable, connect, connect_read_only, move_aside, verdict
from engine.scoring.keys import KEY_BYTES, piece_key, segment_keys
from engine.scoring.pieces import Damaged, Piece, pack, unpack
from engine.scoring.rows import Index, check_sum

MEMORY = ":memory:"
NOTICE_LIMIT = 5

log = logging.getLogger("plumbline")
T = TypeVar("T")


class Found(NamedTuple):
    """What the store knows: `statistics` float64[n, k], NaN where `found` bool[n] is False; k = 0 for an unknown metric."""

    statistics: np.ndarray
    found: np.ndarray


def default_path() -> Path:
    """The store's usual place: `store.sqlite` in the folder `PLUMBLINE_HOME`, else in `~/.cache/plumbline`."""
    home = os.environ.get("PLUMBLINE_HOME")
    return Path(home or Path("~", ".cache", "plumbline")).expanduser() / "store.sqlite"


def open_store(choice: str | Path | None = None) -> Store | None:
    """The store that an option names: a file, `none`, or the usual place where nothing is said.

    Raises
    ------
    InputError : an empty name.
    """
    if choice is None:
        return Store(default_path())
    if str(choice).lower() == "none":
        return None
    if not str(choice):
        raise InputError("the store has an empty name; give a file, or none to keep nothing")
    return Store(choice)


class Store:
    """Statistics and pieces on disk; never a reason for a run to fail.

    Several threads may use one store, and several processes one file. Whatever goes wrong with the file, the store goes
    on without it and says so in `notice`: a damaged or foreign file is moved aside and a new one begun; where nothing can
    be written, results are kept in memory only, or not at all, and what a file holds that can only be read is used.

    Parameters
    ----------
    path : the file, made with its folder when it is not there; ":memory:" keeps everything in memory.
    patience : seconds to wait for another process that is writing.
    """

    piece_key = staticmethod(piece_key)

    def __init__(self, path: str | Path, patience: float = 10.0) -> None:
        self.path = str(path)
        self._patience = patience
        self._lock = threading.RLock()
        self._notices: list[str] = []
        self._indexes: dict[str, Index] = {}
        self._shelf: sqlite3.Connection | None = None  # a file that can only be read
        self._shelf_indexes: dict[str, Index] = {}
        with self._lock:
            self._database, self._identity = self._open()

    @property
    def notice(self) -> str | None:
        """What the user should know about the file, one line each; None when all is well."""
        return "\n".join(self._notices) or None

    def get_statistics(self, metric_key: str, segments: Sequence[Segment]) -> Found:
        """Look up the statistics of segments under a metric.

        Parameters
        ----------
        metric_key : `MetricSpec.key`.

        Returns
        -------
        Found(statistics float64[n, k], found bool[n]).
        """
        return self.get_by_key(metric_key, segment_keys(segments))

    def get_by_key(self, metric_key: str, keys: bytes) -> Found:
        """The same for segments whose keys are known (`segment_keys`)."""
        count = len(keys) // KEY_BYTES
        nothing = Found(np.full((count, 0), np.nan), np.zeros(count, dtype=bool))
        if not count:
            return nothing
        found = self._guard(lambda database: self._read(database, self._indexes, metric_key, keys), nothing)
        if self._shelf is None or found.found.all():
            return found
        missing = np.flatnonzero(~found.found)
        wanted = np.frombuffer(keys, f"V{KEY_BYTES}")[missing].tobytes()
        return _merged(found, missing, self._look(lambda shelf: self._read(shelf, self._shelf_indexes, metric_key, wanted), None))

    def put_statistics(self, metric_key: str, segments: Sequence[Segment], statistics: np.ndarray) -> None:
        """Keep the statistics float64[n, k] of n segments, in one transaction.

        Raises
        ------
        ValueError : the metric's rows have had another width: its signature does not name what changed.
        """
        self.put_by_key(metric_key, segment_keys(segments), statistics)

    def put_by_key(self, metric_key: str, keys: bytes, statistics: np.ndarray) -> None:
        """The same for segments whose keys are known (`segment_keys`)."""
        rows = np.ascontiguousarray(statistics, dtype="<f8")
        count = len(keys) // KEY_BYTES
        if rows.ndim != 2 or len(rows) != count:
            raise ValueError(f"statistics of shape {rows.shape} do not belong to {count} segments")
        if count:
            body, width = rows.tobytes(), rows.shape[1]
            self._guard(lambda database: self._write(database, metric_key, width, keys, body), None, again=True)

    def get_piece(self, key: str) -> Piece | None:
        """The arrays (with `facts`) that were kept under a key, or None."""
        return self.get_pieces([key]).get(key)

    def get_pieces(self, keys: Iterable[str]) -> dict[str, Piece]:
        """The pieces that are there, of many keys at once."""
        wanted = list(dict.fromkeys(keys))

        def read(database: sqlite3.Connection) -> dict[str, Piece]:
            found: dict[str, Piece] = {}
            for start in range(0, len(wanted), 500):
                some = wanted[start : start + 500]
                marks = ",".join("?" * len(some))
                query = f"SELECT key, header, body, checksum FROM pieces WHERE key IN ({marks})"
                found |= {row[0]: unpack(*row) for row in database.execute(query, some)}
            return found

        found = self._guard(read, {})
        if self._shelf is not None and len(found) < len(wanted):
            wanted = [key for key in wanted if key not in found]
            found |= self._look(read, {})
        return found

    def put_piece(self, key: str, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any] | None = None) -> None:
        """Keep named arrays and small JSON-able facts under a key (see `piece_key`), replacing what was there.

        Raises
        ------
        TypeError : arrays of objects, or facts that JSON cannot hold.
        """
        self.put_pieces({key: Piece(arrays, facts or {})})

    def put_pieces(self, pieces: Mapping[str, Piece]) -> None:
        """Keep many pieces in one transaction."""
        rows = [(key, *pack(key, piece, piece.facts)) for key, piece in pieces.items()]

        def write(database: sqlite3.Connection) -> None:
            with _transaction(database):
                database.executemany("INSERT OR REPLACE INTO pieces (key, header, body, checksum) VALUES (?, ?, ?, ?)", rows)

        if rows:
            self._guard(write, None, again=True)

    def close(self) -> None:
        """Close the file. The store cannot be used afterwards."""
        with self._lock:
            self._database.close()
            if self._shelf is not None:
                self._shelf.close()

    def _read(self, database: sqlite3.Connection, indexes: dict[str, Index], metric_key: str, keys: bytes) -> Found:
        index = self._index(database, indexes, metric_key)
        rows = index.find(keys)
        found = rows >= 0
        statistics = np.full((len(rows), index.width), np.nan)
        places = np.flatnonzero(found)
        for block, which, inside in index.by_block(rows[found]):
            query = "SELECT width, keys, body, checksum FROM blocks WHERE id = ?"
            width, block_keys, body, check = database.execute(query, (block,)).fetchone() or (0, b"", b"", b"")
            if check != check_sum(metric_key, width, block_keys, body):
                raise Damaged(f"the scores of block {block} are not what was written")
            statistics[places[which]] = np.frombuffer(body, "<f8").reshape(-1, width)[inside]
        return Found(statistics, found)

    def _index(self, database: sqlite3.Connection, indexes: dict[str, Index], metric_key: str) -> Index:
        """The metric's index with all blocks that have been written since, by whichever process."""
        index = indexes.setdefault(metric_key, Index())
        query = """SELECT blocks.id, width, keys, keys_checksum FROM blocks JOIN metrics ON metrics.id = blocks.metric
                   WHERE metrics.key = ? AND blocks.id > ? ORDER BY blocks.id"""
        fresh = database.execute(query, (metric_key, index.last_block)).fetchall()
        for block, width, keys, check in fresh:
            index.width = index.width or width
            whole = len(keys) % KEY_BYTES == 0 and width == index.width
            if not whole or check != check_sum(metric_key, width, keys):
                raise Damaged(f"the keys of block {block} are not what was written")
        index.add([(block, keys) for block, _, keys, _ in fresh])
        return index

    def _write(self, database: sqlite3.Connection, metric_key: str, width: int, keys: bytes, body: bytes) -> None:
        with _transaction(database):
            database.execute("INSERT OR IGNORE INTO metrics (key) VALUES (?)", (metric_key,))
            (metric,) = database.execute("SELECT id FROM metrics WHERE key = ?", (metric_key,)).fetchone()
            known = database.execute("SELECT width FROM blocks WHERE metric = ? LIMIT 1", (metric,)).fetchone()
            if known and known[0] != width:
                raise ValueError(f"{metric_key!r} has rows of width {width}, stored ones have {known[0]}: change its signature")
            checks = check_sum(metric_key, width, keys), check_sum(metric_key, width, keys, body)
            insert = "INSERT INTO blocks (metric, width, keys, keys_checksum, checksum, body) VALUES (?, ?, ?, ?, ?, ?)"
            database.execute(insert, (metric, width, keys, *checks, body))

    def _guard(self, action: Callable[[sqlite3.Connection], T], otherwise: T, again: bool = False) -> T:
        """Run one action on the database; whatever is wrong with the file ends in a notice and in `otherwise`."""
        with self._lock:
            try:
                return action(self._database)
            except (sqlite3.Error, Damaged) as fault:
                kind = verdict(fault)
                if kind == "damaged":
                    self._renew(f"was damaged ({fault})")
                    return self._guard(action, otherwise) if again else otherwise
                if kind == "unknown":
                    raise
                self._say(f"{self.path}: not everything was stored or found again ({fault}); the results are not affected")
                return otherwise

    def _look(self, action: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """Run one action on the file that can only be read; where anything is wrong with it, it is not used any longer."""
        with self._lock:
            try:
                return action(self._shelf) if self._shelf is not None else otherwise
            except (sqlite3.Error, Damaged) as fault:
                self._shelf = None
                self._say(f"{self.path}: what the file holds cannot be used ({fault}); the results are not affected")
                return otherwise

    def _open(self) -> tuple[sqlite3.Connection, tuple[int, int] | None]:
        """Open the file; failing that, move it aside and begin a new one; failing that, keep everything in memory."""
        for attempt in (1, 2):
            try:
                return connect(self.path, self._patience)
            except Unusable as fault:
                if attempt == 2 or not fault.foreign or not self._aside(str(fault), None):
                    self._shelf = None if fault.foreign else connect_read_only(self.path, self._patience)
                    why, kept = str(fault), "results are kept in memory until the program ends"
                    if self._shelf is not None:
                        why, kept = why.replace("used", "written", 1), f"what it holds is used, and new {kept}"
                    self._say(f"{self.path}: {why}; {kept}")
                    break
        return connect(MEMORY, self._patience)

    def _renew(self, why: str) -> None:
        identity = self._identity
        self._database.close()
        self._indexes.clear()
        if self.path != MEMORY:
            self._aside(why, identity)
        self._database, self._identity = self._open()

    def _aside(self, why: str, identity: tuple[int, int] | None) -> bool:
        try:
            moved = move_aside(Path(self.path), identity)
        except OSError as fault:
            self._say(f"{self.path} {why} and cannot be moved aside ({fault.strerror})")
            return False
        if moved is not None:
            self._say(f"{self.path} {why}; it was moved to {moved.name} and a new one begun")
        return True

    def _say(self, notice: str) -> None:
        log.warning(notice)
        if notice not in self._notices:
            self._notices = [*self._notices, notice][-NOTICE_LIMIT:]


def _merged(found: Found, missing: np.ndarray, more: Found | None) -> Found:
    """What was found, with the rows that were found elsewhere put in the places that were missing."""
    if more is None or not more.found.any() or found.statistics.shape[1] not in (0, more.statistics.shape[1]):
        return found
    statistics = np.full((len(found.found), more.statistics.shape[1]), np.nan)
    if found.found.any():
        statistics[found.found] = found.statistics[found.found]
    statistics[missing] = more.statistics
    known = found.found.copy()
    known[missing] = more.found
    return Found(statistics, known)


class _transaction:
    """Begin at once (so that a wait for another writer happens here), commit at the end, roll back on any exception."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def __enter__(self) -> None:
        self._database.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            try:
                self._database.execute("COMMIT")
                return
            except sqlite3.Error:
                self._roll_back()
                raise
        self._roll_back()

    def _roll_back(self) -> None:
        if self._database.in_transaction:
            self._database.execute("ROLLBACK")

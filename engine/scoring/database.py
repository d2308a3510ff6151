"""Opening the store's SQLite file: its layout, whether a file is ours, what an error means, moving a file aside."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path
from typing import Literal

APPLICATION = 0x506C756D  # "Plum": marks the file as ours
VERSION = 1
MAGIC = b"SQLite format 3\x00"

LAYOUT = (
    "CREATE TABLE metrics (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE)",
    """CREATE TABLE blocks (id INTEGER PRIMARY KEY AUTOINCREMENT, metric INTEGER NOT NULL, width INTEGER NOT NULL,
       keys BLOB NOT NULL, keys_checksum BLOB NOT NULL, checksum BLOB NOT NULL, body BLOB NOT NULL)""",
    "CREATE INDEX blocks_by_metric ON blocks (metric, id)",
    "CREATE TABLE pieces (key TEXT PRIMARY KEY, header TEXT NOT NULL, body BLOB NOT NULL, checksum BLOB NOT NULL)",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_NO_ROOM = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_AUTH,
    sqlite3.SQLITE_TOOBIG,
    sqlite3.SQLITE_NOMEM,
}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT}

Identity = tuple[int, int]
"""Device and inode of the file that was opened."""


class Unusable(Exception):
    """The file cannot be used. `foreign`: it is not (or no longer) one of ours and may be moved aside."""

    def __init__(self, why: str, foreign: bool) -> None:
        super().__init__(why)
        self.foreign = foreign


def connect(path: str, patience: float) -> tuple[sqlite3.Connection, Identity | None]:
    """Open a store's file, made when it is not there, and say which file that was.

    Raises
    ------
    Unusable : the file is foreign or damaged, or the place cannot be written.
    """
    if path != ":memory:":
        _look_at(Path(path))
    database = None
    try:
        database = sqlite3.connect(path, timeout=patience, isolation_level=None, check_same_thread=False)
        _prepare(database, patience)
        identity = None if path == ":memory:" else _identity(Path(path))
        return database, identity
    except Unusable:
        _close(database)
        raise
    except sqlite3.Error as fault:
        _close(database)
        damaged = verdict(fault) == "damaged"
        raise Unusable(f"{'was damaged' if damaged else 'cannot be used'} ({fault})", damaged) from None


def connect_read_only(path: str, patience: float) -> sqlite3.Connection | None:
    """Open a store's file for reading; None where it is not ours or cannot even be read."""
    if not Path(path).is_file():  # to open a pipe is to wait for who may never come
        return None
    address = Path(path).absolute().as_uri()
    for how in ("mode=ro", "immutable=1"):  # the second where not even the files beside it can be made
        database = None
        try:
            database = sqlite3.connect(
                f"{address}?{how}", uri=True, timeout=patience, isolation_level=None, check_same_thread=False
            )
            if _ours(database):
                return database
        except (sqlite3.Error, Unusable):
            pass
        _close(database)
    return None


def verdict(fault: Exception) -> Literal["damaged", "unavailable", "unknown"]:
    """What an error of the database means for the file."""
    if not isinstance(fault, sqlite3.Error):
        return "damaged"  # our own check sums
    code = getattr(fault, "sqlite_errorcode", None)
    if code is None:  # a fault of the program, such as using a closed store
        return "unknown"
    if code == sqlite3.SQLITE_IOERR_SHORT_READ or code & 0xFF in _DAMAGED:
        return "damaged"
    return "unavailable" if code & 0xFF in _BUSY | _NO_ROOM else "unknown"


def move_aside(path: Path, identity: Identity | None) -> Path | None:
    """Rename a file and its journals to `NAME.aside`, `NAME.aside-2`, …

    Parameters
    ----------
    identity : the file that is meant; another process may have moved it already, and then nothing is done.

    Returns
    -------
    The new name; None when nothing was moved.
    """
    if not path.exists() or (identity is not None and _identity(path) != identity):
        return None
    number, target = 1, path.with_name(path.name + ".aside")
    while target.exists():
        number += 1
        target = path.with_name(f"{path.name}.aside-{number}")
    os.rename(path, target)
    for ending in ("-wal", "-shm", "-journal"):
        beside = path.with_name(path.name + ending)
        if beside.exists():
            os.replace(beside, target.with_name(target.name + ending))
    return target


def _look_at(path: Path) -> None:
    """Refuse what SQLite should not even open, and make the folder."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise Unusable("is a folder", foreign=False)
        if path.exists() and not path.is_file():  # to open a pipe is to wait for who may never come
            raise Unusable("is no regular file", foreign=False)
        start = path.open("rb").read(len(MAGIC)) if path.exists() else b""
    except OSError as fault:
        raise Unusable(f"cannot be used ({fault.strerror})", foreign=False) from None
    if start and start != MAGIC:
        raise Unusable("was not made by this program", foreign=True)


def _prepare(database: sqlite3.Connection, patience: float) -> None:
    """Make sure that the database has our layout. Other processes may be doing the same."""
    if not _ours(database):
        _write_ahead(database, patience)
        database.execute("BEGIN IMMEDIATE")
        if not _ours(database):
            for statement in LAYOUT:
                database.execute(statement)
        database.execute("COMMIT")
    _write_ahead(database, patience)
    database.execute("PRAGMA synchronous = NORMAL")
    # a write now, and not after an hour's work, shows a place that cannot be written
    database.execute("BEGIN IMMEDIATE")
    database.execute(f"PRAGMA user_version = {VERSION}")
    database.execute("COMMIT")


def _ours(database: sqlite3.Connection) -> bool:
    """True for our layout, False for an empty file; anything else is foreign."""
    (application,) = database.execute("PRAGMA application_id").fetchone()
    (version,) = database.execute("PRAGMA user_version").fetchone()
    (tables,) = database.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
    if application == APPLICATION and version == VERSION:
        return True
    if application == version == tables == 0:
        return False
    if application == APPLICATION:
        raise Unusable(f"has layout {version}, this program uses {VERSION}", foreign=True)
    raise Unusable("was not made by this program", foreign=True)


def _write_ahead(database: sqlite3.Connection, patience: float) -> None:
    """Switch to the write-ahead log. SQLite does not wait here when another process is switching too."""
    end = time.monotonic() + patience
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as fault:
            if verdict(fault) != "unavailable" or fault.sqlite_errorcode & 0xFF not in _BUSY or time.monotonic() > end:
                raise
            time.sleep(0.05)


def _identity(path: Path) -> Identity:
    status = path.stat()
    return status.st_dev, status.st_ino


def _close(database: sqlite3.Connection | None) -> None:
    if database is not None:
        database.close()

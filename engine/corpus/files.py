"""Where bytes come from: files, folders, zip and gzip archives and uploads, read within limits and never written or run."""

from __future__ import annotations

import gzip
import io
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.corpus.file_names import whole
from engine.corpus.findings import Findings, Refused, enumerated, refuse

LIMIT = 1 << 30
"""The largest file, and the largest sum of an archive's unpacked files, in bytes."""
ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, NotImplementedError, RuntimeError)
"""What damaged archives raise."""
_RATIO, _RATIO_FROM = 250, 32 << 20  # an archive that unpacks to more than 32 MiB and 250 times its size is a bomb
_FILES = 5_000
_CHUNK = 1 << 20
_SPLIT = "Split it, or give only the files that are needed."

_SKIPPED = re.compile(r"(^|/)(__MACOSX|\.[^/]*|Thumbs\.db|desktop\.ini|~\$[^/]*)(/|$)", re.IGNORECASE)
_PICKLE_NAME = re.compile(r"\.(pkl|pickle|joblib)(\.gz)?$", re.IGNORECASE)
_MODEL_NAME = re.compile(r"\.(p|pt|pth|ckpt|bin|npy|npz)(\.gz)?$", re.IGNORECASE)
_MAGIC: tuple[tuple[bytes, str, str], ...] = (
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "an old Office file (.xls, .doc) or a password-protected workbook",
        "Save it as .xlsx without a password, or as CSV (UTF-8).",
    ),
    (b"%PDF-", "a PDF", "Export the texts as TSV, CSV, JSONL or plain text."),
    (b"PAR1", "a Parquet file", "Export it as CSV or JSONL."),
    (b"SQLite format 3\x00", "an SQLite database", "Export the table as CSV or JSONL."),
    (b"BZh", "a bzip2 archive", "Unpack it first, or use gzip or zip."),
    (b"\xfd7zXZ\x00", "an xz archive", "Unpack it first, or use gzip or zip."),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive", "Unpack it first, or use gzip or zip."),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "Unpack it first, or use zip."),
    (b"Rar!\x1a\x07", "a RAR archive", "Unpack it first, or use zip."),
    (b"\x89PNG\r\n", "an image", "Give texts, not pictures."),
    (b"\xff\xd8\xff", "an image", "Give texts, not pictures."),
    (b"GIF8", "an image", "Give texts, not pictures."),
    (b"\x89HDF\r\n", "an HDF5 file", "Export the texts as JSONL."),
    (b"\x7fELF", "a program", "Give texts."),
    (b"ARROW1", "an Arrow file", "Export it as CSV or JSONL."),
    (b"{\\rtf1", "an RTF document", "Save it as plain text (UTF-8)."),
)
_ALWAYS = (b"%PDF-", b"{\\rtf1")  # no text begins so


@dataclass(frozen=True)
class Blob:
    """A file that can be read. `name` is what the user sees, with "/" between folders; `opener` gives its raw bytes."""

    name: str
    opener: Callable[[], bytes]

    @property
    def base(self) -> str:
        """The name without folders."""
        return self.name.rpartition("/")[2]

    @property
    def folder(self) -> str:
        """The folders before the base name; "" where there are none."""
        return self.name.rpartition("/")[0]

    def read(self) -> bytes:
        """The content, unpacked where it is gzip; what can only be harmful or useless is refused with the reason."""
        data = self.opener()
        if data[:2] == b"\x1f\x8b":
            data = gunzip(data, self.name)
        refuse_binary(data, self.name)
        return data


def from_path(path: Path, name: str | None = None) -> Blob:
    """A file on disk."""
    shown = whole(name or path.name or str(path))

    def read() -> bytes:
        try:
            status = path.stat()
            if not stat.S_ISREG(status.st_mode):
                raise refuse("not-a-file", shown, "This is not a regular file.", "Give a file or a folder.")
            if status.st_size > LIMIT:
                raise refuse(
                    "too-large", shown, f"The file has {status.st_size >> 20:,} MiB; the limit is {LIMIT >> 20:,}.", _SPLIT
                )
            return path.read_bytes()
        except OSError as error:
            reason = error.strerror or str(error)
            raise refuse(
                "unreadable", shown, f"The file cannot be read: {reason}.", "Check the name and the permissions."
            ) from None

    return Blob(shown, read)


def from_bytes(files: Mapping[str, bytes]) -> list[Blob]:
    """Uploaded files, already in memory."""
    return [Blob(_plain_name(name), _giver(data)) for name, data in files.items()]


def from_folder(folder: Path) -> list[Blob]:
    """All files below a folder, by name; hidden ones and links to folders are passed over."""

    def unreadable(error: OSError) -> None:
        shown = os.path.relpath(error.filename, folder.parent)
        remedy = "Check the permissions, or name the files that are meant."
        raise refuse("unreadable", shown, f"The folder cannot be read: {error.strerror}.", remedy)

    blobs = []
    for root, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(root, name)
            shown = path.relative_to(folder).as_posix()
            if not _SKIPPED.search(shown):
                blobs.append(from_path(path, shown))
        if len(blobs) > _FILES:
            raise refuse(
                "too-many-files", folder.name, f"The folder holds more than {_FILES:,} files.", "Name the folder of one corpus."
            )
    if not blobs:
        raise refuse("empty-folder", folder.name or str(folder), "The folder holds no files.", "Name the folder with the files.")
    return blobs


def is_zip(data: bytes) -> bool:
    """Whether bytes are a zip archive (a workbook is one too), damaged or not."""
    if data[:4] not in (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08"):
        return False
    return zipfile.is_zipfile(io.BytesIO(data)) or not _is_text(data)


def zip_names(data: bytes) -> list[str]:
    """The names in a zip archive, or none where it is damaged."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return archive.namelist()
    except ZIP_ERRORS:
        return []


def from_zip(data: bytes, name: str, findings: Findings) -> list[Blob]:
    """The files of a zip archive, unpacked in memory; nothing is written to disk, so no name can lead out of a folder."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except ZIP_ERRORS:
        raise refuse("damaged-archive", name, "The zip archive is damaged.", "Make it again.") from None
    entries = [entry for entry in archive.infolist() if not entry.is_dir() and not _SKIPPED.search(entry.filename)]
    check_archive(archive, name, len(data))
    links = [entry.filename for entry in entries if stat.S_ISLNK(entry.external_attr >> 16)]
    if links:
        findings.add(
            "zip-link",
            name,
            f"The archive holds links ({enumerated(links)}); they were not followed.",
            "Put the files themselves in.",
        )
    blobs = [Blob(entry.filename, _unpacker(archive, entry, name)) for entry in entries if entry.filename not in links]
    if not blobs:
        raise refuse("empty-archive", name, "The archive holds no files.", "Put the files in.")
    return blobs


def check_archive(archive: zipfile.ZipFile, name: str, size: int) -> None:
    """Refuse an archive whose names lead outside of it, or that would unpack to too much."""
    entries = archive.infolist()
    if len(entries) > _FILES:
        raise refuse("too-many-files", name, f"The archive holds {len(entries):,} files; the limit is {_FILES:,}.", _SPLIT)
    seen: set[str] = set()
    for entry in entries:
        parts = entry.filename.replace("\\", "/").split("/")
        if ".." in parts or parts[0] == "" or re.match(r"[A-Za-z]:$", parts[0]):
            raise refuse(
                "zip-path",
                name,
                f"The archive holds the name {entry.filename!r}, which leads out of its folder.",
                "Make the archive again with plain relative names.",
            )
        if entry.filename in seen:
            raise refuse("zip-twice", name, f"The archive holds {entry.filename!r} twice.", "Make the archive again.")
        seen.add(entry.filename)
        if entry.flag_bits & 1:
            raise refuse(
                "encrypted", name, f"{entry.filename!r} in the archive is encrypted.", "Make the archive without a password."
            )
    total = sum(entry.file_size for entry in entries)
    if total > LIMIT or (total > _RATIO_FROM and total > _RATIO * size):
        raise refuse("archive-bomb", name, f"The archive would unpack from {_mib(size)} to {_mib(total)}.", _SPLIT)


def gunzip(data: bytes, name: str) -> bytes:
    """Unpack gzip data (several members too) within the limits."""
    pieces, total = [], 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            while piece := stream.read(_CHUNK):
                total += len(piece)
                pieces.append(piece)
                if total > LIMIT or (total > _RATIO_FROM and total > _RATIO * len(data)):
                    raise refuse(
                        "archive-bomb",
                        name,
                        f"The gzip file would unpack from {_mib(len(data))} to more than {_mib(total)}.",
                        _SPLIT,
                    )
    except (zlib.error, EOFError, OSError):
        raise refuse(
            "damaged-archive", name, "The gzip file is damaged or cut off.", "Make it again, or give the unpacked file."
        ) from None
    return b"".join(pieces)


def refuse_binary(data: bytes, name: str) -> None:
    """Refuse pickles (they can run programs when read), and other content that holds no plain text."""
    model = _MODEL_NAME.search(name) is not None and _begins_as_pickle(data)  # saved tensors may follow its end
    if _PICKLE_NAME.search(name) or model or _is_pickle(data) or data[:6] == b"\x93NUMPY":
        message = "This is a Python pickle (or a file that may hold one); reading it could run any program, so it was not opened."
        raise refuse("pickle", name, message, "Export the texts as JSONL, TSV or plain text.")
    for magic, what, remedy in _MAGIC:
        if data.startswith(magic) and not (magic.isascii() and magic not in _ALWAYS and _is_text(data)):
            raise refuse("binary", name, f"This is {what}, which cannot be read.", remedy)
    if _is_tar(data):
        raise refuse(
            "binary", name, "This is a tar archive, which cannot be read.", "Unpack it and name the folder, or make a zip."
        )


def _is_text(data: bytes) -> bool:
    """Whether bytes are text in UTF-8 or marked as UTF-16."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _is_tar(data: bytes) -> bool:
    """Whether bytes begin with the header of a tar archive: its checksum is that of the header with eight spaces in its place."""
    if data[257:262] != b"ustar":
        return False
    stated = re.match(rb"[ 0]*([0-7]+)", data[148:156])
    return stated is not None and int(stated[1], 8) == sum(data[:148]) + sum(data[156:512]) + 8 * 32


def _begins_as_pickle(data: bytes) -> bool:
    """Whether bytes begin as pickles of protocol 2 and later do; those before are found by `_is_pickle`."""
    return len(data) > 2 and data[0] == 0x80 and data[1] <= 5


def _is_pickle(data: bytes) -> bool:
    if data[:1] == b"\x80":
        return _begins_as_pickle(data) and data.rstrip(b"\x00\r\n")[-1:] == b"."
    # protocols 0 and 1: text-like opcodes that end in "."; a pickle that is worth the name stores or builds something
    if len(data) < 4 or not data.endswith(b".") or data[:1] not in b"(]}c":
        return False
    from pickletools import genops

    names = set()
    try:
        for count, (opcode, _, _) in enumerate(genops(data)):
            names.add(opcode.name)
            if count > 2000:
                break
    except (ValueError, IndexError, KeyError, UnicodeDecodeError, OverflowError):
        return False
    return bool(names & {"PUT", "BINPUT", "GLOBAL", "REDUCE", "APPENDS", "APPEND", "SETITEM", "SETITEMS"})


def _unpacker(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str) -> Callable[[], bytes]:
    def unpack() -> bytes:
        try:
            with archive.open(entry) as stream:
                data = stream.read(entry.file_size + 1)
        except Refused:
            raise
        except ZIP_ERRORS:
            raise refuse(
                "damaged-archive",
                f"{name}/{entry.filename}",
                "This file in the archive is damaged or packed in an unknown way.",
                "Make the archive again.",
            ) from None
        if len(data) > entry.file_size:
            raise refuse(
                "archive-bomb", name, f"{entry.filename!r} unpacks to more than the archive says.", "Make the archive again."
            )
        return data

    return unpack


def _giver(data: bytes) -> Callable[[], bytes]:
    return lambda: data


def _plain_name(name: str) -> str:
    return whole(name).replace("\\", "/").lstrip("/") or "upload"


def _mib(size: int) -> str:
    return f"{size / (1 << 20):,.1f} MiB"

"""Uploaded corpora: those of this session, those that a link finds on disk again, and how they are deleted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from weakref import WeakValueDictionary

from components import services
from engine.corpus.kept import Kept, new_token
from engine.corpus.types import Corpus, Finding
from engine.errors import InputError
from engine.scoring.jobs import Job, JobTray

PREFIX = "upload:"
PATIENCE = 0.4  # seconds that the page waits for an upload to be on disk


@dataclass(frozen=True, eq=False)
class Upload:
    """An uploaded corpus, what the import doctor said of it, and the job that keeps it (None where it came from the disk).

    `name` stands in the address: a readable part, and the token without which nobody finds the corpus.
    """

    corpus: Corpus
    findings: tuple[Finding, ...]
    name: str
    job: Job | None = None

    @property
    def token(self) -> str:
        """The secret part of the name."""
        return _token(self.name)


_shared: WeakValueDictionary[str, Upload] = WeakValueDictionary()
"""Uploads that some session holds: two tabs with the same link share the memory."""


class Uploads:
    """The uploads that one session knows of."""

    def __init__(self, tray: JobTray) -> None:
        self._tray = tray
        self._held: dict[str, Upload] = {}

    def add(self, corpus: Corpus, findings: tuple[Finding, ...]) -> Upload:
        """Take up a corpus and write it to disk in the background; the same corpus once."""
        for held in self:
            if (held.corpus.hash, held.corpus.name) == (corpus.hash, corpus.name):
                return held
        token = new_token()
        return self._hold(Upload(corpus, findings, _name(corpus, token), self._write(corpus, findings, token)))

    def find(self, name: str) -> Upload | None:
        """The upload that a name in the address means: held by a session of this computer, or on its disk; else None."""
        token = _token(name)
        if not name.startswith(PREFIX) or services.kept().forgotten(token):
            self._held.pop(token, None)
            return None
        held = _shared.get(token) or self._held.get(token)
        if held is None:
            kept = services.kept().open(token)
            if kept is None:
                return None
            held = Upload(kept.corpus, kept.findings, _name(kept.corpus, token))
        return self._hold(held)

    def change(self, upload: Upload, corpus: Corpus, findings: tuple[Finding, ...]) -> Upload:
        """Another corpus under the name of an upload, here and on disk: its link shows the new one."""
        if upload.job is not None:
            upload.job.wait(60)  # until it is written, so that the newer one is written last
        return self._hold(Upload(corpus, findings, upload.name, self._write(corpus, findings, upload.token)))

    def delete(self, name: str) -> str:
        """Remove an upload from the disk and from all sessions; returns what went wrong, or nothing."""
        upload = self._held.pop(_token(name), None)
        if upload is not None and upload.job is not None:
            upload.job.wait(60)  # until it is written, so that nothing is written after the removal
        try:
            services.kept().forget(_token(name))
        except InputError as error:
            return str(error)
        _shared.pop(_token(name), None)
        return ""

    def __iter__(self) -> Iterator[Upload]:
        return iter([held for token, held in self._held.items() if not services.kept().forgotten(token)])

    def _write(self, corpus: Corpus, findings: tuple[Finding, ...], token: str) -> Job:
        """Write to disk in the background."""
        folder, key = services.kept(), ("keep", token, corpus.hash)
        job = self._tray.start(f"Keeping {corpus.name}", lambda _: folder.keep(Kept(corpus, findings), token), key)
        job.wait(PATIENCE)
        return job

    def _hold(self, upload: Upload) -> Upload:
        self._held[upload.token] = _shared[upload.token] = upload
        return upload


def readable(name: str) -> str:
    """An identifier as people may read it: an upload without its secret part."""
    return name.removeprefix(PREFIX).rpartition(".")[0] or "upload" if name.startswith(PREFIX) else name


def _name(corpus: Corpus, token: str) -> str:
    slug = re.sub(r"[^\w-]+", "-", corpus.name).strip("-")[:40] or "corpus"
    return f"{PREFIX}{slug}.{token}"


def _token(name: str) -> str:
    return name.rpartition(".")[2]

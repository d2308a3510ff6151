"""Helpers of the corpus tests: files in memory, and findings by kind."""

import io
import zipfile
from collections.abc import Mapping

from engine.corpus.loaded import Loaded
from engine.corpus.read import load_bytes
from engine.corpus.types import Corpus, Finding


def read(name: str, content: str | bytes, **options) -> Loaded:
    """Read one uploaded file."""
    return load_bytes({name: content.encode() if isinstance(content, str) else content}, **options)


def read_files(files: Mapping[str, str | bytes], **options) -> Loaded:
    """Read several uploaded files together."""
    return load_bytes({name: data.encode() if isinstance(data, str) else data for name, data in files.items()}, **options)


def corpus_of(loaded: Loaded) -> Corpus:
    """The corpus, which must be there."""
    assert loaded.corpus is not None, loaded.findings or loaded.table
    return loaded.corpus


def kinds(loaded: Loaded) -> dict[str, Finding]:
    """The first finding of each kind."""
    found: dict[str, Finding] = {}
    for finding in loaded.findings:
        found.setdefault(finding.kind, finding)
    return found


def refusal(loaded: Loaded) -> Finding:
    """The reason why a file was refused, which must be there."""
    assert loaded.corpus is None
    finding = loaded.findings[0]
    assert finding.severity == "fatal"
    assert finding.message.endswith(".")
    assert finding.remedy.endswith(".")
    return finding


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    """A zip archive."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return stream.getvalue()


def scores(corpus: Corpus, criterion: str) -> dict[tuple[int, str], float]:
    """(segment, system) → score."""
    rows = corpus.human[corpus.human["criterion"] == criterion]
    return {(row.segment, row.system): row.score for row in rows.itertuples()}

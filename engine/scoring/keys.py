"""Keys of the store: 16-byte content hashes of segments and of anything that a finished piece depends on."""

from __future__ import annotations

import dataclasses
import marshal
import struct
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from engine.corpus.types import Segment

KEY_BYTES = 16


def segment_keys(segments: Sequence[Segment]) -> bytes:
    """The keys of segments, 16 bytes each, in one string; different texts (and a missing one) have different keys."""
    pack = marshal.dumps
    try:  # version 0 of marshal writes lengths and plain texts: the same bytes for equal texts, and injective
        return b"".join([blake2b(pack((s, r, h), 0), digest_size=KEY_BYTES).digest() for s, r, h in segments])
    except ValueError:  # a subclass of str, from numpy or pandas
        return segment_keys([_plain(segment) for segment in segments])


def piece_key(*parts: Any) -> str:
    """A hash (32 hexadecimal digits) of everything that decides a piece: equal parts, equal key.

    Parameters
    ----------
    parts : texts, numbers, bytes, None, arrays, dataclasses, and sequences or mappings of these.

    Raises
    ------
    TypeError : a part whose content is not known.
    """
    digest = blake2b(digest_size=KEY_BYTES)
    _feed(digest, parts)
    return digest.hexdigest()


def _plain(segment: Segment) -> Segment:
    source, references, hypothesis = segment
    return Segment(
        None if source is None else "".join(source),
        tuple("".join(text) for text in references),
        None if hypothesis is None else "".join(hypothesis),
    )


def _feed(digest: Any, part: Any) -> None:
    """Add one part: a letter for its kind, its length, its bytes."""
    if part is None:
        _write(digest, b"n", b"")
    elif isinstance(part, str):
        _write(digest, b"s", part.encode("utf-8", "surrogatepass"))
    elif isinstance(part, bytes):
        _write(digest, b"b", part)
    elif isinstance(part, bool | np.bool_):
        _write(digest, b"t", bytes([bool(part)]))
    elif isinstance(part, int | np.integer):
        _write(digest, b"i", str(int(part)).encode())
    elif isinstance(part, float | np.floating):
        _write(digest, b"f", struct.pack("<d", float(part)))
    elif isinstance(part, np.ndarray) and not part.dtype.hasobject:
        _feed(digest, part.dtype.str)
        _feed(digest, part.shape)
        _write(digest, b"a", np.ascontiguousarray(part).tobytes())
    elif dataclasses.is_dataclass(part) and not isinstance(part, type):
        _feed(digest, type(part).__qualname__)
        _feed(digest, {item.name: getattr(part, item.name) for item in dataclasses.fields(part)})
    elif isinstance(part, Mapping):
        _feed(digest, tuple(part.items()))
    elif isinstance(part, tuple | list):
        digest.update(b"l" + struct.pack("<q", len(part)))
        for item in part:
            _feed(digest, item)
    else:
        raise TypeError(f"a {type(part).__name__} cannot be part of a key")


def _write(digest: Any, kind: bytes, data: bytes) -> None:
    digest.update(kind + struct.pack("<q", len(data)))
    digest.update(data)

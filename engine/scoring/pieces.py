"""Finished pieces of analyses as bytes: named arrays and small facts, without pickle, with a check sum."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import numpy as np


class Piece(dict[str, np.ndarray]):
    """Named arrays, and `facts`: whatever small things JSON can say about them."""

    facts: dict[str, Any]

    def __init__(self, arrays: Mapping[str, np.ndarray] = {}, facts: Mapping[str, Any] = {}) -> None:  # noqa: B006
        super().__init__(arrays)
        self.facts = dict(facts)


class Damaged(Exception):
    """Stored bytes that are not what was written."""


def pack(key: str, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]) -> tuple[str, bytes, bytes]:
    """Arrays and facts as a JSON header, the arrays' bytes one after the other, and a check sum of both and the key.

    Raises
    ------
    TypeError : an array that holds objects, or facts that JSON cannot hold.
    """
    described, body = [], []
    for name, given in arrays.items():
        array = np.asarray(given)
        if array.dtype.hasobject or array.dtype.names:
            raise TypeError(f"array {name!r} holds objects or records; a piece holds numbers and texts of fixed width")
        described.append([name, array.dtype.str, list(array.shape)])
        body.append(array.tobytes())
    header = json.dumps({"arrays": described, "facts": dict(facts)})
    joined = b"".join(body)
    return header, joined, _check(key, header, joined)


def unpack(key: str, header: str, body: bytes, check: bytes) -> Piece:
    """The inverse of `pack`; the arrays are writable copies.

    Raises
    ------
    Damaged : the check sum does not fit.
    """
    if check != _check(key, header, body):
        raise Damaged("a stored result is not what was written")
    content = json.loads(header)
    piece, start = Piece(facts=content["facts"]), 0
    for name, kind, shape in content["arrays"]:
        dtype = np.dtype(kind)
        count = int(np.prod(shape, dtype=np.int64))
        # a width of zero (an array of empty texts) has no bytes to read from
        flat = np.frombuffer(body, dtype, count, start) if count * dtype.itemsize else np.zeros(count, dtype)
        piece[name] = flat.reshape(shape).copy()
        start += count * dtype.itemsize
    return piece


def _check(key: str, header: str, body: bytes) -> bytes:
    digest = blake2b(digest_size=16)
    for part in (key.encode(), header.encode(), body):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.digest()

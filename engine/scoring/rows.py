"""Blocks of stored statistics: how they are checked, and an index from 16-byte keys to rows that grows cheaply."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np

from engine.scoring.keys import KEY_BYTES


def check_sum(metric_key: str, width: int, keys: bytes, body: bytes | None = None) -> bytes:
    """A check sum of a block's keys, or of its keys and rows; it binds them to their metric."""
    digest = blake2b(f"{width}:{metric_key}:".encode("utf-8", "surrogatepass"), digest_size=16)
    digest.update(keys)
    if body is not None:
        digest.update(body)
    return digest.digest()


@dataclass
class _Run:
    """Keys in order: the first halves sorted, the second halves beside them, and where each row lies."""

    heads: np.ndarray  # uint64[m], ascending
    tails: np.ndarray  # uint64[m]
    rows: np.ndarray  # int64[m]

    def joined(self, other: _Run) -> _Run:
        heads = np.concatenate([self.heads, other.heads])
        order = np.argsort(heads, kind="stable")
        tails, rows = np.concatenate([self.tails, other.tails]), np.concatenate([self.rows, other.rows])
        return _Run(heads[order], tails[order], rows[order])


@dataclass
class Index:
    """Where the rows of one metric lie. Rows are numbered in the order of their blocks.

    Keys are kept as a few sorted runs; a run that has grown to the size of the one before it is merged with it, so that
    one new row does not cost a sort of all.
    """

    width: int = 0
    last_block: int = 0
    blocks: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=lambda: [0])
    runs: list[_Run] = field(default_factory=list)

    def add(self, blocks: list[tuple[int, bytes]]) -> None:
        """Add blocks, each (block id, keys of its rows)."""
        if not blocks:
            return
        for block, keys in blocks:
            self.blocks.append(block)
            self.starts.append(self.starts[-1] + len(keys) // KEY_BYTES)
        self.last_block = self.blocks[-1]
        halves = split_keys(b"".join(keys for _, keys in blocks))
        order = np.argsort(halves[:, 0], kind="stable")
        end = self.starts[-1]
        self.runs.append(_Run(halves[order, 0], halves[order, 1], np.arange(end - len(halves), end)[order]))
        while len(self.runs) > 1 and 2 * len(self.runs[-1].heads) >= len(self.runs[-2].heads):
            self.runs[-2:] = [self.runs[-2].joined(self.runs[-1])]

    def find(self, keys: bytes) -> np.ndarray:
        """The row of each key, int64[n]; −1 where there is none."""
        halves = split_keys(keys)
        rows = np.full(len(halves), -1)
        for run in self.runs:
            if len(run.heads):
                place = np.minimum(np.searchsorted(run.heads, halves[:, 0]), len(run.heads) - 1)
                same = (run.heads[place] == halves[:, 0]) & (run.tails[place] == halves[:, 1])
                rows[same] = run.rows[place[same]]
        return rows

    def by_block(self, rows: np.ndarray) -> list[tuple[int, np.ndarray, np.ndarray]]:
        """Group rows by block: (block id, which of `rows`, their places in the block)."""
        which = np.searchsorted(self.starts, rows, side="right") - 1
        order = np.argsort(which, kind="stable")
        edges = np.flatnonzero(np.diff(which[order])) + 1
        grouped = np.split(order, edges) if len(order) else []
        return [(self.blocks[which[item[0]]], item, rows[item] - self.starts[which[item[0]]]) for item in grouped]


def split_keys(keys: bytes) -> np.ndarray:
    """Keys as two halves each, uint64[n, 2]."""
    return np.frombuffer(keys, dtype="<u8").reshape(-1, 2)

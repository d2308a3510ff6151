"""Finished explanations in the store: looked up before anything is scored, put there group by group."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from engine.corpus.types import Segment
from engine.explain.batches import read_sides
from engine.explain.options import ExplainOptions
from engine.explain.results import Explanation, SideImportances
from engine.explain.words import count_words
from engine.metrics.base import MetricSpec

VERSION = "1"
"""Part of every key; changes when the same inputs give other importances."""


class Pieces:
    """The explanations of one metric under one set of options. Without a store it finds and keeps nothing."""

    def __init__(self, store: Any | None, spec: MetricSpec, options: ExplainOptions) -> None:
        self._store = store
        self._spec = spec
        self._options = options

    def get(self, segment: Segment, mask: str) -> Explanation | None:
        """The finished explanation of a segment masked with `mask`, or None."""
        if self._store is None:
            return None
        piece = self._store.get_piece(self._key(segment, mask))
        return None if piece is None else self._read(piece, segment, mask)

    def put(self, explanations: Iterable[Explanation]) -> None:
        """Keep finished explanations."""
        if self._store is None:
            return
        for item in explanations:
            piece = {"score": np.array([item.score]), "importances": item.importances}
            if item.undefined:
                piece["undefined"] = np.frombuffer(item.undefined.encode(), dtype=np.uint8)
            if item.notes:
                piece["notes"] = np.frombuffer("\n".join(item.notes).encode("utf-8", "surrogatepass"), dtype=np.uint8)
            self._store.put_piece(self._key(item.segment, item.mask), piece)

    def _key(self, segment: Segment, mask: str) -> str:
        assert self._store is not None
        source, references, hypothesis = segment
        texts = [source, str(len(references)), *references, hypothesis]
        return self._store.piece_key("explain", VERSION, self._spec.signature, *self._options.identity(), mask, *texts)

    def _read(self, piece: dict[str, np.ndarray], segment: Segment, mask: str) -> Explanation | None:
        sides, start = [], 0
        for name, text in read_sides(segment, self._spec):
            stop = start + count_words(text)
            sides.append(SideImportances(name, text, piece["importances"][start:stop]))
            start = stop
        if start != len(piece["importances"]):
            return None
        return Explanation(
            segment,
            float(piece["score"][0]),
            tuple(sides),
            _text(piece, "undefined") or None,
            self._spec.higher_is_better,
            mask,
            tuple(filter(None, _text(piece, "notes").split("\n"))),
        )


def _text(piece: dict[str, np.ndarray], name: str) -> str:
    return piece[name].tobytes().decode("utf-8", "surrogatepass") if name in piece else ""

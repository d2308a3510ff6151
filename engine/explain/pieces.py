"""Finished explanations in the store: looked up before anything is scored, put there group by group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from engine.corpus.types import Segment
from engine.explain.batches import read_sides
from engine.explain.options import ExplainOptions
from engine.explain.results import Explanation, SideImportances
from engine.explain.words import count_words
from engine.metrics.base import MetricSpec
from engine.scoring.keys import piece_key
from engine.scoring.pieces import Piece

VERSION = 1
"""Part of every key; changes when the same inputs give other importances."""


class Pieces:
    """The explanations of one metric under one set of options. Without a store it finds and keeps nothing."""

    def __init__(self, store: Any | None, spec: MetricSpec, options: ExplainOptions) -> None:
        self._store = store
        self._spec = spec
        self._identity = ("explain", VERSION, spec.signature, options.identity())

    def get(self, wanted: Mapping[Segment, str]) -> dict[Segment, Explanation]:
        """The finished explanations among segments, each masked with the word beside it."""
        if self._store is None or not wanted:
            return {}
        keys = {segment: self._key(segment, mask) for segment, mask in wanted.items()}
        pieces = self._store.get_pieces(keys.values())
        read = (self._read(pieces[key], segment, wanted[segment]) for segment, key in keys.items() if key in pieces)
        return {item.segment: item for item in read if item is not None}

    def put(self, explanations: Iterable[Explanation]) -> None:
        """Keep finished explanations."""
        if self._store is None:
            return
        self._store.put_pieces({self._key(item.segment, item.mask): _piece(item) for item in explanations})

    def _key(self, segment: Segment, mask: str) -> str:
        return piece_key(self._identity, mask, tuple(segment))

    def _read(self, piece: Piece, segment: Segment, mask: str) -> Explanation | None:
        sides, start = [], 0
        for name, text in read_sides(segment, self._spec):
            stop = start + count_words(text)
            sides.append(SideImportances(name, text, piece["importances"][start:stop]))
            start = stop
        if start != len(piece["importances"]):
            return None
        facts = piece.facts
        better = self._spec.higher_is_better
        score = float(piece["score"][0])
        return Explanation(segment, score, tuple(sides), facts["undefined"], better, mask, tuple(facts["notes"]))


def _piece(item: Explanation) -> Piece:
    arrays = {"score": np.array([item.score]), "importances": item.importances}
    return Piece(arrays, {"undefined": item.undefined, "notes": list(item.notes)})

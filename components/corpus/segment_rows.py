"""The rows of the segment table: chosen, sorted and cut into pages here, so that the browser gets one page at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from engine.corpus.types import Corpus

ROWS_PER_PAGE = 50
SORTS = {
    "segment": "Segment order",
    "low": "Lowest score first",
    "high": "Highest score first",
    "gap": "Largest difference A\u2013B first",
    "gap-a": "A better than B first",
    "gap-b": "B better than A first",
}


@dataclass(frozen=True)
class Wanted:
    """What the user asks of the table. `low` and `high` bound the score, both inclusive."""

    find: str = ""
    systems: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    sort: str = "segment"


@dataclass(frozen=True, eq=False)
class SegmentRows:
    """All outputs of a corpus with their scores.

    Attributes
    ----------
    scores : system → float64[n_segments]; NaN where undefined.
    higher_is_better : decides what "A better than B" means.
    """

    corpus: Corpus
    scores: Mapping[str, np.ndarray]
    higher_is_better: bool = True

    @cached_property
    def systems(self) -> list[str]:
        """The systems, in the corpus' order."""
        return list(self.corpus.systems)

    @cached_property
    def matrix(self) -> np.ndarray:
        """Scores, float64[n_systems, n_segments]."""
        return np.stack([self.scores[name] for name in self.systems])

    @cached_property
    def _shared_texts(self) -> list[str]:
        """Source and references of each segment, case folded."""
        sources = self.corpus.sources or (None,) * len(self.corpus)
        return [
            "\n".join(text for text in (source, *references) if text).casefold()
            for source, references in zip(sources, self.corpus.references, strict=True)
        ]

    @cached_property
    def _outputs(self) -> dict[str, list[str]]:
        return {name: [(text or "").casefold() for text in texts] for name, texts in self.corpus.systems.items()}

    def found(self, text: str) -> np.ndarray:
        """bool[n_systems, n_segments]: where source, references or output hold `text`, whatever its case."""
        wanted = text.casefold().strip()
        shape = (len(self.systems), len(self.corpus))
        if not wanted:
            return np.ones(shape, dtype=bool)
        shared = np.fromiter((wanted in item for item in self._shared_texts), dtype=bool, count=shape[1])
        own = [np.fromiter((wanted in item for item in self._outputs[name]), dtype=bool, count=shape[1]) for name in self.systems]
        return np.stack(own) | shared

    def select(self, wanted: Wanted, a: str, b: str) -> tuple[np.ndarray, np.ndarray]:
        """System and segment of each row, int64[n_rows] each, in the order asked for."""
        kept = self.found(wanted.find) & self._within(wanted)
        if wanted.systems:
            kept &= np.isin(self.systems, wanted.systems)[:, None]
        system, segment = np.nonzero(kept)
        order = self._order(system, segment, wanted.sort, a, b)
        return system[order], segment[order]

    def select_pairs(self, wanted: Wanted, a: str, b: str) -> np.ndarray:
        """Segments in which A or B has what is asked for, int64[n_rows], in the order asked for."""
        places = [self.systems.index(a), self.systems.index(b)]
        kept = (self.found(wanted.find) & self._within(wanted))[places].any(axis=0)
        segment = np.nonzero(kept)[0]
        return segment[self._order(np.full(len(segment), places[0]), segment, wanted.sort, a, b)]

    def gap(self, a: str, b: str) -> np.ndarray:
        """Score of A minus score of B, float64[n_segments]."""
        return self.scores[a] - self.scores[b]

    def _within(self, wanted: Wanted) -> np.ndarray:
        kept = np.ones(self.matrix.shape, dtype=bool)
        with np.errstate(invalid="ignore"):
            if wanted.low is not None:
                kept &= self.matrix >= wanted.low
            if wanted.high is not None:
                kept &= self.matrix <= wanted.high
        return kept

    def _order(self, system: np.ndarray, segment: np.ndarray, sort: str, a: str, b: str) -> np.ndarray:
        """A stable order; undefined scores come last."""
        score = self.matrix[system, segment]
        better = self.gap(a, b)[segment] * (1 if self.higher_is_better else -1)
        keys = {"low": score, "high": -score, "gap": -np.abs(better), "gap-a": -better, "gap-b": better}
        if sort in keys:
            return np.lexsort((system, segment, keys[sort], np.isnan(keys[sort])))
        return np.lexsort((system, segment))

    def output_frame(self, system: np.ndarray, segment: np.ndarray, extra: Mapping[str, np.ndarray]) -> pd.DataFrame:
        """Rows of single outputs: segment, id, document, system, score, more numbers, hypothesis, reference, source.

        `extra` name → float64[n_systems, n_segments], such as human scores.
        """
        columns = self._places(segment)
        columns["system"] = [self.systems[place] for place in system]
        columns["score"] = self.matrix[system, segment]
        for name, values in extra.items():
            columns[name] = values[system, segment]
        columns["hypothesis"] = [
            self.corpus.systems[self.systems[row]][place] for row, place in zip(system, segment, strict=True)
        ]
        return pd.DataFrame(columns | self._shared_columns(segment))

    def pair_frame(self, segment: np.ndarray, a: str, b: str) -> pd.DataFrame:
        """Rows of A beside B: segment, id, document, both scores, their difference, both outputs, reference, source."""
        columns = self._places(segment)
        columns |= {
            "score A": self.scores[a][segment],
            "score B": self.scores[b][segment],
            "A \u2212 B": self.gap(a, b)[segment],
            "hypothesis A": [self.corpus.systems[a][place] for place in segment],
            "hypothesis B": [self.corpus.systems[b][place] for place in segment],
        }
        return pd.DataFrame(columns | self._shared_columns(segment))

    def _places(self, segment: np.ndarray) -> dict[str, Sequence]:
        columns: dict[str, Sequence] = {"segment": segment}
        for name, own in (("id", self.corpus.ids), ("document", self.corpus.documents)):
            if own is not None:
                columns[name] = [own[place] for place in segment]
        return columns

    def _shared_columns(self, segment: np.ndarray) -> dict[str, Sequence]:
        columns: dict[str, Sequence] = {}
        for place in range(self.corpus.reference_count):
            name = "reference" if self.corpus.reference_count == 1 else f"reference {place + 1}"
            columns[name] = [self.corpus.references[row][place] for row in segment]
        if self.corpus.sources is not None:
            columns["source"] = [self.corpus.sources[row] for row in segment]
        return columns

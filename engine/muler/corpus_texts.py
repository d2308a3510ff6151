"""A corpus as tagged texts: which text is whose output, and which are whose references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from engine.corpus.types import Corpus, Segment
from engine.muler.spans import SpanFinder, Style
from engine.muler.taggers import Tagger
from engine.muler.tagging import TaggedTexts, tag_texts
from engine.progress import Progress, silent
from engine.scoring.store import Store

MISSING = -1
"""The text of a system that has no output for a segment."""


@dataclass(frozen=True, eq=False)
class Cover:
    """The tokens that hold a feature, bool[n_tokens]; `entities`: whether the tokens of one entity share a mask."""

    mask: np.ndarray
    entities: bool = False


@dataclass(frozen=True, eq=False)
class Counts:
    """How often a feature is masked in one system's segments, int64[n_segments] each.

    Attributes
    ----------
    output : masks in the output.
    fewest, most : masks in the reference with fewest and in the one with most.
    usable : bool[n_segments]; whether the segment has an output and a reference.
    """

    output: np.ndarray
    fewest: np.ndarray
    most: np.ndarray
    usable: np.ndarray

    @property
    def both(self) -> np.ndarray:
        """Segments with the feature in the output and in at least one reference."""
        return self.usable & (self.output > 0) & (self.most > 0)

    @property
    def either(self) -> np.ndarray:
        """Segments with the feature on at least one side."""
        return self.usable & ((self.output > 0) | (self.most > 0))

    @property
    def add(self) -> np.ndarray:
        """Segments whose output has it more often than every reference."""
        return self.either & (self.output > self.most)

    @property
    def miss(self) -> np.ndarray:
        """Segments whose output has it less often than every reference."""
        return self.either & (self.output < self.fewest)

    @property
    def hit(self) -> np.ndarray:
        """Segments whose output has it as often as the reference, or a number between those of several references."""
        return self.either & ~self.add & ~self.miss


@dataclass(frozen=True, eq=False)
class CorpusTexts:
    """The texts of a corpus by number.

    Attributes
    ----------
    tagged : all distinct outputs and references.
    outputs : system → int64[n_segments]; `MISSING` where there is none.
    members, offsets : int64; the references of segment i are the texts `members[offsets[i]:offsets[i + 1]]`.
    sources : n sources, or None.
    """

    tagged: TaggedTexts
    outputs: Mapping[str, np.ndarray]
    members: np.ndarray
    offsets: np.ndarray
    sources: Sequence[str | None] | None
    _finders: dict[Style, SpanFinder] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def finder(self, style: Style) -> SpanFinder:
        """What finds the spans of features for metrics of one style."""
        return self._finders.setdefault(style, SpanFinder(self.tagged, style))

    def segment(self, index: int, system: str) -> Segment:
        """A segment as the corpus has it."""
        texts = self.tagged.texts
        references = tuple(texts[member] for member in self.members[self.offsets[index] : self.offsets[index + 1]])
        output = int(self.outputs[system][index])
        return Segment(
            None if self.sources is None else self.sources[index], references, None if output == MISSING else texts[output]
        )

    def counts(self, per_text: np.ndarray, system: str) -> Counts:
        """How often a feature is masked, from its masks per text (int64[n_texts])."""
        outputs = self.outputs[system]
        has = np.diff(self.offsets) > 0
        fewest, most = (np.zeros(len(self), np.int64) for _ in range(2))
        if has.any():
            held, starts = per_text[self.members], self.offsets[:-1][has]
            fewest[has], most[has] = np.minimum.reduceat(held, starts), np.maximum.reduceat(held, starts)
        usable = has & (outputs != MISSING)
        return Counts(np.where(usable, per_text[np.maximum(outputs, 0)] if len(per_text) else 0, 0), fewest, most, usable)


def corpus_texts(
    corpus: Corpus,
    systems: Sequence[str],
    tagger: Tagger,
    layers: Sequence[str],
    store: Store | None = None,
    progress: Progress = silent,
) -> CorpusTexts:
    """Tag the references of a corpus and the outputs of some of its systems."""
    groups = [tuple(text for text in references if text is not None) for references in corpus.references]
    outputs = {name: corpus.systems[name] for name in systems}
    texts = chain(chain.from_iterable(groups), *((text for text in of if text is not None) for of in outputs.values()))
    tagged = tag_texts(texts, tagger, layers, store, progress)
    index = tagged.index
    return CorpusTexts(
        tagged,
        {name: np.array([MISSING if text is None else index[text] for text in of], np.int64) for name, of in outputs.items()},
        np.array([index[text] for group in groups for text in group], np.int64),
        np.concatenate([[0], np.cumsum([len(group) for group in groups])]).astype(np.int64),
        corpus.sources,
    )

"""Oracle and anti-oracle statistics of a feature under a metric: the quick way where there is one, else through masked texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from engine.corpus.types import Segment
from engine.metrics.base import Metric
from engine.metrics.bertscore import BertScore
from engine.metrics.bleu import Bleu
from engine.muler.bertscore import BertScoreMasker
from engine.muler.bleu import BleuMasker, bleu_words
from engine.muler.corpus_texts import CorpusTexts, Cover
from engine.muler.masks import (
    ORACLE,
    OUTPUT,
    REFERENCE,
    CharacterMasks,
    MaskedTexts,
    MaskWords,
    Template,
    average_length,
    template_of,
    visible_masks,
)
from engine.muler.spans import Spans
from engine.muler.styles import MaskStyle, mask_style
from engine.progress import Progress, silent
from engine.scoring.scorer import Scorer

Rows = Mapping[str, np.ndarray]
"""System → int64[m], the segments that count."""

Pair = tuple[np.ndarray, np.ndarray]
"""Statistics of the same segments under the oracle and under the anti-oracle, float64[m, k] each."""


class Masker(Protocol):
    """Gives a metric's statistics of masked segments."""

    def statistics(self, cover: Cover, rows: Rows, progress: Progress = silent) -> dict[str, Pair]:
        """Statistics of the segments in `rows`, system by system, with the tokens in `cover` masked."""
        ...


class TextMasker:
    """Writes the masks into the texts and scores these like any others: for every metric."""

    def __init__(self, metric: Metric, texts: CorpusTexts, scorer: Scorer, numbering: str = "same", unit: str = "token") -> None:
        self.metric = metric
        self.texts = texts
        self._scorer = scorer
        self._numbering = numbering
        self._known: dict[str, Template] = {}
        self.style: MaskStyle = mask_style(metric)
        self.finder = texts.finder(self.style.spans)
        self.tokens = self.style.tokens if unit == "token" else None
        visible = self.style.characters == "visible"
        self._visible = visible_masks(texts.tagged.texts) if visible else None
        self._characters = None if visible else CharacterMasks(texts.tagged.texts, self.style.characters == "han")

    def words(self, spans: Spans) -> MaskWords:
        """The masks for these spans."""
        if self._characters is None:
            assert self._visible is not None
            return self._visible
        return self._characters.words(average_length(spans, self.texts.members) if self.style.by_character else 1)

    def masked(self, cover: Cover, kept: np.ndarray | None = None) -> MaskedTexts:
        """The texts of the corpus with the tokens in `cover` masked, made on demand.

        Parameters
        ----------
        kept : bool[n_tokens]; those of the tokens that get the oracle's mask in the anti-oracle too.
        """
        spans = self.finder.find(cover.mask, cover.entities)
        kept_spans = None if kept is None else kept[spans.first]
        templates = self._templates(spans)
        return MaskedTexts(self.texts.tagged, spans, self.words(spans), self._numbering, templates, kept_spans)

    def _templates(self, spans: Spans) -> list[Template] | None:
        if self.tokens is None:
            return None
        texts, known = self.texts.tagged.texts, self._known
        templates = []
        for text, start, end in zip(spans.text.tolist(), spans.start.tolist(), spans.end.tolist()):
            span = texts[text][start:end]
            if span not in known:
                known[span] = template_of(span, self.tokens)
            templates.append(known[span])
        return templates

    def statistics(self, cover: Cover, rows: Rows, progress: Progress = silent) -> dict[str, Pair]:
        oracle, anti = self.segments(self.masked(cover), rows)
        table = self._scorer.statistics(self.metric, oracle + anti, progress, keep=False)
        ends = np.cumsum([len(of) for of in rows.values()])
        halves = table[: len(oracle)], table[len(oracle) :]
        parts = [np.split(half, ends[:-1]) if len(ends) else [] for half in halves]
        return {name: (parts[0][place], parts[1][place]) for place, name in enumerate(rows)}

    def segments(self, masked: MaskedTexts, rows: Rows) -> tuple[list[Segment], list[Segment]]:
        """The segments in `rows`, one system after the other, masked for the oracle and for the anti-oracle."""
        texts, sources = self.texts, self.texts.sources
        used = np.unique(np.concatenate([np.empty(0, np.int64), *rows.values()]))
        groups = {row: texts.members[texts.offsets[row] : texts.offsets[row + 1]].tolist() for row in used.tolist()}
        references = sorted({member for group in groups.values() for member in group})
        shared, single = (dict(zip(references, column)) for column in masked.texts(references, (ORACLE, REFERENCE)))
        together = {row: tuple(shared[member] for member in group) for row, group in groups.items()}
        apart = {row: tuple(single[member] for member in group) for row, group in groups.items()}
        oracle, anti = [], []
        for name, chosen in rows.items():
            columns = masked.texts(texts.outputs[name][chosen].tolist(), (ORACLE, OUTPUT))
            for row, first, second in zip(chosen.tolist(), *columns):
                source = None if sources is None else sources[row]
                oracle.append(Segment(source, together[row], first))
                anti.append(Segment(source, apart[row], second))
        return oracle, anti


class QuickBleu:
    """BLEU on token ids; see `BleuMasker`."""

    def __init__(self, through_text: TextMasker, masker: BleuMasker) -> None:
        self._texts = through_text.texts
        self._masker = masker

    def statistics(self, cover: Cover, rows: Rows, progress: Progress = silent) -> dict[str, Pair]:
        texts = self._texts
        forms = self._masker.masked(cover.mask, cover.entities)
        return {
            name: self._masker.statistics(forms, texts.outputs[name][chosen], chosen, texts.members, texts.offsets)
            for name, chosen in rows.items()
        }


def make_masker(metric: Metric, texts: CorpusTexts, scorer: Scorer, numbering: str = "same", unit: str = "token") -> Masker:
    """The masker for a metric: the quickest that gives the numbers of masked texts; for BERTScore the edited matrix."""
    through_text = TextMasker(metric, texts, scorer, numbering, unit)
    if isinstance(metric, Bleu) and numbering == "same" and BleuMasker.can_mask(metric) and not through_text.style.by_character:
        words = bleu_words(texts.tagged)
        if words is not None:
            none = np.zeros(len(texts.tagged.start), bool)
            mask_word = through_text.words(through_text.finder.find(none)).word(ORACLE, 0)
            return QuickBleu(through_text, BleuMasker(metric, through_text.finder, mask_word, words, through_text.tokens))
    if isinstance(metric, BertScore) and BertScoreMasker.can_mask(metric):
        return BertScoreMasker(metric, texts)
    return through_text

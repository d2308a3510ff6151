"""BERTScore of masked texts: the texts are read once, and only the similarity matrix is edited."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from tempfile import TemporaryFile
from typing import Any

import numpy as np

from engine.metrics.bertscore import F1, PRECISION, RECALL, TRUNCATED, BertScore
from engine.muler.corpus_texts import MISSING, CorpusTexts, Cover
from engine.muler.spans import SpanFinder, Style
from engine.progress import Progress, silent

Pair = tuple[np.ndarray, np.ndarray]

_BLOCK = 256  # pairs of texts that are read together
_IN_MEMORY = 1 << 29  # bytes of similarities beyond which they are kept in a file


class BertScoreMasker:
    """Statistics of masked segments under BERTScore, in the layout of `BertScore`.

    A token of the encoder belongs to a feature when it shares a character with one of its words. The matrices of all pairs are
    made on the first call and kept.
    """

    def __init__(self, metric: BertScore, texts: CorpusTexts) -> None:
        self._metric = metric
        self._texts = texts
        self._finder = texts.finder(Style())
        self._pairs: _Pairs | None = None

    @staticmethod
    def can_mask(metric: BertScore) -> bool:
        """Whether the matrix is one of output by reference, and the encoder says where its tokens stand."""
        return metric.spec.needs_reference and metric.encoder().tokenizer.spans is not None

    def statistics(self, cover: Cover, rows: Mapping[str, np.ndarray], progress: Progress = silent) -> dict[str, Pair]:
        """Statistics under the oracle and under the anti-oracle; see `engine.muler.maskers.Masker`."""
        from engine.muler.similarity_kernel import edited_means

        if self._pairs is None:
            self._pairs = _Pairs(self._metric, self._texts, progress)
        pairs = self._pairs
        marked = pairs.marked(self._finder, cover)
        found = {}
        for name, chosen in rows.items():
            single, starts = pairs.of(name, chosen)
            means = edited_means(
                pairs.similarities, pairs.starts, pairs.hypotheses, pairs.references, pairs.offsets, marked, pairs.weights, single
            )
            plain = pairs.plain[name][chosen, TRUNCATED]
            found[name] = (self._reduce(means[:, :2], single, starts, plain), self._reduce(means[:, 2:], single, starts, plain))
        return found

    def _reduce(self, means: np.ndarray, single: np.ndarray, starts: np.ndarray, cut: np.ndarray) -> np.ndarray:
        """The statistics of segments from the precision and recall of their pairs: the best reference for each value."""
        pairs = self._pairs
        assert pairs is not None
        precision, recall = means.T
        with np.errstate(invalid="ignore", divide="ignore"):
            f1 = np.where(precision + recall == 0, 0.0, 2 * precision * recall / (precision + recall))
        values = np.empty((len(means), 4))
        values[:, PRECISION], values[:, RECALL], values[:, F1] = precision, recall, f1
        values[pairs.empty[single], :TRUNCATED] = 0.0
        values[np.ix_(pairs.two[single], [PRECISION, RECALL])] = 0.0
        best = np.fmax.reduceat(values, starts, axis=0) if len(starts) else values
        best[:, TRUNCATED] = cut
        return best


class _Pairs:
    """Every pair of an output and one of its references, with its similarity matrix.

    Attributes
    ----------
    hypotheses, references : int64[n_pairs], texts.
    starts : int64[n_pairs], where the matrix of a pair begins in `similarities`.
    similarities : float32[n], all matrices.
    offsets, weights : the encoder's tokens of each text, and how much each token counts.
    empty, two : bool[n_pairs]; pairs with a text without tokens of its own, and pairs with a text of two tokens in all.
    plain : system → the statistics as they are, float64[n_segments, 4].
    """

    def __init__(self, metric: BertScore, texts: CorpusTexts, progress: Progress) -> None:
        self._texts = texts
        encoder, known = metric.encoder(), texts.tagged.texts
        long: Any = metric.options.long
        tokens = encoder.tokenizer(known, long)
        lengths = np.array([len(item.ids) for item in tokens], np.int64)
        body = np.array([item.body for item in tokens], np.int64)
        self.offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self.weights = np.concatenate([np.empty(0), *(metric.token_weights(item.ids) for item in tokens)])
        self._places = np.concatenate([np.empty((0, 2), np.int32), *encoder.tokenizer.places(known, long)])
        self._single: dict[tuple[int, int], int] = {}
        for outputs in texts.outputs.values():
            for row, output in enumerate(outputs.tolist()):
                if output != MISSING:
                    for member in texts.members[texts.offsets[row] : texts.offsets[row + 1]].tolist():
                        self._single.setdefault((output, member), len(self._single))
        pairs = np.array(list(self._single), np.int64).reshape(-1, 2)
        self.hypotheses, self.references = np.ascontiguousarray(pairs.T)
        self.empty = (body[pairs] == 0).any(axis=1)
        self.two = (lengths[pairs] == 2).any(axis=1)
        sizes = lengths[self.hypotheses] * lengths[self.references]
        self.starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64) if len(sizes) else sizes
        self.similarities = _room(int(sizes.sum()))
        self._fill(metric, progress)
        cut = np.array([item.cut for item in tokens], np.int64)
        self.plain = {name: self._plain(name, cut) for name in texts.outputs}

    def of(self, system: str, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The pairs of some segments, int64[m], and where each segment's begin, int64[len(rows)]."""
        texts = self._texts
        single: list[int] = []
        starts: list[int] = []
        outputs = texts.outputs[system]
        for row in rows.tolist():
            starts.append(len(single))
            members = texts.members[texts.offsets[row] : texts.offsets[row + 1]].tolist()
            single += [self._single[int(outputs[row]), member] for member in members]
        return np.array(single, np.int64), np.array(starts, np.int64)

    def marked(self, finder: SpanFinder, cover: Cover) -> np.ndarray:
        """The encoder's tokens that share a character with the feature, bool[n_tokens]."""
        spans = finder.find(cover.mask, cover.entities)
        ends = np.concatenate([[0], np.cumsum([len(text) + 1 for text in finder.tagged.texts])]).astype(np.int64)
        inside = np.zeros(int(ends[-1]) + 1, np.int64)  # characters of all texts, one after the other
        np.add.at(inside, ends[spans.text] + spans.start, 1)
        np.add.at(inside, ends[spans.text] + spans.end, -1)
        covered = np.concatenate([[0], np.cumsum(np.cumsum(inside) > 0)])
        base = np.repeat(ends[:-1], np.diff(self.offsets))
        return covered[base + self._places[:, 1]] > covered[base + self._places[:, 0]]

    def _plain(self, system: str, cut: np.ndarray) -> np.ndarray:
        """Only the number of tokens that were cut off is filled in."""
        texts, outputs = self._texts, self._texts.outputs[system]
        plain = np.full((len(texts), 4), np.nan)
        for row, output in enumerate(outputs.tolist()):
            members = texts.members[texts.offsets[row] : texts.offsets[row + 1]]
            if output != MISSING and len(members):
                plain[row, TRUNCATED] = cut[output] + cut[members].sum()
        return plain

    def _fill(self, metric: BertScore, progress: Progress) -> None:
        encoder, known = metric.encoder(), self._texts.tagged.texts
        long: Any = metric.options.long
        for block in _blocks(len(self.starts)):
            progress(block.start, max(1, len(self.starts)))
            pairs = [(known[self.hypotheses[row]], known[self.references[row]]) for row in block]
            embedded = encoder.embed(list(dict.fromkeys(text for pair in pairs for text in pair)), long)
            for row, (output, reference) in zip(block, pairs):
                matrix = embedded[output].vectors @ embedded[reference].vectors.t()
                cosines = matrix.cpu().numpy().reshape(-1)
                self.similarities[self.starts[row] : self.starts[row] + len(cosines)] = cosines


def _blocks(count: int) -> Iterator[range]:
    for start in range(0, count, _BLOCK):
        yield range(start, min(start + _BLOCK, count))


def _room(count: int) -> np.ndarray:
    """Room for similarities, in memory or in a file that goes away with the array."""
    if 4 * count <= _IN_MEMORY:
        return np.empty(count, np.float32)
    with TemporaryFile() as file:
        return np.memmap(file, np.float32, "w+", shape=(count,))  # type: ignore[call-overload]

"""BERTScore (Zhang et al. 2020) with any encoder, and its reference-free form between source and hypothesis."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from engine.corpus.findings import plural
from engine.corpus.types import Corpus, Languages, Segment
from engine.errors import InputError
from engine.metrics.base import MeanMetric, Metric, MetricSpec, metric_id
from engine.metrics.encoders import Checkpoint, choose_layer, default_name, locate
from engine.metrics.encoders.baselines import Baseline, find_baseline
from engine.metrics.encoders.pairs import score_pairs
from engine.options import option

if TYPE_CHECKING:
    from engine.metrics.encoders.encoder import Encoder

PRECISION, RECALL, F1, TRUNCATED = range(4)
"""The columns of the statistics."""

VALUES = {"f1": F1, "precision": PRECISION, "recall": RECALL}

_NAMES = {"bertscore": "BERTScore", "xbertscore": "XBERTScore"}
_VERSION = 1  # part of the signature; changes when the same texts get other numbers


@dataclass(frozen=True)
class Options:
    """Options of BERTScore and of XBERTScore."""

    model: str | None = option(None, "Encoder: a Hugging Face name or a local folder; the default depends on the language")
    layer: int | None = option(None, "Layer of the encoder; the best known one where not given", low=0)
    value: str = option("f1", "Which of the three values is the score", choices=tuple(VALUES))
    idf: bool = option(False, "Weight tokens by how rare they are in the corpus' references", label="IDF weights")
    rescale: bool = option(False, "Rescale so that unrelated texts score about 0", label="Rescale with baseline")
    baseline: str | None = option(None, "File with the baseline of each layer (columns LAYER,P,R,F)", advanced=True)
    long: str = option(
        "truncate", "Texts longer than the encoder reads: cut them off, or read them in windows", choices=("truncate", "windows")
    )


def make(name: str, options: Options, languages: Languages) -> Metric:
    """Make `bertscore` (hypothesis against references) or `xbertscore` (hypothesis against source). No model is loaded.

    Raises
    ------
    InputError : the model is not there, has no such layer, or no baseline is known for it.
    """
    checkpoint = locate(options.model or default_name(languages, name == "xbertscore"))
    layer = choose_layer(checkpoint, options.layer)
    baseline = None
    if options.rescale:
        baseline = find_baseline(options.baseline, checkpoint, layer, languages[1], name == "xbertscore")
    elif options.baseline is not None:
        raise InputError("option 'baseline' is given without rescale=true; say both or neither")
    return BertScore(name, options, checkpoint, layer, baseline)


class BertScore(MeanMetric):
    """BERTScore as a `Metric`.

    Its statistics are float64[n, 4]: precision, recall, F1 (cosines, never rescaled) and the number of tokens that were cut
    off because a text is longer than the encoder reads (`truncated_tokens`). Of several references each value is the maximum,
    as in bert-score. The score of a segment is the value that the options name, rescaled if they say so; a corpus' score is
    the mean.

    Conventions
    -----------
    - A text without tokens scores 0 in all three values, whatever stands on the other side (bert-score's rule for BERT).
    - Where a text has two tokens in all, special ones included, precision and recall are 0 and F1 is kept. This is
      bert-score's rule; it matters for T5 and ByT5 only, whose texts of one piece or byte have two tokens.
    - Under IDF weights a text all of whose tokens occur in every reference has no weight: the segment is undefined.

    Parameters
    ----------
    name : "bertscore" or "xbertscore".
    checkpoint, layer : the encoder.
    baseline : what to rescale with.
    idf_texts : the texts whose token frequencies make the IDF weights; see `bind`.
    """

    def __init__(
        self,
        name: str,
        options: Options,
        checkpoint: Checkpoint,
        layer: int,
        baseline: Baseline | None = None,
        idf_texts: tuple[str, ...] | None = None,
    ) -> None:
        self.name = name
        self.options = options
        self.checkpoint = checkpoint
        self.layer = layer
        self.baseline = baseline
        self._idf_texts = idf_texts
        self._idf_weights: tuple[np.ndarray, float] | None = None

    @cached_property
    def spec(self) -> MetricSpec:
        options, cross = self.options, self.name == "xbertscore"
        title = _NAMES[self.name] + ("" if options.value == "f1" else f" {options.value}")
        facts = self._facts()
        reduced = {"value": options.value, "rescale": self.baseline.signature if self.baseline else "no"}
        return MetricSpec(
            id=metric_id(self.name, options),
            name=title,
            needs_reference=not cross,
            needs_source=cross,
            higher_is_better=True,
            range=(-np.inf, 1.0) if options.rescale else (-1.0, 1.0),
            signature=_signature(_NAMES[self.name], facts | reduced),
            statistics_key=_signature(_NAMES[self.name] + "-statistics", facts),
        )

    def _facts(self) -> dict[str, str]:
        checkpoint = self.checkpoint
        facts = {
            "model": checkpoint.name,
            "revision": checkpoint.revision,
            "layer": f"{self.layer}/{checkpoint.layers}",
            "idf": self._idf_fact(),
            "long": self.options.long,
        }
        if checkpoint.spaced:
            facts["leading-space"] = "yes"
        packages = ["torch", "tokenizers"] + (["transformers"] if checkpoint.origin in ("folder", "hub") else [])
        return facts | {package: version(package) for package in packages} | {"version": str(_VERSION)}

    def _idf_fact(self) -> str:
        if not self.options.idf:
            return "no"
        if self._idf_texts is None:
            return "unbound"
        digest = hashlib.blake2b(digest_size=6)
        for text in self._idf_texts:
            data = text.encode("utf-8", "surrogatepass")
            digest.update(f"{len(data)}:".encode() + data)
        return f"{len(self._idf_texts)}-texts-{digest.hexdigest()}"

    def bind(self, references: Iterable[str]) -> BertScore:
        """The same metric with IDF weights from these texts (the sources for `xbertscore`); itself where it needs none.

        Parameters
        ----------
        references : every reference of the corpus, each as often as it occurs there.
        """
        if not self.options.idf:
            return self
        texts = tuple(references)
        if not texts:
            raise InputError("option 'idf' needs references to count tokens in, and the corpus has none; leave idf out")
        return BertScore(self.name, self.options, self.checkpoint, self.layer, self.baseline, texts)

    def bind_corpus(self, corpus: Corpus) -> BertScore:
        """`bind` with the corpus' references, or with its sources for `xbertscore`."""
        if self.name == "xbertscore":
            return self.bind(text for text in corpus.sources or () if text is not None)
        return self.bind(text for references in corpus.references for text in references if text is not None)

    def statistics(self, segments: Sequence[Segment]) -> np.ndarray:
        if not segments:
            return np.empty((0, 4))
        if self.options.idf and self._idf_texts is None:
            raise InputError("option 'idf' needs the corpus' references before anything is scored; bind them, or leave idf out")
        pairs: dict[tuple[str, str], int] = {}
        members: list[int] = []
        counts: list[int] = []
        for segment in segments:
            partners = (segment.source,) if self.spec.needs_source else segment.references
            members.extend(pairs.setdefault((segment.hypothesis, partner), len(pairs)) for partner in partners)
            counts.append(len(partners))
        encoder = self.encoder()
        rows = score_pairs(list(pairs), lambda texts: encoder.embed(texts, self.options.long), self.token_weights)[members]
        starts = np.concatenate([[0], np.cumsum(counts[:-1])]).astype(np.int64)
        values = np.fmax.reduceat(rows[:, :3], starts, axis=0)
        cut = np.add.reduceat(rows[:, 4], starts) + rows[starts, 3]
        return np.column_stack([values, cut])

    def segment_scores(self, statistics: np.ndarray) -> np.ndarray:
        scores = statistics[:, VALUES[self.options.value]]
        return scores if self.baseline is None else self.baseline.rescale(scores, self.options.value)

    def remarks(self, statistics: np.ndarray) -> list[str]:
        """What a reader of the scores should know about these segments, in sentences; empty where there is nothing."""
        remarks = []
        cut = truncated_tokens(statistics)
        if cut.any():
            longer = _of(int((cut > 0).sum()), len(cut), "is", "are")
            lost = plural(int(cut.sum()), "token")
            remarks.append(
                f"{longer} longer than the encoder reads: {lost} {'was' if cut.sum() == 1 else 'were'} cut off "
                "(long=windows reads them)"
            )
        empty = int((statistics[:, :3] == 0).all(axis=1).sum())
        if empty:
            held = _of(empty, len(cut), "has", "have")
            remarks.append(f"{held} an empty text on one side and {'scores' if empty == 1 else 'score'} 0 by convention")
        return remarks

    @property
    def mask_word(self) -> str | None:
        """The text of the encoder's mask token, one token long; None where it has none. Loads the encoder."""
        return self.encoder().tokenizer.mask

    def encoder(self) -> Encoder:
        """The encoder; loaded when it is first needed."""
        from engine.metrics.encoders.encoder import load_encoder

        return load_encoder(self.checkpoint, self.layer)

    def token_weights(self, ids: np.ndarray) -> np.ndarray:
        """How much each token of a text (int32[n]) counts, float64[n]."""
        encoder = self.encoder()
        if self.options.idf:
            table, unseen = self._idf_table(encoder)
            known = ids < len(table)
            return np.where(known, table[np.where(known, ids, 0)], unseen)
        weights = np.ones(len(ids))
        for token in encoder.tokenizer.unweighted:
            weights[ids == token] = 0.0
        return weights

    def _idf_table(self, encoder: Encoder) -> tuple[np.ndarray, float]:
        """log((N + 1) / (n + 1)) by token id, n of N texts holding the token; and the same for n = 0."""
        if self._idf_weights is None:
            texts = self._idf_texts or ()
            counts: Counter[int] = Counter()
            for tokens in encoder.tokenizer(texts, self.options.long):
                counts.update(set(tokens.ids.tolist()))
            unseen = float(np.log(len(texts) + 1))
            table = np.full(max(counts, default=-1) + 1, unseen)
            for token, count in counts.items():
                table[token] = np.log((len(texts) + 1) / (count + 1))
            self._idf_weights = (table, unseen)
        return self._idf_weights


def truncated_tokens(statistics: np.ndarray) -> np.ndarray:
    """How many tokens of each segment's texts were cut off, int64[n]; 0 where the statistics are undefined."""
    return np.nan_to_num(statistics[:, TRUNCATED]).astype(np.int64)


def _of(count: int, total: int, one: str, more: str) -> str:
    """`1 of 1 segment is`, `1 of 3 segments is`, `2 of 3 segments are`."""
    return f"{count:,} of {plural(total, 'segment')} {one if count == 1 else more}"


def _signature(name: str, facts: dict[str, str]) -> str:
    return "|".join([name, *(f"{key}:{value}" for key, value in facts.items())])

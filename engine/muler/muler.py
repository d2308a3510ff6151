"""MuLER: how much of a metric's reachable gain a system leaves, feature by feature (Karidi et al. 2023)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.corpus.languages import name as language_name
from engine.corpus.types import Corpus
from engine.errors import InputError
from engine.metrics.base import Metric
from engine.muler.corpus_texts import CorpusTexts, Counts, Cover, corpus_texts
from engine.muler.features import Feature, FeatureTable, parse_selection
from engine.muler.lexicon_scores import lexicon_difference
from engine.muler.lexicons import Lexicon, read_lexicon
from engine.muler.maskers import Masker, make_masker
from engine.muler.options import MulerOptions
from engine.muler.reasons import odd, undefined
from engine.muler.reduce import Resamples, Value, losses_of, no_value, value_of
from engine.muler.results import Breakdown, FeatureScore
from engine.muler.shares import chosen_share
from engine.muler.spans import Style
from engine.muler.taggers import choose_tagger
from engine.progress import Progress, part, silent
from engine.scoring.scorer import Scorer
from engine.stats.resampling import interval

_TAGGING, _SCORING = 0.5, 0.6  # where these steps end on the progress bar


@dataclass(frozen=True, eq=False)
class Prepared:
    """A corpus that is tagged and whose features are known.

    Attributes
    ----------
    corpus, options : as given.
    systems : those that are broken down.
    texts : the tagged texts.
    table : the features.
    lexicons : the user's, those that the options name included.
    """

    corpus: Corpus
    options: MulerOptions
    systems: tuple[str, ...]
    texts: CorpusTexts
    table: FeatureTable
    lexicons: tuple[Lexicon, ...]

    def cover(self, feature: Feature, share: float | None = None) -> Cover:
        """The tokens that are masked for a feature, or for a share of it (the options' where none is given)."""
        options = self.options
        share = options.share if share is None else share
        mask = chosen_share(
            self.texts.tagged, self.table.mask(feature), self.texts.members, share, options.share_by, options.seed
        )
        return Cover(mask, feature.family == "ner")

    def counts(self, feature: Feature, system: str) -> Counts:
        """How often a feature occurs in a system's segments; one count per mask."""
        return self.texts.counts(self.masks_per_text(feature), system)

    def masks_per_text(self, feature: Feature) -> np.ndarray:
        """How often a feature is masked in each text, int64[n_texts]."""
        cover = self.cover(feature)
        return self.texts.finder(Style()).find(cover.mask, cover.entities).counts

    def rows(self, counts: Counts) -> np.ndarray:
        """The segments that count, int64[n]."""
        return np.flatnonzero(counts.both if self.options.sentences == "both" else counts.either)


def prepare(
    corpus: Corpus,
    options: MulerOptions,
    scorer: Scorer,
    lexicons: Sequence[Lexicon] = (),
    systems: Sequence[str] | None = None,
    progress: Progress = silent,
) -> Prepared:
    """Tag a corpus and find its features.

    Raises
    ------
    InputError : no references, no model for the language, an unknown feature or a lexicon that cannot be read.
    """
    if not any(text is not None for references in corpus.references for text in references):
        raise InputError(f"{corpus.name}: a breakdown by feature needs references, and the corpus has none; add them")
    names = tuple(corpus.systems) if systems is None else tuple(systems)
    unknown = [name for name in names if name not in corpus.systems]
    if unknown:
        raise InputError(f"{corpus.name} has no system {unknown[0]!r}; it has {', '.join(corpus.systems)}")
    selection = parse_selection(options.features)
    files = [path.strip() for path in options.lexicon.split(",") if path.strip()]
    lexicons = (*lexicons, *map(read_lexicon, files))
    _refuse_equal_names(lexicons)
    tagger = choose_tagger(corpus.languages[1], options.tagger, selection.needs_model)
    texts = corpus_texts(corpus, names, tagger, selection.layers, scorer.store, progress)
    table = FeatureTable(texts.tagged, selection, options, texts.members, lexicons)
    return Prepared(corpus, options, names, texts, table, lexicons)


def _refuse_equal_names(lexicons: Sequence[Lexicon]) -> None:
    """Features are named after their lexicon."""
    names = [lexicon.name for lexicon in lexicons]
    twice = [name for place, name in enumerate(names) if name in names[:place]]
    if twice:
        raise InputError(f"two lexicons are named {twice[0]!r}; give one of the files another name")


def break_down(
    corpus: Corpus,
    metrics: Sequence[Metric],
    options: MulerOptions,
    scorer: Scorer,
    lexicons: Sequence[Lexicon] = (),
    systems: Sequence[str] | None = None,
    progress: Progress = silent,
) -> Breakdown:
    """Break the scores of a corpus' systems down by feature.

    Parameters
    ----------
    metrics : metrics that compare with references (and any other: they see the masks in the output).
    lexicons : word lists of the user, besides those that the options name.
    systems : those to break down; all where not given.

    Raises
    ------
    InputError : see `prepare`.
    """
    prepared = prepare(corpus, options, scorer, lexicons, systems, part(progress, 0, _TAGGING, 1))
    return break_down_prepared(prepared, metrics, scorer, part(progress, _TAGGING, 1, 1))


def break_down_prepared(prepared: Prepared, metrics: Sequence[Metric], scorer: Scorer, progress: Progress = silent) -> Breakdown:
    """`break_down` for a corpus that is tagged."""
    options, texts = prepared.options, prepared.texts
    resamples = Resamples(len(texts), options.resamples, options.seed)
    raw = _score_plain(prepared, metrics, scorer, part(progress, 0, 0.2, 1))
    rows: list[FeatureScore] = []
    resampled: dict[tuple[str, str, Feature], np.ndarray] = {}
    gains: dict[tuple[str, str, Feature], np.ndarray] = {}
    features = prepared.table.features
    step = part(progress, 0.2, 1, 1)
    for place, metric in enumerate(metrics):
        masker = make_masker(metric, texts, scorer, options.numbering, options.unit)
        for number, feature in enumerate(features):
            done = place * len(features) + number
            share = part(step, done, done + 1, len(metrics) * len(features))
            share(0, 1)
            for row, value in _score_feature(prepared, metric, masker, feature, raw[metric.spec.id], resamples, share):
                rows.append(row)
                if len(value.resampled):
                    key = row.metric, row.system, row.feature
                    resampled[key], gains[key] = value.resampled, value.gains
    numeric = [lexicon for lexicon in prepared.lexicons if lexicon.numeric]
    lexical = [lexicon_difference(texts, item, name, options.minimum, resamples) for item in numeric for name in prepared.systems]
    overall = {
        (metric.spec.id, name): float(metric.corpus_score(raw[metric.spec.id][name]))
        for metric in metrics
        for name in prepared.systems
    }
    better = {metric.spec.id: metric.spec.higher_is_better for metric in metrics}
    progress(1, 1)
    made = options.signature(texts.tagged.tagger.identity), {metric.spec.id: metric.spec.signature for metric in metrics}
    return Breakdown(tuple(rows), overall, better, resampled, tuple(lexical), _notes(prepared), gains, *made)


def _score_plain(
    prepared: Prepared, metrics: Sequence[Metric], scorer: Scorer, progress: Progress
) -> dict[str, dict[str, np.ndarray]]:
    """Statistics of all segments as they are: metric → system → float64[n, k]."""
    found = {}
    for place, metric in enumerate(metrics):
        segments = [segment for name in prepared.systems for segment in prepared.corpus.segments(name)]
        table = scorer.statistics(metric, segments, part(progress, place, place + 1, len(metrics)))
        found[metric.spec.id] = dict(zip(prepared.systems, np.split(table, len(prepared.systems)), strict=True))
    return found


def _score_feature(
    prepared: Prepared,
    metric: Metric,
    masker: Masker,
    feature: Feature,
    raw: dict[str, np.ndarray],
    resamples: Resamples,
    progress: Progress,
) -> list[tuple[FeatureScore, Value]]:
    """The rows of one feature, one for each system, with the values that they come from."""
    options, texts, cover = prepared.options, prepared.texts, prepared.cover(feature)
    per_text = prepared.masks_per_text(feature)
    counts = {name: texts.counts(per_text, name) for name in prepared.systems}
    rows = {name: prepared.rows(of) for name, of in counts.items()}
    enough = {name: chosen for name, chosen in rows.items() if len(chosen) >= options.minimum}
    masked = masker.statistics(cover, enough, progress) if enough else {}
    found = []
    for name, of in counts.items():
        chosen, value, why = rows[name], no_value(rows[name]), None
        if name in masked:
            tables = raw[name][chosen], *masked[name]
            value = value_of(metric, options.mode, tables, chosen, options.minimum, resamples)
            losses = losses_of(metric, value, tables)
            why = odd(feature, value, losses, prepared.table, texts, cover, name, chosen)
        why = undefined(value, options) or why
        scores = value.score, value.oracle, value.anti_oracle, value.muler, *interval(value.resampled), value.abl_muler
        sums = tuple(int(kind[value.segments].sum()) for kind in (of.add, of.hit, of.miss))
        held = int(per_text[texts.members].sum()), int(of.output.sum())
        row = FeatureScore(name, metric.spec.id, feature, value.n, *scores, *sums, *held, why, *interval(value.gains))
        found.append((row, value))
    return found


def _notes(prepared: Prepared) -> tuple[str, ...]:
    notes = list(prepared.table.notes)
    for lexicon in prepared.lexicons:
        if lexicon.left_out:
            notes.append(f"lexicon {lexicon.name}: entries of several words are not looked up ({lexicon.left_out})")
    tagger = prepared.texts.tagged.tagger
    if tagger.by_character:
        notes.append(f"words of {language_name(tagger.language)} are not told apart without a spaCy model: each character is one")
    notes.append(f"words and tags by {tagger.identity}")
    return tuple(notes)

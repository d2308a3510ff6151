"""Systems that are made up: a share of a feature as if translated perfectly, the rest as if wholly wrong."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from engine.corpus.types import Segment
from engine.metrics.base import Metric
from engine.muler.corpus_texts import Cover
from engine.muler.features import Feature
from engine.muler.maskers import TextMasker
from engine.muler.muler import Prepared
from engine.muler.reduce import muler, reducer
from engine.progress import Progress, part, silent
from engine.scoring.scorer import Scorer

COLUMNS = ("system", "metric", "family", "feature", "share", "n", "score", "oracle", "anti_oracle", "muler")


def hybrid_scores(
    prepared: Prepared,
    metric: Metric,
    feature: Feature,
    shares: Sequence[float],
    scorer: Scorer,
    systems: Sequence[str] | None = None,
    progress: Progress = silent,
) -> pd.DataFrame:
    """MuLER of outputs in which a share of a feature's occurrences is right by construction.

    MuLER that measures what it should falls from 1 (share 0) to 0 (share 1), whatever the system. Words are shared out as
    `engine.muler.shares.chosen_share` does.

    Parameters
    ----------
    shares : each 0 … 1.

    Returns
    -------
    One row per system and share; `score` is that of the hybrid, NaN where there are too few sentences.

    Source: Karidi et al. 2023, the hybrid experiment.
    """
    names = prepared.systems if systems is None else systems
    masker = TextMasker(metric, prepared.texts, scorer, prepared.options.numbering, prepared.options.unit)
    cover, reduce = prepared.cover(feature, 1.0), reducer(metric, prepared.options.mode)
    rows = []
    for place, name in enumerate(names):
        chosen = prepared.rows(prepared.counts(feature, name))
        step = part(progress, place, place + 1, len(names))
        tables = _tables(prepared, masker, metric, feature, cover, shares, name, chosen, scorer, step)
        defined = ~np.any([np.isnan(table).any(axis=1) for table in tables], axis=0)
        enough = int(defined.sum()) >= prepared.options.minimum
        values = [reduce(table[defined]) if enough else float("nan") for table in tables]
        oracle, anti = values[:2]
        for share, score in zip(shares, values[2:]):
            value = muler(score, oracle, anti)
            rows.append(
                (name, metric.spec.id, feature.family, feature.name, share, int(defined.sum()), score, oracle, anti, value)
            )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _tables(
    prepared: Prepared,
    masker: TextMasker,
    metric: Metric,
    feature: Feature,
    cover: Cover,
    shares: Sequence[float],
    system: str,
    rows: np.ndarray,
    scorer: Scorer,
    progress: Progress,
) -> list[np.ndarray]:
    """Statistics under the oracle, under the anti-oracle, and of the hybrid for each share."""
    oracle, anti = masker.segments(masker.masked(cover), {system: rows})
    variants: list[list[Segment]] = [oracle, anti]
    for share in shares:
        kept = prepared.cover(feature, share).mask
        variants.append(masker.segments(masker.masked(cover, kept), {system: rows})[1])
    flat = [segment for variant in variants for segment in variant]
    return (
        np.split(scorer.statistics(metric, flat, progress, keep=False), len(variants))
        if len(rows)
        else [np.empty((0, 1))] * len(variants)
    )

"""Lexicon values of sentences, and how far outputs are from their references."""

from __future__ import annotations

import numpy as np

from engine.muler.corpus_texts import MISSING, CorpusTexts
from engine.muler.lexicons import Lexicon
from engine.muler.reduce import Resamples
from engine.muler.results import LexiconDifference
from engine.muler.taggers import STOP
from engine.stats.resampling import interval


def text_values(texts: CorpusTexts, lexicon: Lexicon) -> np.ndarray:
    """The mean value of each text's words that are in the lexicon and no stop words, float64[n_texts]; NaN without any."""
    tagged = texts.tagged
    known = np.array([np.nan if value is None else value for value in lexicon.lookup(tagged.forms)], float)
    values = known[tagged.form]
    counts = ~np.isnan(values) & ((tagged.flags & STOP) == 0)
    n = len(tagged.texts)
    found = np.bincount(tagged.text_of[counts], minlength=n)
    sums = np.bincount(tagged.text_of[counts], weights=values[counts], minlength=n)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(found > 0, sums / found, np.nan)


def differences(texts: CorpusTexts, lexicon: Lexicon, system: str) -> np.ndarray:
    """|output − reference| in lexicon values, float64[n_segments]; NaN where a side has no word of the lexicon.

    Of several references the mean of those counts that have one.
    """
    values = text_values(texts, lexicon)
    held = values[texts.members]
    segment_of = np.repeat(np.arange(len(texts)), np.diff(texts.offsets))
    defined = ~np.isnan(held)
    found = np.bincount(segment_of[defined], minlength=len(texts))
    sums = np.bincount(segment_of[defined], weights=held[defined], minlength=len(texts))
    outputs = texts.outputs[system]
    ours = np.where(outputs == MISSING, np.nan, values[np.maximum(outputs, 0)] if len(values) else np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.abs(ours - np.where(found > 0, sums / found, np.nan))


def lexicon_difference(
    texts: CorpusTexts, lexicon: Lexicon, system: str, minimum: int, resamples: Resamples
) -> LexiconDifference:
    """The sentence-level difference score of one system (Karidi et al. 2023, section 3.3)."""
    of = differences(texts, lexicon, system)
    rows = np.flatnonzero(~np.isnan(of))
    if len(rows) < max(minimum, 1):
        have = "sentence has" if len(rows) == 1 else "sentences have"
        why = f"only {len(rows)} {have} a word of the lexicon on both sides; {minimum} are needed"
        nan = float("nan")
        return LexiconDifference(system, lexicon.name, len(rows), nan, nan, nan, why)
    low, high = interval(resamples.means([of[rows]], rows)[0]) if resamples.count else (float("nan"),) * 2
    return LexiconDifference(system, lexicon.name, len(rows), float(of[rows].mean()), low, high)

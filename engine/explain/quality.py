"""How far an explanation can be trusted: its stability under another seed, its faithfulness to the metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from engine.corpus.types import Segment
from engine.explain.batches import MOST_BYTES, variants_of
from engine.explain.explain import explain_segments
from engine.explain.masking import text_seed
from engine.explain.methods import is_deterministic
from engine.explain.options import ExplainOptions
from engine.explain.results import Explanation, SideImportances
from engine.explain.words import rebuild_many
from engine.progress import Progress, part, silent
from engine.stats.correlation import Correlation, pearson, spearman

DETERMINISTIC = "deterministic: the importances do not depend on the seed"


@dataclass(frozen=True)
class Stability:
    """How much importances agree between seeds; NaN with the reason in `undefined`.

    Attributes
    ----------
    spearman, pearson : correlation between the importances of two seeds, −1 … 1; the mean over all pairs of seeds.
    side : the text whose importances are compared; "all" stands for all texts whose masks depend on the seed.
    sides : the same for each text alone.
    """

    side: str
    spearman: float
    pearson: float
    undefined: str | None = None
    sides: tuple[Stability, ...] = ()


@dataclass(frozen=True)
class Faithfulness:
    """What a text's most important words are worth to the score, against random words.

    Attributes
    ----------
    side : the text that words are removed from; "all" is the mean over the texts where it is defined.
    top : how much worse the score is without the most important words, in the metric's unit: its drop, or an error rate's rise.
    random : the same without as many random words, on average.
    words : how many words are removed; 0 for "all".
    undefined : why there are no numbers.
    sides : the same for each text alone.
    """

    side: str
    top: float
    random: float
    words: int = 0
    undefined: str | None = None
    sides: tuple[Faithfulness, ...] = ()

    @property
    def difference(self) -> float:
        """Above 0 where the words called important matter more than others."""
        return self.top - self.random


def stability(
    segments: Sequence[Segment],
    metric: Any,
    options: ExplainOptions,
    scorer: Any,
    progress: Progress = silent,
    seeds: Sequence[int] | None = None,
) -> list[Stability]:
    """Explain segments with several seeds and correlate the importances.

    Parameters
    ----------
    seeds : at least two; the options' seed and the next when None. Explanations that are in the store are not redone.

    Returns
    -------
    One result per segment. Undefined where nothing depends on the seed (Erasure, exact SHAP), where an importance is
    undefined and where importances are constant or fewer than two.
    """
    seeds = (options.seed, options.seed + 1) if seeds is None else tuple(seeds)
    if len(set(seeds)) < 2:
        raise ValueError("stability needs at least two different seeds")
    if options.explainer == "erasure":
        return [_unstable("all", DETERMINISTIC)] * len(segments)
    runs = [
        explain_segments(segments, metric, replace(options, seed=seed), scorer, part(progress, place, place + 1, len(seeds)))
        for place, seed in enumerate(seeds)
    ]
    return [compare_runs(list(found), options) for found in zip(*runs)]


def compare_runs(runs: Sequence[Explanation], options: ExplainOptions) -> Stability:
    """The stability of explanations of one segment that were made with different seeds."""
    reason = next((run.undefined for run in runs if run.undefined), None)
    if reason:
        return _unstable("all", reason)
    by_side = list(zip(*(run.sides for run in runs)))
    sides, pooled = [], []
    for found in by_side:
        if is_deterministic(len(found[0].importances), options):
            sides.append(_unstable(found[0].side, DETERMINISTIC))
        else:
            pooled.append([item.importances for item in found])
            sides.append(_agreement(found[0].side, pooled[-1], runs[0].score))
    if not pooled:
        return replace(_unstable("all", DETERMINISTIC), sides=tuple(sides))
    return replace(_agreement("all", [np.concatenate(values) for values in zip(*pooled)], runs[0].score), sides=tuple(sides))


def faithfulness(
    explanations: Sequence[Explanation],
    metric: Any,
    scorer: Any,
    progress: Progress = silent,
    share: float = 0.2,
    draws: int = 10,
    seed: int = 0,
) -> list[Faithfulness]:
    """How much worse the score is without the most important words than without random ones.

    Words are removed together with one separator, whatever the explainer put in their place, so that explainers can be
    compared. Important is what helps most: the words that raise the score, or lower an error rate.

    Parameters
    ----------
    share : the share of a text's words that is removed, at least one word.
    draws : how many random sets of as many words are removed; all sets where there are no more than that.
    seed : seed of the random sets, together with the text.
    """
    found: list[Faithfulness] = []
    sign = 1 if metric.spec.higher_is_better else -1
    for chosen in _batches(explanations, draws):
        trials = [_trials(explanation, sign, share, draws, seed) for explanation in chosen]
        segments = [segment for sides in trials for trial in sides for segment in trial.segments]
        step = part(progress, len(found), len(found) + len(chosen), len(explanations))
        scores = scorer.segment_scores(metric, segments, step, keep=False) if segments else np.empty(0)
        start = 0
        for explanation, sides in zip(chosen, trials):
            results = []
            for trial in sides:
                losses = sign * (explanation.score - scores[start : start + len(trial.segments)])
                start += len(trial.segments)
                results.append(_judge(trial, losses))
            found.append(_mean_faithfulness(results, explanation.undefined))
    progress(len(explanations), len(explanations))
    return found


@dataclass(frozen=True)
class _Trial:
    """What is removed from a text: the segment without its top words, then the segments without random ones."""

    side: str
    words: int
    segments: list[Segment]
    undefined: str | None = None


def _batches(explanations: Sequence[Explanation], draws: int) -> Iterator[list[Explanation]]:
    """Explanations a few at a time, so that the texts of one call stay within the scorer's measure."""
    batch: list[Explanation] = []
    size = 0
    for explanation in explanations:
        batch.append(explanation)
        size += (draws + 1) * sum(len(item.text.encode("utf-8", "surrogatepass")) for item in explanation.sides)
        if size > MOST_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _trials(explanation: Explanation, sign: int, share: float, draws: int, seed: int) -> list[_Trial]:
    trials, references = [], 0
    for item in explanation.sides:
        name = item.side
        if name.startswith("reference:"):  # the number in a name may be that of the corpus's column
            name, references = f"reference:{references}", references + 1
        reason = _no_trial(explanation, item)
        if reason:
            trials.append(_Trial(item.side, 0, [], reason))
            continue
        keep = _kept_words(item, sign, share, draws, seed)
        texts = rebuild_many(item.text, item.words, keep, "")
        trials.append(_Trial(item.side, int((~keep[0]).sum()), variants_of(name, texts, [explanation.segment])))
    return trials


def _no_trial(explanation: Explanation, item: SideImportances) -> str | None:
    if len(item.importances) == 0:
        return "the text has no words"
    if len(item.importances) == 1:
        return "the text has only one word"
    if explanation.undefined and (np.isnan(explanation.score) or np.isnan(item.importances).any()):
        return explanation.undefined
    return None


def _kept_words(item: SideImportances, sign: int, share: float, draws: int, seed: int) -> np.ndarray:
    """bool[1 + n_sets, n_words]: without the most important words (first in the text on ties), then without random sets."""
    words = len(item.importances)
    removed = min(words - 1, max(1, int(round(words * share, 9))))
    top = np.argsort(-sign * item.importances, kind="stable")[:removed]
    if comb(words, removed) <= draws:
        sets = [np.array(chosen) for chosen in combinations(range(words), removed)]
    else:
        generator = np.random.default_rng(text_seed(item.text, seed))
        sets = [generator.choice(words, removed, replace=False) for _ in range(draws)]
    keep = np.ones((1 + len(sets), words), dtype=bool)
    for row, chosen in zip(keep, [top, *sets]):
        row[chosen] = False
    return keep


def _judge(trial: _Trial, losses: np.ndarray) -> Faithfulness:
    reason = trial.undefined
    if reason is None and np.isnan(losses).any():
        reason = "the metric gives no score where words are removed"
    if reason:
        return Faithfulness(trial.side, np.nan, np.nan, trial.words, reason)
    return Faithfulness(trial.side, float(losses[0]), float(losses[1:].mean()), trial.words)


def _mean_faithfulness(sides: list[Faithfulness], undefined: str | None) -> Faithfulness:
    defined = [item for item in sides if item.undefined is None]
    if not defined:
        reason = undefined or next((item.undefined for item in sides), "there is no text to remove words from")
        return Faithfulness("all", np.nan, np.nan, 0, reason, tuple(sides))
    top = float(np.mean([item.top for item in defined]))
    return Faithfulness("all", top, float(np.mean([item.random for item in defined])), 0, None, tuple(sides))


def _unstable(side: str, reason: str) -> Stability:
    return Stability(side, float("nan"), float("nan"), reason)


def _agreement(side: str, runs: Sequence[np.ndarray], score: float) -> Stability:
    """Mean correlation over all pairs of runs; differences that rounding makes (below 1e-10 of the score) count as ties."""
    scale = max(abs(score), *(float(np.abs(run).max()) for run in runs)) or 1.0
    rounded = [np.round(run / scale, 10) for run in runs]
    pairs = list(combinations(rounded, 2))
    ranks: list[Correlation] = [spearman(*pair) for pair in pairs]
    reason = next((item.undefined for item in ranks if item.undefined), None)
    if reason:
        return _unstable(side, reason)
    linear = float(np.mean([pearson(*pair).value for pair in pairs]))
    return Stability(side, float(np.mean([item.value for item in ranks])), linear)

"""The answer in words: does boosting help here, by how much on held-out data, is it more than chance, how stable is it."""

from __future__ import annotations

import numpy as np
import streamlit as st

from components.boost.controls import COEFFICIENT_TITLES
from components.boost.runs import SEEDS, Study
from components.downloads import download_csv
from components.explain.panels import explainer_title
from components.job_progress import await_result
from components.numbers import count, number, signed
from components.results import Outcome
from components.score_table import NOT_HUMAN
from components.states import plain
from engine.boost.calibrate import Calibration
from engine.boost.grid import MARGIN
from engine.boost.power import PowerMeans
from engine.boost.seeds import SeedStudy
from engine.boost.significance import ALPHA

TERMS = (
    "**p and w**: the boosted score is w \u00b7 score + (1 \u2212 w) \u00b7 mean of the word importances, a power mean with "
    "exponent p: a low p listens to the least important words, a high p to the most important ones. At w = 1 nothing changes.  \n"
    "**Parts**: stretches of whole documents. Each is judged with a p and w that were chosen without it, so that the gain is not "
    "flattered.  \n"
    "**p-value**: how often a gain at least as large comes out when original and boosted scores change places at random "
    f"(one-sided permutation test); up to {ALPHA:g} is called more than chance. Part by part, it is corrected for the number of "
    "parts (Bonferroni).  \n"
    "**Collapsed**: at extreme p, a single value or constant decides the mean of an output, and its word importances no longer "
    "count. How soon depends on the regularisation below."
)

FEW = 6
"""Fewer systems than this say little about a ranking."""


def show_answer(study: Study, other: Study | None, found: Calibration, tested: Outcome) -> None:
    """Draw the sentence and what has to be kept in mind; `tested` says whether the test is still on its way."""
    with st.container(border=True, key="boost-answer"):
        st.markdown(f"#### {verdict(found, tested)}")
        sentences = [gain(study, other, found), _significance(found, tested), _choice(study, found)]
        st.markdown(" ".join(filter(None, sentences)), help=TERMS)
        for note in notes(study, other, found):
            st.caption(f":material/info: {note}")
        _stability(study, other)


def show_missing() -> None:
    """What the page cannot say of a corpus without human scores, and what it needs to."""
    with st.container(border=True, key="boost-answer"):
        st.markdown("#### :gray[:material/help:] Whether boosting helps here cannot be said: the corpus has no human scores")
        st.markdown(
            "Below are the aggregates of the word importances, and what a p and w of your choice do to the systems. To see "
            "which p and w agree with people, upload scores with the texts on the Corpus page: a column of a table, or a file "
            "with one score per line. Or choose p and w on a corpus that has scores, and use the boosted metric here."
        )


def show_unjudged(reason: str) -> None:
    """Why p and w cannot be chosen and judged."""
    with st.container(border=True, key="boost-answer"):
        st.markdown("#### :gray[:material/help:] Whether boosting helps here cannot be said")
        st.markdown(
            f"{plain(reason[:1].upper() + reason[1:])}. Another corpus is chosen under the options of boosting, *Calibrate on*."
        )


def verdict(found: Calibration, tested: Outcome) -> str:
    """Does boosting help here? Nothing is concluded while the test is running."""
    difference = found.boosted - found.original
    if not np.isfinite(difference):
        return ":gray[:material/help:] Whether boosting helps here cannot be said"
    if abs(difference) <= MARGIN:
        return ":gray[:material/trending_flat:] Boosting changes nothing here"
    if tested.state == "running":
        moves = "raises" if difference > 0 else "lowers"
        return f":gray[:material/hourglass_top:] Boosting {moves} the correlation here; the significance test is still running"
    if difference < 0:
        return ":red[:material/trending_down:] Boosting does not help here"
    if not np.isfinite(found.p_value):
        return ":gray[:material/trending_up:] Boosting raises the correlation here"
    if found.p_value <= ALPHA:
        return ":green[:material/trending_up:] Boosting helps here"
    return ":gray[:material/trending_up:] Boosting may help here, but the gain could be chance"


def gain(study: Study, other: Study | None, found: Calibration) -> str:
    """By how much, on held-out data."""
    options, spec, criterion = study.asked.options, study.metric.spec, study.asked.criterion
    assert criterion is not None
    scores = (
        f"scores \u201c{plain(criterion.name)}\u201d ({NOT_HUMAN})"
        if criterion.planted
        else f"human scores \u201c{plain(criterion.name)}\u201d"
    )
    correlation = f"{options.level}-level correlation ({COEFFICIENT_TITLES[options.coefficient]})"
    what = f"the {correlation} of {plain(spec.name)} with the {scores}"
    if other is None:
        parts = count(len(found.held_out), "part")
        where = f"On average over {parts} of the corpus, each judged with p and w chosen on the others"
    else:
        where = f"With p and w chosen on {plain(other.corpus.name)}"
    if not np.isfinite(found.boosted - found.original):
        reasons = dict.fromkeys(row.note.rpartition("; ")[2] for row in found.held_out if row.note)
        return f"{where}, {what} is not defined: {'; '.join(reasons) or 'no part has enough scores'}."
    before, after = number(found.original, 3), number(found.boosted, 3)
    if abs(found.boosted - found.original) <= MARGIN:
        return f"{where}, {what} stays at **{before}**."
    moves = "rises" if found.boosted > found.original else "falls"
    return f"{where}, {what} {moves} from **{before}** to **{after}** ({signed(found.boosted - found.original, 3)})."


def notes(study: Study, other: Study | None, found: Calibration) -> list[str]:
    """What a reader has to keep in mind."""
    said = []
    if found.choice.note and found.choice.cells:
        said.append(f"{found.choice.note[:1].upper()}{found.choice.note[1:]}.")
    if not study.metric.spec.higher_is_better:
        name = plain(study.metric.spec.name)
        said.append(f"Lower is better in {name}: its scores and importances are negated before they are correlated.")
    systems = len(study.corpus.systems)
    if study.asked.options.level == "system" and systems < FEW:
        said.append(f"Only {count(systems, 'system')}: their correlation can take few values, so read it with caution.")
    undefined = [row for row in found.held_out if not np.isfinite(row.boosted - row.original)]
    if undefined and len(undefined) < len(found.held_out):
        whys = "; ".join(dict.fromkeys(row.note for row in undefined if row.note))
        said.append(f"{count(len(undefined), 'part')} of {len(found.held_out)} left out, undefined: {whys}.")
    left_out = sum(entry.explanation.undefined is not None for entry in study.explanations.entries)
    if left_out:
        whys = dict.fromkeys(entry.explanation.undefined for entry in study.explanations.entries if entry.explanation.undefined)
        said.append(f"{count(left_out, 'output')} without an explanation left out: {'; '.join(map(plain, list(whys)[:3]))}.")
    shared = study.shared_with(other) if other is not None else 0
    if other is not None and shared:
        outputs = count(len(study.corpus) * len(study.corpus.systems), "output")
        said.append(
            f"{shared:,} of {outputs} are also in {plain(other.corpus.name)}: no held-out data, the gain may look too large."
        )
    if other is not None and other.asked.criterion != study.asked.criterion:
        assert other.asked.criterion is not None
        said.append(
            f"p and w are chosen with the scores \u201c{plain(other.asked.criterion.name)}\u201d of {plain(other.corpus.name)}."
        )
    return said


def _significance(found: Calibration, tested: Outcome) -> str:
    if not abs(found.boosted - found.original) > MARGIN:
        return ""
    if tested.state == "running":
        return "Whether that is more than chance is still being tested."
    if not tested.done or not np.isfinite(found.p_value):
        return "Whether that is more than chance was not tested."
    value = "p\u2011value below 0.001" if found.p_value < 0.001 else f"p\u2011value {number(found.p_value, 3)}"
    if found.boosted <= found.original:
        return f"There is no sign of a gain ({value})."
    if found.p_value > ALPHA:
        return f"A gain of this size may well be chance ({value})."
    return f"That is more than chance would give ({value})." + _part_by_part(found)


def _part_by_part(found: Calibration) -> str:
    """In how many parts the gain is significant when each is looked at alone."""
    parts = len(found.held_out)
    if parts < 2 or found.significant is None:
        return ""
    if not found.significant:
        return f" No single one of the {parts} parts shows it by itself."
    if found.significant == parts:
        return f" Each of the {parts} parts shows it by itself."
    return f" {found.significant} of the {parts} parts {'shows' if found.significant == 1 else 'show'} it by themselves."


def _choice(study: Study, found: Calibration) -> str:
    choice, options = found.choice, study.asked.options
    if not choice.cells:
        return ""
    if choice.w == 1:
        return "The choice is the original metric, w = 1."
    end = collapse(study.rows.means(options.regularisation), choice.p)
    point = f"**p = {number(choice.p, 1)}, w = {choice.w:.1f}**"
    if found.boosted - found.original > MARGIN:
        return f"For further use, {point} is chosen: {end}."
    return f"Better keep the original metric; of all outputs the rule would choose {point}: {end}."


def collapse(means: PowerMeans, p: float) -> str:
    """For how many outputs the importances still count at p."""
    defined = ~np.isnan(means.means[0])
    fallen, outputs = int((means.collapsed(p) & defined).sum()), count(int(defined.sum()), "output")
    if not fallen:
        return f"there the word importances count in all {outputs}"
    return f"there the word importances no longer count in {fallen:,} of {outputs} (their mean has collapsed)"


def _stability(study: Study, other: Study | None) -> None:
    explain = study.asked.explain
    title = explainer_title(explain.explainer)
    if explain.explainer == "erasure":
        st.markdown(f"{title} has no random part: another seed gives the same.")
        return
    key, outcome = study.seeds(other)
    if outcome is None:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"How far this hangs on the seed of {title} is not measured yet.", width="content")
            started = study.work.drafts["started"]
            label = f"Measure over {SEEDS} seeds"
            st.button(label, key="boost-seeds", icon=":material/casino:", on_click=started.add, args=(key,))
        return
    if await_result(outcome, study.work, f"Explaining with {SEEDS} seeds"):
        st.markdown(stability(outcome.value))
        names = study.names(*study.correlated, study.asked.options.calibration)
        download_csv(outcome.value.to_frame(), "boost-seeds", *names, key="boost-seeds", label="Seeds (CSV)")


def stability(found: SeedStudy) -> str:
    """How stable it is over seeds."""
    gains, values = [run.gain for run in found.runs], [run.p for run in found.runs]
    weights = sorted({f"{run.w:.1f}" for run in found.runs})
    if not all(map(np.isfinite, gains)):
        return "Over several seeds the gain is not defined every time."
    helps = sum(value > 0 for value in gains)
    said = f"Over {len(gains)} seeds the gain is {signed(min(gains), 3)} to {signed(max(gains), 3)}"
    said += f" (above zero {helps} of {len(gains)} times)" if 0 < helps < len(gains) else ""
    said += f", p from {number(min(values), 1)} to {number(max(values), 1)}, w {' or '.join(weights)}"
    if np.isfinite(found.pearson):
        mean = f"Pearson, mean over {count(found.outputs, 'output')}"
        said += f"; the importances of two seeds correlate at {number(found.pearson, 3)} ({mean})"
    return said + "."

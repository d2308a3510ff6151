"""What the Boost page is asked: how the metric is explained, what is correlated with what, how p and w are chosen."""

from __future__ import annotations

from dataclasses import dataclass, fields
from urllib.parse import urlencode

import streamlit as st

from components.explain.controls import pick_explainer
from components.option_form import given_pairs, option_form, warn_of
from components.score_table import criterion_title
from components.workspace import Workspace
from engine.boost.boost import BoostOptions
from engine.boost.calibrate import METHODS
from engine.boost.grid import COEFFICIENTS
from engine.boost.power import REGULARISATIONS
from engine.corpus.types import Corpus, Criterion
from engine.explain.options import ExplainOptions
from engine.options import from_pairs

LEVELS = {"segment": "Segments", "system": "Systems"}
SHOWN = {"level": tuple(LEVELS), "coefficient": COEFFICIENTS, "regularisation": REGULARISATIONS, "calibration": METHODS}
"""Options that have a place of their own in the address and on the page, with what they can be."""

COEFFICIENT_TITLES = {"kendall": "Kendall\u2019s tau-b", "pearson": "Pearson", "spearman": "Spearman"}
METHOD_TITLES = {"median": "Median of improving", "best": "Best cell", "area": "Centre of the largest area"}
WHOLE, MEAN = "whole", "mean"
REACHES = {"30": "\u221230 to 30", "10": "\u221210 to 10", "3": "\u22123 to 3"}

REGULARISATION_HELP = (
    "How importances are made positive before the power mean. `paper`: shifted so that the smallest is 1e-9, which then decides "
    "the mean at p \u2264 \u22121 wherever an importance is zero or negative (it collapses). "
    "`minmax`: stretched to 1e-9 \u2026 1. "
    "`softplus`: log(1 + exp), no constant. `rank`: signed ranks of their sizes, no constant."
)
METHOD_HELP = (
    "How p and w are chosen from the settings that beat the original metric: the median p and median w of all of them (as in "
    "BMX), the cell with the highest mean correlation, or the middle of the largest improving region."
)
GROUP_HELP = (
    "Which outputs the surface is drawn for; a part is a stretch of whole documents. The sentence on top is about all of them."
)


@dataclass(frozen=True)
class Asked:
    """What is asked of the page.

    Attributes
    ----------
    criterion : the human scores; None where the corpus has none.
    group : `whole`, `mean` (of the parts) or the number of a part.
    on : the corpus that p and w are chosen on; empty for cross-validation on this one.
    """

    explain: ExplainOptions
    options: BoostOptions
    criterion: Criterion | None
    group: str
    on: str


def pick(work: Workspace, corpus: Corpus) -> Asked:
    """Draw the controls."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        explain = pick_explainer(work)
        criterion = _pick_criterion(work, corpus)
        if criterion is not None:
            tie = work.bound("level", list(LEVELS))
            st.segmented_control("Level", LEVELS, format_func=LEVELS.get, required=True, **tie)
            tie = work.bound("coefficient", COEFFICIENTS)
            st.selectbox("Coefficient", COEFFICIENTS, format_func=COEFFICIENT_TITLES.get, width=150, **tie)
        tie = work.bound("regularisation", REGULARISATIONS)
        st.selectbox("Regularisation", REGULARISATIONS, width=135, help=REGULARISATION_HELP, **tie)
        if criterion is not None:
            tie = work.bound("calibration", METHODS)
            st.selectbox("Calibration", METHODS, format_func=METHOD_TITLES.get, width=210, help=METHOD_HELP, **tie)
        _more(work, corpus, criterion)
    return Asked(explain, boost_options(work), criterion, work.view["group"], _known(work, work.view["on"]))


def boost_options(work: Workspace) -> BoostOptions:
    """The options that the address sets."""
    pairs, fault = _read(work)
    warn_of(fault)
    return from_pairs(BoostOptions, pairs | {name: work.one_of(name, choices) for name, choices in SHOWN.items()})


def _read(work: Workspace) -> tuple[dict[str, str], str]:
    return given_pairs(work.view["boost"], BoostOptions, "boosting", SHOWN)


def pick_reach(work: Workspace) -> None:
    """Draw the choice of how far p is drawn to both sides of 0."""
    tie = work.bound("reach", list(REACHES))
    st.segmented_control("p", REACHES, format_func=REACHES.get, required=True, **tie)


def reach_of(work: Workspace) -> float:
    """How far p is drawn to both sides of 0."""
    return float(work.one_of("reach", list(REACHES)))


def pick_group(work: Workspace, parts: int, part_title: str = "Part {}") -> str:
    """Draw the choice of the outputs that the surface is about."""
    names = {WHOLE: "All outputs"}
    if parts > 1:
        names |= {MEAN: f"Mean of {parts} parts"} | {str(k): part_title.format(k) for k in range(1, parts + 1)}
    options = list(names)
    st.selectbox("Outputs", options, format_func=names.get, width=160, help=GROUP_HELP, **work.bound("group", options))
    return work.one_of("group", options)


def _pick_criterion(work: Workspace, corpus: Corpus) -> Criterion | None:
    known = {item.name: item for item in corpus.criteria}
    if not known:
        return None
    names = list(known)
    titles = {name: criterion_title(item) for name, item in known.items()}
    chosen = known.get(work.view["human"], known[names[0]])
    tie = work.bound("human", names)
    st.selectbox("Compare with", names, format_func=titles.get, width=330, help=chosen.provenance, **tie)
    return chosen


def _more(work: Workspace, corpus: Corpus, criterion: Criterion | None) -> None:
    """What is changed rarely: where p and w come from, and the rest of the options."""
    pairs = _read(work)[0]
    skip = tuple(SHOWN) if criterion is not None else tuple(item.name for item in fields(BoostOptions) if item.name != "sides")

    def save(written: dict[str, str]) -> None:
        work.set(boost=urlencode({key: text for key, text in written.items() if key not in SHOWN}))

    with st.popover("", icon=":material/tune:", help="More options of boosting"):
        st.markdown("**Boosting options**")
        if criterion is not None:
            titles = {"": "This corpus, cross-validated"} | {
                name: title for name, title in work.corpora().items() if name != work.view["corpus"]
            }
            names = list(titles)
            help = "Where p and w are chosen: on the other parts of this corpus, or on another corpus that has scores."
            st.selectbox("Calibrate on", names, format_func=titles.get, help=help, **work.bound("on", names))
        option_form(BoostOptions, pairs, work, "boost", save, skip=skip)


def _known(work: Workspace, name: str) -> str:
    return name if name in work.corpora() and name != work.view["corpus"] else ""


def set_cell(work: Workspace, p: float, w: float) -> None:
    """Put the p and w of a chosen point into the view."""
    work.set(p=f"{p:g}", w=f"{w:g}")

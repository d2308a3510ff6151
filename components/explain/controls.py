"""How a metric is explained: the explainer and its options, as the address keeps them."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from components.explain.panels import explainer_title
from components.option_form import given_pairs, option_form, warn_of
from components.workspace import Workspace
from engine.explain.options import EXPLAINERS, ExplainOptions
from engine.options import from_pairs

NOT_READ = {
    "erasure": ("samples", "evaluations", "mask", "seed"),
    "lime": ("evaluations", "erasure_mask"),
    "shap": ("samples", "erasure_mask"),
}
"""Options that make no difference under each explainer."""


def explain_options(work: Workspace, explainer: str | None = None) -> ExplainOptions:
    """The options that the address sets, for the chosen explainer or the named one."""
    pairs, fault = _read(work)
    warn_of(fault)
    return from_pairs(ExplainOptions, pairs | {"explainer": explainer or work.one_of("explainer", EXPLAINERS)})


def _read(work: Workspace) -> tuple[dict[str, str], str]:
    return given_pairs(work.view["options"], ExplainOptions, "the explanation", ("explainer",))


def pick_explainer(work: Workspace) -> ExplainOptions:
    """Draw the explainer's switch and its options."""
    tie = work.bound("explainer", EXPLAINERS)
    st.segmented_control("Explainer", EXPLAINERS, format_func=explainer_title, required=True, **tie)
    chosen = work.one_of("explainer", EXPLAINERS)
    pairs = _read(work)[0] | {"explainer": chosen}

    def save(written: dict[str, str]) -> None:
        work.set(options=urlencode({key: text for key, text in written.items() if key != "explainer"}))

    with st.popover("", icon=":material/tune:", help=f"More options of {explainer_title(chosen)}"):
        st.markdown(f"**{explainer_title(chosen)} options**")
        option_form(ExplainOptions, pairs, work, f"explain-{chosen}", save, skip=("explainer", *NOT_READ[chosen]))
    return explain_options(work)

"""How a metric is explained: the explainer and its options, as the address keeps them."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode

import streamlit as st

from components.explain.panels import explainer_title
from components.option_form import option_form
from components.workspace import Workspace
from engine.errors import InputError
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
    pairs = dict(parse_qsl(work.view["options"]))
    try:
        return from_pairs(
            ExplainOptions, pairs | {"explainer": explainer or work.one_of("explainer", EXPLAINERS)}, "the explanation"
        )
    except InputError as error:
        st.warning(str(error), icon=":material/warning:")
        return ExplainOptions(explainer=explainer or "erasure")


def pick_explainer(work: Workspace) -> ExplainOptions:
    """Draw the explainer's switch and its options."""
    tie = work.bound("explainer", EXPLAINERS)
    st.segmented_control("Explainer", EXPLAINERS, format_func=explainer_title, required=True, **tie)
    chosen = work.one_of("explainer", EXPLAINERS)
    pairs = dict(parse_qsl(work.view["options"])) | {"explainer": chosen}

    def save(written: dict[str, str]) -> None:
        work.set(options=urlencode({key: text for key, text in written.items() if key != "explainer"}))

    with st.popover("", icon=":material/tune:", help=f"More options of {explainer_title(chosen)}"):
        st.markdown(f"**{explainer_title(chosen)} options**")
        option_form(ExplainOptions, pairs, work, f"explain-{chosen}", save, skip=("explainer", *NOT_READ[chosen]))
    return explain_options(work)

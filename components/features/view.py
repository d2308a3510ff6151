"""How a breakdown is looked at: bars, table or all systems; which measure, in which order."""

from __future__ import annotations

import streamlit as st

from components.features.controls import pick_mode
from components.features.map import FEWEST_SYSTEMS, pick_coefficient
from components.features.names import ORDERS, VALUES
from components.workspace import Workspace

SHOWS = {"bars": "Bars", "table": "Table", "systems": "All systems"}


def pick_view(work: Workspace, systems: int) -> tuple[str, str, str]:
    """Draw the choices; returns the view, the measure and the order.

    Parameters
    ----------
    systems : how many the corpus has; some choices need two.
    """
    restart = {"then": lambda: work.set(sheet=1)}
    orders = [name for name in ORDERS if systems > 1 or name not in ("difference", "value-b")]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.segmented_control("Show", SHOWS, format_func=SHOWS.get, required=True, **work.bound("show", list(SHOWS)))
        show = work.view["show"] if work.view["show"] in SHOWS else "bars"
        values = [name for name in VALUES if show == "bars" or name != "scores"]
        width = 195 if show == "bars" else 125
        st.selectbox("Measure", values, format_func=VALUES.get, width=width, **work.bound("measure", values))
        st.selectbox("Order", orders, format_func=ORDERS.get, width=172, **work.bound("order", orders, **restart))
        pick_mode(work)
        if show == "systems" and systems >= FEWEST_SYSTEMS:
            pick_coefficient(work)
    value, order = work.view["measure"], work.view["order"]
    return show, value if value in values else values[0], order if order in orders else orders[0]

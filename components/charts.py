"""What charts share: the colours of systems A and B, and of the others."""

from __future__ import annotations

from collections.abc import Iterable

import altair as alt
import streamlit as st

from engine.report.colours import SYSTEM_A, SYSTEM_B

OTHERS = ("#9aa5aa", "#6f7b81")  # grey, light and dark


def is_dark() -> bool:
    """True where the page is drawn in its dark theme."""
    return st.context.theme.type == "dark"


def system_parts(systems: Iterable[str], a: str, b: str) -> list[str]:
    """`A`, `B` or `other` for each system."""
    return ["A" if name == a else "B" if name == b else "other" for name in systems]


def system_scale() -> alt.Scale:
    """Amber for A, blue for B, grey for the others."""
    place = 1 if is_dark() else 0
    return alt.Scale(domain=["A", "B", "other"], range=[SYSTEM_A[place], SYSTEM_B[place], OTHERS[place]])

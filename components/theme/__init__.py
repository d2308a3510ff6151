"""Charts in the colours of the theme: the page is drawn again when its reader turns it dark or light."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from components.browser import mounted
from components.charts import is_dark

_mount = mounted(Path(__file__).parent)


def follow_theme() -> None:
    """Watch the theme from a place that is not seen."""
    with st.container(key="theme"):
        _mount(data="dark" if is_dark() else "light", key="theme-watch", on_turned_change=lambda: None)

"""What the components that run in the browser share: how they are put on the page, and when they are painted."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

PAINT_S = 0.1

_FOLDER = Path(__file__).parent


def mounted(folder: Path) -> Callable[..., Any]:
    """A component from the style sheet and the script that are called as their folder is, behind the shared ones.

    The script's default function finds an element of the class `mount` to draw into.
    """
    name = folder.name
    css, js = (
        "\n".join(path.read_text(encoding="utf-8") for path in (_FOLDER / f"shared.{ending}", folder / f"{name}.{ending}"))
        for ending in ("css", "js")
    )
    return st.components.v2.component(f"plumbline_{name}", html='<div class="mount"></div>', css=css, js=js)


def let_paint() -> None:
    """Hold back the rest of the page for a moment, so that the browser paints what it has got.

    It paints nothing while it builds: a chart that is sent with heavy tables and charts below it is seen only when all are built.
    """
    time.sleep(PAINT_S)

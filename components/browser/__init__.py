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
    """A component from the style sheets and the scripts in its folder, behind the shared ones.

    One of the scripts exports the default function, which finds an element of the class `mount` to draw into.
    """
    css, js = ("\n".join(map(_text, [*_FOLDER.glob(f"*.{kind}"), *sorted(folder.glob(f"*.{kind}"))])) for kind in ("css", "js"))
    return st.components.v2.component(f"plumbline_{folder.name}", html='<div class="mount"></div>', css=css, js=js)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def let_paint() -> None:
    """Hold back the rest of the page for a moment, so that the browser paints what it has got.

    It paints nothing while it builds: a chart that is sent with heavy tables and charts below it is seen only when all are built.
    """
    time.sleep(PAINT_S)

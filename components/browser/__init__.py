"""What the components that run in the browser share: how they are put on the page, the tooltip, small buttons, saved images."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

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

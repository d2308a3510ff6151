"""What the tests of the pages share."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[2]
Open = Callable[..., AppTest]


def settle(app: AppTest, tries: int = 60) -> AppTest:
    """Run the app again until no job is under way."""
    for _ in range(tries):
        if not len(app.get("progress")):
            return app
        time.sleep(0.5)
        app.run()
    raise AssertionError("a job did not end")


def heatmaps(app: AppTest) -> list[dict[str, Any]]:
    """What the heatmaps on the page were given."""
    parts = [json.loads(element.proto.json) for element in app.get("bidi_component") if element.proto.json]
    return [part for part in parts if "rows" in part]


def words(panel: dict[str, Any]) -> list[dict[str, Any]]:
    """The words of a panel, without what stands between them."""
    return [run for run in panel["runs"] if "word" in run]


def text(run: dict[str, Any]) -> str:
    """The text of a run."""
    return "".join(piece[0] for piece in run["pieces"])


def said(app: AppTest) -> str:
    """Everything that the page says in words."""
    kinds = ("markdown", "caption", "info", "warning", "error", "success", "title", "subheader")
    return "\n".join(str(element.value) for kind in kinds for element in app.get(kind))

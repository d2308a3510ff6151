"""Puts heatmap panels on the page and says which word was picked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from components.browser import mounted
from components.heatmap.panels import Panel, Scale
from engine.report.colours import SYSTEM_A, SYSTEM_B, contrast_text

_mount = mounted(Path(__file__).parent)


def show_heatmap(
    rows: Sequence[Sequence[Panel]],
    scale: Scale,
    file: str,
    key: str,
    caption: Sequence[str] = (),
    on_pick: Callable[[], None] = lambda: None,
) -> Any:
    """Draw rows of panels under one colour scale.

    Parameters
    ----------
    rows : panels that stand side by side; below each other where the window is narrow.
    scale : what the colours mean.
    file : name of the downloaded image, without its ending.
    key : identity on the page.
    caption : lines that stand below the downloaded image only.
    on_pick : called when a word is clicked, or Enter is pressed on it.

    Returns
    -------
    The component's result; `.picked` is `{"place": "PANEL:POSITION"}` in the run after a click.
    """
    panels = [panel for row in rows for panel in row]
    data = {
        "file": file,
        "caption": list(caption),
        "rows": [[panel.as_data(scale) for panel in row] for row in rows],
        "tones": {"a": _tone(SYSTEM_A), "b": _tone(SYSTEM_B)},
        "legend": _legend(scale) if any(panel.values is not None for panel in panels) else None,
        "marks": _mark_samples(panels),
    }
    return _mount(data=data, key=key, on_picked_change=on_pick)


def _legend(scale: Scale) -> dict[str, Any]:
    title = f"{scale.title} ({scale.unit})" if scale.unit else scale.title
    return {"title": title, "low": scale.low, "high": scale.high, "stops": scale.stops()}


def _tone(colours: tuple[str, str]) -> dict[str, tuple[str, str]]:
    light, dark = colours
    return {"light": (light, contrast_text(light)), "dark": (dark, contrast_text(dark))}


def _mark_samples(panels: Sequence[Panel]) -> list[dict[str, str]]:
    marks = [mark for panel in panels for mark in panel.marks]
    samples = {}
    for mark in marks:
        if mark.start == mark.end:
            samples["gap"] = {"style": "", "label": f"\u2038 something is missing here ({mark.origin.lower()})"}
        else:
            style = "minor" if mark.minor else "major"
            name = f"{mark.origin.lower()} (minor)" if mark.minor else mark.origin.lower()
            samples[style] = {"style": style, "label": name}
    if any(panel.changed for panel in panels):
        samples["changed"] = {"style": "lone", "label": "only in this output"}
    return list(samples.values())

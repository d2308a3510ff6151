"""The token heatmap: words coloured by importance, with values on hover and by keyboard, and marked errors underlined."""

from __future__ import annotations

from components.heatmap.panels import Mark, Panel, Scale
from components.heatmap.show import show_heatmap

__all__ = ["Mark", "Panel", "Scale", "show_heatmap"]

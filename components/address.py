"""The view as it stands in the address: which parameters there are, and how they are read and written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

SHARED: dict[str, Any] = {"corpus": "demo:mt", "a": "", "b": "", "metric": "chrf"}
"""Parameters that hold on every page; the value is the default."""

PAGES: dict[str, dict[str, Any]] = {
    "corpus": {"metrics": (), "rows": "outputs", "find": "", "only": (), "sort": "segment", "low": "", "high": "", "page": 1},
    "explain": {"segment": 0, "view": "heatmap", "explainer": "erasure", "options": "", "references": "few", "whose": "a"},
    "boost": {
        **{"explainer": "erasure", "options": "", "human": "", "level": "segment", "coefficient": "kendall"},
        **{"regularisation": "paper", "calibration": "median", "boost": "", "on": "", "group": "whole"},
        **{"chart": "map", "reach": "30", "p": "", "w": ""},
    },
    "features": {
        **{"families": ("pos",), "mode": "corpus", "muler": "", "show": "bars", "measure": "muler", "order": "value", "sheet": 1},
        **{"over": "pearson", "feature": "", "whose": "a", "ends": "most", "leaf": 1},
    },
}
"""Parameters of one page, by the page's name in the address."""

LIST_MARK = "~"


def defaults() -> dict[str, Any]:
    """The view of somebody who has chosen nothing yet."""
    merged = dict(SHARED)
    for own in PAGES.values():
        merged |= own
    return merged


def parse(parameters: Mapping[str, str]) -> dict[str, Any]:
    """The values that an address sets; names and values that make no sense are left out."""
    known = defaults()
    values = {}
    for name, text in parameters.items():
        if name in known:
            try:
                values[name] = _read(text, known[name])
            except ValueError:
                continue
    return values


def write(view: Mapping[str, Any], page: str) -> dict[str, str]:
    """The address parameters of `view` on `page`: the shared ones always, the page's own where they are not the default."""
    address = {name: _text(view[name]) for name in SHARED if view[name] not in ("", None)}
    for name, default in PAGES.get(page, {}).items():
        if view[name] != default:
            address[name] = _text(view[name])
    return address


def changed(view: Mapping[str, Any], names: Iterable[str]) -> bool:
    """True where any of the named parameters is not at its default."""
    known = defaults()
    return any(view[name] != known[name] for name in names)


def _read(text: str, default: Any) -> Any:
    if isinstance(default, tuple):
        return tuple(filter(None, text.split(LIST_MARK)))
    if isinstance(default, int):
        return int(text)
    return text


def _text(value: Any) -> str:
    return LIST_MARK.join(value) if isinstance(value, tuple) else str(value)

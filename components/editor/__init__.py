"""Text areas that tell Python what is typed while it is typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path

from components.browser import mounted

_mount = mounted(Path(__file__).parent)


@dataclass(frozen=True)
class Field:
    """One text area. `original` is what "Undo edits" brings back."""

    name: str
    label: str
    original: str
    value: str = ""
    lang: str = ""
    hint: str = ""


def live_editor(fields: Sequence[Field], key: str, delay: int = 350) -> dict[str, str]:
    """Draw the text areas and return their texts as they stand now.

    Parameters
    ----------
    fields : the areas; other fields start the editor anew.
    delay : pause in typing, in milliseconds, after which Python hears of it.
    """
    version = blake2b("\0".join(f"{item.name}\0{item.original}" for item in fields).encode("utf-8", "surrogatepass")).hexdigest()[
        :16
    ]
    data = {
        "version": version,
        "delay": delay,
        "fields": [asdict(item) | {"value": item.value or item.original} for item in fields],
    }
    result = _mount(data=data, key=key, default={"texts": None}, on_texts_change=lambda: None)
    texts = result.texts or {}
    if texts.get("version") != version:
        return {item.name: item.value or item.original for item in fields}
    return {item.name: texts.get(item.name, item.original) for item in fields}

"""Options declared once, as a dataclass; the command line's flags and the page's form are both made from it."""

from __future__ import annotations

import argparse
import types
import typing
from collections.abc import Collection, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any
from urllib.parse import unquote

from engine.errors import InputError

COMMAND_LINE = "the command line"
"""The owner of options that are given as flags."""


def option(
    default: Any,
    help: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] | None = None,
    label: str = "",
    advanced: bool = False,
) -> Any:
    """A dataclass field with what a form or a flag needs to know.

    Parameters
    ----------
    default : the value when nothing is said.
    help : one sentence for the user.
    low, high : the smallest and largest value allowed, both inclusive.
    choices : the values allowed.
    label : the name on screen; made from the field's name when empty.
    advanced : True puts the control behind "more".
    """
    facts = {"help": help, "low": low, "high": high, "choices": choices, "label": label, "advanced": advanced}
    return field(default=default, metadata=facts)


@dataclass(frozen=True)
class OptionField:
    """One option as a form sees it. `type` is bool, int, float or str; `optional` means None is allowed."""

    name: str
    type: type
    optional: bool
    default: Any
    help: str
    low: float | None
    high: float | None
    choices: tuple[str, ...] | None
    label: str
    advanced: bool


def describe(options: type) -> list[OptionField]:
    """The fields of an options dataclass, in order."""
    hints = typing.get_type_hints(options)
    described = []
    for item in fields(options):
        kind, optional = _plain(hints[item.name])
        facts = dict(item.metadata)
        facts.setdefault("help", "")
        for missing in ("low", "high", "choices"):
            facts.setdefault(missing, None)
        facts.setdefault("advanced", False)
        facts["label"] = facts.get("label") or item.name.replace("_", " ").capitalize()
        default = None if item.default is MISSING else item.default
        described.append(OptionField(item.name, kind, optional, default, **facts))
    return described


def from_pairs(options: type, pairs: Mapping[str, str], owner: str = "options") -> Any:
    """Make an options object from text values.

    Raises
    ------
    InputError : an unknown name, a value of the wrong type, out of range or not among the choices.
    """
    known = {item.name: item for item in describe(options)}
    values = {}
    for name, text in pairs.items():
        item = known.get(name.replace("-", "_"))
        if item is None:
            hint = f"its options are {', '.join(known)}" if known else "it has no options"
            raise InputError(f"{owner} has no option {name!r}; {hint}")
        values[item.name] = check(item, _convert(item, text, owner), owner)
    return options(**values)


def to_pairs(options: Any) -> dict[str, str]:
    """The options that differ from their defaults, as text: the inverse of `from_pairs`."""
    return {
        item.name: _text(getattr(options, item.name))
        for item in describe(type(options))
        if getattr(options, item.name) != item.default
    }


def join_pairs(pairs: Mapping[str, str]) -> str:
    """`key=value,key=value`; commas, equals signs and per cents of the values are written as in an address (%2C)."""
    return ",".join(f"{key}={_escaped(value)}" for key, value in pairs.items())


def split_pairs(text: str, owner: str) -> dict[str, str]:
    """The inverse of `join_pairs`.

    Raises
    ------
    InputError : a part that is not written key=value.
    """
    pairs = {}
    for item in filter(None, text.split(",")):
        key, equals, value = item.partition("=")
        if not equals:
            raise InputError(f"option {item!r} of {owner} is not written key=value; write a comma inside a value as %2C")
        pairs[key.strip()] = unquote(value.strip())
    return pairs


def check(item: OptionField, value: Any, owner: str = "options") -> Any:
    """Return `value` when it is allowed, else raise InputError."""
    where = _where(item, owner)
    if value is None:
        if item.optional:
            return None
        raise InputError(f"{where} needs a value")
    if item.choices is not None and value not in item.choices:
        raise InputError(f"{where} is {value!r}; choose one of {', '.join(item.choices)}")
    if item.low is not None and not value >= item.low:
        raise InputError(f"{where} is {value}; the smallest value is {item.low}")
    if item.high is not None and not value <= item.high:
        raise InputError(f"{where} is {value}; the largest value is {item.high}")
    return value


def add_flags(parser: argparse._ActionsContainer, options: type, skip: Collection[str] = ()) -> None:
    """Add one `--flag` per option, but for those in `skip`; `from_namespace` reads them back."""
    for item in describe(options):
        if item.name in skip:
            continue
        shown = f"{item.help} (default {_text(item.default) or 'empty'})".replace("%", "%%")
        parser.add_argument(_flag(item), dest=f"option_{item.name}", default=None, metavar=_metavar(item), help=shown)


def from_namespace(options: type, namespace: argparse.Namespace, **fixed: Any) -> Any:
    """Make an options object from the flags that `add_flags` added; `fixed` gives the values that have no flag."""
    given = {item.name: getattr(namespace, f"option_{item.name}", None) for item in describe(options)}
    given |= {name: _text(value) for name, value in fixed.items()}
    return from_pairs(options, {name: text for name, text in given.items() if text is not None}, COMMAND_LINE)


def _plain(hint: Any) -> tuple[type, bool]:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        inner = [part for part in typing.get_args(hint) if part is not type(None)]
        return _plain(inner[0])[0], True
    if typing.get_origin(hint) is typing.Literal:
        return str, False
    return hint, False


def _convert(item: OptionField, text: str, owner: str) -> Any:
    if item.optional and text.lower() in ("", "none"):
        return None
    if item.type is bool:
        words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
        if text.lower() not in words:
            raise InputError(f"{_where(item, owner)} is {text!r}; say true or false")
        return words[text.lower()]
    try:
        return item.type(text)
    except ValueError:
        noun = {int: "a whole number", float: "a number"}.get(item.type, "text")
        raise InputError(f"{_where(item, owner)} is {text!r}; it must be {noun}") from None


def _where(item: OptionField, owner: str) -> str:
    """An option as its user knows it: a flag on the command line, else a name and whose it is."""
    return f"option {_flag(item)}" if owner == COMMAND_LINE else f"option {item.name!r} of {owner}"


def _flag(item: OptionField) -> str:
    return "--" + item.name.replace("_", "-")


def _escaped(value: str) -> str:
    return value.replace("%", "%25").replace(",", "%2C").replace("=", "%3D")


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)


def _metavar(item: OptionField) -> str:
    if item.choices is not None:
        return "{" + ",".join(item.choices) + "}"
    return {int: "N", float: "X", bool: "true|false"}.get(item.type, "TEXT")

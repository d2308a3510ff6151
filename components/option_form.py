"""A form made from an options dataclass: one control per field, the advanced ones apart."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

import streamlit as st

from components.states import plain
from components.workspace import Workspace
from engine.errors import InputError
from engine.options import OptionField, describe, from_pairs, to_pairs

Save = Callable[[dict[str, str]], None]


def given_pairs(text: str, options: type, owner: str, elsewhere: Collection[str] = ()) -> tuple[dict[str, str], str]:
    """Options as the address writes them, and what is wrong with them (then there are none).

    Parameters
    ----------
    text : `name=value&name=value`.
    options : the dataclass that they are of.
    owner : whose options they are, in words.
    elsewhere : options that have a place of their own in the address; they are passed over.
    """
    pairs = {name: value for name, value in parse_qsl(text) if name not in elsewhere}
    try:
        from_pairs(options, pairs, owner)
    except InputError as error:
        return {}, str(error)
    return pairs, ""


def warn_of(fault: str) -> None:
    """Say that the options of the address are left out, if something is wrong with them."""
    if fault:
        st.warning(plain(f"{fault[:1].upper()}{fault[1:]}. The options of this link are left out."), icon=":material/warning:")


def option_form(
    options: type,
    pairs: Mapping[str, str],
    work: Workspace,
    name: str,
    save: Save,
    *,
    skip: tuple[str, ...] = (),
) -> None:
    """Draw one control per field.

    Parameters
    ----------
    options : the dataclass, made with `engine.options.option`.
    pairs : the options that differ from their defaults, as `engine.options.to_pairs` writes them.
    name : tells this form from others on the page.
    save : gets the new pairs when the user changes one.
    skip : fields that stand elsewhere on the page, or do not matter now.
    """
    made = from_pairs(options, pairs)
    values = {item.name: getattr(made, item.name) for item in describe(options)}
    shown = [item for item in describe(options) if item.name not in skip]
    for item in sorted(shown, key=lambda item: item.advanced):
        tie = work.tied(f"option-{name}-{item.name}", values[item.name], partial(_keep, options, values, item, save))
        _control(item, tie)


def has_options(options: type) -> bool:
    """True where there is anything to choose."""
    return bool(describe(options))


def _keep(options: type, values: dict[str, Any], item: OptionField, save: Save, chosen: Any) -> None:
    if chosen in ("", None) and (item.optional or item.type is not str):
        chosen = None if item.optional else item.default
    save(to_pairs(options(**{**values, item.name: chosen})))


def _control(item: OptionField, tie: dict[str, Any]) -> None:
    help = item.help[:1].upper() + item.help[1:] + "."
    if item.type is bool and item.optional:
        words = {None: "automatic", True: "yes", False: "no"}
        st.selectbox(item.label, words, help=help, format_func=words.get, **tie)
    elif item.type is bool:
        st.toggle(item.label, help=help, **tie)
    elif item.choices is not None:
        names = ([None] if item.optional else []) + list(item.choices)
        st.selectbox(item.label, names, help=help, format_func=lambda text: text or "not set", **tie)
    elif item.type in (int, float):
        kind = item.type
        low, high = (None if bound is None else kind(bound) for bound in (item.low, item.high))
        st.number_input(item.label, min_value=low, max_value=high, step=1 if kind is int else 0.05, help=help, **tie)
    else:
        st.text_input(item.label, help=help, **tie)

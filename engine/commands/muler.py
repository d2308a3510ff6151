"""`muler`: a metric's score broken down by feature: how much of the reachable gain each system leaves (MuLER)."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from engine.commands.context import Context
from engine.commands.result import Result
from engine.corpus.findings import plural
from engine.corpus.types import Corpus
from engine.errors import InputError
from engine.muler.features import parse_selection
from engine.muler.lexicons import read_lexicon
from engine.muler.muler import break_down
from engine.muler.options import MulerOptions
from engine.options import add_flags as add_option_flags
from engine.options import from_namespace
from engine.report.tables import render_table, width
from engine.stats.correlation import COEFFICIENTS

NAME = "muler"
HELP = "break a metric's score down by feature: nouns, numbers, negation, entities, your own word lists … (MuLER)"
NEEDS_SCORING = True

ODD = 3
"""How many values outside 0 … 1 are told one by one."""
LINE = 120
"""Columns of the terminal that a table of systems may take before it goes on below."""
FEWEST_SYSTEMS = 3
"""Systems that a correlation over systems needs."""


def add_flags(parser: argparse.ArgumentParser) -> None:
    """One flag per option of a breakdown (the seed is the command's own), and one for each other table made from it."""
    group = parser.add_argument_group("features")
    add_option_flags(group, MulerOptions, skip=("seed", "lexicon"))
    group.add_argument(
        "--lexicon",
        metavar="FILE",
        action="append",
        default=[],
        help="words with values: word, tab, and a number or the name of a class on each line; or words alone (repeatable)",
    )
    tables = parser.add_argument_group("instead of the breakdown").add_mutually_exclusive_group()
    tables.add_argument(
        "--compare", metavar=("A", "B"), nargs=2, help="MuLER of system A less that of system B, with a paired bootstrap interval"
    )
    tables.add_argument(
        "--correlate",
        choices=tuple(COEFFICIENTS),
        help="correlation over systems of -MuLER with the metric itself, feature by feature",
    )
    tables.add_argument(
        "--lexicon-values",
        action="store_true",
        help="how far each system's sentences are from their references in the values of a lexicon of numbers",
    )


def run(context: Context) -> Result:
    """One row per metric, feature and system (`COLUMNS` of `engine.muler.results`), or the table that a flag asks for."""
    arguments, corpus = context.arguments, context.corpus
    options = from_namespace(MulerOptions, arguments, seed=arguments.seed)
    systems = _systems(arguments, corpus)
    lexicons = [read_lexicon(path) for path in arguments.lexicon]
    if not lexicons and parse_selection(options.features).all_families == ("lexicon",):
        raise InputError(f"--features {options.features} needs words with values; name them with --lexicon FILE")
    if arguments.lexicon_values and not any(lexicon.numeric for lexicon in lexicons):
        raise InputError("--lexicon-values needs a lexicon whose values are numbers; name one with --lexicon FILE")
    if lexicons and "lexicon" not in parse_selection(options.features).all_families and not arguments.lexicon_values:
        context.tell(f"--lexicon is not looked at, as --features {options.features} leaves it out; add lexicon to them")
    if arguments.lexicon_values:
        options = replace(options, features="lexicon")
    if corpus.languages[1] is None:
        context.tell(f"{corpus.name}: the language of the outputs is not known and taken for English; --langs names it")
    found = break_down(corpus, context.metrics(["bleu"]), options, context.scorer, lexicons, systems, context.progress)
    for note in found.notes:
        context.tell(note)
    if not found.rows and not arguments.lexicon_values:
        hint = " (a lexicon's words are looked up one by one, as written or in lower case)" if lexicons else ""
        raise InputError(
            f"{corpus.name}: none of the features {options.features} is in these texts{hint}; name others with --features"
        )
    if arguments.compare:
        return _result(context, found.differences(*arguments.compare), "delta")
    if arguments.correlate:
        return _result(context, found.correlations(arguments.correlate), "correlation")
    if arguments.lexicon_values:
        return _result(context, found.lexicon_frame(), "difference")
    if found.lexicons:
        context.tell("--lexicon-values says how far sentences are from their references in the lexicon's numbers")
    return _result(context, found.to_frame(), "muler", by_system=True)


def _systems(arguments: argparse.Namespace, corpus: Corpus) -> list[str]:
    """The systems that are broken down: those that are compared, or all."""
    if arguments.compare:
        first, second = arguments.compare
        unknown = [name for name in (first, second) if name not in corpus.systems]
        if unknown:
            raise InputError(f"--compare: no system {unknown[0]!r}; the systems are {', '.join(corpus.systems)}")
        if first == second:
            raise InputError(f"--compare names {first!r} twice; name two systems")
        return [first, second]
    if arguments.correlate and len(corpus.systems) < FEWEST_SYSTEMS:
        there = "there is 1" if len(corpus.systems) == 1 else f"there are {len(corpus.systems)}"
        raise InputError(f"--correlate needs at least {FEWEST_SYSTEMS} systems, and {there}; add some, or --compare two")
    return list(corpus.systems)


def _result(context: Context, frame: pd.DataFrame, value: str, by_system: bool = False) -> Result:
    """The table with its reasons told; status 2 where the column `value` is undefined throughout.

    Parameters
    ----------
    by_system : print the values of several systems side by side.
    """
    _tell(context, frame, value)
    defined = bool(frame[value].notna().any())
    if not defined:
        context.tell("nothing is defined; take more sentences, other features (--features), or fewer sentences each (--minimum)")

    def shown() -> str:
        kept = frame[frame[value].notna()]
        if by_system and defined and frame["system"].nunique() > 1:
            systems = list(frame["system"].unique())
            return "\n\n".join(_features_by_systems(name, part, systems) for name, part in kept.groupby("metric", sort=False))
        return render_table(_slim(kept))

    return Result(frame, 0 if defined else 2, shown)


def _slim(frame: pd.DataFrame) -> pd.DataFrame:
    """A table for the terminal: family and feature in one column, no reasons (they are told), no column that says one thing."""
    frame = frame.drop(columns=["reason", "signature"])
    if "family" in frame:
        frame = frame.assign(feature=_ids(frame)).drop(columns="family")
    same = [name for name in ("system", "metric", "a", "b", "coefficient") if name in frame and frame[name].nunique() == 1]
    if "delta" in frame:
        frame = frame.sort_values("delta", key=abs, ascending=False, kind="stable")
        names = {f"muler_{side}": f"muler {frame[side].iloc[0]}" for side in "ab" if len(frame)}
        frame = frame.rename(columns=names)
    return frame.drop(columns=same)


def _features_by_systems(metric: str, frame: pd.DataFrame, systems: Sequence[str]) -> str:
    """MuLER of every feature and system, side by side as far as a line goes, then below."""
    frame = frame.assign(feature=_ids(frame))
    order = {name: place for place, name in enumerate(frame["feature"].unique())}
    table = frame.pivot(index="feature", columns="system", values="muler")
    table = table.reindex(index=list(order), columns=list(systems))
    blocks: list[list[str]] = [[]]
    room = LINE - max(map(width, order))
    left = room
    for name in table.columns:
        left -= 2 + max(width(name), 7)
        if left < 0 and blocks[-1]:
            blocks.append([])
            left = room - 2 - max(width(name), 7)
        blocks[-1].append(name)
    return "\n\n".join([f"MuLER under {metric}", *(render_table(table[names].reset_index()) for names in blocks)])


def _ids(frame: pd.DataFrame) -> pd.Series:
    return frame["family"] + ":" + frame["feature"]


def _tell(context: Context, frame: pd.DataFrame, value: str) -> None:
    """Why values are undefined, kind by kind with an example; and what is odd about some that are defined."""
    undefined = frame[frame[value].isna()]
    kinds = undefined["reason"].fillna("").map(lambda reason: re.sub(r"\d+", "N", reason))
    for _, rows in undefined.groupby(kinds, sort=False):
        first = rows.iloc[0]
        such = f", for example {_row_name(first)}" if len(rows) < len(frame) or len(rows) > 1 else ""
        context.tell(f"{len(rows)} of {plural(len(frame), 'value')} undefined{such}: {first['reason'] or 'no reason is known'}")
    odd = frame[frame[value].notna() & frame["reason"].notna()]
    for _, row in odd.head(ODD).iterrows():
        context.tell(f"{_row_name(row)}: {row['reason']}")
    if len(odd) > ODD:
        context.tell(f"{plural(len(odd) - ODD, 'more value')} with a remark; --out FILE has them all in the column 'reason'")


def _row_name(row: pd.Series) -> str:
    """What a row is about, in a few words."""
    parts: Sequence[str] = [row[name] for name in ("metric", "system", "lexicon") if name in row]
    feature = [f"{row['family']}:{row['feature']}"] if "feature" in row else []
    return ", ".join([*parts, *feature])

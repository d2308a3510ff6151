"""What all commands share: the flags that name a corpus, metrics and a store, and the objects made from them."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from engine.boost.metric import make_metric
from engine.corpus.demo import demo_names, load_demo
from engine.corpus.findings import plural
from engine.corpus.languages import NAMES as LANGUAGES
from engine.corpus.languages import code
from engine.corpus.read import Inputs, Loaded, corpus_or_fail, load, parse_columns
from engine.corpus.types import Corpus
from engine.errors import InputError
from engine.metrics.base import Metric
from engine.metrics.registry import METRICS, bind_corpus
from engine.progress import Progress
from engine.report.tables import printable
from engine.scoring.scorer import Scorer
from engine.scoring.store import open_store

DEMO = "demo:"
WARNINGS = 3
"""How many warnings about a corpus are told before its scores."""
NUMBERS = {"limit": (1, None), "threads": (1, None), "seed": (0, None), "resamples": (0, 1_000_000)}
"""Flag → the smallest and the largest number."""


def add_corpus_flags(parser: argparse.ArgumentParser) -> None:
    """The flags that say which texts and scores are meant."""
    group = parser.add_argument_group("corpus")
    group.add_argument(
        "corpus",
        nargs="*",
        metavar="CORPUS",
        help="a file, folder or zip in a recognised format, or demo:mt, demo:sum",
    )
    group.add_argument("--source", metavar="FILE", help="source texts, one per line")
    group.add_argument("--reference", metavar="FILE", action="append", default=[], help="reference texts (repeatable)")
    group.add_argument("--system", metavar="NAME=FILE", nargs="+", action="extend", default=[], help="a system's outputs")
    group.add_argument("--scores", metavar="CRITERION=FILE", nargs="+", action="extend", default=[], help="human scores")
    group.add_argument("--langs", metavar="de-en", help="source and target language")
    group.add_argument(
        "--columns",
        metavar="ROLE=COLUMN,…",
        help="which column of a table is what: source=…,reference=…,hypothesis=…,system=…,segment=…,score=…; "
        "one system per column: hypothesis:NAME=…,hypothesis:NAME=…",
    )
    group.add_argument("--limit", metavar="N", type=int, help="only the first N segments")
    group.add_argument("--systems", metavar="NAME", nargs="+", help="only these systems, in this order")


def add_run_flags(parser: argparse.ArgumentParser) -> None:
    """The flags of every command that scores texts."""
    group = parser.add_argument_group("run")
    names = f"{', '.join(METRICS)}; options follow the name, as in bertscore:layer=5; boosted:p=X,w=X,metric=NAME (repeatable)"
    group.add_argument("--metric", metavar="NAME", action="append", default=[], help=names)
    group.add_argument("--seed", metavar="N", type=int, default=0, help="seed of everything random (default 0)")
    group.add_argument("--store", metavar="FILE|none", help="where scores are kept (default: the user's cache folder)")
    group.add_argument("--threads", metavar="N", type=int, help="processor threads that models may use")


def tell(message: str) -> None:
    """Say something beside the result, on standard error."""
    print(f"plumbline: {printable(' '.join(message.split()))}", file=sys.stderr)


def check_flags(arguments: argparse.Namespace) -> None:
    """Refuse numbers that are out of range, and say which language codes are not known.

    Raises
    ------
    InputError : names the flag and what is allowed.
    """
    for flag, (low, high) in NUMBERS.items():
        value = getattr(arguments, flag, None)
        if value is not None and value < low:
            raise InputError(f"option --{flag} is {value}; the smallest value is {low}")
        if value is not None and high is not None and value > high:
            raise InputError(f"option --{flag} is {value}; the largest value is {high}")
    for language in filter(None, _languages(arguments.langs)):
        if language not in LANGUAGES:
            tell(f"--langs: nothing is known of a language {language!r}; whatever depends on the language takes its default")


def read_corpus(arguments: argparse.Namespace) -> Loaded:
    """Read what the corpus flags name, cut down to `--limit` and `--systems`.

    Raises
    ------
    InputError : the flags contradict each other or name a file that is not there.
    """
    inputs = Inputs(
        paths=tuple(_existing(path) for path in arguments.corpus if not path.startswith(DEMO)),
        source=_existing(arguments.source) if arguments.source else None,
        references=tuple(map(_existing, arguments.reference)),
        systems=_named_files(arguments.system, "--system"),
        scores=_named_files(arguments.scores, "--scores"),
        languages=_languages(arguments.langs),
    )
    demos = [name for name in arguments.corpus if name.startswith(DEMO)]
    parts = [inputs.paths, inputs.source, inputs.references, inputs.systems, inputs.scores]
    if demos:
        if len(demos) > 1 or any(parts):
            raise InputError(f"{demos[0]} stands alone; name no other corpus or file beside it")
        if arguments.langs or arguments.columns:
            raise InputError(f"{demos[0]} brings its languages and columns; leave --langs and --columns out")
        return Loaded(_cut(_demo(demos[0]), arguments), (), None)
    if not any(parts):
        raise InputError("no corpus is named; give a file or folder, demo:mt, or --system NAME=FILE with --reference FILE")
    if arguments.columns and not inputs.paths:
        raise InputError("--columns says which column of a table is what, and no table is named; leave it out")
    columns = parse_columns(arguments.columns) if arguments.columns else None
    return load(inputs, columns, lambda corpus: _cut(corpus, arguments))


def _cut(corpus: Corpus, arguments: argparse.Namespace) -> Corpus:
    if arguments.limit is not None:
        corpus = corpus.head(arguments.limit)
    if arguments.systems:
        unknown = [name for name in arguments.systems if name not in corpus.systems]
        if unknown:
            raise InputError(f"no system {unknown[0]!r}; the systems are {', '.join(corpus.systems)}")
        corpus = corpus.with_systems(arguments.systems)
    return corpus


@dataclass(frozen=True)
class Context:
    """What a command gets to work with."""

    arguments: argparse.Namespace
    progress: Progress

    @cached_property
    def corpus(self) -> Corpus:
        """The corpus, cut down to `--limit` and `--systems`."""
        return self._read(read_corpus(self.arguments))

    def metrics(self, default: Sequence[str], corpus: Corpus | None = None) -> list[Metric]:
        """The metrics that `--metric` names, or the defaults, for this corpus or another; `boosted:…` among them."""
        corpus = corpus or self.corpus
        names = self.arguments.metric or default
        made = [bind_corpus(make_metric(name, corpus.languages, self.scorer), corpus) for name in names]
        return list({metric.spec.id: metric for metric in made}.values())

    def other_corpus(self, name: str) -> Corpus:
        """Another corpus beside the one that the command works on: a file, a folder or `demo:NAME`.

        Languages and columns are those that the flags name.
        """
        if name.startswith(DEMO):
            return _demo(name)
        columns = parse_columns(self.arguments.columns) if self.arguments.columns else None
        inputs = Inputs(paths=(_existing(name),), languages=_languages(self.arguments.langs))
        return self._read(load(inputs, columns))

    def _read(self, loaded: Loaded) -> Corpus:
        """The corpus; what is doubtful about it is told."""
        corpus = corpus_or_fail(loaded)
        warnings = [finding for finding in loaded.findings if finding.severity == "warning"]
        for finding in warnings[:WARNINGS]:
            place = finding.file + (f":{finding.line}" if finding.line else "")
            self.tell(f"{place}: {finding.message} {finding.remedy}")
        if len(warnings) > WARNINGS:
            self.tell(f"{corpus.name}: {plural(len(warnings) - WARNINGS, 'more warning')}; the command check lists them all")
        return corpus

    def with_ids(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The table with what the input calls its segments (`id`), where it has segments and they have names."""
        return self.corpus.with_ids(frame) if "segment" in frame else frame

    @cached_property
    def scorer(self) -> Scorer:
        """The scorer, with the store that `--store` names."""
        return Scorer(open_store(self.arguments.store))

    def tell(self, message: str) -> None:
        """Say something beside the result, on standard error."""
        tell(message)


def _demo(name: str) -> Corpus:
    short = name.removeprefix(DEMO)
    if short not in demo_names():
        raise InputError(f"no sample corpus {name!r}; there are {', '.join(DEMO + known for known in demo_names())}")
    return load_demo(short)


def _existing(name: str) -> Path:
    try:
        os.stat(name)
    except FileNotFoundError:
        raise InputError(f"{name}: no such file or folder") from None
    except OSError as fault:
        raise InputError(f"{name}: cannot be read ({fault.strerror}); check the name and the permissions") from None
    return Path(name)


def _named_files(items: Sequence[str], flag: str) -> dict[str, Path]:
    named = {}
    for item in items:
        cuts = [(item[:place], item[place + 1 :]) for place, sign in enumerate(item) if sign == "="]
        cuts = [cut for cut in cuts if all(cut)]
        if not cuts:
            raise InputError(f"{flag} {item!r} is not written NAME=FILE")
        name, path = next((cut for cut in cuts if os.path.exists(cut[1])), cuts[0])  # names may hold "=" too
        if name in named:
            raise InputError(f"{flag} names {name!r} twice")
        named[name] = _existing(path)
    return named


def _languages(text: str | None) -> tuple[str | None, str | None]:
    if not text:
        return (None, None)
    source, dash, target = text.partition("-")
    return (_language(source), _language(target)) if dash else (None, _language(source))


def _language(text: str) -> str | None:
    known = code(text)
    if text and known is None and not re.fullmatch("[a-z]{2,3}", text):
        raise InputError(f"--langs names the unknown language {text!r}; write codes, as in de-en")
    return known or text or None

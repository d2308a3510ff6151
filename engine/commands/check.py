"""`check`: what the import doctor finds in a corpus."""

from __future__ import annotations

import argparse

from engine.commands.context import Context, read_corpus
from engine.commands.result import Result
from engine.corpus.check import findings_frame
from engine.corpus.findings import plural
from engine.corpus.read import corpus_or_fail
from engine.corpus.types import Corpus
from engine.errors import InputError

NAME = "check"
HELP = "read a corpus and report what is wrong with it"
NEEDS_SCORING = False


def add_flags(parser: argparse.ArgumentParser) -> None:
    """`check` has no flags of its own."""


def run(context: Context) -> Result:
    """The findings; exit status 2 where one of them is fatal."""
    loaded = read_corpus(context.arguments)
    frame = findings_frame(loaded.findings)
    if any(finding.severity == "fatal" for finding in loaded.findings):
        return Result(frame, 2)
    if loaded.corpus is None:
        try:
            corpus_or_fail(loaded)
        except InputError as error:
            frame.loc[len(frame)] = {"kind": "unclear-columns", "file": "", "message": str(error), "severity": "fatal"}
        return Result(frame, 2)
    context.tell(_summary(loaded.corpus))
    return Result(frame)


def _summary(corpus: Corpus) -> str:
    """What was read, in one line."""
    source, target = corpus.languages
    parts = [
        plural(len(corpus), "segment"),
        f"{'system' if len(corpus.systems) == 1 else 'systems'} {', '.join(corpus.systems)}",
        plural(corpus.reference_count, "reference"),
        "no sources" if corpus.sources is None else "sources",
        f"languages {source or '?'}-{target or '?'}",
        f"scores {', '.join(item.name for item in corpus.criteria) or 'none'}",
    ]
    return f"{corpus.name}: {'; '.join(parts)}"

"""The sample corpora that ship: texts with marked, planted errors, and the scores computed from the marks."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from engine.corpus.types import Corpus, Criterion, ErrorSpan

FOLDER = Path(__file__).resolve().parents[2] / "assets" / "corpora"

MARK = re.compile(r"\{([a-z ]+) (major|minor)\|([^{}|]*)(?:\|([^{}|]*))?\}")

NOT_HUMAN = "planted errors, not human judgement"


def demo_names() -> tuple[str, ...]:
    """The names that `load_demo` knows."""
    return tuple(sorted(path.parent.name for path in FOLDER.glob("*/corpus.toml")))


@cache
def load_demo(name: str) -> Corpus:
    """Read the sample corpus `name` (`mt`, `sum`)."""
    folder = FOLDER / name
    facts = tomllib.loads((folder / "corpus.toml").read_text(encoding="utf-8"))
    systems: list[str] = facts["systems"]
    sources, references, documents = [], [], []
    outputs: dict[str, list[str]] = {system: [] for system in systems}
    spans: list[ErrorSpan] = []
    for document, segment in _segments(folder, systems):
        index = len(sources)
        documents.append(document)
        sources.append(segment["source"][0])
        references.append(tuple(segment["reference"]))
        for system in systems:
            text, found = read_marks(segment[system][0], index, system)
            outputs[system].append(text)
            spans += found
    return Corpus(
        name=facts["name"],
        systems={system: tuple(texts) for system, texts in outputs.items()},
        references=tuple(references),
        sources=tuple(sources),
        documents=tuple(documents),
        languages=(facts["languages"][0], facts["languages"][1]),
        human=_planted_scores(facts, len(sources), spans),
        criteria=tuple(_criterion(item, facts["weights"]) for item in facts["criterion"]),
        spans=tuple(spans),
    )


def read_marks(text: str, segment: int, system: str) -> tuple[str, list[ErrorSpan]]:
    """Take the marks out of an output.

    Returns
    -------
    The text as it reads, and an error span per mark (characters, end exclusive; an omission has no width).
    """
    clean, end, spans = "", 0, []
    for mark in MARK.finditer(text):
        clean += text[end : mark.start()]
        kind, severity, words, remedy = mark.groups()
        note = f"should be: {remedy}" if remedy and words else f"missing: {remedy}" if remedy else ""
        spans.append(ErrorSpan(segment, system, "hypothesis", len(clean), len(clean) + len(words), kind, severity, note))
        clean += words
        end = mark.end()
    return clean + text[end:], spans


def _segments(folder: Path, systems: list[str]) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Every segment with its document's name; a segment that lacks a text is an error of the corpus."""
    for path in sorted(folder.glob("*.txt")):
        lines = [line for line in path.read_text(encoding="utf-8").split("\n") if not line.startswith("#")]
        for block in re.split(r"\n{2,}", "\n".join(lines).strip("\n")):
            segment: dict[str, list[str]] = {}
            for line in block.split("\n"):
                key, colon, text = line.partition(": ")
                if not colon or key not in ("source", "reference", *systems):
                    raise ValueError(f"{path.name}: not a line of a segment: {line[:60]!r}")
                segment.setdefault(key, []).append(text)
            absent = [key for key in ("source", "reference", *systems) if key not in segment]
            if absent:
                raise ValueError(f"{path.name}: a segment has no {absent[0]}: {block[:60]!r}")
            yield path.stem.partition("-")[2], segment


def _planted_scores(facts: Mapping[str, Any], count: int, spans: list[ErrorSpan]) -> pd.DataFrame:
    rows = []
    for item in facts["criterion"]:
        penalty: dict[tuple[int, str], float] = {}
        for span in spans:
            if span.category in item.get("kinds", [span.category]):
                place = (span.segment, span.system)
                penalty[place] = penalty.get(place, 0) + facts["weights"][span.severity]
        rows += [
            (index, system, item["name"], 0.0 - penalty.get((index, system), 0.0))
            for system in facts["systems"]
            for index in range(count)
        ]
    frame = pd.DataFrame(rows, columns=["segment", "system", "criterion", "score"])
    return frame.astype({"segment": "int64", "score": "float64"})


def _criterion(item: Mapping[str, Any], weights: Mapping[str, int]) -> Criterion:
    kinds = f" of kind {', '.join(item['kinds'])}" if "kinds" in item else ""
    rule = ", ".join(f"{severity} {weight}" for severity, weight in weights.items())
    return Criterion(
        item["name"], f"{NOT_HUMAN}: minus the sum of the weights ({rule}) of the marked errors{kinds}", planted=True
    )

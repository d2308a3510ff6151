"""Why a value is missing or odd, in words: too few sentences, a metric that does not see the feature, a tagger that disagrees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from engine.muler.corpus_texts import CorpusTexts, Cover
from engine.muler.features import Feature, FeatureTable
from engine.muler.options import MulerOptions
from engine.muler.reduce import Value

_SLACK = 1e-9


@dataclass(frozen=True)
class Disagreement:
    """A word that has the feature on one side only, in the same sentence.

    Attributes
    ----------
    word : in lower case.
    in_reference, in_output : what the tagger says of it there.
    segment : the first segment where this happens, counted from 0 as everywhere.
    count : in how many segments.
    """

    word: str
    in_reference: str
    in_output: str
    segment: int
    count: int

    def __str__(self) -> str:
        more = f" and {self.count - 1} more" if self.count > 1 else ""
        return (
            f"the tagger reads {self.word!r} as {self.in_reference} in the reference and as {self.in_output} in the output "
            f"(segment {self.segment}{more})"
        )


def undefined(value: Value, options: MulerOptions) -> str | None:
    """Why there is no value; None where there is one."""
    if value.n < options.minimum:
        where = "both the reference and the output" if options.sentences == "both" else "the reference or the output"
        if not value.n:
            return f"no sentence has it in {where}"
        some = "1 sentence has" if value.n == 1 else f"{value.n} sentences have"
        return f"only {some} it in {where} and can be scored; {options.minimum} are needed"
    if np.isnan(value.muler):
        return "oracle and anti-oracle are equal: the metric does not see this feature here"
    return None


def odd(
    feature: Feature,
    value: Value,
    losses: np.ndarray,
    table: FeatureTable,
    texts: CorpusTexts,
    cover: Cover,
    system: str,
    rows: np.ndarray,
) -> str | None:
    """Why a value lies outside 0 … 1; None where it does not.

    Parameters
    ----------
    losses : float64[n]; by how much the oracle is worse than the output as it is (below 0), or the output as it is worse than the
        anti-oracle (above 1), sentence by sentence.
    cover : the feature's tokens.
    rows : int64[n], the segments that count.
    """
    if np.isnan(value.muler) or -_SLACK <= value.muler <= 1 + _SLACK:
        return None
    guilty = rows[losses > _SLACK]
    found = disagreements(feature, table, texts, cover, system, guilty, 1)
    if found:
        why = str(found[0])
    elif len(guilty):
        worst = int(rows[np.argmax(losses)])
        why = f"matches beside the masks {'are lost' if value.muler < 0 else 'arise'}, most of all in segment {worst}"
    else:
        why = "no single sentence is the cause"
    if value.muler < 0:
        return f"below 0, as the oracle is worse than the output as it is: {why}"
    return f"above 1, as the anti-oracle is better than the output as it is: {why}"


def disagreements(
    feature: Feature, table: FeatureTable, texts: CorpusTexts, cover: Cover, system: str, rows: np.ndarray, limit: int = 10
) -> list[Disagreement]:
    """Words that the tagger reads as the feature on one side only, the most frequent first."""
    found: Counter[tuple[str, str, str]] = Counter()
    first: dict[tuple[str, str, str], int] = {}
    if feature.family not in ("pos", "ner", "morph"):
        return []
    for row in rows.tolist():
        members = texts.members[texts.offsets[row] : texts.offsets[row + 1]]
        for key in set(_one_sided(feature, table, cover, members.tolist(), int(texts.outputs[system][row]))):
            found[key] += 1
            first.setdefault(key, row)
    return [Disagreement(*key, first[key], count) for key, count in found.most_common(limit)]


def _one_sided(
    feature: Feature, table: FeatureTable, cover: Cover, references: list[int], output: int
) -> Iterator[tuple[str, str, str]]:
    inside, outside = _words(table, cover, output)
    for reference in references:
        theirs, others = _words(table, cover, reference)
        for word in theirs.keys() & outside.keys() - inside.keys():
            yield word, table.reading(feature, theirs[word]), table.reading(feature, outside[word])
        for word in inside.keys() & others.keys() - theirs.keys():
            yield word, table.reading(feature, others[word]), table.reading(feature, inside[word])


def _words(table: FeatureTable, cover: Cover, text: int) -> tuple[dict[str, int], dict[str, int]]:
    """Lower-case words of a text that have the feature, and those that do not, each with one of its tokens."""
    tagged = table.tagged
    inside: dict[str, int] = {}
    outside: dict[str, int] = {}
    for token in range(tagged.offsets[text], tagged.offsets[text + 1]):
        word = tagged.forms[tagged.form[token]].lower()
        (inside if cover.mask[token] else outside)[word] = token
    return inside, outside

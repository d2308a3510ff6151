"""What the lexical metrics share: every text, word and pair of a call is handled once, and texts become token ids.

A perturbation analysis scores hundreds of variants of one text against one reference, so a call first reduces its segments to
distinct texts and distinct pairs (`plan`), then turns texts into ids (`token_ids`, `character_ids`); kernels count on ids.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import chain
from typing import Any

import numpy as np

from engine.corpus.types import Segment


@dataclass(frozen=True)
class Tokens:
    """Texts as ids: text i is `ids[offsets[i]:offsets[i + 1]]`. `ids` int32[n_tokens], `offsets` int64[n_texts + 1]."""

    ids: np.ndarray
    offsets: np.ndarray

    @property
    def lengths(self) -> np.ndarray:
        """Tokens per text, int64[n_texts]."""
        return np.diff(self.offsets)

    def split(self, count: int) -> tuple[Tokens, Tokens]:
        """The first `count` texts and the rest."""
        cut = self.offsets[count]
        return Tokens(self.ids[:cut], self.offsets[: count + 1]), Tokens(self.ids[cut:], self.offsets[count:] - cut)


@dataclass(frozen=True)
class Plan:
    """The distinct work in a list of segments.

    Attributes
    ----------
    hypotheses, references : distinct texts.
    groups : int64[n_members]; the references of group g are `groups[group_offsets[g]:group_offsets[g + 1]]`.
    group_offsets : int64[n_groups + 1].
    hypothesis, group : int64[n_pairs]; the distinct pairs of a hypothesis and a group of references, in order of group.
    inverse : int64[n_segments]; the pair of each segment.
    """

    hypotheses: list[str]
    references: list[str]
    groups: np.ndarray
    group_offsets: np.ndarray
    hypothesis: np.ndarray
    group: np.ndarray
    inverse: np.ndarray

    @property
    def texts(self) -> list[str]:
        """The hypotheses, then the references."""
        return self.hypotheses + self.references


@dataclass(frozen=True)
class SinglePairs:
    """The pairs of a plan taken apart into pairs with one reference each.

    Attributes
    ----------
    hypothesis, reference : int64[n_single]; distinct, in order of reference.
    rows : int64[n_pairs, most references]; where each pair's references are among the single pairs, -1 where it has fewer.
    """

    hypothesis: np.ndarray
    reference: np.ndarray
    rows: np.ndarray

    def best(self, scores: np.ndarray) -> np.ndarray:
        """Per pair the single pair with the highest of `scores` float64[n_single], the first among equals: int64[n_pairs]."""
        chosen = self.rows[:, 0].copy()
        for column in self.rows.T[1:]:
            better = (column >= 0) & (scores[column] > scores[chosen])
            chosen[better] = column[better]
        return chosen


def plan(segments: Sequence[Segment]) -> Plan:
    """Reduce segments to distinct hypotheses, references, groups of references and pairs.

    Raises
    ------
    ValueError : a segment without hypothesis or reference; `engine.metrics.base.unscorable` tells before.
    """
    hypotheses, hypothesis = _number([segment.hypothesis for segment in segments])
    groups, group = _number([segment.references for segment in segments])
    if None in hypotheses or () in groups:
        raise ValueError("a segment lacks a hypothesis or a reference; ask `unscorable` before scoring")
    references, members = _number(list(chain.from_iterable(groups)))
    width = max(len(hypotheses), 1)
    pairs, inverse = np.unique(group * width + hypothesis, return_inverse=True)
    return Plan(
        hypotheses=hypotheses,
        references=references,
        groups=members,
        group_offsets=_offsets([len(texts) for texts in groups]),
        hypothesis=pairs % width,
        group=pairs // width,
        inverse=inverse,
    )


def _number(items: Sequence[Any]) -> tuple[list[Any], np.ndarray]:
    """The distinct items in order of appearance, and the number of each item among them, int64[n]."""
    numbers = {item: number for number, item in enumerate(dict.fromkeys(items))}
    return list(numbers), np.fromiter(map(numbers.__getitem__, items), np.int64, len(items))


def single_pairs(planned: Plan) -> SinglePairs:
    """Take the pairs of a plan apart into distinct pairs of one hypothesis and one reference."""
    counts = np.diff(planned.group_offsets)[planned.group]
    width = int(counts.max(initial=1))
    position = planned.group_offsets[planned.group][:, None] + np.arange(width)
    present = np.arange(width) < counts[:, None]
    members = planned.groups[np.where(present, position, 0)]
    keys = members * max(len(planned.hypotheses), 1) + planned.hypothesis[:, None]
    distinct, where = np.unique(keys[present], return_inverse=True)
    rows = np.full(present.shape, -1, np.int64)
    rows[present] = where
    return SinglePairs(distinct % max(len(planned.hypotheses), 1), distinct // max(len(planned.hypotheses), 1), rows)


def token_ids(texts: Sequence[list[str]], pieces: Callable[[str], Sequence[str]] | None = None) -> Tokens:
    """Number the tokens of texts that are already split into words; equal tokens get equal ids within one call.

    `pieces` splits a word further (or drops it, giving nothing); it is asked once per distinct word.
    """
    offsets = _offsets([len(words) for words in texts])
    ids, known = _number_tokens(chain.from_iterable(texts), offsets[-1])
    if pieces is None:
        return Tokens(ids, offsets)
    tokens: list[str] = []
    ends = [0]
    for parts in map(pieces, known):
        tokens += parts
        ends.append(len(tokens))
    inner, _ = _number_tokens(tokens, len(tokens))
    return _in_pieces(Tokens(ids, offsets), Tokens(inner, np.array(ends)))


def _number_tokens(tokens: Iterable[str], count: int) -> tuple[np.ndarray, Iterable[str]]:
    """The number of each token among the distinct ones, int32[count], and those."""
    known: defaultdict[str, int] = defaultdict()
    known.default_factory = known.__len__
    return np.fromiter(map(known.__getitem__, tokens), np.int32, count), known


def word_ids(texts: Sequence[str], pieces: Callable[[str], Sequence[str]] | None = None) -> Tokens:
    """As `token_ids([text.split() for text in texts], pieces)`, up to the tokens' numbers, at a fraction of the time.

    `pieces` must leave words of letters and digits whole: it is not asked for them.
    """
    from engine.metrics.kernels.words import number_words

    joined, plain = "".join(texts), character_ids(texts)
    ids, counts, starts, ends = number_words(plain.ids, plain.offsets)
    found = Tokens(ids, _offsets(counts))
    if pieces is None:
        return found
    words = [joined[start:end] for start, end in zip(starts.tolist(), ends.tolist())]
    known = dict(zip(words, range(len(words))))
    whole = np.fromiter(map(str.isalnum, words), bool, len(words))
    sizes, parts = np.ones(len(words), np.int64), []
    for place in np.flatnonzero(~whole).tolist():
        tokens = pieces(words[place])
        sizes[place] = len(tokens)
        parts += [known.setdefault(token, len(known)) for token in tokens]
    inner = np.repeat(np.arange(len(words), dtype=np.int32), sizes)
    inner[np.repeat(~whole, sizes)] = parts
    return _in_pieces(found, Tokens(inner, _offsets(sizes)))


def _in_pieces(words: Tokens, pieces: Tokens) -> Tokens:
    """Words split further: `pieces` has the tokens of each distinct word."""
    lengths = pieces.lengths[words.ids]
    places = _offsets(lengths)
    source = np.repeat(pieces.offsets[words.ids] - places[:-1], lengths) + np.arange(places[-1])
    return Tokens(pieces.ids[source], places[words.offsets])


def character_ids(texts: Sequence[str], spaces: bool = True) -> Tokens:
    """Texts as Unicode code points, with their white space or without."""
    data = "".join(texts).encode("utf-32-le", "surrogatepass")
    codes, offsets = np.frombuffer(data, np.int32).copy(), _offsets([len(text) for text in texts])
    if spaces:
        return Tokens(codes, offsets)
    from engine.metrics.kernels.words import drop_spaces

    return Tokens(*drop_spaces(codes, offsets))


def signature(name: str, package: str, **facts: Any) -> str:
    """A sacreBLEU-style signature: `name|key:value|…|version:…` with the version of the package whose numbers these are."""
    shown = {key: "yes" if value is True else "no" if value is False else value for key, value in facts.items()}
    return "|".join([name, *(f"{key}:{value}" for key, value in shown.items()), f"version:{version(package)}"])


def _offsets(lengths: Sequence[int] | np.ndarray) -> np.ndarray:
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets

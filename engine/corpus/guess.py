"""Guess which column of a table is what, from the columns' names and their content, and say how certain that is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.corpus.findings import enumerated
from engine.corpus.grid import Grid
from engine.corpus.names import OTHER_TEXTS, role_of, score_like, segment_rank, words
from engine.corpus.numerals import number

_TEXTS = ("source", "reference", "hypothesis", "either", "weak source", "weak reference", "weak hypothesis")
_OUTPUT_WORDS = frozenset({"hyp", "hypothesis", "mt", "output", "translation", "candidate", "pred", "prediction"})
_SAMPLE = 1500


@dataclass(frozen=True)
class Guess:
    """Column → role; `certain` is False where the user should be asked, and `reason` says why."""

    roles: Mapping[str, str]
    certain: bool
    reason: str = ""


@dataclass(frozen=True)
class _Profile:
    """What a column holds: shares of numbers and of distinct values among the filled cells, and their mean length."""

    filled: int
    numeric: float
    distinct: float
    length: float
    lists: bool
    values: int
    letters: float = 1.0

    @property
    def text(self) -> bool:
        """Sentences, by the look of them."""
        return self.lists or (
            self.filled > 0
            and self.numeric < 0.5
            and self.letters > 0.3
            and self.length >= 12
            and (self.distinct > 0.2 or self.values > 20)
        )

    @property
    def any_text(self) -> bool:
        """Words of any kind."""
        return self.lists or self.numeric < 0.5


def guess_roles(grid: Grid) -> Guess:
    """Guess the role of each column."""
    return _Guesser(grid).guess()


class _Guesser:
    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self.profiles = {name: _profile(cells) for name, cells in grid.columns.items()}
        self.named = {name: role_of(name) or ("", "") for name in grid.columns}
        self.roles: dict[str, str] = {}
        self.doubts: list[str] = []

    def guess(self) -> Guess:
        """Texts first, then what identifies a row, then scores; the rest is ignored."""
        self._hypotheses()
        self._references()
        self._source()
        self._systems_by_elimination()
        self._identifiers()
        self._scores()
        if not any(role.startswith("hypothesis") for role in self.roles.values()):
            ranking = {"better", "worse"} <= set(map(words, self.grid.columns))
            self.doubts.append(
                "it ranks pairs of systems and holds no texts" if ranking else "no column of system outputs was recognised"
            )
        roles = {name: self.roles.get(name, "ignore") for name in self.grid.columns}
        return Guess(roles, not self.doubts, "; ".join(dict.fromkeys(self.doubts)))

    def _free(self, *kinds: str, text: bool = True) -> list[str]:
        """Columns without a role yet whose names stand for one of `kinds`, and which hold words where `text` is asked for."""
        named = [name for name, role in self.named.items() if role[0] in kinds and name not in self.roles]
        worded = [name for name in named if self.profiles[name].any_text]
        certain = set(kinds) <= {"source", "reference", "hypothesis"}  # such columns may hold nothing but numbers, too
        return worded if text and (worded or not certain) else named

    def _hypotheses(self) -> None:
        single = self._free("hypothesis")
        numbered = [
            name for name in self._free("system") if self.named[name][1] and self.profiles[name].distinct > 0.5
        ]  # "System A"
        either = self._free("either")
        columns = single + numbered + self._prefixed()
        if not columns and either and (self._free("reference") or not self._free("weak hypothesis")):
            columns = either[:1]
            if not self._free("reference") and not self._annotation():
                self.doubts.append(f"{either[0]!r} may hold system outputs or references")
        if not columns:
            columns = self._free("weak hypothesis")[:1]
            if columns and not (self._free("reference", "source") and words(columns[0]) in ("response", "summary")):
                self.doubts.append(f"{columns[0]!r} is only likely to hold system outputs")
        if len(columns) == 1 and not (numbered and not single):
            self.roles[columns[0]] = "hypothesis"
        elif columns:
            self._wide(columns)

    def _prefixed(self) -> list[str]:
        """Columns such as `hyp_gpt` and `hyp_nllb`, or `gpt_output` and `nllb_output`."""
        named = []
        for name, role in self.named.items():
            parts = words(name).split()
            texts = self.profiles[name].any_text and not self.profiles[name].lists
            if not role[0] and len(parts) > 1 and texts and {parts[0], parts[-1]} & _OUTPUT_WORDS:
                named.append(name)
        return named

    def _wide(self, columns: Sequence[str]) -> None:
        names = system_names(columns)
        for column in columns:
            self.roles[column] = f"hypothesis:{names[column]}"
        if any(self.named[column][0] and not self.named[column][1] for column in columns):
            self.doubts.append(f"several columns may hold system outputs ({enumerated(list(columns))})")

    def _annotation(self) -> bool:
        """Whether the table rates outputs, so that its target is one."""
        kinds = {role[0] for role in self.named.values()}
        return bool(kinds & {"system", "score", "rater"})

    def _references(self) -> None:
        columns = self._free("reference") or []
        if any(role.startswith("hypothesis") for role in self.roles.values()):
            columns += [name for name in self._free("either") if name not in columns]
        if not columns:
            columns = self._free("weak reference")[:1]
            if columns:
                self.doubts.append(f"{columns[0]!r} is only likely to hold references")
        for index, column in enumerate(columns):
            self.roles[column] = "reference" if index == 0 else f"reference:{index + 1}"

    def _source(self) -> None:
        columns = self._free("source")
        outputs = any(role.startswith("hypothesis") for role in self.roles.values())
        if not columns and not outputs:
            return
        if not columns:
            columns = [name for name in self._free("weak source", "document") if self.profiles[name].text]
            order = {name: rank for rank, name in enumerate(self.grid.columns)}
            columns.sort(key=lambda name: (self.named[name][0] == "document", order[name]))
        else:
            exact = [name for name in columns if not self.named[name][1]]
            columns = exact or columns
            if len(columns) > 1:
                self.doubts.append(f"several columns may hold the source ({enumerated(columns)})")
        if columns:
            self.roles[columns[0]] = "source"

    def _systems_by_elimination(self) -> None:
        """Texts under unknown names: outputs of systems called so, perhaps."""
        if self._plain_systems():
            return
        unknown = [
            name
            for name, role in self.named.items()
            if name not in self.roles
            and self.profiles[name].text
            and not self.profiles[name].lists
            and (not role[0] or role[0] in _TEXTS)
        ]
        unknown = [name for name in unknown if not score_like(name) or self.profiles[name].numeric < 0.2]
        if not unknown:
            return
        if not any(role.startswith("hypothesis") for role in self.roles.values()):
            if not self.grid.header and len(unknown) in (2, 3):
                self.roles |= dict(
                    zip(unknown, ["source", "hypothesis"] if len(unknown) == 2 else ["source", "reference", "hypothesis"])
                )
            elif len(unknown) == 1:
                self.roles[unknown[0]] = "hypothesis"
            else:
                for name in unknown:
                    self.roles[name] = f"hypothesis:{name}"
            self.doubts.append(f"{enumerated(unknown)} may hold system outputs")
        elif not any(role[0] == "system" for role in self.named.values()):
            self.doubts.append(f"{enumerated(unknown)} may hold further texts")

    def _plain_systems(self) -> bool:
        """Source, Reference, DeepL, Google …: all other texts are outputs, where they are much like the texts beside them.

        They fill their column, hardly repeat, and have about the length of the references (without references, of each other).
        Names that speak of something else, and further texts that are not alike, leave it open.
        """
        roles = set(self.roles.values())
        if not self.grid.header or not roles & {"source", "reference"} or any(role.startswith("hypothesis") for role in roles):
            return False
        beside = [self.profiles[name] for name, role in self.roles.items() if role.startswith("reference")]
        beside = beside or [self.profiles[name] for name, role in self.roles.items() if role == "source"]
        others = [name for name in self.grid.columns if name not in self.roles and not score_like(name)]
        worded = [name for name in others if not self.named[name][0] and _alike(self.profiles[name], beside[0])]
        further = [name for name in others if name not in worded and self.profiles[name].text and self._may_be_output(name)]
        least = 1 if {"source", "reference"} <= roles else 2
        if len(worded) < least or further or any(OTHER_TEXTS & set(words(name).split()) for name in worded):
            return False
        self.roles |= {name: f"hypothesis:{name}" for name in worded}
        return True

    def _may_be_output(self, name: str) -> bool:
        return not self.named[name][0] or self.named[name][0] in _TEXTS

    def _identifiers(self) -> None:
        for kind, role in (("languages", "languages"), ("system", "system")):
            columns = [name for name in self._free(kind, text=False) if not self.named[name][1] and not self.profiles[name].lists]
            if kind == "languages":
                columns = [name for name in columns if _are_pairs(self.grid.columns[name])]
            wide = any(known.startswith("hypothesis:") for known in self.roles.values())
            if columns and not (kind == "system" and wide):
                self.roles[columns[0]] = role
        segments = sorted(
            (name for name in self._free("segment", text=False) if not self.named[name][1] and not self.profiles[name].lists),
            key=segment_rank,
        )
        documents = [name for name in self._free("document", text=False) if not self.profiles[name].lists]
        documents.sort(key=lambda name: self.profiles[name].values)
        if segments:
            self.roles[segments[0]] = "segment"
        if documents:
            self.roles[documents[0]] = "document"
            if not segments and self._names_rows(documents[0]):
                self.roles[documents[0]] = "segment"

    def _names_rows(self, column: str) -> bool:
        """Whether a column, with the system, is different in every row."""
        systems = [self.grid.columns[name] for name, role in self.roles.items() if role == "system"]
        keys = list(zip(self.grid.columns[column], *systems))
        return len({tuple(map(str, key)) for key in keys}) == len(keys)

    def _scores(self) -> None:
        systems = {name.partition(":")[2]: column for column, name in self.roles.items() if name.startswith("hypothesis:")}
        for name, role in self.named.items():
            profile = self.profiles[name]
            if name in self.roles or profile.lists or (profile.filled and profile.numeric < 0.5):
                continue
            owned = _owned_by(name, systems)
            grouped = name in self.grid.groups
            if not profile.filled or not (grouped or owned or role[0] in ("score", "penalty") or score_like(name)):
                continue
            kind = "penalty" if self._is_penalty(name, role) else "score"
            if owned:
                self.roles[name] = f"{kind}:{owned[0]}@{owned[1]}"
            elif systems:
                self.doubts.append(f"{name!r} does not say which system's scores it holds")
            else:
                self.roles[name] = f"{kind}:{self._criterion(name)}"

    def _is_penalty(self, name: str, role: tuple[str, str]) -> bool:
        """Error counts and the like: lower is better, so that they must be negated."""
        values = [value for value in map(number, self.grid.columns[name][:_SAMPLE]) if value is not None and value == value]
        positive = bool(values) and min(values) >= 0 and max(values) > 0
        if role[0] == "penalty":
            return positive
        if "mqm" in words(name).split() and positive:
            self.doubts.append(f"{name!r} holds no negative value: are these penalties (lower is better)?")
            return True
        return False

    def _criterion(self, name: str) -> str:
        """`expert.coherence` is called coherence, where no other column ends so."""
        short = name.rpartition(".")[2]
        alone = sum(other.rpartition(".")[2] == short for other in self.grid.columns) == 1
        return short if name in self.grid.groups and alone else name


def _alike(profile: _Profile, beside: _Profile) -> bool:
    """Whether a column may hold outputs, judging by the column of references (or sources) beside it."""
    return (
        profile.any_text
        and not profile.lists
        and profile.letters > 0.3
        and profile.filled >= 0.9 * beside.filled
        and profile.distinct >= 0.5 * beside.distinct
        and beside.length / 2.5 <= profile.length <= 2.5 * beside.length
    )


def system_names(columns: Sequence[str]) -> dict[str, str]:
    """What the systems of a wide table are called: the columns' names without the word that all share (`hyp_nllb` → nllb)."""
    if len(columns) < 2:
        return {column: column for column in columns}
    parts = {column: re.split(r"[\s_\-.:]+", column.strip()) for column in columns}
    first = next(iter(parts.values()))[0]
    shorter = {column: column.strip()[len(first) :].strip(" _-.:") for column in columns}
    if all(part[0] == first for part in parts.values()) and all(
        len(name) > 1 and not name.isdigit() for name in shorter.values()
    ):
        return shorter
    return {column: column for column in columns}


def _owned_by(name: str, systems: Mapping[str, str]) -> tuple[str, str] | None:
    """The criterion and the system that a score column of a wide table names (`Human A` beside `System A`)."""
    plain = words(name)
    for system, column in sorted(systems.items(), key=lambda item: -len(item[0])):
        tails = {words(system), words(column), words(column).split()[-1]}
        for tail in sorted(filter(None, tails), key=len, reverse=True):
            if plain != tail and (plain.endswith(" " + tail) or plain.startswith(tail + " ")):
                kept = plain.removesuffix(" " + tail) if plain.endswith(" " + tail) else plain.removeprefix(tail + " ")
                return (kept, system)
    return None


def _profile(cells: Sequence[Any]) -> _Profile:
    step = max(1, len(cells) // _SAMPLE)
    filled = [cell for cell in cells[::step] if cell is not None and cell != ""]
    if not filled:
        return _Profile(0, 0.0, 0.0, 0.0, False, 0)
    if sum(isinstance(cell, list) for cell in filled) > 0.2 * len(filled):
        return _Profile(len(filled), 0.0, 1.0, 100.0, True, len(filled))
    numeric = sum(number(cell, True) is not None for cell in filled) / len(filled)
    texts = [str(cell) for cell in filled]
    values = len(set(texts))
    joined = "".join(text[:200] for text in texts[:200])
    letters = sum(map(str.isalpha, joined)) / max(1, len(joined) - joined.count(" "))
    return _Profile(len(filled), numeric, values / len(filled), sum(map(len, texts)) / len(texts), False, values, letters)


def _are_pairs(cells: Sequence[Any]) -> bool:
    values = {cell for cell in cells[:_SAMPLE] if isinstance(cell, str) and cell}
    return bool(values) and all(
        re.fullmatch(r"[A-Za-z]{2,3}([-_][A-Za-z]+)?[-_>]+[A-Za-z]{2,3}([-_][A-Za-z]+)?", value) for value in values
    )

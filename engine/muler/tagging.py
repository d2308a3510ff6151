"""Tagged texts: distinct texts as arrays of tokens, tagged once and kept in the store by content."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np

from engine.muler.taggers import ENTITIES, SYNTAX, TaggedText, Tagger, run_tagger
from engine.progress import Progress, silent
from engine.scoring.pieces import Piece
from engine.scoring.store import Store

_TOKENS = "tokens"  # the layer of a tagger that only splits
_KINDS = {SYNTAX: ("pos", "morph"), ENTITIES: ("entity",), _TOKENS: ()}
_VERSION = 2  # part of the keys; changes when the same text gets other tags
_BATCH = 64  # texts that are tagged and stored together


@dataclass(frozen=True, eq=False)
class TaggedTexts:
    """Distinct texts and their tokens, one after the other in flat arrays.

    Attributes
    ----------
    texts : the texts.
    offsets : int64[n_texts + 1]; the tokens of text i are `offsets[i]` … `offsets[i + 1]` (exclusive).
    start, end : int32[n_tokens]; characters of the token in its text.
    flags : int32[n_tokens], the bits of `engine.muler.taggers`.
    pos, morph, entity : int32[n_tokens], indices into the tuples of names; entity names start with `B-` where an entity starts.
    pos_names, morph_names, entity_names : names; "" stands for none.
    tagger : who made the tags.
    """

    texts: tuple[str, ...]
    offsets: np.ndarray
    start: np.ndarray
    end: np.ndarray
    flags: np.ndarray
    pos: np.ndarray
    pos_names: tuple[str, ...]
    morph: np.ndarray
    morph_names: tuple[str, ...]
    entity: np.ndarray
    entity_names: tuple[str, ...]
    tagger: Tagger

    @cached_property
    def index(self) -> dict[str, int]:
        """Where each text is."""
        return {text: place for place, text in enumerate(self.texts)}

    @cached_property
    def text_of(self) -> np.ndarray:
        """The text of each token, int64[n_tokens]."""
        return np.repeat(np.arange(len(self.texts)), np.diff(self.offsets))

    @cached_property
    def _numbered(self) -> tuple[np.ndarray, tuple[str, ...]]:
        forms: dict[str, int] = {}
        ids = np.empty(len(self.start), np.int64)
        spans = zip(self.text_of.tolist(), self.start.tolist(), self.end.tolist())
        for place, (text, start, end) in enumerate(spans):
            ids[place] = forms.setdefault(self.texts[text][start:end], len(forms))
        return ids, tuple(forms)

    @property
    def form(self) -> np.ndarray:
        """The word form of each token, int64[n_tokens], an index into `forms`."""
        return self._numbered[0]

    @property
    def forms(self) -> tuple[str, ...]:
        """Distinct word forms, as they are written."""
        return self._numbered[1]

    @cached_property
    def glued(self) -> np.ndarray:
        """Whether a token follows the one before it in the same text without white space between them, bool[n_tokens]."""
        glued = np.zeros(len(self.start), bool)
        glued[1:] = (self.start[1:] == self.end[:-1]) & (self.text_of[1:] == self.text_of[:-1])
        return glued


def tag_texts(
    texts: Iterable[str],
    tagger: Tagger,
    layers: Sequence[str],
    store: Store | None = None,
    progress: Progress = silent,
) -> TaggedTexts:
    """Tag texts; those that the store knows are not tagged again.

    Parameters
    ----------
    layers : of `engine.muler.taggers.LAYERS`; nothing else of the model is run.
    progress : in characters of the texts that have to be tagged.

    Raises
    ------
    InputError : the tagger's model cannot be loaded.
    """
    distinct = tuple(dict.fromkeys(texts))
    layers = [layer for layer in layers if tagger.tags]
    known: dict[str, dict[str, Piece]] = {layer: _stored(distinct, tagger, layer, store) for layer in layers}
    if not layers:
        known[_TOKENS] = {}
    groups: dict[tuple[str, ...], list[str]] = {}
    for text in distinct:
        missing = tuple(layer for layer in known if text not in known[layer])
        if missing:
            groups.setdefault(missing, []).append(text)
    total = sum(len(text) + 1 for group in groups.values() for text in group)
    done = 0
    for missing, group in groups.items():
        for first in range(0, len(group), _BATCH):
            batch = group[first : first + _BATCH]
            progress(done, total)
            _tag_batch(batch, tagger, missing, known, store)
            done += sum(len(text) + 1 for text in batch)
    progress(1, 1)
    return _assemble(distinct, known, tagger)


def _stored(texts: Sequence[str], tagger: Tagger, layer: str, store: Store | None) -> dict[str, Piece]:
    if store is None:
        return {}
    keys = _keys(texts, tagger, layer)
    pieces = store.get_pieces(keys.values())
    return {text: pieces[key] for text, key in keys.items() if key in pieces}


def _keys(texts: Iterable[str], tagger: Tagger, layer: str) -> dict[str, str]:
    """The key of each text's piece."""
    base = Store.piece_key("muler tags", _VERSION, tagger.identity, layer).encode()
    return {text: blake2b(base + text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest() for text in texts}


def _tag_batch(
    texts: list[str], tagger: Tagger, layers: Sequence[str], known: dict[str, dict[str, Piece]], store: Store | None
) -> None:
    tagged = run_tagger(tagger, texts, [layer for layer in layers if layer != _TOKENS])
    for layer in layers:
        fresh = {text: _pack(item, layer) for text, item in zip(texts, tagged, strict=True)}
        known[layer].update(fresh)
        if store is not None and tagger.tags:
            keys = _keys(texts, tagger, layer)
            store.put_pieces({keys[text]: piece for text, piece in fresh.items()})


def _pack(item: TaggedText, layer: str) -> Piece:
    """One array int32[n, 3 + c]: first character, the one after the last, flags, then a code for each kind of name."""
    columns, facts = [item.tokens], {}
    for kind, names in zip(_KINDS[layer], (item.pos, item.morph) if layer == SYNTAX else (item.entities,)):
        numbers: dict[str, int] = {}
        columns.append(np.array([[numbers.setdefault(name, len(numbers))] for name in names], np.int32).reshape(-1, 1))
        facts[kind] = list(numbers)
    return Piece({"tags": np.hstack(columns)}, facts)


def _assemble(texts: tuple[str, ...], known: Mapping[str, Mapping[str, Piece]], tagger: Tagger) -> TaggedTexts:
    layers = sorted(known, key=lambda layer: layer != SYNTAX)  # flags that come from tags are complete only there
    tables = {}
    for layer in layers:
        pieces = [known[layer][text] for text in texts]
        tables[layer] = np.concatenate([np.empty((0, 3 + len(_KINDS[layer])), np.int32), *(piece["tags"] for piece in pieces)])
    first = known[layers[0]]
    lengths = [len(first[text]["tags"]) for text in texts]
    start, end, flags = np.ascontiguousarray(tables[layers[0]][:, :3].T)
    codes: dict[str, Any] = {}
    for layer, kinds in ((SYNTAX, _KINDS[SYNTAX]), (ENTITIES, _KINDS[ENTITIES])):
        for column, kind in enumerate(kinds, 3):
            codes[kind], codes[f"{kind}_names"] = np.zeros(len(start), np.int32), ("",)
            if layer in known:
                names = [known[layer][text].facts[kind] for text in texts]
                codes[kind], codes[f"{kind}_names"] = _merge(tables[layer][:, column], names, lengths)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return TaggedTexts(texts, offsets, start, end, flags, tagger=tagger, **codes)


def _merge(own: np.ndarray, names: Sequence[list[str]], lengths: Sequence[int]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Codes that count through each text's own names, int32[n_tokens], as codes of one list of names."""
    numbers: dict[str, int] = {"": 0}
    table = np.array([numbers.setdefault(name, len(numbers)) for of in names for name in of], np.int32)
    starts = np.concatenate([[0], np.cumsum([len(of) for of in names])]).astype(np.int64)
    place = np.repeat(starts[:-1], lengths) + own
    return table[place] if len(place) else np.zeros(0, np.int32), tuple(numbers)

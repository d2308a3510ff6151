"""Tagged texts: distinct texts as arrays of tokens, tagged once and kept in the store by content."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.muler.taggers import ENTITIES, SYNTAX, TaggedText, Tagger, run_tagger
from engine.progress import Progress, silent
from engine.scoring.pieces import Piece
from engine.scoring.store import Store

_VERSION = 1  # part of the keys; changes when the same text gets other tags
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
        known["tokens"] = {}
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
    keys = {text: _key(text, tagger, layer) for text in texts}
    pieces = store.get_pieces(keys.values())
    return {text: pieces[key] for text, key in keys.items() if key in pieces}


def _key(text: str, tagger: Tagger, layer: str) -> str:
    return Store.piece_key("muler tags", _VERSION, tagger.identity, layer, text)


def _tag_batch(
    texts: list[str], tagger: Tagger, layers: Sequence[str], known: dict[str, dict[str, Piece]], store: Store | None
) -> None:
    tagged = run_tagger(tagger, texts, [layer for layer in layers if layer != "tokens"])
    fresh: dict[str, Piece] = {}
    for text, item in zip(texts, tagged, strict=True):
        for layer in layers:
            piece = known[layer][text] = _pack(item, layer)
            fresh[_key(text, tagger, layer)] = piece
    if store is not None and tagger.tags:
        store.put_pieces(fresh)


def _pack(item: TaggedText, layer: str) -> Piece:
    if layer == SYNTAX:
        pos, pos_names = _number(item.pos)
        morph, morph_names = _number(item.morph)
        return Piece({"tokens": item.tokens, "pos": pos, "morph": morph}, {"pos": pos_names, "morph": morph_names})
    if layer == ENTITIES:
        entity, names = _number(item.entities)
        return Piece({"tokens": item.tokens, "entity": entity}, {"entity": names})
    return Piece({"tokens": item.tokens})


def _number(names: Sequence[str]) -> tuple[np.ndarray, list[str]]:
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int32), list(numbers)


def _assemble(texts: tuple[str, ...], known: Mapping[str, Mapping[str, Piece]], tagger: Tagger) -> TaggedTexts:
    first = [next(iter(known.values()))[text] for text in texts]
    lengths = [len(piece["tokens"]) for piece in first]
    tokens = np.concatenate([np.empty((0, 3), np.int32), *(piece["tokens"] for piece in first)])
    if SYNTAX in known:  # flags that come from tags are complete only there
        tokens[:, 2] = np.concatenate([np.empty(0, np.int32), *(known[SYNTAX][text]["tokens"][:, 2] for text in texts)])
    codes = {}
    for name, layer in (("pos", SYNTAX), ("morph", SYNTAX), ("entity", ENTITIES)):
        codes[name], codes[f"{name}_names"] = _merge(
            [known[layer][text] for text in texts] if layer in known else None, name, lengths
        )
    start, end, flags = np.ascontiguousarray(tokens.T)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return TaggedTexts(texts, offsets, start, end, flags, tagger=tagger, **codes)


def _merge(pieces: Sequence[Piece] | None, name: str, lengths: Sequence[int]) -> tuple[np.ndarray, tuple[str, ...]]:
    """The codes of all texts with one list of names."""
    if pieces is None:
        return np.zeros(sum(lengths), np.int32), ("",)
    numbers: dict[str, int] = {"": 0}
    parts = [np.empty(0, np.int32)]
    for piece in pieces:
        table = np.array([numbers.setdefault(item, len(numbers)) for item in piece.facts[name]], np.int32)
        parts.append(table[piece[name]] if len(table) else piece[name])
    return np.concatenate(parts), tuple(numbers)

"""BLEU of masked texts: token ids once, masked words exchanged, oracle and anti-oracle counted in one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from engine.metrics.bleu import Bleu
from engine.muler.masks import fill, template_of
from engine.muler.spans import SpanFinder
from engine.muler.styles import bleu_tokens
from engine.muler.tagging import TaggedTexts
from engine.muler.words import Words, alike, masked_words

_UNKNOWN = -1
_MARKS = frozenset('!"#$%()*+/:;=?@[\\]^_`{|}~.,')


class BleuMasker:
    """Statistics of masked texts under BLEU, equal to those of the texts with the masks written out.

    Parameters
    ----------
    metric : BLEU with a tokenizer that looks at one word at a time (see `can_mask`).
    finder : of the texts.
    mask_word : a word that occurs in no text.
    words : the words of the texts; they must be regular.
    tokens : see `template_of`.
    """

    def __init__(
        self,
        metric: Bleu,
        finder: SpanFinder,
        mask_word: str,
        words: Words,
        tokens: Callable[[str], Sequence[str]] | None = None,
    ) -> None:
        self._finder = finder
        self._mask_word = mask_word
        self._split = tokens
        self._known: dict[str, str] = {}  # what stands for a span
        self._order = metric.options.max_ngram_order
        self._forms = Forms(metric, mask_word)
        cuts = _cuts(words, finder, self._forms)
        self._whole = _Layout(words, self._forms, mask_word)
        self._parts = _Layout(Words(finder.tagged, cuts), self._forms, mask_word)

    @staticmethod
    def can_mask(metric: Bleu) -> bool:
        """Whether the tokenizer can be trusted to see each word by itself."""
        return metric.tokenizer.pieces is not None or metric.tokenizer.name in ("none", "char")

    def masked(self, mask: np.ndarray, entities: bool) -> MaskedForms:
        """All words with the tokens in `mask` (bool[n_tokens]) masked."""
        mask = self._finder.extended(mask)
        joined = self._finder.joined(mask, entities)
        spaces = self._finder.spaces(mask, joined)
        layout = self._whole if entities else self._parts  # masks of entities may reach over a cut
        words, types = layout.words, layout.words.types
        changed, bits = words.changed(mask)
        single = words.single[changed]
        alone, others = changed[single], changed[~single]
        forms = layout.plain.copy()
        unknown, example = np.unique(types[alone[layout.masked[types[alone]] == _UNKNOWN]], return_index=True)
        if len(unknown):
            example = alone[layout.masked[types[alone]] == _UNKNOWN][example]
            layout.masked[unknown] = self._masked_forms(words, example, mask, joined, spaces)
        forms[alone] = layout.masked[types[alone]]
        if len(others):
            example, group = alike(types[others], bits[~single])
            forms[others] = self._masked_forms(words, others[example], mask, joined, spaces)[group]
        return MaskedForms(forms, words.spans)

    def statistics(
        self, masked: MaskedForms, hypotheses: np.ndarray, groups: np.ndarray, members: np.ndarray, offsets: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Statistics under the oracle and under the anti-oracle, float64[n, 2 + 2 · order] each, in the layout of `Bleu`.

        Parameters
        ----------
        masked : what `masked` gives.
        hypotheses : int64[n], texts.
        groups : int64[n]; the references of group g are the texts `members[offsets[g]:offsets[g + 1]]`.
        members, offsets : int64.
        """
        from engine.muler.ngram_kernel import masked_matches

        order, spans = self._order, masked.spans
        tables = self._forms.tables()
        counts = masked_matches(*tables, masked.forms, spans, spans, members, offsets, hypotheses, groups, order)
        lengths = counts[:, 2 * order :]
        totals = np.maximum(lengths[:, :1] - np.arange(order), 0)
        oracle = np.concatenate([lengths, counts[:, :order], totals], axis=1, dtype=np.float64)
        anti = np.concatenate([lengths, counts[:, order : 2 * order], totals], axis=1, dtype=np.float64)
        return oracle, anti

    def _masked_forms(
        self, words: Words, chosen: np.ndarray, mask: np.ndarray, joined: np.ndarray, spaces: np.ndarray
    ) -> np.ndarray:
        """The forms of some words (int64[n]) once masked, int32[n]."""
        texts = masked_words(words, chosen, mask, joined, spaces, self._write)
        return np.array([self._forms.masked(text) for text in texts], np.int32)

    def _write(self, span: str) -> str:
        known = self._known.get(span)
        if known is None:
            known = self._known[span] = fill(template_of(span, self._split), self._mask_word)
        return known


@dataclass(frozen=True, eq=False)
class MaskedForms:
    """The form of each word, int32[n_words], and the words of each text, int64[n_texts, 2]."""

    forms: np.ndarray
    spans: np.ndarray


class Forms:
    """Distinct ways in which words look, as token ids; equal tokens have equal ids."""

    def __init__(self, metric: Bleu, mask_word: str) -> None:
        self._metric = metric
        self._mask_characters = frozenset(mask_word)
        self._ids: dict[str, int] = {}
        self._mask_ids: set[int] = set()
        self._numbers: dict[str, int] = {}
        self._is_13a = metric.tokenizer.name == "13a" and not metric.options.lowercase
        self._tokens: list[int] = []
        self._offsets: list[int] = [0]
        self._arrays = (np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0, bool))

    def masked(self, text: str) -> int:
        """The number of a form with masks: the tokens of a word, or of several where masks stand apart."""
        number = self._numbers.get(text)
        return self._add(text, bleu_tokens(self._metric, text), masked=True) if number is None else number

    def numbers(self, texts: Sequence[str]) -> np.ndarray:
        """The numbers of forms that hold no mask, int32[n]."""
        numbers, ids, tokens, offsets, is_13a = self._numbers, self._ids, self._tokens, self._offsets, self._is_13a
        found = np.empty(len(texts), np.int32)
        for place, text in enumerate(texts):
            number = numbers.get(text)
            if number is None:
                if is_13a and text.isalnum():  # most words: their own token, whatever the rules
                    number = numbers[text] = len(numbers)
                    tokens.append(ids.setdefault(text, len(ids)))
                    offsets.append(len(tokens))
                else:
                    number = self._add(text, bleu_tokens(self._metric, text))
            found[place] = number
        return found

    def cut(self, parts: list[str]) -> bool:
        """Whether the tokens of a word are those of its parts."""
        text = "".join(parts)
        if self._is_13a and all(part in _MARKS or part.isalnum() for part in parts):
            if text not in self._numbers:
                self._add(text, parts)  # these are what the rules of mteval-v13a separate, and nothing else
            return True
        pieces = bleu_tokens(self._metric, text)
        return [piece for part in parts for piece in bleu_tokens(self._metric, part)] == pieces

    def _add(self, text: str, pieces: Sequence[str], masked: bool = False) -> int:
        number = self._numbers[text] = len(self._numbers)
        ids, tokens = self._ids, self._tokens
        for piece in pieces:
            token = ids.setdefault(piece, len(ids))
            tokens.append(token)
            if masked and not self._mask_characters.isdisjoint(piece):
                self._mask_ids.add(token)
        self._offsets.append(len(tokens))
        return number

    def tables(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Token ids, where each form's begin, and which tokens hold a mask; only what is new is converted."""
        tokens, offsets, is_mask = self._arrays
        if len(offsets) != len(self._offsets):
            tokens = np.append(tokens, np.array(self._tokens[len(tokens) :], np.int32))
            offsets = np.append(offsets, np.array(self._offsets[len(offsets) :], np.int64))
            is_mask = np.zeros(len(self._ids), bool)
            is_mask[list(self._mask_ids)] = True
            self._arrays = tokens, offsets, is_mask
        return self._arrays


class _Layout:
    """Words and their forms.

    Attributes
    ----------
    plain : int32[n_words], the form of each word as it is.
    masked : int32[n_types], the masked form of words of one token, whatever the feature; `_UNKNOWN` until it is needed.
    """

    def __init__(self, words: Words, forms: Forms, mask_word: str) -> None:
        self.words = words
        types, examples, inverse = np.unique(words.types, return_index=True, return_inverse=True)
        own = words.tagged.forms  # types of one token are numbered like these
        single = int(np.searchsorted(types, len(own)))
        texts = [own[kind] for kind in types[:single].tolist()] + words.written(examples[single:])
        self.plain = forms.numbers(texts)[inverse]
        self.masked = np.full(int(types.max(initial=-1)) + 1, _UNKNOWN, np.int32)
        self.masked[types[[text.isalnum() for text in texts]]] = forms.masked(mask_word)


def _cuts(words: Words, finder: SpanFinder, forms: Forms) -> np.ndarray:
    """Where words can be cut so that the tokens of the parts are the tokens of the whole, bool[n_tokens]."""
    tagged, cuts = finder.tagged, finder.seam.copy()
    cut_words = np.unique(words.word_of[np.flatnonzero(cuts)])
    types, example = np.unique(words.types[cut_words], return_index=True)
    tokens, bounds = words.tokens(cut_words[example])
    rows = list(zip([tagged.forms[form] for form in tagged.form[tokens].tolist()], cuts[tokens].tolist()))
    broken = []
    for kind, first, last in zip(types.tolist(), bounds, bounds[1:]):
        parts = [rows[first][0]]
        for form, apart in rows[first + 1 : last]:
            if apart:
                parts.append(form)
            else:
                parts[-1] += form
        if not forms.cut(parts):
            broken.append(kind)
    if broken:
        whole = np.isin(words.types, broken)
        cuts &= ~whole[np.maximum(words.word_of, 0)]
    return cuts


def bleu_words(tagged: TaggedTexts) -> Words | None:
    """The words of the texts where `BleuMasker` can take them apart, else None."""
    words = Words(tagged)
    broken = any("-\n" in text for text in tagged.texts)  # mteval-v13a joins what a line end has hyphenated
    return words if words.regular and not broken else None

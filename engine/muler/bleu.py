"""BLEU of masked texts: token ids once, masked words exchanged, oracle and anti-oracle counted in one pass."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.metrics.bleu import Bleu
from engine.muler.masks import fill, template_of
from engine.muler.spans import SpanFinder
from engine.muler.styles import bleu_tokens
from engine.muler.tagging import TaggedTexts
from engine.muler.words import Words, masked_word


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
        self, metric: Bleu, finder: SpanFinder, mask_word: str, words: Words, tokens: Callable[[str], list[str]] | None = None
    ) -> None:
        self._metric = metric
        self._finder = finder
        self._mask_word = mask_word
        self._words = words
        self._split = tokens
        self._ids: dict[str, int] = {}
        self._is_mask: list[bool] = []
        self._forms: dict[str, int] = {}
        self._tokens: list[int] = []
        self._offsets: list[int] = [0]
        self._masked_types: dict[int, int] = {}
        self._arrays = (np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0, bool))
        self._plain = self._plain_forms()

    @staticmethod
    def can_mask(metric: Bleu) -> bool:
        """Whether the tokenizer can be trusted to see each word by itself."""
        return metric.tokenizer.pieces is not None or metric.tokenizer.name in ("none", "char")

    def masked(self, mask: np.ndarray, entities: bool) -> np.ndarray:
        """The forms of all words when the tokens in `mask` (bool[n_tokens]) are masked, int32[n_words]."""
        mask = self._finder.extended(mask)
        joined = self._finder.joined(mask, entities)
        spaces = self._finder.spaces(mask, joined)
        change = self._words.change(mask)
        types, single = self._words.types, self._words.last - self._words.first == 1
        changed = np.empty(len(change.examples), np.int32)
        for place, word in enumerate(change.examples.tolist()):
            known = self._masked_types.get(int(types[word])) if single[word] else None
            if known is None:
                known = self._form(masked_word(self._words, word, mask, joined, spaces, self._write))
                if single[word]:  # looks the same whatever the feature
                    self._masked_types[int(types[word])] = known
            changed[place] = known
        forms = self._plain.copy()
        forms[change.words] = changed[change.kinds]
        return forms

    def statistics(
        self, forms: np.ndarray, hypotheses: np.ndarray, groups: np.ndarray, members: np.ndarray, offsets: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Statistics under the oracle and under the anti-oracle, float64[n, 2 + 2 · order] each, in the layout of `Bleu`.

        Parameters
        ----------
        forms : what `masked` gives.
        hypotheses : int64[n], texts.
        groups : int64[n]; the references of group g are the texts `members[offsets[g]:offsets[g + 1]]`.
        members, offsets : int64.
        """
        from engine.muler.ngram_kernel import masked_matches

        order = self._metric.options.max_ngram_order
        counts = masked_matches(
            *self._tables(), forms,
            self._words.spans, self._words.spans, members, offsets, hypotheses, groups, order,
        )  # fmt: skip
        lengths = counts[:, 2 * order :]
        totals = np.maximum(lengths[:, :1] - np.arange(order), 0)
        oracle = np.concatenate([lengths, counts[:, :order], totals], axis=1, dtype=np.float64)
        anti = np.concatenate([lengths, counts[:, order : 2 * order], totals], axis=1, dtype=np.float64)
        return oracle, anti

    def _tables(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Token ids, where each form's begin, and which tokens hold a mask; only what is new is converted."""
        tokens, offsets, is_mask = self._arrays
        if len(offsets) != len(self._offsets):
            tokens = np.append(tokens, np.array(self._tokens[len(tokens) :], np.int32))
            offsets = np.append(offsets, np.array(self._offsets[len(offsets) :], np.int64))
            is_mask = np.append(is_mask, np.array(self._is_mask[len(is_mask) :], bool))
            self._arrays = tokens, offsets, is_mask
        return self._arrays

    def _write(self, span: str) -> str:
        return fill(template_of(span, self._split), self._mask_word)

    def _plain_forms(self) -> np.ndarray:
        types, example = np.unique(self._words.types, return_index=True)
        known = np.array([self._form(self._words.text(word)) for word in example.tolist()], np.int32)
        return known[np.searchsorted(types, self._words.types)] if len(types) else np.empty(0, np.int32)

    def _form(self, text: str) -> int:
        """The number of a form, made of the tokens that the tokenizer gives for a word (or two, where a mask stands apart)."""
        number = self._forms.get(text)
        if number is None:
            number = self._forms[text] = len(self._forms)
            for piece in bleu_tokens(self._metric, text):
                token = self._ids.setdefault(piece, len(self._ids))
                if token == len(self._is_mask):
                    self._is_mask.append(any(character in piece for character in self._mask_word))
                self._tokens.append(token)
            self._offsets.append(len(self._tokens))
        return number


def bleu_words(tagged: TaggedTexts) -> Words | None:
    """The words of the texts where `BleuMasker` can take them apart, else None."""
    words = Words(tagged)
    broken = any("-\n" in text for text in tagged.texts)  # mteval-v13a joins what a line end has hyphenated
    return words if words.regular and not broken else None

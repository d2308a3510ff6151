"""Texts as numbers: words and characters cut natively, against Python's own cutting."""

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from lexical_texts import any_texts

from engine.metrics.kernels.words import SPACES
from engine.metrics.lexical import character_ids, token_ids, word_ids
from engine.metrics.tokenizers import tokenizer


def renumbered(ids: np.ndarray) -> list[int]:
    """The same numbers in order of appearance."""
    order: dict[int, int] = {}
    return [order.setdefault(number, len(order)) for number in ids.tolist()]


def same(left, right) -> bool:
    offsets = np.array_equal(left.offsets, right.offsets)
    return offsets and left.ids.dtype == right.ids.dtype and renumbered(left.ids) == renumbered(right.ids)


def test_white_space_is_what_python_takes_for_it():
    assert [code for code in range(0x110000) if chr(code).isspace()] == np.flatnonzero(SPACES).tolist()


@settings(max_examples=300, deadline=None)
@given(st.lists(any_texts, max_size=6))
def test_words_are_cut_and_numbered_as_in_python(texts):
    plain = tokenizer("13a")
    assert same(word_ids(texts), token_ids([text.split() for text in texts]))
    assert same(word_ids(texts, plain.pieces), token_ids([text.split() for text in texts], plain.pieces))
    assert same(character_ids(texts, spaces=False), character_ids(["".join(text.split()) for text in texts]))


def test_many_words_of_every_length_and_script():
    rng = random.Random(0)
    alphabet = "abcdeäß日本\x00\x7f\x7e😀"
    texts = [
        " ".join("".join(rng.choices(alphabet, k=rng.randint(1, 14))) for _ in range(rng.randint(0, 60))) for _ in range(3000)
    ]
    texts += ["", " ", "x" * 200_000, " ".join(map(str, range(50_000)))]
    assert same(word_ids(texts), token_ids([text.split() for text in texts]))


def test_words_that_differ_in_one_place_or_by_a_nul_are_told_apart():
    words = ["a", "a\x00", "\x00a", "\x00", "\x00\x00", "abcdefghi", "abcdefghij", "abcdefghik", "\x7f", "\x7e", "é", "e\u0301"]
    assert word_ids([" ".join(words)]).ids.tolist() == list(range(len(words)))


@given(st.text(max_size=12))
def test_a_word_of_letters_and_digits_is_one_token(word):
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    whole = "".join(character for character in word if character.isalnum()) or "x"
    assert tokenizer("13a").pieces(whole) == Tokenizer13a()(whole).split() == [whole]

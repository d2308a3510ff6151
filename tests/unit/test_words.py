"""Words and masked texts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.explain.words import count_words, rebuild, rebuild_many, split_words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  \t\n", []),
        ("one", ["one"]),
        ("Hello,  world !", ["Hello,", "world", "!"]),
        ("a\u00a0b\u2028c\u3000d\x85e\x1cf", ["a", "b", "c", "d", "e", "f"]),
        ("l’été naïve e\u0301te\u0301", ["l’été", "naïve", "e\u0301te\u0301"]),
        ("저는 학생입니다.", ["저는", "학생입니다."]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("日本語", ["日", "本", "語"]),
        ("私はPythonが好きです。", ["私", "は", "Python", "が", "好", "き", "で", "す", "。"]),
        ("2024年3月 Mr. Smith、東京", ["2024", "年", "3", "月", "Mr.", "Smith", "、", "東", "京"]),
        ("か\u3099カﾞー々", ["か\u3099", "カﾞ", "ー", "々"]),
        ("ＡＢＣ１２！", ["ＡＢＣ１２", "！"]),
        ("สวัสดี", ["ส", "วั", "ส", "ดี"]),
        ("ខ្ញុំ\u200bស្រឡាញ់", None),
        ("မြန်မာ", None),
        ("😀😀 👩‍👩‍👧 ok", ["😀😀", "👩‍👩‍👧", "ok"]),
        ("𠮷野家", ["𠮷", "野", "家"]),
        ("a\x00b \x00", ["a\x00b", "\x00"]),
    ],
)
def test_split(text: str, expected: list[str] | None) -> None:
    words = split_words(text)
    if expected is not None:
        assert [word.text for word in words] == expected
    else:
        assert len(words) > 1
    assert all(text[word.start : word.end] == word.text for word in words)
    assert count_words(text) == len(words)


def test_khmer_words_are_grapheme_clusters_and_the_zero_width_space_separates() -> None:
    words = [word.text for word in split_words("កា\u200bខែ")]
    assert words == ["កា", "ខែ"]


MASKED = [
    # text, words kept, mask word, separators, expected
    ("a b c", [1, 0, 1], "X", "drop", "a X c"),
    ("a  b\tc ", [0, 0, 1], "X", "drop", "X  X\tc "),
    ("a b c", [1, 0, 1], "", "drop", "a c"),
    ("a b c", [1, 0, 1], "", "keep", "a  c"),
    ("a b c", [0, 1, 1], "", "drop", "b c"),
    ("a b c", [0, 1, 1], "", "keep", " b c"),
    ("a b c", [1, 1, 0], "", "drop", "a b"),
    ("a b c", [1, 1, 0], "", "keep", "a b "),
    ("a b\tc  d", [1, 0, 0, 1], "", "drop", "a  d"),
    ("a b\tc  d", [0, 0, 1, 0], "", "drop", "c"),
    (" a b\n", [0, 0], "", "drop", " \n"),
    (" a b\n", [0, 0], "", "keep", "  \n"),
    (" a b\n", [0, 0], "X", "keep", " X X\n"),
    ("日本 go", [1, 0, 1], "X", "drop", "日X go"),
    ("日本 go", [1, 0, 1], "", "drop", "日 go"),
    ("日本 go", [1, 1, 0], "", "drop", "日本"),
]


@pytest.mark.parametrize(("text", "keep", "mask", "separators", "expected"), MASKED)
def test_rebuild(text: str, keep: list[int], mask: str, separators: str, expected: str) -> None:
    assert rebuild(text, split_words(text), keep, mask, separators) == expected


ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=())) | st.text(
    "ab \u3000\n日かสวัខ្\u200b\u0301\u200d😀\x00\u2028", max_size=60
)


@given(ANY_TEXT, st.sampled_from(["X", ""]), st.sampled_from(["drop", "keep"]), st.randoms(use_true_random=False))
def test_any_text_is_rebuilt(text: str, mask: str, separators: str, random) -> None:
    words = split_words(text)
    assert all(word.text and text[word.start : word.end] == word.text for word in words)
    between = [text[a.end : b.start] for a, b in zip(words, words[1:])]
    outside = [text[: words[0].start], text[words[-1].end :]] if words else [text]
    assert all(gap == "" or gap.replace("\u200b", " ").isspace() for gap in between + outside)
    keep = np.array([[True] * len(words), [random.random() < 0.5 for _ in words], [False] * len(words)], dtype=bool)
    whole, some, none = rebuild_many(text, words, keep, mask, separators)
    assert whole == text
    if mask or separators == "keep":
        length = len(text) + sum(len(mask) - len(word.text) for word, stays in zip(words, keep[1]) if not stays)
        assert len(some) == length
    kept = [word.text for word, stays in zip(words, keep[1]) if stays]
    at = 0
    for word in kept:
        at = some.index(word, at) + len(word)
    if words and not mask:
        assert none == ("".join(outside) if separators == "drop" else outside[0] + "".join(between) + outside[1])

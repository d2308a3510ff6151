"""Languages: codes, names, guesses from file names and texts, and how scripts write words."""

import pytest

from engine.corpus.languages import (
    NAMES,
    code,
    guess_language,
    is_rtl,
    language_of_suffix,
    languages_from_name,
    name,
    writes_spaces,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("de", "de"), ("DE", "de"), ("deu", "de"), ("de_DE", "de"), ("German", "de"), ("zho", "zh"), ("chinese_simple", "zh"),
     ("any", None), ("", None), (None, None)],
)  # fmt: skip
def test_codes(text, expected):
    assert code(text) == expected


def test_names():
    assert name("xh") == "Xhosa"
    assert name(None) == "unknown"
    assert name("qqq") == "qqq"
    assert all(len(key) == 2 for key in NAMES)


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("newstest2019.Facebook_FAIR.6750.de-en", ("de", "en")),
        ("xh-zu.txt", ("xh", "zu")),
        ("newstest2017-enfi_hyp.sgm", ("en", "fi")),
        ("qe/et-en-dev/dev.mt", ("et", "en")),
        ("zh2en.csv", ("zh", "en")),
        ("de_DE-en_US.tsv", ("de", "en")),
        ("no-mqm.txt", (None, None)),
        ("my_out.txt", (None, None)),
        ("test.base.data", (None, None)),
        ("en-en.txt", (None, None)),
    ],
)
def test_languages_from_names(file, expected):
    assert languages_from_name(file) == expected


def test_language_of_a_suffix():
    assert language_of_suffix("newstest2019-deen-ref.en") == "en"
    assert language_of_suffix("test21.mt") is None  # machine translation, not Maltese
    assert language_of_suffix("plain") is None


@pytest.mark.parametrize("text", ["日本語の文です", "ฉันรักแมวมาก", "ខ្ញុំស្រឡាញ់ឆ្មា", "ພາສາລາວ", "မြန်မာ", "东京 Tokyo 都是城市吗"])
def test_scripts_without_spaces(text):
    assert not writes_spaces(text)


@pytest.mark.parametrize(
    "text", ["plain words", "한국어 문장", "Не нужно", "مرحبا بالعالم", "the city of 東京 is large", "", "123 !?"]
)
def test_scripts_with_spaces(text):
    assert writes_spaces(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("שלום", True),
        ("مرحبا", True),
        ("123 (a)", False),
        ("12 שלום abc", True),
        ("abc שלום", False),
        ("", False),
        ("。！", False),
    ],
)
def test_right_to_left_follows_the_first_strong_character(text, expected):
    assert is_rtl(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The house that they built was in the middle of the town and it was not for sale.", "en"),
        ("Das Haus, das sie gebaut haben, steht in der Mitte der Stadt und ist nicht zu verkaufen.", "de"),
        ("La maison que nous avons vue est dans le centre de la ville et elle est à vendre.", "fr"),
        ("東京タワーは、日本の東京都港区芝公園にある総合電波塔です。" * 2, "ja"),
        ("我希望大家能花点时间考虑一个非常简单的事实那就是，这是真的。" * 2, "zh"),
        ("Временно исполняющий обязанности губернатора призвал не демонизировать жителей края, выступив вчера.", "ru"),
        ("나는 한국어를 공부합니다 오늘 날씨가 매우 좋습니다 그래서 공원에 가고 싶습니다 친구들과 함께 가겠습니다", "ko"),
        ("blah", None),
        ("xyzzy frobnicate quux garply waldo fred plugh thud corge grault foobar bazbar quuxly", None),
    ],
)
def test_languages_from_texts(text, expected):
    assert guess_language([None, text]) == expected

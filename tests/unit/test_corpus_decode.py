"""From bytes to lines: encodings, byte order marks, line ends."""

import random

import pytest
from corpus_files import read as read_file
from corpus_files import read_files, refusal

from engine.corpus.decode import decode, report_newlines, split_lines
from engine.corpus.findings import Findings


def read(data: bytes) -> tuple[str, dict[str, object]]:
    findings = Findings()
    text = decode(data, "file.txt", findings)
    return text, {finding.kind: finding for finding in findings.done()}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("\n", [""]),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\n\n", ["a", ""]),
        ("a\r\nb\r\n", ["a", "b"]),
        ("a\r\r\nb", ["a\r", "b"]),
        ("a\rb\n", ["a\rb"]),
        ("a\x85b\u2028c\x0bd\x0ce\n", ["a\x85b\u2028c\x0bd\x0ce"]),
        ("a\n\ufeffb\n", ["a", "\ufeffb"]),
    ],
)
def test_lines_end_at_line_feeds_only(text, lines):
    assert split_lines(text) == lines


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_marks_are_removed_and_reported(encoding):
    text, found = read("Käse\nBrot\n".encode(encoding))
    assert text == "Käse\nBrot\n"
    assert found["bom"].line == 1


def test_utf16_without_mark():
    text, found = read("hello there\nmy friend\n".encode("utf-16-le"))
    assert text == "hello there\nmy friend\n"
    assert "UTF-16" in found["encoding"].message


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "Straße für den Bären – „gut“\n"),
        ("cp1252", "Bär\n"),
        ("cp1252", "¿Cómo estás, señor? El niño está aquí\n"),
        ("cp1250", "Klasické soupravy složené z vagonů a tažené lokomotivou se v posledních letech objevují\n"),
        ("cp1250", "Zażółć gęślą jaźń, wiele osób uważa, że to jest świetne\n"),
        ("cp1254", "Şirket müşterilerine daha iyi hizmet vermek için yeni bir şube açtı\n"),
        ("cp1251", "Не нужно демонизировать народ Хабаровска, сказал временно исполняющий обязанности\n"),
        ("koi8_r", "Не нужно демонизировать народ Хабаровска, сказал временно исполняющий обязанности\n"),
        ("gb18030", "我希望大家能花点时间考虑一个非常简单的事实那就是我们对宇宙的大部分了解都来自于光\n"),
        ("shift_jis", "東京タワー（とうきょうタワー）は、日本の東京都港区芝公園にある総合電波塔である。\n"),
        ("euc_kr", "나는 한국어를 공부합니다. 오늘 날씨가 매우 좋습니다.\n"),
    ],
)
def test_legacy_encodings(encoding, text):
    decoded, found = read(("plain\n" + text).encode(encoding))
    assert decoded == "plain\n" + text
    assert found["encoding"].line == 2
    assert "UTF-8" in found["encoding"].remedy


def test_the_encoding_that_xml_declares_is_used():
    text, found = read("<?xml version='1.0' encoding='ISO-8859-2'?><a>ł</a>".encode("iso-8859-2"))
    assert "ł" in text
    assert not found


def test_damaged_utf8_keeps_its_lines():
    text, found = read("Käse\n".encode() + b"bad \xff\xfe here\n" + "größer\n".encode() * 3)
    assert split_lines(text)[1] == "bad \ufffd\ufffd here"
    assert found["invalid-bytes"].line == 2
    assert "encoding" not in found


def test_characters_in_two_halves():
    text, found = read(b"ok\n" + "\ud83d\ude00 fine\n".encode("utf-8", "surrogatepass"))
    assert text == "ok\n😀 fine\n"
    assert found["encoding"].line == 2
    text, found = read("\ud83d alone\n".encode("utf-8", "surrogatepass"))
    assert text == "\ufffd alone\n"
    assert found["half-characters"].line == 1


def newlines(text: str) -> dict[str, object]:
    findings = Findings()
    report_newlines(text, "file.txt", findings)
    return {finding.kind: finding for finding in findings.done()}


def test_newlines_are_reported():
    assert newlines("a\nb\n") == {}
    assert newlines("a\r\nb\r\n")["newlines"].severity == "note"
    mixed = newlines("a\r\nb\r\nc\nd\n")["newlines"]
    assert mixed.line == 3
    assert "2 lines end in CRLF and 2 in LF" in mixed.message
    lone = newlines("a\nb\rc\n")["lone-cr"]
    assert lone.line == 2
    assert "All line ends" in newlines("a\rb\rc")["lone-cr"].message


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize(
    "text",
    [
        "hello there\nmy friend\n",
        "Der Bär läuft über die Straße\nund ruht\n",
        "Не нужно ничего\nделать здесь\n",
        "我希望大家能花点时间\n考虑一个非常简单的事实那就是\n",
        "نحن هنا\nوأنتم هناك في البيت\n",
    ],
)
def test_wide_encodings_without_mark(encoding, text):
    decoded, found = read(text.encode(encoding))
    assert decoded == text
    assert found["encoding"].message.startswith(f"The file is {encoding[:6].upper()} without")
    assert "invalid-bytes" not in found


def test_a_stray_nul_makes_no_other_encoding_of_a_text():
    for text in (
        "a\x00b and so on, and so forth\n",
        "hello\n\x00\x00 there is more to say\n" * 9,
        "\x00" * 50 + "and a text " * 9,
    ):
        assert read(text.encode()) == (text, {})


@pytest.mark.parametrize("name", ["x.csv", "x.txt", "x"])
def test_random_bytes_are_no_text(name):
    for seed, size in ((0, 300), (1, 5_000), (2, 200_000)):
        finding = refusal(read_file(name, random.Random(seed).randbytes(size)))
        assert finding.kind in ("not-text", "binary")
        assert "UTF-8" in finding.remedy


def test_a_file_of_nothing_but_nuls_is_no_text():
    assert "100% of it are NUL" in refusal(read_file("x.txt", bytes(4096))).message
    part = read_files({"r": "a\n", "h": random.Random(3).randbytes(999)}, references=["r"], systems={"H": "h"})
    assert refusal(part).kind == "not-text"


def test_a_legacy_text_may_hold_a_few_control_characters():
    text = "Straße für den Bären \x01 und mehr davon\n" * 5
    assert read(text.encode("cp1252"))[0] == text

"""The import doctor: every kind of finding with file, line, message and remedy, grouped."""

import pandas as pd
import pytest
from corpus_files import corpus_of, kinds, read, read_files

from engine.corpus.check import COLUMNS, findings_frame
from engine.corpus.doctor import examine
from engine.corpus.types import Corpus, Finding

TEXTS = ["first line here", "second line there", "third one now"]


def check(hypothesis: list[str], source: list[str] = TEXTS, reference: list[str] = TEXTS, **more: str):
    files = {"s": "\n".join(source) + "\n", "r": "\n".join(reference) + "\n", "h": "\n".join(hypothesis) + "\n"} | more
    return kinds(read_files(files, source="s", references=["r"], systems={"H": "h"} | {name: name for name in more}))


@pytest.mark.parametrize(
    ("text", "kind", "severity"),
    [
        ("a\x00b", "nul", "warning"),
        ("a\x07b", "control-characters", "warning"),
        ("a\x9bb", "control-characters", "warning"),
        ("a\x0bb", "line-separators", "warning"),
        ("a\u2028b", "line-separators", "warning"),
        ("a\x85b", "line-separators", "warning"),
        ("a\rb", "lone-cr", "warning"),
        ("a\ufeffb", "inner-bom", "warning"),
        ("a\u200bb", "invisible-characters", "note"),
        ("a\u00adb", "invisible-characters", "note"),
        ("a\u202eb", "bidi-controls", "note"),
        ("a\ufffdb", "replacement-characters", "warning"),
        ("a UNKWORDZ b", "mask-words", "note"),
        ("a [MASK] b", "mask-words", "note"),
        ("a </s> b", "mask-words", "note"),
        ("a &quot; b", "character-references", "note"),
        ("cafe\u0301", "not-nfc", "note"),
        ("", "empty-lines", "warning"),
        ("  \u3000 ", "empty-lines", "warning"),
    ],
)
def test_characters(text, kind, severity):
    found = check(["x one", text, "y two"])[kind]
    assert (found.file, found.line, found.severity) == ("h", 2, severity)
    assert found.message.endswith(".")
    assert found.remedy.endswith(".")


def test_ordinary_texts_are_left_alone():
    texts = ["👩‍👩‍👧‍👦 🇩🇪", "naïve café — “quoted” … 5 < 6 & 7 > 2 [sic]", "می‌خواهم नमस्ते ไทย 日本"]
    found = check(texts)
    assert set(found) <= {"languages"}


def test_findings_are_grouped():
    found = check(["", "x one", ""] * 20, TEXTS * 20, TEXTS * 20)["empty-lines"]
    assert found.line == 1
    assert "40 texts" in found.message
    assert "lines 1, 3, 4, 6, 7 and 35 more" in found.message


def test_untranslated_copies():
    found = check([TEXTS[0], "x one", "y two"])["untranslated"]
    assert (found.line, found.severity) == (1, "warning")
    many = [f"line {i} of the text" for i in range(200)]
    hypothesis = [text.upper() for text in many]
    hypothesis[7] = many[7]
    assert check(hypothesis, many, [text.title() for text in many])["untranslated"].severity == "note"
    assert "untranslated" not in check(["1 2 3", "x one", "y two"], ["1 2 3", "a", "b"])  # numbers stay as they are


def test_identical_texts():
    found = check(["x one", "y two", "z three"], B="x one\ny two\nz three\n")["identical-systems"]
    assert "system H and system B" in found.message.replace("System", "system")
    assert "those of system H" in check(TEXTS, ["a b", "c d", "e f"])["equals-reference"].message
    loaded = read_files({"r": "a\nb\n", "q": "a\nb\n", "h": "c\nd\n"}, references=["r", "q"], systems={"H": "h"})
    assert "identical" in kinds(loaded)["identical-references"].message


def test_missing_references():
    found = check(["x one", "y two", "z three"], reference=["a b", "", "c d"])["missing-references"]
    assert (found.line, found.file, found.severity) == (2, "r", "warning")
    assert "no-references" in kinds(read("h.txt", "a\nb\n"))


def test_fillers_and_constant_scores():
    loaded = read("t.tsv", "src\tmt\tscore\nDUMMY\ta b\t1\nDUMMY\tc d\t1\nDUMMY\te f\t1\n")
    assert "DUMMY" in kinds(loaded)["constant-source"].message
    found = kinds(loaded)["constant-scores"]
    assert found.file == "t.tsv"
    assert "All 3 scores of criterion 'score' are 1" in found.message


def test_corpora_that_no_file_stands_behind():
    corpus = Corpus("made", {"A": ("x\x00", None)}, ((None,), ("r",)), sources=("s", "t"))
    found = {finding.kind: finding for finding in examine(corpus)}
    assert {"nul", "missing-outputs", "missing-references"} <= set(found)
    assert found["nul"].line is None
    assert found["nul"].file == "made"
    assert examine(Corpus("empty", {})) == ()


def test_findings_as_a_table():
    loaded = read("t.tsv", "src\tmt\na\tb\tc\n")
    frame = findings_frame(loaded.findings)
    assert tuple(frame.columns) == COLUMNS
    assert frame["line"].tolist() == [2]
    assert frame["severity"].tolist() == ["fatal"]
    empty = findings_frame([])
    assert tuple(empty.columns) == COLUMNS
    assert len(empty) == 0
    assert findings_frame([Finding("k", "f", None, "m", "r", "note")])["line"].isna().all()
    assert isinstance(frame, pd.DataFrame)
    latin = findings_frame([Finding("k", "gr\udcfcn.txt", 1, "gr\udcfcn.txt is odd.", "r", "note")])
    assert latin["file"].tolist() == ["gr\\udcfcn.txt"]


def test_fatal_findings_come_first():
    loaded = read("x.jsonl", '# note\n{"src":"a","mt":"b"}\n{"src":\n')
    assert [finding.severity for finding in loaded.findings][:2] == ["fatal", "warning"]


def test_a_clean_corpus_has_nothing_to_report():
    files = {"s": "ein Haus\nzwei Hunde\n", "r": "a house\ntwo dogs\n", "h": "one house\n2 dogs\n"}
    loaded = read_files(files, source="s", references=["r"], systems={"H": "h"}, languages=("de", "en"))
    assert loaded.findings == ()
    assert len(corpus_of(loaded)) == 2

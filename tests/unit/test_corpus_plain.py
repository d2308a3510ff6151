"""Parallel plain text: parts, unequal lengths, missing references, scores beside texts."""

import time

import pytest
from corpus_files import corpus_of, kinds, read, read_files, refusal, scores

from engine.corpus.read import Inputs, load
from engine.corpus.types import SYSTEM_LEVEL

TEXTS = {"src.txt": "ein\nzwei\ndrei\n", "ref.txt": "one\ntwo\nthree\n", "a.txt": "one\n2\n\n", "b.txt": "1\ntwo\nthree"}
PARTS = {"source": "src.txt", "references": ["ref.txt"], "systems": {"A": "a.txt", "B": "b.txt"}}


def test_parts_are_combined():
    corpus = corpus_of(read_files(TEXTS, **PARTS, languages=("de", "en")))
    assert corpus.sources == ("ein", "zwei", "drei")
    assert corpus.references == (("one",), ("two",), ("three",))
    assert corpus.systems == {"A": ("one", "2", ""), "B": ("1", "two", "three")}
    assert corpus.languages == ("de", "en")


def test_the_same_from_disk(tmp_path):
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    loaded = load(
        Inputs(
            source=tmp_path / "src.txt",
            references=(tmp_path / "ref.txt",),
            systems={"A": tmp_path / "a.txt", "B": tmp_path / "b.txt"},
        )
    )
    uploaded = read_files(TEXTS, **PARTS)
    assert corpus_of(loaded).hash == corpus_of(uploaded).hash
    assert corpus_of(load(Inputs(paths=(tmp_path,)))).systems == {"a": ("one", "2", ""), "b": ("1", "two", "three")}


def test_unequal_files_are_refused_with_counts_and_place():
    long = "".join(f"line number {i} about thing {i * 7}\n" for i in range(60))
    lines = long.splitlines(keepends=True)
    shifted = "".join(lines[:30] + ["\n"] + lines[30:])
    loaded = read_files(
        {"ref.txt": long, "a.txt": shifted, "b.txt": "".join(lines[:-1]), "c.txt": long},
        references=["ref.txt"],
        systems={"A": "a.txt", "B": "b.txt", "C": "c.txt"},
    )
    assert loaded.corpus is None
    found = {finding.file: finding for finding in loaded.findings if finding.kind == "unequal-lengths"}
    assert set(found) == {"a.txt", "b.txt"}
    assert found["a.txt"].line == pytest.approx(31, abs=1)
    assert "a.txt has 61 lines where ref.txt has 60" in found["a.txt"].message
    assert "ref.txt 60, a.txt 61, b.txt 59, c.txt 60" in found["a.txt"].message
    assert "ends early" in found["b.txt"].message.replace("end early", "ends early")
    assert any(finding.kind == "empty-lines" and finding.line == 31 for finding in loaded.findings)


def test_only_blank_lines_too_many():
    finding = refusal(read_files({"r": "a\nb\n", "h": "a\nb\n\n\n"}, references=["r"], systems={"H": "h"}))
    assert "only its blank last lines are too many" in finding.message
    assert finding.line == 3


def test_blank_lines_at_the_end_are_segments_and_reported():
    loaded = read_files({"r": "a\nb\n\n", "h": "a\nb\n\n"}, references=["r"], systems={"H": "h"})
    corpus = corpus_of(loaded)
    assert len(corpus) == 3
    assert corpus.systems["H"] == ("a", "b", "")
    assert corpus.references[2] == (None,)
    assert kinds(loaded)["blank-end"].line == 3


def test_gaps_in_references_are_missing_not_empty():
    corpus = corpus_of(read_files({"r": "a\nb\n", "s": "\n  \n", "h": "x\ny\n"}, references=["r", "s"], systems={"H": "h"}))
    assert corpus.references == (("a", None), ("b", None))
    assert corpus.segment(0, "H").references == ("a",)


@pytest.mark.parametrize("name", ["hyp.txt", "anything", "data.en"])
def test_a_single_text_file_is_one_system(name):
    corpus = corpus_of(read(name, "a, b; c\nd\n"))
    assert list(corpus.systems.values()) == [("a, b; c", "d")]
    assert corpus.references == ((), ())


def test_scores_by_line():
    files = {"a.txt": TEXTS["a.txt"], "da": "1\n\nNone\n"}
    corpus = corpus_of(read_files(files, systems={"A": "a.txt"}, scores={"da": "da"}))
    assert scores(corpus, "da") == {(0, "A"): 1.0}
    assert "higher" in corpus.criteria[0].provenance


def test_scores_by_system():
    given = "A\t1\nA\t2\nA\tNone\nB\t4\nB\t5\nB\t-6.5\n"
    corpus = corpus_of(read_files(TEXTS | {"s": given}, **PARTS, scores={"z": "s"}))
    assert scores(corpus, "z") == {(0, "A"): 1, (1, "A"): 2, (0, "B"): 4, (1, "B"): 5, (2, "B"): -6.5}


def test_scores_of_whole_systems_and_of_strangers():
    loaded = read_files(TEXTS | {"s": "A\t70.5\nB\t60\nC\t1\n"}, **PARTS, scores={"z": "s"})
    assert scores(corpus_of(loaded), "z") == {(SYSTEM_LEVEL, "A"): 70.5, (SYSTEM_LEVEL, "B"): 60}
    assert "C" in kinds(loaded)["unknown-systems"].message


def test_scores_by_segment_id():
    given = "system mqm_avg_score seg_id\nA\t-1.5 1\nA\tNone 2\nB\t-0.0 3\nB\t-2 9\n"
    loaded = read_files(TEXTS | {"s": given}, **PARTS, scores={"mqm": "s"})
    assert scores(corpus_of(loaded), "mqm") == {(0, "A"): -1.5, (2, "B"): 0.0}
    assert kinds(loaded)["unknown-segments"].line == 5


@pytest.mark.parametrize(
    "given",
    [
        "A\tB\n1\t4\n2\t\n3\t6\n",
        "system\tseg_id\tda\tfluency\nA\t1\t1\t9\nA\t2\t2\t9\nA\t3\t3\t9\nB\t3\t6\t9\nB\t1\t4\t9\n",
        "system,id,rating\nA,1,1\nA,2,2\nA,3,3\nB,3,6\nB,1,4\n",
    ],
)
def test_scores_in_tables(given):
    corpus = corpus_of(read_files(TEXTS | {"s": given}, **PARTS, scores={"da": "s"}))
    assert scores(corpus, "da") == {(0, "A"): 1, (1, "A"): 2, (2, "A"): 3, (0, "B"): 4, (2, "B"): 6}


def test_scores_under_a_heading_and_with_blank_lines():
    files = {"a.txt": TEXTS["a.txt"]}
    for given in ("score\n1\n2\n3\n", "1\n2\n3\n\n\n"):
        corpus = corpus_of(read_files(files | {"s": given}, systems={"A": "a.txt"}, scores={"da": "s"}))
        assert scores(corpus, "da") == {(0, "A"): 1, (1, "A"): 2, (2, "A"): 3}
    corpus = corpus_of(read_files(files | {"s": "1\n\n\n"}, systems={"A": "a.txt"}, scores={"da": "s"}))
    assert scores(corpus, "da") == {(0, "A"): 1}


def test_short_texts_with_numbers_are_texts():
    for text in ("Apollo 11\nGemini 8\n", "It is 5\nIt was 7\n"):
        assert len(corpus_of(read("a.txt", text))) == 2


@pytest.mark.parametrize(
    ("given", "systems", "kind"),
    [
        ("1\n2\n3\n4\n", {"A": "a.txt"}, "unequal-lengths"),
        ("1\n2\n3\n", {"A": "a.txt", "B": "b.txt"}, "whose-scores"),
        ("good\nbad\nugly\n", {"A": "a.txt"}, "no-scores"),
        ("A\t1\nA\t2\n", {"A": "a.txt"}, "unequal-lengths"),
    ],
)
def test_scores_that_do_not_fit_are_refused(given, systems, kind):
    files = {name: TEXTS[name] for name in systems.values()} | {"s": given}
    assert refusal(read_files(files, systems=systems, scores={"da": "s"})).kind == kind


def test_parts_added_to_a_table():
    table = "id\tsrc\tmt\n1\ta\tb\n2\tc\td\n"
    corpus = corpus_of(read_files({"t.tsv": table, "r": "x\ny\n", "h": "p\nq\n"}, references=["r"], systems={"H": "h"}))
    assert corpus.references == (("x",), ("y",))
    assert set(corpus.systems) == {"mt", "H"}
    assert refusal(read_files({"t.tsv": table, "r": "x\n"}, references=["r"])).kind == "unequal-lengths"
    assert refusal(read_files({"t.tsv": table, "s": "x\ny\n"}, source="s")).kind == "given-twice"


def test_nothing_to_read():
    assert refusal(read_files({})).kind == "nothing"
    assert refusal(load(Inputs())).kind == "nothing"
    assert refusal(load(Inputs(references=()), None)).severity == "fatal"


def test_a_table_given_as_a_part_is_pointed_out():
    loaded = read_files({"h": "a\tb\nc\td\ne\tf\ng\th\n"}, systems={"H": "h"})
    assert corpus_of(loaded).systems["H"][0] == "a\tb"
    assert kinds(loaded)["looks-like-table"].line == 1


@pytest.mark.parametrize("letter", [" ", "\t", "é", "a1", "<!", "<", "&", '"'])
def test_long_monotonous_files_are_read_at_once(letter):
    text = letter * 100_000
    start = time.process_time()
    assert corpus_of(read("x.txt", text)).systems["x"] == (text,)
    assert time.process_time() - start < 10


def test_counts_of_one_are_written_in_the_singular():
    loaded = read_files({"r": "a\n", "h": "b\n", "s": "1\n2\n"}, references=["r"], systems={"H": "h"}, scores={"q": "s"})
    assert "2 scores for 1 segment." in refusal(loaded).message
    two = read_files(
        {"r": "a\n", "h": "b\n", "g": "c\n", "s": "1\n"}, references=["r"], systems={"H": "h", "G": "g"}, scores={"q": "s"}
    )
    assert "1 score without system names, and the corpus has 2 systems" in refusal(two).message
    assert "(1 system, 2 segments)" in kinds(read("x.seg.score", "A\t1\nA\t2\n"))["no-texts"].message

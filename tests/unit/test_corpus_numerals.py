"""Numbers as people write them."""

import math

import pytest
from corpus_files import corpus_of, kinds, read, read_files, refusal, scores

from engine.corpus.numerals import number, numbers

NONE = [None]


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["0.5", "1", "85%"], [0.5, 1, 85]),
        (["0,5", "1", "2,25"], [0.5, 1, 2.25]),
        (["1,234.5", "12", "1,234"], [1234.5, 12, 1234]),
        (["1.234,5", "12", "1.234"], [1234.5, 12, 1234]),
        (["1,234,567", "1,000"], [1234567, 1000]),
        (["1.234.567", "1.000"], [1234567, 1000]),
        (["0,875", "1,000"], [0.875, 1]),
        (["0.875", "1.000"], [0.875, 1]),
        (["1.234", "2.345"], [1.234, 2.345]),
        (["1,5e-3", "2"], [0.0015, 2]),
        (["\u22121,5", "+2,5", "-3"], [-1.5, 2.5, -3]),
        (["1 234,5", "1\u00a0234", "7"], [1234.5, 1234, 7]),
        (["1'234.5", "12"], [1234.5, 12]),
        ([60, "61,5", 3.5], [60, 61.5, 3.5]),
        (["0,5", "words", "1,2,3"], [0.5, None, None]),
        (["12,34,56", "1,23.4", "1_000"], NONE * 3),
    ],
)
def test_columns_that_are_certain(cells, values):
    found = numbers(cells)
    assert found.values == values
    assert not (found.unsure or found.mixed or found.guessed)
    assert found.wrong == [row for row, value in enumerate(values) if value is None]


@pytest.mark.parametrize(
    ("cells", "values", "unsure", "mixed", "guessed"),
    [
        (["0.5", "1,234"], [0.5, None], [1], [], []),
        (["0,5", "1.234"], [0.5, None], [1], [], []),
        (["0,5", "0.5", "1,234", "2"], [0.5, 0.5, None, 2], [2], [1], []),
        (["1,234", "1.234"], [None, None], [0, 1], [], []),
        (["1,234", "987"], [1.234, 987], [], [], [0]),
        (["0.5"] * 20 + ["1.234", "0,7"], [0.5] * 20 + [1.234, 0.7], [], [21], []),
    ],
)
def test_columns_that_are_not(cells, values, unsure, mixed, guessed):
    found = numbers(cells)
    assert (found.values, found.unsure, found.mixed, found.guessed) == (values, unsure, mixed, guessed)
    assert found.wrong == []


def test_missing_is_missing_in_any_style():
    assert all(math.isnan(value) for value in numbers(["", "None", None, "n/a", "-", "NaN"]).values)
    assert [number(text, True) for text in ("0,5", "1,234.5", "1.234,5", "1,234", "x")] == [0.5, 1234.5, 1234.5, 1.234, None]


def given(text: str, count: int = 4):
    texts = "".join(f"text {row}\n" for row in range(count))
    return read_files({"r": texts, "h": texts, "s.csv": text}, references=["r"], systems={"H": "h"}, scores={"q": "s.csv"})


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0,5\n1\n2,25\n3\n", [0.5, 1, 2.25, 3]),
        ("1\n0,5\n2\n3,125\n", [1, 0.5, 2, 3.125]),
        ("1,234.5\n12\n2,000\n3\n", [1234.5, 12, 2000, 3]),
        ("1.234,5\n12\n2.000\n3\n", [1234.5, 12, 2000, 3]),
        ("H\t0,5\nH\t1\nH\t1,5\nH\t2\n", [0.5, 1, 1.5, 2]),
        ("system\tseg_id\tscore\nH\t1\t0,5\nH\t2\t1\nH\t3\t1,5\nH\t4\t2\n", [0.5, 1, 1.5, 2]),
        ("system;seg_id;score\nH;1;1.234,5\nH;2;1\nH;3;1,5\nH;4;2\n", [1234.5, 1, 1.5, 2]),
    ],
)
def test_files_of_scores(text, values):
    loaded = given(text)
    assert list(scores(corpus_of(loaded), "q").values()) == values
    assert not {"ambiguous-numbers", "mixed-numbers", "non-numeric-scores"} & set(kinds(loaded))


def test_scores_that_could_be_others_are_reported_and_left_out():
    loaded = given("0.5\n1,234\n0.7\n2\n")
    assert scores(corpus_of(loaded), "q") == {(0, "H"): 0.5, (2, "H"): 0.7, (3, "H"): 2}
    finding = kinds(loaded)["ambiguous-numbers"]
    assert finding.line == 2
    assert "count as missing" in finding.message
    loaded = given("0,5\n0.5\n0.7\n2\n")
    assert list(scores(corpus_of(loaded), "q").values()) == [0.5, 0.5, 0.7, 2]
    assert kinds(loaded)["mixed-numbers"].line == 1
    assert "read as decimal" in kinds(given("1,234\n12\n13\n14\n"))["ambiguous-numbers"].message


def test_thousands_in_a_table():
    table = 'src,mt,score\na b,c d,"1,234.5"\ne f,g h,"2,000"\ni j,k l,7\n'
    assert list(scores(corpus_of(read("t.csv", table)), "score").values()) == [1234.5, 2000, 7]
    table = "src;mt;score\na b;c d;1.234,5\ne f;g h;2.000\ni j;k l;7\n"
    assert list(scores(corpus_of(read("t.csv", table)), "score").values()) == [1234.5, 2000, 7]


def test_words_are_no_scores():
    assert refusal(given("a\nb\nc\nd\n")).kind == "no-scores"


@pytest.mark.parametrize(
    "cells",
    [["1", "2.5", "-3e2"], [1, 2.5], ["1", ""], ["1e999"], [float("inf"), 1], [10**400], ["1\n2"], [True, 2], [], ["1", 2]],
)
def test_plain_columns_are_read_cell_by_cell(cells):
    left, right = numbers(cells).values, [number(cell) for cell in cells]
    assert len(left) == len(right)
    assert all(a == b or (a is not None and b is not None and math.isnan(a) and math.isnan(b)) for a, b in zip(left, right))

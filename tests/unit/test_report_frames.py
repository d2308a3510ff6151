"""Tables as files: what is written comes back, in every format, whatever the texts hold; and the terminal's table."""

import csv
import io
import json
import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.errors import InputError
from engine.report import frames
from engine.report.tables import render_table, width

ODD = [
    "plain", "", None, " space ", "a,b", 'say "x"', "line\nbreak", "cr\rhere", "crlf\r\n", "tab\tin", "\u2028", "\x85", "\x00",
    "NA", "null", "nan", "True", "=1+1", "+49 170", "-", "--", "- list", "@user", "'=1+1", "''=1", "'quoted", "-5", "-0.5e3", "+",
    "=HYPERLINK(\"x\")",
    "\t=1", "\r=1", "=\n1", "@(", "=|", "שלום", "日本語", "🙂", "e\u0301", "\ufeffbom", "١٢", "<b>&amp;", "'", "x" * 40_000,
]  # fmt: skip


def table():
    n = len(ODD)
    numbers = np.random.default_rng(0).normal(size=n) * 10.0 ** np.arange(-20, n - 20)
    numbers[:3] = [np.nan, 0.1, -0.0]
    words, flags = pd.Series(ODD, dtype=object), np.arange(n) % 2 == 0
    return pd.DataFrame({"segment": np.arange(n), "word": words, "importance": numbers, "flag": flags})


@pytest.mark.parametrize("suffix", frames.SUFFIXES)
def test_what_is_written_comes_back(tmp_path, suffix):
    path, frame = tmp_path / f"table{suffix}", table()
    frames.write_frame(frame, path)
    assert path.read_bytes() == frames.to_bytes(frame, suffix)
    back = frames.read_frame(path)
    assert list(back.columns) == list(frame.columns)
    assert back["segment"].tolist() == frame["segment"].tolist() and back["flag"].tolist() == frame["flag"].tolist()
    assert np.array_equal(back["importance"].to_numpy(float), frame["importance"].to_numpy(), equal_nan=True)
    want = [None if text is None or (suffix == ".csv" and text == "") else text for text in ODD]
    assert [None if pd.isna(text) else text for text in back["word"]] == want
    assert [item.name for item in tmp_path.iterdir()] == [path.name]


def cells(frame):
    return list(csv.reader(io.StringIO(frames.to_bytes(frame, ".csv").decode("utf-8"), newline="")))


def test_other_readers_read_the_csv():
    frame = table()
    rows = cells(frame)
    assert rows[0] == list(frame.columns) and len(rows) == len(frame) + 1
    harmless = [(text, row[1]) for text, row in zip(ODD, rows[1:], strict=True) if text and text[0] not in "'=+-@\t\r"]
    assert all(text == cell for text, cell in harmless)
    pandas = pd.read_csv(io.BytesIO(frames.to_bytes(frame, ".csv")), float_precision="round_trip")
    assert np.array_equal(pandas["importance"], frame["importance"], equal_nan=True)


def test_spreadsheets_run_nothing_and_numbers_stay_numbers():
    texts = {
        "=1+1": "'=1+1", "+49 170": "'+49 170", "- list": "'- list", "@user": "'@user", "=cmd|'/c calc'!A0": "'=cmd|'/c calc'!A0",
        "\t=1": "'\t=1", "\r=1": "'\r=1", "@(": "'@(", "'=1": "''=1",
        "-": "-", "--": "--", "+": "+", "...": "...", "-5": "-5", "+0.5": "+0.5", "-1,5": "-1,5", "-1e-5": "-1e-5", "'s": "'s",
        "a=b": "a=b",
    }  # fmt: skip
    rows = cells(pd.DataFrame({"text": list(texts), "number": -1.5}))
    assert [row[0] for row in rows[1:]] == list(texts.values())
    assert {row[1] for row in rows[1:]} == {"-1.5"}


@settings(max_examples=400, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=12))
@example("''''=a")
@example("'=\n(")
def test_marks_can_be_taken_off(text):
    marked = frames._marked(text)
    assert frames._unmarked(marked) == text
    assert marked == text or marked == "'" + text


def test_missing_and_empty_are_told_apart_in_the_csv_text():
    frame = pd.DataFrame({"text": pd.Series(["", None], dtype=object), "score": [np.nan, 1.0], "reason": ["no reference", None]})
    assert frames.to_bytes(frame, ".csv") == b'text,score,reason\n"",,no reference\n,1.0,\n'


def test_json_is_strict():
    frame = pd.DataFrame({"p": [np.inf, -np.inf, np.nan], "text": ["\u2028", "\x85", "é\x7f"]})
    content = frames.to_bytes(frame, ".json")

    def refuse(name):
        raise AssertionError(name)

    back = json.loads(content, parse_constant=refuse)
    assert [row["p"] for row in back] == ["Infinity", "-Infinity", None] and back[0]["text"] == "\u2028"
    lines = frames.to_bytes(frame, ".jsonl").decode("utf-8")
    assert len(lines.splitlines()) == 3 and json.loads(lines.splitlines()[2])["text"] == "é\x7f"


@pytest.mark.parametrize("suffix", frames.SUFFIXES)
def test_half_a_surrogate_pair_is_no_fault(tmp_path, suffix):
    frame = pd.DataFrame({"text": pd.Series(["a\ud800b", "c"], dtype=object)})
    path = tmp_path / f"t{suffix}"
    frames.write_frame(frame, path)
    assert frames.read_frame(path)["text"].tolist() == (["a\ud800b", "c"] if "json" in suffix else ["a\\ud800b", "c"])


@pytest.mark.parametrize("suffix", frames.SUFFIXES)
def test_empty_tables(tmp_path, suffix):
    empty = pd.DataFrame({"a": pd.Series(dtype="int64"), "b": pd.Series(dtype="str")})
    path = tmp_path / f"t{suffix}"
    frames.write_frame(empty, path)
    if suffix == ".jsonl":
        assert path.read_bytes() == b""
    else:
        assert len(frames.read_frame(path)) == 0
    frames.write_frame(iter([]), path)


@pytest.mark.parametrize("suffix", frames.SUFFIXES)
def test_a_table_in_parts_is_the_same_table(suffix):
    frame = table()
    parts = [frame.iloc[:7], frame.iloc[7:7], frame.iloc[7:]]
    if suffix == ".parquet":
        back = pd.read_parquet(io.BytesIO(frames.to_bytes(iter(parts), suffix)))
        assert back["word"].tolist() == pd.read_parquet(io.BytesIO(frames.to_bytes(frame, suffix)))["word"].tolist()
    else:
        assert frames.to_bytes(iter(parts), suffix) == frames.to_bytes(frame, suffix)


def test_bad_places_say_what_to_do(tmp_path):
    frame = pd.DataFrame({"a": [1]})
    with pytest.raises(InputError, match="use .csv, .json, .jsonl, .parquet"):
        frames.write_frame(frame, tmp_path / "a.xlsx")
    with pytest.raises(InputError, match="without a suffix"):
        frames.write_frame(frame, tmp_path / "a")
    with pytest.raises(InputError, match="cannot be written"):
        frames.write_frame(frame, tmp_path / "missing" / "a.csv")
    frames.write_frame(frame, tmp_path / "A.CSV")
    assert (tmp_path / "A.CSV").exists()
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(InputError, match="no regular file"):
        frames.write_frame(frame, tmp_path / "pipe.csv")
    assert (tmp_path / "pipe.csv").is_fifo()


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.csv"
    frames.write_frame(pd.DataFrame({"a": [1]}), path)

    def broken():
        yield pd.DataFrame({"a": [2]})
        raise RuntimeError

    with pytest.raises(RuntimeError):
        frames.write_frame(broken(), path)
    assert path.read_bytes() == b"a\n1\n" and len(list(tmp_path.iterdir())) == 1


def test_the_terminals_table():
    frame = pd.DataFrame(
        {
            "system": ["A", "日本"],
            "metric": ["bleu", "bleu"],
            "score": [34.123456, np.nan],
            "p": [0.5, 0.00001],
            "n": [10, 2000],
            "signature": ["BLEU|v:1", "BLEU|v:1"],
        }
    )
    assert render_table(frame).split("\n") == [
        "system  metric  score        p     n",
        "------  ------  -----  -------  ----",
        "A       bleu    34.12   0.5000    10",
        "日本    bleu        –  1.0e-05  2000",
        "",
        "bleu: BLEU|v:1",
    ]


def test_each_metric_has_its_own_decimals():
    frame = pd.DataFrame({"metric": ["bleu", "bertscore"], "score": [46.5162, 0.851862]})
    assert [line.split()[-1] for line in render_table(frame).split("\n")[2:]] == ["46.52", "0.8519"]


def test_the_terminals_table_hides_nothing():
    long = "word " * 40
    shown = render_table(pd.DataFrame({"message": [long], "n": [1]}))
    assert shown.count("word") == 40 and max(map(width, shown.split("\n"))) <= 64
    assert "\x1b" not in render_table(pd.DataFrame({"a\n": ["\x1b[31mred\x07 \u202e\ud800"]}, dtype=object))
    assert "\\x1b[31mred" in render_table(pd.DataFrame({"a": ["\x1b[31mred"]}))
    assert "\\u202egnp" in render_table(pd.DataFrame({"a": ["\u202egnp"]}))
    assert "👩\u200d👧" in render_table(pd.DataFrame({"a": ["👩\u200d👧"]}))
    assert render_table(pd.DataFrame({"a": [], "b": []})) == "a  b\n(no rows)"
    assert "True" in render_table(pd.DataFrame({"a": [True]}))


def test_numbers_in_the_terminals_table():
    def column(values):
        return [line.strip() for line in render_table(pd.DataFrame({"x": values})).split("\n")[2:]]

    assert column([0.12345, -0.5]) == ["0.1235", "-0.5000"] or column([0.12345, -0.5]) == ["0.1234", "-0.5000"]
    assert column([12345.678, 1.0]) == ["12346", "1"]
    assert column([1.0, 2.0]) == ["1", "2"]
    assert column([0.0, 0.0]) == ["0.0", "0.0"]
    assert column([np.inf, -np.inf, np.nan, 1.5]) == ["∞", "-∞", "–", "1.500"]
    assert column([-1e-9, 1.25]) == ["-1.0e-09", "1.250"]


def test_each_metric_has_its_own_digits_in_the_terminals_table():
    frame = pd.DataFrame({"metric": ["bleu", "bertscore"], "score": [72.64415, 0.925449]})
    assert [line.split()[-1] for line in render_table(frame).split("\n")[2:]] == ["72.64", "0.9254"]


@pytest.mark.parametrize(("text", "columns"), [("abc", 3), ("日本", 4), ("e\u0301", 1), ("שלום", 4), ("\u200b", 0), ("🙂", 2)])
def test_width(text, columns):
    assert width(text) == columns

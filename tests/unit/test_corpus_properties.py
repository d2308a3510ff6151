"""Any text at all goes through the readers: no crash, and never another number of segments."""

import csv
import io
import json

import pytest
from corpus_files import corpus_of, read, read_files
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

ODD = (
    "\x00\x01\t\x0b\x0c\r\x1c\x1f\x7f\x85\x9f\u00ad\u200b\u200d\u2028\u2029\u202e\ufeff\ufffd\ufffe\ud800\udfff"
    "😀é\u0301ﬁ日ไ\"'`,;|\\/{}[]<>&#=-+%0123456789 "
)
TEXT = st.text(st.one_of(st.characters(), st.sampled_from(ODD)), max_size=40)
LINE = TEXT.map(lambda text: text.replace("\n", " "))
SETTINGS = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def encoded(text: str) -> bytes:
    """UTF-8; half characters become bytes that are not valid, as broken programs write them."""
    data = text.encode("utf-8", "surrogatepass")
    assume(data.count(0) < 0.4 * len(data))  # every other byte a NUL: that file is UTF-16
    return data


@SETTINGS
@given(st.lists(LINE, min_size=1, max_size=6), st.booleans())
def test_plain_text(lines, final):
    assume(final or lines[-1])
    data = encoded("\n".join(lines) + ("\n" if final else ""))
    loaded = read_files({"r": data, "h": data}, source="r", references=["r"], systems={"H": "h"})
    corpus = corpus_of(loaded)
    assert len(corpus) == len(lines)
    assert corpus.hash == corpus_of(read_files({"r": data, "h": data}, source="r", references=["r"], systems={"H": "h"})).hash
    for given_text, text in zip(lines[1:-1], corpus.systems["H"][1:-1]):
        whole = given_text.removesuffix("\r").encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        assert text == whole


@SETTINGS
@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=6), st.sampled_from([",", ";", "\t", "|"]))
def test_quoted_tables(rows, delimiter):
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows([("source", "hypothesis"), *rows])
    corpus = corpus_of(read("t.tsv" if delimiter == "\t" else "t.csv", encoded(stream.getvalue())))
    assert len(corpus) == len(rows)


@SETTINGS
@given(st.lists(st.tuples(LINE, LINE), min_size=1, max_size=6))
def test_unquoted_tables(rows):
    cells = [(a.replace("\t", " "), b.replace("\t", " ")) for a, b in rows]
    text = "source\thypothesis\n" + "".join(f"{a}\t{b}\n" for a, b in cells)
    assert len(corpus_of(read("t.tsv", encoded(text)))) == len(rows)


@SETTINGS
@given(st.lists(st.tuples(TEXT, TEXT, st.lists(TEXT, max_size=3)), min_size=1, max_size=6), st.booleans(), st.booleans())
def test_json_lines(rows, ascii_only, as_array):
    records = [{"id": number, "source": a, "hypothesis": b, "references": c} for number, (a, b, c) in enumerate(rows)]
    lines = [json.dumps(record, ensure_ascii=ascii_only) for record in records]
    text = "[" + ",\n".join(lines) + "]" if as_array else "\n".join(lines) + "\n"
    corpus = corpus_of(read("t.json" if as_array else "t.jsonl", encoded(text)))
    assert len(corpus) == len(rows)
    assert corpus.reference_count == max((len(c) for _, _, c in rows), default=0)
    corpus.hash.encode()


@SETTINGS
@given(
    st.binary(max_size=300),
    st.sampled_from(["x.txt", "x.tsv", "x.csv", "x.json", "x.jsonl", "x.xml", "x.sgm", "x.xlsx", "x.zip", "x.gz", "x"]),
)
def test_any_bytes_are_read_or_refused(data, name):
    loaded = read(name, data)
    assert loaded.corpus is not None or loaded.table is not None or any(f.severity == "fatal" for f in loaded.findings)


STARTS = [
    '{"src": "a", "mt": "b"}\n',
    "src,mt\na,b\n",
    "src\tmt\n",
    '<tstset><doc docid="a"><seg id="1">',
    '<?xml version="1.0"?><dataset><doc id="a">',
    "system\tdoc\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n",
    "A\t1\nA\t2\n",
]


@SETTINGS
@given(st.sampled_from(STARTS), TEXT, st.sampled_from(["", "\n", '"}\n', "</seg></doc></tstset>", "</doc></dataset>"]))
def test_broken_formats_are_read_or_refused(start, text, end):
    data = encoded(start + text + end)
    loaded = read("x", data)
    assert loaded.corpus is not None or loaded.table is not None or any(f.severity == "fatal" for f in loaded.findings)


KEYS = st.sampled_from(
    ["id", "src", "mt", "refs", "systems", "outputs", "scores", "expert_annotations", "context", "hyp", "system", "x", ""]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@SETTINGS
@given(st.lists(st.dictionaries(KEYS, VALUES, max_size=6), min_size=1, max_size=4), st.booleans())
def test_any_json_is_read_or_refused(records, as_array):
    text = json.dumps(records) if as_array else "".join(json.dumps(record) + "\n" for record in records)
    loaded = read("t.json" if as_array else "t.jsonl", encoded(text))
    assert loaded.corpus is not None or loaded.table is not None or any(f.severity == "fatal" for f in loaded.findings)
    if loaded.corpus is None and loaded.table is not None and loaded.table.mapping():
        mapped = read("t.jsonl", encoded(text), columns=loaded.table.mapping())
        assert mapped.corpus is not None or mapped.findings[0].severity == "fatal"


@pytest.mark.parametrize("character", ["a", "ä", "日", " ", "\x00", "\ufeff", "\u0301", "\r", '"', "\t", "{", "<s>"])
def test_very_long_texts(character):
    text = character * 100_000
    data = f"{text}\nshort\n".encode()
    if character == "\x00":
        data += b"padding of ordinary letters\n" * 10_000
    count = data.count(b"\n")
    assert len(corpus_of(read_files({"h": data}, systems={"H": "h"}))) == count
    record = json.dumps({"source": text, "hypothesis": text}) + "\n"
    assert len(corpus_of(read("t.jsonl", record * 2))) == 2
    if character not in "\t\r\"":  # fmt: skip
        assert (
            len(
                corpus_of(
                    read(
                        "t.tsv", f"source\thypothesis\n{text}\t{text}\nx\ty\n" + "x\ty\n" * (20_000 if character == "\x00" else 0)
                    )
                )
            )
            >= 2
        )

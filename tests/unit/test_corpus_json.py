"""JSON and JSONL: shapes of records, lists of references, nested scores; every broken line is named."""

import json

import pytest
from corpus_files import corpus_of, kinds, read, refusal, scores


def lines(*records) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def test_comet_records():
    text = lines({"src": "a", "mt": "b", "ref": "c", "score": 0.5}, {"src": "d", "mt": "e", "ref": "f", "score": None})
    corpus = corpus_of(read("x.jsonl", text))
    assert (corpus.sources, corpus.references, corpus.systems) == (("a", "d"), (("c",), ("f",)), {"mt": ("b", "e")})
    assert scores(corpus, "score") == {(0, "mt"): 0.5}


@pytest.mark.parametrize("name", ["x.json", "x.txt", "x.jsonl"])
@pytest.mark.parametrize("indent", [None, 2])
def test_arrays(name, indent):
    records = [{"src": "a", "mt": "b", "ref": ["c", "d"]}, {"src": "e", "mt": "f", "ref": ["g"]}]
    corpus = corpus_of(read(name, json.dumps(records, indent=indent)))
    assert corpus.references == (("c", "d"), ("g", None))


def test_references_as_list_or_text():
    corpus = corpus_of(
        read("x.jsonl", lines({"mt": "a", "refs": ["b", "c"]}, {"mt": "d", "refs": "e"}, {"mt": "f", "refs": None}))
    )
    assert corpus.references == (("b", "c"), ("e", None), (None, None))


def test_summeval_with_systems_inside():
    text = lines(
        {
            "doc_id": "d1",
            "src": "s",
            "refs": ["r1", "r2"],
            "systems": {"M1": {"hyp": "x", "coherence": 1}, "M2": {"hyp": "y", "coherence": 2}},
        },
        {"doc_id": "d2", "src": "t", "refs": ["r3"], "systems": {"M1": {"hyp": "z", "coherence": 3}}},
    )
    corpus = corpus_of(read("x.jsonl", text))
    assert corpus.systems == {"M1": ("x", "z"), "M2": ("y", None)}
    assert corpus.references == (("r1", "r2"), ("r3", None))
    assert scores(corpus, "coherence") == {(0, "M1"): 1, (0, "M2"): 2, (1, "M1"): 3}
    assert corpus.ids == ("d1", "d2")


def test_summeval_with_annotations():
    ratings = [{"coherence": 1, "fluency": 5}, {"coherence": 2, "fluency": 5}]
    text = lines(
        {
            "id": "a",
            "model_id": "M1",
            "decoded": "x",
            "references": ["r"],
            "expert_annotations": ratings,
            "turker_annotations": ratings[:1],
        }
    )
    loaded = read("x.jsonl", text * 1)
    assert scores(corpus_of(loaded), "expert_annotations.coherence") == {(0, "M1"): 1.5}
    assert scores(corpus_of(loaded), "turker_annotations.coherence") == {(0, "M1"): 1}
    assert kinds(loaded)["averaged-ratings"].severity == "note"
    text = lines({"id": "a", "model_id": "M1", "decoded": "x", "references": ["r"], "expert": {"coherence": 4}})
    assert scores(corpus_of(read("x.jsonl", text)), "coherence") == {(0, "M1"): 4}


def test_outputs_of_several_systems():
    record = {"src": "a", "ref": "b"}
    for value in ({"A": "x", "B": "y"}, [{"system": "A", "output": "x"}, {"system": "B", "output": "y"}]):
        assert corpus_of(read("x.jsonl", lines(record | {"outputs": value}))).systems == {"A": ("x",), "B": ("y",)}
    assert corpus_of(read("x.jsonl", lines(record | {"hyps": ["x", "y"]}))).systems == {"hyps 1": ("x",), "hyps 2": ("y",)}


def test_dialogues():
    record = {"id": 0, "context": ["Hi.", "Hello."], "positive_responses": ["p", "q"], "random_negative_responses": ["n"],
              "adversarial_negative_responses": ["a", "b"]}  # fmt: skip
    corpus = corpus_of(read("x.json", lines(record)))
    assert corpus.sources == ("Hi.\nHello.",)
    assert corpus.references == (("p", "q"),)
    assert set(corpus.systems) == {
        "random_negative_responses",
        "adversarial_negative_responses 1",
        "adversarial_negative_responses 2",
    }
    assert len(corpus) == 1
    record = {
        "source": "Hi.",
        "system_id": "S",
        "system_output": "Hello.",
        "context": "facts",
        "scores": {"overall": 3, "naturalness": 2.5},
    }
    assert scores(corpus_of(read("x.json", json.dumps([record]))), "overall") == {(0, "S"): 3}


@pytest.mark.parametrize(
    "value",
    [
        {"src": ["a", "c"], "mt": ["b", "d"]},
        {"data": [{"src": "a", "mt": "b"}, {"src": "c", "mt": "d"}], "version": 1},
        {"1": {"src": "a", "mt": "b"}, "2": {"src": "c", "mt": "d"}},
    ],
)
def test_objects_that_hold_the_records(value):
    assert corpus_of(read("x.json", json.dumps(value))).systems == {"mt": ("b", "d")}


def test_every_broken_line_is_named():
    text = '{"src":"a","mt":"b"}\n# note\n{"src":"c","mt"\n\n{"src":"d","mt":"e"},\n["f"]\n{"src":"g" "mt":"h"}\n'
    loaded = read("x.jsonl", text)
    finding = refusal(loaded)
    assert finding.line == 3
    assert "3 of 5 lines" in finding.message
    for part in ("line 3: it is cut off", "line 6: it is a list, no object", "line 7: expecting ',' delimiter at column 12"):
        assert part in finding.message
    found = kinds(loaded)
    assert (found["comments"].line, found["blank-lines"].line, found["trailing-commas"].line) == (2, 4, 5)


def test_harmless_faults_are_mended_and_reported():
    text = '{"src":"a","mt":"b","score":NaN}\n// note\n\n{"src":"d","mt":"e","score":1},\n'
    loaded = read("x.jsonl", text)
    assert len(corpus_of(loaded)) == 2
    assert scores(corpus_of(loaded), "score") == {(1, "mt"): 1}
    assert {"comments", "blank-lines", "trailing-commas", "json-constants"} <= set(kinds(loaded))


def test_another_name_for_the_same_field():
    loaded = read("x.jsonl", lines({"src": "a", "mt": "b"}, {"src": "c", "hypothesis": "d"}, {"src": "e", "mt": "f"}))
    assert corpus_of(loaded).systems == {"mt": ("b", "d", "f")}
    assert kinds(loaded)["other-key"].line == 2


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"src": "a",\n "mt":', 2),
        ('[{"src":"a","mt":"b"},\n{"src":"c"', 2),
        ('[{"src":"a","mt":"b"}\n{"src":"c","mt":"d"}]', 2),
        ('[{"src":"a","mt":"b"}] x', 1),
        ("[" * 100_000, 1),
        ('{"a":' * 100_000, 1),
        ('[{"src":"a","mt":"b","n":1' + "0" * 5000 + "}]", 1),
    ],
)
def test_broken_json_is_refused_with_its_line(text, line):
    finding = refusal(read("x.json", text))
    assert finding.kind == "not-json"
    assert finding.line == line


@pytest.mark.parametrize("text", ['["a", "b"]', '{"a": 1}', "[]", "{}", '{"a": [1, 2]}'])
def test_json_without_records_is_refused(text):
    assert refusal(read("x.json", text)).kind == "no-records"


def test_lists_of_unequal_length_are_refused():
    assert "src 2 and mt 1" in refusal(read("x.json", '{"src":["a","b"],"mt":["c"]}')).message


def test_half_characters_and_repeated_keys():
    loaded = read("x.jsonl", '{"src":"\\ud800x","mt":"b","ref":"\\ud83d\\ude00"}\n{"src":"a","mt":"c","mt":"d"}\n')
    assert corpus_of(loaded).sources[0] == "\ufffdx"
    assert corpus_of(loaded).references[0] == ("😀",)
    assert kinds(loaded)["half-characters"].line == 1
    assert kinds(loaded)["repeated-keys"].line == 2
    corpus_of(loaded).hash.encode()


def test_null_is_missing_and_empty_is_empty():
    corpus = corpus_of(read("x.jsonl", lines({"src": "a", "mt": None}, {"src": "", "mt": ""})))
    assert corpus.systems["mt"] == (None, "")
    assert corpus.sources == ("a", "")


def test_text_that_looks_a_little_like_json_is_text():
    for text in ("[MASK] is a word\n", "{curly} words\n", '"quoted"\n', "[1] first note\n"):
        assert len(corpus_of(read("x.txt", text))) == 1


@pytest.mark.parametrize(
    ("value", "named"), [("null", "null"), ("true", "true"), ("3", "a number"), ('"x"', "a text"), ("[1]", "a list")]
)
def test_what_stands_where_an_object_is_expected_is_named_as_json_does(value, named):
    assert f"holds {named} where an object" in refusal(read("x.json", f'[{{"src": "a", "mt": "b"}}, {value}]')).message
    finding = refusal(read("x.jsonl", lines({"src": "a", "mt": "b"}) + value + "\n"))
    assert f"1 of 2 lines cannot be read as JSON (line 2: it is {named}, no object)" in finding.message

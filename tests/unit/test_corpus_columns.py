"""Which column is what: the written mapping, and the guess."""

import pytest
from corpus_files import corpus_of, kinds, read, refusal, scores

from engine.corpus.columns import format_columns, parse_columns
from engine.corpus.grid import Grid
from engine.corpus.guess import guess_roles
from engine.corpus.read import Inputs, load_or_fail
from engine.errors import InputError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("source=src,hypothesis=mt", {"source": "src", "hypothesis": "mt"}),
        (" source = src text , reference=ref ", {"source": "src text", "reference": "ref"}),
        ("ref=a,reference:2=b,hyp=c", {"reference": "a", "reference:2": "b", "hypothesis": "c"}),
        ('"hypothesis=text, translated",system=s', {"hypothesis": "text, translated", "system": "s"}),
        ('"source=a ""b"" c"', {"source": 'a "b" c'}),
        ("hypothesis:GPT-4=x,score:da@GPT-4=y", {"hypothesis:GPT-4": "x", "score:da@GPT-4": "y"}),
        ("penalty:mqm=errors,ignore=z", {"penalty:mqm": "errors"}),
        ("source=a=b", {"source": "a=b"}),
        ("", {}),
    ],
)
def test_mappings_are_written_as_text(text, expected):
    assert parse_columns(text) == expected
    assert parse_columns(format_columns(expected)) == expected


@pytest.mark.parametrize("text", ["source", "source=", "=x", "colour=x", "source=a,source=b", "hypothesis=a,hyp=b"])
def test_bad_mappings_are_refused_with_a_remedy(text):
    with pytest.raises(InputError, match="--columns"):
        parse_columns(text)


TABLE = "a\tb\tc\td\nein Haus\ta house\tone house\t1\nzwei Hunde\ttwo dogs\tdogs\t2\n"


def test_a_mapping_settles_a_table():
    columns = parse_columns("source=a,reference=b,hypothesis=c,score:quality=d")
    corpus = corpus_of(read("t.tsv", TABLE, columns=columns))
    assert corpus.sources == ("ein Haus", "zwei Hunde")
    assert corpus.references == (("a house",), ("two dogs",))
    assert corpus.systems == {"c": ("one house", "dogs")}
    assert scores(corpus, "quality") == {(0, "c"): 1, (1, "c"): 2}


def test_columns_by_number_and_case():
    corpus = corpus_of(read("t.tsv", TABLE, columns={"source": "#1", "hypothesis": "C", "reference": "#2"}))
    assert corpus.systems == {"c": ("one house", "dogs")}


def test_a_mapping_makes_the_first_row_a_header():
    table = "p q r\ts t u\nx y z\tv w v\n"
    assert len(corpus_of(read("t.tsv", table, columns={"source": "p q r", "hypothesis": "s t u"}))) == 1
    assert len(corpus_of(read("t.tsv", table, columns={"source": "1", "hypothesis": "2"}))) == 2


def test_several_references_and_systems():
    columns = parse_columns("reference:2=a,reference=b,hypothesis:one=c,hypothesis:two=d")
    corpus = corpus_of(read("t.tsv", TABLE, columns=columns))
    assert corpus.references[0] == ("a house", "ein Haus")
    assert corpus.systems == {"one": ("one house", "dogs"), "two": ("1", "2")}


def test_penalties_are_negated():
    corpus = corpus_of(read("t.tsv", TABLE, columns={"hypothesis": "c", "penalty:errors": "d"}))
    assert scores(corpus, "errors") == {(0, "c"): -1, (1, "c"): -2}
    assert "negated" in corpus.criteria[0].provenance


@pytest.mark.parametrize(
    ("columns", "kind"),
    [
        ({"source": "zzz"}, "unknown-column"),
        ({"source": "a"}, "no-outputs"),
        ({"colour": "a", "hypothesis": "b"}, "unknown-role"),
        ({"reference:x": "a", "hypothesis": "b"}, "unknown-role"),
        ({"hypothesis:A": "a", "hypothesis:B": "b", "system": "c"}, "system-twice"),
        ({"hypothesis:A": "a", "hypothesis:B": "b", "score": "d"}, "whose-scores"),
    ],
)
def test_mappings_that_do_not_fit(columns, kind):
    assert refusal(read("t.tsv", TABLE, columns=columns)).kind == kind


def guess(columns: dict[str, list], header: bool = True):
    size = len(next(iter(columns.values())))
    return guess_roles(Grid("t", "TSV", columns, list(range(2, size + 2)), header=header))


TEXT = [f"this is sentence number {i}" for i in range(10)]
OTHER = [f"the other sentence is {i}" for i in range(10)]
NUMBERS = [str(i / 2) for i in range(10)]


@pytest.mark.parametrize(
    ("names", "roles"),
    [
        (("src", "mt", "ref", "score"), ("source", "hypothesis", "reference", "score:score")),
        (("Source", "Translation", "Reference A", "z"), ("source", "hypothesis", "reference", "score:z")),
        (("Satz", "Hypothese", "Referenz", "Note"), ("source", "hypothesis", "reference", "score:Note")),
        (("原文", "译文", "参考译文", "adequacy"), ("source", "hypothesis", "reference", "score:adequacy")),
        (("source", "target", "reference", "seg_id"), ("source", "hypothesis", "reference", "segment")),
        (("article", "decoded", "refs", "size"), ("source", "hypothesis", "reference", "ignore")),
        (("sourceText", "mtOutput", "refB", "da_raw"), ("source", "hypothesis", "reference", "score:da_raw")),
        (("source", "hyp", "target", "length_score"), ("source", "hypothesis", "reference", "ignore")),
    ],
)
def test_sure_names(names, roles):
    made = guess(dict(zip(names, (TEXT, OTHER, TEXT, NUMBERS))))
    assert tuple(made.roles.values()) == roles
    assert made.certain, made.reason


def test_identifiers():
    systems, ids = ["A", "B"] * 5, [str(i // 2) for i in range(10)]
    made = guess({"system": systems, "doc_id": ["d"] * 10, "seg_id": ids, "hyp": TEXT, "lp": ["de-en"] * 10})
    assert tuple(made.roles.values()) == ("system", "document", "segment", "hypothesis", "languages")
    made = guess({"doc_id": ids, "SYS": systems, "HYP": TEXT, "REF": OTHER})
    assert made.roles["doc_id"] == "segment"  # with the system it is different in every row


def test_wide_tables():
    made = guess({"id": NUMBERS, "source": TEXT, "System A": OTHER, "System B": TEXT, "Human A": NUMBERS, "Human B": NUMBERS})
    assert made.certain
    assert made.roles["System B"] == "hypothesis:System B"
    assert made.roles["Human A"] == "score:human@System A"
    made = guess({"source": TEXT, "hyp_gpt": OTHER, "hyp_nllb": TEXT, "da_gpt": NUMBERS, "nllb da": NUMBERS})
    assert made.certain
    assert made.roles["hyp_nllb"] == "hypothesis:nllb"
    assert made.roles["nllb da"] == "score:da@nllb"


@pytest.mark.parametrize(
    "columns",
    [
        {"Segment": [str(i) for i in range(10)], "Source": TEXT, "Reference": OTHER, "DeepL": TEXT, "GPT-4": OTHER},
        {"ID": [str(i) for i in range(10)], "Reference": OTHER, "baseline": TEXT, "ours": OTHER},
        {"Source": TEXT, "DeepL": OTHER, "Google": TEXT},
        {"Source": TEXT, "Reference": OTHER, "Comment": ["fine"] * 10, "Domain": ["news"] * 10, "ours": OTHER},
    ],
)
def test_texts_beside_sources_and_references_are_outputs(columns):
    made = guess(columns)
    assert made.certain, made.reason
    named = {"Segment": "segment", "ID": "segment", "Source": "source", "Reference": "reference"}
    named |= {"Comment": "ignore", "Domain": "ignore"}
    assert made.roles == {name: named.get(name, f"hypothesis:{name}") for name in columns}


def test_scores_beside_plain_systems():
    made = guess({"Source": TEXT, "Reference": OTHER, "DeepL": TEXT, "ours": OTHER, "ours DA": NUMBERS})
    assert made.certain
    assert made.roles["ours DA"] == "score:da@ours"


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"source": TEXT, "target": OTHER}, "may hold system outputs or references"),
        ({"source": TEXT, "reference": OTHER, "NLLB": TEXT, "context": OTHER}, "NLLB and context may hold system outputs"),
        ({"source": TEXT, "reference": OTHER, "NLLB": TEXT, "notes by A": OTHER}, "NLLB and notes by A may hold"),
        ({"source": TEXT, "reference": OTHER, "NLLB": TEXT, "why": [f"{text} because {text * 5}" for text in TEXT]}, "may hold"),
        ({"source": TEXT, "reference": OTHER, "seen": [*TEXT[:5], *[""] * 5], "GPT": TEXT}, "seen and GPT may hold"),
        ({"source": TEXT, "GPT": OTHER}, "GPT may hold system outputs"),
        ({"reference": TEXT, "GPT": OTHER}, "GPT may hold system outputs"),
        ({"source": TEXT, "reference": OTHER, "mt": TEXT, "GPT": OTHER}, "GPT may hold further texts"),
        ({"Gold Question": TEXT, "Modified Question": OTHER}, "only likely"),
        ({"name": NUMBERS, "year": NUMBERS}, "no column of system outputs"),
        ({"src": TEXT, "mt": OTHER, "mqm": NUMBERS}, "no negative value"),
        ({"SID": NUMBERS, "BETTER": ["A"] * 10, "WORSE": ["B"] * 10}, "ranks pairs of systems"),
        ({"src": TEXT, "mt": OTHER, "mt 2": TEXT, "what is this": OTHER}, "may hold"),
    ],
)
def test_doubts_are_said(columns, reason):
    made = guess(columns)
    assert not made.certain
    assert reason in made.reason


def test_columns_without_names_are_guessed_but_never_certain():
    made = guess({"1": TEXT, "2": OTHER}, header=False)
    assert made.roles == {"1": "source", "2": "hypothesis"}
    assert not made.certain


def test_an_uncertain_table_is_shown_and_asked_about(tmp_path):
    table = "Gold Question\tModified Question\tUser Score\n" + "what is this thing\twhat this thing\t3\n" * 30
    loaded = read("q.tsv", table)
    assert loaded.corpus is None
    assert not loaded.table.certain
    assert loaded.table.columns == ("Gold Question", "Modified Question", "User Score")
    assert len(loaded.table.rows) == 20
    assert loaded.table.rows[0] == ("what is this thing", "what this thing", "3")
    assert kinds(loaded)["unclear-columns"].severity == "note"
    again = corpus_of(read("q.tsv", table, columns=loaded.table.mapping()))
    assert again.criteria[0].name == "User Score"
    (tmp_path / "q.tsv").write_text(table)
    with pytest.raises(InputError, match=r"say --columns .*hypothesis=Modified Question"):
        load_or_fail(Inputs(paths=(tmp_path / "q.tsv",)))


def test_the_table_comes_with_a_certain_corpus_too():
    loaded = read("t.tsv", "src\tmt\nein Haus\ta house\n")
    assert loaded.corpus is not None
    assert loaded.table.certain
    assert loaded.table.reader == "TSV"

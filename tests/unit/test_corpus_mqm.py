"""MQM ratings: weights, averages over raters, spans with characters and end exclusive."""

import pytest
from corpus_files import corpus_of, kinds, read, refusal, scores

from engine.corpus.mqm import penalty, unmark

HEADER = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"


def table(*rows: str) -> str:
    return HEADER + "".join("\t".join(row.split("|")) + "\n" for row in rows)


@pytest.mark.parametrize(
    ("category", "severity", "points"),
    [
        ("Accuracy/Mistranslation", "Major", 5),
        ("Fluency/Punctuation", "Major", 5),
        ("Fluency/Grammar", "Minor", 1),
        ("Fluency/Punctuation", "Minor", 0.1),
        ("Non-translation!", "Major", 25),
        ("No-error", "No-error", 0),
        ("no-error", "no-error", 0),
        ("Other", "Neutral", 0),
        ("Other", "Critical", 5),
        ("Other", "Terrible", None),
    ],
)
def test_weights(category, severity, points):
    assert penalty(category, severity) == points


@pytest.mark.parametrize(
    ("text", "clean", "spans", "balanced"),
    [
        ("a <v>b</v> c", "a b c", [(2, 3)], True),
        ("<v>a</v><v>b</v>", "ab", [(0, 1), (1, 2)], True),
        ("a<v></v>b", "ab", [(1, 1)], True),
        ("<v>never closed", "never closed", [(0, 12)], False),
        ("never opened</v> x", "never opened x", [], False),
        ("<v>a<v>b</v>c", "abc", [(0, 2)], False),
        ("😀<v>é</v>", "😀é", [(1, 2)], True),
        ("plain", "plain", [], True),
    ],
)
def test_marks_become_spans(text, clean, spans, balanced):
    assert unmark(text) == (clean, spans, balanced)


def test_scores_are_summed_per_rater_and_averaged():
    corpus = corpus_of(
        read(
            "m.tsv",
            table(
                "A|d|1|7|r1|quelle|a <v>b</v> c|Fluency/Punctuation|Minor",
                "A|d|1|7|r1|quelle|<v>a</v> b c|Accuracy/Addition|Major",
                "A|d|1|7|r2|quelle|a b c|No-error|No-error",
                "B|d|1|7|r1|<v>que</v>lle|x y|Accuracy/Omission|Minor",
                "A|d|2|3|r1|andere|q|No-error|No-error",
            ),
        )
    )
    assert corpus.ids == ("3", "7")  # in the order of the numbers
    assert scores(corpus, "mqm") == pytest.approx({(1, "A"): -(5.1 + 0) / 2, (1, "B"): -1, (0, "A"): 0})
    assert "negated" in corpus.criteria[0].provenance
    assert corpus.systems == {"A": ("q", "a b c"), "B": (None, "x y")}
    assert corpus.sources == ("andere", "quelle")
    texts = [(s.segment, s.system, s.side, s.category, s.severity, s.note) for s in corpus.spans]
    assert texts[0] == (1, "A", "hypothesis", "Fluency/Punctuation", "Minor", "r1")
    assert [corpus.systems["A"][1][s.start : s.end] for s in corpus.spans[:2]] == ["b", "a"]
    assert corpus.spans[2].side == "source"
    assert corpus.sources[1][corpus.spans[2].start : corpus.spans[2].end] == "que"


def test_rated_references_serve_as_references():
    loaded = read("m.tsv", table("A|d|1|1|r|s|x|No-error|No-error", "refA|d|1|1|r|s|y|No-error|No-error"))
    assert corpus_of(loaded).references == (("y",),)
    assert "refA" in corpus_of(loaded).systems
    assert kinds(loaded)["rated-references"].severity == "note"
    assert kinds(loaded)["equals-reference"].severity == "note"


def test_odd_ratings():
    loaded = read(
        "m.tsv", table("A|d|1|1|r|s|x <v>y|Other|Minor", "A|d|1|1|q|s|x y|Other|Minor", "A|d|1|1|p|s|x z <v>w</v>|Other|Minor")
    )
    assert corpus_of(loaded).systems["A"] == ("x y",)
    assert len(corpus_of(loaded).spans) == 1
    assert kinds(loaded)["unbalanced-spans"].line == 2
    assert kinds(loaded)["contradicting-texts"].line == 4
    assert refusal(read("m.tsv", table("A|d|1|1|r|s|x|Other|Terrible"))).line == 2
    assert refusal(read("m.tsv", table("A|d|1||r|s|x|Other|Minor"))).kind == "missing-ids"


def test_newer_column_names():
    text = "system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity\tmetadata\n"
    text += "A\td\t1\t9\tr\ts\tx\tOther\tMajor\t{}\n"
    assert corpus_of(read("m.tsv", text)).ids == ("9",)


def test_a_confirmed_guess_changes_nothing():
    text = table("A|d|1|1|r|s|x <v>y</v>|Other|Minor")
    loaded = read("m.tsv", text)
    assert loaded.table.certain
    assert corpus_of(read("m.tsv", text, columns=loaded.table.mapping())).hash == corpus_of(loaded).hash

"""TSV and CSV: delimiters, quoting, headers, ragged rows; long and wide tables."""

import json
import time

import pytest
from corpus_files import corpus_of, kinds, read, refusal, scores

from engine.corpus.findings import Findings
from engine.corpus.grid import make_grid


@pytest.mark.parametrize("delimiter", ["\t", ",", ";", "|"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_any_delimiter(delimiter, ending):
    rows = [["src", "mt", "ref", "score"], ["ein Haus", "a house", "one house", "1.5"], ["ja", "yes", "yes", "-2"]]
    text = ending.join(delimiter.join(row) for row in rows) + ending
    for name in ("t.csv", "t.tsv", "t.txt"):
        corpus = corpus_of(read(name, text))
        assert corpus.sources == ("ein Haus", "ja")
        assert corpus.systems == {"mt": ("a house", "yes")}
        assert scores(corpus, "score") == {(0, "mt"): 1.5, (1, "mt"): -2}


def test_quoted_cells():
    text = 'src,mt,ref\n"a, ""b""\nc",d,"e"\r\nf,"g",""\n'
    corpus = corpus_of(read("t.csv", text))
    assert corpus.sources == ('a, "b"\nc', "f")
    assert corpus.systems["mt"] == ("d", "g")
    assert corpus.references == (("e",), (None,))


def test_decimal_commas():
    corpus = corpus_of(read("t.csv", "src;mt;score\na;b;3,5\nc;d;4\ne;f;-1,25\n"))
    assert list(scores(corpus, "score").values()) == [3.5, 4, -1.25]
    corpus = corpus_of(read("t.csv", 'src,mt,score\na,b,"3,5"\nc,d,"1,0"\n'))
    assert list(scores(corpus, "score").values()) == [3.5, 1]


def test_a_sentence_in_quotation_marks_is_not_a_quoted_cell():
    loaded = read("t.tsv", 'src\tmt\n"Ja."\t"Yes."\nEr sagte "ja"\tHe said "yes"\n"\t"\n')
    assert corpus_of(loaded).sources == ('"Ja."', 'Er sagte "ja"', '"')
    assert kinds(loaded)["quotes"].severity == "note"


def test_tabs_and_line_breaks_in_quoted_tsv():
    corpus = corpus_of(read("t.tsv", 'src\tmt\n"a\tb"\t"c\nd"\nx\t"say ""y"""\n'))
    assert corpus.sources == ("a\tb", "x")
    assert corpus.systems["mt"] == ("c\nd", 'say "y"')


def test_unbalanced_quotes_do_not_swallow_rows():
    assert len(corpus_of(read("t.csv", 'src,mt\n"hello,b\nc,d\ne,f\n'))) == 3
    assert len(corpus_of(read("t.tsv", 'src\tmt\n"hello\tb\nc\td"\ne\tf\n'))) == 3


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("src\tmt\na\tb\nc\td\te\n", 3),
        ("src\tmt\tscore\na\tb\t1\nc\nd\td\t2\n", 3),
        ("src\tmt\tref\na\tb\tc\nd\te\n", 3),
    ],
)
def test_rows_of_the_wrong_width_are_refused_with_their_line(text, line):
    finding = refusal(read("t.tsv", text))
    assert finding.kind == "ragged-rows"
    assert finding.line == line


def test_missing_scores_at_the_end_of_rows():
    loaded = read("t.tsv", "src\tmt\tscore\na\tb\t1\nc\td\n")
    assert scores(corpus_of(loaded), "score") == {(0, "mt"): 1}
    assert kinds(loaded)["short-rows"].line == 3


def test_titles_blank_lines_and_excel_hints():
    loaded = read("t.csv", "My results,,\n,,\nsource,hypothesis,score\na,b,1\n\nc,d,2\n\n")
    assert corpus_of(loaded).systems["hypothesis"] == ("b", "d")
    assert kinds(loaded)["title-rows"].line == 3
    assert corpus_of(read("t.csv", "sep=;\nsrc;mt\na;b\n")).systems["mt"] == ("b",)
    corpus = corpus_of(read("r.tsv", "src\tmt\n1\ta\tb\n2\tc\td\n"))  # R names rows, but not their column
    assert corpus.sources == ("a", "c")


def test_blank_lines_between_rows_are_named():
    loaded = read("x.csv", 'src,mt\na,"b\n\nc"\n\nd,e\n\n\n')
    assert corpus_of(loaded).systems["mt"] == ("b\n\nc", "e")
    [finding] = [finding for finding in loaded.findings if finding.kind == "blank-lines"]
    assert (finding.line, finding.severity) == (5, "warning") and "line 5;" in finding.message


def test_empty_rows_at_the_end_are_named_and_passed_over():
    loaded = read("x.csv", "src,mt,ref\na,b,c\nd,e,f\n,,\n,,\n")
    assert corpus_of(loaded).systems["mt"] == ("b", "e")
    assert "lines 4 and 5" in kinds(loaded)["blank-lines"].message
    loaded = read("long.csv", "system,segment,mt,ref\nA,1,x,y\nB,1,z,y\n,,,\n")
    assert list(corpus_of(loaded).systems) == ["A", "B"] and len(corpus_of(loaded)) == 1
    assert len(corpus_of(read("two.tsv", "src\tmt\na cat\tthe cat\n\t\n"))) == 2  # both texts may be empty


def test_prose_is_no_table():
    prose = "Hello, my friend; how are you?\nFine, thanks; and you?\nGood, really; I am.\n"
    assert len(corpus_of(read("t.txt", prose))) == 3
    assert len(corpus_of(read("t.csv", "Hello, my friend\nFine thanks\nGood, really, I am\n"))) == 3


def test_missing_and_wordy_scores():
    loaded = read(
        "t.tsv",
        "src\tmt\tscore\n" + "".join(f"a{i}\tb{i}\t{x}\n" for i, x in enumerate(["1", "", "None", "NaN", "85%", "good", "−3"])),
    )
    assert scores(corpus_of(loaded), "score") == {(0, "mt"): 1, (4, "mt"): 85, (6, "mt"): -3}
    assert kinds(loaded)["non-numeric-scores"].line == 7
    loaded = read("t.tsv", "src\tmt\tadequacy\na\tb\tgood\nc\td\tbad\n")
    assert corpus_of(loaded).criteria == ()
    assert kinds(loaded)["non-numeric-scores"].line == 2


LONG = "system\tid\tsrc\tmt\tda\nA\t1\tx\ty\t1\nA\t2\tu\tv\t3\nB\t2\tu\tvv\t\nB\t1\tx\tyy\t2\n"


def test_long_tables_are_matched_by_id_not_by_order():
    corpus = corpus_of(read("t.tsv", LONG))
    assert corpus.systems == {"A": ("y", "v"), "B": ("yy", "vv")}
    assert corpus.ids == ("1", "2")
    assert scores(corpus, "da") == {(0, "A"): 1, (1, "A"): 3, (0, "B"): 2}


def test_outputs_that_are_not_there():
    loaded = read("t.tsv", LONG.replace("B\t2\tu\tvv\t\n", ""))
    assert corpus_of(loaded).systems["B"] == ("yy", None)
    assert "system B 1" in kinds(loaded)["missing-outputs"].message


def test_repeated_rows_are_further_ratings():
    loaded = read("t.tsv", "system\tid\tmt\tda\nA\t1\ty\t1\nA\t1\ty\t2\nA\t2\tz\t5\n")
    assert scores(corpus_of(loaded), "da") == {(0, "A"): 1.5, (1, "A"): 5}
    assert kinds(loaded)["repeated-rows"].line == 3
    assert "mean of up to 2 ratings" in corpus_of(loaded).criteria[0].provenance


def test_contradicting_rows_are_refused():
    finding = refusal(read("t.tsv", "system\tid\tmt\nA\t1\ty\nA\t1\tz\nB\t1\tq\n"))
    assert finding.kind == "duplicate-ids"
    assert "Lines 2 and 3" in finding.message


def test_ids_that_restart_in_each_document():
    corpus = corpus_of(
        read("t.tsv", "system\tdoc\tid\tsrc\tmt\nA\td1\t1\tx\ty\nA\td2\t1\tp\tq\nB\td2\t1\tp\tqq\nB\td1\t1\tx\tyy\n")
    )
    assert corpus.systems == {"A": ("y", "q"), "B": ("yy", "qq")}
    assert corpus.documents == ("d1", "d2")
    assert corpus.ids == ("d1:1", "d2:1")


def test_ids_that_restart_without_a_document_are_told_apart_by_source():
    loaded = read("t.tsv", "system\tid\tsrc\tmt\nA\t1\tx\ty\nA\t1\tp\tq\nB\t1\tp\tqq\nB\t1\tx\tyy\n")
    assert corpus_of(loaded).systems == {"A": ("y", "q"), "B": ("yy", "qq")}
    assert kinds(loaded)["duplicate-ids"].severity == "warning"


def test_tables_without_ids():
    corpus = corpus_of(read("t.tsv", "system\tsrc\tmt\nA\tx\ty\nA\tp\tq\nB\tp\tqq\nB\tx\tyy\n"))
    assert corpus.systems == {"A": ("y", "q"), "B": ("yy", "qq")}
    loaded = read("t.tsv", "system\tmt\nA\ty\nA\tq\nB\tyy\nB\tqq\n")
    assert corpus_of(loaded).systems == {"A": ("y", "q"), "B": ("yy", "qq")}
    assert kinds(loaded)["missing-ids"].severity == "warning"
    assert refusal(read("t.tsv", "system\tmt\nA\ty\nA\tq\nB\tyy\n")).kind == "missing-ids"


def test_missing_ids_and_systems_are_refused_where_rows_must_be_matched():
    assert refusal(read("t.tsv", "system\tid\tmt\nA\t1\ty\nA\t\tq\nB\t1\tz\n")).line == 3
    assert refusal(read("t.tsv", "system\tid\tmt\nA\t1\ty\n\t2\tq\n")).kind == "missing-systems"


def test_one_system_keeps_every_output():
    loaded = read("t.tsv", "id\tsrc\tmt\n1\ta\tb\n1\ta\tc\n2\td\te\n")
    assert corpus_of(loaded).systems["mt"] == ("b", "c", "e")
    assert kinds(loaded)["duplicate-ids"].line == 3


def test_wide_tables_and_their_scores():
    corpus = corpus_of(read("t.tsv", "id\tsource\thyp_gpt\thyp_nllb\tda_gpt\tda_nllb\n1\ta\tb\tc\t1\t2\n2\td\te\tf\t3\t\n"))
    assert corpus.systems == {"gpt": ("b", "e"), "nllb": ("c", "f")}
    assert scores(corpus, "da") == {(0, "gpt"): 1, (1, "gpt"): 3, (0, "nllb"): 2}


def test_language_pairs_in_a_column():
    table = "lp\tsrc\tmt\nde-en\ta\tb\nfr-en\tc\td\n"
    loaded = read("t.tsv", table)
    assert len(corpus_of(loaded)) == 2
    assert corpus_of(loaded).languages == (None, "en")
    assert "de-en and fr-en" in kinds(loaded)["mixed-languages"].message
    corpus = corpus_of(read("t.tsv", table, languages=("fr", "en")))
    assert (corpus.sources, corpus.languages) == (("c",), ("fr", "en"))
    assert corpus_of(read("t.tsv", table, languages=("de", None))).languages == ("de", "en")
    assert len(corpus_of(read("t.tsv", table, languages=(None, "en")))) == 2
    assert refusal(read("t.tsv", table, languages=("it", "en"))).kind == "languages"


def test_odd_headers():
    loaded = read("t.tsv", "src\tmt\tx\tx\t\na\tb\t1\t2\t3\n")
    assert loaded.table.columns == ("src", "mt", "x", "x (2)", "column 5")
    assert kinds(loaded)["duplicate-columns"].line == 1
    assert refusal(read("t.tsv", "src\tmt\n")).kind == "no-rows"
    assert "All line ends" in kinds(read("t.tsv", "src\tmt\ra\tb\rc\td\r"))["lone-cr"].message


def test_references_with_gaps():
    corpus = corpus_of(read("t.tsv", "src\tref1\tref2\tmt\na\tb\tc\td\ne\tf\t\tg\n"))
    assert corpus.references == (("b", "c"), ("f", None))


def test_a_column_of_texts_is_no_column_of_systems():
    rows = "".join(f"text number {i}\t{i}\tx {i}\n" for i in range(1200))
    assert (
        refusal(read("t.tsv", "a\tb\tc\n" + rows, columns={"system": "a", "segment": "b", "hypothesis": "c"})).kind
        == "too-many-systems"
    )


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_tables_of_very_many_columns_are_refused_at_once(name):
    names = [f"c{place}" for place in range(20_000)]
    if name == "t.csv":
        text = ",".join(["source", "reference", *names]) + "\n" + ",".join(["a b", "c d", *["1"] * 20_000]) + "\n"
    else:
        text = json.dumps({"source": "a b", "reference": "c d"} | dict.fromkeys(names, 1)) + "\n"
    start = time.process_time()
    finding = refusal(read(name, text))
    assert time.process_time() - start < 5
    assert finding.kind == "too-many-columns"
    assert "20,002 columns" in finding.message


def test_names_of_columns_that_repeat_are_numbered():
    loaded = read("t.csv", "source,mt,x,x,x (2),x\na b c d,b c d e,1,2,3,4\n")
    assert loaded.table.columns == ("source", "mt", "x", "x (2)", "x (2) (2)", "x (3)")
    start = time.process_time()
    grid = make_grid("t.csv", "CSV", ["x"] * 5_000, [["1"]] * 5_000, [2], Findings())
    assert time.process_time() - start < 2
    assert list(grid.columns)[-1] == "x (5000)"


def test_a_table_whose_every_cell_is_quoted_may_have_lines_that_look_whole():
    corpus = corpus_of(read("t.tsv", '"source"\t"hypothesis"\n""\t"\n\t"\n'))
    assert corpus.systems == {"hypothesis": ("\n\t",)}

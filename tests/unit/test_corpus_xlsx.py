"""XLSX workbooks: titles, sheets, merged cells, formulas, and what must not happen."""

import datetime
import io
import zipfile

import openpyxl
import pytest
from corpus_files import corpus_of, kinds, read, refusal, scores


def book(fill) -> bytes:
    workbook = openpyxl.Workbook()
    fill(workbook)
    stream = io.BytesIO()
    workbook.save(stream)
    return stream.getvalue()


def sheet(*rows):
    def fill(workbook):
        for row in rows:
            workbook.active.append(row)

    return book(fill)


def changed(data: bytes, name: str, content: bytes) -> bytes:
    """The workbook with one part replaced."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.namelist():
            new.writestr(part, content if part == name else old.read(part))
    return stream.getvalue()


def test_titles_texts_as_numbers_and_empty_cells():
    data = sheet(["Evaluation"], [], ["Seg", "Source", "System A", "System B", "Human A", "Human B"],
                 [1, "ein Haus", "a house", "one house", 60, "61,5"], [2, "ja", None, "yes", None, "62"])  # fmt: skip
    loaded = read("x.xlsx", data)
    corpus = corpus_of(loaded)
    assert corpus.systems == {"System A": ("a house", None), "System B": ("one house", "yes")}
    assert scores(corpus, "human") == {(0, "System A"): 60, (0, "System B"): 61.5, (1, "System B"): 62}
    assert corpus.ids == ("1", "2")
    assert kinds(loaded)["title-rows"].line == 3
    assert kinds(loaded)["missing-outputs"].line == 5


def test_formulas_are_never_computed():
    loaded = read("x.xlsx", sheet(["src", "mt", "score"], ["a b", "c d", "#N/A"], ["e f", "=1+1", 2], ["g h", "i j", 3]))
    assert corpus_of(loaded).systems["mt"] == ("c d", None, "i j")
    assert scores(corpus_of(loaded), "score") == {(1, "mt"): 2, (2, "mt"): 3}
    assert "B3" in kinds(loaded)["formulas"].message
    assert "C2" in kinds(loaded)["formula-errors"].message


def test_merged_cells_hold_their_value_in_every_row():
    def fill(workbook):
        page = workbook.active
        page.append(["system", "id", "source", "hypothesis"])
        for row in (["A", 1, "ein Text", "x"], ["B", 1, None, "y"], ["A", 2, "noch einer", "z"], ["B", 2, None, "w"]):
            page.append(row)
        page.merge_cells("C2:C3")
        page.merge_cells("C4:C5")

    corpus = corpus_of(read("x.xlsx", book(fill)))
    assert corpus.sources == ("ein Text", "noch einer")
    assert corpus.systems == {"A": ("x", "z"), "B": ("y", "w")}


def test_the_sheet_with_the_table_is_found_and_others_are_named():
    def fill(workbook):
        workbook.active.title = "Cover"
        workbook.active["A1"] = "This is a cover page"
        page = workbook.create_sheet("Data")
        page.append(["src", "mt"])
        page.append(["ein Haus", "a house"])

    loaded = read("x.xlsx", book(fill))
    assert corpus_of(loaded).systems == {"mt": ("a house",)}
    assert "'Data' was read" in kinds(loaded)["other-sheets"].message
    assert "Cover" in kinds(loaded)["other-sheets"].message


def test_dates_and_truth_values():
    loaded = read("x.xlsx", sheet(["id", "src", "mt", "day", "ok"], [1.0, "a b", "c d", datetime.datetime(2020, 1, 2), True]))
    assert corpus_of(loaded).ids == ("1",)
    assert loaded.table.rows[0][3:] == ("2020-01-02T00:00:00", "True")


def test_cells_far_away_do_no_harm():
    def fill(workbook):
        workbook.active.append(["src", "mt"])
        workbook.active.append(["a b", "c d"])
        workbook.active["CZ3000"] = "x"

    assert corpus_of(read("x.xlsx", book(fill))).systems["mt"][0] == "c d"


DATA = sheet(["src", "mt"], ["a b", "c d"])


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (sheet(), "no-rows"),
        (sheet(["src", "mt"]), "no-rows"),
        (DATA[: len(DATA) // 2], "damaged-archive"),
        (changed(DATA, "xl/worksheets/sheet1.xml", b"<worksheet><sheetData><row>"), "damaged-workbook"),
        (changed(DATA, "xl/workbook.xml", b"nonsense"), "damaged-workbook"),
        (changed(DATA, "xl/worksheets/sheet1.xml", b'<!DOCTYPE x [<!ENTITY a "b">]><worksheet/>'), "xml-entities"),
        (changed(DATA, "xl/worksheets/sheet1.xml", b" " * (100 << 20)), "archive-bomb"),
    ],
)
def test_bad_workbooks_are_refused(data, kind):
    assert refusal(read("x.xlsx", data)).kind == kind


def test_blank_rows_are_passed_over_and_named():
    loaded = read("x.xlsx", sheet(["src", "mt"], ["a", "b"], [None, None], ["c", "d"]))
    assert corpus_of(loaded).systems["mt"] == ("b", "d")
    assert [finding.line for finding in loaded.findings if finding.kind == "blank-lines"] == [3]


@pytest.mark.parametrize(
    "content",
    [
        b"<!--" + b"x" * 100_000 + b'--><!DOCTYPE x [<!ENTITY a "b">]><worksheet>&a;</worksheet>',
        b'<?xml version="1.0"?>' + b"\n" * 5_000 + b"<!DOCTYPE x><worksheet/>",
        '<!DOCTYPE x [<!ENTITY a "b">]><worksheet/>'.encode("utf-16"),
    ],
)
@pytest.mark.parametrize("part", ["xl/worksheets/sheet1.xml", "xl/workbook.xml", "_rels/.rels", "docProps/app.xml"])
def test_a_document_type_is_found_wherever_it_stands(content, part):
    finding = refusal(read("x.xlsx", changed(DATA, part, content)))
    assert finding.kind == "xml-entities"
    assert part in finding.message


def test_words_about_entities_in_a_cell_are_text():
    data = sheet(["src", "mt"], ["<!DOCTYPE x [<!ENTITY a 'b'>]>", "<!ENTITY"], ["a", "b"])
    assert corpus_of(read("x.xlsx", data)).sources[0] == "<!DOCTYPE x [<!ENTITY a 'b'>]>"


def test_a_workbook_without_formulas_is_opened_once(monkeypatch):
    opened = []
    load = openpyxl.load_workbook
    monkeypatch.setattr("openpyxl.load_workbook", lambda *args, **options: opened.append(1) or load(*args, **options))
    corpus_of(read("x.xlsx", sheet(["src", "mt"], ["a", "b"], ["c", "<f>"])))
    assert len(opened) == 1
    assert "B2" in kinds(read("x.xlsx", sheet(["src", "mt"], ["a", "=A1"], ["c", "d"])))["formulas"].message
    assert len(opened) == 3

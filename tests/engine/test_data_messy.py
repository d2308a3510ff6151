"""Files as people bring them: each is read rightly, or refused with the right reason."""

import collections
from pathlib import Path

import pytest

from engine.corpus.languages import is_rtl, writes_spaces
from engine.corpus.loaded import Loaded
from engine.corpus.read import Inputs, load
from engine.corpus.types import Corpus, Finding


@pytest.fixture(scope="module")
def messy(data: Path) -> Path:
    return data / "messy"


def read(path: Path, **options) -> Loaded:
    return load(Inputs(paths=(path,)), **options)


def corpus_of(loaded: Loaded) -> Corpus:
    assert loaded.corpus is not None, loaded.findings
    return loaded.corpus


def kinds(loaded: Loaded) -> dict[str, Finding]:
    return {finding.kind: finding for finding in reversed(loaded.findings)}


def test_01_xml_with_two_references_and_ten_systems(messy):
    corpus = corpus_of(read(messy / "01_wmt21_two_refs_many_hyps.xml"))
    assert len(corpus) == 238
    assert len(corpus.systems) == 10
    assert len(set(corpus.documents)) == 8
    assert corpus.languages == ("ru", "en")
    # B stands before A in the file; references are taken in the order of their names, and B covers some documents only
    assert corpus.references[0] == ("Don't demonize the people of Khabarovsk", "No need to demonize the people of Khabarovsk")
    assert sum(second is None for _, second in corpus.references) == 159
    assert not any(text is None for texts in corpus.systems.values() for text in texts)
    texts = [
        *corpus.sources,
        *(text for references in corpus.references for text in references if text),
        *sum(corpus.systems.values(), ()),
    ]
    assert not any("&amp;" in text or "<seg" in text for text in texts)


def test_02_sgm_that_is_not_xml(messy):
    loaded = read(messy / "02_newstest2017-enfi_hyp.sgm")
    corpus = corpus_of(loaded)
    assert len(corpus) == 157
    assert list(corpus.systems) == ["HY"]
    assert len(set(corpus.documents)) == 6
    assert corpus.languages == (None, "fi")
    assert "Sons & Tyttären" in corpus.systems["HY"][5]
    assert kinds(loaded)["bare-ampersands"].line == 9


def test_03_mqm_ratings(messy):
    corpus = corpus_of(read(messy / "03_mqm_ted_zhen_first400.tsv"))
    assert len(corpus) == 20
    assert len(corpus.systems) == 15
    assert len(corpus.human) == 292
    assert (corpus.human["score"] <= 0).all()
    for span in corpus.spans:
        text = corpus.sources[span.segment] if span.side == "source" else corpus.systems[span.system][span.segment]
        assert 0 <= span.start <= span.end <= len(text)
        assert "<v>" not in text


def test_04_mixed_newlines_and_inner_marks(messy):
    loaded = read(messy / "04_mixed_newlines_inner_bom.en")
    texts = next(iter(corpus_of(loaded).systems.values()))
    assert len(texts) == 1000
    assert not any("\r" in text for text in texts)
    assert sum("\ufeff" in text for text in texts) == 6
    found = kinds(loaded)
    assert "600 lines end in CRLF and 400 in LF" in found["newlines"].message
    assert "6 texts" in found["inner-bom"].message
    assert found["inner-bom"].line == 401


def test_06_excel_in_german(messy):
    loaded = read(messy / "06_german_excel_cp1252_semicolon.csv")
    corpus = corpus_of(loaded)
    assert len(corpus) == 60
    assert sum("\n" in text for text in corpus.sources) == 9
    assert not any("\r" in text for text in corpus.sources)
    assert "Stürme" in corpus.sources[0]
    assert corpus.languages == ("de", "en")
    assert corpus.human["score"].head(3).tolist() == [1.0, 2.1, 3.2]
    assert "Windows-1252" in kinds(loaded)["encoding"].message


def test_07_unequal_files(messy):
    folder = messy / "07_unequal"
    named = load(
        Inputs(
            source=folder / "src.txt",
            references=(folder / "ref.txt",),
            systems={"A": folder / "sysA.txt", "B": folder / "sysB.txt"},
            scores={"z": folder / "scores.txt"},
        )
    )
    for loaded in (named, read(folder)):
        assert loaded.corpus is None
        found = {finding.file: finding for finding in loaded.findings if finding.kind == "unequal-lengths"}
        assert set(found) == {"sysA.txt", "sysB.txt"}
        assert found["sysB.txt"].line == 51
        assert "103 lines (the last 2 blank)" in found["sysB.txt"].message
        assert "part about line 51" in found["sysB.txt"].message
        assert "sysA.txt has 99 lines where" in found["sysA.txt"].message
        assert "after line 99" in found["sysA.txt"].message
        empty = {finding.file: finding.line for finding in loaded.findings if finding.kind == "empty-lines"}
        assert empty == {"sysA.txt": 38, "sysB.txt": 51}


def test_09_control_characters(messy):
    loaded = read(messy / "09_control_chars_19lines.txt")
    texts = next(iter(corpus_of(loaded).systems.values()))
    assert len(texts) == 19
    found = kinds(loaded)
    lines = {"nul": 11, "line-separators": 12, "invalid-bytes": 13, "invisible-characters": 14, "inner-bom": 14, "not-nfc": 15,
             "lone-cr": 16, "mask-words": 17, "character-references": 17, "empty-lines": 18}  # fmt: skip
    assert {kind: found[kind].line for kind in lines} == lines
    assert texts[11].startswith("A\x85NEL, U+2028\u2028line separator, VT\x0b and FF\x0c")


def test_11_scripts(messy):
    corpus = corpus_of(read(messy / "11_rtl_cjk_indic_emoji.tsv"))
    assert len(corpus) == 105
    assert corpus.languages == (None, None)
    assert len(corpus.human) == 104  # the last score is empty
    assert corpus.human["segment"].max() == 103
    assert sum(map(is_rtl, corpus.sources)) >= 25  # 25 Pashto, two of which begin with a Latin name, Arabic and Hebrew
    assert sum(not writes_spaces(text) for text in corpus.sources) >= 26
    assert corpus.sources[-1] == "שָׁלוֹם"
    pair = corpus_of(load(Inputs(paths=(messy / "11_rtl_cjk_indic_emoji.tsv",), languages=("km", "en"))))
    assert (len(pair), pair.languages) == (25, ("km", "en"))


def test_12_scores_without_header(messy, data):
    loaded = read(messy / "12b_xh-zu.wmt-raw.seg.score")
    corpus = corpus_of(loaded)
    assert (len(corpus), len(corpus.systems), len(corpus.human)) == (503, 6, 2968)
    assert kinds(loaded)["no-texts"].severity == "warning"
    layout = data / "mt/wmt21_flores"
    systems = {path.stem: path for path in (layout / "system-outputs/xh-zu").iterdir() if path.stem != "ref-A"}
    scores = {"raw": messy / "12b_xh-zu.wmt-raw.seg.score"}
    corpus = corpus_of(load(Inputs(references=(layout / "references/xh-zu.ref-A.txt",), systems=systems, scores=scores)))
    assert len(corpus.human) == 2968
    assert corpus.human.query("system == 'FJDMATH'")["score"].head(5).tolist() == [31, 71, 35, 80, 100]


def test_14_damaged_lines_are_named(messy):
    loaded = read(messy / "14_mixed_broken.jsonl")
    assert loaded.corpus is None
    found = kinds(loaded)
    assert found["not-json"].line == 6
    assert "line 6: it is cut off" in found["not-json"].message
    assert (found["trailing-commas"].line, found["comments"].line, found["blank-lines"].line) == (13, 16, 23)


def test_14_is_read_once_its_line_is_mended(messy, tmp_path):
    lines = (messy / "14_mixed_broken.jsonl").read_text(encoding="utf-8").split("\n")
    del lines[5]
    (tmp_path / "mended.jsonl").write_text("\n".join(lines), encoding="utf-8")
    loaded = read(tmp_path / "mended.jsonl")
    corpus = corpus_of(loaded)
    assert list(corpus.systems) == ["M11", "M13", "M1"]
    counts = collections.Counter(sum(text is not None for text in references) for references in corpus.references)
    assert corpus.reference_count == 11
    assert set(counts) == {1, 11}  # a list of eleven, or one text
    assert kinds(loaded)["other-key"].line == 9  # line 10 of the original
    assert kinds(loaded)["json-constants"].line == 20
    assert corpus.systems["M11"].count(None) == 2  # the null of line 19, and the line that is a comment now


def test_17_workbook(messy):
    loaded = read(messy / "17_title_row_merged_numbers_as_text.xlsx")
    corpus = corpus_of(loaded)
    assert len(corpus) == 40
    assert list(corpus.systems) == ["System A", "System B"]
    assert corpus.systems["System B"][3] is None  # a formula that was never computed
    counts = corpus.human.groupby("system")["score"].count().to_dict()
    assert counts == {"System A": 39, "System B": 40}
    found = kinds(loaded)
    assert "E7" in found["formulas"].message
    assert "Notes" in found["other-sheets"].message
    assert found["title-rows"].line == 3

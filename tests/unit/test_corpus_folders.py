"""Several files that make one corpus: names, the mt-metrics-eval layout, word tags, what is left unread."""

import pytest
from corpus_files import corpus_of, kinds, read_files, refusal, scores

from engine.corpus.file_names import is_ignored, role_of_file, system_names
from engine.corpus.read import Inputs, load
from engine.corpus.types import SYSTEM_LEVEL


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("src.txt", "source"), ("newstest2019-deen-src.de", "source"), ("test21.src", "source"), ("source.txt.gz", "source"),
        ("reference0", "reference"), ("newstest2021.zh-en.ref.A.en", "reference"), ("refs_long.txt", "reference"),
        ("dev.pe", "reference"),
        ("hyp.txt", "system"), ("set1.out.0", "system"), ("sysA.txt", "system"), ("test21.mt", "system"),
        ("system-outputs/gpt.txt", "system"),
        ("dev.da", "scores"), ("xh-zu.wmt-raw.seg.score", "scores"), ("human_scores.txt", "scores"),
        ("test21.src-tags", "source tags"), ("test21.tgt-tags", "system tags"), ("xh-zu.docs", "documents"),
        ("wmt.txt", None), ("gpt4.txt", None),
    ],
)  # fmt: skip
def test_what_file_names_say(name, role):
    assert role_of_file(name) == role


@pytest.mark.parametrize(
    "name", ["README.md", "LICENSE", "LICENSE.demetr.MIT", "a/run.py", "Makefile", "figure.png", "NOTES.txt"]
)
def test_what_is_no_data(name):
    assert is_ignored(name)


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["o/newstest2019.online-A.0.de-en", "o/newstest2019.MSRA.MADL.6910.de-en"], ["online-A.0", "MSRA.MADL.6910"]),
        (["sysA.txt", "sysB.txt"], ["sysA", "sysB"]),
        (["set1.out.0", "set1.out.1"], ["out.0", "out.1"]),
        (["newstest2019.online-A.0.de-en"], ["online-A.0"]),
        (["gpt-4.txt", "nllb.3.3B.en"], ["gpt-4", "nllb.3.3B"]),
        (["x/out.txt", "y/out.txt"], ["x/out.txt", "y/out.txt"]),
        (["test21.mt"], ["test21.mt"]),
    ],
)
def test_names_of_systems(files, names):
    assert system_names(files) == names


def test_an_upload_of_several_texts():
    loaded = read_files({"src.de": "a\nb\n", "ref.en": "c\nd\n", "gpt.en": "e\nf\n", "nllb.en": "g\nh\n", "README.md": "x"})
    corpus = corpus_of(loaded)
    assert corpus.systems == {"gpt": ("e", "f"), "nllb": ("g", "h")}
    assert corpus.languages == ("de", "en")
    assert kinds(loaded)["taken-as-systems"].severity == "note"
    assert "README.md" in kinds(loaded)["ignored-files"].message


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({"x.txt": "a\n", "y.txt": "b\n"}, "unclear-files"),
        ({"src.txt": "a\n", "ref.txt": "b\n"}, "no-outputs"),
        ({"src.txt": "a\n", "source.txt": "a\n", "hyp.txt": "b\n"}, "several-sources"),
        ({"README.md": "a\n", "run.py": "b\n"}, "no-data"),
        ({"a/src.txt": "a\n", "a/hyp.txt": "b\n", "b/src.txt": "a\n"}, "several-corpora"),
        ({"src.txt": "a\nb\n", "hyp.txt": "b\n"}, "unequal-lengths"),
    ],
)
def test_what_cannot_be_told_is_refused(files, kind):
    assert refusal(read_files(files)).kind == kind


def test_folders_by_role():
    files = {
        "c/sources/t.txt": "a\nb\n",
        "c/references/t.txt": "c\nd\n",
        "c/outputs/A.txt": "e\nf\n",
        "c/outputs/B.txt": "g\nh\n",
        "c/attacked/x.txt": "i\nj\n",
    }
    loaded = read_files(files)
    assert set(corpus_of(loaded).systems) == {"A", "B"}
    assert "attacked" in kinds(loaded)["unread-files"].message


LAYOUT = {
    "sources/de-en.txt": "ein\nzwei\n",
    "sources/fr-en.txt": "un\n",
    "references/de-en.refA.txt": "one\ntwo\n",
    "references/de-en.refB.txt": "1\n2\n",
    "references/fr-en.refA.txt": "one\n",
    "system-outputs/de-en/S1.txt": "x\ny\n",
    "system-outputs/de-en/S2.txt": "z\nw\n",
    "system-outputs/de-en/refA.txt": "one\ntwo\n",
    "system-outputs/fr-en/S1.txt": "v\n",
    "documents/de-en.docs": "news\td1\nnews\td2\n",
    "human-scores/de-en.mqm.seg.score": "S1\t-1\nS1\tNone\nS2\t-2\nS2\t-3\n",
    "human-scores/de-en.mqm.sys.score": "S1\t-1\nS2\t-2.5\nrefA\t0\n",
    "human-scores/de-en.mqm.doc.score": "S1\t-1\n",
    "metric-scores/de-en/BLEU-refA.seg.score": "S1\t1\n",
}


@pytest.mark.parametrize("prefix", ["", "wmt21/"])
def test_the_layout_of_metrics_eval(prefix):
    loaded = read_files({prefix + name: text for name, text in LAYOUT.items()})
    corpus = corpus_of(loaded)
    assert corpus.systems == {"S1": ("x", "y"), "S2": ("z", "w")}
    assert corpus.references == (("one", "1"), ("two", "2"))
    assert corpus.documents == ("d1", "d2")
    assert corpus.languages == ("de", "en")
    assert scores(corpus, "mqm") == {
        (0, "S1"): -1,
        (0, "S2"): -2,
        (1, "S2"): -3,
        (SYSTEM_LEVEL, "S1"): -1,
        (SYSTEM_LEVEL, "S2"): -2.5,
    }
    assert loaded.language_pairs == ("de-en", "fr-en")
    assert kinds(loaded)["language-pairs"].severity == "warning"
    assert "metric-scores" in kinds(loaded)["unread-files"].message


def test_choosing_a_language_pair(tmp_path):
    for name, text in LAYOUT.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    corpus = corpus_of(load(Inputs(paths=(tmp_path,), languages=("fr", "en"))))
    assert (corpus.sources, corpus.languages) == (("un",), ("fr", "en"))
    assert corpus_of(load(Inputs(paths=(tmp_path,), languages=("fr", None)))).languages == ("fr", "en")
    assert "language-pairs" in kinds(load(Inputs(paths=(tmp_path,), languages=(None, "en"))))
    assert refusal(load(Inputs(paths=(tmp_path,), languages=("it", "en")))).kind == "languages"
    assert refusal(load(Inputs(paths=(tmp_path,), languages=(None, "de")))).kind == "languages"


def test_scores_that_do_not_fit_do_not_stop_the_rest():
    loaded = read_files(LAYOUT | {"human-scores/de-en.mqm.seg.score": "S1\t-1\nS1\t-2\nS1\t-3\nS2\t-2\n"})
    assert corpus_of(loaded).systems
    assert "left out" in kinds(loaded)["unequal-lengths"].message


def test_word_tags_become_spans():
    files = {"dev.src": "ein Haus hier\nja\n", "dev.mt": "a  house here\nyes no\n", "dev.da": "50\n70.5\n",
             "dev.src-tags": "0 1 0\n0\n", "dev.tgt-tags": "1 0 1\n0 1\n"}  # fmt: skip
    corpus = corpus_of(read_files(files))
    texts = {"hypothesis": corpus.systems["dev.mt"], "source": corpus.sources}
    marked = [(span.side, texts[span.side][span.segment][span.start : span.end]) for span in corpus.spans]
    assert marked == [("hypothesis", "a"), ("hypothesis", "here"), ("hypothesis", "no"), ("source", "Haus")]
    assert scores(corpus, "da") == {(0, "dev.mt"): 50, (1, "dev.mt"): 70.5}


def test_word_tags_with_gaps_and_faults():
    files = {"dev.mt": "a house\nyes\n", "dev.src": "x\ny\n", "dev.tags": "OK OK BAD BAD OK\nOK OK OK OK\n"}
    loaded = read_files(files)
    spans = corpus_of(loaded).spans
    assert [(span.start, span.end, span.category) for span in spans] == [(2, 2, "missing words"), (2, 7, "tagged word")]
    assert kinds(loaded)["tag-mismatch"].line == 2


def test_a_table_beside_scores():
    table = "system\tseg_id\tsource\thyp\nA\t1\ta b\tc d\nA\t2\te f\tg h\n"
    loaded = read_files({"t.tsv": table, "avg.tsv": "system score seg_id\nA\t1 1\nA\t2 2\nB\t3 1\n"})
    assert scores(corpus_of(loaded), "score") == {(0, "A"): 1, (1, "A"): 2}
    assert "B" in kinds(loaded)["unknown-systems"].message

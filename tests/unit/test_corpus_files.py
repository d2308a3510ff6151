"""What is not text: archives, pickles, other binaries; nothing is run, nothing leaves the archive, nothing explodes."""

import gzip
import io
import os
import pickle
import tarfile
from pathlib import Path

import numpy as np
import pytest
from corpus_files import corpus_of, kinds, read, read_files, refusal, zipped

from engine.corpus.read import Inputs, load, load_or_fail
from engine.errors import InputError


class Harmful:
    """Would leave a trace if it were unpickled."""

    def __reduce__(self):
        return (os.mkdir, ("unpickled",))


def tarred(files: dict[str, bytes]) -> bytes:
    """A tar archive."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return stream.getvalue()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", ["data.pkl", "data.txt", "data.tsv", "hyp"])
def test_pickles_are_refused_by_name_and_content(name, protocol, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for content in (pickle.dumps({"a": [1, Harmful()]}, protocol), gzip.compress(pickle.dumps([1, 2, 3], protocol))):
        finding = refusal(read(name, content))
        assert finding.kind == "pickle"
        assert "run any program" in finding.message
    assert not list(tmp_path.iterdir())


def test_models_and_arrays_are_refused():
    assert refusal(read("model.pt", zipped({"archive/data.pkl": b"x"}))).kind == "pickle"
    assert refusal(read("array.npy", b"\x93NUMPY\x01\x00" + b"\x00" * 100)).kind == "pickle"
    assert refusal(read("text.pkl", "plain text\n")).kind == "pickle"


def test_a_model_s_name_alone_makes_no_pickle():
    noise = np.random.default_rng(0).bytes(20_000)
    assert refusal(read("weights.bin", noise)).kind == "not-text"
    assert refusal(read("weights.bin", pickle.dumps({"magic": 1}, 2) + noise)).kind == "pickle"
    assert refusal(read("weights.bin", b"\x89PNG\r\n\x1a\n" + noise)).kind == "binary"


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_portuguese_is_no_model(encoding):
    corpus = corpus_of(read("newstest.pt", "Olá mundo, não é?\nTudo bem\n".encode(encoding)))
    assert len(corpus) == 2
    assert "Olá mundo, não é?" in str(corpus.systems)


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("old.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "old Office file"),
        ("a.pdf", b"%PDF-1.4\n", "PDF"),
        ("a.parquet", b"PAR1\x00\x01\xff", "Parquet"),
        ("a.docx", zipped({"word/document.xml": "<a/>"}), "Word"),
        ("a.ods", zipped({"mimetype": "application/vnd.oasis.opendocument.spreadsheet"}), "OpenDocument"),
        ("a.tar", tarred({"a.txt": b"x"}), "tar"),
        ("a.7z", b"7z\xbc\xaf\x27\x1c\x00", "7-Zip"),
        ("a.png", b"\x89PNG\r\n\x1a\n\x00", "image"),
    ],
)
def test_other_binaries_are_refused_with_what_they_are(name, content, what):
    finding = refusal(read(name, content))
    assert what in finding.message
    assert finding.file == name


@pytest.mark.parametrize(
    "text",
    [
        "GIF8 is a format\n",
        "x" * 256 + "Mustard on line one\n",
        "PK\x03\x04 is text\n",
        "PAR1 and more\n",
        "BZh what\n",
        "(a) first.",
        "c.",
        "]}.",
    ],
)
def test_text_that_begins_like_a_binary_is_text(text):
    assert len(corpus_of(read("a.txt", text))) == 1


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a/../../b.txt", "..\\..\\b.txt", "C:\\b.txt"])
def test_archives_cannot_lead_out(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    finding = refusal(read("a.zip", zipped({name: "x\n", "hyp.txt": "x\n"})))
    assert finding.kind == "zip-path"
    assert not list(tmp_path.iterdir())


def test_bombs_are_refused_quickly():
    assert refusal(read("a.zip", zipped({"a.txt": b"0" * (40 << 20)}))).kind == "archive-bomb"
    assert refusal(read("a.gz", gzip.compress(b"0" * (40 << 20)))).kind == "archive-bomb"
    twice = gzip.compress(gzip.compress(b"x\n"))
    assert read("a.gz.gz", twice).corpus is None or len(corpus_of(read("a.gz.gz", twice))) >= 1


def test_damaged_archives_are_refused():
    assert refusal(read("a.zip", zipped({"a.txt": "x"})[:-30])).kind == "damaged-archive"
    assert refusal(read("a.gz", gzip.compress(b"hello\n" * 1000)[:-20])).kind == "damaged-archive"
    assert refusal(read("a.zip", zipped({}))).kind == "empty-archive"
    assert refusal(read("empty.txt", b"")).kind == "empty-file"
    assert refusal(read("mark.txt", b"\xef\xbb\xbf")).kind == "empty-file"


def test_a_zip_is_read_like_a_folder():
    files = {"c/src.txt": "a\nb\n", "c/ref.txt": "a\nc\n", "c/sysA.txt": "x\ny\n", "c/sysB.txt": "x\nz\n",
             "__MACOSX/._src.txt": "junk", "c/.DS_Store": "junk", "c/README.md": "hi"}  # fmt: skip
    corpus = corpus_of(read("a.zip", zipped(files)))
    assert list(corpus.systems) == ["sysA", "sysB"]
    assert corpus.sources == ("a", "b")
    assert corpus.references == (("a",), ("c",))


def test_a_pickle_in_a_zip_is_passed_over():
    loaded = read("a.zip", zipped({"a.pkl": pickle.dumps(1), "hyp.txt": "a\n", "ref.txt": "b\n"}))
    assert list(corpus_of(loaded).systems) == ["hyp"]
    assert kinds(loaded)["pickle"].severity == "warning"


def test_gzip_is_unpacked_by_content():
    assert corpus_of(read("a.txt", gzip.compress(b"x\n") + gzip.compress(b"y\n"))).systems["a"] == ("x", "y")


def test_files_that_cannot_be_read(tmp_path: Path):
    assert refusal(load(Inputs(paths=(tmp_path / "nowhere.tsv",)))).kind == "unreadable"
    assert refusal(load(Inputs(paths=(tmp_path,)))).kind == "empty-folder"
    assert refusal(load(Inputs(systems={"A": tmp_path / "nowhere"}))).kind == "unreadable"
    with pytest.raises(InputError, match=r"nowhere.tsv: .*Check the name"):
        load_or_fail(Inputs(paths=(tmp_path / "nowhere.tsv",)))
    os.mkfifo(tmp_path / "pipe")
    assert refusal(load(Inputs(paths=(tmp_path / "pipe",)))).kind == "not-a-file"


def test_a_folder_that_cannot_be_read_is_not_passed_over(tmp_path, monkeypatch):
    (tmp_path / "locked").mkdir()
    (tmp_path / "a.txt").write_text("one\n")
    scan = os.scandir

    def locked(path):
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", locked)
    finding = refusal(load(Inputs(paths=(tmp_path,))))
    assert (finding.kind, finding.file) == ("unreadable", f"{tmp_path.name}/locked")


def test_names_that_are_no_utf_8_are_escaped(tmp_path):
    for name in (b"sys.gr\xfcn.txt", b"ref.txt"):
        with open(os.fsencode(tmp_path) + b"/" + name, "w") as file:
            file.write("one\n")
    folder = corpus_of(load(Inputs(paths=(tmp_path,))))
    parts = corpus_of(load(Inputs(references=(tmp_path / "ref.txt",), systems={"gr\udcfcn": tmp_path / "ref.txt"})))
    assert [*folder.systems] == ["sys.gr\\udcfcn"] and [*parts.systems] == [parts.name] == ["gr\\udcfcn"]


def test_messages_do_not_show_where_files_lie(tmp_path: Path):
    (tmp_path / "bad.tsv").write_text("src\tmt\na\tb\tc\n")
    finding = refusal(load(Inputs(paths=(tmp_path / "bad.tsv",))))
    assert finding.file == "bad.tsv"
    assert str(tmp_path) not in finding.message


def test_two_corpora_at_once_are_refused():
    table = "src\tmt\na\tb\n"
    finding = refusal(read_files({"a.tsv": table, "b.tsv": table}))
    assert finding.kind == "several-corpora"
    assert "a.tsv and b.tsv" in finding.message

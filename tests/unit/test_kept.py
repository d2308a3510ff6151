"""Corpora kept on disk: what comes back, who can read it, what is removed when."""

from __future__ import annotations

import gzip
import os
import pickle
import stat
import time
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from engine.corpus.demo import load_demo
from engine.corpus.kept import Kept, KeptCorpora, from_json, new_token, to_json
from engine.corpus.types import Corpus, Finding
from engine.errors import InputError

ODD = ("a\u2028b", "\x00", "\ud83d half", "\U0001f469\u200d\U0001f469", "", None, "\\u0041 \"'<", "\ufeff")


def small(name: str = "small", text: str = "x") -> Corpus:
    return Corpus(name, {"A": (text,)}, (("r",),))


def keep(folder: KeptCorpora, corpus: Corpus, findings: tuple[Finding, ...] = ()) -> tuple[str, int]:
    token = new_token()
    return token, folder.keep(Kept(corpus, findings), token)


def test_everything_comes_back(tmp_path: Path) -> None:
    corpus = replace(load_demo("mt"), ids=tuple(f"s{place}" for place in range(112)))
    findings = (Finding("bom", "a.txt", None, "message", "remedy", "note"),)
    folder = KeptCorpora(tmp_path / "uploads")
    token, removed = keep(folder, corpus, findings)
    back = folder.open(token)
    assert back is not None and removed == 0
    assert back.corpus.hash == corpus.hash and back.findings == findings
    for part in ("name", "systems", "references", "sources", "documents", "languages", "criteria", "spans", "ids"):
        assert getattr(back.corpus, part) == getattr(corpus, part)
    pd.testing.assert_frame_equal(back.corpus.human, corpus.human.reset_index(drop=True))


def test_any_text_comes_back() -> None:
    odd = Corpus("\ud800", {"\udc80.txt": ODD, "": ODD[::-1]}, tuple((text, None) for text in ODD), ODD)
    back = from_json(to_json(Kept(odd))).corpus
    assert (back.name, back.systems, back.references, back.sources) == (odd.name, odd.systems, odd.references, odd.sources)
    assert back.hash == odd.hash and back.documents is None and not len(back.human)


def test_scores_that_are_undefined_or_of_a_whole_system() -> None:
    human = pd.DataFrame({"segment": [0, -1], "system": ["A", "A"], "criterion": ["c", "c"], "score": [float("nan"), 0.1]})
    back = from_json(to_json(Kept(replace(small(), human=human)))).corpus
    pd.testing.assert_frame_equal(back.human, human.astype({"system": "str", "criterion": "str"}))


def test_tokens_are_random_and_files_the_owner_s_own(tmp_path: Path) -> None:
    folder = KeptCorpora(tmp_path / "uploads")
    first, _ = keep(folder, small())
    second, _ = keep(folder, small())
    assert first != second and len(first) == 32
    assert stat.S_IMODE(folder.folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.folder.iterdir()} == {0o600}


@pytest.mark.parametrize("token", ["", "0" * 32, "../" + "0" * 29, "A" * 32, "0" * 31 + "\n"])
def test_other_tokens_open_nothing(tmp_path: Path, token: str) -> None:
    folder = KeptCorpora(tmp_path)
    keep(folder, small())
    assert folder.open(token) is None and folder.until(token) is None


@pytest.mark.parametrize("content", [b"", b"\x1f\x8b", b"{}", pickle.dumps({"form": 1}), gzip.compress(b'{"form":1}', mtime=0)])
def test_what_is_not_a_kept_corpus_opens_nothing(tmp_path: Path, content: bytes) -> None:
    folder = KeptCorpora(tmp_path)
    (tmp_path / f"{'a' * 32}.json.gz").write_bytes(content)
    assert folder.open("a" * 32) is None


def test_the_longest_unopened_makes_room(tmp_path: Path) -> None:
    texts = [os.urandom(3000).hex() for _ in range(4)]
    folder = KeptCorpora(tmp_path, limit=8_000)
    tokens = [keep(folder, small(text=text))[0] for text in texts[:2]]
    now = time.time()
    for age, token in zip((50, 100), tokens):
        os.utime(folder._path(token), (now - age, now - age))
    assert folder.open(tokens[1]) is not None  # the older file is the one opened last
    third, removed = keep(folder, small(text=texts[2]))
    assert removed == 1
    assert folder.open(tokens[0]) is None
    assert folder.open(tokens[1]) is not None and folder.open(third) is not None
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 8_000
    with pytest.raises(InputError, match="larger than"):
        keep(folder, small(text=os.urandom(20_000).hex()))


def test_what_nobody_opens_is_removed(tmp_path: Path) -> None:
    folder = KeptCorpora(tmp_path, days=30)
    token, _ = keep(folder, small())
    other, _ = keep(folder, small())
    long_ago = time.time() - 31 * 24 * 3600
    os.utime(folder._path(token), (long_ago, long_ago))
    os.utime(folder._path(other), (long_ago, long_ago))
    assert folder.open(token) is None
    assert keep(folder, small())[1] == 0  # nothing had to make room
    assert len(list(tmp_path.iterdir())) == 1


def test_forgetting_is_for_good(tmp_path: Path) -> None:
    folder = KeptCorpora(tmp_path)
    token, _ = keep(folder, small())
    until = folder.until(token)
    assert until is not None and abs(until - time.time() - 30 * 24 * 3600) < 60
    folder.forget(token)
    assert folder.open(token) is None and folder.forgotten(token) and not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_to_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        keep(KeptCorpora(tmp_path / "file"), small())

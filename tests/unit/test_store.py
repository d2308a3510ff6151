"""The store: what goes in comes out, and nothing that happens to the file ends a run or changes a number."""

import json
import os
import sqlite3
import threading
from dataclasses import dataclass

import numpy as np
import pytest
from fake_metrics import make_segments
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.corpus.types import Segment
from engine.errors import InputError
from engine.scoring.keys import piece_key, segment_keys
from engine.scoring.pieces import Piece
from engine.scoring.rows import Index
from engine.scoring.store import Store, default_path, open_store

KNOWN_SEGMENT = "d9b78b2e3fba9f1d0fbf87aa5d88f016"
KNOWN_PIECE = "0a6b2c139e6a728d5a58aa83142d4bca"


def filled(path, count=300, seed=0):
    store, segments = Store(path), make_segments(count, seed)
    rows = np.random.default_rng(seed).normal(size=(count, 3))
    for start in range(0, count, 100):
        store.put_statistics("metric", segments[start : start + 100], rows[start : start + 100])
    return store, segments, rows


def test_statistics_come_back_exactly(tmp_path):
    path = tmp_path / "store.sqlite"
    store, segments, rows = filled(path)
    rows[7] = [np.nan, np.inf, -0.0]
    store.put_statistics("other", segments[:10], rows[:10])
    store.close()
    again = Store(path)
    order = np.random.default_rng(1).permutation(300)
    asked = [segments[i] for i in order] + make_segments(5, seed=9)
    found = again.get_statistics("metric", asked)
    assert found.found.tolist() == [True] * 300 + [False] * 5
    assert np.isnan(found.statistics[300:]).all()
    kept = order != 7
    assert np.array_equal(found.statistics[:300][kept], rows[order][kept])
    assert again.get_statistics("other", segments[:10]).statistics.tobytes() == rows[:10].tobytes()
    assert again.get_statistics("unknown", segments).found.sum() == 0
    assert again.get_statistics("unknown", segments).statistics.shape == (300, 0)
    assert again.get_statistics("metric", []).statistics.shape == (0, 0)
    assert again.notice is None


def test_another_width_under_one_key_is_refused():
    store = Store(":memory:")
    store.put_statistics("metric", make_segments(2), np.zeros((2, 3)))
    with pytest.raises(ValueError, match="signature"):
        store.put_statistics("metric", make_segments(2), np.zeros((2, 4)))
    with pytest.raises(ValueError, match="shape"):
        store.put_statistics("metric", make_segments(2), np.zeros((3, 3)))


def test_small_and_large_blocks_are_found_alike():
    store, segments = Store(":memory:"), make_segments(1200)
    rows, start = np.arange(1200.0)[:, None], 0
    for size in np.random.default_rng(3).choice([1, 2, 3, 50, 200], size=400):
        stop = min(1200, start + int(size))
        store.put_statistics("m", segments[start:stop], rows[start:stop])
        found = store.get_statistics("m", segments[: stop + 1])
        assert found.found[:stop].all() and np.array_equal(found.statistics[:stop], rows[:stop])
        start = stop
        if start == 1200:
            break


def test_index_runs_stay_few():
    index = Index()
    for block in range(1, 3000):
        index.add([(block, os.urandom(16))])
    assert len(index.runs) < 16 and sum(len(run.heads) for run in index.runs) == 2999


text = st.text(st.characters(exclude_categories=()), max_size=8)
segment = st.builds(Segment, st.none() | text, st.lists(text, max_size=3).map(tuple), st.none() | text)


@settings(max_examples=300, deadline=None)
@given(segment, segment)
def test_keys_are_equal_only_for_equal_segments(a, b):
    assert (segment_keys([a]) == segment_keys([b])) == (a == b)


def test_keys_of_text_like_things():
    class Name(str):
        pass

    plain = Segment("a", ("b",), "c")
    odd = Segment(Name("a"), (Name("b"),), Name("c"))
    assert segment_keys([plain, odd]) == segment_keys([plain, plain])
    assert segment_keys([Segment("".join(["a", "é"]), ("b",), "c")]) == segment_keys([Segment("aé", ("b",), "c")])


def test_keys_do_not_change_between_versions():
    """Stores live longer than a process: this value may only change with a new layout version."""
    assert segment_keys([Segment(None, ("the reference", ""), "naïve 訳 🙂")]).hex() == KNOWN_SEGMENT
    assert piece_key("a", 1, 2.5, None, True, ("x", b"y"), {"k": [1]}) == KNOWN_PIECE


@dataclass(frozen=True)
class Choice:
    name: str = "x"
    level: float = 0.5


def test_piece_keys():
    different = [("a", "b"), ("ab",), ("a", "b", ""), (1,), (1.0,), (True,), ("1",), (b"1",), (None,), ((1,),), ([1], 2)]
    different += [({"a": 1},)]
    different += [(np.array([1.0]),), (np.array([1]),), (np.array([[1]]),), (Choice(),), (Choice(level=0.6),), ()]
    assert len({piece_key(*parts) for parts in different}) == len(different)
    assert piece_key(np.float64(2.0), np.int64(3)) == piece_key(2.0, 3)
    assert piece_key([1, "a"]) == piece_key((1, "a")) and len(Store.piece_key("x")) == 32
    with pytest.raises(TypeError):
        piece_key(object())


def test_pieces_come_back_exactly_and_can_be_changed(tmp_path):
    path, key = tmp_path / "store.sqlite", piece_key("explanation", 1)
    arrays = {
        "importances": np.random.default_rng(0).normal(size=(4, 5)),
        "counts": np.arange(6, dtype=np.int32).reshape(2, 3).T,
        "words": np.array(["naïve", "訳", ""]),
        "empty": np.empty((0, 3)),
        "blank": np.array(["", ""]),
        "one": np.float32(3.5),
        "flags": np.array([True, False]),
    }
    Store(path).put_piece(key, arrays, {"notes": ["a"], "undefined": None})
    piece = Store(path).get_piece(key)
    assert list(piece) == list(arrays) and piece.facts == {"notes": ["a"], "undefined": None}
    for name, array in arrays.items():
        assert np.array_equal(piece[name], array) and piece[name].shape == np.shape(array)
        assert piece[name].dtype == np.asarray(array).dtype
    piece["importances"][0, 0] = 1.0
    assert Store(path).get_piece("0" * 32) is None
    Store(path).put_piece(key, {"a": np.zeros(1)})
    assert list(Store(path).get_piece(key)) == ["a"]


def test_many_pieces_at_once():
    store = Store(":memory:")
    store.put_pieces({f"{i:032x}": Piece({"a": np.array([i])}, {"i": i}) for i in range(1300)})
    found = store.get_pieces(f"{i:032x}" for i in range(0, 2600, 2))
    assert len(found) == 650 and all(piece["a"][0] == piece.facts["i"] for piece in found.values())
    assert store.get_pieces([]) == {}


def test_pieces_hold_no_objects():
    store = Store(":memory:")
    for bad in (np.array([object()]), np.array([("a", 1)], dtype=[("x", "U1"), ("y", int)])):
        with pytest.raises(TypeError):
            store.put_piece("k", {"a": bad})
    with pytest.raises(TypeError):
        store.put_piece("k", {}, {"a": object()})


def aside(folder):
    return sorted(path.name for path in folder.iterdir() if ".aside" in path.name and not path.name.endswith(("-wal", "-shm")))


@pytest.mark.parametrize("content", [b"segment,score\n1,2\n", b"x", os.urandom(5000), b"SQLite format 3\x00" + os.urandom(4000)])
def test_a_foreign_file_is_moved_aside(tmp_path, content):
    path = tmp_path / "store.sqlite"
    path.write_bytes(content)
    store, segments, rows = filled(path)
    assert "moved to store.sqlite.aside" in store.notice and str(path) in store.notice
    assert (tmp_path / "store.sqlite.aside").read_bytes() == content
    assert np.array_equal(Store(path).get_statistics("metric", segments).statistics, rows)
    assert Store(path).notice is None


def test_a_foreign_database_is_moved_aside_unchanged(tmp_path):
    path = tmp_path / "store.sqlite"
    other = sqlite3.connect(path)
    other.executescript("CREATE TABLE pieces (mine TEXT); INSERT INTO pieces VALUES ('kept');")
    other.close()
    before = path.read_bytes()
    assert "not made by this program" in Store(path).notice
    assert (tmp_path / "store.sqlite.aside").read_bytes() == before


def test_another_layout_is_moved_aside(tmp_path):
    path = tmp_path / "store.sqlite"
    filled(path)[0].close()
    other = sqlite3.connect(path)
    other.execute("PRAGMA user_version = 99")
    other.close()
    store, segments, _ = filled(path)
    assert "layout 99" in store.notice and store.get_statistics("metric", segments).found.all()


def test_names_aside_do_not_collide(tmp_path):
    path = tmp_path / "store.sqlite"
    for _ in range(3):
        path.write_bytes(b"not a database")
        Store(path).close()
        path.unlink()
        for ending in ("-wal", "-shm"):
            (tmp_path / f"store.sqlite{ending}").unlink(missing_ok=True)
    assert aside(tmp_path) == ["store.sqlite.aside", "store.sqlite.aside-2", "store.sqlite.aside-3"]


@pytest.mark.parametrize("seed", range(12))
def test_random_damage_never_gives_a_wrong_number(tmp_path, seed):
    path, rng = tmp_path / "store.sqlite", np.random.default_rng(seed)
    store, segments, rows = filled(path)
    store.put_piece("k" * 32, {"a": np.arange(500.0)})
    store.close()
    content = bytearray(path.read_bytes())
    if seed % 3 == 0:
        content = content[: int(rng.integers(1, len(content)))]
    else:
        start = int(rng.integers(0, len(content) - 64)) if seed % 3 == 1 else int(rng.integers(4096, len(content) - 64))
        content[start : start + 64] = rng.bytes(64)
    path.write_bytes(bytes(content))
    store = Store(path)
    found = store.get_statistics("metric", segments)
    assert not found.found.any() or np.array_equal(found.statistics[found.found], rows[found.found])
    piece = store.get_piece("k" * 32)
    assert piece is None or np.array_equal(piece["a"], np.arange(500.0))
    store.put_statistics("metric", segments, rows)
    store.put_piece("k" * 32, {"a": np.arange(500.0)})
    again = Store(path)
    assert again.get_statistics("metric", segments).found.all() and again.get_piece("k" * 32) is not None


def test_a_changed_number_is_noticed(tmp_path):
    path = tmp_path / "store.sqlite"
    store, segments, rows = filled(path)
    store.put_piece("k" * 32, {"a": np.arange(5.0)})
    store.close()
    content = path.read_bytes()
    place = content.index(rows[150].tobytes())
    path.write_bytes(content[:place] + b"\x01" + content[place + 1 :])
    store = Store(path)
    assert not store.get_statistics("metric", segments).found.any()
    assert "was damaged" in store.notice and aside(tmp_path) == ["store.sqlite.aside"]
    path = tmp_path / "other.sqlite"
    place = content.index(np.arange(5.0).tobytes())
    path.write_bytes(content[:place] + b"\x01" + content[place + 1 :])
    store = Store(path)
    assert store.get_piece("k" * 32) is None and "was damaged" in store.notice


def test_damage_while_running(tmp_path):
    path = tmp_path / "store.sqlite"
    store, segments, rows = filled(path)
    other = sqlite3.connect(path)
    other.executescript("DROP TABLE blocks")
    other.close()
    assert not store.get_statistics("metric", segments).found.any()
    store.put_statistics("metric", segments, rows)
    assert store.get_statistics("metric", segments).found.all()
    assert store.notice.count("\n") == 0 and "was damaged" in store.notice


def test_two_stores_notice_damage_once(tmp_path):
    path = tmp_path / "store.sqlite"
    one, segments, rows = filled(path)
    two = Store(path)
    other = sqlite3.connect(path)
    other.executescript("DROP TABLE blocks")
    other.close()
    one.put_statistics("metric", segments, rows)
    two.put_statistics("metric", segments[:50], rows[:50])
    assert aside(tmp_path) == ["store.sqlite.aside"]
    assert Store(path).get_statistics("metric", segments).found.all()


def test_a_place_that_cannot_be_written_is_no_fault(tmp_path):
    blocked = tmp_path / "file.txt"
    blocked.write_text("a file, not a folder")
    os.mkfifo(tmp_path / "pipe")
    for path in (blocked / "store.sqlite", tmp_path, tmp_path / "pipe"):
        store, segments, rows = filled(path)
        assert "kept in memory" in store.notice
        assert np.array_equal(store.get_statistics("metric", segments).statistics, rows)
    assert blocked.read_text() == "a file, not a folder"


def test_a_file_that_cannot_be_written(tmp_path, monkeypatch):
    import engine.scoring.database as database

    path = tmp_path / "store.sqlite"
    filled(path)[0].close()
    connect = sqlite3.connect

    def read_only(name, **how):
        return connect(name, **how) if name.startswith((":", "file:")) else connect(f"file:{name}?mode=ro", uri=True, **how)

    monkeypatch.setattr(database.sqlite3, "connect", read_only)
    store, segments, rows = filled(path)
    assert "readonly" in store.notice and "kept in memory" in store.notice and not aside(tmp_path)
    assert store.get_statistics("metric", segments).found.all()


@pytest.mark.parametrize("folder", ["plain", "with spaces, % and ?"])
def test_what_a_file_that_can_only_be_read_holds_is_used(tmp_path, monkeypatch, folder):
    import engine.scoring.database as database

    path = tmp_path / folder / "store.sqlite"
    store, segments, rows = filled(path)
    store.put_piece("k" * 32, {"a": np.arange(3)})
    store.close()
    content = path.read_bytes()
    connect = sqlite3.connect

    def read_only(name, **how):
        return connect(name, **how) if name.startswith((":", "file:")) else connect("file:/nowhere/x?mode=ro", uri=True, **how)

    monkeypatch.setattr(database.sqlite3, "connect", read_only)
    store, more = Store(path), make_segments(20, seed=5)
    assert "cannot be written (" in store.notice and "what it holds is used, and new results are kept in memory" in store.notice
    assert np.array_equal(store.get_statistics("metric", segments).statistics, rows)
    assert np.array_equal(store.get_piece("k" * 32)["a"], np.arange(3)) and store.get_piece("l" * 32) is None
    store.put_statistics("metric", more, np.ones((20, 3)))
    store.put_piece("l" * 32, {"a": np.arange(4)})
    found = store.get_statistics("metric", [*more, *segments, *make_segments(5, seed=6)])
    assert found.found.sum() == 20 + len(segments)
    assert np.array_equal(found.statistics[:-5], np.concatenate([np.ones((20, 3)), rows]))
    assert store.get_pieces(["k" * 32, "l" * 32]).keys() == {"k" * 32, "l" * 32}
    store.close()
    assert path.read_bytes() == content
    place = content.index(rows[150].tobytes())
    path.write_bytes(content[:place] + b"\x01" + content[place + 1 :])
    store = Store(path)
    assert (
        not store.get_statistics("metric", segments).found.any() and "cannot be used" in store.notice and not aside(path.parent)
    )


def test_a_full_disk_is_no_fault(tmp_path):
    store, segments, rows = filled(tmp_path / "store.sqlite")
    pages = store._database.execute("PRAGMA page_count").fetchone()[0]
    store._database.execute(f"PRAGMA max_page_count = {pages}")
    more = make_segments(20_000, seed=4)
    store.put_statistics("metric", more, np.zeros((20_000, 3)))
    store.put_piece("k" * 32, {"a": np.zeros(100_000)})
    assert "full" in store.notice and store.notice.count("\n") == 0
    assert store.get_statistics("metric", segments).found.all()
    assert not store.get_statistics("metric", more).found.any() and store.get_piece("k" * 32) is None


def test_a_busy_file_is_waited_for_and_then_left(tmp_path):
    path = tmp_path / "store.sqlite"
    filled(path)[0].close()
    store, segments = Store(path, patience=0.1), make_segments(10, seed=8)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    store.put_statistics("metric", segments, np.zeros((10, 3)))
    assert "locked" in store.notice and not store.get_statistics("metric", segments).found.any()
    other.execute("COMMIT")
    store.put_statistics("metric", segments, np.zeros((10, 3)))
    assert store.get_statistics("metric", segments).found.all() and not aside(tmp_path)


def test_many_threads(tmp_path):
    store, segments = Store(tmp_path / "store.sqlite"), make_segments(240)
    rows, faults = np.arange(240.0)[:, None], []

    def work(part):
        try:
            for index in range(part, 240, 6):
                store.put_statistics("m", [segments[index]], rows[[index]])
                store.put_piece(f"{index:032x}", {"a": rows[index]})
                found = store.get_statistics("m", segments)
                assert np.array_equal(found.statistics[found.found], rows[found.found]) and found.found[index]
        except Exception as fault:
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(part,)) for part in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults and store.notice is None
    assert store.get_statistics("m", segments).found.all()
    assert len(store.get_pieces(f"{index:032x}" for index in range(240))) == 240


def test_what_another_process_writes_is_seen(tmp_path):
    path = tmp_path / "store.sqlite"
    one, segments, rows = filled(path)
    two = Store(path)
    assert two.get_statistics("metric", segments).found.all()
    more = make_segments(10, seed=3)
    one.put_statistics("metric", more, np.ones((10, 3)))
    assert two.get_statistics("metric", more).found.all()


def test_the_usual_place(tmp_path, monkeypatch):
    monkeypatch.setenv("PLUMBLINE_HOME", str(tmp_path / "home"))
    assert default_path() == tmp_path / "home" / "store.sqlite"
    assert open_store("none") is None
    store = open_store()
    assert (tmp_path / "home" / "store.sqlite").exists() and store.path == str(default_path())
    assert open_store(tmp_path / "other.sqlite").path == str(tmp_path / "other.sqlite")
    with pytest.raises(InputError):
        open_store("")
    monkeypatch.delenv("PLUMBLINE_HOME")
    assert default_path().parts[-3:] == (".cache", "plumbline", "store.sqlite")


def test_the_file_holds_no_pickle_and_no_texts(tmp_path):
    path = tmp_path / "store.sqlite"
    store = Store(path)
    store.put_statistics("m", [Segment("my source", ("my reference",), "my output")], np.zeros((1, 1)))
    store.put_piece("k" * 32, {"a": np.arange(3)}, {"b": 1})
    header = store._database.execute("SELECT header FROM pieces").fetchone()[0]
    assert json.loads(header)["facts"] == {"b": 1}
    store.close()
    assert b"my output" not in path.read_bytes()


def test_a_closed_store_says_so():
    store = Store(":memory:")
    store.close()
    with pytest.raises(sqlite3.ProgrammingError):
        store.get_piece("k")

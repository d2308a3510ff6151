"""The store and the intervals: `python -m benchmarks.store [rows]` (400,000 rows unless said otherwise).

A naive store, one SELECT or INSERT per row in the same file format and on the same machine, is timed on a part of the rows
and scaled up; ratios hold, absolute times depend on the machine and on what else it does.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np

from engine.corpus.types import Corpus, Segment
from engine.metrics.registry import make_metric
from engine.scoring.keys import segment_keys
from engine.scoring.scorer import Scorer
from engine.scoring.store import Store
from engine.scoring.systems import score_systems

WIDTH = 10  # BLEU's statistics
PART = 20_000  # rows for the naive way


def timed(action: Callable[[], object]) -> float:
    """Wall-clock seconds."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def make_segments(count: int) -> list[Segment]:
    """Different segments of about 20 words, the way translations look."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{number}" for number in range(5000)])
    drawn = words[rng.integers(0, len(words), size=(count, 40))]
    return [Segment(None, (" ".join(row[:20]),), " ".join(row[20:])) for row in drawn.tolist()]


def naive_write(database: sqlite3.Connection, segments: Sequence[Segment], rows: np.ndarray) -> None:
    """One row at a time."""
    database.execute("CREATE TABLE naive (key BLOB PRIMARY KEY, body BLOB)")
    for segment, row in zip(segments, rows, strict=True):
        key = blake2b(repr(segment).encode(), digest_size=16).digest()
        database.execute("INSERT INTO naive VALUES (?, ?)", (key, row.tobytes()))


def naive_read(database: sqlite3.Connection, segments: Sequence[Segment]) -> np.ndarray:
    """One row at a time."""
    found = []
    for segment in segments:
        key = blake2b(repr(segment).encode(), digest_size=16).digest()
        found.append(np.frombuffer(database.execute("SELECT body FROM naive WHERE key = ?", (key,)).fetchone()[0]))
    return np.array(found)


def statistics(folder: Path, count: int) -> None:
    """Reading and writing many rows."""
    segments, rows = make_segments(count), np.random.default_rng(1).normal(size=(count, WIDTH))
    store, batch = Store(folder / "store.sqlite"), 4096

    def write() -> None:
        for start in range(0, count, batch):
            store.put_statistics("metric", segments[start : start + batch], rows[start : start + batch])

    written = timed(write)
    store.close()
    store = Store(folder / "store.sqlite")
    hashed = timed(lambda: segment_keys(segments))
    read = timed(lambda: store.get_statistics("metric", segments))
    again = min(timed(lambda: store.get_statistics("metric", segments)) for _ in range(3))
    one = min(timed(lambda: store.get_statistics("metric", segments[:1])) for _ in range(5))
    found = store.get_statistics("metric", segments)
    assert found.found.all() and np.array_equal(found.statistics, rows)
    naive = sqlite3.connect(folder / "naive.sqlite", isolation_level=None)
    naive.execute("PRAGMA journal_mode = WAL")
    naive.execute("PRAGMA synchronous = NORMAL")
    part = min(PART, count)
    slow_write = timed(lambda: naive_write(naive, segments[:part], rows[:part])) * count / part
    slow_read = timed(lambda: naive_read(naive, segments[:part])) * count / part
    print(f"{count:,} rows of {WIDTH} numbers")
    print(f"  write        {written:6.2f} s   naive {slow_write:6.2f} s   ratio {slow_write / written:5.1f}")
    print(f"  read, cold   {read:6.2f} s   naive {slow_read:6.2f} s   ratio {slow_read / read:5.1f}   (target: under 2 s)")
    print(f"  read, again  {again:6.2f} s   of which hashing {hashed:.2f} s")
    print(f"  read one row {one * 1000:6.2f} ms")


def pieces(folder: Path) -> None:
    """Opening finished results."""
    path = folder / "pieces.sqlite"
    rng = np.random.default_rng(0)
    store = Store(path)
    store.put_piece("surface", {"surface": rng.normal(size=(7, 600, 6, 3)), "scores": rng.normal(size=(16, 1600, 10))})
    many = {Store.piece_key("explanation", number): {"importances": rng.normal(size=40)} for number in range(4000)}
    for key, arrays in many.items():
        store.put_piece(key, arrays, {"undefined": None})
    store.close()

    def open_one() -> None:
        assert Store(path).get_piece("surface") is not None

    def open_many() -> None:
        assert len(Store(path).get_pieces(many)) == len(many)

    one, several = timed(open_one), timed(open_many)
    print(f"finished result: one of 2.6 MB {one:.3f} s, 4000 explanations {several:.3f} s (target: under 0.3 s)")


def intervals(count: int) -> None:
    """BLEU of two systems with 1000 resamples, once the statistics are in the store."""
    segments = make_segments(2 * count)
    outputs = {name: tuple(item.hypothesis for item in segments[place::2]) for place, name in enumerate("AB")}
    corpus = Corpus(name="benchmark", systems=outputs, references=tuple(item.references for item in segments[:count]))
    scorer, bleu = Scorer(Store(":memory:")), make_metric("bleu")
    fresh = timed(lambda: score_systems(corpus, [bleu], scorer, resamples=0))
    warm = min(timed(lambda: score_systems(corpus, [bleu], scorer, resamples=0)) for _ in range(2))
    whole = min(timed(lambda: score_systems(corpus, [bleu], scorer, resamples=1000)) for _ in range(2))
    table = scorer.statistics(bleu, corpus.segments("A"))
    draws = np.random.default_rng(0).integers(0, count, size=(5, count))
    naive = timed(lambda: [bleu.corpus_score(table[row]) for row in draws]) * 1000 / 5 * 2
    own = max(whole - warm, 1e-9)
    print(f"BLEU, {count:,} segments, 2 systems: scored {fresh:.2f} s, from the store {warm:.2f} s")
    print(f"  1000 resamples {own:6.2f} s   naive {naive:6.2f} s   ratio {naive / own:5.1f}   (target: under 2 s)")


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 400_000
    with tempfile.TemporaryDirectory() as folder:
        statistics(Path(folder), count)
        pieces(Path(folder))
    intervals(count // 4)


if __name__ == "__main__":
    main()

"""How fast and how small reading is: 100,000 segments and two systems as plain text, TSV and JSONL.

`python -m benchmarks.corpus [SEGMENTS]`. Each format is read in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SEGMENTS = 100_000
FORMATS = ("text", "tsv", "wide", "jsonl")


def main() -> None:
    """Write the files, read them, print seconds and memory."""
    segments = int(sys.argv[1]) if len(sys.argv) > 1 else SEGMENTS
    with tempfile.TemporaryDirectory() as folder:
        sizes = write_files(Path(folder), segments)
        base = measure(folder, "nothing")
        print(f"{segments:,} segments, 2 systems, source, reference and one human score; an idle process has {base[1]:.0f} MiB")
        print(f"{'format':8}{'MB':>8}{'seconds':>10}{'CPU s':>8}{'x bare':>8}{'MiB peak':>10}{'peak / file':>13}{'hash s':>8}")
        for kind in FORMATS:
            seconds, peak, hashing, cpu, bare = measure(folder, kind)
            size = sizes[kind] / 1e6
            ratio = (peak - base[1]) / (sizes[kind] / 2**20)
            print(f"{kind:8}{size:8.1f}{seconds:10.2f}{cpu:8.2f}{cpu / bare:8.1f}{peak:10.0f}{ratio:13.1f}{hashing:8.2f}")


def write_files(folder: Path, segments: int) -> dict[str, int]:
    """Write the same corpus in every format; the size of each in bytes."""
    rng = random.Random(0)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyzäöüéß", k=rng.randint(2, 9))) for _ in range(20_000)]

    def sentence() -> str:
        return " ".join(rng.choices(words, k=rng.randint(8, 30)))

    rows = [(sentence(), sentence(), sentence(), sentence(), rng.uniform(0, 100), rng.uniform(0, 100)) for _ in range(segments)]
    parts = {"src": 0, "ref": 1, "a": 2, "b": 3}
    for name, column in parts.items():
        (folder / f"{name}.txt").write_text("".join(row[column] + "\n" for row in rows), encoding="utf-8")
    with open(folder / "long.tsv", "w", encoding="utf-8") as tsv, open(folder / "long.jsonl", "w", encoding="utf-8") as jsonl:
        tsv.write("system\tseg_id\tsource\treference\thypothesis\tda\n")
        for system, column in (("a", 2), ("b", 3)):
            for number, row in enumerate(rows, 1):
                tsv.write(f"{system}\t{number}\t{row[0]}\t{row[1]}\t{row[column]}\t{row[column + 2]:.4f}\n")
                record = {"system": system, "id": number, "src": row[0], "ref": row[1], "mt": row[column], "da": row[column + 2]}
                jsonl.write(json.dumps(record, ensure_ascii=False) + "\n")
    with open(folder / "wide.tsv", "w", encoding="utf-8") as wide:
        wide.write("source\treference\tsystem a\tsystem b\tda a\tda b\n")
        for row in rows:
            wide.write("\t".join([*row[:4], f"{row[4]:.4f}", f"{row[5]:.4f}"]) + "\n")
    sizes = {"text": sum((folder / f"{name}.txt").stat().st_size for name in parts)}
    return sizes | {"tsv": (folder / "long.tsv").stat().st_size, "wide": (folder / "wide.tsv").stat().st_size,
                    "jsonl": (folder / "long.jsonl").stat().st_size}  # fmt: skip


def measure(folder: str, kind: str) -> tuple[float, ...]:
    """Of a fresh process: seconds of reading, MiB at most, seconds of hashing, CPU seconds of reading and of bare parsing."""
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.corpus", "--read", folder, kind], capture_output=True, text=True, check=True
    )
    return tuple(map(float, run.stdout.split()))


def read(folder: Path, kind: str) -> None:
    """Read one format and print what it took."""
    from engine.corpus.read import Inputs, load_or_fail

    inputs = {
        "text": Inputs(
            source=folder / "src.txt", references=(folder / "ref.txt",), systems={"a": folder / "a.txt", "b": folder / "b.txt"}
        ),
        "tsv": Inputs(paths=(folder / "long.tsv",)),
        "wide": Inputs(paths=(folder / "wide.tsv",)),
        "jsonl": Inputs(paths=(folder / "long.jsonl",)),
    }
    start, cpu = time.perf_counter(), time.process_time()
    corpus = load_or_fail(inputs[kind]) if kind in inputs else None
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    start = time.perf_counter()
    if corpus is not None:
        assert len(corpus.systems) == 2
        assert corpus.hash
    hashing = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(seconds, peak, hashing, cpu, bare_parsing(folder, kind))


def bare_parsing(folder: Path, kind: str) -> float:
    """Processor seconds of the least that any reader does: decode, and split or parse each line."""
    files = {"text": ["src", "ref", "a", "b"], "tsv": ["long.tsv"], "wide": ["wide.tsv"], "jsonl": ["long.jsonl"]}.get(kind, [])
    start = time.process_time()
    for name in files:
        lines = (folder / (name if "." in name else f"{name}.txt")).read_bytes().decode().split("\n")
        if kind == "jsonl":
            _ = [json.loads(line) for line in lines if line]
        elif kind != "text":
            _ = [line.split("\t") for line in lines]
    return time.process_time() - start


if __name__ == "__main__":
    if sys.argv[1:2] == ["--read"]:
        read(Path(sys.argv[2]), sys.argv[3])
    else:
        main()

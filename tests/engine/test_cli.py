"""The command line does what it says, with the libraries' numbers and the promised exit statuses."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
import sacrebleu

from engine.cli import ProgressBar, main
from engine.commands.context import Context
from engine.corpus.demo import load_demo

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def parts(tmp_path: Path) -> dict[str, Path]:
    """A small corpus as plain files."""
    texts = {
        "src": ["Guten Morgen.", "Es regnet nicht.", "Der Zug fährt um 17 Uhr."],
        "ref": ["Good morning.", "It is not raining.", "The train leaves at 5 p.m."],
        "a": ["Good morning.", "It is raining.", "The train leaves at 5 p.m."],
        "b": ["Morning good.", "It rains not.", "The train drives at 17 clock."],
    }
    for name, lines in texts.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {name: tmp_path / f"{name}.txt" for name in texts}


def flags(parts: dict[str, Path]) -> list[str]:
    return [
        *("--source", str(parts["src"]), "--reference", str(parts["ref"])),
        *("--system", f"A={parts['a']}", f"B={parts['b']}", "--langs", "de-en", "--store", "none"),
    ]


def test_score_gives_sacrebleu_numbers(parts: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "scores.csv"
    assert main(["score", *flags(parts), "--metric", "chrf", "--metric", "bleu", "--out", str(out)]) == 0
    frame = pd.read_csv(out)
    assert list(frame.columns) == ["system", "metric", "score", "low", "high", "n", "signature"]
    lines = {name: path.read_text(encoding="utf-8").splitlines() for name, path in parts.items()}
    for name in "AB":
        wanted = sacrebleu.corpus_chrf(lines[name.lower()], [lines["ref"]]).score
        row = frame[(frame.system == name) & (frame.metric == "chrf")].iloc[0]
        assert row.score == pytest.approx(wanted, abs=1e-9)
        assert row.low <= row.score <= row.high and row.n == 3


def test_segments_and_formats_agree(parts: dict[str, Path], tmp_path: Path) -> None:
    frames = {}
    for suffix in ("csv", "json", "jsonl", "parquet"):
        out = tmp_path / f"segments.{suffix}"
        assert main(["score", *flags(parts), "--metric", "chrf", "--segments", "--out", str(out)]) == 0
        reader = {"csv": pd.read_csv, "json": pd.read_json, "parquet": pd.read_parquet}.get(suffix)
        rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()] if suffix == "jsonl" else None
        frames[suffix] = pd.DataFrame(rows) if rows else reader(out)
    for frame in frames.values():
        assert list(frame.columns) == ["segment", "system", "metric", "score"]
        assert frame.score.tolist() == pytest.approx(frames["csv"].score.tolist())
    wanted = sacrebleu.sentence_chrf("It is raining.", ["It is not raining."]).score
    assert frames["csv"].query("system == 'A' and segment == 1").score.item() == pytest.approx(wanted)


def test_explain_rows(parts: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "words.csv"
    arguments = ["explain", *flags(parts), "--metric", "chrf", "--explainer", "erasure", "--systems", "A", "--limit", "2"]
    assert main([*arguments, "--out", str(out)]) == 0
    frame = pd.read_csv(out)
    columns = ["segment", "system", "metric", "explainer", "side", "position", "word", "importance", "score"]
    assert list(frame.columns) == columns
    second = frame.query("segment == 1 and side == 'hypothesis'")
    assert second.word.tolist() == ["It", "is", "raining."]
    without = sacrebleu.sentence_chrf("It raining.", ["It is not raining."]).score
    assert second.importance.iloc[1] == pytest.approx(second.score.iloc[1] - without)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["score", "absent.txt"], "absent.txt"),
        (["score"], "no corpus"),
        (["score", "demo:speech"], "demo:mt"),
        (["score", "demo:mt", "--metric", "bluh"], "unknown metric"),
        (["score", "demo:mt", "--metric", "bertscore:layer=999"], "999"),
        (["score", "demo:mt", "--systems", "aurora", "zenith"], "zenith"),
        (["score", "demo:mt", "--limit", "0"], "--limit"),
        (["score", "demo:mt", "--langs", "klingon"], "klingon"),
        (["score", "demo:mt", "--threads", "0"], "--threads"),
        (["score", "demo:mt", "--seed", "-1"], "--seed"),
        (["score", "demo:mt", "--resamples", "-1"], "--resamples"),
        (["score", "demo:mt", "--resamples", "9999999999"], "largest value"),
        (["score", "demo:mt", "--langs", "de-en"], "leave --langs"),
        (["score", "demo:mt", "--columns", "source=a"], "leave --langs and --columns"),
        (["score", "--system", f"A={__file__}", "--columns", "source=a"], "no table"),
        (["check", "x" * 5000], "too long"),
        (["check", "\x1b[31mred"], "\\x1b[31mred"),
        (["score", "demo:mt", "--out", "scores.pkl"], ".csv"),
        (["score", "demo:mt", "--out", "no/such/folder/scores.csv"], "no/such/folder"),
        (["explain", "demo:mt", "--samples", "many"], "option --samples is 'many'; it must be a whole number"),
        (["explain", "demo:mt", "--samples", "99999999999", "--explainer", "lime"], "largest value"),
        (["explain", "demo:mt", "--explainer", "gradient"], "choose one of"),
    ],
)
def test_bad_input_is_one_line_and_status_2(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    extra = [] if arguments[0] == "check" else ["--store", "none"]
    assert main([*arguments, *extra]) == 2
    error = capsys.readouterr().err.strip()
    assert words in error and "\n" not in error


def test_check_tells_file_line_and_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "ref.txt").write_text("one\ntwo\nthree\n", encoding="utf-8")
    (tmp_path / "out.txt").write_text("one\ntwo\n", encoding="utf-8")
    out = tmp_path / "findings.csv"
    pair = ["--reference", str(tmp_path / "ref.txt"), "--system", f"A={tmp_path / 'out.txt'}"]
    assert main(["check", *pair, "--out", str(out)]) == 2
    frame = pd.read_csv(out)
    assert list(frame.columns)[:5] == ["kind", "file", "line", "message", "remedy"]
    assert "unequal-lengths" in set(frame.kind)
    assert main(["check", "demo:mt"]) == 0
    assert "112 segments; systems aurora, beacon, cobalt; 1 reference; sources; languages de-en" in capsys.readouterr().err


def test_check_looks_at_the_part_that_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "table.csv"
    table.write_text("source,reference,A,B\na,b,c,\nd,e,f,g\nh,i,,k\n", encoding="utf-8")
    columns = ["--columns", "source=source,reference=reference,hypothesis:A=A,hypothesis:B=B"]

    def messages(*cut: str) -> list[str]:
        out = tmp_path / "findings.csv"
        assert main(["check", str(table), *columns, *cut, "--out", str(out)]) == 0
        found = pd.read_csv(out)
        return found[found.severity == "warning"].message.tolist()

    assert "system A" in messages()[0] and "system B" in messages()[0]
    (only,) = messages("--limit", "2")
    assert "system B" in only and "system A" not in only
    (only,) = messages("--systems", "A")
    assert "system A" in only and "system B" not in only
    assert messages("--limit", "2", "--systems", "A") == []
    assert "2 segments; system A; 1 reference" in capsys.readouterr().err
    assert main(["check", str(table), *columns, "--systems", "C"]) == 2
    assert "no system 'C'; the systems are A, B" in capsys.readouterr().err


def test_unknown_languages_are_told(parts: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    named = ["--reference", str(parts["ref"]), "--system", f"A={parts['a']}"]
    assert main(["check", *named, "--langs", "de-qq"]) == 0
    told = [line for line in capsys.readouterr().err.split("\n") if "--langs" in line]
    assert len(told) == 1 and "'qq'" in told[0]
    assert main(["check", *named, "--langs", "de-en"]) == 0
    assert "--langs" not in capsys.readouterr().err


def test_ids_of_the_input_stand_beside_segments(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("segment,system,hypothesis,reference\ns7,A,a b,a c\ns9,A,c d,c d\n", encoding="utf-8")
    out = tmp_path / "rows.csv"
    assert main(["score", str(table), "--metric", "chrf", "--segments", "--store", "none", "--out", str(out)]) == 0
    assert pd.read_csv(out)[["segment", "id"]].to_numpy().tolist() == [[0, "s7"], [1, "s9"]]
    words = tmp_path / "words.csv"
    assert main(["explain", str(table), "--metric", "chrf", "--store", "none", "--out", str(words)]) == 0
    assert list(pd.read_csv(words).columns[:3]) == ["segment", "id", "system"]


def test_nothing_scored_is_status_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "out.txt").write_text("one\ntwo\n", encoding="utf-8")
    assert main(["score", "--system", f"A={tmp_path / 'out.txt'}", "--metric", "bleu", "--store", "none"]) == 2
    assert "the segment has no reference" in capsys.readouterr().err


def test_the_sample_is_read_by_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "demo:sum", "--metric", "rouge-l", "--store", "none"]) == 0
    printed = capsys.readouterr().out
    assert all(system in printed for system in load_demo("sum").systems)


def test_interrupt_ends_with_130(tmp_path: Path) -> None:
    arguments = ["explain", "demo:mt", "--explainer", "lime", "--metric", "bertscore", "--store", "none"]
    command = [sys.executable, "-m", "engine", *arguments]
    run = subprocess.Popen(command, cwd=ROOT, env=os.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert "%" in run.stderr.readline()  # the first line of progress: it is at work
    run.send_signal(signal.SIGINT)
    assert run.wait(timeout=60) == 130
    assert "cancelled" in run.stderr.read()


@pytest.mark.parametrize("as_other", [True, False])
def test_an_interrupt_that_other_code_swallows_or_renames(
    as_other: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(context: Context) -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)
        except KeyboardInterrupt as interrupt:
            if as_other:
                raise SystemError("returned a result with an exception set") from interrupt
        context.progress(1, 2)

    monkeypatch.setattr("engine.commands.score.run", run)
    before = signal.getsignal(signal.SIGINT)
    assert main(["score", "demo:mt"]) == 130
    assert capsys.readouterr().err == "plumbline: cancelled\n"
    assert signal.getsignal(signal.SIGINT) is before


def test_wrong_flags_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["score", "demo:mt", "--limit", "many"])
    error = capsys.readouterr().err
    assert ended.value.code == 2 and "--limit" in error and "--help" in error and error.count("\n") == 1


def test_a_full_disk_behind_standard_output(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert main(["check", "demo:mt"]) == 2
    assert "No space left" in capsys.readouterr().err


def test_warnings_about_a_corpus_are_told_before_its_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "table.csv"
    table.write_bytes("source,reference,mt\nÜber,about,abouté\n".encode("latin-1"))
    assert main(["score", str(table), "--metric", "chrf", "--metric", "chrf:", "--store", "none"]) == 0
    printed = capsys.readouterr()
    assert "plumbline: table.csv:2: The file is not UTF-8" in printed.err
    assert printed.out.count("mt ") == 1  # one metric, named twice


def test_names_with_equals_signs(parts: dict[str, Path], tmp_path: Path) -> None:
    pair, out = ["--reference", str(parts["ref"]), "--system", f"t=0.7={parts['a']}"], tmp_path / "out.csv"
    assert main(["score", *pair, "--metric", "chrf", "--store", "none", "--out", str(out)]) == 0
    assert pd.read_csv(out).system.tolist() == ["t=0.7"]


def test_the_time_left_is_told_only_when_it_is_known(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    clock = iter([0.0, 3.0, 20.0, 42.0])
    monkeypatch.setattr("engine.cli.time.monotonic", lambda: next(clock))
    bar = ProgressBar()
    for done in (0, 1e-9, 10):
        bar(done, 100)
    assert capsys.readouterr().err.split("\n") == ["  0%", " 10%, 5 min 51 s left", ""]


def test_why_nothing_is_explained_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "table.csv"
    table.write_text("source,reference,mt\na,,c\nd,e,f\n", encoding="utf-8")
    assert main(["explain", str(table), "--metric", "chrf", "--store", "none"]) == 0
    assert "chrf: 1 of 2 outputs undefined: the segment has no reference" in capsys.readouterr().err
    assert main(["explain", str(table), "--metric", "chrf", "--store", "none", "--limit", "1"]) == 2

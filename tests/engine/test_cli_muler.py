"""`muler` on the command line: the engine's numbers, the other tables, what is printed and what is said."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sacrebleu

from engine.cli import main
from engine.corpus.demo import load_demo
from engine.metrics.registry import make_metric
from engine.muler.lexicons import read_lexicon
from engine.muler.muler import break_down
from engine.muler.options import MulerOptions
from engine.muler.results import COLUMNS, CORRELATION_COLUMNS, DIFFERENCE_COLUMNS, LEXICON_COLUMNS
from engine.scoring.scorer import Scorer

FAMILIES = "number,gender,punctuation:comma"
SMALL = ["--resamples", "50", "--features", FAMILIES, "--tagger", ""]


@pytest.fixture
def lexicon(tmp_path: Path) -> str:
    """Words of the sample with numbers."""
    words: dict[str, int] = {}
    for (text,) in load_demo("mt").references:
        for word in text.lower().strip(".").split():
            if word.isalpha():
                words[word] = len(word)
    path = tmp_path / "length.tsv"
    path.write_text("".join(f"{word}\t{value}\n" for word, value in words.items()), encoding="utf-8")
    return str(path)


def run(tmp_path: Path, *arguments: str, status: int = 0) -> pd.DataFrame:
    out = tmp_path / "out.csv"
    assert main(["muler", "demo:mt", *SMALL, "--store", "none", *arguments, "--out", str(out)]) == status
    return pd.read_csv(out, float_precision="round_trip", keep_default_na=False, na_values=[""])


def by_hand(metrics: tuple[str, ...] = ("bleu",), systems: list[str] | None = None, **options):
    """The same breakdown from the engine."""
    corpus = load_demo("mt")
    options = MulerOptions(**{"features": FAMILIES, "resamples": 50, **options})
    made = [make_metric(name, corpus.languages) for name in metrics]
    return break_down(corpus, made, options, Scorer(), systems=systems)


def test_rows_are_the_engine_s(tmp_path) -> None:
    frame = run(tmp_path, "--metric", "bleu", "--metric", "chrf", "--seed", "3", "--mode", "paper")
    assert tuple(frame.columns) == COLUMNS and set(frame.metric) == {"bleu", "chrf"}
    assert set(frame.system) == {"aurora", "beacon", "cobalt"} and set(frame.family) == {"number", "gender", "punctuation"}
    wanted = by_hand(("bleu", "chrf"), seed=3, mode="paper").to_frame()
    pd.testing.assert_frame_equal(frame, wanted, check_dtype=False)
    defined = frame[frame.muler.notna()]
    ratio = (defined.oracle - defined.score) / (defined.oracle - defined.anti_oracle)
    assert defined.muler.to_numpy() == pytest.approx(ratio.to_numpy())
    assert defined.abl_muler.to_numpy() == pytest.approx((defined.oracle - defined.score).to_numpy())


def test_the_score_is_sacrebleu_s_of_the_sentences_with_the_feature(tmp_path) -> None:
    (tmp_path / "articles.tsv").write_text("the\tarticle\n", encoding="utf-8")
    articles = ["--features", "lexicon", "--lexicon", str(tmp_path / "articles.tsv")]
    frame = run(tmp_path, "--systems", "cobalt", *articles)
    corpus = load_demo("mt")
    pairs = [(output, references[0]) for output, references in zip(corpus.systems["cobalt"], corpus.references)]
    held = [pair for pair in pairs if all(re.search(r"\bthe\b", text, re.IGNORECASE) for text in pair)]
    outputs, references = map(list, zip(*held))
    assert frame.n.tolist() == [len(held)]
    assert frame.score.item() == pytest.approx(sacrebleu.corpus_bleu(outputs, [references], force=True).score)


def test_two_systems(tmp_path, capsys) -> None:
    frame = run(tmp_path, "--compare", "beacon", "aurora")
    assert tuple(frame.columns) == DIFFERENCE_COLUMNS
    wanted = by_hand().differences("beacon", "aurora")
    assert frame.delta.to_numpy() == pytest.approx(wanted.delta.to_numpy(), nan_ok=True)
    assert frame[["low", "high", "p_value"]].to_numpy() == pytest.approx(
        wanted[["low", "high", "p_value"]].to_numpy(), nan_ok=True
    )
    capsys.readouterr()
    assert main(["muler", "demo:mt", *SMALL, "--store", "none", "--compare", "beacon", "aurora"]) == 0
    lines = capsys.readouterr().out.strip().split("\n")
    assert lines[0].split()[:5] == ["feature", "muler", "beacon", "muler", "aurora"]
    sizes = [abs(float(line.rsplit(maxsplit=6)[-4])) for line in lines[2:]]
    assert sizes == sorted(sizes, reverse=True) and len(sizes) == frame.delta.notna().sum()


def test_all_systems(tmp_path) -> None:
    frame = run(tmp_path, "--correlate", "spearman")
    assert tuple(frame.columns) == CORRELATION_COLUMNS
    wanted = by_hand().correlations("spearman")
    assert frame.correlation.to_numpy() == pytest.approx(wanted.correlation.to_numpy(), nan_ok=True)


def test_lexicons(tmp_path, lexicon, capsys) -> None:
    frame = run(tmp_path, "--features", "lexicon", "--lexicon", lexicon, "--bins", "2")
    names, _ = read_lexicon(lexicon).classes(2)
    assert frame.feature.unique().tolist() == [f"length {name}" for name in names]
    assert "--lexicon-values" in capsys.readouterr().err
    frame = run(tmp_path, "--features", "lexicon", "--lexicon", lexicon, "--lexicon-values")
    assert tuple(frame.columns) == LEXICON_COLUMNS and (frame.lexicon == "length").all()
    wanted = by_hand(features="lexicon", lexicon=lexicon).lexicon_frame()
    assert frame.difference.to_numpy() == pytest.approx(wanted.difference.to_numpy())


def test_one_system_is_printed_with_its_intervals(capsys) -> None:
    assert main(["muler", "demo:mt", *SMALL, "--store", "none", "--systems", "aurora"]) == 0
    lines = capsys.readouterr().out.strip().split("\n")
    assert lines[0].split() == ["feature", *COLUMNS[4:-2]]
    assert lines[2].startswith("gender:words")


def test_several_systems_are_printed_side_by_side(monkeypatch, capsys) -> None:
    command = ["muler", "demo:mt", *SMALL, "--store", "none", "--metric", "bleu", "--metric", "ter", "--minimum", "45"]
    assert main(command) == 0
    printed = capsys.readouterr()
    tables = printed.out.strip().split("\n\n")
    assert tables[0] == "MuLER under bleu" and tables[2] == "MuLER under ter" and len(tables) == 4
    assert tables[1].split("\n")[0].split() == ["feature", "aurora", "beacon", "cobalt"]
    row = next(line.split() for line in tables[1].split("\n") if line.startswith("number:numbers"))
    wanted = by_hand(resamples=0).matrix("bleu").loc["number:numbers"]
    assert [float(value) for value in row[1:]] == pytest.approx(wanted.tolist(), abs=1e-4)
    assert "undefined, for example bleu, " in printed.err
    monkeypatch.setattr("engine.commands.muler.LINE", 30)
    assert main([*command, "--systems", "cobalt", "aurora"]) == 0
    assert "feature            cobalt\n" in capsys.readouterr().out


def test_nothing_defined_is_status_2(tmp_path, capsys) -> None:
    frame = run(tmp_path, "--minimum", "1000", status=2)
    assert frame.muler.isna().all() and frame.reason.notna().all()
    told = capsys.readouterr().err
    assert "1000 are needed" in told and "--minimum" in told
    assert main(["muler", "demo:mt", *SMALL, "--store", "none", "--minimum", "1000"]) == 2
    assert "(no rows)" in capsys.readouterr().out
    run(tmp_path, "--minimum", "1000", "--compare", "aurora", "beacon", status=2)
    run(tmp_path, "--minimum", "1000", "--correlate", "kendall", status=2)


def test_the_seed_is_that_of_the_intervals(tmp_path) -> None:
    first, second, third = (run(tmp_path, "--seed", seed) for seed in ("1", "1", "2"))
    pd.testing.assert_frame_equal(first, second)
    assert np.nanmax(np.abs(first.low - third.low)) > 0 and (first.muler.dropna() == third.muler.dropna()).all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--features", "colour"], "known families"),
        (["--features", "pos:NOUNS"], "universal ones"),
        (["--features", "lexicon"], "--lexicon FILE"),
        (["--lexicon", "absent.tsv"], "absent.tsv"),
        (["--lexicon", "LEXICON", "--lexicon", "LEXICON"], "two lexicons"),
        (["--lexicon-values"], "--lexicon FILE"),
        (["--compare", "aurora", "zenith"], "zenith"),
        (["--compare", "aurora", "aurora"], "twice"),
        (["--correlate", "pearson", "--systems", "aurora", "beacon"], "at least 3 systems, and there are 2"),
        (["--mode", "both"], "choose one of corpus, paper"),
        (["--resamples", "-1"], "--resamples"),
        (["--tagger", "no_such_model"], "no_such_model"),
    ],
)
def test_faults_are_one_line(arguments, words, lexicon, capsys) -> None:
    named = [lexicon if word == "LEXICON" else word for word in arguments]
    assert main(["muler", "demo:mt", *named, "--store", "none"]) == 2
    error = capsys.readouterr().err.strip()
    assert words in error and "\n" not in error


def test_a_corpus_without_references(tmp_path, capsys) -> None:
    (tmp_path / "out.txt").write_text("one\ntwo\n", encoding="utf-8")
    assert main(["muler", "--system", f"A={tmp_path / 'out.txt'}", "--langs", "de-en", "--store", "none"]) == 2
    assert "needs references" in capsys.readouterr().err

"""`boost` on the command line: the grid's numbers, calibration, boosted scores, and what is said where something is undefined."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sacrebleu
from scipy import stats

from engine.boost.boost import BoostOptions, calibrate
from engine.boost.grid import REASONS
from engine.boost.rows import explained_rows, human_group
from engine.cli import main
from engine.corpus.demo import load_demo
from engine.explain.explain import explain_corpus
from engine.explain.options import ExplainOptions
from engine.metrics.registry import make_metric
from engine.scoring.scorer import Scorer

COLUMNS = ["p", "w", "group", "correlation", "original"]
SMALL = ["--metric", "chrf", "--limit", "24", "--resamples", "199"]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store that the tests share, so that nothing is explained twice."""
    return str(tmp_path_factory.mktemp("store") / "store.sqlite")


@pytest.fixture(scope="module")
def explained():
    """The same part of the sample, explained by hand: scores, importances, planted scores."""
    corpus = load_demo("mt").head(24)
    found = explain_corpus(corpus, make_metric("chrf", corpus.languages), ExplainOptions(), Scorer())
    rows = explained_rows(corpus, found)
    return corpus, found, human_group(corpus, rows, "planted")


def boosted_by_hand(found, p: float, w: float) -> np.ndarray:
    """Score and power mean mixed as in the paper, with plain arithmetic."""
    mixed = []
    for entry in found.entries:
        values = entry.explanation.importances
        values = values + (abs(values.min()) if values.min() <= 0 else 0) + 1e-9
        mixed.append(w * entry.explanation.score + (1 - w) * np.mean(values**p) ** (1 / p))
    return np.array(mixed)


def run(tmp_path: Path, store: str, *arguments: str) -> pd.DataFrame:
    out = tmp_path / "out.csv"
    assert main(["boost", "demo:mt", *SMALL, "--store", store, *arguments, "--out", str(out)]) == 0
    return pd.read_csv(out, float_precision="round_trip")


@pytest.mark.parametrize(("level", "coefficient"), [("segment", "kendall"), ("segment", "spearman"), ("system", "pearson")])
def test_cells_are_scipy_s_correlations(tmp_path, store, explained, level, coefficient) -> None:
    frame = run(tmp_path, store, "--human", "planted", "--level", level, "--coefficient", coefficient)
    assert list(frame.columns) == COLUMNS and len(frame) == 3600 and set(frame.group) == {"planted"}
    corpus, found, group = explained
    coefficient = {"kendall": stats.kendalltau, "spearman": stats.spearmanr, "pearson": stats.pearsonr}[coefficient]

    def expected(p: float, w: float) -> float:
        scores, human = boosted_by_hand(found, p, w), group.human
        if level == "system":
            scores, human = (values.reshape(len(corpus), -1).mean(axis=0) for values in (scores, human))
        return coefficient(np.round(scores, 9), human)[0]

    for p, w in [(1.0, 0.0), (2.0, 0.4), (-0.3, 0.8), (12.5, 0.2)]:
        cell = frame[np.isclose(frame.p, p) & np.isclose(frame.w, w)]
        assert cell.correlation.item() == pytest.approx(expected(p, w), abs=1e-9)
    assert frame.original.unique() == pytest.approx([expected(1.0, 1.0)], abs=1e-9)
    assert (frame[frame.w == 1].correlation == frame.original[0]).all()


def test_calibrate_adds_one_object_beside_the_rows(tmp_path, store, explained, capsys) -> None:
    frame = run(tmp_path, store, "--calibrate", "--seed", "3")
    printed = capsys.readouterr().out.strip().split("\n")
    assert len(printed) == 1 and len(frame) == 3600
    found = json.loads(printed[0])
    assert list(found)[:5] == ["p", "w", "original", "boosted", "p_value"]
    assert (tmp_path / "out.calibration.json").read_text(encoding="utf-8").strip() == printed[0]
    expected = calibrate([explained[2]], BoostOptions(resamples=199), seed=3)
    assert (found["method"], found["note"], found["significant"]) == ("median", "", expected.significant)
    five = {name: found[name] for name in list(found)[:5]}
    assert five == pytest.approx({name: expected.to_dict()[name] for name in five})
    assert [row["group"] for row in found["held_out"]] == [row.group for row in expected.held_out]
    for name in ("original", "boosted"):
        assert found[name] == pytest.approx(np.mean([row[name] for row in found["held_out"]]))


def test_without_a_file_the_object_is_the_last_line(store, capsys) -> None:
    assert main(["boost", "demo:mt", *SMALL, "--store", store, "--calibrate"]) == 0
    lines = capsys.readouterr().out.strip().split("\n")
    assert json.loads(lines[-1])["w"] <= 1 and "correlation" in "".join(lines[:3])


def test_without_a_file_the_best_of_each_group_are_printed(tmp_path, store, capsys) -> None:
    groups = ["--by", "part", "--parts", "2"]
    frame = run(tmp_path, store, *groups)
    assert main(["boost", "demo:mt", *SMALL, "--store", store, *groups]) == 0
    printed = capsys.readouterr().out
    rows = [line.split() for line in printed.split("\n") if " part " in line]
    assert len(rows) == 24 and "the best 12 of 3,600 rows of each group; --out FILE has them all" in printed
    for number, of in enumerate((rows[:12], rows[12:]), 1):
        best = frame[frame.group == f"part {number}"].correlation.nlargest(12)
        assert [float(row[4]) for row in of] == pytest.approx(best.tolist(), abs=1e-4)


def test_values_from_another_corpus(tmp_path, store, explained, capsys) -> None:
    run(tmp_path, store, "--human", "planted", "--calibrate-on", "demo:sum", "--regularisation", "softplus")
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    other = load_demo("sum")
    there = explained_rows(other, explain_corpus(other, make_metric("chrf", other.languages), ExplainOptions(), Scorer()))
    options = BoostOptions(regularisation="softplus", resamples=0)
    expected = calibrate([explained[2]], options, [human_group(other, there, "planted")])
    assert (found["p"], found["w"]) == (expected.choice.p, expected.choice.w)
    assert found["boosted"] == pytest.approx(expected.boosted)
    same = ["--calibrate-on", "demo:sum", "--human", "planted", "--regularisation", "softplus", "--apply", "calibrated"]
    applied = run(tmp_path, store, *same)
    assert applied.metric.str.contains(f"p={found['p']:g},w={found['w']:g}", regex=False).all()


def test_a_calibration_corpus_may_call_its_scores_otherwise(tmp_path, store, capsys) -> None:
    corpus = load_demo("mt").head(12)
    scores = corpus.human[corpus.human["segment"] < 12].set_index(["segment", "system"])["score"]
    rows = [
        (k, name, corpus.references[k][0], texts[k], scores[k, name]) for name, texts in corpus.systems.items() for k in range(12)
    ]
    frame = pd.DataFrame(rows, columns=["segment", "system", "reference", "hypothesis", "adequacy"])
    frame.to_csv(tmp_path / "other.csv", index=False)
    other = ["--calibrate-on", str(tmp_path / "other.csv")]
    run(tmp_path, store, *other)
    run(tmp_path, store, *other, "--human", "planted", "--calibrate-human", "adequacy")
    capsys.readouterr()
    assert main(["boost", "demo:mt", *SMALL, "--store", store, *other, "--human", "planted"]) == 2
    assert "say --calibrate-human with one of: adequacy" in capsys.readouterr().err


def test_the_calibration_corpus_gets_the_same_metric(files, tmp_path, store, capsys) -> None:
    bare = pd.read_csv(files["bare"])
    bare = bare.assign(score=range(len(bare)), source="ein Satz")
    bare.drop(columns="reference").to_csv(tmp_path / "sources.csv", index=False)
    bare.assign(hypothesis=bare["hypothesis"] + " x").to_csv(tmp_path / "both.csv", index=False)
    command = ["boost", str(tmp_path / "sources.csv"), "--calibrate-on", str(tmp_path / "both.csv"), "--store", store]
    assert main([*command, "--apply", "calibrated", "--langs", "de-en"]) == 0
    assert "metric=xbertscore" in capsys.readouterr().out


def test_apply_gives_boosted_scores(tmp_path, store, explained) -> None:
    _, found, _ = explained
    frame = run(tmp_path, store, "--apply", "p=2,w=0.4")
    assert list(frame.columns) == ["segment", "system", "metric", "score", "original"]
    places = [(entry.system, entry.segment) for entry in found.entries]
    shown = frame.set_index(["system", "segment"]).loc[places]
    assert shown.score.to_numpy() == pytest.approx(boosted_by_hand(found, 2.0, 0.4))
    assert shown.original.to_numpy() == pytest.approx([entry.explanation.score for entry in found.entries])
    systems = run(tmp_path, store, "--apply", "p=2,w=0.4", "--level", "system").set_index("system")
    means = frame.groupby("system")[["score", "original"]].mean()
    assert systems.loc[means.index, "score"].to_numpy() == pytest.approx(means.score)
    assert systems.loc[means.index, "original"].to_numpy() == pytest.approx(means.original)
    assert (systems.low <= systems.score).all() and (systems.score <= systems.high).all()


def test_a_boosted_metric_is_a_metric_of_every_command(tmp_path, store) -> None:
    applied = run(tmp_path, store, "--apply", "p=2,w=0.4")
    out = tmp_path / "scores.csv"
    name = "boosted:p=2,w=0.4,explainer=erasure,metric=chrf"
    assert main(["score", "demo:mt", "--limit", "24", "--metric", name, "--segments", "--store", store, "--out", str(out)]) == 0
    pd.testing.assert_frame_equal(pd.read_csv(out, float_precision="round_trip"), applied.drop(columns="original"))
    arguments = ["explain", "demo:mt", "--limit", "1", "--systems", "aurora", "--metric", name, "--store", store]
    assert main([*arguments, "--out", str(out)]) == 0
    assert set(pd.read_csv(out).metric) == {name}


def test_groups(tmp_path, store) -> None:
    parts = run(tmp_path, store, "--by", "part", "--parts", "2", "--calibrate")
    assert parts.group.unique().tolist() == ["part 1", "part 2"]
    out = tmp_path / "sum.csv"
    arguments = ["boost", "demo:sum", "--metric", "chrf", "--by", "criterion", "--store", store, "--out", str(out)]
    assert main(arguments) == 0
    assert pd.read_csv(out).group.unique().tolist() == [item.name for item in load_demo("sum").criteria]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """A corpus whose scores are all equal, and one without scores."""
    corpus = load_demo("mt").head(6)
    rows = [(k, name, corpus.references[k][0], corpus.systems[name][k]) for name in corpus.systems for k in range(6)]
    frame = pd.DataFrame(rows, columns=["segment", "system", "reference", "hypothesis"])
    frame.to_csv(tmp_path / "bare.csv", index=False)
    frame.assign(score=1.0).to_csv(tmp_path / "equal.csv", index=False)
    return {name: str(tmp_path / f"{name}.csv") for name in ("bare", "equal")}


def test_undefined_cells_say_why(files, tmp_path, capsys) -> None:
    out = tmp_path / "grid.csv"
    command = ["boost", files["equal"], "--metric", "chrf", "--calibrate", "--store", "none", "--out", str(out)]
    assert main(command) == 2
    frame = pd.read_csv(out)
    assert frame.correlation.isna().all() and len(frame) == 3600
    printed = capsys.readouterr()
    assert f"3,600 of 3,600 cells undefined: {REASONS[2]}" in printed.err
    found = json.loads(printed.out)
    assert (found["p"], found["w"], found["original"], found["boosted"], found["p_value"]) == (1, 1, None, None, None)
    assert "original correlation is undefined" in found["note"] and found["held_out"][0]["original"] is None


def test_an_error_rate_is_turned_round_and_said_to_be(tmp_path, capsys) -> None:
    texts = ["a b c d", "e f g h i", "j k l m", "n o p q r s"]
    outputs = [["a b c d", "e f g h x", "j m x y", "n"], ["a b x d", "e f", "j k l m", "n o p q r s"]]
    human = [[3.0, 2.0, 1.0, 0.5], [2.0, 1.5, 4.0, 5.0]]
    rows = [
        {"segment": place, "reference": text, "system": f"s{number}", "hypothesis": found[place], "score": human[number][place]}
        for place, text in enumerate(texts)
        for number, found in enumerate(outputs)
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "judged.csv", index=False)
    out = tmp_path / "grid.csv"
    command = ["boost", str(tmp_path / "judged.csv"), "--metric", "ter", "--explainer", "erasure", "--coefficient", "pearson"]
    assert main([*command, "--store", "none", "--out", str(out)]) == 0
    assert "ter: lower is better, so scores and importances are negated" in capsys.readouterr().err
    ter = [sacrebleu.TER().sentence_score(row["hypothesis"], [row["reference"]]).score for row in rows]
    assert pd.read_csv(out).original[0] == pytest.approx(-stats.pearsonr(ter, [row["score"] for row in rows])[0])


def test_systems_without_human_scores_are_told(tmp_path, capsys) -> None:
    rows = [
        {"segment": place, "reference": "a b c", "system": name, "hypothesis": text, "score": score}
        for place in range(3)
        for name, text, score in (("s0", "a b c", 2.0), ("s1", "a b d", 1.0), ("s2", "x y z", np.nan))
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "judged.csv", index=False)
    command = ["boost", str(tmp_path / "judged.csv"), "--metric", "chrf", "--level", "system", "--store", "none"]
    assert main(command) == 0
    assert "score: 2 of 3 systems have a score and a human score; only these count" in capsys.readouterr().err


def test_fewer_parts_than_wanted_are_told(store, capsys) -> None:
    assert main(["boost", "demo:mt", *SMALL, "--store", store, "--calibrate", "--parts", "30"]) == 0
    printed = capsys.readouterr()
    made = len(json.loads(printed.out.strip().split("\n")[-1])["held_out"])
    assert made < 30 and f"{made} parts instead of 30: a part holds whole documents" in printed.err


@pytest.mark.parametrize(("p", "regularisation", "all_of_them"), [("inf", "minmax", True), ("1", "softplus", False)])
def test_applying_tells_how_many_collapse(store, capsys, p, regularisation, all_of_them) -> None:
    setting = ["--apply", f"p={p},w=0.4", "--regularisation", regularisation]
    assert main(["boost", "demo:mt", *SMALL, "--store", store, *setting]) == 0
    said = re.findall(r"(\d+) of (\d+) outputs collapse .* under minmax at p = inf", capsys.readouterr().err)
    assert all(first == second for first, second in said) and bool(said) == all_of_them


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["BARE"], "no human scores"),
        (["demo:sum"], "planted coverage"),
        (["demo:mt", "--human", "fluency"], "planted"),
        (["demo:mt", "--apply", "p=1"], "p=X,w=X"),
        (["demo:mt", "--apply", "p=1,w=2"], "largest value is 1"),
        (["demo:mt", "--apply", "p=nan,w=0.2"], "p must be a number"),
        (["demo:mt", "--apply", "p=1,w=0.2", "--calibrate"], "say one of them"),
        (["demo:mt", "--apply", "calibrated"], "--calibrate-on CORPUS"),
        (["demo:mt", "--calibrate-on", "absent.csv"], "absent.csv"),
        (["demo:mt", "--calibrate-on", "BARE"], "no human scores"),
        (["demo:mt", "--calibrate-on", "demo:mt"], "holds the corpus itself"),
        (["demo:mt", "--calibrate-on", "demo:sum"], "say --calibrate-human with one of: planted"),
        (["demo:mt", "--metric", "bleu", "--calibrate"], "one metric at a time"),
        (["demo:mt", "--level", "document"], "choose one of segment, system"),
        (["demo:mt", "--metric", "boosted:p=1"], "metric=NAME"),
    ],
)
def test_faults_are_one_line(files, store, arguments, words, capsys) -> None:
    named = [files["bare"] if word == "BARE" else word for word in arguments]
    assert main(["boost", *named, *SMALL, "--store", store]) == 2
    error = capsys.readouterr().err.strip()
    assert words in error and "\n" not in error

"""The tables of the BMX paper (arXiv 2212.10469) with our metrics: `python -m benchmarks.bmx_tables TABLE [options]`.

Explanations are the slow part. They are kept in a store, so that a run that was stopped goes on where it was and a second run
only reads them. Start with a small `--limit`. TABLE is one of

  summeval   Table 3's setting: p and w from one of eight parts of SummEval, judged on the other seven, system level
  realsumm   Table 4's setting: values calibrated on SummEval (mean of its eight), judged on REALSumm
  wmt17      every language pair judged with values from the other six, segment level
  eval4nlp   Table 1's setting: reference-free, every language pair judged with values from the other three, Spearman
  stability  LIME under three seeds, with 100 and 1000 samples

What they gave stands in bmx_tables.md, beside this file. The data are looked for in `PLUMBLINE_DATA`, else in ../shared/data.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from engine.boost.boost import BoostOptions, as_pair, calibrate, judge
from engine.boost.calibrate import METHODS, choose, splits
from engine.boost.grid import W_GRID, surfaces
from engine.boost.power import P_GRID, REGULARISATIONS, nearest
from engine.boost.rows import Group, explained_rows, human_group, items
from engine.boost.significance import compare_groups
from engine.cli import ProgressBar
from engine.corpus.read import Inputs, load_or_fail
from engine.corpus.types import Corpus, Criterion
from engine.errors import InputError
from engine.explain.explain import explain_corpus
from engine.explain.options import ExplainOptions
from engine.explain.quality import stability as seed_stability
from engine.metrics.base import Metric
from engine.metrics.registry import make_metric
from engine.scoring.scorer import Scorer
from engine.scoring.store import open_store

PAIRS = ("de-zh", "et-en", "ro-en", "ru-de")
SEEDS = (0, 1, 2)


def main(arguments: Sequence[str] | None = None) -> None:
    """Make one table and print it."""
    chosen = _parser().parse_args(arguments)
    if chosen.threads:
        os.environ["OMP_NUM_THREADS"] = str(chosen.threads)
    run = Run(chosen)
    table = TABLES[chosen.table](run)
    run.bar.clear()
    print(_markdown(table))
    if chosen.out:
        table.to_csv(chosen.out, index=False)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=list(TABLES), metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--metric", action="append", metavar="NAME", help="repeatable; the default depends on the table")
    parser.add_argument("--explainer", action="append", choices=("erasure", "lime", "shap"), help="repeatable (default lime)")
    parser.add_argument("--samples", type=int, default=100, help="LIME's samples a text (default 100)")
    parser.add_argument("--evaluations", type=int, default=500, help="SHAP's most evaluations a text (default 500)")
    parser.add_argument("--mask", default="UNKWORDZ", help="mask word; 'model' for the encoder's own, one token long")
    parser.add_argument("--references", type=int, default=0, help="only the first N references of SummEval (default all 11)")
    parser.add_argument("--limit", type=int, default=0, help="only the first N documents, or N segments of a language pair")
    parser.add_argument("--target-limit", type=int, default=0, help="only the first N documents of REALSumm")
    parser.add_argument("--regularisation", default="paper", choices=REGULARISATIONS)
    parser.add_argument("--calibration", default="median", choices=METHODS)
    parser.add_argument("--resamples", type=int, default=9999, help="of the significance tests; 0 leaves them out")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--store", metavar="FILE|none", help="where explanations are kept (default: the user's cache folder)")
    parser.add_argument("--out", metavar="FILE.csv")
    return parser


class Run:
    """What all tables share: options, data, the scorer and its store."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        self.chosen = chosen
        self.bar = ProgressBar()
        self.scorer = Scorer(open_store(chosen.store))
        self.options = BoostOptions(
            regularisation=chosen.regularisation, calibration=chosen.calibration, resamples=chosen.resamples
        )

    def explainers(self, default: Sequence[str] = ("lime",)) -> list[ExplainOptions]:
        """The explainers asked for."""
        chosen = self.chosen
        shared = {"samples": chosen.samples, "evaluations": chosen.evaluations, "mask": chosen.mask, "seed": chosen.seed}
        return [ExplainOptions(explainer=name, **shared) for name in chosen.explainer or default]

    def metrics(self, default: Sequence[str], corpus: Corpus) -> list[Metric]:
        """The metrics asked for, for a corpus' languages."""
        return [make_metric(name, corpus.languages) for name in self.chosen.metric or default]

    def explained(self, corpus: Corpus, metric: Metric, options: ExplainOptions, label: str) -> Callable[[str, str], Group]:
        """Explain a corpus; from a criterion and a name to the group of its rows."""
        print(f"{label}: {metric.spec.signature}, {options.explainer}", file=sys.stderr)
        explanations = explain_corpus(corpus, metric, options, self.scorer, progress=self.bar)
        rows = explained_rows(corpus, explanations)
        return lambda criterion, name: human_group(corpus, rows, criterion, name)

    def load(self, *parts: str) -> Corpus:
        """A corpus of the public data, cut down to `--limit`."""
        corpus = load_or_fail(Inputs(paths=(_data().joinpath(*parts),)))
        return corpus.head(self.chosen.limit) if self.chosen.limit else corpus


def summeval(run: Run) -> pd.DataFrame:
    """Average system-level Kendall and Spearman over the parts, before and after, per aspect."""
    corpus = _summeval_corpus(run)
    size = {"references": corpus.reference_count, "outputs": len(corpus) * len(corpus.systems)}
    table = []
    for metric in run.metrics(("bertscore", "bleu", "chrf"), corpus):
        for options in run.explainers():
            group_of = run.explained(corpus, metric, options, "SummEval")
            groups = [group_of(item.name, item.name) for item in corpus.criteria]
            chosen = _chosen_on_parts(run, groups)
            values = [(p, w) for _, p, w in chosen]
            first = {"metric": metric.spec.id, "explainer": options.explainer, **size}
            for coefficient in ("kendall", "spearman"):
                found = []
                for group in groups:
                    rests = [group.part(group.name, ~inside[group.chosen]) for inside, _, _ in chosen]
                    found.append({"aspect": group.name} | _assess(run, rests, values, "system", coefficient))
                mean = {name: np.mean([row[name] for row in found]) for name in ("original", "boosted")}
                table += [
                    first | {"coefficient": coefficient} | row for row in [*found, {"aspect": "mean", "significant": ""} | mean]
                ]
    return pd.DataFrame(table)


def realsumm(run: Run) -> pd.DataFrame:
    """REALSumm, system and segment level, with the mean of the values chosen on SummEval's parts."""
    source, target = _summeval_corpus(run), run.load("sum", "realsumm_bmx_processed.tsv.gz")
    target = target.head(run.chosen.target_limit or len(target))
    table = []
    for metric in run.metrics(("bertscore", "bleu", "chrf"), source):
        for options in run.explainers():
            group_of = run.explained(source, metric, options, "SummEval")
            p, w = _snapped_mean(_chosen_on_parts(run, [group_of(item.name, item.name) for item in source.criteria]))
            group = run.explained(target, metric, options, "REALSumm")(target.criteria[0].name, "REALSumm")
            first = {"metric": metric.spec.id, "explainer": options.explainer, "documents": len(target), "p": p, "w": w}
            for level in ("system", "segment"):
                for coefficient in ("kendall", "spearman", "pearson"):
                    found = _assess(run, [group], [(p, w)], level, coefficient)
                    table.append(first | {"level": level, "coefficient": coefficient} | found)
    return pd.DataFrame(table)


def wmt17(run: Run) -> pd.DataFrame:
    """Segment level, every language pair held out in turn."""
    return _by_pair(run, _wmt17_corpora(run), ("bertscore", "bleu", "chrf"), ("lime",), ("pearson", "kendall"))


def eval4nlp(run: Run) -> pd.DataFrame:
    """Reference-free, every language pair held out in turn; a metric that needs a reference gets the source in its place."""
    corpora = {pair: run.load("qe", "eval4nlp21", f"{pair}-test21") for pair in PAIRS}
    return _by_pair(run, corpora, ("xbertscore", "chrf"), ("erasure", "lime", "shap"), ("spearman",))


def stability(run: Run) -> pd.DataFrame:
    """Mean Pearson between three seeds: of the importances of a segment, and of the power means (p = 1) over all segments."""
    corpus = _wmt17_corpora(run)["de-en"].head(run.chosen.limit or 50)
    segments = corpus.segments("output")
    table = []
    for metric in run.metrics(("bertscore",), corpus):
        for samples in (100, 1000):
            options = replace(run.explainers()[0], explainer="lime", samples=samples)
            print(f"{samples} samples", file=sys.stderr)
            found = seed_stability(segments, metric, options, run.scorer, run.bar, SEEDS)
            defined = [item.pearson for item in found if item.undefined is None]
            means = []
            for seed in SEEDS:
                explanations = explain_corpus(corpus, metric, replace(options, seed=seed), run.scorer)
                means.append(explained_rows(corpus, explanations).aggregates(1.0, run.options.regularisation))
            between = [np.corrcoef(means[a], means[b])[0, 1] for a, b in ((0, 1), (0, 2), (1, 2))]
            row = {"metric": metric.spec.id, "samples": samples, "segments": len(defined)}
            table.append(row | {"importances": np.mean(defined), "power means": np.mean(between)})
    return pd.DataFrame(table)


TABLES: dict[str, Callable[[Run], pd.DataFrame]] = {
    "summeval": summeval,
    "realsumm": realsumm,
    "wmt17": wmt17,
    "eval4nlp": eval4nlp,
    "stability": stability,
}

Chosen = tuple[np.ndarray, float, float]
"""The rows of a part (bool over all rows), and p and w chosen on it."""


def _summeval_corpus(run: Run) -> Corpus:
    corpus = run.load("sum", "summeval.jsonl")
    count = run.chosen.references
    return replace(corpus, references=tuple(texts[:count] for texts in corpus.references)) if count else corpus


def _chosen_on_parts(run: Run, groups: Sequence[Group]) -> list[Chosen]:
    """p and w for each part, from all aspects and both coefficients on that part, as in the paper's code."""
    rows, chosen = groups[0].rows, []
    means = rows.means(run.options.regularisation).means
    for part in splits(rows.documents.tolist(), 200):
        inside = np.isin(np.arange(len(rows)), part)
        own = [items(group.part(group.name, inside[group.chosen]), means, "system") for group in groups]
        shown = [surface for coefficient in ("kendall", "spearman") for surface in surfaces(own, coefficient)]
        choice = choose(shown, run.options.calibration)
        chosen.append((inside, choice.p, choice.w))
    if len(chosen) < 2:
        raise InputError("fewer than two parts of 200 rows; raise --limit to 26 documents or more")
    print(f"  p/w of the parts: {', '.join(f'{p:g}/{w:.1f}' for _, p, w in chosen)}", file=sys.stderr)
    return chosen


def _snapped_mean(chosen: Sequence[Chosen]) -> tuple[float, float]:
    """Mean p and mean w of the parts, each snapped to the grid."""
    p, w = np.mean([(p, w) for _, p, w in chosen], axis=0)
    return float(P_GRID[nearest(P_GRID, p)]), float(W_GRID[nearest(W_GRID, w)])


def _assess(run: Run, groups: Sequence[Group], values: Sequence[tuple[float, float]], level: str, coefficient: str) -> dict:
    """Mean correlation over the groups before and after, the test of all together and how many are significant alone."""
    options = replace(run.options, level=level, coefficient=coefficient)
    found = [judge(group, p, w, options) for group, (p, w) in zip(groups, values)]
    result = {"original": np.mean([row.original for row in found]), "boosted": np.mean([row.boosted for row in found])}
    if not options.resamples:
        return result
    pairs = [as_pair(group, p, w, options) for group, (p, w) in zip(groups, values)]
    tested = compare_groups(pairs, level, coefficient, options.resamples, run.chosen.seed)
    return result | {"p_value": tested.p_value, "significant": f"{tested.count} of {len(groups)}"}


def _wmt17_corpora(run: Run) -> dict[str, Corpus]:
    """One corpus per language pair, each rated output a segment of its own."""
    path = _data() / "mt" / "wmt17" / "wmt17_toen_da_joined.tsv.gz"
    table = pd.read_csv(path, sep="\t", quoting=csv.QUOTE_NONE, keep_default_na=False)
    corpora = {}
    for pair, own in table.groupby("lp"):
        own = own.head(run.chosen.limit or len(own)).reset_index(drop=True)
        human = pd.DataFrame({"segment": own.index, "system": "output", "criterion": "da", "score": own["da_z"].astype(float)})
        corpora[str(pair)] = Corpus(
            name=str(pair),
            systems={"output": tuple(own["hyp"])},
            references=tuple((text,) for text in own["ref"]),
            sources=tuple(own["src"]),
            languages=(str(pair)[:2], "en"),
            human=human,
            criteria=(Criterion("da", "direct assessment, standardised"),),
        )
    return corpora


def _by_pair(
    run: Run, corpora: dict[str, Corpus], metrics: Sequence[str], explainers: Sequence[str], coefficients: Sequence[str]
) -> pd.DataFrame:
    table = []
    for name in run.chosen.metric or metrics:
        for options in run.explainers(explainers):
            groups = [_pair_group(run, name, options, pair, corpus) for pair, corpus in corpora.items()]
            for coefficient in coefficients:
                first = {"metric": name, "explainer": options.explainer, "coefficient": coefficient}
                found = calibrate(groups, replace(run.options, coefficient=coefficient), seed=run.chosen.seed)
                rows = found.to_frame().drop(columns="note").to_dict("records")
                mean = {"group": "mean", "original": found.original, "boosted": found.boosted, "p_value": found.p_value}
                table += [first | row for row in [*rows, mean]]
    return pd.DataFrame(table)


def _pair_group(run: Run, name: str, options: ExplainOptions, pair: str, corpus: Corpus) -> Group:
    metric = make_metric(name, corpus.languages)
    if metric.spec.needs_reference and not corpus.reference_count:
        corpus = replace(corpus, references=tuple((text,) for text in corpus.sources or ()))
    return run.explained(corpus, metric, options, pair)(corpus.criteria[0].name, pair)


def _data() -> Path:
    folder = Path(os.environ.get("PLUMBLINE_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; set PLUMBLINE_DATA to the folder of public evaluation data")
    return folder


def _markdown(table: pd.DataFrame) -> str:
    def cell(value: object) -> str:
        if isinstance(value, float):
            return "" if np.isnan(value) else f"{value:.4f}".rstrip("0").rstrip(".")
        return str(value)

    lines = [
        list(table.columns),
        ["---"] * len(table.columns),
        *([cell(value) for value in row] for row in table.itertuples(index=False)),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        sys.exit(f"bmx_tables: {error}")

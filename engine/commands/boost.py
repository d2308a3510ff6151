"""`boost`: how well a metric agrees with human scores over the p/w grid, which p and w to use, and the scores they give."""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from engine.boost.boost import BoostOptions, BoostResult, boost, calibrate, cut_groups
from engine.boost.calibrate import Calibration
from engine.boost.grid import REASONS, stretches
from engine.boost.metric import BoostedMetric, Setting
from engine.boost.rows import Group, explained_rows, human_group, shared_outputs
from engine.commands.context import Context
from engine.commands.result import Result
from engine.corpus.findings import plural
from engine.corpus.types import Corpus
from engine.errors import InputError
from engine.explain.explain import explain_corpus
from engine.explain.options import ExplainOptions
from engine.metrics.base import Metric
from engine.options import add_flags as add_option_flags
from engine.options import from_namespace, from_pairs
from engine.progress import Progress, part
from engine.report.tables import render_table
from engine.scoring.systems import score_systems

NAME = "boost"
HELP = "boost a metric with its own explanations: the p/w grid, calibration, boosted scores (BMX)"
NEEDS_SCORING = True

BY = ("whole", "part", "criterion")
CALIBRATED = "calibrated"
SUFFIX = ".calibration.json"
COLLAPSE = "collapse (their power mean no longer depends on the importances)"
BEST = 12
"""Rows of a grid that are printed of each group."""


def add_flags(parser: argparse.ArgumentParser) -> None:
    """The flags of `boost`: what is correlated, how p and w are chosen, how the metric is explained."""
    group = parser.add_argument_group("boosting")
    group.add_argument("--human", metavar="CRITERION", help="which human score to correlate with")
    group.add_argument(
        "--by",
        choices=BY,
        default="whole",
        help="what is a group: the whole corpus, each part of whole documents (as many as --parts), or each human criterion",
    )
    group.add_argument(
        "--calibrate",
        action="store_true",
        help=f"also choose p and w, judged on held-out data: a JSON object on standard output, and beside --out as NAME{SUFFIX}",
    )
    group.add_argument(
        "--calibrate-on",
        metavar="CORPUS",
        action="append",
        default=[],
        help="choose p and w on this corpus instead (repeatable); implies --calibrate",
    )
    group.add_argument(
        "--calibrate-human", metavar="CRITERION", help="the human score of that corpus, where it is called otherwise"
    )
    group.add_argument(
        "--apply",
        metavar="p=X,w=X",
        help=f"give boosted scores instead of the grid; '{CALIBRATED}' takes the p and w that are chosen on --calibrate-on",
    )
    add_option_flags(group, BoostOptions)
    add_option_flags(parser.add_argument_group("explainer"), ExplainOptions, skip=("seed",))


def run(context: Context) -> Result:
    """Rows of the grid (p, w, group, correlation, original), or with `--apply` boosted scores of systems or segments."""
    arguments = context.arguments
    options = from_namespace(BoostOptions, arguments)
    explain = from_namespace(ExplainOptions, arguments, seed=arguments.seed)
    metrics = context.metrics(_default(context.corpus))
    if arguments.apply is not None:
        frame = _apply(context, _only(metrics, "--apply"), options, explain)
        return Result(frame, 0 if frame["score"].notna().any() else 2)
    if arguments.calibrate or arguments.calibrate_on:
        return _calibrated(context, _only(metrics, "--calibrate"), options, explain)
    frames = []
    for place, metric in enumerate(metrics):
        step = part(context.progress, place, place + 1, len(metrics))
        prefix = f"{metric.spec.id}: " if len(metrics) > 1 else ""
        groups = _groups(context, _task(context, context.corpus, metric), options, explain, step)
        frames.append(_grid(context, groups, options, prefix))
    return _result(pd.concat(frames, ignore_index=True))


def _result(frame: pd.DataFrame, last_lines: tuple[str, ...] = ()) -> Result:
    """The grid; the best of each group where it is printed. Status 2 where every cell is undefined."""

    def shown() -> str:
        order = frame.sort_values("correlation", ascending=False, kind="stable", na_position="last")
        best = order.groupby("group", sort=False).head(BEST)
        groups = {name: place for place, name in enumerate(frame["group"].unique())}
        best = best.sort_values("group", key=lambda names: names.map(groups), kind="stable")
        best = best[best["correlation"].notna()]
        text = render_table(best)
        if best.empty:
            return text
        return f"{text}\n\nthe best {BEST} of {len(frame) // len(groups):,} rows of each group; --out FILE has them all"

    return Result(frame, 0 if frame["correlation"].notna().any() else 2, shown, last_lines)


def _calibrated(context: Context, metric: Metric, options: BoostOptions, explain: ExplainOptions) -> Result:
    """The grid, and beside it the choice of p and w with what it is worth on held-out data."""
    others = _calibration_tasks(context)
    for task in others:
        _check_apart(context, task.corpus)
    groups = _groups(context, _task(context, context.corpus, metric), options, explain, part(context.progress, 0, 4, 10))
    on = _all_groups(context, others, options, explain, part(context.progress, 4, 8, 10))
    frame = _grid(context, groups, options)
    seed = context.arguments.seed
    found = calibrate(groups, options, on, seed, progress=part(context.progress, 8, 10, 10))
    if not on and context.arguments.by != "part":
        _cut(context, groups, options)
    _tell_calibration(context, found, options)
    text = _json(found)
    if context.arguments.out:
        _beside(Path(context.arguments.out)).write_text(text + "\n", encoding="utf-8")
    return _result(frame, (text,))


def _apply(context: Context, metric: Metric, options: BoostOptions, explain: ExplainOptions) -> pd.DataFrame:
    """Boosted scores: of systems with their intervals, or of every segment; `original` is the unboosted (mean) score."""
    arguments = context.arguments
    p, w = _point(context, options, explain)
    setting = Setting(p, w, options.regularisation, options.sides)
    boosted = BoostedMetric(metric, explain, setting, context.scorer)
    done = part(context.progress, 1, 2, 2)
    scores = score_systems(context.corpus, [boosted], context.scorer, seed=arguments.seed, progress=done)
    for row in scores.rows:
        for reason, count in row.undefined.items():
            context.tell(f"{row.system}: {plural(count, 'segment')} undefined: {reason}")
    tables = scores.statistics[boosted.spec.id]
    _tell_collapse(context, np.concatenate(list(tables.values())), setting)
    original = {name: table[:, 0] for name, table in tables.items()}
    if options.level == "segment":
        return scores.segment_frame().assign(original=np.concatenate(list(original.values())))
    means = [float(np.nanmean(values)) if np.isfinite(values).any() else np.nan for values in original.values()]
    return scores.to_frame().assign(original=means)


def _tell_collapse(context: Context, table: np.ndarray, setting: Setting) -> None:
    defined = ~np.isnan(table[:, 1])
    fallen = int(table[defined, 2].sum())
    if fallen:
        outputs = plural(int(defined.sum()), "output")
        context.tell(f"{fallen:,} of {outputs} {COLLAPSE} under {setting.regularisation} at p = {setting.p:g}")


def _point(context: Context, options: BoostOptions, explain: ExplainOptions) -> tuple[float, float]:
    """The p and w of `--apply`."""
    arguments = context.arguments
    text = arguments.apply.strip()
    if text == CALIBRATED:
        if not arguments.calibrate_on:
            raise InputError(f"--apply {CALIBRATED} needs a corpus to calibrate on; say --calibrate-on CORPUS")
        on = _all_groups(context, _calibration_tasks(context), options, explain, part(context.progress, 0, 1, 2))
        found = calibrate(on, BoostOptions(**{**vars(options), "resamples": 0}), on)
        _tell_calibration(context, found, options, held_out=False)
        return found.choice.p, found.choice.w
    if arguments.calibrate or arguments.calibrate_on:
        raise InputError(f"--apply names p and w, --calibrate chooses them; say one of them, or --apply {CALIBRATED}")
    pairs = dict(item.partition("=")[::2] for item in text.split(","))
    if set(pairs) != {"p", "w"}:
        raise InputError(f"--apply is {text!r}; write it p=X,w=X, for example p=-1,w=0.4")
    setting = from_pairs(Setting, pairs, "--apply")
    if math.isnan(setting.p):
        raise InputError("--apply: p must be a number")
    return setting.p, setting.w


class Task(NamedTuple):
    """A corpus, the metric that is boosted on it, and the human scores that count, one group each."""

    corpus: Corpus
    metric: Metric
    criteria: list[str]


def _task(context: Context, corpus: Corpus, metric: Metric, flag: str = "--human") -> Task:
    wanted = context.arguments.human
    if flag == "--calibrate-human":
        wanted = context.arguments.calibrate_human or wanted
    by_criterion = context.arguments.by == "criterion" and not wanted
    criteria = [item.name for item in corpus.criteria] if by_criterion else [_criterion(corpus, wanted, flag)]
    if not criteria:
        raise InputError(_missing(corpus))
    return Task(corpus, metric, criteria)


def _calibration_tasks(context: Context) -> list[Task]:
    """The corpora of `--calibrate-on`, read and checked before anything is explained."""
    tasks, own = [], context.metrics(_default(context.corpus))[0].spec
    for name in context.arguments.calibrate_on:
        corpus = context.other_corpus(name)
        metric = context.metrics(_default(context.corpus), corpus)[0]
        if metric.spec.signature != own.signature:
            context.tell(f"{corpus.name}: p and w are chosen for another form of the metric, {metric.spec.signature}")
        tasks.append(_task(context, corpus, metric, "--calibrate-human"))
    return tasks


def _check_apart(context: Context, other: Corpus) -> None:
    """What p and w are chosen on must not be what judges them."""
    shared, outputs = shared_outputs(context.corpus, other), len(context.corpus) * len(context.corpus.systems)
    if shared == outputs:
        raise InputError(
            f"{other.name} holds the corpus itself, and p and w cannot be judged by the outputs that they were chosen on; name "
            "another corpus, or say --calibrate to choose and judge on different parts"
        )
    if shared:
        context.tell(f"{shared:,} of {plural(outputs, 'output')} are also in {other.name}, so the gain may look too large")


def _groups(context: Context, task: Task, options: BoostOptions, explain: ExplainOptions, progress: Progress) -> list[Group]:
    """The outputs of a corpus, explained, with the human scores that count."""
    corpus, metric, criteria = task
    if not metric.spec.higher_is_better:
        context.tell(f"{metric.spec.id}: lower is better, so scores and importances are negated before they are correlated")
    found = explain_corpus(corpus, metric, explain, context.scorer, progress=progress)
    reasons = Counter(entry.explanation.undefined for entry in found.entries if entry.explanation.undefined)
    for reason, count in reasons.items():
        context.tell(f"{corpus.name}: {count:,} of {plural(len(found.entries), 'output')} left out: {reason}")
    rows = explained_rows(corpus, found, options.sides)
    return [human_group(corpus, rows, criterion) for criterion in criteria]


def _all_groups(
    context: Context, tasks: Sequence[Task], options: BoostOptions, explain: ExplainOptions, progress: Progress
) -> list[Group]:
    steps = [part(progress, place, place + 1, len(tasks)) for place in range(len(tasks))]
    return [group for task, step in zip(tasks, steps) for group in _groups(context, task, options, explain, step)]


def _criterion(corpus: Corpus, wanted: str | None, flag: str) -> str:
    """The human score that is wanted, or the only one that there is."""
    names = [item.name for item in corpus.criteria]
    if not names:
        raise InputError(_missing(corpus))
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted not in names:
        said = "several human scores" if wanted is None else f"no human score {wanted!r}"
        raise InputError(f"{corpus.name} has {said}; say {flag} with one of: {', '.join(names)}")
    return wanted


def _missing(corpus: Corpus) -> str:
    return (
        f"{corpus.name} has no human scores, so there is nothing to correlate with; give some (--scores CRITERION=FILE), "
        "or ask for boosted scores alone (--apply p=X,w=X)"
    )


def _grid(context: Context, groups: Sequence[Group], options: BoostOptions, prefix: str = "") -> pd.DataFrame:
    if context.arguments.by == "part":
        groups = [group for cut in _cut(context, groups, options) for group in cut]
    found = boost(groups, options)
    for group, surface in zip(groups, found.surfaces):
        if options.level == "system" and surface.n < len(group.rows.names):
            systems = plural(len(group.rows.names), "system")
            context.tell(f"{prefix}{group.name}: {surface.n} of {systems} have a score and a human score; only these count")
    for remark, names in _remarks(found).items():
        context.tell(f"{', '.join(prefix + name for name in names)}: {remark}")
    frame = found.to_frame()
    return frame.assign(group=prefix + frame["group"]) if prefix else frame


def _cut(context: Context, groups: Sequence[Group], options: BoostOptions) -> list[tuple[Group, ...]]:
    cut = cut_groups(groups, options.parts)
    if len(cut) != options.parts:
        context.tell(f"{plural(len(cut), 'part')} instead of {options.parts}: a part holds whole documents")
    return cut


def _remarks(found: BoostResult) -> dict[str, list[str]]:
    """Why cells are undefined and where outputs collapse, each with the groups that it holds for."""
    remarks: dict[str, list[str]] = {}
    for surface, collapsed, rows in zip(found.surfaces, found.collapsed, found.rows):
        said = [
            f"{count:,} of {plural(surface.reasons.size, 'cell')} undefined: {REASONS[code]}"
            for code, count in zip(*np.unique(surface.reasons, return_counts=True))
            if code
        ]
        where = stretches(surface.p, 2 * collapsed > rows)
        if where:
            said.append(
                f"more than half of {plural(rows, 'output')} {COLLAPSE} "
                f"under {found.options.regularisation} at p = {' and '.join(f'{low:g} to {high:g}' for low, high in where)}"
            )
        for remark in said:
            remarks.setdefault(remark, []).append(surface.group)
    return remarks


def _tell_calibration(context: Context, found: Calibration, options: BoostOptions, held_out: bool = True) -> None:
    choice = found.choice
    context.tell(f"{options.calibration}: p = {choice.p:g}, w = {choice.w:g}" + (f" ({choice.note})" if choice.note else ""))
    if not held_out:
        return
    undefined = Counter(row.note for row in found.held_out if not (np.isfinite(row.original) and np.isfinite(row.boosted)))
    for reason, count in undefined.items():
        context.tell(f"{count} of {plural(len(found.held_out), 'held-out group')} undefined: {reason}")
    if found.significant is not None:
        context.tell(f"significant in {found.significant} of {plural(len(found.held_out), 'held-out group')} (Bonferroni-Dror)")


def _json(found: Calibration) -> str:
    """What `Calibration.to_dict` gives; null where undefined."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: plain(item) for name, item in value.items()}
        if isinstance(value, list):
            return [plain(item) for item in value]
        return None if isinstance(value, float) and not math.isfinite(value) else value

    return json.dumps(plain(found.to_dict()))


def _beside(out: Path) -> Path:
    return out.with_name(out.stem + SUFFIX)


def _default(corpus: Corpus) -> list[str]:
    return ["bertscore" if corpus.reference_count else "xbertscore"]


def _only(metrics: Sequence[Metric], flag: str) -> Metric:
    if len(metrics) > 1:
        raise InputError(f"{flag} works on one metric at a time; name one with --metric")
    return metrics[0]

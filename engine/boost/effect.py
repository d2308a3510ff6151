"""What one setting of p and w does: to single outputs, to the systems and their ranking, and to the aggregates themselves."""

from __future__ import annotations

import numpy as np
import pandas as pd

from engine.boost.power import PowerMeans, power_means
from engine.boost.rows import Group, Rows


def segment_frame(rows: Rows, p: float, w: float, regularisation: str = "paper", group: Group | None = None) -> pd.DataFrame:
    """One row per output: what boosting makes of it.

    Columns: segment, system, score, aggregate, boosted (in the metric's own direction and unit; undefined ones are NaN),
    collapsed, rank, boosted_rank (1 is best, ties averaged, among the outputs that have both scores), change (places gained by
    boosting), and human where a group of these rows is given, whose outputs the frame is then about.
    """
    means = _one(rows, p, regularisation)
    frame = pd.DataFrame(
        {
            "segment": rows.segments,
            "system": pd.Series([rows.names[place] for place in rows.systems], dtype="str"),
            "score": rows.sign * rows.scores,
            "aggregate": rows.sign * means.means[0],
            "boosted": rows.sign * _mix(rows.scores, means.means[0], w),
            "collapsed": means.collapsed(p) & ~np.isnan(means.means[0]),
        }
    )
    if group is None:
        return _ranked(frame, rows.sign)
    if group.rows is not rows:
        raise ValueError(f"group {group.name!r} belongs to other rows")
    return _ranked(frame.iloc[group.chosen].reset_index(drop=True), rows.sign).assign(human=group.human)


def system_frame(rows: Rows, p: float, w: float, regularisation: str = "paper", group: Group | None = None) -> pd.DataFrame:
    """One row per system, best boosted score first.

    Columns: system, n, score, aggregate, boosted (means in the metric's own direction), rank, boosted_rank (1 is best, ties
    averaged), change (places gained by boosting), and human, human_rank where a group is given. Means are over the outputs that
    have a score and a power mean and, with a group, a human score.
    """
    frame = segment_frame(rows, p, w, regularisation, group)
    defined = frame["score"].notna() & frame["aggregate"].notna()
    whole = group.system_human if group else None
    if group and whole is None:
        defined &= frame["human"].notna()
    names = [name for name in rows.names if (frame["system"] == name).any()]
    kept = frame[defined].groupby("system")
    table = kept[["score", "aggregate", "boosted"]].mean().reindex(names)
    table.insert(0, "n", kept.size().reindex(names, fill_value=0))
    table = _ranked(table, rows.sign)
    if group:
        table["human"] = (
            pd.Series(whole, dtype=float).reindex(names) if whole is not None else kept["human"].mean().reindex(names)
        )
        table["human_rank"] = _rounded(table["human"]).rank(ascending=False)
    return table.sort_values("boosted_rank", kind="stable").rename_axis("system").reset_index()


def aggregate_frame(rows: Rows, regularisation: str = "paper") -> pd.DataFrame:
    """The aggregates over the grid, for a look at them where there are no human scores.

    One row per p and system: p, system, aggregate (mean power mean, in the metric's own direction), collapsed (share of the
    system's outputs whose power mean no longer depends on the importances at this p).
    """
    means = rows.means(regularisation)
    frames = []
    for place, name in enumerate(rows.names):
        own = means.only((rows.systems == place) & ~np.isnan(means.means[0]))
        count = own.means.shape[1]
        if not count:
            continue
        collapsed = own.collapsed_counts() / count
        columns = {"p": own.p, "system": name, "aggregate": rows.sign * own.means.mean(axis=1), "collapsed": collapsed}
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=["p", "system", "aggregate", "collapsed"])


def _ranked(frame: pd.DataFrame, sign: int) -> pd.DataFrame:
    """With the ranks by score and by boosted score of the rows that have both, and the places gained."""
    known = frame["score"].notna() & frame["boosted"].notna()
    before, after = (_rounded(frame[name].where(known)).rank(ascending=sign < 0) for name in ("score", "boosted"))
    return frame.assign(rank=before, boosted_rank=after, change=before - after)


def _rounded(values: pd.Series) -> pd.Series:
    """To 10 significant digits, as the grid rounds before it ranks."""
    from engine.boost.kernels import round_all

    known = values.to_numpy(float)
    return pd.Series(np.where(np.isnan(known), np.nan, round_all(np.nan_to_num(known))), values.index)


def _one(rows: Rows, p: float, regularisation: str) -> PowerMeans:
    return power_means(rows.importances, np.array([p]), regularisation)


def _mix(scores: np.ndarray, means: np.ndarray, w: float) -> np.ndarray:
    return scores if w == 1 else w * scores + (1 - w) * means

"""What one p and w do: the correlation there, the systems and their ranks, the boosted metric for further use."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from components import services
from components.boost.controls import COEFFICIENT_TITLES
from components.boost.runs import Study
from components.boost.sentence import TERMS, collapse
from components.charts import system_parts
from components.downloads import download_csv
from components.numbers import number, score_places, signed
from components.score_table import criterion_title
from components.states import plain
from components.tables import rank_change, show_table
from components.vega import forget_clicks
from components.workspace import Workspace
from engine.boost.effect import system_frame
from engine.boost.grid import W_GRID, Surface
from engine.boost.metric import BoostedMetric, Setting
from engine.boost.power import P_GRID, nearest
from engine.boost.rows import Group


def pick_cell(work: Workspace, default: tuple[float, float], calibrated: bool) -> tuple[float, float]:
    """Draw p and w of the cell that is looked at; the default one until another is chosen."""
    p, w = looked_at(work, default)
    low, high = float(P_GRID[0]), float(P_GRID[-1])
    weights = [float(value) for value in W_GRID]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        tie = work.tied("boost-p", p, lambda value: work.set(p=f"{value:g}", w=work.view["w"] or f"{w:g}"))
        st.number_input("p", low, high, step=0.1, format="%.1f", width=130, **tie)
        tie = work.tied("boost-w", w, lambda value: work.set(w=f"{value:g}", p=work.view["p"] or f"{p:g}"))
        st.selectbox("w", weights, format_func="{:.1f}".format, width=100, **tie)
        disabled = not (work.view["p"] or work.view["w"])
        label = "Back to the calibrated p and w" if calibrated else f"Back to p = {default[0]:g}, w = {default[1]:g}"
        st.button(label, key="boost-reset", type="tertiary", on_click=_reset, args=(work,), disabled=disabled)
    return p, w


def _reset(work: Workspace) -> None:
    work.set(p="", w="")
    forget_clicks(work)


def looked_at(work: Workspace, default: tuple[float, float]) -> tuple[float, float]:
    """The cell that the address names, moved onto the grid; the default where it names none."""
    try:
        p, w = float(work.view["p"]), float(work.view["w"])
    except ValueError:
        return default
    if np.isnan(p) or np.isnan(w):
        return default
    return float(P_GRID[nearest(P_GRID, p)]), float(W_GRID[nearest(W_GRID, w)])


def show_cell(study: Study, surface: Surface, group: Group, p: float, w: float) -> None:
    """One line: the correlation there, what it was, in how many outputs the importances count."""
    value, reason = surface.cell(p, w)
    if np.isfinite(value) and np.isfinite(surface.original):
        gain = value - surface.original
        said = f"**{number(value, 4)}** against {number(surface.original, 4)} without boosting ({signed(gain, 4)})"
    else:
        said = f"**not defined**: {reason or surface.original_reason}"
    means = study.rows.means(study.asked.options.regularisation).only(group.chosen)
    end = collapse(means, p)
    title = COEFFICIENT_TITLES[surface.coefficient]
    st.markdown(f"{title} at p = {number(p, 1)}, w = {w:.1f}: {said}. {end[:1].upper()}{end[1:]}.", help=TERMS)


def show_collapse(study: Study, p: float) -> None:
    """One line for a corpus without human scores: in how many outputs the importances count."""
    end = collapse(study.rows.means(study.asked.options.regularisation), p)
    st.markdown(f"At p = {number(p, 1)}: {end}.", help=TERMS)


def show_systems(study: Study, group: Group | None, p: float, w: float) -> None:
    """Draw the systems with their means, and their ranks before, after and by the human scores."""
    frame = system_frame(study.rows, p, w, study.asked.options.regularisation, group)
    frame = frame.sort_values("rank", kind="stable", ignore_index=True)
    a, b = study.work.systems(study.corpus)
    spec, criterion = study.metric.spec, study.asked.criterion
    places = score_places(spec.range)
    table = pd.DataFrame(
        {
            "": [part if part != "other" else "" for part in system_parts(frame["system"], a, b)],
            "System": frame["system"],
            f"Mean {spec.name}": frame["score"],
            "Boosted": frame["boosted"],
            "Rank": frame["rank"],
            "Boosted rank": frame["boosted_rank"],
            "Change": [rank_change(value) for value in frame["change"]],
        }
    )
    form, text = st.column_config.NumberColumn, st.column_config.TextColumn
    config = {
        "": text(width=36),
        f"Mean {spec.name}": form(
            format=f"%.{places}f",
            help="Mean of the outputs that have a score and an aggregate; the corpus score on the page Corpus may differ",
        ),
        "Boosted": form(
            format=boosted_format(frame["boosted"], places),
            help="w \u00b7 score + (1 \u2212 w) \u00b7 power mean of the importances",
        ),
        "Rank": form(format="%g", help="1 is best; ties share the mean of their ranks"),
        "Boosted rank": form(format="%g"),
        "Change": text(help="Places gained or lost by boosting"),
    }
    if group is not None and criterion is not None:
        table["Rank by scores"], table[criterion_title(criterion)] = frame["human_rank"], frame["human"]
        config["Rank by scores"] = form(format="%g", help=f"Rank by {criterion_title(criterion)}")
        config[criterion_title(criterion)] = form(
            format="%.2f", help=f"{criterion_title(criterion)}. {criterion.provenance}", width=215
        )
    table["Outputs"] = frame["n"]
    if a == b:
        del table[""], config[""]
    show_table(table, config, height="content", alt="Systems before and after boosting")
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        download_csv(frame, "boost-systems", *study.names(*point_names(study, p, w)), key="boost-systems", label="Systems (CSV)")
        st.caption(_ranks(frame), width="content")


def boosted_format(values: pd.Series, places: int) -> str:
    """How boosted scores are written: like scores, but for those that would be 0 then."""
    largest = values.abs().max()
    return f"%.{places}f" if not largest < 10.0 ** (1 - places) else "%.3g"


def point_names(study: Study, p: float, w: float) -> tuple[str, ...]:
    """What boosted scores hang on, as it stands in the names of files."""
    return study.asked.options.regularisation, f"p{p:g}", f"w{w:g}"


def show_use(study: Study, p: float, w: float) -> None:
    """The boosted metric's name and signature, and a button that makes it the metric of all pages."""
    options = study.asked.options
    setting = Setting(p, w, options.regularisation, options.sides)
    spec = BoostedMetric(study.metric, study.asked.explain, setting, services.scorer()).spec
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        use = {"on_click": study.work.go, "args": ("corpus",), "kwargs": {"metric": spec.id}}
        help = "Makes it the metric in the sidebar, beginning with its scores on Corpus; it can be explained and boosted again"
        st.button("Use this boosted metric on all pages", icon=":material/bolt:", key="boost-use", help=help, **use)
        with st.popover("Name and signature", icon=":material/fingerprint:"):
            st.markdown("On the command line: `--metric`")
            st.code(spec.id, language=None, wrap_lines=True)
            st.markdown("Signature")
            st.code(spec.signature, language=None, wrap_lines=True)


def _ranks(frame: pd.DataFrame) -> str:
    moved = frame[frame["change"].fillna(0) != 0]
    if not len(moved):
        return "No system changes its rank."
    said = [
        f"{plain(row.system)} {'rises' if row.change > 0 else 'falls'} from {row.rank:g} to {row.boosted_rank:g}"
        for row in moved.itertuples()
    ]
    return "; ".join(said[:6]) + ("" if len(said) <= 6 else f"; and {len(said) - 6} more") + "."

"""The Boost page."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from app_helpers import Open, said, settle
from streamlit.testing.v1 import AppTest

from components.boost.sentence import verdict
from components.boost.surface import outline, tones
from components.results import Outcome
from components.workspace import STATE_KEY
from engine.boost.boost import BoostOptions, boost, calibrate, cut_groups
from engine.boost.calibrate import Calibration, Choice, HeldOut
from engine.boost.effect import segment_frame, system_frame
from engine.boost.grid import Surface, average
from engine.boost.rows import Group, Rows, explained_rows, human_group
from engine.corpus.demo import load_demo
from engine.corpus.types import Corpus, Criterion
from engine.explain.explain import explain_corpus
from engine.explain.options import ExplainOptions
from engine.metrics.registry import make_metric
from engine.scoring.scorer import Scorer


def explained(corpus: Corpus) -> Rows:
    metric = make_metric("chrf", corpus.languages)
    return explained_rows(corpus, explain_corpus(corpus, metric, ExplainOptions(), Scorer()))


@pytest.fixture(scope="module")
def planted() -> Group:
    corpus = load_demo("mt")
    return human_group(corpus, explained(corpus), "planted")


def settled(app: AppTest) -> AppTest:
    """Wait for the test of the gain, too, which runs while the page is there already."""
    for _ in range(40):
        settle(app)
        if "still being tested" not in said(app):
            return app
        app.run()
    raise AssertionError("the test of the gain did not end")


def shown_map(app: AppTest) -> dict[str, Any]:
    """The heat map as the browser gets it."""
    (data,) = (part for element in app.get("bidi_component") if "tones" in (part := json.loads(element.proto.json)))
    return data


def written(surface: Surface) -> list[str]:
    """The correlations of a surface as the heat map tells them, p by p."""
    return [shown(value, 4) for value in surface.correlation.ravel()]


def line_points(app: AppTest) -> pd.DataFrame:
    """The points of the lines, as the browser gets them."""
    for element in app.get("vega_lite_chart") or app.get("arrow_vega_lite_chart"):
        for dataset in element.proto.datasets:
            if dataset.name == "cells":
                import pyarrow

                return pyarrow.ipc.open_stream(dataset.data.data).read_pandas()
    raise AssertionError("no chart with lines")


def uploaded(app: AppTest, corpus: Corpus) -> AppTest:
    """Choose a corpus that the user has uploaded."""
    app.session_state[STATE_KEY].add_upload(corpus, ())
    return settled(app.run())


def shown(value: float, places: int = 3) -> str:
    return f"{value:.{places}f}".replace("-", "\u2212")


def test_the_sentence_says_what_held_out_data_say(open_app: Open, planted: Group) -> None:
    app = settled(open_app("boost"))
    found = calibrate([planted], BoostOptions())
    text = said(app)
    assert "Boosting helps here" in text
    assert f"rises from **{shown(found.original)}** to **{shown(found.boosted)}**" in text
    assert f"more than chance would give (p\u2011value {shown(found.p_value)})" in text
    assert f"**p = {shown(found.choice.p, 1)}, w = {found.choice.w:.1f}**" in text
    assert "planted errors, not human judgement" in text and "human scores" not in text
    assert "Erasure has no random part" in text


@pytest.mark.parametrize(
    ("boosted", "said_first"), [(0.4, "raises the correlation here; the"), (0.2, "lowers the correlation here; the")]
)
def test_nothing_is_concluded_before_the_test_ends(boosted: float, said_first: str) -> None:
    choice = Choice(1.0, 0.4, 10, 100)
    found = Calibration("median", choice, (HeldOut("part 1", 1.0, 0.4, 0.3, boosted),))
    assert said_first in verdict(found, Outcome("running")) and "test is still running" in verdict(found, Outcome("running"))
    assert "still running" not in verdict(replace(found, p_value=0.01, significant=0), Outcome("done"))


def test_the_heat_map_holds_the_engine_s_grid(open_app: Open, planted: Group) -> None:
    app = settled(open_app("boost", coefficient="spearman", regularisation="minmax"))
    surface = boost([planted], BoostOptions(coefficient="spearman", regularisation="minmax")).surfaces[0]
    data = shown_map(app)
    tips = dict(data["tips"])
    assert tips["Spearman"] == written(surface)
    assert list(zip(data["x"]["texts"], data["x"]["values"]))[::599] == [("\u221230.0", -30.0), ("29.9", 29.9)]
    colours = np.array(data["tones"]).reshape(600, 6)
    assert (np.sign(colours - 128) == np.sign(surface.correlation - surface.original))[np.abs(colours - 128) > 0].all()
    assert {int(colours.min()), int(colours.max())} == {0, 256} and (colours[:, 5] == 128).all()
    fallen = [int(planted.rows.means("minmax").collapsed(value).sum()) for value in surface.p]
    assert len(set(fallen)) > 3
    assert tips["outputs collapsed"] == [f"{amount} of 336" for amount in fallen]
    app.button_group(key="view-reach").set_value("3").run()
    near = shown_map(app)
    assert near["x"]["values"][::60] == [-3.0, 3.0] and dict(near["tips"])["Spearman"] == tips["Spearman"][270 * 6 : 331 * 6]


def test_the_neutral_colour_is_the_original_s() -> None:
    p, w = np.array([0.0, 0.1, 0.2]), np.array([0.0, 1.0])
    values = np.array([[0.1, 0.3], [0.5, 0.3], [np.nan, 0.3]])
    surface = Surface("", "kendall", 9, p, w, values, np.zeros((3, 2), np.int8), 0.3, "")
    assert tones(surface).tolist() == [[0, 128], [256, 128], [-1, 128]]
    undefined = replace(surface, original=np.nan, original_reason="constant")
    assert tones(undefined).tolist() == [[128, 192], [256, 192], [-1, 192]]


def test_parts_and_their_mean(open_app: Open, planted: Group) -> None:
    app = settled(open_app("boost", group="mean"))
    parts = [group for (group,) in cut_groups([planted], 8)]
    surfaces = boost(parts, BoostOptions()).surfaces
    assert dict(shown_map(app)["tips"])["Kendall"] == written(average(surfaces, ""))
    app.selectbox(key="view-group").set_value("2").run()
    assert dict(shown_map(settled(app))["tips"])["Kendall"] == written(surfaces[1])


def test_one_setting_is_read_from_the_address_and_changed_there(open_app: Open, planted: Group) -> None:
    app = settled(open_app("boost", p="-2.04", w="0.2"))
    value, _ = boost([planted], BoostOptions()).surfaces[0].cell(-2.0, 0.2)
    assert f"at p = \u22122.0, w = 0.2: **{shown(value, 4)}**" in said(app)
    fallen = int(planted.rows.means("paper").collapsed(-2.0).sum())
    assert f"no longer count in {fallen} of 336 outputs" in said(app)
    app.number_input(key="boost-p").set_value(4.0).run()
    assert app.query_params["p"] == "4" and app.query_params["w"] == "0.2"
    table = app.dataframe[0].value
    expected = system_frame(planted.rows, 4.0, 0.2, group=planted)
    for column, name in {"Mean chrF": "score", "Boosted": "boosted", "Rank": "rank", "Boosted rank": "boosted_rank"}.items():
        assert table[column].to_numpy() == pytest.approx(expected[name].to_numpy())
    app.button(key="boost-reset").click().run()
    assert "p" not in app.query_params


@pytest.mark.parametrize("chart", ["solid", "lines", "aggregates"])
def test_the_other_charts(open_app: Open, chart: str) -> None:
    app = settled(open_app("boost", chart=chart))
    if chart == "solid":
        figure = json.loads(app.get("plotly_chart")[0].proto.spec)
        assert [trace["type"] for trace in figure["data"]] == ["surface", "surface", "scatter3d"]
    if chart == "lines":
        assert set(line_points(app)["w"]) == {0.0, 0.2, 0.4, 0.6, 0.8}


def test_an_address_that_makes_no_sense_shows_what_the_controls_say(open_app: Open) -> None:
    app = settled(open_app("boost", reach="7", chart="xyz", explainer="foo"))
    assert not app.exception
    assert shown_map(app)["x"]["values"][0] == -30.0
    assert app.button_group(key="view-explainer").value == "erasure"


def test_values_from_another_corpus(open_app: Open, planted: Group) -> None:
    app = settled(open_app("boost", on="demo:sum", regularisation="softplus"))
    other = load_demo("sum")
    on = [human_group(other, explained(other), "planted")]
    found = calibrate([planted], BoostOptions(regularisation="softplus", resamples=0), on)
    text = said(app)
    assert "With p and w chosen on Sample" in text
    assert f"**p = {shown(found.choice.p, 1)}, w = {found.choice.w:.1f}**" in text
    assert f"to **{shown(found.boosted)}**" in text


def test_criteria_are_told_apart(open_app: Open) -> None:
    app = settled(open_app("boost", corpus="demo:sum", human="planted coverage", level="system"))
    assert "planted coverage\u201d (planted errors, not human judgement)" in said(app)
    assert "Only 3 systems" in said(app)
    assert len(set(app.selectbox(key="view-human").options)) == 4


def small(scores: str) -> Corpus:
    """A part of the sample with real-looking scores (`some`), with equal ones (`equal`) or without (`none`)."""
    demo = load_demo("mt").head(12)
    documents = tuple(f"d{place // 3}" for place in range(12))
    human = demo.human.assign(criterion="adequacy")
    if scores == "equal":
        human["score"] = 1.0
    kept = {} if scores == "none" else {"human": human, "criteria": (Criterion("adequacy", "made for the test"),)}
    return Corpus(f"small {scores}", demo.systems, demo.references, demo.sources, documents, demo.languages, **kept)


def test_without_human_scores_the_aggregates_are_there(open_app: Open) -> None:
    app = uploaded(open_app("boost"), small("none"))
    assert "the corpus has no human scores" in said(app)
    assert list(app.dataframe[0].value["System"]) == ["aurora", "beacon", "cobalt"]
    assert not any(box.key == "view-coefficient" for box in app.selectbox)


def test_what_is_undefined_says_why(open_app: Open) -> None:
    app = uploaded(open_app("boost"), small("equal"))
    text = said(app)
    assert "Whether boosting helps here cannot be said" in text
    assert "all human scores are equal" in text
    assert "3,600 of 3,600 cells are undefined" in text
    assert "nan" not in text.casefold().split()


def test_a_single_document_cannot_be_cut(open_app: Open) -> None:
    corpus = small("some")
    whole = Corpus(
        "one document", corpus.systems, corpus.references, None, ("d",) * 12, corpus.languages, corpus.human, corpus.criteria
    )
    text = said(uploaded(open_app("boost"), whole))
    assert "single document" in text and "Calibrate on" in text
    assert "against" in text and "without boosting" in text  # the surface is there nevertheless


def test_several_seeds_on_request(open_app: Open) -> None:
    app = uploaded(open_app("boost", explainer="lime", options="samples=12"), small("some"))
    assert "is not measured yet" in said(app)
    app.button(key="boost-seeds").click().run()
    assert "Over 3 seeds the gain is" in said(settled(app))
    assert "Pearson, mean over 36 outputs" in said(app)


def test_a_boosted_metric_becomes_the_metric_of_all_pages(open_app: Open) -> None:
    app = uploaded(open_app("boost", p="2", w="0.4"), small("some"))
    app.button(key="boost-use").click().run()
    settle(app)
    assert app.query_params["metric"] == "boosted:p=2,w=0.4,explainer=erasure,metric=chrf"
    assert app.sidebar.selectbox(key="view-metric").value == app.query_params["metric"]
    assert "chrF, boosted (p 2, w 0.4) \u2191" in app.dataframe[0].value.columns


def test_long_runs_wait_for_a_button(open_app: Open) -> None:
    app = open_app("boost", explainer="lime", options="samples=3000", corpus="demo:mt")
    button = next(item for item in app.button if item.key.startswith("start-boost"))
    assert button.label == "Explain 336 outputs"
    assert not len(app.get("progress"))


def test_the_outline_goes_round_every_wanted_cell() -> None:
    p, w = np.arange(-3, 4) / 10, np.arange(6) / 5
    wanted = np.zeros((7, 6), bool)
    wanted[2:5, 1:3] = True
    wanted[6, 5] = True
    lines = pd.DataFrame(outline(wanted, p, w), columns=["p1", "w1", "p2", "w2"])
    upright = lines[lines.p1 == lines.p2]
    assert (upright.w2 - upright.w1).sum() == pytest.approx(2 * 2 * 0.2 + 2 * 0.2)
    level = lines[lines.w1 == lines.w2]
    assert (level.p2 - level.p1).sum() == pytest.approx(2 * 0.3 + 2 * 0.1)
    assert outline(np.zeros((7, 6), bool), p, w) == []


def test_the_outputs_that_move_most_follow_the_human_scores(open_app: Open) -> None:
    corpus = load_demo("sum")
    rows, first = explained(corpus), corpus.criteria[0].name
    app = settled(open_app("boost", corpus="demo:sum", p="2", w="0.2", human=first))
    for criterion in (first, corpus.criteria[1].name):
        app.selectbox(key="view-human").set_value(criterion)
        table = settled(app.run()).dataframe[1].value
        frame = segment_frame(rows, 2.0, 0.2, group=human_group(corpus, rows, criterion))
        most = frame.loc[frame["change"].abs().sort_values(ascending=False, kind="stable").index[:8]]
        assert table["Segment"].tolist() == most["segment"].tolist() and table["System"].tolist() == most["system"].tolist()
        assert table.iloc[:, 7].to_numpy() == pytest.approx(most["human"].to_numpy())
        assert table["Output"].tolist() == [corpus.systems[row.system][row.segment] for row in most.itertuples()]


def test_options_of_a_link_that_cannot_be_leave_the_page_usable(open_app: Open) -> None:
    app = settle(open_app("boost", boost="a=b&parts=4"))
    (warning,) = app.warning
    assert warning.value.startswith("Boosting has no option") and "The options of this link are left out" in warning.value
    assert "On average over 8 parts" in said(app)


def test_where_nothing_is_gained_the_original_metric_is_recommended(open_app: Open) -> None:
    app = settled(open_app("boost", corpus="demo:sum"))
    assert "Boosting does not help here" in said(app) and "Better keep the original metric" in said(app)
    assert "For further use" not in said(app)


def test_an_error_rate_is_said_to_be_negated(open_app: Open) -> None:
    assert "Lower is better in TER" in said(settle(open_app("boost", metric="ter")))

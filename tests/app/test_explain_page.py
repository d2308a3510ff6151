"""The Explain page."""

from __future__ import annotations

import numpy as np
import pytest
from app_helpers import Open, heatmaps, said, settle, text, words

from engine.corpus.demo import load_demo
from engine.explain.explain import explain_corpus
from engine.explain.options import ExplainOptions
from engine.metrics.registry import make_metric
from engine.report.colours import diverging
from engine.scoring.scorer import Scorer


def panel(app, name: str) -> dict:
    return next(item for data in heatmaps(app) for row in data["rows"] for item in row if item["id"] == name)


@pytest.mark.parametrize("explainer", ["erasure", "lime", "shap"])
def test_the_heatmap_shows_the_engine_s_importances(open_app: Open, explainer: str) -> None:
    app = settle(open_app("explain", segment="3", explainer=explainer))
    corpus = load_demo("mt")
    metric = make_metric("chrf", corpus.languages)
    entries = explain_corpus(corpus, metric, ExplainOptions(explainer=explainer), Scorer(), list(corpus.systems)[:2], [3]).entries
    top = max(np.abs(entry.explanation.importances).max() for entry in entries)
    for tone, entry in zip("ab", entries):
        for side in entry.explanation.sides:
            shown = words(panel(app, f"{tone}-{side.side}"))
            assert [text(run) for run in shown] == [word.text for word in side.words]
            assert [tuple(run["light"]) for run in shown] == [diverging(value, top, False) for value in side.importances]
            assert [tuple(run["dark"]) for run in shown] == [diverging(value, top, True) for value in side.importances]


def test_planted_errors_are_underlined_with_their_category(open_app: Open) -> None:
    corpus = load_demo("mt")
    span = next(item for item in corpus.spans if item.system == "cobalt" and item.side == "hypothesis" and item.end > item.start)
    app = settle(open_app("explain", segment=str(span.segment), b="cobalt"))
    marked = [run for run in words(panel(app, "b-hypothesis")) if any(style for _, style in run["pieces"])]
    assert marked
    assert any(["Planted error", value] for run in marked for value in [v for n, v in run["tip"] if n == "Planted error"])
    joined = "".join(piece for run in panel(app, "b-hypothesis")["runs"] for piece, style in run.get("pieces", []) if style)
    assert corpus.systems["cobalt"][span.segment][span.start : span.end] in joined


def test_an_error_rate_colours_what_helps_blue(open_app: Open) -> None:
    app = settle(open_app("explain", metric="ter", segment="3"))
    shown = [run for tone in "ab" for run in words(panel(app, f"{tone}-hypothesis"))]
    harmful = [run for run in shown if run["value"].startswith("+")]
    assert harmful
    assert all(int(run["light"][0][1:3], 16) >= int(run["light"][0][5:7], 16) for run in harmful)  # no bluer than red


def test_previous_next_and_number(open_app: Open) -> None:
    app = settle(open_app("explain"))
    assert app.button(key="previous").disabled
    assert app.button(key="next").help == "Next segment (key N)"
    app.button(key="next").click().run()
    assert app.number_input(key="view-segment").value == 1
    assert app.query_params["segment"] == "1"
    app.number_input(key="view-segment").set_value(9).run()
    settle(app)
    assert panel(app, "a-hypothesis")["runs"]
    assert heatmaps(app)[0]["file"].endswith("segment-9")


def test_difference_on_the_shared_reference(open_app: Open) -> None:
    app = settle(open_app("explain", view="difference", segment="3"))
    shared = panel(app, "reference:0")
    corpus = load_demo("mt")
    metric = make_metric("chrf", corpus.languages)
    a, b = (
        entry.explanation.side("reference:0").importances
        for entry in explain_corpus(corpus, metric, ExplainOptions(), Scorer(), list(corpus.systems)[:2], [3]).entries
    )
    numbers = [float(run["value"].replace("\u2212", "-")) for run in words(shared)]
    assert np.allclose(numbers, a - b, atol=0.006)


def test_three_explainers_beside_each_other(open_app: Open) -> None:
    app = settle(open_app("explain", view="explainers", segment="3"))
    titles = [row[0]["title"] for row in heatmaps(app)[0]["rows"]]
    assert titles == ["Erasure", "LIME", "SHAP"]


def test_a_view_that_there_is_not_shows_the_first_in_full(open_app: Open) -> None:
    app = settle(open_app("explain", view="zzz", segment="3"))
    assert [metric.label for metric in app.metric] == ["Stability", "Faithfulness"] * 2


def test_what_if_starts_from_the_segment(open_app: Open) -> None:
    app = settle(open_app("explain", view="what-if", segment="3"))
    assert [metric.value for metric in app.metric][0] == [metric.value for metric in app.metric][1]
    assert app.metric[2].value in ("0.00", "+0.00")


def test_quality_stands_beside_the_explanation(open_app: Open) -> None:
    app = settle(open_app("explain", explainer="lime", segment="3"))
    labels = [metric.label for metric in app.metric]
    assert sum("Stability" in label for label in labels) == 2
    assert sum("Faithfulness" in label for label in labels) == 2


def test_explain_all_is_a_job_whose_result_stays(open_app: Open) -> None:
    app = settle(open_app("explain", corpus="demo:sum"))
    app.button(key="explain-all").click().run()
    settle(app)
    assert "outputs explained" in said(app)
    app.switch_page("pages/corpus.py").run()
    app.switch_page("pages/explain.py").run()
    assert "outputs explained" in said(app)


def test_a_source_based_metric_shows_the_source(open_app: Open) -> None:
    app = settle(open_app("explain", segment="3"))
    assert "not read by chrF" in panel(app, "source")["kind"]


def test_options_of_a_link_that_cannot_be_leave_the_page_usable(open_app: Open) -> None:
    app = settle(open_app("explain", options="a=b"))
    (warning,) = app.warning
    assert warning.value.startswith("The explanation has no option") and "The options of this link are left out" in warning.value
    assert any("Faithfulness" in item.label for item in app.metric)

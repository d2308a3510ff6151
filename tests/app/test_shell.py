"""The shell: sidebar, address, links."""

from __future__ import annotations

from app_helpers import Open, said


def test_opens_on_the_scored_sample(open_app: Open) -> None:
    app = open_app()
    assert app.title[0].value == "Corpus"
    assert "planted errors, not human judgement" in said(app)
    assert app.dataframe[0].value["System"].tolist() == ["aurora", "beacon", "cobalt"]


def test_choices_hold_on_every_page(open_app: Open) -> None:
    app = open_app()
    app.sidebar.selectbox(key="view-metric").select("bleu").run()
    app.sidebar.selectbox(key="view-b").select("cobalt").run()
    app.switch_page("pages/explain.py").run()
    assert app.sidebar.selectbox(key="view-metric").value == "bleu"
    assert app.sidebar.selectbox(key="view-b").value == "cobalt"
    assert app.query_params["metric"] == "bleu"
    assert app.query_params["b"] == "cobalt"


def test_swap_exchanges_the_systems(open_app: Open) -> None:
    app = open_app()
    first, second = (app.sidebar.selectbox(key=f"view-{name}").value for name in "ab")
    app.button(key="swap").click().run()
    assert app.sidebar.selectbox(key="view-a").value == second
    assert app.sidebar.selectbox(key="view-b").value == first


def test_a_link_reopens_the_view(open_app: Open) -> None:
    app = open_app("explain", corpus="demo:mt", a="cobalt", b="aurora", metric="ter", segment="7", explainer="lime")
    assert app.sidebar.selectbox(key="view-a").value == "cobalt"
    assert app.sidebar.selectbox(key="view-metric").value == "ter"
    assert app.number_input(key="view-segment").value == 7
    assert app.get("button_group")[0].value in ("lime", ["lime"])


def test_metric_options_are_kept_in_the_address(open_app: Open) -> None:
    app = open_app(metric="chrf:beta=1")
    assert app.query_params["metric"] == "chrf:beta=1"
    assert app.sidebar.selectbox(key="view-metric").value == "chrf"


def test_nonsense_in_the_address_is_refused_in_words(open_app: Open) -> None:
    app = open_app(corpus="demo:nothing", metric="nothing", segment="x")
    assert "no corpus called" in said(app)
    assert "unknown metric" in said(app)


def test_a_link_to_an_upload_of_somebody_else_says_so(open_app: Open) -> None:
    app = open_app(corpus="upload:mine.0123abcd")
    assert "not in this browser session" in said(app)
    next(button for button in app.button if button.label == "Open the sample corpus").click().run()
    assert app.sidebar.selectbox(key="view-corpus").value == "demo:mt"
    assert app.dataframe

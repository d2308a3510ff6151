"""The shell: sidebar, address, links."""

from __future__ import annotations

import pytest
from app_helpers import Open, heatmaps, said, settle
from streamlit.testing.v1 import AppTest

from components import services
from components.workspace import STATE_KEY
from engine.corpus.demo import load_demo
from engine.corpus.types import Corpus, Finding


def test_opens_on_the_scored_sample(open_app: Open) -> None:
    app = settle(open_app())
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


@pytest.mark.parametrize("name", ["upload:mine.0123abcd", "upload:mine." + "0" * 32, "upload:", "upload:../../etc/passwd"])
def test_a_link_to_an_upload_that_is_not_here_says_so(open_app: Open, name: str) -> None:
    app = open_app(corpus=name)
    assert "not on this computer" in said(app)
    next(button for button in app.button if button.label == "Open the sample corpus").click().run()
    assert app.sidebar.selectbox(key="view-corpus").value == "demo:mt"
    assert app.dataframe


def mine() -> Corpus:
    return Corpus("mine", {"A": ("a cat", "two dogs"), "B": ("the cat", "dogs")}, (("a cat",), ("two dogs",)))


def uploaded(app: AppTest, corpus: Corpus) -> AppTest:
    app.session_state[STATE_KEY].add_upload(corpus, (Finding("bom", "mine.txt", None, "has one", "", "note"),))
    return app.run()


def test_an_upload_is_found_again_by_its_link_alone(open_app: Open) -> None:
    app = uploaded(open_app(), mine())
    link = app.query_params["corpus"]
    assert link.startswith("upload:mine.") and len(link.rpartition(".")[2]) == 32
    assert "Kept on this computer until" in said(app)
    again = open_app("explain", corpus=link, b="A", a="B")
    assert again.sidebar.selectbox(key="view-corpus").value == link
    assert [again.sidebar.selectbox(key=f"view-{name}").value for name in "ab"] == ["B", "A"]
    assert link in again.session_state[STATE_KEY].corpora()
    assert "Byte order mark" in said(open_app(corpus=link))
    stranger = open_app()
    assert "mine" not in "".join(stranger.sidebar.selectbox(key="view-corpus").options)
    assert "not on this computer" in said(open_app(corpus=link[:-1] + ("0" if link[-1] != "0" else "1")))


def test_the_same_upload_is_kept_once(open_app: Open) -> None:
    app = uploaded(open_app(), mine())
    link = app.query_params["corpus"]
    assert uploaded(open_app(corpus=link), mine()).query_params["corpus"] == link


def test_a_deleted_upload_is_gone_everywhere(open_app: Open) -> None:
    app = uploaded(open_app(), mine())
    link = app.query_params["corpus"]
    other = open_app(corpus=link)
    app.button(key="delete-upload").click().run()
    assert app.sidebar.selectbox(key="view-corpus").value == "demo:mt"
    assert "deleted" in app.toast[0].value
    assert "not on this computer" in said(other.run())
    assert "not on this computer" in said(open_app(corpus=link))


def test_an_upload_that_cannot_be_written_is_there_nevertheless(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services.kept(), "limit", 10)
    app = uploaded(open_app(), mine())
    assert "In this browser session only" in said(app) and "larger than" in said(app)
    assert list(app.dataframe[0].value["System"]) == ["A", "B"]


@pytest.mark.parametrize("name", ["nothing", "chrf:beta=high", "chrf:colour=red"])
def test_an_unknown_metric_is_named_in_the_sidebar_too(open_app: Open, name: str) -> None:
    app = open_app(metric=name)
    box = app.sidebar.selectbox(key="view-metric")
    assert box.value == name
    assert f"not valid: {name}" in box.options
    assert len(app.error) == 1 and not app.sidebar.warning
    box.select("bleu").run()
    assert not app.error and app.query_params["metric"] == "bleu"


def test_a_and_b_are_never_the_same(open_app: Open) -> None:
    app = open_app(a="beacon", b="beacon")
    a, b = (app.sidebar.selectbox(key=f"view-{name}") for name in "ab")
    assert (a.value, b.value) == ("beacon", "aurora")
    a.select("aurora").run()
    assert [app.sidebar.selectbox(key=f"view-{name}").value for name in "ab"] == ["aurora", "beacon"]
    app.sidebar.selectbox(key="view-b").select("aurora").run()
    assert [app.sidebar.selectbox(key=f"view-{name}").value for name in "ab"] == ["beacon", "aurora"]
    assert [open_app(b="aurora").sidebar.selectbox(key=f"view-{name}").value for name in "ab"] == ["beacon", "aurora"]


def test_one_system_is_not_compared_with_itself(open_app: Open) -> None:
    only = load_demo("mt").with_systems(["cobalt"])
    app = settle(uploaded(open_app(rows="pairs", sort="gap"), only))
    keys = {box.key for box in app.sidebar.selectbox}
    assert "view-b" not in keys and "swap" not in {button.key for button in app.button}
    assert app.sidebar.selectbox(key="view-a").label == "System"
    assert "" not in app.dataframe[0].value.columns and "score A" not in app.dataframe[-1].value.columns
    assert not any(name.startswith("gap") for name in app.selectbox(key="view-sort").options)
    link = app.query_params["corpus"]
    app = settle(open_app("explain", corpus=link, view="difference", segment="3"))
    views = next(group for group in app.get("button_group") if group.key == "view-view")
    assert len(views.options) == 3 and "A \u2212 B" not in views.options
    panels = [item for row in heatmaps(app)[0]["rows"] for item in row]
    assert [item["id"] for item in panels] == ["source", "a-hypothesis", "a-reference:0"]
    assert not any(item["tag"] for item in panels)
    assert "as it matters to" not in "".join(item["kind"] for item in panels)
    settle(open_app("boost", corpus=link))

"""The Corpus page."""

from __future__ import annotations

import numpy as np
from app_helpers import Open, said, settle


def scores(app):
    return app.dataframe[0].value


def segments(app):
    return app.dataframe[-1].value


def test_every_score_has_an_interval_and_a_signature(open_app: Open) -> None:
    app = settle(open_app())
    table = scores(app)
    for name in ("chrF \u2191", "BLEU \u2191"):
        assert table[name].notna().all()
    for score, interval in zip(table["chrF \u2191"], table["95% interval chrF"]):
        low, high = map(float, interval.split(" \u2013 "))
        assert low <= round(score, 2) <= high
    assert any("version:" in element.value for element in app.get("code"))


def test_planted_scores_are_never_called_human(open_app: Open) -> None:
    app = settle(open_app())
    for table in (scores(app), segments(app)):
        assert any("planted errors, not human judgement" in name.casefold() for name in table.columns)
        assert not any(name.startswith("Human") for name in table.columns)


def test_another_metric_beside_the_chosen_one(open_app: Open) -> None:
    app = settle(open_app(metrics="ter"))
    assert "TER \u2193" in scores(app).columns
    assert "BLEU \u2191" not in scores(app).columns


def test_segments_are_searched_sorted_and_paged(open_app: Open) -> None:
    app = settle(open_app(sort="low"))
    table = segments(app)
    assert len(table) == 50
    assert (np.diff(table["score"]) >= 0).all()
    word = str(table["hypothesis"].iloc[0]).split()[0]
    app.text_input(key="view-find").set_value(word.upper()).run()
    found = segments(app)
    assert len(found)
    texts = found[["hypothesis", "reference", "source"]].astype(str).agg(" ".join, axis=1)
    assert texts.str.casefold().str.contains(word.casefold(), regex=False).all()
    app.text_input(key="view-find").set_value("no text has this").run()
    assert "No segment matches" in said(app)


def test_filters_by_system_and_score(open_app: Open) -> None:
    app = settle(open_app(only="cobalt", low="40", high="60,5"))
    table = segments(app)
    assert set(table["system"]) == {"cobalt"}
    assert table["score"].between(40, 60.5).all()


def test_a_beside_b_by_difference(open_app: Open) -> None:
    app = settle(open_app(rows="pairs", sort="gap-a"))
    table = segments(app)
    assert np.allclose(table["A \u2212 B"], table["score A"] - table["score B"])
    assert (np.diff(table["A \u2212 B"]) <= 0).all()


def test_the_summaries_have_two_references(open_app: Open) -> None:
    app = settle(open_app(corpus="demo:sum"))
    assert {"reference 1", "reference 2"} <= set(segments(app).columns)

"""Tables on screen: true minus signs, best systems first."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from app_helpers import Open, settle

from components.numbers import MISSING
from components.tables import _formats, _writer


def test_only_columns_with_negative_numbers_are_written_here() -> None:
    form = st.column_config.NumberColumn
    frame = pd.DataFrame({"a": [-1.0, np.nan], "b": [1.0, 2.0], "t": ["-1", "x"]})
    config = {"a": form(format="%+.2f"), "b": form(format="%.2f"), "t": st.column_config.TextColumn(), "c": form(format="%g")}
    assert _formats(frame, config) == {"a": "%+.2f"}


def test_numbers_are_written_with_a_true_minus() -> None:
    write = _writer("%+.2f")
    assert [write(value) for value in (-1.234, 1.234, -0.001, 0.0, float("nan"))] == [
        "\u22121.23",
        "+1.23",
        "0.00",
        "0.00",
        MISSING,
    ]


def test_systems_stand_best_first(open_app: Open) -> None:
    app = settle(open_app(metric="ter"))
    table = app.dataframe[0].value
    assert (np.diff(table["TER \u2193"]) >= 0).all()
    app = settle(open_app(metric="chrf"))
    assert (np.diff(app.dataframe[0].value["chrF \u2191"]) <= 0).all()


@pytest.mark.parametrize("page", ["corpus", "boost"])
def test_saved_charts_say_what_they_are_of(open_app: Open, page: str) -> None:
    app = settle(open_app(page))
    charts = [json.loads(chart.proto.spec) for chart in app.get("vega_lite_chart")]
    assert charts
    for chart in charts:
        assert chart["title"]["text"][0].startswith("Sample: German\u2013English translation \u00b7 chrF")
        assert "chrF2|case:mixed" in chart["title"]["text"][1]

"""What components compute, without a page."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from components import address
from components.corpus.column_mapping import roles
from components.corpus.distributions import histogram
from components.corpus.segment_rows import SegmentRows, Wanted
from components.downloads import file_name
from components.explain.picture import segment_caption, segment_file
from components.explain.token_diff import align
from components.findings import on_screen
from components.heatmap import Mark, Panel, Scale
from components.numbers import count, decimals, duration, number, signed
from components.score_table import criterion_column
from engine.corpus.demo import load_demo
from engine.corpus.types import Corpus
from engine.explain.options import ExplainOptions
from engine.explain.words import split_words
from engine.metrics.registry import make_metric


@pytest.mark.parametrize(
    ("value", "places", "shown"),
    [(1.234, 2, "1.23"), (-1.234, 1, "\u22121.2"), (-0.001, 2, "0.00"), (float("nan"), 2, "\u2013"), (float("inf"), 2, "\u2013")],
)
def test_numbers(value: float, places: int, shown: str) -> None:
    assert number(value, places) == shown


def test_signed_numbers_and_decimals() -> None:
    assert signed(0.5) == "+0.50"
    assert signed(-0.5) == "\u22120.50"
    assert signed(0.0) == "0.00"
    assert [decimals(value) for value in (0.0123, 0.5, 7.0, 83.0, 1234.0, 0.0)] == [4, 3, 2, 1, 0, 2]


def test_durations_and_counts() -> None:
    assert [duration(value) for value in (None, 0.2, 59, 61, 3700)] == ["", "1 s", "59 s", "1 min 01 s", "1 h 01 min"]
    assert count(1, "segment") == "1 segment"
    assert count(1200, "segment") == "1,200 segments"


def test_address_round_trip() -> None:
    view = address.defaults() | {"corpus": "demo:sum", "segment": 12, "only": ("a b", "c"), "find": "x & y"}
    written = address.write(view, "corpus")
    assert address.parse(written) == {"corpus": "demo:sum", "metric": "chrf", "only": ("a b", "c"), "find": "x & y"}
    assert address.parse({"segment": "x", "unknown": "1", "page": "3"}) == {"page": 3}


def corpus() -> Corpus:
    return Corpus(
        "c",
        {"a": ("The cat", "Dogs bark", None), "b": ("the bat", "dogs barked", "Birds sing")},
        (("A cat",), ("Dogs bark",), ("Birds sang",)),
        sources=("Katze", "Hunde", None),
    )


def rows(higher: bool = True) -> SegmentRows:
    return SegmentRows(corpus(), {"a": np.array([50.0, 90.0, np.nan]), "b": np.array([20.0, 70.0, 80.0])}, higher)


def test_segment_rows_search_any_text_in_any_case() -> None:
    system, segment = rows().select(Wanted(find="CAT"), "a", "b")
    assert list(zip(segment, system)) == [(0, 0), (0, 1)]
    system, segment = rows().select(Wanted(find="barked"), "a", "b")
    assert list(zip(segment, system)) == [(1, 1)]


def test_segment_rows_sort_with_undefined_last() -> None:
    system, segment = rows().select(Wanted(sort="low"), "a", "b")
    assert list(zip(segment, system)) == [(0, 1), (0, 0), (1, 1), (2, 1), (1, 0), (2, 0)]
    system, segment = rows().select(Wanted(sort="high"), "a", "b")
    assert (segment[0], system[0]) == (1, 0)
    assert (segment[-1], system[-1]) == (2, 0)


def test_segment_rows_name_the_segments_as_the_input_does() -> None:
    named = SegmentRows(replace(corpus(), ids=("s7", "s8", "s9")), rows().scores, True)
    assert list(named.pair_frame(np.array([2, 0]), "a", "b")["id"]) == ["s9", "s7"]
    assert list(named.output_frame(np.array([0, 1]), np.array([1, 1]), {}).columns[:3]) == ["segment", "id", "system"]
    assert "id" not in rows().pair_frame(np.array([0]), "a", "b")


def test_segment_rows_range_keeps_no_undefined() -> None:
    system, segment = rows().select(Wanted(low=20, high=70), "a", "b")
    assert list(zip(segment, system)) == [(0, 0), (0, 1), (1, 1)]


def test_better_follows_the_metric_s_direction() -> None:
    assert rows().select_pairs(Wanted(sort="gap-a"), "a", "b").tolist() == [0, 1, 2]
    assert rows(False).select_pairs(Wanted(sort="gap-a"), "a", "b").tolist() == [1, 0, 2]


def test_histogram_counts_every_defined_score() -> None:
    spec = make_metric("rouge-l").spec
    frame = histogram({"a": np.array([0.0, 0.5, 1.0, np.nan]), "b": np.array([1.0, 1.0, 1.0, 1.0])}, spec, bins=4)
    assert frame.groupby("system")["segments"].sum().to_dict() == {"a": 3, "b": 4}
    assert histogram({"a": np.array([np.nan])}, spec).empty


@pytest.mark.parametrize(("value", "ends"), [(100.0, (99.5, 100.0)), (0.0, (0.0, 0.5)), (55.0, (54.5, 55.5))])
def test_histogram_of_one_value_stays_within_the_metric_s_range(value: float, ends: tuple[float, float]) -> None:
    frame = histogram({"a": np.full(3, value)}, make_metric("chrf").spec)
    assert (frame["low"].min(), frame["high"].max()) == pytest.approx(ends)
    (filled,) = frame[frame["segments"] > 0].itertuples()
    assert filled.segments == 3 and filled.low <= value <= filled.high


@pytest.mark.parametrize(
    ("remedy", "control"),
    [
        ("Name them where this is wrong (--langs de-en).", "set the languages of the upload"),
        ("Choose another one with --langs, as in --langs de-en.", "Choose the language pair in the upload box"),
        ("Say which is which (--columns ROLE=COLUMN).", "in the upload box"),
        ("Save it as UTF-8 (--limit 3 helps).", "Save it as UTF-8."),
    ],
)
def test_remedies_name_what_is_on_the_page(remedy: str, control: str) -> None:
    assert control in on_screen(remedy)
    assert "--" not in on_screen(remedy)


def test_several_planted_criteria_are_told_apart_in_short() -> None:
    criteria = load_demo("sum").criteria
    titles = [criterion_column(item, True)["label"] for item in criteria]
    assert titles == ["Planted errors", "Planted consistency", "Planted coverage", "Planted fluency"]
    assert criterion_column(criteria[0], False)["label"] == "Planted errors, not human judgement"
    assert all("not human judgement" in criterion_column(item, True)["help"] for item in criteria)


def test_align_finds_the_shared_words() -> None:
    assert align(["the", "cat", "sat"], ["the", "big", "cat", "sat"]) == [(0, 0), (1, 2), (2, 3)]


def test_roles_number_references_and_name_systems() -> None:
    kinds = {
        "src": "source",
        "r1": "reference",
        "r2": "reference",
        "sysA": "hypothesis",
        "sysB": "hypothesis",
        "q": "score",
        "x": "ignore",
    }
    guess = {"sysA": "hypothesis:A", "q": "score:quality@A"}
    assert roles(kinds, guess) == {
        "source": "src",
        "reference": "r1",
        "reference:2": "r2",
        "hypothesis:A": "sysA",
        "hypothesis:sysB": "sysB",
        "score:quality@A": "q",
    }
    assert roles({"out": "hypothesis", "sys": "system"}, {}) == {"hypothesis": "out", "system": "sys"}


SCALE = Scale(1.0, "Importance", "worse", "better")


def shown(text: str, marks: list[Mark]) -> list[dict]:
    words = split_words(text)
    return Panel("p", "hypothesis", text, words, np.zeros(len(words)), marks=marks).as_data(SCALE)["runs"]


@pytest.mark.parametrize(
    "text", ["a  b\n c ", "  lead", "\u4eca\u65e5\u306f", "\U0001f469\u200d\U0001f469\u200d\U0001f467 x", "", " "]
)
def test_panels_keep_every_character(text: str) -> None:
    assert "".join(piece for run in shown(text, []) for piece, _ in run["pieces"]) == text


def test_marks_cut_words_where_they_begin_and_end() -> None:
    runs = shown("one two three", [Mark(2, 5, "number", "Planted error")])
    assert runs[0]["pieces"] == [("on", ""), ("e", "major")]
    assert runs[1]["pieces"] == [(" ", "major")]
    assert runs[2]["pieces"] == [("t", "major"), ("wo", "")]
    assert ("Planted error", "number") in runs[0]["tip"]


@pytest.mark.parametrize("place", [0, 3, 4, 7])
def test_a_mark_without_width_is_a_caret_drawn_once(place: int) -> None:
    carets = [run for run in shown("one two", [Mark(place, place, "omission", "Planted error")]) if "caret" in run]
    assert carets == [{"caret": "Planted error: omission"}]


def test_flipped_scales_keep_red_for_harm() -> None:
    flipped = Scale(1.0, "Importance", "worse", "better", flipped=True)
    assert flipped.colour(1.0, False) == SCALE.colour(-1.0, False)
    assert [stop["light"] for stop in flipped.stops()] == [stop["light"] for stop in SCALE.stops()]
    assert flipped.stops()[0]["label"] == "+1.00"


def test_files_are_named_by_what_they_hold() -> None:
    spec = make_metric("chrf:beta=1").spec
    named = replace(corpus(), name="Meine / Übung: 1", ids=("s7", "1", "../x"))
    assert segment_file(named, spec, "lime", 0) == "explain-Meine-Übung-1-chrf-beta-1-lime-segment-0-s7"
    assert segment_file(named, spec, "lime", 1).endswith("lime-segment-1")
    assert segment_file(named, spec, "lime", 2).endswith("segment-2-x")
    assert file_name("..", "") == "plumbline"
    first, second = segment_caption(named, spec, ExplainOptions(explainer="lime"), 0)
    assert first.startswith("Meine / Übung: 1 \u00b7 Segment 0 (id s7) \u00b7 LIME, 100 samples")
    assert second == f"chrF: {spec.signature}" or spec.signature in second

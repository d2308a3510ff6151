"""The Features page."""

from __future__ import annotations

import io

import pandas as pd
import pyarrow
import pytest
from app_helpers import Open, said, settle
from sacrebleu.metrics import BLEU
from streamlit.testing.v1 import AppTest

from components import services
from components.features.controls import add_lexicon
from components.features.names import FAMILY_TITLES, feature_title, feature_words
from components.features.text import lone_spans, marked, masked_text
from components.workspace import STATE_KEY
from engine.corpus.demo import load_demo
from engine.corpus.types import Corpus
from engine.metrics.registry import make_metric
from engine.muler.features import UPOS, Feature
from engine.muler.lexicons import parse_lexicon
from engine.muler.maskers import TextMasker
from engine.muler.muler import Prepared, break_down, prepare
from engine.muler.options import FAMILIES, MulerOptions
from engine.muler.segments import feature_segments
from engine.scoring.scorer import Scorer

PAIR = ("aurora", "beacon")
WORDS = b"good\t0.9\nsmall\t0.4\nold\t0.2\nnew\t0.6\nlong\t0.5\nfirst\t0.7\nlast\t0.3\nlittle\t0.35\n"


@pytest.fixture(scope="module")
def scorer() -> Scorer:
    return Scorer(services.store())  # tags are read from where the pages keep them


@pytest.fixture(scope="module")
def prepared(scorer: Scorer) -> Prepared:
    return prepare(load_demo("mt"), MulerOptions(features="pos"), scorer, systems=PAIR)


def dataset(app: AppTest, name: str) -> pd.DataFrame:
    """A data set of a chart, as the browser gets it."""
    for element in app.get("vega_lite_chart") or app.get("arrow_vega_lite_chart"):
        for part in element.proto.datasets:
            if part.name == name:
                return pyarrow.ipc.open_stream(io.BytesIO(part.data.data)).read_pandas()
    raise AssertionError(f"no chart with {name}")


def uploaded(app: AppTest, corpus: Corpus) -> AppTest:
    app.session_state[STATE_KEY].add_upload(corpus, ())
    return settle(app.run())


def cards(app: AppTest) -> list[str]:
    """The texts of the segments on the page, as HTML."""
    return [element.proto.body for element in app.get("html") if element.proto.body.startswith('<div class="fx">')]


def shown(value: float, places: int = 3) -> str:
    text = f"{value:.{places}f}"
    return (text.lstrip("-") if float(text) == 0 else text).replace("-", "\u2212")


def small(systems: dict[str, str], references: list[str] | None, languages=("de", "en"), times: int = 12) -> Corpus:
    """A corpus of the same segment several times, numbered so that the texts differ."""
    made = {name: tuple(f"{text} {place}" for place in range(times)) for name, text in systems.items()}
    groups = tuple(tuple(f"{text} {place}" for text in references or ()) for place in range(times))
    return Corpus("small", made, groups, languages=languages)


def test_bars_and_sentences_hold_the_engine_s_values(open_app: Open, scorer: Scorer) -> None:
    app = settle(open_app("features", metric="bleu", families="pos~number"))
    corpus = load_demo("mt")
    found = break_down(corpus, [make_metric("bleu")], MulerOptions(features="pos,number"), scorer, systems=PAIR)
    frame = dataset(app, "all").set_index(["feature", "system"])
    expected = found.to_frame()
    expected = expected[expected.groupby("feature").muler.transform(lambda values: values.notna().any())]
    assert len(frame) == len(expected)
    for row in expected.itertuples():
        own = frame.loc[(f"{row.family}:{row.feature}", row.system)]
        assert (own.value, own.low, own.high) == pytest.approx((row.muler, row.low, row.high), nan_ok=True)
        assert (own.n, own.counts) == (row.n, f"{row.add} \u00b7 {row.hit} \u00b7 {row.miss}")
    text = said(app)
    worst = expected[expected.system == "aurora"].nlargest(1, "muler").iloc[0]
    assert f"MuLER **{shown(worst.muler)}**, 95% interval {shown(worst.low)} to {shown(worst.high)}" in text
    differences = found.differences(*PAIR)
    widest = differences.loc[differences.delta.abs().idxmax()]
    assert f"difference {shown(widest.delta)}" in text and "by the paired interval" in text
    assert not app.exception and "nan" not in text.casefold().split()


def test_a_value_is_sacrebleu_s_on_masked_texts(open_app: Open, prepared: Prepared, scorer: Scorer) -> None:
    app = settle(open_app("features", metric="bleu"))
    frame = dataset(app, "all").set_index(["feature", "system"])
    feature = Feature("pos", "NOUN")
    masker = TextMasker(make_metric("bleu"), prepared.texts, scorer)
    rows = prepared.rows(prepared.counts(feature, "beacon"))
    oracle, anti = masker.segments(masker.masked(prepared.cover(feature)), {"beacon": rows})
    plain = [prepared.corpus.segment(row, "beacon") for row in rows]
    scores = [
        BLEU().corpus_score([segment.hypothesis for segment in variant], [[segment.references[0] for segment in variant]]).score
        for variant in (plain, oracle, anti)
    ]
    assert frame.loc[(feature.id, "beacon"), "value"] == pytest.approx((scores[1] - scores[0]) / (scores[1] - scores[2]))
    assert frame.loc[(feature.id, "beacon"), "between"] == "; ".join(f"{value:.2f}" for value in scores)


def test_gain_and_scores_instead_of_muler(open_app: Open) -> None:
    app = settle(open_app("features", measure="abl_muler", order="difference"))
    frame = dataset(app, "all")
    gains = frame.pivot(index="feature", columns="part", values="value")
    order = list(dict.fromkeys(frame["feature"]))
    sizes = (gains["A"] - gains["B"]).abs()[order]
    assert sizes.is_monotonic_decreasing
    app.selectbox(key="view-measure").set_value("scores").run()
    frame = dataset(app, "bars")
    assert ((frame.anti_oracle < frame.oracle) & (frame.value > frame.anti_oracle)).all()


def test_segments_behind_a_bar(open_app: Open, prepared: Prepared, scorer: Scorer) -> None:
    app = settle(open_app("features", feature="pos:VERB", whose="b"))
    found = feature_segments(prepared, make_metric("chrf"), Feature("pos", "VERB"), "beacon", scorer)
    first = found.segments[0]
    assert f"**Segment {first.segment}**" in said(app)
    output = prepared.corpus.systems["beacon"][first.segment]
    card = cards(app)[0]
    assert card.count('<div class="tx tb"') == 1
    for start, end in first.output:
        assert f">{output[start:end]}</mark>" in card
    assert "<code>[VERB]</code>" in card and "<code>[X1]</code>" in card and "<code>[Y1]</code>" in card
    app.button_group(key="view-ends").set_value("least").run()
    assert f"**Segment {first.segment}**" not in said(app)
    next(button for button in app.button if button.key.startswith("features-explain-")).click().run()
    assert app.query_params["segment"] and app.title[0].value == "Explain"


def test_the_table_holds_everything_and_reasons(open_app: Open) -> None:
    app = settle(open_app("features", show="table", families="ner"))
    table = app.dataframe[0].value
    assert set(table["Id"].str.partition(":")[0]) == {"ner"}
    missing = table[table["MuLER"].isna()]
    assert len(missing) and missing["Note"].str.contains("are needed|no sentence has it").all()
    listed = next(frame.value for frame in app.dataframe if "Why" in frame.value)
    assert set(listed["Id"]) <= set(missing["Id"]) and listed["Why"].str.len().min() > 0


def test_all_systems_with_correlations(open_app: Open, scorer: Scorer) -> None:
    app = settle(open_app("features", show="systems"))
    found = break_down(load_demo("mt"), [make_metric("chrf")], MulerOptions(features="pos", resamples=0), scorer)
    matrix = found.matrix("chrf")
    cells = dataset(app, "cells").pivot(index="feature", columns="system", values="text")
    for name in matrix.columns:
        assert list(cells[name]) == [shown(value, 2) if value == value else "\u2013" for value in matrix[name][cells.index]]
    known = found.correlations().set_index("feature").correlation
    told = dataset(app, "correlations").set_index("feature")
    assert told.loc["pos:NOUN", "text"] == shown(known["NOUN"], 2)
    assert told.loc["pos:INTJ", "text"] == "\u2013" and told.loc["pos:INTJ", "note"]
    app.selectbox(key="view-over").set_value("kendall").run()
    assert dataset(app, "correlations").set_index("feature").loc["pos:VERB", "text"] == "1.00"


def test_families_are_added_without_computing_the_others_again(open_app: Open) -> None:
    app = settle(open_app("features", families="number"))
    parts = app.session_state[STATE_KEY].drafts["features parts"]
    assert len(parts.breakdowns) == 1
    app.pills(key="view-families").set_value(["number", "negation"]).run()
    settle(app)
    assert len(parts.breakdowns) == 2 and app.query_params["families"] == "number~negation"
    app.pills(key="view-families").set_value([]).run()
    assert "No features are chosen" in said(app)


def test_a_lexicon_of_the_user(open_app: Open, scorer: Scorer) -> None:
    app = open_app("features", families="number")
    work = app.session_state[STATE_KEY]
    add_lexicon(work, "worth.tsv", WORDS)
    settle(app.run())
    assert app.query_params["families"] == "number~lexicon"
    lexicon = parse_lexicon(WORDS, "worth", "worth.tsv")
    options = MulerOptions(features="number,lexicon")
    found = break_down(load_demo("mt"), [make_metric("chrf")], options, scorer, [lexicon], PAIR)
    table = next(frame.value for frame in app.dataframe if "Lexicon" in frame.value)
    assert list(table["Difference"]) == pytest.approx(list(found.lexicon_frame().difference), nan_ok=True)
    bins = {row.feature.id for row in found.rows if row.feature.family == "lexicon"}
    assert bins and bins <= {option.partition(" \u00b7 ")[2] for option in app.selectbox(key="view-feature").options}
    app.button(key="drop-worth").click().run()
    settle(app)
    assert app.query_params["families"] == "number"


def test_nothing_missed_is_said_so(open_app: Open) -> None:
    """One number of 300 is wrong: next to nothing, but not 0%; and of a system that is the reference, nothing at all."""
    right = tuple(f"there are {place + 1000} of these" for place in range(300))
    corpus = Corpus(
        "alike", {"one": (right[1], *right[1:]), "none": right}, tuple((text,) for text in right), languages=("de", "en")
    )
    app = uploaded(open_app("features", families="number", measure="muler", metric="bleu"), corpus)
    text = said(app)
    assert "**one**] misses next to nothing at any feature: MuLER is largest at **numbers** (**0.00" in text
    assert "with these right, BLEU would rise in 1 of them" in text and "0%" not in text.replace("95%", "")
    app.button_group(key="view-whose").set_value("b").run()
    assert "none of them costs BLEU anything" in said(settle(app)) and "in 0 of them" not in said(app)
    app.selectbox(key="view-a").set_value("none").run()
    assert "No feature costs :orange[**none**] anything: the largest MuLER is 0.000." in said(settle(app))


def test_the_caption_says_which_sentences_are_counted(open_app: Open) -> None:
    app = settle(open_app("features", families="number"))
    assert "Sentences: those with the feature in both output and reference. More, same, fewer: how many of these" in said(app)
    for row in dataset(app, "all").itertuples():
        assert sum(map(int, row.counts.split(" \u00b7 "))) == row.n
    app = settle(open_app("features", families="number", muler="sentences=either"))
    assert "Sentences: those with the feature in output or reference." in said(app)


def test_a_language_without_a_model(open_app: Open) -> None:
    corpus = small({"a": "Er sagte nicht 3 mal", "b": "Sie sagte 4 mal"}, ["Sie sagte nicht 3 mal"], ("en", "de"))
    app = uploaded(open_app("features"), corpus)
    assert "none for German is installed" in app.warning[0].value and len(app.warning) == 1
    assert {"number:numbers", "negation:words"} <= set(dataset(app, "all")["feature"])
    app.pills(key="view-families").set_value(["number"]).run()
    assert not len(settle(app).warning)


def test_options_of_a_link_that_cannot_be_leave_the_page_usable(open_app: Open) -> None:
    app = open_app("features", families="number~lexicon", muler="share=7&seed=3", mode="nonsense")
    assert "The options of this link are left out" in app.warning[0].value and not app.exception and not len(app.error)
    assert list(dataset(app, "all")["feature"]) == ["number:numbers"] * 2
    assert "is not loaded" in said(app)
    app.number_input(key="option-muler-seed").set_value(5).run()
    assert app.query_params["muler"] == "seed=5" and not len(settle(app).warning)


def test_one_system(open_app: Open) -> None:
    app = uploaded(open_app("features", families="pos~number"), small({"only": "the big dog saw 3 cats"}, ["a dog saw 3 cats"]))
    assert set(dataset(app, "all")["part"]) == {"A"}
    assert "differ" not in said(app)
    assert "difference" not in app.selectbox(key="view-order").options and not app.exception
    app.button_group(key="view-show").set_value("systems").run()
    assert "needs at least 3" in said(settle(app)) and not app.exception


def test_without_references(open_app: Open) -> None:
    app = uploaded(open_app("features"), small({"a": "x", "b": "y"}, None))
    assert "The corpus has no references" in said(app) and not app.exception


def test_a_metric_that_takes_long_waits_for_a_button(open_app: Open) -> None:
    app = open_app("features", metric="boosted:p=2,w=0.4,explainer=erasure,metric=chrf")
    assert app.button(key="features-start-2").label == "Break it down" and not len(app.get("progress"))


def test_any_script_and_hostile_text(open_app: Open) -> None:
    bad = "<img src=x onerror=alert(1)> 3"
    app = uploaded(
        open_app("features", families="number"), small({bad: bad, "b": "3 قال"}, ["<script>2</script> 3"], (None, None))
    )
    html = "".join(cards(app))
    assert "<img" not in html and "<script" not in html and "&lt;img src=x" in html
    assert 'dir="auto"' in html and "is not known" in said(app)


def test_words_that_only_one_side_has() -> None:
    text = "He saw it, saw him"
    spans = [(3, 6), (11, 14)]
    assert lone_spans(text, spans, [("Saw", [(0, 3)])]) == [False, True]
    assert lone_spans(text, spans, [("saw", [(0, 3)]), ("SAW saw", [(0, 3), (4, 7)])]) == [False, False]
    assert lone_spans("10. May.", [(2, 3), (7, 8)], [("May 10, then.", [(6, 7), (12, 13)])]) == [True, False]
    assert marked("a<b", [(0, 1)], [True]) == '<mark class="lone" title="only on this side">a</mark>&lt;b'
    assert masked_text("[NOUN] & [x] [Y2]", "NOUN") == "<code>[NOUN]</code> &amp; [x] <code>[Y2]</code>"


def test_every_family_and_tag_has_a_name() -> None:
    titles = [feature_title(Feature("pos", name)) for name in UPOS]
    assert len(set(titles)) == len(UPOS)
    assert (
        feature_words(Feature("pos", "VERB")) == "verbs" and feature_title(Feature("morph", "Tense=Past")) == "Tense=Past (past)"
    )
    assert feature_title(Feature("gender", "female")) == "Female words"
    assert set(FAMILY_TITLES) == set(FAMILIES)

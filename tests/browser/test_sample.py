"""The sample corpus in the browser: colours, values, keyboard, links, downloads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import numpy as np
import pandas as pd
import pytest
from browser_helpers import ROOT, WAIT, Visit, colour
from playwright.sync_api import expect

from engine.corpus.demo import load_demo
from engine.explain.explain import explain_corpus
from engine.explain.options import ExplainOptions
from engine.explain.words import split_words
from engine.metrics.registry import make_metric
from engine.report.colours import diverging
from engine.scoring.scorer import Scorer


@pytest.fixture(scope="module")
def planted():
    """A planted error of the sample: its segment, system, and the word it is in."""
    corpus = load_demo("mt")
    spans = [span for span in corpus.spans if span.system == "cobalt" and span.side == "hypothesis" and span.end > span.start]
    span = spans[0]
    words = split_words(corpus.systems["cobalt"][span.segment])
    place = next(place for place, word in enumerate(words) if word.start < span.end and word.end > span.start)
    return corpus, span, place


def explained(corpus, segment: int):
    metric = make_metric("chrf", corpus.languages)
    found = explain_corpus(corpus, metric, ExplainOptions(explainer="lime"), Scorer(), ["aurora", "cobalt"], [segment])
    return [entry.explanation for entry in found.entries]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_planted_error_s_word_has_its_value_and_colour(visit: Visit, planted, scheme: str) -> None:
    corpus, span, place = planted
    visit.page.emulate_media(color_scheme=scheme)
    visit.open(f"/explain?segment={span.segment}&a=aurora&b=cobalt&explainer=lime")
    explanations = explained(corpus, span.segment)
    value = explanations[1].side("hypothesis").importances[place]
    limit = max(np.abs(item.importances).max() for item in explanations)
    word = visit.word("b-hypothesis", place)
    expect(word).to_be_visible(timeout=WAIT)
    background, text = diverging(value, limit, scheme == "dark")
    assert (colour(word), colour(word, "color")) == (background, text)
    word.hover()
    tip = visit.page.locator(".heatmap .tip.open")
    expect(tip).to_contain_text("LIME importance")
    expect(tip).to_contain_text(f"{abs(value):.2f}")
    expect(tip).to_contain_text("Planted error")
    expect(tip).to_contain_text(span.category)
    underlined = word.locator(".major, .minor").first
    assert "underline" in underlined.evaluate("item => getComputedStyle(item).textDecorationLine")


def test_values_are_reached_by_keyboard(visit: Visit, planted) -> None:
    _, span, place = planted
    visit.open(f"/explain?segment={span.segment}&b=cobalt&explainer=lime")
    visit.word("b-hypothesis", 0).focus()
    for _ in range(place):
        visit.page.keyboard.press("ArrowRight")
    focused = visit.word("b-hypothesis", place)
    expect(focused).to_be_focused()
    expect(visit.page.locator(".heatmap .tip.open")).to_contain_text("Planted error")
    label = focused.get_attribute("aria-label") or ""
    assert "LIME importance" in label and "Planted error" in label
    visit.page.keyboard.press("End")
    expect(visit.words("b-hypothesis").last).to_be_focused()
    visit.page.keyboard.press("Enter")
    visit.page.get_by_role("button", name="Other segments with this word").click()
    expect(visit.page.get_by_role("heading", name="Corpus", exact=True)).to_be_visible(timeout=WAIT)
    visit.settle()
    word = split_words(planted[0].systems["cobalt"][span.segment])[-1].text
    expect(visit.page.locator(".st-key-view-find input")).to_have_value(word.rstrip("."))


def test_next_by_key_and_back_by_history(visit: Visit) -> None:
    visit.open("/explain?segment=3")
    expect(visit.word("a-hypothesis", 0)).to_be_visible(timeout=WAIT)
    visit.settle()
    visit.page.get_by_role("heading", name="Explain", exact=True).click()
    visit.page.keyboard.press("n")
    expect(visit.page.locator(".st-key-view-segment input")).to_have_value("4", timeout=WAIT)
    visit.page.wait_for_timeout(2500)
    visit.page.go_back()
    expect(visit.page.locator(".st-key-view-segment input")).to_have_value("3", timeout=WAIT)


def test_the_download_is_what_the_command_line_writes(visit: Visit, tmp_path: Path) -> None:
    visit.open("/explain?segment=5&a=aurora&b=cobalt&explainer=lime")
    shown = visit.table("explanations-csv-segment")
    out = tmp_path / "cli.csv"
    command = ["explain", "demo:mt", "--metric", "chrf", "--explainer", "lime", "--systems", "aurora", "cobalt", "--limit", "6"]
    subprocess.run(
        [sys.executable, "-m", "engine", *command, "--store", "none", "--out", str(out)], cwd=ROOT, check=True, timeout=120
    )
    expected = pd.read_csv(out, keep_default_na=False, na_values=[""])
    expected = expected[expected["segment"] == 5].reset_index(drop=True)
    pd.testing.assert_frame_equal(shown, expected)


def test_html_and_image_are_whole(visit: Visit) -> None:
    visit.open("/explain?segment=5&explainer=lime")
    html = visit.file("explanations-html-segment").decode("utf-8")
    assert "LIME" in html and "<script" not in html and "http://" not in html.replace("http://www.w3.org", "")
    plain, shown = image(visit), visit.page.locator(".heatmap .caption")
    expect(shown).to_be_hidden()
    expect(shown).to_contain_text("Sample: German\u2013English translation \u00b7 Segment 5 (document")
    expect(shown).to_contain_text("LIME, 100 samples, seed 0")
    expect(shown).to_contain_text("chrF2|case:mixed")
    visit.page.locator(".heatmap .tools").get_by_text("Values").click()
    assert len(image(visit)) > len(plain) + 2000
    expect(visit.page.locator(".word .value")).to_have_count(0)


def image(visit: Visit) -> bytes:
    with visit.page.expect_download(timeout=WAIT) as download:
        visit.page.locator(".heatmap .tools").get_by_text("Image").click()
    assert download.value.suggested_filename == "explain-Sample-German-English-translation-chrf-lime-segment-5.png"
    content = Path(download.value.path()).read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    return content


def test_a_row_of_the_table_opens_explain_there_and_back_leads_here(visit: Visit) -> None:
    visit.open("/?sort=low&metric=chrf&only=cobalt")
    left = visit.page.evaluate("location.href")
    frame = visit.page.locator(".st-key-segments [data-testid='stDataFrame']")
    rows = visit.table("csv-segments")
    frame.scroll_into_view_if_needed()
    visit.settle()
    box = frame.bounding_box()
    assert box
    place = (box["x"] + 330, box["y"] + 35 + 35 * 2 + 17)
    visit.page.mouse.move(*place)
    visit.page.wait_for_timeout(300)
    visit.page.mouse.click(*place, delay=80)
    expect(visit.page.get_by_role("heading", name="Explain", exact=True)).to_be_visible(timeout=WAIT)
    visit.settle()
    address = parse_qs(urlparse(visit.page.evaluate("location.href")).query)
    assert address["segment"] == [str(rows["segment"][2])]
    assert rows["system"][2] == "cobalt" == address["a"][0]
    visit.page.go_back()
    expect(visit.page.get_by_role("heading", name="Corpus", exact=True)).to_be_visible(timeout=WAIT)
    visit.settle()
    assert visit.page.evaluate("location.href") == left
    expect(visit.page.locator(".st-key-view-a input")).to_have_value("aurora")


def test_a_choice_holds_on_all_pages_and_in_the_link(visit: Visit, browser) -> None:
    visit.open()
    visit.choose("view-metric", "BLEU")
    visit.choose("view-b", "cobalt")
    visit.go("Explain")
    link = visit.page.evaluate("location.href")
    again = browser.new_context().new_page()
    again.goto(link)
    expect(again.locator('[data-panel="b-hypothesis"]')).to_contain_text("cobalt", timeout=WAIT)
    expect(again.locator('[data-panel="b-hypothesis"]')).to_contain_text("BLEU")
    again.context.close()


def test_what_if_follows_the_typing(visit: Visit) -> None:
    visit.open("/explain?segment=5&view=what-if")
    area = visit.page.locator("#field-hypothesis")
    expect(area).to_be_visible(timeout=WAIT)
    area.fill("Something else entirely.")
    expect(visit.words("hypothesis")).to_have_text(["Something", "else", "entirely."], timeout=WAIT)
    metrics = visit.page.locator('[data-testid="stMetricValue"]')
    assert metrics.nth(0).inner_text() != metrics.nth(1).inner_text()
    visit.page.get_by_text("Undo edits").first.click()
    expect(metrics.nth(2)).to_have_text("0.00", timeout=WAIT)


def test_a_bar_shows_the_segments_behind_it(visit: Visit) -> None:
    visit.open("/")
    bars = visit.page.locator(".st-key-distribution .marks").first
    bars.scroll_into_view_if_needed()
    box = bars.bounding_box()
    assert box
    for share in (0.45, 0.5, 0.55, 0.6, 0.65):
        visit.page.mouse.click(box["x"] + box["width"] * share, box["y"] + box["height"] * 0.17)
        visit.page.wait_for_timeout(1500)
        visit.settle()
        if "only=" in visit.page.evaluate("location.href"):
            break
    address = parse_qs(urlparse(visit.page.evaluate("location.href")).query)
    low, high = float(address["low"][0]), float(address["high"][0])
    rows = visit.table("csv-segments")
    assert set(rows["system"]) == set(address["only"])
    assert rows["score"].between(low, high).all()


def test_tables_say_what_they_are_of_when_they_are_saved(visit: Visit) -> None:
    visit.open("/?metric=chrf&metrics=bleu")
    corpus, spec = load_demo("mt"), make_metric("chrf", ("de", "en")).spec
    scores = visit.table("csv-scores")
    assert set(scores["metric"]) == {"chrf", "bleu"} and scores["signature"].notna().all()
    means = corpus.human.groupby("system")["score"].mean()
    assert np.allclose(scores["Planted errors, not human judgement"], means[scores["system"]])
    name = "Sample-German-English-translation-chrf.csv"
    for frame in (visit.table("csv-segments", f"segments-{name}"), visit.table("csv-distribution", f"distribution-{name}")):
        assert set(frame["metric"]) == {"chrf"} and set(frame["signature"]) == {spec.signature}
    visit.open("/?metric=chrf&rows=pairs&a=cobalt&b=beacon")
    pairs = visit.table("csv-segments", f"segments-{name}")
    assert (set(pairs["system A"]), set(pairs["system B"])) == ({"cobalt"}, {"beacon"})
    assert set(pairs["signature"]) == {spec.signature}


def test_options_of_the_metric_open_in_the_sidebar(visit: Visit) -> None:
    visit.open("/?metric=chrf")
    visit.page.locator('[data-testid="stSidebar"] [data-testid="stPopoverButton"]').first.click()
    form = visit.page.locator('[data-testid="stPopoverBody"]')
    expect(form).to_contain_text("chrF options", timeout=WAIT)
    form.get_by_text("Lowercase").click()
    visit.page.wait_for_function("location.search.includes('lowercase')", timeout=WAIT)
    visit.settle()
    visit.page.keyboard.press("Escape")
    visit.page.get_by_text("Signatures").click()
    expect(visit.page.locator('[data-testid="stPopoverBody"]').get_by_text("case:lc")).to_be_visible(timeout=WAIT)

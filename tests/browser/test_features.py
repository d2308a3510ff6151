"""Features in the browser: a click on a bar shows its segments; the screen says what the download says."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlparse

import numpy as np
import pytest
from browser_helpers import WAIT, Visit
from playwright.sync_api import Locator, expect

BARS = '[class*="st-key-features-muler"]'
MAP = '[class*="st-key-features-map-muler"]'


def bar(visit: Visit, feature: str, system: str) -> Locator:
    """What is clicked for a feature and a system, found by what a screen reader hears."""
    visit.page.locator(f"{BARS} svg").first.scroll_into_view_if_needed(timeout=WAIT)
    found = visit.page.locator(f"{BARS} path[aria-label*='id: {feature}; system: {system};']")
    expect(found).to_have_count(1, timeout=WAIT)
    return found.first


def click(visit: Visit, found: Locator) -> None:
    box = found.bounding_box()
    assert box
    visit.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    visit.page.wait_for_timeout(500)
    visit.settle()


def address(visit: Visit) -> dict[str, list[str]]:
    return parse_qs(urlparse(visit.page.evaluate("location.href")).query)


def test_a_bar_its_segments_and_the_download(visit: Visit) -> None:
    page = visit.page
    visit.open("/features")
    found = bar(visit, "pos:NOUN", "beacon")
    rows = visit.table("csv-features").set_index(["feature", "system"])
    row = rows.loc[("NOUN", "beacon")]
    assert f"MuLER: {row.muler:.3f}; 95% interval: {row.low:.3f} to {row.high:.3f};" in (found.get_attribute("aria-label") or "")
    difference = visit.table("csv-features-differences").set_index("feature").loc["NOUN"]
    assert np.isclose(difference.muler_b, row.muler)
    expect(page.locator(f"{BARS} svg text", has_text=f"\u2212{abs(difference.delta):.3f}").first).to_be_visible()
    click(visit, found)
    assert (address(visit)["feature"], address(visit)["whose"]) == (["pos:NOUN"], ["b"])
    expect(page.get_by_text(f"{row.n} segments of beacon with nouns")).to_be_visible(timeout=WAIT)
    card = page.locator(".fx").first
    expect(card.locator("mark.lone").first).to_be_visible()
    ground = card.locator(".tb mark.lone").first.evaluate("item => getComputedStyle(item).backgroundColor")
    assert ground not in ("rgba(0, 0, 0, 0)", "transparent")
    expect(card.get_by_text("[NOUN]").first).to_be_hidden()
    card.locator("summary").click()
    expect(card.get_by_text("[NOUN]").first).to_be_visible()
    expect(card.get_by_text("[X1]").first).to_be_visible()
    expect(card.get_by_text("[Y1]").first).to_be_visible()
    name = f"features-masked-texts-Sample-German-English-translation-{row.metric}-beacon-pos-NOUN.csv"
    masked = visit.table("csv-features-masked", name)
    assert masked[["system", "metric", "family", "feature"]].drop_duplicates().values.tolist() == [
        ["beacon", row.metric, "pos", "NOUN"]
    ]
    assert len(masked) == 3 * row.n and set(masked.signature) == {row.signature} and "|muler|mode:corpus|" in row.signature
    title = page.locator('[class*="st-key-features-explain-"]').first
    segment = (title.get_attribute("class") or "").rpartition("st-key-features-explain-")[2].split()[0]
    title.locator("button").click()
    expect(page.get_by_role("heading", name="Explain", exact=True)).to_be_visible(timeout=WAIT)
    visit.settle()
    assert address(visit).get("segment", ["0"]) == [segment]


def test_the_way_by_keyboard_and_all_systems(visit: Visit) -> None:
    page = visit.page
    visit.open("/features")
    box = page.locator(".st-key-view-feature input")
    box.focus()
    page.keyboard.type("Adverbs")
    page.keyboard.press("Enter")
    visit.settle()
    expect(page.get_by_text("with adverbs;")).to_be_visible(timeout=WAIT)
    page.get_by_role("radio", name="All systems").click()
    visit.settle()
    cell = page.locator(f"{MAP} path[aria-label*='id: pos:VERB; system: cobalt;']")
    expect(cell).to_have_count(1, timeout=WAIT)
    matrix = visit.table("csv-features-matrix").set_index("feature")
    assert list(matrix) == ["signature", "aurora", "beacon", "cobalt"] and matrix.signature.str.contains(r"\|muler\|").all()
    assert f"value: {matrix.loc['pos:VERB', 'cobalt']:.3f};" in (cell.get_attribute("aria-label") or "")
    click(visit, cell)
    assert (address(visit)["feature"], address(visit)["a"]) == (["pos:VERB"], ["cobalt"])


def test_a_word_list_of_the_user(visit: Visit, tmp_path: Path) -> None:
    path = tmp_path / "<b>worth.tsv"
    path.write_text("the\tsmall\na\tsmall\nis\tlarge\nwas\tlarge\n", encoding="utf-8")
    visit.open("/features?families=number")
    page = visit.page
    page.get_by_role("button", name="Lexicon").first.click()
    page.locator('[class*="st-key-lexicon-upload"] input[type=file]').set_input_files(str(path))
    page.wait_for_timeout(500)
    visit.settle()
    page.keyboard.press("Escape")
    expect(bar(visit, "lexicon:<b>worth large", "aurora")).to_be_attached(timeout=WAIT)
    assert address(visit)["families"] == ["number~lexicon"]


@pytest.mark.parametrize("width", [1280, 800])
def test_nothing_is_cut_off_in_either_width(visit: Visit, width: int) -> None:
    visit.page.set_viewport_size({"width": width, "height": 1000})
    visit.open("/features")
    chart, main = visit.page.locator(f"{BARS} svg").first, visit.page.locator('[data-testid="stMainBlockContainer"]')
    expect(chart).to_be_visible(timeout=WAIT)
    assert visit.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    inner, outer = chart.bounding_box(), main.bounding_box()
    assert inner and outer
    assert inner["x"] >= outer["x"] and inner["x"] + inner["width"] <= outer["x"] + outer["width"]


def test_the_caption_explains_the_columns_that_are_drawn(visit: Visit) -> None:
    """Sentences and counts are columns of a wide chart only; where the page is narrow, the caption leaves them out, too."""
    visit.open("/features?families=number")
    column = visit.page.locator(f"{BARS} svg text", has_text="sentences").first
    caption = visit.page.get_by_text("Sentences: those with the feature in both output and reference.")
    for width, drawn in ((1280, True), (800, False), (872, True), (866, False)):
        visit.page.set_viewport_size({"width": width, "height": 1000})
        expect(column).to_have_css("opacity", "1" if drawn else "0", timeout=WAIT)
        expect(caption).to_be_visible(timeout=WAIT) if drawn else expect(caption).to_be_hidden(timeout=WAIT)


def test_coloured_squares_are_seen_and_not_heard(visit: Visit) -> None:
    visit.open("/features?families=number")
    for key, names in (("answer", "aurora"), ("legend", "A aurora")):
        place = visit.page.locator(f".st-key-features-{key}")
        expect(place.get_by_text(names, exact=True).first).to_be_visible(timeout=WAIT)
        visit.page.wait_for_function(
            f"""() => {{
                const name = document.querySelector('.st-key-features-{key} .stMarkdownColoredText');
                return name && getComputedStyle(name, '::before').getPropertyValue('content').includes('\u25a0');
            }}""",
            timeout=WAIT,
        )
        assert "\u25a0" not in place.aria_snapshot()


def test_the_chart_follows_the_theme(visit: Visit) -> None:
    visit.page.emulate_media(color_scheme="light")
    visit.open("/features?metric=bleu&families=number")
    label = visit.page.locator(f"{BARS} svg text").filter(has_text="Numbers").first
    expect(label).to_be_visible(timeout=WAIT)
    bright = f"""() => {{
        const texts = [...document.querySelectorAll('{BARS} svg text')].filter((text) => text.textContent.includes('Numbers'));
        const light = (colour) => (colour.match(/\\d+/g) ?? []).slice(0, 3).reduce((sum, part) => sum + part / 3, 0);
        const page = getComputedStyle(document.querySelector('[data-testid="stApp"]')).backgroundColor;
        return texts.length === 1 && [light(getComputedStyle(texts[0]).fill), light(page)];
    }}"""
    ink, paper = visit.page.evaluate(bright)
    assert ink < 60 and paper > 240
    visit.page.emulate_media(color_scheme="dark")
    visit.page.wait_for_function(
        f"() => {{ const [ink, paper] = ({bright})() || []; return ink > 180 && paper < 60; }}", timeout=WAIT
    )

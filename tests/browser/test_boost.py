"""Boost in the browser: a cell's value is the download's and the command line's, a click shows what a cell does, images."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import numpy as np
import pandas as pd
import pytest
from browser_helpers import ROOT, WAIT, Visit
from playwright.sync_api import Locator, expect

from engine.report.colours import diverging_palette

MAP = ".st-key-boost-map"


def cell(visit: Visit, p: float, w: float, reach: float = 3.0) -> tuple[float, float]:
    """Where a cell of the heat map stands, once the sentence above no longer grows."""
    expect(visit.page.get_by_text("still being tested")).to_have_count(0, timeout=WAIT)
    field = visit.page.locator(f"{MAP} .field")
    field.scroll_into_view_if_needed(timeout=WAIT)
    box = field.bounding_box()
    assert box
    columns = round(20 * reach) + (reach < 30)
    column, row = round((p + reach) * 10), round(w * 5)
    return box["x"] + (column + 0.5) / columns * box["width"], box["y"] + (5.5 - row) / 6 * box["height"]


def told(visit: Visit) -> dict[str, str]:
    """What the tooltip of the heat map says: name → text."""
    tip = visit.page.locator(f"{MAP} .tip.open")
    expect(tip).to_be_visible(timeout=WAIT)
    return dict(zip(tip.locator("dt").all_inner_texts(), tip.locator("dd").all_inner_texts(), strict=True))


def centre(locator: Locator) -> tuple[float, float]:
    box = locator.bounding_box()
    assert box
    return box["x"] + min(box["width"] / 2, 2), box["y"] + box["height"] / 2


def is_painted(visit: Visit, p: float, w: float, colour: str) -> bool:
    """Whether a cell of the map (p from -3 to 3) gets this colour, `#rrggbb`; another theme takes its time."""
    script = """(root, [across, down]) => {
        const [field, canvas] = [root.querySelector(".field"), root.querySelector("canvas")];
        const scale = canvas.width / canvas.clientWidth;
        const x = (field.offsetLeft + across * field.clientWidth) * scale;
        const y = (field.offsetTop + down * field.clientHeight) * scale;
        return [...canvas.getContext("2d").getImageData(x, y, 1, 1).data];
    }"""
    place = [(round((p + 3) * 10) + 0.5) / 61, (5.5 - round(w * 5)) / 6]
    for _ in range(100):
        red, green, blue, _ = visit.page.locator(f"{MAP} .cellmap").evaluate(script, place)
        if f"#{red:02x}{green:02x}{blue:02x}" == colour:
            return True
        visit.page.wait_for_timeout(200)
    return False


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_cell_s_value_is_in_the_download(visit: Visit, scheme: str, tmp_path: Path) -> None:
    visit.page.emulate_media(color_scheme=scheme)
    visit.open("/boost?reach=3&coefficient=spearman")
    visit.page.mouse.move(*cell(visit, 1.3, 0.4))
    says = told(visit)
    assert (says["p"], says["w"]) == ("1.3", "0.4")
    made_of = "Sample-German-English-translation-chrf-erasure-planted-segment-spearman-paper"
    frame = visit.table("csv-boost-surface", named=f"boost-surface-{made_of}.csv")
    assert list(frame.columns) == ["p", "w", "group", "correlation", "original"] and len(frame) == 3600
    row = frame[np.isclose(frame.p, 1.3) & np.isclose(frame.w, 0.4)].iloc[0]
    assert says["Spearman"] == f"{row.correlation:.4f}".replace("-", "\u2212")
    values = frame.correlation - frame.original
    share = (row.correlation - row.original) / (values.max() if row.correlation > row.original else -values.min())
    tone = 128 + round(share * 128)
    assert is_painted(visit, 1.3, 0.4, diverging_palette(scheme == "dark")[tone])
    visit.page.emulate_media(color_scheme="light" if scheme == "dark" else "dark")
    assert is_painted(visit, 1.3, 0.4, diverging_palette(scheme == "light")[tone])
    out = tmp_path / "grid.csv"
    command = ["boost", "demo:mt", "--metric", "chrf", "--human", "planted", "--coefficient", "spearman", "--store", "none"]
    subprocess.run([sys.executable, "-m", "engine", *command, "--out", str(out)], cwd=ROOT, check=True, timeout=120)
    pd.testing.assert_frame_equal(frame, pd.read_csv(out))


def test_a_click_shows_what_a_cell_does(visit: Visit) -> None:
    visit.open("/boost?reach=3")
    visit.page.mouse.click(*cell(visit, -0.8, 0.2))
    expect(visit.page.get_by_text("Kendall\u2019s tau-b at p = \u22120.8, w = 0.2")).to_be_visible(timeout=WAIT)
    visit.settle()
    address = parse_qs(urlparse(visit.page.evaluate("location.href")).query)
    assert (address["p"], address["w"]) == (["-0.8"], ["0.2"])
    surface, outputs = visit.table("csv-boost-surface"), visit.table("csv-boost-segments")
    row = surface[np.isclose(surface.p, -0.8) & np.isclose(surface.w, 0.2)].iloc[0]
    expect(visit.page.get_by_text(f"{row.correlation:.4f}").first).to_be_visible()
    assert np.allclose(outputs.boosted, 0.2 * outputs.score + 0.8 * outputs["aggregate"])
    systems = visit.table("csv-boost-systems").set_index("system")
    assert np.allclose(systems.boosted, outputs.groupby("system").boosted.mean()[systems.index])
    visit.page.locator(".st-key-boost-reset button").first.click()
    visit.settle()
    assert "p=" not in visit.page.evaluate("location.search")
    visit.page.mouse.click(*cell(visit, -0.8, 0.2))  # the same cell once more
    expect(visit.page.get_by_text("Kendall\u2019s tau-b at p = \u22120.8, w = 0.2")).to_be_visible(timeout=WAIT)


def test_narrow_cells_are_chosen_too(visit: Visit) -> None:
    visit.open("/boost")
    visit.page.mouse.click(*cell(visit, 22.3, 0.6, reach=30))
    expect(visit.page.get_by_text("Kendall\u2019s tau-b at p = 22.3, w = 0.6")).to_be_visible(timeout=WAIT)


def test_the_map_is_read_and_chosen_from_by_keyboard(visit: Visit) -> None:
    visit.open("/boost?p=-0.8&w=0.2&reach=3")
    surface = visit.table("csv-boost-surface")
    field, spoken = visit.page.locator(f"{MAP} .field"), visit.page.locator(f"{MAP} .spoken")
    cell(visit, 0, 0)
    visit.page.get_by_role("combobox", name="Outputs").focus()
    for _ in range(5):
        visit.page.keyboard.press("Tab")
        if field.evaluate("item => item.matches(':focus')"):
            break
    visit.page.mouse.move(*cell(visit, 2.0, 0.0))  # what the pointer passes is not where the keys begin
    visit.page.mouse.move(0, 0)
    for step in ("Shift+Tab", "Tab"):
        visit.page.keyboard.press(step)
    expect(spoken).to_contain_text("p \u22120.8, w 0.2, Kendall", timeout=WAIT)
    visit.page.keyboard.press("Control+Home")
    expect(spoken).to_contain_text("p \u22120.8, w 0.2, Kendall")
    for key in ("PageUp", "ArrowRight", "ArrowRight", "ArrowUp"):
        visit.page.keyboard.press(key)
    row = surface[np.isclose(surface.p, 0.4) & np.isclose(surface.w, 0.4)].iloc[0]
    expect(spoken).to_contain_text(f"p 0.4, w 0.4, Kendall {row.correlation:.4f}, against the original ")
    expect(visit.page.locator(f"{MAP} .tip.open")).to_be_visible()
    visit.page.keyboard.press("Enter")
    expect(visit.page.get_by_text("Kendall\u2019s tau-b at p = 0.4, w = 0.4")).to_be_visible(timeout=WAIT)
    visit.settle()
    visit.page.keyboard.press("ArrowLeft")  # the focus has stayed
    expect(spoken).to_contain_text("p 0.3, w 0.4, Kendall")
    visit.page.keyboard.press("Escape")
    expect(visit.page.locator(f"{MAP} .tip.open")).to_have_count(0)
    expect(spoken).to_be_empty()


def test_the_tooltip_follows_the_pointer_when_the_map_changes(visit: Visit) -> None:
    visit.open("/boost?reach=10")
    cell(visit, 0, 0, reach=10)
    visit.page.get_by_role("radio", name="\u221210 to 10").focus()
    visit.page.mouse.move(*cell(visit, 5.0, 0.4, reach=10))
    assert told(visit)["p"] == "5.0"
    visit.page.keyboard.press("ArrowRight")
    visit.page.keyboard.press("Space")
    visit.page.wait_for_url("**reach=3**", timeout=WAIT)
    visit.settle()
    assert told(visit)["p"] == "1.5"


def test_an_output_s_point_opens_explain(visit: Visit) -> None:
    visit.open("/boost?b=cobalt")
    chart = visit.page.locator('[class*="st-key-boost-boosted"] path[aria-label*="segment"]')
    point = chart.last
    point.scroll_into_view_if_needed(timeout=WAIT)
    label = point.get_attribute("aria-label") or ""
    visit.page.mouse.click(*centre(point))
    expect(visit.page.get_by_role("heading", name="Explain", exact=True)).to_be_visible(timeout=WAIT)
    visit.settle()
    address = parse_qs(urlparse(visit.page.evaluate("location.href")).query)
    segment = re.search(r"segment: ([\d,]+)", label)
    assert segment
    assert address["segment"] == [segment[1].replace(",", "")]


def test_an_output_that_moves_opens_explain(visit: Visit) -> None:
    visit.open("/boost?p=2&w=0.2")
    outputs = visit.table("csv-boost-segments")
    most = outputs.loc[outputs.change.abs().idxmax()]
    table = visit.page.locator(".st-key-boost-movers")
    table.scroll_into_view_if_needed(timeout=WAIT)
    visit.settle()
    box = table.bounding_box()
    assert box
    visit.page.mouse.move(box["x"] + 190, box["y"] + 50)  # the table notices where the pointer is before it is clicked
    visit.page.wait_for_timeout(300)
    visit.page.mouse.click(box["x"] + 200, box["y"] + 52, delay=60)
    expect(visit.page.get_by_role("heading", name="Explain", exact=True)).to_be_visible(timeout=WAIT)
    visit.settle()
    address = parse_qs(urlparse(visit.page.evaluate("location.href")).query)
    assert address["segment"] == [str(most.segment)]


def test_charts_are_saved_as_images(visit: Visit) -> None:
    visit.open("/boost?chart=solid&reach=3")
    chart = visit.page.locator(".st-key-boost-solid")
    expect(chart.locator("canvas").first).to_be_visible(timeout=WAIT)
    chart.hover()
    with visit.page.expect_download(timeout=WAIT) as download:
        chart.locator('.modebar-btn[data-title*="ownload"]').click()
    assert download.value.suggested_filename == "boost-Sample-German-English-translation-chrf.png"
    image = Path(download.value.path()).read_bytes()
    assert image[:8] == b"\x89PNG\r\n\x1a\n" and len(image) > 20_000
    visit.page.get_by_role("radio", name="Heat map").click()
    visit.settle()
    with visit.page.expect_download(timeout=WAIT) as download:
        visit.page.locator(f"{MAP} .tools").get_by_text("Image").click()
    assert download.value.suggested_filename == "boost-Sample-German-English-translation-chrf.png"
    image = Path(download.value.path()).read_bytes()
    assert image[:8] == b"\x89PNG\r\n\x1a\n" and len(image) > 20_000


@pytest.mark.parametrize("width", [1280, 800])
def test_nothing_is_cut_off(visit: Visit, width: int) -> None:
    visit.page.set_viewport_size({"width": width, "height": 1000})
    visit.open("/boost")
    expect(visit.page.locator(f"{MAP} canvas")).to_be_visible(timeout=WAIT)
    assert visit.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    chart, main = visit.page.locator(f"{MAP} canvas"), visit.page.locator('[data-testid="stMainBlockContainer"]')
    inner, outer = chart.bounding_box(), main.bounding_box()
    assert inner and outer
    assert inner["x"] >= outer["x"] and inner["x"] + inner["width"] <= outer["x"] + outer["width"]

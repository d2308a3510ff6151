"""Boost in the browser: a cell's value is the download's and the command line's, a click shows what a cell does, images."""

from __future__ import annotations

import io
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

MAP = '[class*="st-key-boost-map"]'


def cell(visit: Visit, p: float, w: float) -> Locator:
    """A cell of the heat map, found by what a screen reader hears, once the sentence above no longer grows."""
    expect(visit.page.get_by_text("still being tested")).to_have_count(0, timeout=WAIT)
    visit.page.locator(f"{MAP} svg").first.scroll_into_view_if_needed(timeout=WAIT)
    place = f"; p: {p:.1f}; w: {w:.1f};".replace("-", "\u2212")
    cells = visit.page.locator(f"{MAP} path[aria-label*='{place}']")
    expect(cells).to_have_count(1, timeout=WAIT)
    return cells.first


def centre(locator: Locator) -> tuple[float, float]:
    box = locator.bounding_box()
    assert box
    return box["x"] + min(box["width"] / 2, 2), box["y"] + box["height"] / 2


def tooltip(visit: Visit) -> dict[str, str]:
    """What the tooltip of a chart says: name → text."""
    tip = visit.page.locator("#vg-tooltip-element.visible")
    expect(tip).to_be_visible(timeout=WAIT)
    rows = [row.inner_text().split("\t") for row in tip.locator("tr").all()]
    return {name.strip(): value.strip() for name, value in rows}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_cell_s_value_is_in_the_download(visit: Visit, scheme: str, tmp_path: Path) -> None:
    visit.page.emulate_media(color_scheme=scheme)
    visit.open("/boost?reach=3&coefficient=spearman")
    visit.page.mouse.move(*centre(cell(visit, 1.3, 0.4)))
    told = tooltip(visit)
    assert (told["p"], told["w"]) == ("1.3", "0.4")
    frame = visit.table("csv-boost-surface", named="boost-surface-Sample-German-English-translation-chrf.csv")
    assert list(frame.columns) == ["p", "w", "group", "correlation", "original"] and len(frame) == 3600
    row = frame[np.isclose(frame.p, 1.3) & np.isclose(frame.w, 0.4)].iloc[0]
    assert told["Spearman"] == f"{row.correlation:.4f}".replace("-", "\u2212")
    out = tmp_path / "grid.csv"
    command = ["boost", "demo:mt", "--metric", "chrf", "--human", "planted", "--coefficient", "spearman", "--store", "none"]
    subprocess.run([sys.executable, "-m", "engine", *command, "--out", str(out)], cwd=ROOT, check=True, timeout=120)
    pd.testing.assert_frame_equal(frame, pd.read_csv(out))


def test_a_click_shows_what_a_cell_does(visit: Visit) -> None:
    visit.open("/boost?reach=3")
    visit.page.mouse.click(*centre(cell(visit, -0.8, 0.2)))
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
    visit.page.mouse.click(*centre(cell(visit, -0.8, 0.2)))  # the same cell once more
    expect(visit.page.get_by_text("Kendall\u2019s tau-b at p = \u22120.8, w = 0.2")).to_be_visible(timeout=WAIT)


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
    visit.page.locator(MAP).hover()
    with visit.page.expect_download(timeout=WAIT) as download:
        visit.page.locator(f"{MAP} [data-testid='stElementToolbarButton'] button").nth(1).click()
    assert io.BytesIO(Path(download.value.path()).read_bytes()).read(8) == b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize("width", [1280, 800])
def test_nothing_is_cut_off(visit: Visit, width: int) -> None:
    visit.page.set_viewport_size({"width": width, "height": 1000})
    visit.open("/boost")
    expect(visit.page.locator(f"{MAP} svg").first).to_be_visible(timeout=WAIT)
    assert visit.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    chart, main = visit.page.locator(f"{MAP} svg").first, visit.page.locator('[data-testid="stMainBlockContainer"]')
    inner, outer = chart.bounding_box(), main.bounding_box()
    assert inner and outer
    assert inner["x"] >= outer["x"] and inner["x"] + inner["width"] <= outer["x"] + outer["width"]

"""A user brings files as people have them, and gets to a heatmap of them and the command line's numbers."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from browser_helpers import ROOT, WAIT, Visit
from playwright.sync_api import expect

GERMAN = [
    "Die Königin besuchte am Montag die alte Mühle.",
    "Der Zug nach Köln hatte 4,5 Stunden Verspätung.",
    "„Wir fahren nicht“, sagte Frau Öztürk; sie blieb.",
    "Im Frühling blüht der Garten hinter dem Haus.",
]
ENGLISH = [
    "The queen visited the old mill on Monday.",
    "The train to Cologne was delayed by 4.5 hours.",
    '"We are not going," said Ms Öztürk; she stayed.',
    "In spring the garden behind the house is in bloom.",
]
ROUGH = [
    "The king visited the old mill on Monday.",
    "The train to Cologne had 45 hours delay.",
    '"We go," said Mr Öztürk; he stayed.',
    "In spring the garden behind the house blossoms.",
]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table as a spreadsheet program saves it on a German desktop, its columns without telling names."""
    rows = zip(GERMAN, ENGLISH, ENGLISH[::-1], ROUGH, strict=True)
    cells = [["Spalte1", "Spalte2", "Spalte3", "Spalte4"], *([a, b, c, d] for a, b, c, d in rows)]
    text = "\r\n".join(";".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in cells)
    path = tmp_path / "bewertung.csv"
    path.write_bytes((text + "\r\n").encode("cp1252"))
    return path


def test_mapping_heatmap_and_the_command_line_s_numbers(visit: Visit, table: Path, tmp_path: Path) -> None:
    visit.open()
    visit.upload(table)
    page = visit.page
    doctor = page.locator(".st-key-findings-upload")
    expect(doctor).to_contain_text("Windows-1252")
    expect(doctor).to_contain_text("bewertung.csv")
    expect(page.get_by_text("cannot be told for certain")).to_have_count(1)
    expect(doctor).not_to_contain_text("not certain")
    for place, role in enumerate(["source", "reference", "hypothesis", "hypothesis"]):
        visit.choose(f"column-{place}", role)
    page.get_by_role("button", name="Read the table like this").click()
    expect(page.get_by_text("Opened: 4 segments, 2 systems.")).to_be_visible(timeout=WAIT)
    visit.settle()
    page.get_by_role("button", name="Set the languages").click()
    page.locator(".st-key-kept-languages input").fill("de-en")
    page.keyboard.press("Enter")
    expect(page.get_by_text("de \u2192 en")).to_be_visible(timeout=WAIT)
    visit.settle()
    page.keyboard.press("Escape")
    page.locator(".st-key-view-corpus input").click()
    expect(page.get_by_role("option", name="Upload: bewertung")).to_have_count(1)  # read anew, not twice
    page.keyboard.press("Escape")
    visit.go("Explain")
    page.locator(".st-key-view-segment input").fill("1")
    page.keyboard.press("Enter")
    visit.settle()
    expect(visit.words("b-hypothesis")).to_have_text(ROUGH[1].split(), timeout=WAIT)
    page.get_by_role("button", name="Explain all 4 segments").click()
    page.wait_for_timeout(500)
    visit.settle()
    shown = visit.file("explanations-csv-all")
    out = tmp_path / "cli.csv"
    columns = "source=Spalte1,reference=Spalte2,hypothesis:Spalte3=Spalte3,hypothesis:Spalte4=Spalte4"
    command = ["explain", str(table), "--columns", columns, "--metric", "chrf", "--explainer", "erasure", "--store", "none"]
    subprocess.run([sys.executable, "-m", "engine", *command, "--out", str(out)], cwd=ROOT, check=True, timeout=120)
    assert shown == out.read_bytes()


def test_unequal_files_are_refused_with_counts_and_place(visit: Visit, tmp_path: Path) -> None:
    (tmp_path / "ref.en").write_text("\n".join(ENGLISH * 5) + "\n", encoding="utf-8")
    lines = ROUGH * 5
    (tmp_path / "sysA.en").write_text("\n".join(lines[:8] + lines[9:]) + "\n", encoding="utf-8")
    visit.open()
    visit.upload(tmp_path / "ref.en", tmp_path / "sysA.en")
    doctor = visit.page.locator(".st-key-findings-upload")
    expect(doctor).to_contain_text("Unequal lengths")
    expect(doctor).to_contain_text("19")
    expect(doctor).to_contain_text("20")
    expect(visit.page.locator('[data-testid="stSidebar"]')).not_to_contain_text("Upload:")


def test_any_script_and_hostile_text(visit: Visit, tmp_path: Path) -> None:
    rows = [
        ("وصلت الوزيرة إلى Berlin Central أمس.", "وصلت الوزيرة أمس إلى Berlin Central."),
        ("今日は東京で雨が降る。", "今日は京都で雨が降る。"),
        ("A family 👩‍👩‍👧‍👧 waves 👍🏽 🇩🇪.", "The family 👩‍👩‍👧‍👧 waves 👋🏽 🇩🇪."),
        ("<img src=x onerror=alert(1)> **bold** $x$", "<script>alert(2)</script> :red[bold] $x$"),
    ]
    path = tmp_path / "scripts.jsonl"
    path.write_text("\n".join(json.dumps({"src": "", "ref": ref, "mt": mt}) for mt, ref in rows), encoding="utf-8")
    visit.open()
    visit.page.on("dialog", lambda dialog: pytest.fail("a text of the user was run as a script"))
    visit.upload(path)
    visit.go("Explain")
    text = visit.page.locator('[data-panel="a-hypothesis"] .text')
    expect(text).to_have_text(rows[0][0], timeout=WAIT)
    assert text.evaluate("item => getComputedStyle(item).direction") == "rtl"
    first, second = (visit.word("a-hypothesis", place).bounding_box() for place in (0, 1))
    assert first and second and first["x"] > second["x"]
    for place, (mt, _) in enumerate(rows[1:], start=1):
        visit.page.locator(".st-key-next button").first.click()
        expect(text).to_have_text(mt, timeout=WAIT)
        visit.settle()
        if place == 1:
            assert visit.words("a-hypothesis").count() == len(mt)
        if place == 2:
            expect(visit.words("a-hypothesis")).to_have_text(mt.split())


def test_an_upload_survives_a_reload_and_is_nobody_else_s(visit: Visit, browser, server: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.tsv"
    path.write_text(
        "source\treference\thypothesis\n" + "\n".join("\t".join(row) for row in zip(GERMAN, ENGLISH, ROUGH)), encoding="utf-8"
    )
    visit.open()
    visit.upload(path)
    expect(visit.page.get_by_text("Opened: 4 segments, 1 system.")).to_be_visible(timeout=WAIT)
    expect(visit.page.get_by_text("after it was last opened")).to_be_visible()
    link = visit.page.evaluate("location.href")
    assert "corpus=upload" in link
    visit.page.reload()
    expect(visit.page.get_by_text("after it was last opened")).to_be_visible(timeout=WAIT)
    visit.page.get_by_role("button", name="Set the languages").click()
    visit.page.locator(".st-key-kept-languages input").fill("German-English, as I said")
    visit.page.keyboard.press("Enter")
    expect(visit.page.get_by_text("write codes, as in de-en")).to_be_visible(timeout=WAIT)
    visit.page.locator(".st-key-kept-languages input").fill("da-en")
    visit.page.keyboard.press("Enter")
    expect(visit.page.get_by_text("da \u2192 en")).to_be_visible(timeout=WAIT)
    expect(visit.page.get_by_text("Languages judged by the texts")).to_have_count(0)
    visit.page.reload()
    expect(visit.page.get_by_text("da \u2192 en")).to_be_visible(timeout=WAIT)
    assert visit.page.evaluate("location.href") == link
    other = browser.new_context().new_page()
    other.goto(link.replace("/?", "/explain?"))
    expect(other.locator('[data-panel="a-hypothesis"]')).to_contain_text("The king visited", timeout=WAIT)
    other.goto(re.sub(r"\.[0-9a-f]{32}", "." + "0" * 32, link))
    expect(other.get_by_text("is not on this computer")).to_be_visible(timeout=WAIT)
    expect(other.locator("body")).not_to_contain_text("The king visited")
    other.goto(server)
    expect(other.locator(".st-key-view-corpus input")).to_have_value("Sample: translation", timeout=WAIT)
    other.locator(".st-key-view-corpus input").click()
    expect(other.get_by_role("option")).to_have_text(["Sample: translation", "Sample: summaries"])
    visit.settle()
    visit.page.get_by_role("button", name="Delete").click()
    visit.page.get_by_role("button", name="Delete this upload").click()
    expect(visit.page.get_by_text("The upload is deleted.")).to_be_visible(timeout=WAIT)
    other.goto(link)
    expect(other.get_by_text("is not on this computer")).to_be_visible(timeout=WAIT)
    other.context.close()

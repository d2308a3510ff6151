"""How long a user waits in the browser: `python -m benchmarks.pages [--segments N] [--rounds N]`.

Starts the app with an empty store, drives it with Chromium or Chrome, and prints seconds: the first visit of a fresh server, a
later visit, every switch from one page to the next (sample corpus, results there), every control of the p/w surface (sample
corpus, explanations there) until the heat map is painted and until the page is drawn, and the upload of two systems, source and
reference of N segments, until the corpus is listed and until its scores are there. Prints the server's peak memory. The times
are those of a whole machine: run it alone.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.corpus import write_files

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parents[1]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
WAIT = 600_000  # milliseconds
DRAWN = """() => document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === 'notRunning'
    && document.querySelector('h1') && !document.querySelector('[data-stale="true"]')"""
STILL = "() => !document.querySelector('[data-testid=\"stProgress\"]')"

NOTE_TIMES = """() => {
    const now = () => performance.now() - noted.begin;
    const once = (name) => { if (noted[name] === null) noted[name] = now(); };
    window.noted = {};
    addEventListener('pointerdown', () => { window.noted = { begin: performance.now(), painted: null, drawn: null }; }, true);
    const app = document.querySelector('[data-testid="stApp"]');
    new MutationObserver(() => { if (app.dataset.testScriptState === 'notRunning') once('drawn'); })
        .observe(app, { attributes: true });
    const map = [...document.querySelectorAll('.st-key-boost-map *')].find((element) => element.shadowRoot);
    const frame = () => requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();  // its message comes when the frame is out
        port1.onmessage = () => once('painted');
        port2.postMessage(null);
    });
    new MutationObserver(frame).observe(map.shadowRoot.querySelector('canvas'), { attributes: true });
}"""
"""Notes when the heat map is painted and when the script has ended, in milliseconds after the last click."""


def main() -> None:
    """Start, drive, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--segments", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3, help="of page switches")
    arguments = parser.parse_args()
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        sys.exit("pages: no Chromium or Chrome on the PATH; install one")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        process, address = start(Path(folder))
        try:
            browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
            page = browser.new_page(viewport={"width": 1280, "height": 1000})
            print(f"first visit of a fresh server: {visited(page, address)} (target 3 s)")
            print(f"a later visit: {visited(page, address)}")
            print_switches(page, arguments.rounds)
            print_controls(page, arguments.rounds)
            write_files(Path(folder), arguments.segments)
            visit(page, address)
            print_upload(page, Path(folder), arguments.segments)
            print(f"peak memory of the server: {peak(process.pid):.0f} MiB (target 1536)")
        finally:
            process.terminate()
            process.wait(30)


def start(folder: Path) -> tuple[subprocess.Popen, str]:
    """A running server with an empty store, and its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless=true", "--server.address=127.0.0.1"]
    environment = {**os.environ, "PLUMBLINE_HOME": str(folder / "home")}
    quiet = subprocess.DEVNULL
    process = subprocess.Popen([*command, f"--server.port={port}"], cwd=ROOT, stdout=quiet, stderr=quiet, env=environment)
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return process, f"http://127.0.0.1:{port}"
        time.sleep(0.05)
    sys.exit("pages: the app did not start")


def timed(action: Callable[[], object]) -> float:
    """Seconds that an action takes."""
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def visit(page: Page, address: str) -> float:
    """Open the app; done when the page is drawn. Returns the seconds until something of it could be read."""
    painted = timed(lambda: (page.goto(address), page.wait_for_selector("h1", timeout=WAIT)))
    page.wait_for_function(DRAWN, timeout=WAIT)
    return painted


def visited(page: Page, address: str) -> str:
    """Open the app, and say how long that took."""
    begin = time.perf_counter()
    painted = visit(page, address)
    return f"painted after {painted:.2f} s, complete after {time.perf_counter() - begin:.2f} s"


def switch(page: Page, title: str) -> None:
    """Go to another page; done when it is drawn."""
    page.locator('[data-testid="stSidebarNav"]').get_by_text(title, exact=True).click()
    page.wait_for_function(f"() => document.querySelector('h1')?.innerText.trim() === '{title}'", timeout=WAIT)
    page.wait_for_function(DRAWN, timeout=WAIT)


def print_switches(page: Page, rounds: int) -> None:
    """Go through all pages in turn; in the first round, which is printed apart, results are made."""
    titles = [item.split("\n")[-1].strip() for item in page.locator('[data-testid="stSidebarNav"] a').all_inner_texts()]
    titles = titles[1:] + titles[:1]
    seconds: dict[str, list[float]] = {title: [] for title in titles}
    for _ in range(rounds + 1):
        for title in titles:
            seconds[title].append(timed(lambda title=title: switch(page, title)))
            page.wait_for_function(STILL, timeout=WAIT)
            page.wait_for_timeout(500)
    for title, (first, *later) in seconds.items():
        print(f"to {title}: first {first:.2f} s, then {median(later):.2f} s (target 0.5)")


def print_controls(page: Page, rounds: int) -> None:
    """Move the controls of the p/w surface to and fro: seconds until its heat map is painted, and until the page is drawn."""
    switch(page, "Boost")
    page.wait_for_function(STILL, timeout=WAIT)
    page.wait_for_timeout(1000)
    page.evaluate(NOTE_TIMES)
    moves = {
        "coefficient": ("Spearman", "Pearson"),
        "regularisation": ("softplus", "paper"),
        "calibration": ("Best cell", "Median of improving"),
        "level": ("Systems", "Segments"),
        "reach": ("\u22123 to 3", "\u221230 to 30"),
    }
    for name, options in moves.items():
        taken = [move(page, name, option) for _ in range(rounds + 1) for option in options]
        painted, drawn = zip(*taken, strict=True)
        for what, seconds, target in (("heat map painted", painted, " (target 0.5)"), ("page drawn", drawn, "")):
            print(f"Boost, {name}: {what}, first {seconds[0]:.2f} s, then {median(seconds[2:]):.2f} s{target}")


def move(page: Page, name: str, option: str) -> tuple[float, float]:
    """Set a control; the seconds until the heat map is painted and until the script has ended, as the browser notes them."""
    control = page.locator(f".st-key-view-{name}")
    button = control.get_by_role("radio", name=option, exact=True)
    if not button.count():
        control.locator("input").click()
        button = page.get_by_role("option", name=option, exact=True)
    button.wait_for(timeout=WAIT)
    page.wait_for_timeout(300)
    button.click()
    page.wait_for_timeout(2000)  # nothing looks at the page meanwhile: that would take time from it
    page.wait_for_function(STILL, timeout=WAIT)
    page.wait_for_timeout(1000)
    painted, drawn = page.evaluate("() => [noted.painted, noted.drawn]")
    return painted / 1000, drawn / 1000


def print_upload(page: Page, folder: Path, segments: int) -> None:
    """Upload a large corpus; the time until it is listed, and until it is scored."""
    files = [folder / f"{name}.txt" for name in ("src", "ref", "a", "b")]
    page.get_by_text("Upload your own files").click()
    box = page.locator(".st-key-upload input[type=file]")
    begin = time.perf_counter()
    box.set_input_files([str(file) for file in files])
    page.get_by_text(f"{segments:,}").first.wait_for(timeout=WAIT)
    listed = time.perf_counter() - begin
    page.wait_for_function(DRAWN, timeout=WAIT)
    page.wait_for_timeout(300)
    page.wait_for_function(STILL, timeout=WAIT)
    page.wait_for_function(DRAWN, timeout=WAIT)
    scored = time.perf_counter() - begin
    print(f"{segments:,} segments, 2 systems: listed after {listed:.1f} s (target 10), scored after {scored:.1f} s")


def peak(process: int) -> float:
    """Peak resident memory in MiB."""
    status = Path(f"/proc/{process}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), float("nan"))


if __name__ == "__main__":
    main()

"""The app in a real browser: a server with a store of its own, and a page that watches for faults."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_helpers import ROOT, Visit
from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running app with an empty store."""
    folder = tmp_path_factory.mktemp("app")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless=true", "--server.address=127.0.0.1"]
    with (folder / "log.txt").open("wb") as log:
        process = subprocess.Popen(
            [*command, f"--server.port={port}"],
            cwd=ROOT,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PLUMBLINE_HOME": str(folder / "home")},
        )
        try:
            address = f"http://127.0.0.1:{port}"
            _wait(address, process, folder / "log.txt")
            yield address
        finally:
            process.terminate()
            process.wait(30)


def _wait(address: str, process: subprocess.Popen, log: Path) -> None:
    for _ in range(300):
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    raise AssertionError(f"the app did not start:\n{log.read_text(errors='replace')}")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium or Chrome."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip(f"no browser on the PATH (looked for {', '.join(NAMES)})")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(server: str, browser: Browser) -> Iterator[Visit]:
    """A fresh browser session. Afterwards: no script failed, and nothing was asked of another host."""
    context = browser.new_context(viewport={"width": 1280, "height": 1400}, accept_downloads=True)
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    hosts: set[str] = set()
    page.on("request", lambda request: hosts.add(request.url.split("/")[2] if "://" in request.url else ""))
    yield Visit(page, server)
    assert not faults
    assert hosts - {""} <= {server.removeprefix("http://")}
    context.close()

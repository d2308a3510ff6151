"""What a user does, as functions."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from playwright.sync_api import Locator, Page, expect

ROOT = Path(__file__).resolve().parents[2]
WAIT = 90_000  # milliseconds; other work may share the machine


@dataclass(frozen=True)
class Visit:
    """One user's browser session."""

    page: Page
    server: str

    def open(self, path: str = "/") -> None:
        """Open a link and wait until the page is drawn."""
        self.page.goto(self.server + path)
        expect(self.page.locator('[data-testid="stSidebar"] .st-key-view-corpus')).to_be_visible(timeout=WAIT)
        self.settle()

    def settle(self) -> None:
        """Wait until nothing is running, neither a script nor a job."""
        self.page.wait_for_function(
            """() => document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === 'notRunning'
                && !document.querySelector('[data-testid="stProgress"]')""",
            timeout=WAIT,
        )
        self.page.wait_for_timeout(300)

    def choose(self, key: str, option: str) -> None:
        """Choose an option of the select box with this key."""
        self.page.locator(f".st-key-{key} input").click()
        self.page.get_by_role("option", name=option, exact=True).click()
        self.settle()

    def upload(self, *files: Path) -> None:
        """Give files to the upload box."""
        self.page.get_by_text("Upload your own files").click()
        self.page.locator(".st-key-upload input[type=file]").set_input_files([str(file) for file in files])
        self.page.wait_for_timeout(500)
        self.settle()

    def go(self, title: str) -> None:
        """Switch the page in the navigation."""
        self.page.locator('[data-testid="stSidebarNav"]').get_by_text(title, exact=True).click()
        expect(self.page.get_by_role("heading", name=title, exact=True)).to_be_visible(timeout=WAIT)
        self.settle()

    def table(self, button_key: str, named: str | None = None) -> pd.DataFrame:
        """Press a download button and read the CSV; see `file`."""
        return pd.read_csv(io.BytesIO(self.file(button_key, named)), keep_default_na=False, na_values=[""])

    def file(self, button_key: str, named: str | None = None) -> bytes:
        """Press a download button and return what was saved, under the name that is `named`."""
        with self.page.expect_download(timeout=WAIT) as download:
            self.page.locator(f".st-key-{button_key} button").first.click()
        assert named in (None, download.value.suggested_filename)
        return Path(download.value.path()).read_bytes()

    def word(self, panel: str, position: int) -> Locator:
        """A word of a heatmap's panel."""
        return self.page.locator(f'[data-panel="{panel}"] .word[data-position="{position}"]')

    def words(self, panel: str) -> Locator:
        """All words of a panel."""
        return self.page.locator(f'[data-panel="{panel}"] .word')


def colour(locator: Locator, name: str = "backgroundColor") -> str:
    """A computed colour as `#rrggbb`."""
    text = locator.evaluate(f"item => getComputedStyle(item).{name}")
    red, green, blue = (int(part) for part in text.removeprefix("rgb(").removesuffix(")").split(",")[:3])
    return f"#{red:02x}{green:02x}{blue:02x}"

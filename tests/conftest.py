"""Fixtures that every test may use."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def data_folder() -> Path | None:
    """The folder of public evaluation data: `PLUMBLINE_DATA`, or `../shared/data` beside the checkout."""
    named = os.environ.get("PLUMBLINE_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of public evaluation data; the test is skipped where it is absent."""
    folder = data_folder()
    if folder is None:
        pytest.skip("no public evaluation data here (set PLUMBLINE_DATA to its folder)")
    return folder


@pytest.fixture(scope="session", autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the tests' store and caches away from the user's, but share converted encoders within one run."""
    os.environ["PLUMBLINE_HOME"] = str(tmp_path_factory.mktemp("plumbline-home"))

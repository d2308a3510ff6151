"""Fixtures of the tests that run pages without a browser."""

from __future__ import annotations

import pytest
from app_helpers import ROOT, Open
from streamlit.testing.v1 import AppTest


@pytest.fixture
def open_app() -> Open:
    """Open the app at a page and with address parameters, and wait until it is drawn."""

    def open_page(page: str = "corpus", **parameters: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
        for name, value in parameters.items():
            app.query_params[name] = value
        app.run()
        if page != "corpus":
            app.switch_page(f"pages/{page}.py")
            for name, value in parameters.items():
                app.query_params[name] = value
            app.run()
        assert not app.exception, app.exception[0].message
        return app

    return open_page

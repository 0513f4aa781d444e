"""One browser for all tests of pages: to start one takes longer than most of them. `make test-all` runs them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.effort import long

CHROMIUM = os.environ.get("SULQ_BROWSER") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


@pytest.fixture(scope="package")
def started() -> Iterator[Any]:
    """Playwright, until the tests of this folder are done."""
    from playwright.sync_api import expect, sync_playwright

    with sync_playwright() as started:
        expect.set_options(timeout=30_000)  # a busy machine is no failure
        yield started


@pytest.fixture(scope="package")
def browser(started: Any) -> Iterator[Any]:
    """A browser; every person has a context of their own in it."""
    browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
    yield browser
    browser.close()


@pytest.fixture(autouse=True)
def everybody_leaves(request: pytest.FixtureRequest) -> Iterator[None]:
    """No page of a test stays open, where it would go on polling."""
    browser = request.getfixturevalue("browser") if "browser" in request.fixturenames else None
    yield
    for context in browser.contexts if browser is not None else ():
        context.close()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave all tests of this folder to the thorough effort."""
    here = f"{Path(__file__).parent}/"
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker(long)

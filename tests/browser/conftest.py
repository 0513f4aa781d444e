"""One browser for all tests of pages: to start one takes longer than most of them. `make test-all` runs them."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.effort import long

if TYPE_CHECKING:
    from tests.survey.stand_in import StandIn

CHROMIUM = os.environ.get("SULQ_BROWSER") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
REFUSALS = ("403", "409", "410", "503")
"""What the browser itself notes about a post that was refused."""


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


@pytest.fixture
def collector() -> Iterator[StandIn]:
    """A stand-in for the service that collects reports."""
    from tests.survey.stand_in import StandIn, running

    with running(StandIn()) as stand_in:
        yield stand_in


def watched(page: Any, complaints: list[str]) -> Any:
    """A page whose browser's complaints are noted, but for what a test brings about: no connection, a refusal."""
    page.on(
        "console",
        lambda words: (
            complaints.append(words.text)
            if words.type in ("error", "warning")
            and not re.search("|".join([*REFUSALS, "ERR_INTERNET"]), words.text)
            else None
        ),
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    return page


@pytest.fixture
def visit(browser: Any, collector: StandIn) -> Iterator[Callable[..., Any]]:
    """Makes the page of a person with a device of their own. What the browser complains about fails the test."""
    complaints: list[str] = []
    contexts = []

    def page_of(link: str | None = "link-0", **about: Any) -> Any:
        context = browser.new_context(**{"locale": "en"} | about)
        contexts.append(context)
        page = watched(context.new_page(), complaints)
        page.goto(collector.url + ("" if link is None else f"/#{link}"))
        return page

    yield page_of
    for context in contexts:
        context.close()
    assert not complaints


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

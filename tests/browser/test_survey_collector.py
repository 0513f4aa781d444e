"""The page and the collector together, in a real browser: from a link to a count, once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import CHROMIUM
from tests.effort import long

server = pytest.importorskip("sulq.survey.server", reason="the collector is not here")
reading = pytest.importorskip("sulq.survey.reading", reason="the collector is not here")
HOW = "`make test-all` installs both, or: apt-get install chromium, and pip install 'sulq[browser]'"
playwright = pytest.importorskip("playwright.sync_api", reason=f"playwright is not installed: {HOW}")
pytestmark = [pytest.mark.skipif(CHROMIUM is None, reason=f"no Chromium is installed: {HOW}"), long]
QUESTIONS: dict[str, Any] = {
    "town": {"kind": "one-of", "text": "Where do you live?", "choices": ["north", "south"], "alone": False},
    "paid": {"kind": "yes-no", "text": "Did you ever pay a bribe?", "by": "town"},
    "often": {"kind": "scale", "text": "How often?", "choices": ["never", "once", "often"]},
    "amount": {"kind": "number", "text": "How much?", "low": 0, "high": 100, "step": 1, "unit": "€"},
    "whom": {"kind": "several-of", "text": "Whom?", "choices": ["police", "clerk", "doctor"]},
}
SENT = "Thank you. Your report was sent."
SPEND = """async () => {
  const { Device } = await import("/static/device/device.js");
  const { BrowserStorage } = await import("/static/device/storage.js");
  const survey = await (await fetch("/survey.json")).text();
  const device = new Device(survey, await BrowserStorage.open());
  await device.change((record) => ({ record: { ...record, spent: record.ceiling }, result: null }));
}"""


@pytest.fixture(params=["epsilon", "people"])
def collecting(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    about = {"title": "Bribes", "epsilon": 4, "people": 1000, "divides": request.param, "languages": ["en"]}
    survey = reading.survey_of({"survey": about, "questions": QUESTIONS})
    with server.CollectorServer(
        replace(survey, store=str(tmp_path / "x.reports")), server.Listening(port=0)
    ) as here:
        yield here


def visit(browser: Any, collecting: Any, link: str) -> Any:
    page = browser.new_context(locale="en").new_page()
    page.goto(f"{collecting.url}/#{link}")
    return page


def answer(page: Any) -> None:
    page.get_by_label("south").check()
    page.get_by_role("group", name="Did you ever pay a bribe?").get_by_label("Yes").check()
    page.get_by_label("never").check()
    page.get_by_label("How much?").fill("30")
    page.get_by_label("police").check()
    page.get_by_role("button", name="Toss the coins").click()
    page.get_by_role("button", name="Send", exact=True).click()


def expect(page: Any, words: str) -> None:
    playwright.expect(page.get_by_role("heading", name=words)).to_be_visible()


def people(collecting: Any) -> int:
    """How many people are counted, over the items that each reported on."""
    received = collecting.collector.received(1)
    every = collecting.collector.survey.divides == "epsilon"
    return max(received.values()) if every and received else sum(received.values())


def test_people_are_counted_once_and_refused_in_plain_words(browser: Any, collecting: Any) -> None:
    links = collecting.collector.invite(4)
    for link in links[:2]:
        page = visit(browser, collecting, link)
        answer(page)
        expect(page, SENT)
        page.reload()
        expect(page, SENT)
    other = visit(browser, collecting, links[0])
    answer(other)
    expect(other, "This link has been used already")
    stranger = visit(browser, collecting, "nobody")
    answer(stranger)
    expect(stranger, "this link is not one of theirs")
    assert people(collecting) == 2


def test_a_device_that_has_spent_everything_does_not_answer(browser: Any, collecting: Any) -> None:
    [link] = collecting.collector.invite(1)
    page = visit(browser, collecting, link)
    page.get_by_role("button", name="Toss the coins").wait_for()
    page.evaluate(SPEND)
    page.reload()
    expect(page, "Your device has said all that it may")
    assert people(collecting) == 0


def test_what_was_answered_offline_is_counted_once(browser: Any, collecting: Any) -> None:
    [link] = collecting.collector.invite(1)
    page = visit(browser, collecting, link)
    page.get_by_role("button", name="Toss the coins").wait_for()
    page.evaluate(
        """async () => {
          await navigator.serviceWorker.ready;
          while (navigator.serviceWorker.controller === null) await new Promise((done) => setTimeout(done, 20));
        }"""
    )
    page.context.set_offline(True)
    page.reload()
    answer(page)
    expect(page, "There is no connection to the survey")
    assert people(collecting) == 0
    page.context.set_offline(False)
    expect(page, SENT)
    page.reload()
    expect(page, SENT)
    assert people(collecting) == 1

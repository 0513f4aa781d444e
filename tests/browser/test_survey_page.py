"""The page of a survey, for everybody: on a phone, without a mouse, in other languages, and in pictures."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.conftest import CHROMIUM
from tests.browser.respondents import SENT, answer, expect, send
from tests.effort import long
from tests.survey.stand_in import StandIn

HOW = "`make test-all` installs both, or: apt-get install chromium, and pip install 'sulq[browser]'"
playwright = pytest.importorskip("playwright.sync_api", reason=f"playwright is not installed: {HOW}")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=f"no Chromium is installed: {HOW}")
PHONE = {"width": 360, "height": 740}


@long
def test_a_person_needs_no_mouse_and_is_told_what_is_missing(visit: Any, collector: StandIn) -> None:
    page = visit()
    page.get_by_role("button", name="Toss the coins").focus()
    page.keyboard.press("Enter")
    playwright.expect(page.get_by_role("status")).to_have_text(
        "Some answers are missing. The first one is marked."
    )
    playwright.expect(page.get_by_label("Yes")).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type("300")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    playwright.expect(page.get_by_text("Please give a number from 0 to 120.")).to_be_visible()
    playwright.expect(page.get_by_label("How old are you?")).to_be_focused()
    page.keyboard.press("Control+A")
    page.keyboard.type("30")
    page.keyboard.press("Enter")
    playwright.expect(page.get_by_role("heading", name="What your device will send")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    playwright.expect(page.get_by_role("button", name="Send", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    playwright.expect(page.get_by_role("heading", name=SENT)).to_be_focused()


@long
def test_another_language_keeps_what_was_filled_in(visit: Any, collector: StandIn) -> None:
    page = visit(locale="de-AT")
    playwright.expect(page.get_by_role("heading", level=1)).to_have_text("Gewohnheiten")
    assert page.locator("html").get_attribute("lang") == "de"
    page.get_by_role("group", name="Wo wohnen Sie?").get_by_label("South").check()
    page.get_by_label("Wie alt sind Sie?").fill("61")
    page.get_by_role("button", name="English").click()
    playwright.expect(page.get_by_label("South")).to_be_checked()
    playwright.expect(page.get_by_label("How old are you?")).to_have_value("61")
    page.reload()
    playwright.expect(page.get_by_role("heading", level=1)).to_have_text("Habits")


@long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_of_it_fits_a_phone(visit: Any, collector: StandIn, scheme: str) -> None:
    page = visit(viewport=PHONE, color_scheme=scheme, has_touch=True)
    page.get_by_role("button", name="Toss the coins").wait_for()
    fits = "document.scrollingElement.scrollWidth <= innerWidth"
    assert page.evaluate(fits)
    small = "[...document.querySelectorAll('button, .choice, input[type=number]')].filter((each) => each.offsetHeight < 40)"
    assert page.evaluate(f"{small}.length") == 0
    answer(page)
    page.get_by_text("Exactly this is sent").click()
    assert page.evaluate(fits)
    send(page)
    expect(page, SENT)
    assert page.evaluate(fits)
    page.get_by_role("link", name="How this protects you").click()
    page.get_by_role("button", name="Draw 100 times").click()
    assert page.evaluate(fits)


@long
def test_every_field_has_a_name(visit: Any) -> None:
    page = visit()
    page.get_by_role("button", name="Toss the coins").wait_for()
    for field in page.locator("input, select, button").all():
        assert field.evaluate(
            "(each) => each.labels?.length > 0 || !!each.ariaLabel || !!each.textContent.trim()"
        )
    assert page.locator("fieldset > legend").count() == 5
    described = page.locator("fieldset").first.get_attribute("aria-describedby").split()
    assert all(page.locator(f"#{name}").count() == 1 for name in described)


@long
def test_the_picture_draws_by_the_odds_that_it_states(visit: Any, collector: StandIn) -> None:
    page = visit()
    page.goto(f"{collector.url}/protects#link-0")
    page.get_by_label("How much is told (ε)").fill("50")
    playwright.expect(page.locator("#odds")).to_contain_text(
        "With ε = 5 your real answer is sent 99.3 times in 100"
    )
    page.get_by_role("button", name="Draw 100 times").click()
    drawn = page.locator("#drawn").inner_text()
    real, other = map(int, re.findall(r"(\d+) times", drawn))
    assert real + other == 100 and real >= 80  # fewer come with a chance below 10^-15
    assert page.locator("circle.real").count() >= 80
    page.get_by_role("button", name="Ask 2,000 people").click()
    estimate = float(re.search(r"reports: ([\d.]+) in 100", page.locator("#estimated").inner_text())[1])  # type: ignore[index]
    assert abs(estimate - 30) < 3  # 20 standard deviations
    page.get_by_role("link", name="Back to the survey").click()
    page.get_by_role("button", name="Toss the coins").wait_for()
    assert page.url.endswith("#link-0")

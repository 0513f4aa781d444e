"""What a device keeps of a survey: who answered, what was told, what is still to be sent."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sulq
from sulq.local import item_of
from tests.browser.conftest import CHROMIUM
from tests.browser.respondents import SENT, answer, expect, offline_ready, record, send
from tests.effort import long
from tests.survey.stand_in import SCOPE, StandIn, asked, entries

HOW = "`make test-all` installs both, or: apt-get install chromium, and pip install 'sulq[browser]'"
playwright = pytest.importorskip("playwright.sync_api", reason=f"playwright is not installed: {HOW}")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=f"no Chromium is installed: {HOW}")


@long
def test_who_comes_back_has_answered(visit: Any, collector: StandIn) -> None:
    page = visit()
    answer(page)
    send(page)
    expect(page, SENT)
    page.reload()
    expect(page, SENT)
    page = page.context.new_page()
    page.goto(f"{collector.url}/#link-9")
    expect(page, SENT)
    assert len(collector.accepted) == 1 and len(record(page)["memo"]) == 4


@long
def test_a_device_refuses_once_its_budget_is_spent(visit: Any, collector: StandIn) -> None:
    collector.epsilon = "1"
    page = visit()
    answer(page)
    send(page)
    expect(page, SENT)
    collector.number, collector.items = 2, entries([item_of(sulq.col("age") >= 18, SCOPE, Fraction(1, 100))])
    expect(page, "Your device has said all that it may")  # found by polling
    collector.epsilon = "100"
    page.reload()
    expect(page, "Your device has said all that it may")
    assert len(collector.accepted) == 1 and record(page)["spent"] == "1"


@long
def test_a_survey_under_another_name_has_no_answers_and_tells_what_was_said_before(
    visit: Any, collector: StandIn
) -> None:
    page = visit()
    assert "Other surveys" not in page.inner_text("#budget")
    answer(page)
    send(page)
    expect(page, SENT)
    collector.id, collector.number = "the-same-again", 2
    page.reload()
    page.get_by_role("button", name="Toss the coins").wait_for()
    assert page.get_by_label("How old are you?").input_value() == ""
    playwright.expect(page.locator("#budget")).to_contain_text(
        "Other surveys from this address were told ε = "
    )
    assert record(page)["spent"] in page.inner_text("#budget")


@long
def test_a_further_round_is_answered_from_the_answers_that_were_kept(visit: Any, collector: StandIn) -> None:
    page = visit()
    answer(page)
    send(page)
    expect(page, SENT)
    collector.number, collector.items = 2, entries([item_of(sulq.col("age") >= 18, SCOPE, Fraction(1))])
    page.get_by_role("button", name="Toss the coins for it").click()
    send(page)
    playwright.expect(page.get_by_role("heading", name=SENT)).to_be_visible()
    assert [sent["round"] for sent in collector.accepted] == [1, 2]
    collector.number = 3  # the same is asked again: the same report, at no cost
    page.get_by_role("button", name="Toss the coins for it").click()
    send(page)
    expect(page, SENT)
    assert collector.accepted[1]["reports"] == collector.accepted[2]["reports"]
    assert record(page)["spent"] == "2"


@long
def test_an_answer_given_offline_is_sent_once_later(visit: Any, collector: StandIn) -> None:
    page = visit()
    page.get_by_role("button", name="Toss the coins").wait_for()
    offline_ready(page)
    page.context.set_offline(True)
    page.reload()
    answer(page)
    send(page)
    expect(page, "There is no connection to the survey")
    assert collector.accepted == []
    page.close()
    page.context.set_offline(False)
    back = page.context.new_page()
    back.goto(f"{collector.url}/#link-0")
    expect(back, SENT)
    back.reload()
    expect(back, SENT)
    assert len(collector.accepted) == 1
    assert len([each for each in collector.seen if each[0] == "POST"]) == 1


@long
def test_a_page_that_stays_open_sends_when_the_connection_is_back(visit: Any, collector: StandIn) -> None:
    page = visit()
    page.get_by_role("button", name="Toss the coins").wait_for()
    offline_ready(page)
    answer(page)
    page.context.set_offline(True)
    send(page)
    expect(page, "There is no connection to the survey")
    page.context.set_offline(False)
    expect(page, SENT)
    assert len(collector.accepted) == 1


@long
def test_memo_and_ledger_outlive_the_browser(started: Any, collector: StandIn, tmp_path: Path) -> None:
    def opened() -> Any:
        options = {"executable_path": CHROMIUM, "args": ["--no-sandbox"], "locale": "en"}
        return started.chromium.launch_persistent_context(str(tmp_path / "profile"), **options)

    context = opened()
    page = context.new_page()
    page.goto(f"{collector.url}/#link-0")
    answer(page)
    drawn = record(page)
    context.close()  # before anything was sent

    context = opened()
    page = context.new_page()
    page.goto(f"{collector.url}/#link-0")
    page.get_by_role("heading", name="What your device will send").wait_for()
    assert record(page) == drawn
    send(page)
    expect(page, SENT)
    context.close()
    assert collector.accepted[0]["reports"] == [drawn["memo"][item.key] for item in asked()]


@long
def test_two_tabs_cannot_both_spend(visit: Any, collector: StandIn) -> None:
    """Two tabs ask for different items at the same time, again and again; the ε pays for eight of them."""
    rounds = [
        json.dumps(
            collector.round()
            | {"number": i, "items": entries([item_of(sulq.col("age") >= i, SCOPE, Fraction(1, 4))])}
        )
        for i in range(1, 41)
    ]
    page = visit()
    page.get_by_role("button", name="Toss the coins").wait_for()
    other = page.context.new_page()
    other.goto(f"{collector.url}/#link-0")
    script = """async (rounds) => {
      const { Device } = await import("/static/device/device.js");
      const { BrowserStorage } = await import("/static/device/storage.js");
      const survey = await (await fetch("/survey.json")).text();
      const device = new Device(survey, await BrowserStorage.open());
      const channel = new BroadcastChannel("go");
      globalThis.drawn = new Promise((resolve) => {
        channel.onmessage = async () => {
          const tried = rounds.map((round) => device.draw(device.verified(round), new Map([["age", 44]])).then(() => 1, (error) => error.code));
          resolve(await Promise.all(tried));
        };
      });
    }"""
    page.evaluate(script, rounds[:20])
    other.evaluate(script, rounds[20:])
    starter = page.context.new_page()
    starter.goto(f"{collector.url}/protects")
    starter.evaluate("() => new BroadcastChannel('go').postMessage(1)")
    outcomes = page.evaluate("() => drawn") + other.evaluate("() => drawn")
    assert outcomes.count(1) == 8 and outcomes.count("budget") == 32
    assert record(page)["spent"] == "2"


@long
def test_answers_can_be_deleted_and_the_ledger_stays(visit: Any, collector: StandIn) -> None:
    page = visit()
    answer(page)
    send(page)
    page.get_by_role("button", name="Delete my answers").click()
    expect(page, "Your answers were deleted from this device.")
    kept = page.evaluate(
        """async () => {
          const { BrowserStorage } = await import("/static/device/storage.js");
          return (await BrowserStorage.open()).change("answers stand-in", (record) => ({ record, result: record }));
        }"""
    )
    assert kept == {"answers": []} and record(page)["spent"] == "1"

"""A survey in a real browser, under its content security policy: people answer, and nothing but reports leaves them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sulq
from sulq.local import Item, KaryResponse, item_of
from tests.browser.conftest import CHROMIUM
from tests.effort import long
from tests.survey.chances import surprise
from tests.survey.stand_in import SCOPE, StandIn, asked, entries, running

HOW = "`make test-all` installs both, or: apt-get install chromium, and pip install 'sulq[browser]'"
playwright = pytest.importorskip("playwright.sync_api", reason=f"playwright is not installed: {HOW}")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=f"no Chromium is installed: {HOW}")
PHONE = {"width": 360, "height": 740}
SENT = "Thank you. Your report was sent."
REFUSALS = ("403", "409", "410", "503")
"""What the browser itself notes about a post that was refused."""


@pytest.fixture
def collector() -> Iterator[StandIn]:
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


def answer(page: Any, bribe: str = "Yes", age: str = "44") -> None:
    """Fill in all questions and let the device draw."""
    page.get_by_role("group", name="Did you ever pay a bribe?").get_by_label(bribe).check()
    page.get_by_role("group", name="Where do you live?").get_by_label("South").check()
    page.get_by_role("group", name="What do you take?").get_by_label("Tea").check()
    page.get_by_label("How old are you?").fill(age)
    page.get_by_role("group", name="How often do you lie?").get_by_label("Never").check()
    page.get_by_role("button", name="Toss the coins").click()
    page.get_by_role("heading", name="What your device will send").wait_for()


def send(page: Any) -> None:
    page.get_by_role("button", name="Send", exact=True).click()


def expect(page: Any, words: str) -> None:
    playwright.expect(page.get_by_role("heading", name=words)).to_be_visible()


def record(page: Any) -> Any:
    """What the browser's database keeps of the survey."""
    return page.evaluate(
        """async () => {
          const { BrowserStorage } = await import("/static/device/storage.js");
          const storage = await BrowserStorage.open();
          return storage.change("stand-in", (record) => ({ record, result: record }));
        }"""
    )


def offline_ready(page: Any) -> None:
    """Wait until the worker has kept all that the page needs, and has taken the page over."""
    page.evaluate(
        """async () => {
          await navigator.serviceWorker.ready;
          while (navigator.serviceWorker.controller === null) await new Promise((done) => setTimeout(done, 20));
        }"""
    )


def test_several_people_answer_and_the_network_sees_their_reports_alone(
    visit: Any, collector: StandIn
) -> None:
    shown = []
    for person in range(3):
        page = visit(f"link-{person}")
        answer(page, "Yes" if person else "No", str(20 + person))
        page.get_by_text("Exactly this is sent").click()
        shown.append(json.loads(page.locator("#exactly").inner_text()))
        send(page)
        expect(page, SENT)
        assert page.context.cookies() == []
    assert collector.accepted == shown
    keys = [item.key for item in asked()]
    for person, sent in enumerate(shown):
        assert sent.keys() == {"reports-sent", "survey", "round", "invitation", "reports"}
        assert sent["invitation"] == f"link-{person}"
        assert [report["item"] for report in sent["reports"]] == keys
        assert all(report.keys() == {"report", "item", "numbers"} for report in sent["reports"])
    assert len([each for each in collector.seen if each[0] == "POST"]) == 3
    for method, address, headers in collector.seen:
        assert "?" not in address and "link" not in address and "cookie" not in headers
        assert method in ("GET", "POST") and "referer" not in headers


@long
def test_what_is_shown_before_sending_has_its_odds(visit: Any, collector: StandIn) -> None:
    collector.items = entries([item_of(sulq.col("bribe"), SCOPE, Fraction(847, 1000))])  # ln(7/3)
    page = visit()
    answer(page)
    said = "Yes" if record(page)["memo"][asked_key(collector)]["numbers"] == [1] else "No"
    playwright.expect(page.locator(".report")).to_contain_text(f"Your device says: {said}")
    words = "About 7 times in 10 this is your real answer, and nobody can tell whether it is."
    playwright.expect(page.locator(".report")).to_contain_text(words)
    assert collector.accepted == []


@long
def test_reports_are_told_as_answers_where_they_name_one(visit: Any, collector: StandIn) -> None:
    """With so large an ε that a report is the truth, but for a chance of 10^-15."""
    parts = [
        sulq.count(by=["town", "bribe"]).parts[0],
        sulq.count(by=["drugs.tea", "drugs.other"]).parts[0],
        sulq.col("drugs.other"),
        sulq.count(by="often").parts[0],
        sulq.count(by="age").parts[0],
    ]
    collector.epsilon = "200"
    collector.items = entries([item_of(part, SCOPE, Fraction(40)) for part in parts])
    page = visit()
    answer(page)
    said = page.locator(".report .sent").all_inner_texts()
    assert said == [
        "Your device says: South · Yes",
        "Your device says: Tea: Yes · Other: No",
        "Your device says: Other: No",
        "Your device says: Never",
        "Your device says: the number 44",
    ]


@long
def test_a_browser_draws_by_its_systems_bytes_as_python_claims(visit: Any, collector: StandIn) -> None:
    """10^5 draws of one of five by Chromium's own random bytes; false alarms with a chance of 10^-9."""
    response = KaryResponse(5, 1)
    page = visit()
    counts = page.evaluate(
        """async (form) => {
          const { randomizerOf } = await import("/static/device/randomizers.js");
          const { parseJson } = await import("/static/device/json.js");
          const { systemBytes } = await import("/static/device/draws.js");
          const randomizer = randomizerOf(parseJson(form));
          const counts = [0, 0, 0, 0, 0];
          for (let i = 0; i < 1e5; i += 1) counts[randomizer.draw(2, systemBytes)] += 1;
          return counts;
        }""",
        response.to_json(),
    )
    assert sum(counts) == 10**5
    for report, count in enumerate(counts):
        assert surprise(count, 10**5, float(response.pmf(report, 2))) < math.log(2 * 5 / 1e-9)


def asked_key(collector: StandIn) -> str:
    return Item.of(collector.items[0]["item"]).key


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
def test_a_used_link_is_refused_in_plain_words(visit: Any, collector: StandIn) -> None:
    first, second = visit("link-1"), visit("link-1")
    for page in (first, second):
        answer(page)
        send(page)
    expect(first, SENT)
    expect(second, "This link has been used already")
    assert len(collector.accepted) == 1
    second.goto(f"{collector.url}/#link-2")
    second.get_by_role("button", name="Send", exact=True).wait_for()
    send(second)
    expect(second, SENT)
    assert [sent["invitation"] for sent in collector.accepted] == ["link-1", "link-2"]


@long
@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("nobody", "this link is not one of theirs"),
        (None, "Please open it with the link that you were given"),
    ],
)
def test_who_was_not_invited_is_told_so(visit: Any, collector: StandIn, link: str | None, words: str) -> None:
    page = visit(link)
    if link is not None:
        answer(page)
        send(page)
    expect(page, words)
    assert collector.accepted == []


@long
def test_an_open_survey_needs_no_link_and_counts_a_repeated_post_once(visit: Any, collector: StandIn) -> None:
    collector.invited, collector.lost = False, 1
    page = visit(None)
    answer(page)
    send(page)
    expect(page, SENT)  # after it was sent again
    [sent] = collector.accepted
    assert len(sent["invitation"]) == 24
    assert len([each for each in collector.seen if each[0] == "POST"]) == 2


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
def test_nothing_is_sent_if_a_person_does_not_want_it(visit: Any, collector: StandIn) -> None:
    page = visit()
    answer(page)
    page.get_by_role("button", name="Do not send").click()
    expect(page, "Nothing was sent.")
    page.reload()
    expect(page, "Nothing was sent.")
    assert collector.accepted == []
    send(page)  # back to what was drawn
    page.get_by_role("heading", name="What your device will send").wait_for()
    send(page)
    expect(page, SENT)


@long
def test_a_device_refuses_an_item_that_tells_more_than_it_promises(visit: Any, collector: StandIn) -> None:
    form = asked()[0].form()
    form["randomizer"] = form["randomizer"] | {"lies": "1000"}
    collector.items = [{"item": form, "people": 100}]
    page = visit()
    expect(page, "This survey asks for more than it promises")
    assert collector.accepted == []


@long
@pytest.mark.parametrize(
    ("state", "words"), [("closed", "This survey is closed."), ("waiting", "Nothing is asked")]
)
def test_a_survey_that_is_not_open_says_so(visit: Any, collector: StandIn, state: str, words: str) -> None:
    collector.state = state
    expect(visit(), words)


@long
def test_a_round_that_closes_while_somebody_answers_is_told(visit: Any, collector: StandIn) -> None:
    page = visit()
    answer(page)
    collector.number = 2
    send(page)
    expect(page, "This part of the survey was closed before your report arrived")


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

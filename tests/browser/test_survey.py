"""A survey in a real browser, under its content security policy: people answer, and nothing but reports leaves them."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import pytest

import sulq
from sulq.local import Item, KaryResponse, item_of
from tests.browser.conftest import CHROMIUM
from tests.browser.respondents import SENT, answer, expect, record, send
from tests.effort import long
from tests.survey.chances import surprise
from tests.survey.stand_in import SCOPE, StandIn, asked, entries

HOW = "`make test-all` installs both, or: apt-get install chromium, and pip install 'sulq[browser]'"
playwright = pytest.importorskip("playwright.sync_api", reason=f"playwright is not installed: {HOW}")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=f"no Chromium is installed: {HOW}")


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

"""The page and the collector together, in a real browser: from a link to an estimate, and a link only once."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest

import sulq
from sulq.survey.app import FOLDER
from sulq.survey.oracle import collected
from sulq.survey.results import results_of
from sulq.survey.server import CollectorServer
from tests.browser.conftest import CHROMIUM
from tests.effort import long
from tests.survey.surveys import EVERY_KIND, HERE, survey

HOW = "`make test-all` installs both, or: apt-get install chromium, and pip install 'sulq[browser]'"
playwright = pytest.importorskip("playwright.sync_api", reason=f"playwright is not installed: {HOW}")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason=f"no Chromium is installed: {HOW}"),
    pytest.mark.skipif(not (FOLDER / "templates" / "page.html").exists(), reason="there is no page"),
]
PATIENCE = 30_000


def answer(page: Any) -> None:
    """Fill in all questions of `EVERY_KIND`, let the device draw, and send."""
    page.get_by_role("group", name="Where do you live?").get_by_label("south").check()
    page.get_by_role("group", name="Did you ever pay a bribe?").get_by_label("Yes").check()
    page.get_by_role("group", name="How often?").get_by_label("never").check()
    page.get_by_label("How much?").fill("70")
    page.get_by_role("group", name="Whom?").get_by_label("clerk").check()
    page.get_by_role("button", name="Toss the coins").click(timeout=PATIENCE)
    page.get_by_role("button", name="Send", exact=True).click(timeout=PATIENCE)


def visited(browser: Any, url: str, link: str, posts: list[str]) -> Any:
    """A person's own browser, at a link; what it posts is noted."""
    page = browser.new_context(locale="en").new_page()
    page.on("request", lambda sent: posts.append(sent.post_data) if sent.method == "POST" else None)
    page.goto(f"{url}/#{link}")
    return page


def test_people_with_a_browser_each_are_counted_and_a_used_link_is_refused(
    browser: Any, tmp_path: Path
) -> None:
    """At ε = 40 a question has an ε of 10: that all three devices tell the truth is likely, and not asserted."""
    made = survey(tmp_path, EVERY_KIND, epsilon=40)
    posts: list[str] = []
    with CollectorServer(made, HERE) as server:
        links = server.collector.invite(2)
        for link in links:
            page = visited(browser, server.url, link, posts)
            answer(page)
            page.get_by_role("heading", name="Thank you").wait_for(timeout=PATIENCE)
            page.context.close()
        page = visited(browser, server.url, links[0], posts)
        answer(page)
        page.get_by_role("heading", name="This link has been used already").wait_for(timeout=PATIENCE)
        page.context.close()
        results = results_of(server.collector)
        assert [question.reports for question in results.questions] == [2] * 4
        assert all(kept.impossible == 0 for kept in server.collector.tallies(1).values())
    assert len(posts) == 3
    for form in map(json.loads, posts):  # reports, and nothing else
        assert form.keys() == {"reports-sent", "survey", "round", "invitation", "reports"}
        assert all(report.keys() == {"report", "item", "numbers"} for report in form["reports"])


@long
def test_a_learners_round_is_answered_by_a_browser(browser: Any, tmp_path: Path) -> None:
    asked = {
        name: {key: value for key, value in form.items() if key not in ("by", "alone")}
        for name, form in EVERY_KIND.items()
    }
    made = survey(tmp_path, asked, divides="rounds", people=2, epsilon=4, invited=False)
    answers: list[Any] = []
    oracle = collected(made)
    round_ = sulq.Round([sulq.mean("amount", where="paid")], share=1)
    learner = threading.Thread(target=lambda: answers.extend(oracle.ask(round_)))
    posts: list[str] = []
    with CollectorServer(made, HERE) as server:
        learner.start()
        while httpx.get(f"{server.url}/round.json").json()["state"] != "open":
            pass
        for _ in range(2):
            page = visited(browser, server.url, "", posts)
            answer(page)
            page.get_by_role("heading", name="Thank you").wait_for(timeout=PATIENCE)
            page.context.close()
        learner.join()
    assert len(answers) == 1
    assert (
        sum(sum(oracle.collector.received(kept.number).values()) for kept in oracle.collector.rounds()) == 2
    )

"""The console in a real browser, under its content security policy: what people do, from signing in to keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import CHROMIUM
from tests.effort import long
from tests.serve.console.visitors import console
from tests.serve.services import Running

HOW = "`make test-all` installs both, or: apt-get install chromium, and pip install 'sulq[browser]'"
playwright = pytest.importorskip("playwright.sync_api", reason=f"playwright is not installed: {HOW}")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=f"no Chromium is installed: {HOW}")
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with console(tmp_path_factory.mktemp("browser"), dataset={"caps": {"*": 2}}) as service:
        yield service


@pytest.fixture
def pages(service: Running, browser: Any) -> Iterator[Any]:
    """Makes a page of somebody who has signed in. What the browser complains about fails the test."""
    complaints: list[str] = []
    contexts = []

    def signed_in(name: str, owner: bool = False, secret: str | None = None, **about: Any) -> Any:
        context = browser.new_context(**about)
        contexts.append(context)
        page = context.new_page()
        page.on(
            "console",
            lambda words: complaints.append(words.text) if words.type in ("error", "warning") else None,
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request",
            lambda each: None if each.url.startswith((service.url, "data:")) else complaints.append(each.url),
        )
        page.goto(f"{service.url}/console")
        page.get_by_label("Key").fill(secret or service.keys.add(name, "owner" if owner else "analyst"))
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Data sets").wait_for()
        return page

    yield signed_in
    for context in contexts:
        context.close()
    assert not complaints


def fill_in(page: Any, service: Running) -> None:
    page.goto(f"{service.url}/console/d/people/table")
    page.get_by_role("group", name="Groups").get_by_label("plan", exact=True).check()
    page.get_by_label("mean of age", exact=True).check()


def price(page: Any) -> Any:
    return page.locator("#cost .price strong")


def test_an_analyst_sees_the_cost_move_asks_and_gets_figures(service: Running, pages: Any) -> None:
    page = pages("ada")
    before = service.curator.spent
    fill_in(page, service)
    page.locator("#cost").get_by_text("mean age").wait_for()
    playwright.expect(price(page)).to_have_text("ε = 0.8")
    page.get_by_label("Share of the budget").press("End")
    page.keyboard.type("0")  # 1/10 becomes 1/100
    playwright.expect(price(page)).to_have_text("ε = 0.08")
    page.get_by_label("column of condition 1").select_option("age")
    page.get_by_label("relation of condition 1").select_option(">=")
    page.get_by_label("value of condition 1").press_sequentially("500")
    playwright.expect(page.locator("#cost .wrong")).to_contain_text("is the same for every row")
    page.get_by_label("value of condition 1").fill("18")
    page.get_by_label("value of condition 1").press("Tab")
    playwright.expect(price(page)).to_have_text("ε = 0.08")
    assert service.curator.spent == before
    page.get_by_role("button", name="Ask, and spend it").click()
    playwright.expect(page.get_by_role("columnheader", name="mean age")).to_be_visible()
    assert re.match(r"−?[\d,.]+ ± [\d,.]+", page.locator("tbody td").first.inner_text())
    playwright.expect(page.locator(".picture svg")).to_be_visible()
    assert service.curator.spent - before == service.curator.offer.total / 100
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    assert Path(download.value.path()).read_text(encoding="utf-8").startswith("plan,count,")
    page.get_by_role("link", name="Overview").click()
    page.get_by_role("link", name=re.compile("^result of table-")).click()
    playwright.expect(page.get_by_role("columnheader", name="mean age")).to_be_visible()
    assert service.curator.spent - before == service.curator.offer.total / 100


@long
def test_a_second_analyst_has_a_page_and_a_cap_of_their_own(service: Running, pages: Any) -> None:
    first = pages("carl")
    fill_in(first, service)
    first.get_by_label("Name of the run").fill("carls table")
    first.get_by_role("button", name="Ask, and spend it").click()
    playwright.expect(first.locator(".budget strong")).to_have_text("1.2 left for you")
    second = pages("dora")
    second.goto(f"{service.url}/console/d/people")
    playwright.expect(second.locator(".budget strong")).to_have_text("2 left for you")
    playwright.expect(second.get_by_text("Nothing was asked yet.")).to_be_visible()
    playwright.expect(second.get_by_text("carls table")).to_have_count(0)


@long
def test_a_tree_is_learned_and_looked_at(service: Running, pages: Any) -> None:
    page = pages("emma")
    page.goto(f"{service.url}/console/d/people/tree")
    page.get_by_label("What the tree tells").select_option("sick")
    playwright.expect(price(page)).to_have_text("ε = 0.8")
    page.get_by_role("button", name="Learn, and spend it").click()
    playwright.expect(page.locator(".picture svg")).to_be_visible()
    playwright.expect(page.get_by_text("import sulq")).to_be_visible()


@long
def test_an_additive_model_is_learned_and_looked_at(service: Running, pages: Any) -> None:
    page = pages("finn")
    page.goto(f"{service.url}/console/d/people/additive")
    page.get_by_label("What the model tells").select_option("sick")
    page.get_by_label("Share of the budget").fill("1/80")
    playwright.expect(price(page)).to_have_text("ε = 0.1")
    page.get_by_role("button", name="Learn, and spend it").click()
    playwright.expect(page.locator(".picture svg")).to_be_visible()
    playwright.expect(page.get_by_text("sulq.Additive")).to_be_visible()


@long
def test_the_owner_sees_the_question_verifies_and_makes_a_key_that_signs_in(
    service: Running, pages: Any
) -> None:
    ada = pages("ada")
    fill_in(ada, service)
    ada.get_by_label("Share of the budget").fill("1/80")
    ada.get_by_label("Name of the run").fill("seen by the owner")
    ada.get_by_role("button", name="Ask, and spend it").click()
    ada.get_by_role("heading", name="seen by the owner").wait_for()
    page = pages("olga", owner=True)
    page.get_by_role("link", name="people").click()
    page.get_by_role("link", name="Questions").click()
    newest = page.locator("article").first
    playwright.expect(newest).to_contain_text(
        "how many rows by plan; how many rows; the total of age by plan"
    )
    playwright.expect(newest).to_contain_text("ada/seen by the owner")
    playwright.expect(newest).to_contain_text("±")
    page.get_by_role("link", name="Budget").click()
    playwright.expect(page.locator(".picture svg").first).to_be_visible()
    page.get_by_role("button", name="Verify the ledger").click()
    playwright.expect(page.get_by_role("status")).to_contain_text("The ledger is sound")
    page.get_by_role("link", name="Keys").click()
    page.get_by_label("Whose it is").fill("fay")
    page.get_by_label("people").check()
    page.get_by_role("button", name="Make the key").click()
    secret = page.locator("#secret").inner_text()
    fay = pages("fay", secret=secret)
    page.get_by_role("link", name=re.compile("of fay$")).click()
    page.get_by_role("button", name="Revoke the key").click()
    page.get_by_text("revoked").wait_for()
    fay.reload()
    playwright.expect(fay.get_by_role("heading", name="Sign in")).to_be_visible()


@long
def test_it_works_without_scripts(service: Running, pages: Any) -> None:
    page = pages("gina", java_script_enabled=False)
    fill_in(page, service)
    page.get_by_role("button", name="Show the cost").click()
    playwright.expect(price(page)).to_have_text("ε = 0.8")
    page.get_by_role("button", name="Ask, and spend it").click()
    playwright.expect(page.get_by_role("columnheader", name="mean age")).to_be_visible()


@long
def test_pages_fit_a_phone_and_every_field_has_a_name(service: Running, pages: Any) -> None:
    page = pages("olga", owner=True, viewport=PHONE, color_scheme="dark")
    fill_in(page, service)
    page.get_by_label("Share of the budget").fill("1/80")
    page.get_by_role("button", name="Ask, and spend it").click()
    page.get_by_role("columnheader", name="mean age").wait_for()
    here = page.url
    for path in (
        "",
        "/d/people",
        "/d/people/table",
        "/d/people/tree",
        "/d/people/additive",
        "/d/people/budget",
        "/d/people/questions",
        "/keys",
        here,
    ):
        page.goto(path if path == here else f"{service.url}/console{path}")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path
        nameless = page.evaluate(
            "[...document.querySelectorAll('input:not([type=hidden]), select')]"
            ".filter(field => !field.labels.length && !field.ariaLabel).map(field => field.name)"
        )
        assert nameless == [], path
        assert page.evaluate("document.querySelectorAll('th:not([scope])').length") == 0
    dark = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert max(map(int, re.findall(r"\d+", dark)[:3])) < 60

"""What people do on the page of a survey, and what their browser keeps of it."""

from __future__ import annotations

from typing import Any

SENT = "Thank you. Your report was sent."


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
    """Wait for a heading."""
    from playwright.sync_api import expect as shows

    shows(page.get_by_role("heading", name=words)).to_be_visible()


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

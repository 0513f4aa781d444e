"""Reports in a real browser: from files, on a desk and on a phone, in light and dark."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import sulq
from sulq.privacy.budget import budget
from sulq.runs.report import report
from sulq.runs.run import Run
from tests.effort import long

HOW = "`make test-all` installs both, or: apt-get install chromium, and pip install 'sulq[browser]'"
playwright = pytest.importorskip("playwright.sync_api", reason=f"playwright is not installed: {HOW}")
CHROMIUM = os.environ.get("SULQ_BROWSER") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = [long, pytest.mark.skipif(CHROMIUM is None, reason=f"no Chromium is installed: {HOW}")]
LEARNERS: dict[str, Any] = {
    "tree": sulq.ID3("bought_drugs", depth=3),
    "table": sulq.Table(["plan", "sex"], means=["doctor_visits"]),
    "pairs": sulq.Pairs(["age", "sex", "plan", "doctor_visits", "bought_drugs"]),
    "additive": sulq.Additive("bought_drugs", ["age", "sex", "plan", "doctor_visits"]),
}
LIGHT = """element => {
  const channels = getComputedStyle(element).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number);
  return Math.min(...channels) > 200;
}"""


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_report_fits_every_screen_and_asks_nobody(learner: str, browser: Any, tmp_path: Path) -> None:
    """Its picture is turned dark with the page, so that its words can be read there."""
    outcome = Run(LEARNERS[learner], sulq.randhie(), budget(epsilon=4, delta="1e-6")).learn()
    (tmp_path / "report.html").write_text(report(outcome, "A report", "randhie.parquet"), encoding="utf-8")
    for width in (390, 1000):
        for scheme in ("light", "dark"):
            context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
            page = context.new_page()
            asked: list[str] = []
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            page.goto((tmp_path / "report.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert page.locator("body").evaluate(LIGHT) == (scheme == "light")
            turned = page.locator(".picture svg").last.evaluate("each => getComputedStyle(each).filter")
            assert ("invert" in turned) == (scheme == "dark")
            assert len(asked) == 1
            context.close()

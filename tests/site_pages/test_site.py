"""The documentation as a site: built without a warning, complete in itself, and fit to be read."""

from __future__ import annotations

import contextlib
import doctest
import functools
import http.server
import importlib
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import sulq
from tests.effort import long
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.xdist_group("site")  # it is built once
CHROMIUM = os.environ.get("SULQ_BROWSER") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


class Fetched(HTMLParser):
    """What a browser fetches by itself when it shows a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "link" and given.get("rel") != "canonical":
            self.addresses.append(given.get("href") or "")
        if tag in ("script", "img", "iframe", "source", "video", "audio", "object", "embed"):
            self.addresses.append(given.get("src") or given.get("data") or "")


def fetched(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".css":
        return re.findall(r"""(?:url\(|@import)\s*["']?([^"')\s]+)""", text)
    parser = Fetched()
    parser.feed(text)
    return parser.addresses


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built with every warning an error."""
    pytest.importorskip("material", reason="mkdocs-material is not installed: pip install 'sulq[docs]'")
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert built.returncode == 0, built.stderr
    return folder


def test_the_hooks_do_what_their_examples_say() -> None:
    pytest.importorskip("mkdocs")
    assert doctest.testmod(importlib.import_module("mkdocs_hooks")).failed == 0


@long
def test_no_page_of_the_site_names_a_file_of_somebody_else_to_be_fetched(site: Path) -> None:
    for page in [*site.rglob("*.html"), *site.rglob("*.css")]:
        outside = [address for address in fetched(page) if re.match(r"(?!data:)([a-z]+:)?//", address)]
        assert outside == [], page


@long
def test_the_site_has_what_only_it_has(site: Path) -> None:
    results = (site / "benchmarks" / "RESULTS.html").read_text(encoding="utf-8")
    pictures = re.findall(r'<img [^>]*src="([^"]+)"', results)
    assert pictures
    assert all((site / "benchmarks" / picture).is_file() for picture in pictures)
    curator = (site / "reference" / "oracles.html").read_text(encoding="utf-8")
    assert "charges every round to a budget before it looks at a cell" in curator
    assert "<blockquote>" not in curator
    assert re.search(r"<th>Name</th>\s*<th>Type</th>\s*<th>Description</th>", curator)
    home = (site / "index.html").read_text(encoding="utf-8")
    assert f"sulq {sulq.__version__}" in home
    assert re.findall(r"<label for=[^>]*>(Python|Command line)</label>", home) == ["Python", "Command line"]
    assert 'href="tutorial.html"' in home
    assert "--epsilon E" in (site / "reference" / "command-line.html").read_text(encoding="utf-8")
    tutorial = (site / "tutorial.html").read_text(encoding="utf-8")
    assert tutorial.count('src="data:image/svg+xml') == 2


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


LOOKED_AT = ["index", "getting-started", "tables", "models", "gallery", "tutorial", "reference/command-line"]


@long
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_pages_fit_the_screen_and_ask_nobody(site: Path, browser: Any, width: int, scheme: str) -> None:
    """From files, without a server, as the system's colours are. Pictures can be read: all of them are there."""
    page = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme).new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    (site / "404.html").unlink(missing_ok=True)  # only servers show it, from their root
    every = sorted(path for path in site.rglob("*.html") if "data-md-color-scheme" in path.read_text())
    assert len(every) > 40
    for path in every if width == 390 else [site / f"{name}.html" for name in LOOKED_AT]:
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert page.evaluate("[...document.images].every(image => image.naturalWidth > 0)"), path
        shown = page.evaluate("document.body.getAttribute('data-md-color-scheme')")
        assert shown == {"light": "default", "dark": "slate"}[scheme], path
    [text, *_] = sorted((site / "src").rglob("*.py.html"))
    page.goto(text.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert [url for url in asked if not url.startswith(("file:", "data:", "about:"))] == []
    page.context.close()


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


def search(page: Any, address: str, words: str, title: str) -> None:
    """Search for words until a page is among the first three: results follow the letters."""
    page.goto(address)
    page.click("input.md-search__input")
    page.keyboard.type(words, delay=30)
    results = page.locator(".md-search-result__item h1")
    wait_until(lambda: title in results.all_inner_texts()[:3], seconds=60, every=0.2)


@long
@pytest.mark.parametrize("server", [False, True])
def test_search_finds_pages_with_a_server_and_without(site: Path, browser: Any, server: bool) -> None:
    """Small words do not count, and a name of an option is a word."""
    page = browser.new_page()
    with served(site) if server else contextlib.nullcontext(site.as_uri()) as root:
        search(page, f"{root}/index.html", "publish a table", "Tables")
        search(page, f"{root}/index.html", "--quoted-newlines", "Command line")
    page.close()


@long
@pytest.mark.parametrize(
    ("name", "begins"), [("index", "import sulq\npeople ="), ("tables", "sulq table stays.csv --schema")]
)
def test_what_is_copied_from_an_example_can_be_run(site: Path, browser: Any, name: str, begins: str) -> None:
    """Without prompts, and without what was printed."""
    with served(site) as root:  # browsers give the clipboard to no page without a server
        context = browser.new_context()
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = context.new_page()
        page.goto(f"{root}/{name}.html")
        page.locator(".highlight:has(.gp) button").first.click()
        wait_until(lambda: page.evaluate("navigator.clipboard.readText()") != "", seconds=60, every=0.2)
        copied = page.evaluate("navigator.clipboard.readText()")
        context.close()
    assert copied.startswith(begins)
    assert not re.search(r"^(>>>|\$ |\.\.\. )|rehearsal", copied, re.MULTILINE)

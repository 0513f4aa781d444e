"""The console: what every page says and does not say."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import pytest

import sulq
from sulq.serve.opening import opened
from tests.serve.console.visitors import (
    ANALYSTS,
    HOSTILE,
    OWNERS,
    Visitor,
    console,
    nobody,
    text_in,
    visitor,
)
from tests.serve.services import Running


@pytest.mark.parametrize("path", [*ANALYSTS, *OWNERS, "/sign-in"])
def test_every_page_has_a_strict_policy_and_nothing_inline(olga: Visitor, path: str) -> None:
    page = olga.get(path)
    [policy] = page.headers.get_list("content-security-policy")
    assert "default-src 'none'" in policy and "script-src 'self'" in policy and "style-src 'self'" in policy
    assert "unsafe" not in policy and "http" not in policy
    assert page.headers["cache-control"] == "no-store" and page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["referrer-policy"] == "no-referrer" and page.headers["x-frame-options"] == "DENY"
    assert not re.search(r"<style|\sstyle=|<script(?! src=)|\son[a-z]+=|javascript:", page.text)
    elsewhere = re.findall(r'(?:src|href|action)="(?!/console|#|\?|data:,)([^"]*)"', page.text)
    assert not elsewhere


def test_names_that_look_like_html_are_text(tmp_path: Path) -> None:
    columns = {HOSTILE: sulq.Boolean(), "ward": sulq.Category([HOSTILE, "b"]), "x": sulq.Real(0, 1)}
    source = sulq.open({HOSTILE: [True, False], "ward": [HOSTILE, "b"], "x": [0.1, 0.2]}, columns)
    with console(tmp_path) as service:
        service.server.service.desks |= opened(service.server.settings, {"odd name": source.curator(8)})  # type: ignore[operator]
        ada, olga = visitor(service), visitor(service, "olga", owner=True)
        where = {"where-column": "ward", "where-relation": "==", "where-value": HOSTILE}
        asked = ada.post("/d/odd%20name/table", by=[HOSTILE, "ward"], mean="x", run=HOSTILE, **where)
        assert asked.status_code == 303, text_in(asked)
        pages = [
            ada.get(asked.headers["location"].removeprefix("/console")),
            *(ada.get(f"/d/odd%20name{path}") for path in ("", "/table", "/tree", "/additive")),
            ada.get("/d/odd%20name/run", run=HOSTILE),
            *(olga.get(f"/d/odd%20name{path}") for path in ("", "/budget", "/questions")),
            olga.get("/keys"),
            ada.get(f"/d/{HOSTILE.replace('/', '%2F')}"),
        ]
        for page in pages:
            assert "<script>alert" not in page.text and "49" not in page.text.replace("7*7", "")[:200]
        assert all(page.status_code == 200 for page in pages[:-1])
        assert HOSTILE in text_in(pages[0])


def test_no_key_and_no_question_is_in_the_log(
    service: Running, olga: Visitor, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    someone = visitor(service, "logged")
    someone.post("/d/people/table", by="plan", share="1/80", run="a secret run")
    made = olga.post("/keys", name="logged2", every="1")
    secret = re.search(r'id="secret">([^<]+)<', made.text).group(1)  # type: ignore[union-attr]
    lines = "\n".join(f"{record.getMessage()} {getattr(record, 'facts', '')}" for record in caplog.records)
    assert "/console/d/{dataset}/table" in lines
    session = someone.http.cookies["sulq_session"]
    for hidden in (someone.secret, secret, session, "a secret run", "plan"):
        assert hidden not in lines
    for page in (someone.get(""), someone.get("/d/people"), olga.get("/keys")):
        assert someone.secret not in page.text and secret not in page.text and session not in page.text


def test_the_page_is_the_same_whatever_the_rows_are(tmp_path: Path) -> None:
    """Before anything is asked, no page depends on a row."""
    seen = []
    for number, rows in enumerate(([1] * 50, [0] * 50)):
        folder = tmp_path / str(number)
        folder.mkdir()
        source = sulq.open({"y": rows}, {"y": sulq.Boolean()})
        with console(folder) as service:
            service.server.service.desks = opened(service.server.settings, {"data": source.curator(1)})  # type: ignore[assignment]
            ada = visitor(service)
            pages = [ada.get(f"/d/data{path}") for path in ("", "/table", "/tree")]
            pages.append(ada.post("/d/data/table/cost", page="/d/data/table", by="y"))
            token = re.compile(r'value="[0-9a-f]{64}"')
            seen.append([token.sub("", page.text) for page in pages])
    assert seen[0] == seen[1]


def test_files_of_the_pages_are_served_and_nothing_else(service: Running) -> None:
    with nobody(service) as browser:
        for name, kind in (("htmx.min.js", "javascript"), ("pico.min.css", "css"), ("console.css", "css")):
            file = browser.get(f"/console/static/{name}")
            assert file.status_code == 200 and kind in file.headers["content-type"]
        for name in ("README.md", "..%2Fapp.py", "../app.py", "nothing.css"):
            assert browser.get(f"/console/static/{name}").status_code == 404


def test_the_console_is_no_part_of_the_api(service: Running) -> None:
    with nobody(service) as browser:
        assert not any(path.startswith("/console") for path in browser.get("/openapi.json").json()["paths"])


@pytest.mark.parametrize("path", ["/nothing", "/", "/d", "/d/people/nothing", "/keys/x/y", "/%2e%2e/keys"])
def test_an_unknown_address_has_a_page_that_says_so(service: Running, ada: Visitor, path: str) -> None:
    for answer in (ada.get(path), ada.http.post(f"/console{path}")):
        assert answer.status_code == 404 and answer.headers["content-type"].startswith("text/html")
        assert "there is no page at this address" in text_in(answer)
        assert "default-src 'none'" in answer.headers["content-security-policy"]
    with nobody(service) as browser:
        assert browser.get(f"/console{path}").status_code == 404
    assert ada.http.put("/console/keys").status_code == 404

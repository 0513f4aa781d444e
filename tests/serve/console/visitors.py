"""Somebody with a browser that runs no script: pages, forms with their tokens, and a cookie."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx

from tests.serve.services import Running, running

HOSTILE = "<script>alert('x')</script>\"&{{7*7}}"


@dataclass
class Visitor:
    """A browser without scripts."""

    http: httpx.Client
    secret: str

    def get(self, path: str, **params: Any) -> httpx.Response:
        return self.http.get(f"/console{path}", params=params or None)

    def post(self, path: str, /, page: str | None = None, **fields: Any) -> httpx.Response:
        """Send a form from a page, with the token that is on it."""
        token = token_in(self.get(path if page is None else page))
        return self.send(path, csrf=token, **fields)

    def send(self, path: str, /, headers: Any = None, **fields: Any) -> httpx.Response:
        body = urlencode(fields, doseq=True)
        form = {"content-type": "application/x-www-form-urlencoded"} | (headers or {})
        return self.http.post(f"/console{path}", content=body, headers=form)


def token_in(page: httpx.Response) -> str:
    return re.findall(r'name="csrf" value="([0-9a-f]{64})"', page.text)[-1]


def text_in(page: httpx.Response) -> str:
    """What a page says, without its tags."""
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page.text)))


def visitor(service: Running, name: str = "ada", owner: bool = False, **about: Any) -> Visitor:
    """Somebody who has signed in."""
    secret = service.keys.add(name, "owner" if owner else "analyst", **about)
    someone = Visitor(httpx.Client(base_url=service.url, timeout=60, verify=False), secret)
    response = someone.post("/sign-in", key=secret)
    assert response.status_code == 303 and response.headers["location"] == "/console"
    return someone


@contextmanager
def console(folder: Path, **changes: Any) -> Iterator[Running]:
    with running(folder, limits={"rounds_a_minute": 100_000}, **changes) as service:
        yield service

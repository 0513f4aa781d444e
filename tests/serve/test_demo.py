"""`make serve-demo`: a service that anybody can sign in to with the keys that it prints."""

from __future__ import annotations

import re

import httpx
import pytest

from sulq.serve.demo import CAP, serve_sample
from sulq.serve.server import Server
from tests.serve.console.visitors import Visitor, text_in


def test_the_demo_prints_keys_that_sign_in(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = {}

    def run(server: Server) -> None:
        keys = dict(re.findall(r"(\w+) +(sulq_\S+)", capsys.readouterr().out))
        with server:
            for name, secret in keys.items():
                with httpx.Client(base_url=server.url, timeout=60, verify=False) as browser:
                    someone = Visitor(browser, secret)
                    assert someone.post("/sign-in", key=secret).status_code == 303
                    pages[name] = text_in(someone.get(""))

    monkeypatch.setattr(Server, "run", run)
    serve_sample(port=0)
    assert set(pages) == {"olga", "ada", "bob"}
    assert "Budget" in pages["olga"] and f"{CAP} left for you" in pages["ada"] and "people" in pages["bob"]

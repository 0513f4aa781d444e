"""The console: who gets in, for how long, and which forms are taken."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from sulq.serve.console.sessions import IDLE, LONGEST, Sessions
from sulq.serve.keys import Keys
from sulq.serve.refusals import RefusedError
from tests.serve.console.visitors import (
    ANALYSTS,
    OWNERS,
    TABLE,
    Visitor,
    console,
    nobody,
    text_in,
    token_in,
    visitor,
)
from tests.serve.services import Running


@pytest.mark.parametrize("path", [*ANALYSTS, *OWNERS, "/d/people/run", "/d/people/table/result"])
def test_who_is_not_signed_in_sees_no_page(service: Running, path: str) -> None:
    with nobody(service) as browser:
        page = browser.get(f"/console{path}")
        assert (page.status_code, page.headers["location"]) == (303, "/console/sign-in")
        piece = browser.get(f"/console{path}", headers={"hx-request": "true"})
        assert (piece.status_code, piece.headers["hx-redirect"]) == (401, "/console/sign-in")


@pytest.mark.parametrize("path", OWNERS)
def test_an_analyst_does_not_see_the_owners_pages(ada: Visitor, olga: Visitor, path: str) -> None:
    assert ada.get(path).status_code == 403
    assert olga.get(path).status_code == 200


def test_an_analyst_cannot_do_what_is_the_owners(service: Running, ada: Visitor) -> None:
    token, before = token_in(ada.get("")), len(service.keys.list())
    for path in ("/keys", "/keys/revoke", "/d/people/caps", "/d/people/verify"):
        assert ada.send(path, csrf=token, name="eve", every="1", cap="8").status_code == 403
    assert len(service.keys.list()) == before


def test_a_session_is_a_random_cookie_that_no_script_reads(service: Running) -> None:
    someone = visitor(service)
    page = someone.get("")
    assert someone.secret not in page.text and page.status_code == 200
    with nobody(service) as browser:
        first = browser.get("/console/sign-in")
        cookie = first.headers["set-cookie"].lower()
        assert "httponly" in cookie and "samesite=strict" in cookie and "path=/console" in cookie
        assert "secure" not in cookie  # no TLS at this machine
        before = browser.cookies["sulq_session"]
        body = {"csrf": token_in(first), "key": someone.secret}
        signed = browser.post("/console/sign-in", data=body)
        assert signed.status_code == 303 and someone.secret not in str(signed.headers)
        assert browser.cookies["sulq_session"] != before  # nobody can plant a session


def test_a_cookie_is_for_tls_alone_where_there_is_tls(tmp_path: Path) -> None:
    with console(tmp_path, server={"behind_proxy": True}) as service, nobody(service) as browser:
        assert "; secure" in browser.get("/console/sign-in").headers["set-cookie"].lower()


def test_a_wrong_key_does_not_sign_in(service: Running) -> None:
    old = service.keys.add("old", expires=datetime.now(UTC) - timedelta(seconds=1))
    for secret, words in (("sulq_x_wrong", "not known here"), (old, "has expired"), ("", "not known here")):
        with nobody(service) as browser:
            someone = Visitor(browser, secret)
            page = someone.post("/sign-in", key=secret)
            assert page.status_code == 401 and words in text_in(page)
            assert not secret or secret not in page.text
            assert someone.get("").status_code == 303


def test_signing_out_ends_the_session_also_for_a_copied_cookie(service: Running) -> None:
    someone = visitor(service)
    copied = dict(someone.http.cookies)
    assert someone.post("/sign-out", page="").headers["location"] == "/console/sign-in"
    with nobody(service) as browser:
        browser.cookies.update(copied)
        assert browser.get("/console").status_code == 303


def test_a_revoked_key_ends_its_sessions_at_once(service: Running, olga: Visitor) -> None:
    someone = visitor(service, "gone")
    assert someone.get("").status_code == 200
    [key] = [key for key in service.keys.list() if key.name == "gone"]
    assert olga.post("/keys/revoke", page="/keys", id=key.id).status_code == 303
    assert someone.get("").status_code == 303


def test_sessions_end_by_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sulq.serve.console.sessions.MOST", most := 100)
    now = [0.0]
    sessions = Sessions(clock=lambda: now[0])
    with Keys(tmp_path / "keys") as keys:
        key = keys.of(keys.add("ada"))
        idle, long = sessions.begin(key), sessions.begin(key)
        while now[0] <= LONGEST - IDLE:
            now[0] += IDLE
            assert sessions.key_of(long, keys).id == key.id
        now[0] += IDLE
        for session in (idle, long):
            with pytest.raises(RefusedError, match="sign in"):
                sessions.key_of(session, keys)
        first = sessions.begin(key)
        for _ in range(most):
            sessions.begin(key)
        with pytest.raises(RefusedError, match="sign in"):
            sessions.key_of(first, keys)


@pytest.mark.parametrize(
    "path",
    ["/sign-out", "/d/people/table", "/d/people/table/cost", "/d/people/tree", "/d/people/additive", "/d/people/verify", "/keys",
     "/keys/revoke", "/d/people/caps", "/sign-in"],
)  # fmt: skip
def test_a_form_from_elsewhere_is_refused(service: Running, olga: Visitor, ada: Visitor, path: str) -> None:
    spent, keys = service.curator.spent, len(service.keys.list())
    good = token_in(olga.get(""))
    fields = {**TABLE, "label": "sick", "name": "eve", "every": "1", "cap": "8", "key": olga.secret}
    for token in ("", "x", token_in(ada.get("")), good[:-1]):
        page = olga.send(path, csrf=token, **fields)
        assert page.status_code == 403 and "from elsewhere" in text_in(page)
    foreign = olga.send(path, headers={"sec-fetch-site": "cross-site"}, csrf=good, **fields)
    assert foreign.status_code == 403
    as_json = olga.http.post(f"/console{path}", json={"csrf": good})
    assert as_json.status_code == 415
    assert (service.curator.spent, len(service.keys.list())) == (spent, keys)
    assert olga.get("").status_code == 200


def test_too_large_a_form_is_refused(tmp_path: Path) -> None:
    with console(tmp_path) as service:
        with nobody(service) as browser:
            token = token_in(browser.get("/console/sign-in"))
            someone = Visitor(browser, "")
            many = {f"field{number}": "x" for number in range(6_000)}
            assert someone.send("/sign-in", csrf=token, **many).status_code == 400
            assert someone.send("/sign-in", csrf=token, key="x" * 2**21).status_code == 413
        assert service.curator.spent == Fraction(0)

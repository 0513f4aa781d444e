"""The console: what its owner sees and does, and what others do not see."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from urllib.parse import unquote

import pytest

import sulq
from sulq.ledger import pages as pages_module
from sulq.serve.refusals import RefusedError
from tests.serve.console.visitors import (
    HOSTILE,
    TABLE,
    Visitor,
    console,
    text_in,
    token_in,
    visitor,
)
from tests.serve.services import Running


def test_a_cap_is_shown_and_holds(service: Running, olga: Visitor) -> None:
    bob = visitor(service, "bob")
    assert olga.post("/d/people/caps", page="/d/people/budget", name="bob", cap="1/20").status_code == 303
    assert "0.05 left for you" in text_in(bob.get("/d/people"))
    price = text_in(bob.post("/d/people/table/cost", page="/d/people/table", **TABLE))
    assert "more than what is left" in price
    refused = bob.post("/d/people/table", **TABLE)
    assert refused.status_code == 409 and str(
        sulq.BudgetError("epsilon", Fraction(1, 10), Fraction(1, 20))
    ) in text_in(refused)
    assert "bob" in text_in(olga.get("/d/people/budget"))
    for fields in ({"name": "bob", "cap": "-1"}, {"name": "", "cap": "1"}, {"name": "bob", "cap": "x"}):
        assert olga.post("/d/people/caps", page="/d/people/budget", **fields).status_code == 400


def test_analysts_do_not_see_each_others_runs(service: Running, ada: Visitor, olga: Visitor) -> None:
    eve = visitor(service, "eve")
    ada.post("/d/people/table", **TABLE, run="only adas")
    assert "only adas" in text_in(ada.get("/d/people"))
    assert "only adas" not in text_in(eve.get("/d/people"))
    for run in ("only adas", "ada/only adas", "../ada/only adas"):
        assert eve.get("/d/people/run", run=run).status_code == 404
        assert eve.get("/d/people/table/result", **TABLE, run=run).status_code == 404
    assert "ada/only adas" in text_in(olga.get("/d/people"))


def test_the_owner_sees_every_question_with_its_cost_and_answer(
    service: Running, ada: Visitor, olga: Visitor
) -> None:
    ada.post("/d/people/table", by="plan", share="1/80", run="seen")
    page = olga.get("/d/people/questions")
    words = text_in(page)
    assert "charged, to analyst:ada: how many rows by plan" in words
    assert "ada/seen" in words and "cost ε = 0.1" in words and "±" in words and "<svg" in page.text
    run = text_in(olga.get("/d/people/run", run="ada/seen"))
    assert "Charged ε = 0.1" in run and "how many rows by plan" in run
    while 'href="?before=' in page.text:
        before = re.search(r"\?before=(\d+)", page.text).group(1)  # type: ignore[union-attr]
        page = olga.get("/d/people/questions", before=before)
    assert "no. 1," in text_in(page) or "no. 2," in text_in(page)


def test_the_budget_is_drawn_verified_and_sealed(service: Running, ada: Visitor, olga: Visitor) -> None:
    ada.post("/d/people/table", by="sick", share="1/80", run="drawn")
    page = olga.get("/d/people/budget")
    day = datetime.now(UTC).date().isoformat()[:7]
    assert all(words in text_in(page) for words in ("by analyst", "by run", "by day", "ada/drawn", day))
    sound = olga.post("/d/people/verify", page="/d/people/budget", seal="")
    assert "The ledger is sound" in text_in(sound) and service.curator.ledger.seal in sound.text
    kept = olga.post("/d/people/verify", page="/d/people/budget", seal=service.curator.ledger.seal)
    assert "so does the seal you kept" in text_in(kept)
    wrong = olga.post("/d/people/verify", page="/d/people/budget", seal="0" * 64)
    assert "The ledger is not sound" in text_in(wrong) and "no entry has the hash" in text_in(wrong)


def test_a_new_key_is_shown_once_and_works(service: Running, olga: Visitor) -> None:
    page = olga.post("/keys", name="fred", datasets="people", expires="2999-01-01")
    secret = re.search(r'id="secret">([^<]+)<', page.text).group(1)  # type: ignore[union-attr]
    key = service.keys.of(secret)
    assert (key.name, key.scope, key.datasets) == ("fred", "analyst", ("people",))
    later = olga.get("/keys")
    assert secret not in later.text and key.id in later.text and "fred" in later.text
    for fields in (
        {"name": "a/b", "every": "1"},
        {"name": "g", "expires": "soon", "every": "1"},
        {"name": "h"},
    ):
        refused = olga.post("/keys", **fields)
        assert refused.status_code == 400 and 'id="secret"' not in refused.text
    assert olga.post("/keys/revoke", page="/keys", id=HOSTILE).status_code == 404


def test_pages_of_the_owner_read_no_more_than_they_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with console(tmp_path) as service:
        ledger = service.curator.ledger
        for number in range(300):
            name = f"analyst:a{number % 130:03}"
            ledger.release(f"run {number}", f"q {number}", Fraction(1, 10**6), lambda: "1", account=name)
        olga = visitor(service, "olga", owner=True)
        first = olga.get("/d/people/budget")
        assert "a099" in text_in(first) and "200 more are not listed" in text_in(first)
        read: list[int] = []
        entry_in = pages_module.entry_in
        monkeypatch.setattr(pages_module, "entry_in", lambda row: read.append(row[0]) or entry_in(row))
        monkeypatch.setattr(type(ledger), "entries", None)  # nothing reads all of it
        monkeypatch.setattr(type(ledger), "accounts", None)
        ledger.release("new run", "q", Fraction(1, 10**6), lambda: "1", account="analyst:new")
        again = olga.get("/d/people/budget")
        assert len(read) == 2
        assert "0.000301" in text_in(again)
        more = olga.get(
            "/d/people/budget", after=unquote(re.search(r'"\?after=([^"]*)"', first.text).group(1))
        )  # type: ignore[union-attr]
        assert "a129" in text_in(more) and "More accounts" not in more.text
        read.clear()
        questions = olga.get("/d/people/questions", before=301)
        assert len(read) <= 100 and "no. 299," in text_in(questions) and "no. 301," not in text_in(questions)
        assert "not answered" not in text_in(questions)


def test_a_key_is_revoked_only_once_that_is_confirmed(service: Running, olga: Visitor, ada: Visitor) -> None:
    key = service.keys.of(service.keys.add("leaving", datasets=["people"]))
    link = re.search(rf'href="/console(/keys/revoke\?id={key.id})"', olga.get("/keys").text)
    assert link is not None and 'action="/console/keys/revoke"' not in olga.get("/keys").text
    page = olga.get(link.group(1))
    assert "Revoke this key?" in text_in(page) and "leaving, analyst" in text_in(page)
    assert service.keys.still(key.id).revoked is None  # looking at it changes nothing
    assert olga.send("/keys/revoke", csrf=token_in(page), id=key.id).status_code == 303
    with pytest.raises(RefusedError, match="was revoked"):
        service.keys.still(key.id)
    assert olga.get(link.group(1)).status_code == 404
    assert ada.get(link.group(1)).status_code == 403
    [mine] = [each for each in service.keys.list() if each.id == olga.secret.split("_")[1]]
    assert "you are signed in with" in text_in(olga.get("/keys/revoke", id=mine.id))

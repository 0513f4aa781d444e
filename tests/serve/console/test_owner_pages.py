"""The console: what its owner sees and does, and what others do not see."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from fractions import Fraction

import sulq
from tests.serve.console.visitors import (
    HOSTILE,
    TABLE,
    Visitor,
    text_in,
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

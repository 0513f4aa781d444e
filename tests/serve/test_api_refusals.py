"""The HTTP API: to whom it says nothing, in which words it refuses, and what is written down."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

import sulq
from sulq.errors import ReleaseError
from sulq.serve.desk import Desk
from tests.serve.services import Client, Running, code, counted
from tests.waiting import wait_until

SICK = counted(where="sick")


@pytest.mark.parametrize("path", ["ledger", "verification", "accounts"])
def test_what_is_the_owners_is_not_an_analysts(ada: Client, path: str) -> None:
    assert code(ada.get(f"/v1/datasets/people/{path}")) == (403, "not_allowed")
    assert code(ada.http.put("/v1/datasets/people/caps/analyst:ada", json={"cap": "8"})) == (
        403,
        "not_allowed",
    )


def test_a_key_that_is_not_valid_opens_nothing(service: Running) -> None:
    expired = service.client("old", expires=datetime.now(UTC) - timedelta(seconds=1))
    assert code(expired.get("/v1/datasets")) == (401, "key_expired")
    with httpx.Client(base_url=service.url, verify=False) as nobody:
        assert code(nobody.get("/v1/datasets")) == (401, "key_missing")
        in_url = nobody.get("/v1/datasets", params={"key": service.client("hans").secret})
        assert code(in_url) == (401, "key_missing")
    good = service.client("ida").secret
    for wrong in ("x", "sulq_0_0", good[:-1], f"{good}x", good.swapcase(), "sulq__", "ü" * 40):
        headers = {"authorization": f"Bearer {wrong}".encode()}
        assert code(httpx.get(f"{service.url}/v1/datasets", headers=headers, verify=False)) == (
            401,
            "key_unknown",
        )
    twice = httpx.get(
        f"{service.url}/v1/datasets",
        headers=[("authorization", f"Bearer {good}"), ("authorization", "Bearer x")],
        verify=False,
    )
    assert code(twice) == (401, "key_missing")


def test_a_key_for_other_data_sets_does_not_see_that_there_are_more(service: Running) -> None:
    other = service.client("jan", datasets=["elsewhere"])
    assert other.get("/v1/datasets").json() == {"datasets": []}
    hidden, missing = other.get("/v1/datasets/people"), other.get("/v1/datasets/nothing")
    assert code(hidden) == code(missing) == (404, "not_found")
    assert hidden.text.replace("people", "nothing") == missing.text


def test_refusals_have_the_words_used_in_process_and_spend_nothing(service: Running, ada: Client) -> None:
    before = service.curator.spent
    for wrong in (
        counted(where="nobody"),
        sulq.Round([sulq.total("plan")], "1/80"),
        sulq.Round([sulq.count(where="sick")]),
        sulq.Round([sulq.total(sulq.row_function(lambda row: row["age"], ["age"], 0, 1))], "1/80"),
    ):
        refused = ada.ask(wrong)
        assert code(refused) == (400, "refused")
        with pytest.raises(sulq.SulqError) as same:
            # As a reader of the round has it: of a Python function only the name crosses.
            service.curator.ask(sulq.Round.of(wrong.form))
        assert refused.json()["error"]["message"] == str(same.value)
    assert service.curator.spent == before


def test_whatever_goes_wrong_after_the_charge_has_one_text(
    service: Running, ada: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    source, texts = service.curator.source, set()
    for place, error in enumerate([ValueError("row 7 of Ms Miller"), MemoryError(), ReleaseError()]):

        def broken(*_: object, error: Exception = error) -> None:
            raise error

        monkeypatch.setattr(source, "sums", broken)
        with caplog.at_level(logging.INFO):
            failed = ada.ask(SICK, f"broken {place}")
        assert code(failed) == (500, "release_failed")
        texts.add(failed.text)
        monkeypatch.undo()
        # Asked again, it is answered under the charge.
        before = service.curator.spent
        assert ada.ask(SICK, f"broken {place}").status_code == 200
        assert service.curator.spent == before
    assert len(texts) == 1
    assert str(ReleaseError()) in texts.pop()
    assert "Miller" not in caplog.text


def test_an_error_that_nobody_thought_of_is_told_and_written_down_without_its_words(
    service: Running, ada: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise ValueError("row 7 of Ms Miller")

    monkeypatch.setattr(Desk, "about", broken)
    with caplog.at_level(logging.INFO):
        failed = ada.get("/v1/datasets/people")
    assert code(failed) == (500, "failed") and "Miller" not in failed.text
    [written] = [record for record in caplog.records if record.getMessage() == "failed"]
    assert vars(written)["facts"] == {"code": "failed", "error": "ValueError"} and written.exc_info is None


def test_nothing_secret_is_written_down(service: Running, caplog: pytest.LogCaptureFixture) -> None:
    def lines() -> list[Any]:
        records = [record for record in caplog.records if record.name == "sulq.serve"]
        return [record for record in records if vars(record)["facts"].get("key") == number]

    kim = service.client("kim")
    number = service.keys.of(kim.secret).id
    with caplog.at_level(logging.DEBUG, logger="sulq.serve"):
        value = kim.ask(SICK, "a run").json()["answers"][0]["value"]
        kim.get("/v1/datasets/people/results", run="a run")
        kim.ask(counted(where="nobody"))
        wait_until(lambda: len(lines()) >= 3)  # the last is written once its response was sent
    written = " ".join(str(vars(record)) for record in lines())
    assert len(lines()) == 3
    for secret in (kim.secret, kim.secret.split("_", 2)[2], str(value), "nobody", "a run", "count"):
        assert secret not in written
    facts = [vars(record)["facts"] for record in lines()]
    assert facts[2]["code"] == "refused" and facts[0]["route"] == "/v1/datasets/{dataset}/ask"
    assert all(set(fact) <= {"method", "route", "status", "code", "key"} for fact in facts)

"""The HTTP API: what it answers, to whom, and in which words it refuses."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import pytest

import sulq
from sulq.errors import ReleaseError
from sulq.serve.desk import Desk
from sulq.talk.offer import Offer
from tests.serve.services import Client, Running, code, counted, running

SICK = counted(where="sick")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("service"), limits={"rounds_a_minute": 100_000}) as service:
        yield service


@pytest.fixture(scope="module")
def ada(service: Running) -> Client:
    return service.client("ada")


@pytest.fixture(scope="module")
def owner(service: Running) -> Client:
    return service.client("olga", owner=True)


def test_an_offer_crosses_as_it_is(service: Running, ada: Client) -> None:
    [about] = ada.get("/v1/datasets").json()["datasets"]
    assert about == ada.get("/v1/datasets/people").json()
    assert Offer.of(about["offer"]).form == service.curator.offer.form
    assert about["name"] == "people" and about["unit"] == "epsilon" and about["total"] == "8"


def test_a_quote_says_cost_and_error_as_in_process_and_spends_nothing(service: Running, ada: Client) -> None:
    before = service.curator.spent
    quote = ada.quote(SICK, "quoted", beta=0.01).json()
    offer = service.curator.offer
    assert Fraction(quote["cost"]) == offer.cost(SICK)
    assert quote["error"] == offer.error(SICK, 0.01)
    assert quote["charged"] is False and service.curator.spent == before
    ada.ask(SICK, "quoted")
    assert ada.quote(SICK, "quoted").json()["charged"] is True


def test_the_same_round_in_the_same_run_is_answered_once_and_charged_once(
    service: Running, ada: Client
) -> None:
    before = service.curator.spent
    first = ada.ask(SICK, "again")
    assert first.status_code == 200
    assert service.curator.spent - before == service.curator.offer.cost(SICK)
    assert ada.ask(SICK, "again").json() == first.json()
    assert service.curator.spent - before == service.curator.offer.cost(SICK)


def test_a_result_is_read_again_at_no_cost(service: Running, ada: Client) -> None:
    told = ada.ask(SICK, "results").json()["answers"]
    before = service.curator.spent
    charge, answer = ada.get("/v1/datasets/people/results", run="results").json()["results"]
    assert (charge["kind"], answer["kind"]) == ("charge", "answer")
    assert charge["round"] == SICK.form and answer["answers"] == told
    assert Fraction(charge["cost"]) == service.curator.offer.cost(SICK)
    page = ada.get("/v1/datasets/people/results", run="results", most=1).json()
    assert page["more"] and len(page["results"]) == 1
    assert ada.get("/v1/datasets/people/results", run="results", after=10**6).json()["results"] == []
    assert service.curator.spent == before


def test_one_run_is_found_among_all(service: Running, ada: Client) -> None:
    names = ["a run", "a/run", "ein Lauf äöü", "50 %", "a+b & c?d=e#f"]
    for name in names:
        ada.ask(SICK, name)
        [run] = ada.get("/v1/datasets/people/runs", run=name).json()["runs"]
        assert (run["run"], run["charges"], run["answers"]) == (name, 1, 1)
        assert sulq.connect(service.url, ada.secret, "people").spent_by(name) == Fraction(run["spent"]) > 0
    assert set(names) <= {run["run"] for run in ada.get("/v1/datasets/people/runs").json()["runs"]}
    assert ada.get("/v1/datasets/people/runs", run="not asked").json() == {"runs": [], "more": False}


@pytest.mark.parametrize(("path", "name"), [("runs", "run"), ("accounts", "account")])
def test_lists_come_a_page_at_a_time(service: Running, owner: Client, path: str, name: str) -> None:
    for analyst in ("fay", "gus", "hal"):
        service.client(analyst).ask(SICK, "a run")
    whole = owner.get(f"/v1/datasets/people/{path}", most=1000).json()
    assert not whole["more"] and len(whole[path]) >= 3
    items: list[dict[str, str]] = []
    after: dict[str, str] = {}
    while True:
        page = owner.get(f"/v1/datasets/people/{path}", most=2, **after).json()
        items += page[path]
        if not page["more"]:
            break
        assert len(page[path]) == 2
        after = {"after": page[path][-1][name]}
    assert items == whole[path]


def test_analysts_do_not_see_each_other(service: Running, owner: Client) -> None:
    carl, dora = service.client("carl"), service.client("dora")
    told = carl.ask(SICK, "secret").json()
    assert "secret" not in [run["run"] for run in dora.get("/v1/datasets/people/runs").json()["runs"]]
    assert dora.get("/v1/datasets/people/results", run="secret").json()["results"] == []
    assert dora.quote(SICK, "secret").json()["charged"] is False
    before = service.curator.spent
    dora.ask(SICK, "secret")
    assert service.curator.spent > before  # her own run, which she pays for
    # A name cannot reach into another's runs, and the owner sees all of them.
    assert dora.get("/v1/datasets/people/results", run="../carl/secret").json()["results"] == []
    assert {"carl/secret", "dora/secret"} <= {
        run["run"] for run in owner.get("/v1/datasets/people/runs").json()["runs"]
    }
    assert owner.ask(SICK, "carl/secret").json() == told


def test_caps_hold_and_are_told_in_the_words_used_in_process(service: Running, owner: Client) -> None:
    emil = service.client("emil")
    path = "/v1/datasets/people/caps/analyst:emil"
    assert owner.http.put(path, json={"cap": "1/8"}).json() == {"account": "analyst:emil", "cap": "1/8"}
    assert emil.get("/v1/datasets/people").json()["remaining"] == "1/8"
    assert emil.ask(SICK, "a").status_code == 200
    refused = emil.ask(SICK, "b")
    assert code(refused) == (409, "budget")
    assert refused.json()["error"]["message"] == str(
        sulq.BudgetError("epsilon", Fraction(1, 10), Fraction(1, 40), account="analyst:emil")
    )
    assert refused.json()["error"]["budget"] == {
        "unit": "epsilon",
        "requested": "1/10",
        "remaining": "1/40",
        "account": "analyst:emil",
        "what": "the charge",
    }
    lower = owner.http.put(path, json={"cap": "1/80"})
    assert code(lower) == (409, "conflict") and "has spent 1/10 already" in lower.text
    accounts = owner.get("/v1/datasets/people/accounts").json()["accounts"]
    assert {"account": "analyst:emil", "spent": "1/10", "cap": "1/8"} in accounts


def test_the_owner_reads_and_verifies_the_ledger(service: Running, owner: Client, ada: Client) -> None:
    ada.ask(SICK, "ledger")
    page = owner.get("/v1/datasets/people/ledger", most=1000).json()
    entries = list(service.curator.ledger.entries())
    assert [entry["hash"] for entry in page["entries"]] == [entry.hash for entry in entries]
    seal = ada.get("/v1/datasets/people/seal").json()["seal"]
    assert seal == entries[-1].hash
    assert owner.get("/v1/datasets/people/verification", seal=seal).json() == {
        "sound": True,
        "faults": [],
        "seal": seal,
    }
    wrong = owner.get("/v1/datasets/people/verification", seal="0" * 64).json()
    assert not wrong["sound"] and "no entry has the hash" in wrong["faults"][0]


def test_keys_are_made_listed_and_revoked_by_the_owner_alone(service: Running, owner: Client) -> None:
    made = owner.post("/v1/keys", {"name": "fred", "datasets": ["people"], "expires": "2999-01-01"})
    fred = service.client_with(made.json()["key"])
    assert fred.get("/v1/datasets/people").status_code == 200
    assert code(fred.get("/v1/keys")) == (403, "not_allowed")
    [kept] = [key for key in owner.get("/v1/keys").json()["keys"] if key["name"] == "fred"]
    assert kept["expires"] == "2999-01-01T00:00:00+00:00" and "hash" not in kept
    assert fred.secret.split("_", 2)[2] not in owner.get("/v1/keys").text
    owner.http.delete(f"/v1/keys/{kept['id']}")
    assert code(fred.get("/v1/datasets/people")) == (401, "key_revoked")
    assert code(owner.http.delete("/v1/keys/nobody")) == (404, "not_found")
    assert code(owner.post("/v1/keys", {"name": "a/b"})) == (400, "refused")
    assert code(owner.post("/v1/keys", {"name": "gina", "expires": "soon"})) == (400, "refused")


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
    with httpx.Client(base_url=service.url) as nobody:
        assert code(nobody.get("/v1/datasets")) == (401, "key_missing")
        in_url = nobody.get("/v1/datasets", params={"key": service.client("hans").secret})
        assert code(in_url) == (401, "key_missing")
    good = service.client("ida").secret
    for wrong in ("x", "sulq_0_0", good[:-1], f"{good}x", good.swapcase(), "sulq__", "ü" * 40):
        headers = {"authorization": f"Bearer {wrong}".encode()}
        assert code(httpx.get(f"{service.url}/v1/datasets", headers=headers)) == (401, "key_unknown")
    twice = httpx.get(
        f"{service.url}/v1/datasets",
        headers=[("authorization", f"Bearer {good}"), ("authorization", "Bearer x")],
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
        while len(lines()) < 3:  # the last is written once its response was sent
            time.sleep(0.01)
    written = " ".join(str(vars(record)) for record in lines())
    assert len(lines()) == 3
    for secret in (kim.secret, kim.secret.split("_", 2)[2], str(value), "nobody", "a run", "count"):
        assert secret not in written
    facts = [vars(record)["facts"] for record in lines()]
    assert facts[2]["code"] == "refused" and facts[0]["route"] == "/v1/datasets/{dataset}/ask"
    assert all(set(fact) <= {"method", "route", "status", "code", "key"} for fact in facts)


@contextmanager
def slow(
    service: Running, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[threading.Event, threading.Event]]:
    """Sums that begin, and go on when they are told to."""
    began, go = threading.Event(), threading.Event()
    sums = service.curator.source.sums

    def wait(*parts: Any) -> Any:
        began.set()
        assert go.wait(60)
        return sums(*parts)

    monkeypatch.setattr(service.curator.source, "sums", wait)
    try:
        yield began, go
    finally:
        go.set()


def test_while_rows_are_summed_others_are_listened_to(
    service: Running, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    liv, mia = service.client("liv"), service.client("mia")
    ada.ask(SICK, "stored")
    at_once = service.server.settings.limits.at_once
    with slow(service, monkeypatch) as (began, go), ThreadPoolExecutor(at_once) as pool:
        asking = [pool.submit(liv.ask, SICK, f"slow {place}") for place in range(at_once)]
        assert began.wait(60)
        while service.server.service.traffic.at_once < at_once:
            time.sleep(0.01)
        # Who has asked as much as one may at once waits; nobody else does.
        assert code(liv.ask(SICK, "one more")) == (429, "too_many")
        assert mia.quote(SICK).status_code == mia.get("/healthz").status_code == 200
        assert ada.ask(SICK, "stored").status_code == 200
        go.set()
        assert all(each.result().status_code == 200 for each in asking)


def test_a_service_that_is_told_to_stop_gives_the_answers_that_it_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ThreadPoolExecutor(1) as pool, running(tmp_path) as service:
        ada = service.client("ada")
        with slow(service, monkeypatch) as (began, go):
            asking = pool.submit(ada.ask, SICK)
            assert began.wait(60)
            service.server._server.should_exit = True
            while service.server._server.servers and service.server._server.servers[0].is_serving():
                time.sleep(0.01)
            go.set()
            assert asking.result().status_code == 200


def test_health_and_metrics_need_no_key_and_say_nothing_of_anyone(service: Running, ada: Client) -> None:
    ada.ask(SICK, "metrics")
    with httpx.Client(base_url=service.url) as nobody:
        assert nobody.get("/healthz").json() == {"status": "ok"}
        assert nobody.get("/readyz").json() == {"status": "ready"}
        counts = nobody.get("/metrics")
    assert 'method="POST",route="/v1/datasets/{dataset}/ask",status="200"' in counts.text
    for name in ("ada", "people", "sick", "epsilon"):
        assert name not in counts.text


def test_every_response_says_its_version_and_may_not_be_kept(service: Running, ada: Client) -> None:
    for response in (ada.get("/v1/datasets"), ada.get("/nothing"), ada.get("/healthz")):
        assert response.headers["sulq-api"] == "1"
        assert response.headers["cache-control"] == "no-store"
        assert "default-src 'none'" in response.headers["content-security-policy"]
        assert "server" not in response.headers


def test_the_description_has_every_route_and_every_code(service: Running) -> None:
    description = httpx.get(f"{service.url}/openapi.json").json()
    paths = description["paths"]
    assert {path for path in paths if path.startswith("/v1")} == {
        "/v1/datasets",
        "/v1/datasets/{dataset}",
        *(f"/v1/datasets/{{dataset}}/{each}" for each in ("quote", "ask", "runs", "results", "seal")),
        *(f"/v1/datasets/{{dataset}}/{each}" for each in ("ledger", "verification", "accounts")),
        "/v1/datasets/{dataset}/caps/{account}",
        "/v1/keys",
        "/v1/keys/{number}",
    }
    ask: Any = paths["/v1/datasets/{dataset}/ask"]["post"]
    assert set(ask["requestBody"]["content"]["application/json"]["schema"]["properties"]) == {
        "round",
        "run",
        "allowance",
    }
    assert {"200", "400", "401", "409", "429"} <= set(ask["responses"])
    assert httpx.get(f"{service.url}/docs").status_code == 404  # it would fetch scripts from elsewhere


def test_nothing_is_measured_for_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FASTAPI_OTEL_AUTO_CONFIGURE", "true")
    with running(tmp_path) as service:
        app = service.server._server.config.app._app  # type: ignore[union-attr]
        switches = {name: value for name, value in app._telemetry.items() if isinstance(value, bool)}
        assert switches and not any(switches.values())


def test_a_service_that_ends_finishes_what_it_began(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        ada = service.client("ada")
        ada.ask(SICK)
        path = service.curator.ledger.path
    assert path is not None
    with sulq.Ledger.read(path) as ledger:
        assert ledger.verify() == [] and len(list(ledger.entries())) == 2
    with pytest.raises(httpx.TransportError):
        ada.get("/healthz")

"""The HTTP API: what it answers, and to whom."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import pytest

import sulq
from sulq.talk.offer import Offer
from tests.serve.services import Client, Running, code, counted, running

SICK = counted(where="sick")


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
    charge, answer = ada.results("results", 2)
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
        ada.results(name, 2)
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
    seal = owner.get("/v1/datasets/people/seal").json()["seal"]
    assert seal == entries[-1].hash
    assert entries[-2].kind == "charge"
    assert ada.get("/v1/datasets/people/seal").json()["seal"] == entries[-2].hash
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


def test_health_and_metrics_need_no_key_and_say_nothing_of_anyone(service: Running, ada: Client) -> None:
    ada.ask(SICK, "metrics")
    with httpx.Client(base_url=service.url, verify=False) as nobody:
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
    description = httpx.get(f"{service.url}/openapi.json", verify=False).json()
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
    assert (
        httpx.get(f"{service.url}/docs", verify=False).status_code == 404
    )  # it would fetch scripts from elsewhere


def test_nothing_is_measured_for_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FASTAPI_OTEL_AUTO_CONFIGURE", "true")
    with running(tmp_path) as service:
        app = service.server._listener._server.config.app._app  # type: ignore[union-attr]
        switches = {name: value for name, value in app._telemetry.items() if isinstance(value, bool)}
        assert switches and not any(switches.values())

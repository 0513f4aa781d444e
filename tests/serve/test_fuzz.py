"""Whatever follows from the API's own description, and real questions with one thing changed: no failure."""

from __future__ import annotations

import copy
import json
import logging
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
import schemathesis.specs.openapi.schemas  # not while a server runs in a thread: Python 3.11 may fail to compile then
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

import sulq
from tests.effort import either
from tests.serve.services import SCHEMA, Client, Running, running

QUICKLY = settings(
    max_examples=either(4, 60),
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
    database=None,
)
AGE, SICK = sulq.col("age"), sulq.col("sick")
QUESTIONS: dict[str, list[Any]] = {
    "counts": [sulq.count(), sulq.count(where="sick", by="plan")],
    "totals": [sulq.total(AGE, where=(AGE > 30) & ~SICK), sulq.total(sulq.clip(AGE * 2 - 1, 0, 50))],
    "means": [sulq.mean(AGE, by="plan"), sulq.mean(SICK, where=AGE < 50)],
    "several": [sulq.count(by=["plan", "sick"]), sulq.count(where=sulq.col("plan") == "free")],
}
LEARNERS = [sulq.ID3("sick", depth=1), sulq.KMeans(2, ["age"]), sulq.Table(["plan"], medians=["age"])]
FIRST = [next(learner.rounds(sulq.Schema.of(tomllib.loads(SCHEMA)))).form for learner in LEARNERS]
REAL = [sulq.Round(queries, "1/50000").form for queries in QUESTIONS.values()]
REAL += [form | {"share": "1/50000"} for form in FIRST]
ODD = st.sampled_from(
    [
        None,
        True,
        -1,
        0,
        2**63,
        1e308,
        -0.0,
        0.5,
        "",
        "sick",
        "nobody",
        "1/0",
        "1e9",
        "\u0000",
        [],
        [[]],
        {},
        "age",
    ]
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    limits = {"rounds_a_minute": 10**6, "numbers": 20_000, "queries": 50}
    about = {"limits": limits, "server": {"answers_after": 0}, "dataset": {"epsilon": 1000}}
    with running(tmp_path_factory.mktemp("service"), **about) as service:
        yield service


@pytest.fixture(scope="module")
def owner(service: Running) -> Client:
    return service.client("owner", owner=True)


def operations(described: Any) -> list[Any]:
    return [operation.ok() for operation in described.get_all_operations()]


def test_whatever_follows_from_the_description_is_answered_as_it_says(
    service: Running, owner: Client, caplog: pytest.LogCaptureFixture
) -> None:
    described = schemathesis.openapi.from_dict(owner.get("/openapi.json").json())
    statuses: set[int] = set()
    secrets = {"analyst": service.client("ada").secret, "owner": owner.secret}
    for operation in operations(described):
        if operation.method == "delete":  # of keys: what they are is another test
            continue

        @QUICKLY
        @given(operation.as_strategy(), st.sampled_from(sorted(secrets)), st.booleans())
        def tried(case: Any, who: str, there: bool) -> None:
            if "dataset" in case.path_parameters and there:
                case.path_parameters["dataset"] = "people"
            headers = {"authorization": f"Bearer {secrets[who]}"}
            response = case.call(base_url=service.url, headers=headers)
            statuses.add(response.status_code)
            checks = [not_a_server_error, response_schema_conformance, status_code_conformance]
            case.validate_response(response, checks=checks)
            assert "Traceback" not in response.text

        with caplog.at_level(logging.INFO, logger="sulq.serve"):
            tried()
    assert {200, 400} <= statuses and max(statuses) < 500
    assert not [record for record in caplog.records if record.getMessage() == "failed"]
    assert not any(secret in caplog.text for secret in secrets.values())


def places(form: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all values in a form."""
    inside = form.items() if isinstance(form, dict) else enumerate(form) if isinstance(form, list) else ()
    for name, value in inside:
        yield (*here, name)
        yield from places(value, (*here, name))


@st.composite
def changed(draw: st.DrawFn) -> Any:
    """A real round, in which up to two things are others, twice there, or gone."""
    form = copy.deepcopy(draw(st.sampled_from(REAL)))
    for _ in range(draw(st.integers(0, 2))):
        *path, last = draw(st.sampled_from(sorted(places(form), key=str)))
        inside: Any = form
        for name in path:
            inside = inside[name]
        match draw(st.sampled_from(["odd", "gone", "moved"])):
            case "odd":
                inside[last] = copy.deepcopy(draw(ODD))
            case "gone":
                del inside[last]
            case "moved":
                *elsewhere, name = draw(st.sampled_from(sorted(places(form), key=str)))
                value: Any = form
                for step in (*elsewhere, name):
                    value = value[step]
                inside[last] = copy.deepcopy(value)
        if not list(places(form)):
            break
    return form


def test_real_questions_with_something_changed_are_answered_or_refused(
    service: Running, caplog: pytest.LogCaptureFixture
) -> None:
    ada = service.client("ada")
    statuses: list[int] = []

    @settings(QUICKLY, max_examples=either(150, 1500))
    @given(changed(), st.sampled_from(["ask", "quote"]), st.sampled_from(["main", "other"]))
    def tried(form: Any, path: str, run: str) -> None:
        before = service.curator.spent
        body = json.dumps({"round": form, "run": run}).encode()
        headers = {"content-type": "application/json"}
        response = ada.http.post(f"/v1/datasets/people/{path}", content=body, headers=headers)
        statuses.append(response.status_code)
        assert response.status_code in (200, 400, 409), (form, response.text)
        # 20,000 numbers may be asked for; a refusal is a line.
        longest = 1_000_000 if response.status_code == 200 else 50_000
        assert "Traceback" not in response.text and len(response.content) < longest
        if response.status_code != 200 or path == "quote":
            assert service.curator.spent == before

    with caplog.at_level(logging.INFO, logger="sulq.serve"):
        tried()
    assert statuses.count(200) > len(statuses) / 10 and statuses.count(400) > len(statuses) / 10
    assert not [record for record in caplog.records if record.getMessage() == "failed"]


def test_a_story_of_a_key_leads_from_its_making_to_its_end(service: Running, owner: Client) -> None:
    """As the links of the description go: a key is made, asks, reads what it was told, and is revoked."""
    secret = owner.post("/v1/keys", {"name": "eve"}).json()["key"]
    eve = service.client_with(secret)
    for place, form in enumerate(REAL):
        answers = eve.post("/v1/datasets/people/ask", {"round": form, "run": f"run {place}"}).json()[
            "answers"
        ]
        told = eve.results(f"run {place}", 2)
        assert told[-1]["answers"] == answers and told[0]["round"] == form
    assert len(eve.get("/v1/datasets/people/runs").json()["runs"]) == len(REAL)
    number = secret.split("_")[1]
    assert owner.http.delete(f"/v1/keys/{number}").status_code == 200
    assert eve.get("/v1/datasets").status_code == 401

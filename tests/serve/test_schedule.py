"""The schedule: when an answer leaves follows from public facts, whatever the rows were."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from sulq.errors import QueryError
from sulq.serve import departures
from sulq.serve import schedule as module
from sulq.serve.schedule import Schedule
from tests.serve.services import code, counted, running
from tests.waiting import wait_until

SICK = counted(where="sick")


def test_the_grid_doubles() -> None:
    schedule = Schedule(0.1)
    assert [schedule.after(ready) for ready in (0, 0.1, 0.1001, 0.3, 0.8, 0.81)] == [
        0.1,
        0.1,
        0.2,
        0.4,
        0.8,
        1.6,
    ]


@pytest.mark.parametrize("first", [-1, 3601, float("nan"), True, "1"])
def test_a_grid_is_a_number_of_seconds(first: Any) -> None:
    with pytest.raises(QueryError, match="the schedule's first time"):
        Schedule(first)


def test_an_answer_waits_for_its_time_and_not_longer() -> None:
    schedule = Schedule(0.05)
    arrived = time.monotonic()
    asyncio.run(schedule.wait(arrived - 0.06))
    assert time.monotonic() - arrived >= 0.04 - 1e-3


def test_answers_replays_refusals_and_failures_all_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []

    async def wait(self: Schedule, arrived: float) -> None:
        waited.append(arrived)

    monkeypatch.setattr(module.Schedule, "wait", wait)
    with running(tmp_path, dataset={"caps": {"ada": 2}}) as service:
        ada = service.client("ada")
        assert ada.ask(SICK).status_code == 200
        assert ada.ask(SICK).status_code == 200
        assert code(ada.ask(counted("1", where="sick"), "dear")) == (409, "budget")
        monkeypatch.setattr(service.curator.source, "sums", None)
        assert code(ada.ask(SICK, "broken")) == (500, "release_failed")
        assert len(waited) == 4
        ada.quote(SICK)  # no row is looked at
        assert len(waited) == 4


def test_until_it_leaves_an_answer_counts_among_those_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: list[int] = []
    with running(tmp_path) as service:

        async def wait(self: Schedule, arrived: float) -> None:
            counts.append(service.server.service.traffic.at_once)

        monkeypatch.setattr(module.Schedule, "wait", wait)
        service.client("ada").ask(SICK)
    assert counts == [1]


FIRST = 0.5
"""Seconds: long enough for a busy machine to be done within the first slot."""


def test_nothing_that_an_analyst_sees_tells_when_an_answer_was_ready(tmp_path: Path) -> None:
    """A ledger has the times at which answers are stored: neither these nor the moment can be seen."""
    with running(tmp_path, server={"answers_after": FIRST}) as service, ThreadPoolExecutor(1) as pool:
        ada, olga = service.client("ada"), service.client("olga", owner=True)
        asked = pool.submit(ada.ask, SICK, "mine")
        stored = service.curator.ledger
        wait_until(lambda: len(list(stored.entries("ada/mine"))) >= 2, every=0.001)
        charge, answer = stored.entries("ada/mine")
        unseen = datetime.now(UTC) < datetime.fromisoformat(charge.time) + timedelta(seconds=FIRST * 0.9)
        looks = [
            len(ada.get("/v1/datasets/people/results", run="mine").json()["results"]),
            ada.get("/v1/datasets/people/runs", run="mine").json()["runs"][0]["answers"],
            ada.get("/v1/datasets/people/runs").json()["runs"][0]["answers"],
        ]
        if unseen and datetime.now(UTC) < datetime.fromisoformat(charge.time) + timedelta(seconds=FIRST):
            assert looks == [1, 0, 0]
        assert ada.get("/v1/datasets/people/seal").json()["seal"] == charge.hash
        assert olga.get("/v1/datasets/people/seal").json()["seal"] == answer.hash
        assert asked.result().status_code == 200
        _, seen = ada.results("mine", 2)
        took = datetime.fromisoformat(seen["time"]) - datetime.fromisoformat(charge.time)
        assert took.total_seconds() / FIRST in (1, 2, 4, 8, 16)
        for runs in (
            ada.get("/v1/datasets/people/runs").json(),
            ada.get("/v1/datasets/people/runs", run="mine").json(),
        ):
            assert runs["runs"][0]["last"] == seen["time"] != answer.time
        assert olga.results("ada/mine", 2)[1]["time"] == answer.time


def test_an_answer_that_is_asked_for_again_does_not_leave_before_the_first_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise copies of a question, sent one after the other, would find out when it was ready."""
    with running(tmp_path) as service:
        ada = service.client("ada")
        ada.ask(SICK, "mine")
        charge, answer = service.curator.ledger.entries("ada/mine")
        desk = service.server.service.desks["people"]
        slept: list[float] = []
        monkeypatch.setattr(departures.time, "sleep", slept.append)
        object.__setattr__(desk, "schedule", Schedule(3600))
        assert ada.ask(SICK, "mine").status_code == 200
        assert ada.ask(SICK, "another").status_code == 200  # is new, and leaves on the schedule alone
        [seconds] = slept
        assert 3000 < seconds <= 3600
        object.__setattr__(desk, "schedule", Schedule(0))
        departures.wait_until_left([charge, answer], Schedule(0))
        departures.wait_until_left([charge], Schedule(3600))
        assert slept[1:] == [0.0]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/datasets/people/ask", {"round": SICK.form, "run": "late"}),
        ("/v1/keys", {"name": "eve", "scope": "owner"}),
    ],
)
def test_a_key_that_is_revoked_while_a_request_arrives_does_nothing_more(
    tmp_path: Path, path: str, body: dict[str, Any]
) -> None:
    with running(tmp_path) as service:
        olga = service.client("olga", owner=True)
        text = json.dumps(body).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {olga.secret}\r\n"
        )
        head += f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n"
        address = urlsplit(service.url)
        with socket.create_connection((address.hostname, address.port), timeout=60) as link:
            link.sendall(head.encode() + text[:5])
            # Once this is answered, the head before it was read.
            assert code(service.client_with("sulq_x_y").get("/v1/datasets")) == (401, "key_unknown")
            service.keys.revoke(olga.secret.split("_")[1])
            link.sendall(text[5:])
            response = b"".join(iter(lambda: link.recv(10_000), b"")).decode()
        assert response.startswith("HTTP/1.1 401") and "key_revoked" in response
        assert service.curator.spent == 0 and "eve" not in [key.name for key in service.keys.list()]

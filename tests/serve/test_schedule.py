"""The schedule: when an answer leaves follows from public facts, whatever the rows were."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from sulq.errors import QueryError
from sulq.serve import schedule as module
from sulq.serve.schedule import Schedule
from tests.serve.services import code, counted, running

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

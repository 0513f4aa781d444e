"""Many clients at once, and a server that is killed: charges cover answers, and nothing is charged twice."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

import sulq
from sulq.serve.keys import Keys
from tests.effort import either
from tests.serve.services import counted, running, write_people
from tests.waiting import wait_until

CLIENTS, RELEASES = 64, 20
RACES, KILLS = either(1, 20), either(1, 100)


@pytest.mark.parametrize("repetition", range(RACES))
def test_so_many_clients_race_and_exactly_as_many_are_answered_as_can_be_paid(
    tmp_path: Path, repetition: int
) -> None:
    caps = {"eager": "3/20"}
    with running(tmp_path, dataset={"epsilon": 1, "caps": caps}, limits={"at_once": CLIENTS}) as service:
        eager = service.client("eager").secret
        secrets = [
            eager if place % 4 == 0 else service.client(f"c{place}").secret for place in range(CLIENTS)
        ]
        oracles = [sulq.connect(service.url, secret, "people") for secret in secrets]
        start = threading.Barrier(CLIENTS)

        def race(place: int) -> Any:
            start.wait()
            try:
                [answer] = oracles[place].ask(counted(f"1/{RELEASES}", where="sick"), f"run {place}")
                return answer.value
            except sulq.BudgetError as refused:
                return refused

        with ThreadPoolExecutor(CLIENTS) as pool:
            results = list(pool.map(race, range(CLIENTS)))
        answered = [place for place, result in enumerate(results) if not isinstance(result, sulq.BudgetError)]
        assert len(answered) == RELEASES
        assert sum(place % 4 == 0 for place in answered) <= 3
        assert all(isinstance(result, float | sulq.BudgetError) for result in results)
        ledger = service.curator.ledger
        assert ledger.remaining == 0 and ledger.verify() == []
        assert ledger.spent_of("analyst:eager") <= Fraction(3, 20)
        kinds = Counter(entry.kind for entry in ledger.entries())
        assert kinds["charge"] == kinds["answer"] == RELEASES


@contextmanager
def process(folder: Path, port: int, ready: bool = True) -> Iterator[subprocess.Popen[bytes]]:
    """A server of its own, which is gone when the block ends.

    Args:
        folder: where its data is.
        port: where it listens.
        ready: whether it answers when the block begins; if not, it may just be starting.
    """
    data, schema = str(folder / "people.csv"), str(folder / "people.toml")
    options = ["--epsilon", "1000", "--port", str(port)]
    started = subprocess.Popen(
        [sys.executable, "-m", "sulq", "serve", data, "--schema", schema, *options],
        stdout=subprocess.DEVNULL,
        stderr=(folder / "log").open("ab"),
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        deadline = time.monotonic() + 120
        while ready:
            try:
                httpx.get(f"http://127.0.0.1:{port}/readyz", verify=False).raise_for_status()
                break
            except httpx.HTTPError:
                assert started.poll() is None and time.monotonic() < deadline
                time.sleep(0.05)
        yield started
    finally:
        started.kill()
        started.wait()


def answered_more(told: dict[tuple[str, str], float], many: int, asking: list[Future[None]]) -> bool:
    """Whether so many answers came by now. Who asks goes on asking."""
    assert not any(each.done() for each in asking)
    return len(told) >= many


def test_a_server_that_is_killed_under_load_charges_nothing_twice(tmp_path: Path) -> None:
    clients, cost = 4, Fraction(1, 10)
    write_people(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with Keys(tmp_path / "people.csv.keys") as keys:
        secrets = [keys.add(f"c{place}") for place in range(clients)]
    told: dict[tuple[str, str], float] = {}
    done = threading.Event()

    def ask(place: int) -> None:
        remote = sulq.connect(f"http://127.0.0.1:{port}", secrets[place], "people", patience=120)
        for question in range(10_000):
            if done.is_set():
                return
            run = f"run {question}"
            [answer] = remote.ask(counted("1/10000", where="sick"), run)
            told[f"c{place}/{run}", "sick"] = float(answer.value)

    with ThreadPoolExecutor(clients) as pool:
        try:
            for kill in range(KILLS):
                starting = kill % 5 == 4  # killed before it answers anybody, or soon after
                with process(tmp_path, port, ready=not starting) as server:
                    if kill == 0:
                        asking = [pool.submit(ask, place) for place in range(clients)]
                    if not starting:
                        wait_until(partial(answered_more, told, len(told) + 3, asking))
                    time.sleep(random.uniform(0, 2 if starting else 0.2))
                    server.kill()  # as `kill -9`
            with process(tmp_path, port):
                done.set()
                for each in asking:
                    each.result()
                # Whoever asks again is told the same.
                remote = sulq.connect(f"http://127.0.0.1:{port}", secrets[0], "people")
                spent = remote.spent
                mine = [(run, value) for (run, _), value in told.items() if run.startswith("c0/")]
                for run, value in random.sample(mine, min(10, len(mine))):
                    [answer] = remote.ask(counted("1/10000", where="sick"), run.removeprefix("c0/"))
                    assert answer.value == value
                assert remote.spent == spent
        finally:
            done.set()
    with sulq.Ledger.read(tmp_path / "people.csv.ledger") as ledger:
        assert ledger.verify() == []
        charges = Counter((entry.run, entry.question) for entry in ledger.entries() if entry.kind == "charge")
        answers = Counter((entry.run, entry.question) for entry in ledger.entries() if entry.kind == "answer")
        assert max(charges.values()) == max(answers.values()) == 1
        assert set(answers) <= set(charges)
        assert {run for run, _ in told} <= {run for run, _ in answers}
        assert ledger.spent == len(charges) * cost
        # Whoever was cut off asked again, so every charge has its answer.
        assert set(charges) == set(answers)
    assert "Traceback" not in (tmp_path / "log").read_text()

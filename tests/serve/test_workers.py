"""Several processes serve together: one budget, one set of keys, and whoever ends is replaced."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import pytest

import sulq
from sulq.errors import SulqError
from sulq.serve.keys import Keys
from tests.effort import long
from tests.postgres import PostgresServer
from tests.serve.services import counted, settings, write_people
from tests.waiting import wait_until

CLIENTS, RELEASES, WORKERS = 64, 20, 3
pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are found in /proc")
CONFIGURATION = """
[server]
port = 0
answers_after = 0.002
workers = {workers}
[limits]
at_once = 64
[datasets.people]
data = "people.csv"
schema = "people.toml"
epsilon = 1
ledger = "{ledger}"
caps = {{ eager = "3/20" }}
"""


@dataclass(frozen=True)
class Running:
    """A service in processes of its own."""

    url: str
    process: subprocess.Popen[str]
    folder: Path

    def client(self, secret: str) -> httpx.Client:
        return httpx.Client(
            base_url=self.url, headers={"authorization": f"Bearer {secret}"}, timeout=60, verify=False
        )

    def workers(self) -> list[int]:
        """The processes that answer: all that were started by the first, but for Python's own helper."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [int(pid) for pid in children if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]

    def wait_for(self, number: int) -> list[int]:
        deadline = time.monotonic() + 60
        while True:
            try:
                if len(self.workers()) == number and httpx.get(f"{self.url}/readyz").status_code == 200:
                    return self.workers()
            except httpx.HTTPError:
                pass
            assert self.process.poll() is None and time.monotonic() < deadline, self.log()
            time.sleep(0.1)

    def log(self) -> str:
        return (self.folder / "log").read_text()


@contextmanager
def serving(folder: Path, ledger: str, workers: int = WORKERS) -> Iterator[Running]:
    write_people(folder)
    (folder / "curator.toml").write_text(CONFIGURATION.format(ledger=ledger, workers=workers))
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "sulq", "serve", str(folder / "curator.toml")],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUNBUFFERED": "1"},
        )
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("serving people at "), (folder / "log").read_text()
            running = Running(line.split()[3].rstrip(";"), process, folder)
            running.wait_for(workers)
            yield running
        finally:
            process.terminate()
            process.wait(60)
            process.stdout.close()


def wait_until_gone(processes: list[int]) -> None:
    """Whoever is left when the process that started them was killed ends by itself."""
    wait_until(lambda: not any(Path(f"/proc/{process}").exists() for process in processes))


@long
def test_so_many_clients_race_over_several_processes_and_exactly_what_can_be_paid_is_answered(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    for repetition in range(5):
        folder = tmp_path / str(repetition)
        folder.mkdir()
        ledger = postgres.url()
        with serving(folder, ledger) as service, Keys(folder / "curator.keys") as keys:
            eager = keys.add("eager")
            secrets = [eager if place % 4 == 0 else keys.add(f"c{place}") for place in range(CLIENTS)]
            oracles = [sulq.connect(service.url, secret, "people") for secret in secrets]
            start = threading.Barrier(CLIENTS)

            def race(place: int, oracles: Any = oracles, start: Any = start) -> Any:
                start.wait()
                try:
                    [answer] = oracles[place].ask(counted(f"1/{RELEASES}", where="sick"), f"run {place}")
                    return answer.value
                except sulq.BudgetError as refused:
                    return refused

            with ThreadPoolExecutor(CLIENTS) as pool:
                results = list(pool.map(race, range(CLIENTS)))
            answered = [place for place, each in enumerate(results) if not isinstance(each, sulq.BudgetError)]
            assert len(answered) == RELEASES
            assert all(isinstance(result, float | sulq.BudgetError) for result in results)
            workers = service.workers()
            assert len(workers) == WORKERS
            service.process.kill()
            wait_until_gone(workers)
        with sulq.Ledger.read(ledger) as kept:
            assert kept.remaining == 0 and kept.verify() == []
            assert kept.spent_of("analyst:eager") <= Fraction(3, 20)
            kinds = Counter(entry.kind for entry in kept.entries())
            assert kinds["charge"] == kinds["answer"] == RELEASES


def test_processes_share_keys_and_sessions_are_replaced_and_end_together(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    ledger = postgres.url()
    with serving(tmp_path, ledger, workers=2) as service, Keys(tmp_path / "curator.keys") as keys:
        before = service.workers()
        secret = keys.add("ada")
        body = {"round": counted("1/10", where="sick").form, "run": "main"}

        def everywhere(secret: str, path: str = "/v1/datasets") -> set[int]:
            """What a request meets in connections of its own, which both processes take."""
            statuses = set()
            for _ in range(12):
                with service.client(secret) as client:
                    statuses.add(client.get(path).status_code)
            return statuses

        assert everywhere(secret) == {200}
        with service.client(secret) as client:
            first = client.post("/v1/datasets/people/ask", json=body).json()

        browser = httpx.Client(base_url=service.url, timeout=60, headers={"connection": "close"})
        page = browser.get("/console/sign-in").text
        token = page.partition('name="csrf" value="')[2].partition('"')[0]
        signed = browser.post("/console/sign-in", data={"csrf": token, "key": secret})
        assert signed.status_code == 303, signed.text
        assert {browser.get("/console").status_code for _ in range(12)} == {200}

        with service.client(keys.add("boss", "owner")) as client:
            changed = client.put("/v1/datasets/people/caps/analyst:eager", json={"cap": "1/10"})
            assert changed.status_code == 200, changed.text
        os.kill(before[0], signal.SIGKILL)
        wait_until(lambda: service.log().count('"started"') >= 3)
        assert before[1] in service.wait_for(2) and before[0] not in service.workers()
        with service.client(secret) as client:
            assert client.post("/v1/datasets/people/ask", json=body).json() == first

        keys.revoke(secret.split("_")[1])
        assert everywhere(secret) == {401}
        last = service.workers()
    assert service.process.returncode == 0
    for worker in last:
        with pytest.raises(ProcessLookupError):
            os.kill(worker, 0)
    assert "Traceback" not in service.log() and "worker replaced" in service.log()
    with sulq.Ledger.read(ledger) as kept:
        assert (kept.spent, kept.verify()) == (Fraction(1, 10), [])
        assert kept.remaining_of("analyst:eager") == Fraction(1, 10), "whoever came later set no cap"


@pytest.mark.parametrize("ledger", [{}, {"ledger": "people.ledger"}])
def test_several_workers_are_refused_a_ledger_in_a_file(tmp_path: Path, ledger: dict[str, str]) -> None:
    with pytest.raises(SulqError, match=r"3 workers cannot share the ledger of people, which is a file"):
        settings(tmp_path, server={"workers": 3}, dataset=ledger)
    assert settings(tmp_path, server={"workers": 1}, dataset=ledger).workers == 1


@pytest.mark.parametrize("workers", [0, 65, "2", 1.5, True])
def test_the_number_of_workers_is_a_number(tmp_path: Path, workers: Any) -> None:
    with pytest.raises(SulqError, match="workers"):
        settings(tmp_path, server={"workers": workers})

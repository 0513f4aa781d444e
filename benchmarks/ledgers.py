"""Releases a second of ledgers in a SQLite file and in Postgres, with and without shared commits, by processes and threads.

A release is two durable commits. Both stores are on the same disk, in the same run, and take turns.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

from measure import say, table
from sulq.ledger.ledger import Ledger

sys.path.insert(0, str(Path(__file__).parent.parent))

CLIENTS, RELEASES, TURNS = (1, 4, 16), 160, 3
TOTAL = Fraction(10**6)


def section() -> str:
    """The section of RESULTS.md."""
    with _postgres() as server, tempfile.TemporaryDirectory() as folder:
        places = {
            "SQLite": lambda: str(Path(folder, os.urandom(8).hex())),
            "Postgres": server.url,
        }
        lines = []
        for clients in CLIENTS:
            ways = {
                "threads, each with a commit of its own": _threads,
                "threads that share commits": _shared,
                "processes": _processes,
            }
            for way, work in ways.items():
                cells: list[str] = []
                taken: dict[str, list[tuple[float, float]]] = {name: [] for name in places}
                for _ in range(TURNS):
                    for name, place in places.items():
                        taken[name].append(work(place(), clients))
                for name in places:
                    rate, late = (statistics.median(each) for each in zip(*taken[name], strict=True))
                    cells += [f"{rate:.0f}", f"{1e3 * late:.0f}"]
                say("ledgers,", clients, way, cells)
                lines.append([clients, way, *cells])
    return "\n".join(
        [
            "## Ledgers in SQLite and in Postgres",
            "",
            f"{RELEASES} releases of two durable commits each, by so many clients on one ledger; medians of {TURNS} turns, in which",
            "the stores take turns on one disk. A second number is the slowest release of all, in milliseconds: processes that",
            "race for a SQLite file wait at random, those that queue in Postgres wait their turn. The server is on this machine,",
            "which was busy with other work: only cells of one line can be compared.",
            "",
            *table(
                ["clients", "", "SQLite, a second", "slowest, ms", "Postgres, a second", "slowest, ms"], lines
            ),
            "",
        ]
    )


@contextmanager
def _postgres() -> Iterator[Any]:
    """A server on the disk, and not in memory as in the tests."""
    from tests import postgres

    postgres._memory = lambda: None
    server = postgres.PostgresServer()
    try:
        yield server
    finally:
        server.stop()


def _opened(place: str) -> Ledger:
    return Ledger(place, "epsilon", TOTAL, {})


def _releases(ledger: Ledger, name: int, number: int) -> list[float]:
    seconds = []
    for question in range(number):
        begun = time.perf_counter()
        ledger.release(
            f"run {name}", str(question), Fraction(1, 100), lambda: "[1.5]", account=f"analyst:{name}"
        )
        seconds.append(time.perf_counter() - begun)
    return seconds


def _outcome(wall: float, seconds: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Releases a second, and the longest that one took."""
    return sum(map(len, seconds)) / wall, max(map(max, seconds))


def _in_threads(ledger: Ledger, clients: int) -> tuple[float, float]:
    with ThreadPoolExecutor(clients) as pool:
        begun = time.perf_counter()
        seconds = list(pool.map(lambda name: _releases(ledger, name, RELEASES // clients), range(clients)))
        outcome = _outcome(time.perf_counter() - begun, seconds)
    ledger.close()
    return outcome


def _threads(place: str, clients: int) -> tuple[float, float]:
    return _in_threads(_opened(place), clients)


def _shared(place: str, clients: int) -> tuple[float, float]:
    return _in_threads(_opened(place).shared(), clients)


def _processes(place: str, clients: int) -> tuple[float, float]:
    _opened(place).close()
    context = multiprocessing.get_context("fork")
    barrier, results = context.Barrier(clients + 1), context.SimpleQueue()

    def work(name: int) -> None:
        with _opened(place) as ledger:
            barrier.wait()
            results.put(_releases(ledger, name, RELEASES // clients))

    workers = [context.Process(target=work, args=(name,)) for name in range(clients)]
    for worker in workers:
        worker.start()
    barrier.wait()
    begun = time.perf_counter()
    seconds = [results.get() for _ in workers]
    wall = time.perf_counter() - begun
    for worker in workers:
        worker.join()
    return _outcome(wall, seconds)

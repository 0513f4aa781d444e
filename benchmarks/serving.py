"""The service against asking in process: processor time and latency of a small round, and 10,000 releases on one ledger.

The service runs in a process of its own, with its schedule off: a schedule adds waiting, not work. Processor time is the
server's alone, so the work of clients and of other programs on the machine does not count.
"""

from __future__ import annotations

import http.client
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import sulq
from measure import say, table
from sulq.serve.config import ServiceSettings, settings_of
from sulq.serve.keys import Keys
from sulq.serve.opening import opened
from sulq.serve.server import Server

ROWS, ROUNDS, TURNS, CLIENTS = 2_000, 100, 7, 16
RELEASES, STEP = 10_000, 1_000
GOAL = 3.0
"""Milliseconds of processor time that the service may add to a small round."""
FLAT = 1.25
SCHEMA = """
[columns.sick]
type = "boolean"
[columns.plan]
type = "category"
values = ["free", "paid", "none"]
"""
ROUND = sulq.Round([sulq.count(where="sick", by="plan")], "1/50000")
PAGES = {
    "the first entries": "ledger?most=100",
    "the last entries": "ledger?most=100&after={last}",
    "runs": "runs?most=100",
    "accounts": "accounts?most=100",
    "what is left": "",
}


def section() -> str:
    """The section of RESULTS.md."""
    costs = _in_turns()
    with _served() as service:
        steps, pages = [], {}
        for step in range(RELEASES // STEP):
            steps.append(service.ask(CLIENTS, STEP, f"step {step}"))
            say("serving, releases", (step + 1) * STEP, steps[-1])
            if step in (0, RELEASES // STEP - 1):
                pages[step] = service.pages(2 * STEP * (step + 1) - 100)
        faults = service.get("verification")["faults"]
    lines = []
    for clients, (alone, served) in costs.items():
        part = served.processor - alone.processor
        own = f"{part:.2f}" if part <= GOAL else f"**{part:.2f}** (missed)"
        lines += [["in process", clients, *alone.cells(), "–"], ["served", clients, *served.cells(), own]]
    return "\n".join(
        [
            "## The service, against asking in process",
            "",
            f"A count in three groups under a condition, {ROWS:,} rows, a new release each time, the ledger in a SQLite file; the",
            "schedule is off. Processor time is the server's, in milliseconds a round; latencies are a client's. The service's",
            f"own part is what it takes beyond asking in process, with as many threads; goal: at most {GOAL:g} ms. Medians of",
            f"{TURNS} turns of {ROUNDS} rounds each.",
            "",
            *table(
                ["", "clients", "rounds a second", "median, ms", "99 %, ms", "processor, ms", "own part, ms"],
                lines,
            ),
            "",
            *_growth(steps, pages, faults),
        ]
    )


def _in_turns() -> dict[int, tuple[Cost, Cost]]:
    """What rounds cost in process and served, by the number of clients; they take turns, as machines are shared."""
    costs = {}
    with tempfile.TemporaryDirectory() as folder, _served() as service:
        program = Program(opened(_settings(Path(folder)))["people"].curator)
        for clients in (1, CLIENTS):
            turns: tuple[list[Cost], list[Cost]] = ([], [])
            for turn in range(TURNS + 1):
                askers: tuple[Any, Any] = (program, service)
                for place, asker in enumerate(askers):
                    turns[place].append(asker.ask(clients, ROUNDS, f"{clients} at once {turn}"))
            costs[clients] = (
                Cost.median_of(turns[0][1:]),
                Cost.median_of(turns[1][1:]),
            )  # the first warms up
            say("serving,", clients, costs[clients])
        program.curator.ledger.close()
    return costs


def _growth(
    steps: Sequence[Cost], pages: dict[int, dict[str, float]], faults: Sequence[str]
) -> Iterator[str]:
    """The lines on a ledger that grows."""
    ratio = steps[-1].processor / statistics.median(step.processor for step in steps[:3])
    yield f"{RELEASES:,} releases on one ledger, {CLIENTS} clients, processor time of a round in milliseconds, by thousands:"
    yield ""
    yield from table(
        [f"{STEP * (place + 1):,}" for place in range(len(steps))],
        [[f"{step.processor:.2f}" for step in steps]],
    )
    flat = "flat" if ratio <= FLAT else f"**not flat, goal {FLAT}** (missed)"
    yield ""
    yield f"The last thousand takes {ratio:.2f} times what the median of the first three takes: {flat}. {_sound(faults)}"
    yield "Looking at the ledger, by a page of 100, in milliseconds of processor time:"
    yield ""
    first, last = sorted(pages)
    yield from table(
        ["", f"after {STEP:,} releases", f"after {RELEASES:,}"],
        [[name, f"{pages[first][name]:.1f}", f"{pages[last][name]:.1f}"] for name in PAGES],
    )
    yield ""


def _sound(faults: Sequence[str]) -> str:
    return "The ledger verifies." if not faults else f"**The ledger has {len(faults)} faults** (missed)."


@dataclass(frozen=True)
class Cost:
    """What rounds took: rounds a second, and milliseconds of latency and of processor time a round."""

    a_second: float
    median: float
    late: float
    processor: float

    @classmethod
    def of(cls, seconds: Sequence[float], wall: float, processor: float) -> Cost:
        in_order = sorted(seconds)
        late = in_order[min(len(in_order) - 1, int(0.99 * len(in_order)))]
        return cls(
            len(seconds) / wall, 1e3 * statistics.median(seconds), 1e3 * late, 1e3 * processor / len(seconds)
        )

    @classmethod
    def median_of(cls, costs: Sequence[Cost]) -> Cost:
        names = ("a_second", "median", "late", "processor")
        return cls(*(statistics.median(getattr(cost, name) for cost in costs) for name in names))

    def cells(self) -> list[str]:
        return [f"{self.a_second:.0f}", f"{self.median:.1f}", f"{self.late:.1f}", f"{self.processor:.2f}"]


@dataclass(frozen=True)
class Program:
    """A program that has the file, and asks in its own process.

    Args:
        curator: whom it asks.
    """

    curator: sulq.Curator

    def ask(self, clients: int, rounds: int, name: str) -> Cost:
        """What it costs to ask so many rounds, all of them new, in as many threads as there are clients."""

        def one(place: int) -> float:
            begun = time.perf_counter()
            self.curator.ask(ROUND, f"{name} {place}")
            return time.perf_counter() - begun

        with ThreadPoolExecutor(clients) as pool:
            processor, begun = time.process_time(), time.perf_counter()
            seconds = list(pool.map(one, range(rounds)))
            return Cost.of(seconds, time.perf_counter() - begun, time.process_time() - processor)


@dataclass
class Service:
    """A service in a process of its own.

    Args:
        url: its address.
        key: a key of its owner.
        process: the process, which says how much processor time it took.
    """

    url: str
    key: str
    process: subprocess.Popen[str]

    def processor(self) -> float:
        """Seconds of processor time that the server took so far."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def ask(self, clients: int, rounds: int, name: str) -> Cost:
        """What it costs to ask so many rounds, all of them new."""
        threads = threading.local()

        def one(place: int) -> float:
            if not hasattr(threads, "link"):
                threads.link = self.link()
            begun = time.perf_counter()
            self.send(
                threads.link, "POST", "ask", json.dumps({"round": ROUND.form, "run": f"{name} {place}"})
            )
            return time.perf_counter() - begun

        with ThreadPoolExecutor(clients) as pool:
            processor, begun = self.processor(), time.perf_counter()
            seconds = list(pool.map(one, range(rounds)))
            return Cost.of(seconds, time.perf_counter() - begun, self.processor() - processor)

    def pages(self, last: int) -> dict[str, float]:
        """Milliseconds of processor time that the owner's pages take."""
        taken = {}
        for name, path in PAGES.items():
            self.get(path.format(last=last))
            before = self.processor()
            for _ in range(20):
                self.get(path.format(last=last))
            taken[name] = 1e3 * (self.processor() - before) / 20
        return taken

    def get(self, path: str) -> Any:
        return json.loads(self.send(self.link(), "GET", path))

    def link(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=120)

    def send(
        self, link: http.client.HTTPConnection, method: str, path: str, body: str | None = None
    ) -> bytes:
        headers = {"authorization": f"Bearer {self.key}", "content-type": "application/json"}
        link.request(method, f"/v1/datasets/people/{path}".rstrip("/"), body, headers)
        response = link.getresponse()
        text = response.read()
        if response.status != 200:
            raise SystemExit(f"the service refused {path}: {text.decode()}")
        return text


@contextmanager
def _served() -> Iterator[Service]:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, folder]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdin is not None and process.stdout is not None
            url, key = process.stdout.readline().split()
            yield Service(url, key, process)
            process.stdin.close()


def _settings(folder: Path) -> ServiceSettings:
    plans = ("free", "paid", "none")
    rows = [f"{str(row % 4 == 0).lower()},{plans[row % 3]}" for row in range(ROWS)]
    (folder / "people.csv").write_text("\n".join(["sick,plan", *rows, ""]))
    (folder / "people.toml").write_text(SCHEMA)
    dataset = {"data": "people.csv", "schema": "people.toml", "epsilon": 1000}
    limits = {"rounds_a_minute": 10**9, "at_once": 64}
    server = {"port": 0, "answers_after": 0}
    return settings_of({"server": server, "limits": limits, "datasets": {"people": dataset}}, folder)


def _serve(folder: Path) -> None:
    """Serve until there is nothing more to read, and say at every line how much processor time was taken."""
    settings = _settings(folder)
    with Server(settings) as server, Keys(settings.keys) as keys:
        print(server.url, keys.add("owner", "owner"), flush=True)
        for _ in sys.stdin:
            print(time.process_time(), flush=True)


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))

"""Memory under abuse: it follows from the limits, not from what is sent."""

from __future__ import annotations

import http.client
import json
import socket
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sulq.serve.keys import Keys
from sulq.serve.limits import Room
from tests.effort import either
from tests.serve.services import counted, write_people
from tests.serve.test_races import process

SICK = counted("1/10000", where="sick").form
LARGE = 2**20 - 100
"""Bytes: nearly what a body may have."""
ALLOWED = either(450, 1500)
"""Megabytes: what a server may take beyond what it takes for one question. More wide rounds were seen to take more of it,
up to about 760 with the thorough effort."""
AGE = {"node": "column", "name": "age"}
BODIES = {
    "lists": '{"round": {"a": [' + "[]," * ((LARGE - 30) // 3) + "[]]}}",
    "numbers": '{"round": {"a": [' + "1.5," * ((LARGE - 30) // 4) + "1]}}",
    "too long": " " * 2**21,
    "wide": json.dumps({"round": SICK | {"queries": [SICK["queries"][0] | {"by": [AGE] * 3}]}}),
}


@dataclass(frozen=True)
class Abused:
    """A server of its own, and keys for it."""

    number: int
    port: int
    secrets: list[str]

    @property
    def peak(self) -> float:
        """Megabytes of memory that it ever had."""
        [line] = [
            line
            for line in Path(f"/proc/{self.number}/status").read_text().splitlines()
            if line.startswith("VmHWM")
        ]
        return int(line.split()[1]) / 1000

    def send(self, method: str, path: str, secret: str, body: str | None = None) -> int:
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        headers = {"authorization": f"Bearer {secret}", "content-type": "application/json"}
        try:
            link.request(method, f"/v1/datasets{path}", body, headers)
            return link.getresponse().status
        except (BrokenPipeError, ConnectionResetError):  # it did not want to hear all of it
            return 413
        finally:
            link.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Abused]:
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux says how much memory another process ever had")
    folder = tmp_path_factory.mktemp("server")
    write_people(folder)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with Keys(folder / "people.csv.keys") as keys:
        secrets = [keys.add(f"c{place}") for place in range(4)]
    with process(folder, port) as running:
        yield Abused(running.pid, port, secrets)


def test_whatever_is_sent_memory_stays_within_bounds(server: Abused) -> None:
    plain = json.dumps({"round": SICK})
    assert server.send("POST", "/people/ask", server.secrets[0], plain) == 200
    before = server.peak
    expected = {"lists": 400, "numbers": 400, "too long": 413, "wide": 200}
    with ThreadPoolExecutor(16) as pool:
        for name, body in BODIES.items():

            def one(place: int, body: str = body) -> int:
                return server.send("POST", "/people/ask", server.secrets[place % 4], body)

            times = {"lists": either(8, 64), "wide": either(2, 12)}.get(name, either(2, 64))
            assert set(pool.map(one, range(times))) == {expected[name]}
            assert server.peak < before + ALLOWED, name

        def guess(place: int) -> int:
            return server.send("GET", "", f"sulq_{place:08x}_{'A' * 43}")

        largest = server.peak
        assert set(pool.map(guess, range(either(200, 10_000)))) == {401}
    with ExitStack() as opened:
        for _ in range(300):
            link = opened.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=30))
            link.sendall(b"GET /healthz HTTP/1.1\r\nX: ")
        assert server.send("GET", "", server.secrets[0]) == 200
    assert server.peak < largest + 50


def test_whoever_finds_no_room_waits_until_others_are_done() -> None:
    room = Room(numbers=100)
    order: list[Any] = []
    inside, leave = threading.Event(), threading.Event()

    def first() -> None:
        with room.turn():
            room.take(80)
            inside.set()
            leave.wait()
            order.append("first")

    def second() -> None:
        with room.turn():
            room.take(10**9)  # all there is
            order.append(room.left)

    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(first)]
        inside.wait()
        waiting.append(pool.submit(second))
        with room.turn():  # there is room for a small one
            room.take(20)
            assert room.left == 0
        leave.set()
        for each in waiting:
            each.result()
    assert order == ["first", 0] and room.left == 100

"""Memory under abuse: it follows from the limits, not from what is sent."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import sulq
from sulq.queries.facts import Number
from sulq.serve.keys import Keys
from sulq.serve.limits import Limits, Room
from tests.effort import either, long
from tests.serve.services import counted, running, write_people
from tests.serve.test_races import process

SICK = counted("1/10000", where="sick").form
LARGE = 2**20 - 100
"""Bytes: nearly what a body may have."""
ALLOWED = 400
"""Megabytes: what a server may take beyond what it takes for one question, however many are asked."""
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


@long
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


def test_one_at_a_time_finds_out_how_wide_a_round_is_and_facts_are_not_piled_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(tmp_path, limits={"numbers": 10_000, "at_once": 64}) as service:
        desk = service.server.service.desks["people"]
        at_once, most = [0], [0]
        check_round = Limits.check_round

        def checked(self: Limits, round_: Any, scope: Any) -> int:
            at_once[0] += 1
            most[0] = max(most[0], at_once[0])
            try:
                return check_round(self, round_, scope)
            finally:
                at_once[0] -= 1

        monkeypatch.setattr(Limits, "check_round", checked)
        ada = service.client("ada")

        def ask(place: int) -> int:
            where = sulq.col("age") < place + 1
            return int(
                ada.ask(counted("1/10000", by=["age", "plan"], where=where), f"run {place}").status_code
            )

        with ThreadPoolExecutor(8) as pool:
            assert set(pool.map(ask, range(40))) == {200}
        assert most == [1]
        scope = desk.curator.offer.scope
        kept = sum(known.width for known in scope._known.values() if isinstance(known, Number))
        assert 0 < kept <= 10_000


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only glibc keeps large blocks")
def test_large_blocks_go_back_to_the_system() -> None:
    """glibc keeps blocks as large as one that was freed; a fixed threshold lets it give all of them back.

    The newest glibc gives them back by itself.
    """
    code = """
import ctypes
from pathlib import Path
from sulq.serve.memory import LARGE, give_back_large_blocks
give_back_large_blocks()
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
def kept():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
size, before = 24 * LARGE, kept()
libc.free(libc.malloc(size))
blocks = [libc.malloc(size - 4096) for _ in range(8)]
for block in blocks:
    ctypes.memset(block, 1, size - 4096)
pin = libc.malloc(100_000)  # lies above them, if they are in a pool
for block in blocks:
    libc.free(block)
print(kept() - before)
"""
    kept = int(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
    assert kept < 50_000  # kilobytes, of 190,000

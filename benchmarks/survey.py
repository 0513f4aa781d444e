"""The collector of surveys under load: `python benchmarks/survey.py REPORTS KILLS`.

Every report is a post of its own, with a link that is good once, and is acknowledged after it is on the disk. The bare
framework answers an empty post with nothing, on the same HTTP server. Both run in processes of their own, in turns, and
the same client sends to both over as many connections that stay open.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
import uvicorn
from fastapi import FastAPI, Response

from measure import say, table
from sulq.serve.app import DARK
from sulq.serve.connections import guarded
from sulq.survey.asking import items_of
from sulq.survey.collector import Collector
from sulq.survey.file import SurveyFile
from sulq.survey.reading import read_survey
from sulq.survey.server import CollectorServer, Listening

REPORTS, KILLS, TURNS, CLIENTS = 1_000_000, 50, 5, 128
A_TURN = 5_000
GOAL, FLAT = 0.5, 1.25
FILE = """
[survey]
title = "Bribes"
epsilon = 2
people = 1000000
[questions.paid]
kind = "yes-no"
text = "Did you ever pay a bribe?"
"""


def section(reports: int = REPORTS, kills: int = KILLS) -> str:
    """The section of RESULTS.md."""
    with tempfile.TemporaryDirectory() as folder:
        rates = [_turn(Path(folder, f"turn{turn}"), min(A_TURN, reports)) for turn in range(TURNS)]
        part = median(ours / bare for (ours, _), (bare, _) in rates)
        work = median(ours / bare for (_, ours), (_, bare) in rates)
        many = _many(Path(folder, "many"), reports)
        lost, twice, counted, died = _killed(Path(folder, "killed"), min(reports, 40 * A_TURN), kills)
    met = "" if part >= GOAL else " (missed)"
    steps = [[f"{step.reports:,}", f"{step.rate:,.0f}", f"{step.memory:.0f}"] for step in many]
    flat = many[-1].memory / many[max(0, len(many) // 10)].memory
    return "\n".join(
        [
            "## The collector of surveys",
            "",
            f"Reports a second against the bare framework answering an empty post, {CLIENTS} connections, {TURNS} turns of",
            f"{min(A_TURN, reports):,}: **{part:.2f}** of it; goal: at least {GOAL:g}{met}. Processor time of the server a report: {work:.2f}",
            "times that of an empty post. Every report was acknowledged after its commit, in SQLite.",
            "",
            *table(["reports so far", "reports a second", "memory, MB"], steps),
            "",
            f"Memory at the end over that after a tenth: {flat:.2f}; goal: at most {FLAT:g}{'' if flat <= FLAT else ' (missed)'}.",
            "",
            f"Killed {died} times while {counted:,} reports were sent: {lost} acknowledged reports were lost, {twice} were counted twice.",
        ]
    )


@dataclass(frozen=True)
class Step:
    """How it goes while reports come in: how many there were, how many a second, and the memory in MB."""

    reports: int
    rate: float
    memory: float


class Child:
    """A server in a process of its own.

    Args:
        arguments: what it is told.
        port: where it listens.
    """

    def __init__(self, *arguments: str, port: int) -> None:
        self.port = port
        self.process = subprocess.Popen(
            [sys.executable, __file__, *arguments, str(port)], stdin=subprocess.PIPE
        )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                return
            time.sleep(0.02)
        raise SystemExit("the server did not start")

    @property
    def processor(self) -> float:
        """Seconds of processor time."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def memory(self) -> float:
        """Megabytes."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def end(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)
        self.process.wait()


async def _send(port: int, posts: list[bytes], answers: list[int | None]) -> None:
    """Send posts over several connections; what was not answered stays None."""
    places = iter(range(len(posts)))

    async def client() -> None:
        reader = writer = None
        for place in places:
            try:
                if writer is None:
                    reader, writer = await asyncio.open_connection("127.0.0.1", port)
                assert reader is not None
                writer.write(posts[place])
                head = await reader.readuntil(b"\r\n\r\n")
                for line in head.lower().split(b"\r\n"):
                    if line.startswith(b"content-length:"):
                        await reader.readexactly(int(line[15:]))
                answers[place] = int(head[9:12])
            except (OSError, asyncio.IncompleteReadError):
                writer = None

    await asyncio.gather(*(client() for _ in range(CLIENTS)))


def _post(path: str, body: bytes) -> bytes:
    return f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


def _survey(folder: Path) -> Path:
    folder.mkdir()
    file = folder / "bribes.toml"
    file.write_text(FILE)
    return file


def _posts(survey: SurveyFile, many: int, reports: list[int]) -> list[bytes]:
    """A post for each person, with a link of its own."""
    [asked] = items_of(survey)
    with Collector(survey) as collector:
        links = collector.invite(many)
    before = f'{{"reports-sent":1,"survey":"{survey.id}","round":1,"invitation":"'
    middle = f'","reports":[{{"report":1,"item":"{asked.item.key}","numbers":['
    return [
        _post("/reports", f"{before}{link}{middle}{report}]}}]}}".encode())
        for link, report in zip(links, reports, strict=True)
    ]


def _free() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


def _turn(folder: Path, many: int) -> list[tuple[float, float]]:
    """Posts a second, and processor seconds a post: of the collector, and of the bare framework."""
    file = _survey(folder)
    posts = _posts(read_survey(file), many, [1] * many)
    measured = []
    for arguments, sent in ((("--serve", str(file)), posts), (("--bare",), [_post("/", b"")] * many)):
        child = Child(*arguments, port=_free())
        answers: list[int | None] = [None] * many
        began, worked = time.perf_counter(), child.processor
        asyncio.run(_send(child.port, sent, answers))
        took, work = time.perf_counter() - began, child.processor - worked
        child.end()
        assert answers == [200] * many
        measured.append((many / took, work / many))
    say("survey, posts a second", *(round(rate) for rate, _ in measured))
    return measured


def _many(folder: Path, reports: int) -> list[Step]:
    """Very many reports to one collector: how the rate and the memory go."""
    file = _survey(folder)
    survey, size = read_survey(file), max(1, reports // 20)
    child, steps = Child("--serve", str(file), port=_free()), []
    for step in range(20):
        posts = _posts(survey, size, [1] * size)
        answers: list[int | None] = [None] * size
        began = time.perf_counter()
        asyncio.run(_send(child.port, posts, answers))
        steps.append(Step((step + 1) * size, size / (time.perf_counter() - began), child.memory))
        assert answers == [200] * size
        say("survey, reports", steps[-1])
    child.end()
    with Collector(survey) as collector:
        assert list(collector.received(1).values()) == [20 * size]
    return steps


def _killed(folder: Path, many: int, kills: int) -> tuple[int, int, int, int]:
    """Reports lost and counted twice, of so many, while the collector is killed at random again and again."""
    file, port = _survey(folder), _free()
    survey, died = read_survey(file), 0
    values = np.random.default_rng(0).integers(2, size=many).tolist()
    posts = _posts(survey, many, values)
    acknowledged: dict[int, int] = {}
    each = max(1, many // (kills + 1))
    child = Child("--serve", str(file), port=port)
    while len(acknowledged) < many:
        places = [place for place in range(many) if place not in acknowledged][:each]
        answers: list[int | None] = [None] * len(places)
        if died < kills:
            os.posix_spawn(
                "/bin/sh",
                ["sh", "-c", f"sleep {random.uniform(0.01, 1):.3f}; kill -9 {child.process.pid}"],
                os.environ,
            )
        asyncio.run(_send(port, [posts[place] for place in places], answers))
        acknowledged |= {
            place: status for place, status in zip(places, answers, strict=True) if status is not None
        }
        if died < kills:
            child.process.wait()
            died += 1
            child = Child("--serve", str(file), port=port)
    child.end()
    # A link that was used before was counted before its answer got lost.
    assert set(acknowledged.values()) <= {200, 409}
    with Collector(survey) as collector:
        [kept] = collector.tallies(1).values()
    assert kept.tally.sums.tolist() == [sum(values)] or kept.tally.reports != many
    return max(0, many - kept.tally.reports), max(0, kept.tally.reports - many), many, died


def _bare(port: int) -> None:
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, telemetry=DARK)

    @app.post("/")
    async def nothing() -> Response:
        return Response()

    uvicorn.run(
        app,
        port=port,
        http=guarded(30, 2000),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        CollectorServer(read_survey(sys.argv[2]), Listening(port=int(sys.argv[3]))).run()
    elif sys.argv[1:2] == ["--bare"]:
        _bare(int(sys.argv[2]))
    else:
        print(section(*map(int, sys.argv[1:])))

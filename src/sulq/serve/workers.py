"""Several processes that serve together: one starts them, replaces those that end, and ends them all."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from socket import socket
from tempfile import TemporaryDirectory
from types import FrameType

from sulq.serve.config import ServiceSettings
from sulq.serve.listener import GRACE, listening_at
from sulq.serve.logs import log_to, note
from sulq.serve.opening import opened
from sulq.serve.server import Server

SHORT = 10.0
"""A process that ends within so many seconds could not serve."""
LONGEST = 30.0
"""Seconds until such a process is replaced at the latest; at first that takes a second."""
LOOK = 0.2


class Workers:
    """A service of several processes that share a socket, the keys, and ledgers in Postgres.

    Args:
        settings: what it was told. Port 0 becomes one that is free. What cannot work is refused at once, and
            ledgers that are not there are made.
    """

    def __init__(self, settings: ServiceSettings) -> None:
        self._socket = listening_at(settings.host, settings.port)
        self.settings = replace(settings, port=self._socket.getsockname()[1])
        self._signals = 0
        try:
            for desk in opened(self.settings).values():
                desk.curator.ledger.close()
        except BaseException:
            self._socket.close()
            raise
        # Caps are set now. A worker that comes later must not undo what the owner changed meanwhile.
        datasets = tuple(replace(each, caps={}) for each in settings.datasets)
        self.settings = replace(self.settings, datasets=datasets)

    @property
    def url(self) -> str:
        """Where it is reached on its own machine."""
        return self.settings.url

    def run(self) -> None:
        """Serve until the process is told to stop; then every worker finishes what it began."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._count)
        with TemporaryDirectory(prefix="sulq-") as folder:  # which nobody else may read
            sessions = str(Path(folder, "sessions"))
            workers = [_Worker.started(self, sessions) for _ in range(self.settings.workers)]
            while not self._signals:
                wait([worker.process.sentinel for worker in workers if worker.runs], LOOK)
                workers = [worker if worker.runs else worker.replaced(self, sessions) for worker in workers]
            self._end(workers)
        self._socket.close()

    def _count(self, number: int, frame: FrameType | None) -> None:
        self._signals += 1

    def _end(self, workers: list[_Worker]) -> None:
        """Let all finish; after some time, or a second signal, they are ended."""
        deadline = time.monotonic() + GRACE + 5
        for worker in workers:
            worker.process.terminate()
        while any(worker.runs for worker in workers):
            if time.monotonic() > deadline or self._signals > 1:
                for worker in workers:
                    worker.process.kill()
            time.sleep(LOOK / 4)


@dataclass(frozen=True)
class _Worker:
    """One of the processes.

    Args:
        process: the process itself.
        alive: as long as this is open, whoever started the process is there.
        began: when it was started.
        failures: how many before it, in a row, ended soon.
    """

    process: SpawnProcess
    alive: Connection
    began: float
    failures: int = 0

    @classmethod
    def started(cls, of: Workers, sessions: str, failures: int = 0) -> _Worker:
        there, alive = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.get_context("spawn").Process(
            target=_work, args=(of.settings, of._socket, sessions, there), name="sulq"
        )
        process.start()
        there.close()
        return cls(process, alive, time.monotonic(), failures)

    @property
    def runs(self) -> bool:
        return self.process.is_alive()

    def replaced(self, of: Workers, sessions: str) -> _Worker:
        """Another in its place; the same if it is too early for that."""
        lived = time.monotonic() - self.began
        failures = self.failures + 1 if lived < SHORT + self.failures else 0
        if lived < min(LONGEST, 2.0**failures - 1):
            return self
        note("worker replaced", process=self.process.pid, ended=self.process.exitcode)
        self.alive.close()
        return self.started(of, sessions, failures)


def _work(settings: ServiceSettings, listening: socket, sessions: str, there: Connection) -> None:
    """What a worker does."""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # a terminal sends it to all; the first of them tells the others
    log_to()
    server = Server(settings, listening=listening, sessions=sessions)
    threading.Thread(target=_end_with, args=(there,), daemon=True).start()
    server.run()


def _end_with(there: Connection) -> None:
    """Wait until whoever started this process is gone, and then end as if told to."""
    try:
        there.recv()
    except (EOFError, OSError):
        os.kill(os.getpid(), signal.SIGTERM)

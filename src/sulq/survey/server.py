"""A collector that listens: in this thread, in a thread of its own, or in several processes."""

from __future__ import annotations

import multiprocessing
import signal
import socket
import time
from dataclasses import dataclass
from types import FrameType

from sulq.errors import SulqError
from sulq.ledger.places import Address, place_of
from sulq.numbers import whole
from sulq.serve.config import LOOPBACK, MOST_WORKERS
from sulq.serve.listener import GRACE, ListeningApp, listening_at
from sulq.survey.app import app_of
from sulq.survey.collector import Collector
from sulq.survey.file import SurveyFile

SECONDS = 30
"""How long the head of a request may take."""
CONNECTIONS = 2000


@dataclass(frozen=True)
class Listening:
    """Where a collector listens, and how.

    Args:
        host: the address.
        port: the port; 0 for any that is free.
        certificate: the file of its TLS certificate, None for plain HTTP.
        private_key: the file of the certificate's private key.
        behind_proxy: whether a proxy in front of it speaks TLS.
        public_results: whether everybody may see the results while people answer.
    """

    host: str = "127.0.0.1"
    port: int = 8444
    certificate: str | None = None
    private_key: str | None = None
    behind_proxy: bool = False
    public_results: bool = False

    def __post_init__(self) -> None:
        whole("port", self.port, 0, 65535)
        if (self.certificate is None) != (self.private_key is None):
            raise SulqError("a certificate and its private key go together: give both files, or none")
        if self.certificate is None and self.host not in LOOPBACK and not self.behind_proxy:
            raise SulqError(
                f"without TLS, anybody on the way to {self.host} could change the page: "
                "give a certificate and its private key, or say that a proxy in front speaks TLS, or listen "
                "at 127.0.0.1"
            )

    def socket(self) -> socket.socket:
        """A socket that listens there."""
        return listening_at(self.host, self.port)


class CollectorServer:
    """A collector that listens. With `with`, it listens in a thread of its own until the block ends.

    Args:
        survey: the survey.
        listening: where it listens.
        shared: a socket that listens already, if several processes share it.
    """

    def __init__(
        self, survey: SurveyFile, listening: Listening | None = None, shared: socket.socket | None = None
    ) -> None:
        where = Listening() if listening is None else listening
        self._socket = where.socket() if shared is None else shared
        self.url = _url(where, self._socket)
        try:
            self.collector = Collector(survey)
        except BaseException:
            self._socket.close()
            raise
        self._listener = ListeningApp(
            app_of(self.collector, where.public_results),
            self._socket,
            seconds=SECONDS,
            connections=CONNECTIONS,
            certificate=where.certificate,
            private_key=where.private_key,
        )

    def run(self) -> None:
        """Listen until the process is told to stop, then finish what was begun."""
        self._listener.run()

    def __enter__(self) -> CollectorServer:
        self._listener.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.stop()


class CollectorProcesses:
    """Several processes that share a socket, and a store in Postgres.

    Args:
        survey: the survey.
        listening: where they listen.
        workers: how many.
    """

    def __init__(self, survey: SurveyFile, listening: Listening, workers: int) -> None:
        whole("workers", workers, 1, MOST_WORKERS)
        if not isinstance(place_of(survey.store), Address):
            raise SulqError(
                f"{workers} workers cannot share a store that is a file: name one in Postgres, as store = "
                '"postgresql://HOST/DATABASE?schema=NAME", or have 1 worker'
            )
        Collector(survey).close()  # makes the tables, and refuses what cannot work
        self._survey, self._listening, self._workers = survey, listening, workers
        self._socket = listening.socket()
        self.url = _url(listening, self._socket)
        self._ended = False

    def run(self) -> None:
        """Listen until the process is told to stop. A process that ends is replaced."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._end)
        workers = [self._started() for _ in range(self._workers)]
        while not self._ended:
            time.sleep(0.2)
            workers = [worker if worker.is_alive() else self._started() for worker in workers]
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.join(GRACE + 5)
        self._socket.close()

    def _started(self) -> multiprocessing.process.BaseProcess:
        process = multiprocessing.get_context("spawn").Process(
            target=_work, args=(self._survey, self._listening, self._socket), daemon=True
        )
        process.start()
        return process

    def _end(self, number: int, frame: FrameType | None) -> None:
        self._ended = True


def _work(survey: SurveyFile, listening: Listening, shared: socket.socket) -> None:
    """What each process does. A terminal sends an interrupt to all of them; the first one ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    CollectorServer(survey, listening, shared).run()


def _url(listening: Listening, at: socket.socket) -> str:
    scheme = "http" if listening.certificate is None else "https"
    host = f"[{listening.host}]" if ":" in listening.host else listening.host
    return f"{scheme}://{host}:{at.getsockname()[1]}"

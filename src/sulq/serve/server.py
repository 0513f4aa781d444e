"""The server: a socket, TLS, and a loop until it is told to stop."""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

import uvicorn

from sulq.errors import SulqError
from sulq.oracles.curator import Curator
from sulq.serve.app import app_of
from sulq.serve.config import ServiceSettings
from sulq.serve.connections import guarded
from sulq.serve.memory import give_back_large_blocks
from sulq.serve.service import Service

GRACE = 10
"""Seconds that clients have to take their answers after a signal to stop; what was begun is stored."""
BACKLOG = 512


class Server:
    """A service that listens. With `with`, it listens in a thread of its own until the block ends.

    Args:
        settings: what it was told. Port 0 becomes one that is free.
        curators: data sets beyond those of the settings, by name. They need no file.
        listening: a socket that listens already, if several processes share it.
        sessions: the file in which several processes share the sessions of the console.
    """

    def __init__(
        self,
        settings: ServiceSettings,
        curators: Mapping[str, Curator] | None = None,
        *,
        listening: socket.socket | None = None,
        sessions: str | None = None,
    ) -> None:
        self._socket = listening_at(settings.host, settings.port) if listening is None else listening
        self.settings = replace(settings, port=self._socket.getsockname()[1])
        try:
            self.service = Service(self.settings, curators, sessions)
        except BaseException:
            self._socket.close()
            raise
        self._server = uvicorn.Server(
            uvicorn.Config(
                app_of(self.service),
                http=guarded(settings.limits.seconds, settings.limits.connections),
                ws="none",
                lifespan="on",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=GRACE,
                ssl_certfile=settings.certificate,
                ssl_keyfile=settings.private_key,
            )
        )
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Where it is reached on its own machine."""
        return self.settings.url

    def run(self) -> None:
        """Listen until the process is told to stop, then finish what was begun."""
        give_back_large_blocks()
        with suppress(KeyboardInterrupt):
            self._server.run(sockets=[self._socket])

    def __enter__(self) -> Server:
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)
        self._thread.start()
        waiting = threading.Event()
        while not self._server.started:
            if not self._thread.is_alive():
                raise SulqError(f"the server at {self.url} did not start")
            waiting.wait(0.01)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join()
        self._socket.close()


def listening_at(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Args:
        host: the address.
        port: the port; 0 for any that is free.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Only of a socket that says it is TCP does asyncio send small pieces at once, without 40 ms of waiting.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
        return listening
    except OSError as error:
        listening.close()
        raise SulqError(
            f"cannot listen at {host}, port {port}: {error.strerror or error}; choose "
            "another port, or 0 for any that is free"
        ) from None

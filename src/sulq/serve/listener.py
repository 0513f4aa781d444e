"""What listens: a socket, TLS, and a loop until it is told to stop. Service and collector share it."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

import uvicorn
from starlette.types import ASGIApp

from sulq.errors import SulqError
from sulq.serve.connections import guarded

GRACE = 10
"""Seconds that clients have to take their answers after a signal to stop; what was begun is stored."""
BACKLOG = 512


class ListeningApp:
    """An application behind a socket.

    Args:
        app: the application.
        at: a socket that listens.
        seconds: how long the head of a request may take.
        connections: how many there may be at once.
        certificate: the file of its TLS certificate, None for plain HTTP.
        private_key: the file of the certificate's private key.
    """

    def __init__(
        self,
        app: ASGIApp,
        at: socket.socket,
        *,
        seconds: float,
        connections: int,
        certificate: str | None = None,
        private_key: str | None = None,
    ) -> None:
        self._socket = at
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                http=guarded(seconds, connections),
                ws="none",
                lifespan="on",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=GRACE,
                ssl_certfile=certificate,
                ssl_keyfile=private_key,
            )
        )
        self._thread: threading.Thread | None = None

    def run(self) -> None:
        """Listen until the process is told to stop, then finish what was begun."""
        with suppress(KeyboardInterrupt):
            self._server.run(sockets=[self._socket])

    def start(self) -> None:
        """Listen in a thread of its own."""
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)
        self._thread.start()
        waiting = threading.Event()
        while not self._server.started:
            if not self._thread.is_alive():
                host, port, *_ = self._socket.getsockname()
                raise SulqError(f"the server at {host}, port {port} did not start")
            waiting.wait(0.01)

    def ask_to_stop(self) -> None:
        """From now on no connection is taken; what was begun has `GRACE` seconds."""
        self._server.should_exit = True

    def stop(self) -> None:
        """Finish what was begun, and close the socket."""
        self.ask_to_stop()
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

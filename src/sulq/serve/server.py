"""The service behind a socket."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import replace

from sulq.oracles.curator import Curator
from sulq.serve.app import app_of
from sulq.serve.config import ServiceSettings
from sulq.serve.listener import ListeningApp, listening_at
from sulq.serve.memory import give_back_large_blocks
from sulq.serve.service import Service


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
        self._listener = ListeningApp(
            app_of(self.service),
            self._socket,
            seconds=settings.limits.seconds,
            connections=settings.limits.connections,
            certificate=settings.certificate,
            private_key=settings.private_key,
        )

    @property
    def url(self) -> str:
        """Where it is reached on its own machine."""
        return self.settings.url

    def run(self) -> None:
        """Listen until the process is told to stop, then finish what was begun."""
        give_back_large_blocks()
        self._listener.run()

    def ask_to_stop(self) -> None:
        """From now on no connection is taken; what was begun is finished."""
        self._listener.ask_to_stop()

    def __enter__(self) -> Server:
        self._listener.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.stop()

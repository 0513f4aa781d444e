"""Connections that send nothing, or very slowly, are given up; and there are only so many."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol


class GuardedConnection(H11Protocol):
    """A client's connection. The head of a request must arrive in time; its body is guarded elsewhere."""

    seconds: float
    """How long the head of a request may take."""
    most: int
    """How many connections there may be."""
    _arriving: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.most:
            transport.abort()
            return
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._answering:
            self._stop()
        elif self._arriving is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    @property
    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self) -> None:
        self._arriving = self.loop.call_later(self.seconds, self._give_up)

    def _stop(self) -> None:
        if self._arriving is not None:
            self._arriving.cancel()
            self._arriving = None

    def _give_up(self) -> None:
        self._arriving = None
        if not self._answering:
            self.transport.abort()


def guarded(seconds: float, most: int) -> type[GuardedConnection]:
    """The connections of a server with these limits.

    Args:
        seconds: how long the head of a request may take.
        most: how many connections there may be.
    """
    return type("Connection", (GuardedConnection,), {"seconds": seconds, "most": most})

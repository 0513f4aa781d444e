"""A running service: its data sets and keys, who asks how much, and the threads that do the work."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from fastapi import Request, Response

from sulq.errors import SulqError
from sulq.oracles.curator import Curator
from sulq.serve.config import ServiceSettings
from sulq.serve.desk import Desk, named
from sulq.serve.keys import AccessKey, Keys
from sulq.serve.limits import Room, Traffic
from sulq.serve.logs import Metrics
from sulq.serve.opening import opened
from sulq.serve.refusals import RefusedError
from sulq.serve.requests import key_of

T = TypeVar("T")
SECONDS_READY = 1.0
THREADS = 32
"""How many requests are worked on at once; those that wait for the disk share its commits."""


class Service:
    """All that a service is made of, but for HTTP.

    Args:
        settings: what it was told.
        curators: data sets beyond those of the settings, by name. They need no file.
    """

    def __init__(self, settings: ServiceSettings, curators: Mapping[str, Curator] | None = None) -> None:
        self.settings = settings
        self.keys = Keys(settings.keys)
        try:
            self.room = Room(settings.limits.numbers)
            self.desks: Mapping[str, Desk] = opened(settings, curators or {}, self.room)
        except BaseException:
            self.keys.close()
            raise
        self.traffic = Traffic(settings.limits)
        self.metrics = Metrics()
        self.closing = False
        self._ready_until = 0.0
        self._pool = ThreadPoolExecutor(min(THREADS, settings.limits.in_all), thread_name_prefix="sulq")

    async def work(self, step: Callable[[], T]) -> T:
        """Do a step in another thread, so that others are listened to meanwhile."""

        def turn() -> T:
            with self.room.turn():
                try:
                    return step()
                except Exception as error:
                    # Where it was raised remembers the whole question, for as long as the error is there.
                    error.__context__ = error.__cause__ = None
                    raise error.with_traceback(None) from None

        return await asyncio.get_running_loop().run_in_executor(self._pool, turn)

    def caller(self, request: Request, owner: bool = False) -> AccessKey:
        """Who makes a request, or a refusal.

        Args:
            request: the request.
            owner: whether only the owner may make it.
        """
        if self.closing:
            raise RefusedError("closing", "the curator is shutting down: ask again later", retry_after=5)
        key = key_of(request, self.keys)
        request.state.key = key
        if owner and not key.owner:
            raise RefusedError("not_allowed", "only a key of the owner may do this")
        return key

    def desk(self, key: AccessKey, dataset: str) -> Desk:
        """The data set of a name, if the key is for it."""
        return named(self.desks, dataset, key)

    async def answered(self, key: AccessKey, step: Callable[[], Any]) -> Response:
        """What a step returns, as JSON. Its work counts against the limits of the key.

        Args:
            key: who asks.
            step: the work.
        """
        with self.traffic.admitted(key.id):
            return await self.work(lambda: as_json(step()))

    async def scheduled(self, key: AccessKey, step: Callable[[], Any]) -> Response:
        """As `answered`, for what looks at rows: it leaves on schedule, and so does a failure.

        Until then it counts among the requests that are answered at once: otherwise the next request would
        find out when the work was done.
        """
        arrived = time.monotonic()
        with self.traffic.admitted(key.id):
            try:
                return await self.work(lambda: as_json(step()))
            finally:
                await self.settings.schedule.wait(arrived)

    def close(self) -> None:
        """Finish what was begun, and let go of all files."""
        self.closing = True
        self._pool.shutdown(wait=True)
        for desk in self.desks.values():
            desk.curator.ledger.close()
        self.keys.close()

    def check_ready(self) -> None:
        """Refuse if a ledger or the keys cannot be used now. Anyone may ask, so they are looked at seldom."""
        if self.closing:
            raise RefusedError("closing", "the curator is shutting down: ask again later", retry_after=5)
        if time.monotonic() < self._ready_until:
            return
        try:
            self.keys.list()
            for desk in self.desks.values():
                desk.curator.ledger.spent  # noqa: B018, reads the ledger
        except SulqError:
            words = "a ledger or the keys cannot be used: the owner's log says more"
            raise RefusedError("closing", words, retry_after=5) from None
        self._ready_until = time.monotonic() + SECONDS_READY


def as_json(content: Any) -> Response:
    """Plain data as the body of a response."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Response(text.encode(), media_type="application/json")

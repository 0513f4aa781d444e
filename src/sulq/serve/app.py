"""The HTTP side of a service: its routes, and what goes around all of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from functools import cache
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sulq.serve.console.pages import console_routes
from sulq.serve.handling import KEY, GuardedRoute, refused
from sulq.serve.logs import note
from sulq.serve.owner_routes import owner_routes
from sulq.serve.routes import analyst_routes
from sulq.serve.service import Service, as_json

API = 1
"""The version of the API; every response says it."""
DARK: Any = dict.fromkeys(("tracing", "metrics", "logs", "operation_spans", "auto_configure"), False)
"""FastAPI measures how long everything takes, and may send it elsewhere: running times tell about rows."""
HEADERS = {
    "sulq-api": str(API),
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


def app_of(service: Service) -> ASGIApp:
    """The application that a server runs.

    Args:
        service: what it serves. It is closed when the application ends.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        settings = service.settings
        note("started", url=settings.url, datasets=[each.name for each in settings.datasets])
        try:
            yield
        finally:
            await asyncio.to_thread(service.close)
            note("stopped")

    app = FastAPI(
        title="sulq curator",
        version=version("sulq"),
        description="Differentially private answers to statistical queries, within a budget.",
        docs_url=None,  # its pages would fetch scripts from elsewhere
        redoc_url=None,
        openapi_url=None,
        lifespan=lifespan,
        telemetry=DARK,
        redirect_slashes=False,
    )
    app.include_router(analyst_routes(service))
    app.include_router(owner_routes(service))
    app.include_router(console_routes(service))
    app.include_router(_public_routes(service, app))
    app.add_exception_handler(HTTPException, refused)
    return Outermost(app, service)


def _public_routes(service: Service, app: FastAPI) -> APIRouter:
    """What needs no key: whether the service is well, what it counts, and what it offers to programs."""
    router = APIRouter(route_class=GuardedRoute, tags=["health"])

    @router.get("/healthz")
    async def healthz() -> Response:
        """Whether the process is there."""
        return as_json({"status": "ok"})

    @router.get("/readyz")
    async def readyz() -> Response:
        """Whether it can answer: 503 while a ledger or the keys cannot be used."""
        await service.work(service.check_ready)
        return as_json({"status": "ready"})

    @router.get("/metrics", response_class=PlainTextResponse)
    async def metrics() -> Response:
        """How many requests there were, as Prometheus reads it. No count depends on a row."""
        return PlainTextResponse(service.metrics.text(service.traffic.at_once))

    @router.get("/openapi.json", include_in_schema=False)
    async def openapi() -> Response:
        """The description of all routes."""
        return Response(description(), media_type="application/json")

    @cache
    def description() -> bytes:
        form = app.openapi()
        form.setdefault("components", {})["securitySchemes"] = KEY
        return bytes(as_json(form).body)

    return router


class Outermost:
    """Around the application: headers for every response, a line in the log, a count, and no traceback.

    Args:
        app: the application.
        service: what it serves.
    """

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope.setdefault("state", {})
        status = 0

        async def send_on(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                # A page of the console has a policy of its own: two of them would both hold.
                given = {name for name, _ in message["headers"]}
                pairs = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                more = [pair for pair in pairs if pair[0] not in given]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        try:
            await self._app(scope, receive, send_on)
        except Exception as error:
            note("failed", code="failed", error=type(error).__name__)
            if not status:
                await refused(Request(scope), error)(scope, receive, send_on)
        finally:
            self._write_down(scope, status)

    def _write_down(self, scope: MutableMapping[str, Any], status: int) -> None:
        route = getattr(scope.get("route"), "path", "other")
        state = scope["state"]
        key = state.get("key")
        facts = {"method": scope["method"], "route": route, "status": status}
        if status >= 400:
            facts["code"] = state.get("code", "failed")
        if key is not None:
            facts["key"] = key.id
        self._service.metrics.count(scope["method"], route, status)
        note("request", **facts)

"""The collector behind HTTP: the page, what is open, and where reports are sent."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sulq.errors import QueryError, SulqError
from sulq.serve.app import DARK
from sulq.serve.logs import note
from sulq.survey.collector import Collector
from sulq.survey.intake import Intake
from sulq.survey.messages import STATUS, WHY, gathered_of, round_form, sent_of
from sulq.survey.results_page import results_page
from sulq.wire import canonical, of_json, one_line

FOLDER = Path(__file__).parent
BODY, GATHERED = 2**18, 2**22
"""Bytes that a device, and a gateway, may send at once."""
SECONDS = 30
"""How long a post may take to arrive."""
FRESH = 0.25
"""Seconds for which what is open is remembered."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
]
JSON = (b"content-type", b"application/json")
Reader = Callable[[object], Awaitable[tuple[int, Any]]]


def app_of(collector: Collector, public_results: bool = False) -> ASGIApp:
    """The application that a server runs.

    Args:
        collector: whose it is. It is closed when the application ends.
        public_results: whether everybody may see the results while people answer.
    """
    intake = Intake(collector.accept)
    opened = Remembered(lambda: _in_order(round_form(collector)), FRESH, lambda: collector.changes)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        note("started", survey=collector.survey.id)
        try:
            yield
        finally:
            await asyncio.to_thread(intake.close)
            collector.close()
            note("stopped")

    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan, telemetry=DARK)
    _add_public_routes(app, collector, opened, public_results)
    return Outside(app, collector.survey.id, intake)


class Remembered:
    """Bytes that many ask for, made anew once they are old.

    Args:
        make: makes them.
        seconds: how long they are good for.
        version: what changes when they are to be made anew at once.

    >>> asyncio.run(Remembered(lambda: b"x", seconds=1, version=lambda: 0).get())
    b'x'
    """

    def __init__(self, make: Callable[[], bytes], seconds: float, version: Callable[[], int]) -> None:
        self._make = make
        self._seconds = seconds
        self._version = version
        self._made: tuple[float, int, bytes] = (float("-inf"), 0, b"")
        self._turn = asyncio.Lock()

    async def get(self) -> bytes:
        """The bytes."""
        async with self._turn:
            at, version, made = self._made
            if time.monotonic() - at > self._seconds or version != self._version():
                at, version = time.monotonic(), self._version()
                made = await asyncio.to_thread(self._make)
                self._made = (at, version, made)
            return made


def _add_public_routes(app: FastAPI, collector: Collector, opened: Remembered, public_results: bool) -> None:
    survey = _in_order(collector.survey.form())

    @app.get("/survey.json")
    async def survey_json() -> Response:
        return Response(survey, media_type="application/json")

    @app.get("/round.json")
    async def round_json() -> Response:
        return Response(await opened.get(), media_type="application/json")

    @app.get("/healthz")
    async def healthz() -> Response:
        return Response(b'{"status":"ok"}', media_type="application/json")

    @app.get("/results")
    async def results() -> Response:
        if not public_results:
            raise HTTPException(404)
        page = await asyncio.to_thread(results_page, collector)
        # The page brings its own style and pictures, and no script.
        policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
        return Response(page, media_type="text/html", headers={"content-security-policy": policy})

    def template(name: str) -> Callable[[], Awaitable[Response]]:
        async def page() -> Response:
            file = FOLDER / "templates" / name
            if not file.is_file():
                raise HTTPException(404)
            return Response(file.read_text(encoding="utf-8"), media_type="text/html")

        return page

    app.get("/")(template("page.html"))
    app.get("/protects")(template("protects.html"))

    @app.get("/worker.js")
    async def worker() -> Response:
        file = FOLDER / "static" / "worker.js"
        if not file.is_file():
            raise HTTPException(404)
        return Response(file.read_bytes(), media_type="text/javascript")

    app.mount("/static", StaticFiles(directory=FOLDER / "static", check_dir=False))

    @app.exception_handler(HTTPException)
    async def nothing(_: Request, error: HTTPException) -> Response:
        return Response(b"there is nothing here", error.status_code, media_type="text/plain")


class Outside:
    """Around the application: headers for every response, and reports, which come by the thousand, go first.

    Nothing is written down about who sends: no address, no time, no header.

    Args:
        app: the application.
        survey: the id of the survey.
        intake: where reports go.
    """

    def __init__(self, app: ASGIApp, survey: str, intake: Intake) -> None:
        self._app = app
        self._survey = survey
        self._intake = intake

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(h for h in HEADERS if h[0] not in given)]
            await send(message)

        readers: dict[str, tuple[Reader, int]] = {
            "/reports": (self._reports, BODY),
            "/gateway": (self._gathered, GATHERED),
        }
        if scope["method"] == "POST" and scope["path"] in readers:
            status, answer = await _answered(receive, *readers[scope["path"]])
            body = canonical(answer).encode()
            headers = [JSON, (b"content-length", b"%d" % len(body))]
            await send_on({"type": "http.response.start", "status": status, "headers": headers})
            await send_on({"type": "http.response.body", "body": body})
            return
        await self._app(scope, receive, send_on)

    async def _reports(self, form: object) -> tuple[int, Any]:
        outcome = await self._intake.submit(sent_of(form, self._survey))
        if outcome == "accepted":
            return 200, {"accepted": True}
        return STATUS[outcome], {"refused": outcome, "why": WHY[outcome]}

    async def _gathered(self, form: object) -> tuple[int, Any]:
        sent = gathered_of(form, self._survey)
        return 200, {"outcomes": await asyncio.gather(*map(self._intake.submit, sent))}


def _in_order(form: dict[str, Any]) -> bytes:
    """JSON in the order of the form: a device works out the hash of the schema from it."""
    return json.dumps(form, separators=(",", ":"), allow_nan=False).encode()


async def _answered(receive: Receive, reader: Reader, most: int) -> tuple[int, Any]:
    """The status and the answer to a post."""
    body, more = b"", True
    deadline = time.monotonic() + SECONDS
    while more:
        try:
            message = await asyncio.wait_for(receive(), max(0.0, deadline - time.monotonic()))
        except TimeoutError:
            return 408, {"refused": "too slow", "why": f"a post may take {SECONDS} seconds to arrive"}
        if message["type"] == "http.disconnect":
            return 400, {"refused": "malformed", "why": "the connection ended"}
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > most:
            return 413, {"refused": "too large", "why": f"at most {most} bytes can be sent at once"}
    try:
        return await reader(of_json(body.decode(), "what is sent"))
    except (QueryError, UnicodeDecodeError) as error:
        why = one_line(str(error)) if isinstance(error, QueryError) else "this is not UTF-8"
        return 422, {"refused": "malformed", "why": why}
    except SulqError as error:
        return 503, {"refused": "busy", "why": one_line(str(error))}

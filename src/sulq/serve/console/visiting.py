"""Who looks at a page, and what every page and every form goes through."""

from __future__ import annotations

import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.routing import APIRoute
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, RedirectResponse

from sulq.ledger.face import time_of
from sulq.numbers import amount
from sulq.serve.console.choices import Choices
from sulq.serve.console.sessions import Sessions
from sulq.serve.desk import Desk
from sulq.serve.handling import refusal_for
from sulq.serve.keys import AccessKey
from sulq.serve.refusals import RefusedError
from sulq.serve.requests import FORM, text_of
from sulq.serve.service import Service

HOME = "/console"
SIGN_IN = f"{HOME}/sign-in"
COOKIE = "sulq_session"
TOKEN = "csrf"
MOST_RESULTS = 10_000
FOLDER = Path(__file__).parents[1]
HEADERS = {
    # Pico brings its few icons as data: pictures. Everything else comes from here, and nothing is inline.
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "x-frame-options": "DENY",
}
UNITS = {"epsilon": "ε", "rho": "ρ", "queries": "queries"}
OURS = ("same-origin", "none")
"""What a browser says of a request that no other site made."""


@dataclass(frozen=True)
class Visit:
    """A request of somebody who is signed in.

    Args:
        request: the request.
        session: the id of the session.
        key: the key that was shown when it began.
    """

    request: Request
    session: str
    key: AccessKey


class Visiting:
    """What all pages share: sessions, templates, and the limits of the service.

    Args:
        service: the service.
    """

    def __init__(self, service: Service) -> None:
        self.service = service
        self.sessions = Sessions()
        self._results: OrderedDict[tuple[str, str, str], str] = OrderedDict()
        settings = service.settings
        self.secure = settings.certificate is not None or settings.behind_proxy
        self._templates = Environment(
            loader=FileSystemLoader(FOLDER / "templates"), autoescape=True, undefined=StrictUndefined,
            trim_blocks=True, lstrip_blocks=True,
        )  # fmt: skip
        self._templates.filters |= {
            "amount": amount,
            "exact": lambda text: amount(Fraction(text)),
            "at": time_of,
            "of_unit": _priced,
            "place": lambda name: quote(name, safe=""),
        }
        self._templates.globals |= {"version": version("sulq"), "home": HOME, "units": UNITS}

    def enter(self, request: Request, owner: bool = False) -> Visit:
        """Who makes a request, or a refusal.

        Args:
            request: the request.
            owner: whether only the owner may make it.
        """
        if self.service.closing:
            raise RefusedError("closing", "the curator is shutting down: ask again later", retry_after=5)
        session = request.cookies.get(COOKIE, "")
        key = self.sessions.key_of(session, self.service.keys)
        request.state.key = key
        if owner and not key.owner:
            raise RefusedError("not_allowed", "only a key of the owner may do this")
        return Visit(request, session, key)

    def keep_result(self, visit: Visit, dataset: str, run: str, place: str) -> None:
        """Remember where the result of a run is shown, until the service ends. A ledger has only answers."""
        self._results[visit.key.name, dataset, run] = place
        if len(self._results) > MOST_RESULTS:
            self._results.popitem(last=False)

    def result_at(self, visit: Visit, dataset: str, run: str) -> str:
        """Where the result of a run is shown, "" if that is not known."""
        return self._results.get((visit.key.name, dataset, run), "")

    def desk(self, visit: Visit, dataset: str) -> Desk:
        """The data set of a name, if the key is for it."""
        return self.service.desk(visit.key, dataset)

    async def form(self, request: Request) -> Choices:
        """What a form brings, if it is from one of these pages."""
        choices = Choices.read(await text_of(request, self.service.settings.limits, FORM))
        token = self.sessions.token(request.cookies.get(COOKIE, ""))
        site = request.headers.get("sec-fetch-site", "none")
        if not hmac.compare_digest(choices.one(TOKEN).encode(), token.encode()) or site not in OURS:
            words = "this form is too old or from elsewhere: open the page again, and send it from there"
            raise RefusedError("not_allowed", words)
        return choices

    async def worked(self, visit: Visit, step: Callable[[], Response]) -> Response:
        """What a step makes, in another thread, within the limits of the key."""
        with self.service.traffic.admitted(visit.key.id):
            return await self.service.work(step)

    async def scheduled(self, visit: Visit, step: Callable[[], Response]) -> Response:
        """As `worked`, for what may look at rows: it leaves on schedule, and so does a failure."""
        arrived = time.monotonic()
        with self.service.traffic.admitted(visit.key.id):
            try:
                return await self.service.work(step)
            finally:
                await self.service.settings.schedule.wait(arrived)

    def page(self, visit: Visit, template: str, status: int = 200, **about: Any) -> Response:
        """A page for somebody who is signed in."""
        token = self.sessions.token(visit.session)
        return self._rendered(template, status, key=visit.key, csrf=token, **about)

    def public_page(self, request: Request, template: str, status: int, **about: Any) -> Response:
        """A page for anybody. Its forms are bound to the browser that it is sent to."""
        session = request.cookies.get(COOKIE) or secrets.token_urlsafe(32)
        response = self._rendered(template, status, key=None, csrf=self.sessions.token(session), **about)
        self.remember(response, session)
        return response

    def remember(self, response: Response, session: str) -> None:
        """Let a browser keep the id of a session, which no script can read and no other site can use."""
        response.set_cookie(COOKIE, session, path=HOME, httponly=True, samesite="strict", secure=self.secure)

    def address(self, request: Request) -> str:
        """Where the service is reached, as whoever asks has reached it."""
        return f"{'https' if self.secure else 'http'}://{request.url.netloc}"

    def failed(self, request: Request, error: Exception) -> Response:
        """An error as a page; who is not signed in is sent to where one does that."""
        refusal = refusal_for(request, error)
        if refusal.status == 401:
            if "hx-request" in request.headers:
                return Response(status_code=401, headers=HEADERS | {"hx-redirect": SIGN_IN})
            return RedirectResponse(SIGN_IN, 303, HEADERS)
        key = getattr(request.state, "key", None)
        token = self.sessions.token(request.cookies.get(COOKIE, ""))
        return self._rendered("error.html", refusal.status, key=key, csrf=token, message=str(refusal))

    def route(self) -> type[APIRoute]:
        """Routes whose errors are pages."""

        class PageRoute(APIRoute):
            def get_route_handler(route) -> Callable[[Request], Coroutine[Any, Any, Response]]:  # noqa: N805
                handle = super().get_route_handler()

                async def guarded(request: Request) -> Response:
                    try:
                        return await handle(request)
                    except Exception as error:
                        return self.failed(request, error)

                return guarded

        return PageRoute

    def _rendered(self, template: str, status: int, **about: Any) -> Response:
        text = self._templates.get_template(template).render(**about)
        return HTMLResponse(text, status, HEADERS)


def _priced(value: Fraction | str, unit: str) -> str:
    """An amount with its unit, for people."""
    words, name = amount(Fraction(value)), UNITS[unit]
    if unit == "queries":
        return f"{words} {name}"
    return f"{name} {words}" if words.startswith("≈") else f"{name} = {words}"


def found_at(path: str, query: str = "") -> Response:
    """Where to look next, once a form was taken.

    Args:
        path: the path below the console.
        query: what comes after the question mark.
    """
    return RedirectResponse(f"{HOME}{path}{'?' if query else ''}{query}", 303, HEADERS)

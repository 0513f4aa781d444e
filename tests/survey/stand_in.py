"""A small collector in the place of the real one: the same addresses, headers and answers, and it notes what it got."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sulq
import sulq.survey
from sulq.local import Item, item_of
from sulq.queries.scope import Scope
from sulq.serve.listener import ListeningApp, listening_at

pytest.importorskip("fastapi", reason="pip install 'sulq[survey]'")
from fastapi import FastAPI, Request, Response
from fastapi.staticfiles import StaticFiles

FOLDER = Path(sulq.survey.__file__).parent
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SCHEMA = sulq.Schema(
    {
        "bribe": sulq.Boolean(),
        "town": sulq.Category(["north", "south", "east"], missing="east"),
        "drugs.tea": sulq.Boolean(),
        "drugs.other": sulq.Boolean(),
        "age": sulq.Integer(0, 120),
        "often": sulq.Category(["never", "rarely", "often"], missing="often"),
    }
)
SCOPE = Scope(SCHEMA)


def words(english: str, german: str) -> dict[str, str]:
    return {"en": english, "de": german}


def choices(**texts: str) -> list[dict[str, Any]]:
    return [{"value": value, "text": words(text, text)} for value, text in texts.items()]


def question(name: str, kind: str, text: dict[str, str], **more: Any) -> dict[str, Any]:
    blank: dict[str, Any] = {
        "help": None,
        "choices": [],
        "low": None,
        "high": None,
        "step": None,
        "unit": None,
    }
    return {"name": name, "kind": kind, "text": text} | blank | more


QUESTIONS = [
    question(
        "bribe",
        "yes-no",
        words("Did you ever pay a bribe?", "Haben Sie schon einmal Bestechungsgeld gezahlt?"),
        help=words("Also small ones.", "Auch kleines."),
    ),
    question(
        "town",
        "one-of",
        words("Where do you live?", "Wo wohnen Sie?"),
        choices=choices(north="North", south="South", east="East"),
    ),
    question(
        "drugs",
        "several-of",
        words("What do you take?", "Was nehmen Sie?"),
        choices=choices(tea="Tea", other="Other"),
    ),
    question("age", "number", words("How old are you?", "Wie alt sind Sie?"), low=0, high=120, unit="years"),
    question(
        "often",
        "scale",
        words("How often do you lie?", "Wie oft lügen Sie?"),
        choices=choices(never="Never", rarely="Rarely", often="Often"),
    ),
]


def asked(epsilon: Fraction = Fraction(1, 4)) -> list[Item]:
    """An item on each of some questions."""
    by_town, by_often = (sulq.count(by=name).parts[0] for name in ("town", "often"))
    return [item_of(part, SCOPE, epsilon) for part in (sulq.col("bribe"), by_town, sulq.col("age"), by_often)]


@dataclass
class StandIn:
    """What the collector says, and what it got."""

    url: str = ""
    id: str = "stand-in"
    epsilon: str = "2"
    invited: bool = True
    links: set[str] = field(default_factory=lambda: {f"link-{i}" for i in range(50)})
    number: int = 1
    state: str = "open"
    asks: str = "all"
    items: list[dict[str, Any]] = field(default_factory=lambda: entries(asked()))
    used: set[tuple[str, int]] = field(default_factory=set)
    accepted: list[dict[str, Any]] = field(default_factory=list)
    seen: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    """Method, address and headers of all that came in."""
    lost: int = 0
    """So many answers to posts get lost on their way."""

    def survey(self) -> dict[str, Any]:
        return {
            "survey": 1,
            "id": self.id,
            "title": words("Habits", "Gewohnheiten"),
            "about": words("A survey on what one does not tell.", "Eine Umfrage zu dem, was man nicht sagt."),
            "languages": ["en", "de"],
            "epsilon": self.epsilon,
            "keeps": "tallies",
            "invited": self.invited,
            "opens": None,
            "closes": None,
            "schema": SCHEMA.form(),
            "questions": QUESTIONS,
        }

    def round(self) -> dict[str, Any]:
        head = {"round-open": 1, "survey": self.id, "number": self.number, "asks": self.asks}
        return head | {"items": self.items if self.state == "open" else [], "state": self.state, "poll": 2}

    def take(self, sent: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        link = sent["invitation"]
        if self.state != "open" or sent["round"] != self.number:
            return 410, {"refused": "closed", "why": "this round is closed"}
        if self.invited and link not in self.links:
            return 403, {"refused": "unknown", "why": "this link is not known"}
        if (link, self.number) in self.used:
            return 409, {"refused": "used", "why": "this link was used"}
        self.used.add((link, self.number))
        self.accepted.append(sent)
        return 200, {"accepted": True}


def entries(items: list[Item]) -> list[dict[str, Any]]:
    return [{"item": item.form(), "randomizer": item.randomizer.form, "people": 100} for item in items]


def app_of(stand_in: StandIn) -> FastAPI:
    app = FastAPI()

    @app.middleware("http")
    async def headers(request: Request, call_next: Any) -> Response:
        stand_in.seen.append((request.method, str(request.url), dict(request.headers)))
        response: Response = await call_next(request)
        response.headers["content-security-policy"] = POLICY
        response.headers["referrer-policy"] = "no-referrer"
        response.headers["cache-control"] = "no-store"
        return response

    def file(path: str, media: str) -> Any:
        async def read() -> Response:
            return Response((FOLDER / path).read_bytes(), media_type=media)

        return read

    app.get("/")(file("templates/page.html", "text/html; charset=utf-8"))
    app.get("/protects")(file("templates/protects.html", "text/html; charset=utf-8"))
    app.get("/worker.js")(file("static/worker.js", "text/javascript"))
    app.mount("/static", StaticFiles(directory=FOLDER / "static"))

    @app.get("/survey.json")
    async def survey() -> Response:
        return Response(json.dumps(stand_in.survey()), media_type="application/json")

    @app.get("/round.json")
    async def round_() -> Response:
        return Response(json.dumps(stand_in.round()), media_type="application/json")

    @app.post("/reports")
    async def reports(request: Request) -> Response:
        status, answer = stand_in.take(await request.json())
        if stand_in.lost > 0:
            stand_in.lost -= 1
            status, answer = 503, {"refused": "busy"}
        return Response(json.dumps(answer), status, media_type="application/json")

    return app


@contextmanager
def running(stand_in: StandIn) -> Iterator[StandIn]:
    """The stand-in behind an address of its own."""
    at = listening_at("127.0.0.1", 0)
    listener = ListeningApp(app_of(stand_in), at, seconds=30, connections=100)
    listener.start()
    stand_in.url = f"http://localhost:{at.getsockname()[1]}"
    try:
        yield stand_in
    finally:
        listener.stop()

"""Services to ask: small tables, quick schedules, keys for everybody, and clients without a library."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

import sulq
from sulq.serve.config import ServiceSettings, settings_of
from sulq.serve.keys import Keys
from sulq.serve.limits import Limits
from sulq.serve.logs import LOGGER
from sulq.serve.opening import opened
from sulq.serve.schedule import Schedule
from sulq.serve.server import Server

ROWS = 2_000
SCHEMA = """
[columns.sick]
type = "boolean"
[columns.age]
type = "integer"
low = 0
high = 100
[columns.plan]
type = "category"
values = ["free", "paid", "none"]
"""
QUICK = 0.002
"""Seconds: the first time at which answers leave."""


def write_people(folder: Path, rows: int = ROWS) -> Path:
    """A table and its schema."""
    lines = [
        f"{str(row % 4 == 0).lower()},{row % 90},{('free', 'paid', 'none')[row % 3]}" for row in range(rows)
    ]
    (folder / "people.csv").write_text("\n".join(["sick,age,plan", *lines, ""]))
    (folder / "people.toml").write_text(SCHEMA)
    return folder / "people.csv"


def settings(folder: Path, **changes: Any) -> ServiceSettings:
    """What a service of the table is told: `server`, `limits` and `dataset` are changes of these tables."""
    if not (folder / "people.csv").exists():
        write_people(folder)
    dataset = {"data": "people.csv", "schema": "people.toml", "epsilon": 8} | changes.get("dataset", {})
    server = {"port": 0, "answers_after": QUICK} | changes.get("server", {})
    datasets = {"people": dataset} | changes.get("datasets", {})
    return settings_of({"server": server, "limits": changes.get("limits", {}), "datasets": datasets}, folder)


@dataclass(frozen=True)
class Client:
    """Whoever has a key."""

    http: httpx.Client
    secret: str

    def get(self, path: str, **params: Any) -> Any:
        return self.http.get(path, params=params)

    def post(self, path: str, body: Any) -> Any:
        return self.http.post(path, json=body)

    def ask(self, round_: sulq.Round, run: str = "main", **body: Any) -> Any:
        return self.post("/v1/datasets/people/ask", {"round": round_.form, "run": run} | body)

    def quote(self, round_: sulq.Round, run: str = "main", **body: Any) -> Any:
        return self.post("/v1/datasets/people/quote", {"round": round_.form, "run": run} | body)


@dataclass
class Running:
    """A service in this process, and a client for every name."""

    server: Server
    keys: Keys

    @property
    def url(self) -> str:
        return self.server.url

    @property
    def curator(self) -> sulq.Curator:
        return self.server.service.desks["people"].curator

    def client(self, name: str = "ada", owner: bool = False, **about: Any) -> Client:
        secret = self.keys.add(name, "owner" if owner else "analyst", **about)
        return self.client_with(secret)

    def client_with(self, secret: str) -> Client:
        headers = {"authorization": f"Bearer {secret}"}
        # No TLS here, and reading all authorities takes long.
        return Client(httpx.Client(base_url=self.url, headers=headers, timeout=60, verify=False), secret)


@contextmanager
def running(folder: Path, **changes: Any) -> Iterator[Running]:
    told = settings(folder, **changes)
    logging.getLogger(LOGGER).propagate = True
    with Server(told) as server, Keys(told.keys) as keys:
        yield Running(server, keys)


@dataclass
class Curators:
    """A service of curators of this process: each that is asked for is one more data set."""

    server: Server
    secret: str

    def connect(self, curator: sulq.Curator, secret: str | None = None, **settings: Any) -> sulq.Remote:
        service = self.server.service
        name = f"people-{len(service.desks)}"
        service.desks |= opened(service.settings, {name: curator})  # type: ignore[operator]
        return sulq.connect(self.server.url, secret or self.secret, name, **settings)


@contextmanager
def curators(folder: Path, owner: bool = False, **limits: Any) -> Iterator[Curators]:
    """A service that has no data sets yet."""
    plenty = {"rounds_a_minute": 10**6, "at_once": 64} | limits
    told = ServiceSettings(
        (), str(folder / "curator.keys"), port=0, limits=Limits(**plenty), schedule=Schedule(QUICK)
    )
    with Server(told) as server, Keys(told.keys) as keys:
        yield Curators(server, keys.add("ada", "owner" if owner else "analyst"))


def counted(share: str = "1/80", **about: Any) -> sulq.Round:
    return sulq.Round([sulq.count(**about)], share)


def code(response: Any) -> tuple[int, str]:
    """The status and the code of a refusal, which has nothing else but words."""
    error = response.json()["error"]
    assert set(error) <= {"code", "message", "budget"} and error["message"]
    assert "\n" not in error["message"] and "Traceback" not in error["message"]
    return response.status_code, error["code"]

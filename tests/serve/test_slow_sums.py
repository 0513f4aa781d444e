"""A service whose sums take long: others are listened to, and what was begun is finished."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

import sulq
from tests.serve.services import Client, Running, code, counted, running
from tests.waiting import wait_until

SICK = counted(where="sick")


@contextmanager
def slow(
    service: Running, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[threading.Event, threading.Event]]:
    """Sums that begin, and go on when they are told to."""
    began, go = threading.Event(), threading.Event()
    sums = service.curator.source.sums

    def wait(*parts: Any) -> Any:
        began.set()
        assert go.wait(60)
        return sums(*parts)

    monkeypatch.setattr(service.curator.source, "sums", wait)
    try:
        yield began, go
    finally:
        go.set()


def test_while_rows_are_summed_others_are_listened_to(
    service: Running, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    liv, mia = service.client("liv"), service.client("mia")
    ada.ask(SICK, "stored")
    at_once = service.server.settings.limits.at_once
    with slow(service, monkeypatch) as (began, go), ThreadPoolExecutor(at_once) as pool:
        asking = [pool.submit(liv.ask, SICK, f"slow {place}") for place in range(at_once)]
        assert began.wait(60)
        wait_until(lambda: service.server.service.traffic.at_once >= at_once)
        # Who has asked as much as one may at once waits; nobody else does.
        assert code(liv.ask(SICK, "one more")) == (429, "too_many")
        assert mia.quote(SICK).status_code == mia.get("/healthz").status_code == 200
        assert ada.ask(SICK, "stored").status_code == 200
        go.set()
        assert all(each.result().status_code == 200 for each in asking)


def test_a_service_that_is_told_to_stop_gives_the_answers_that_it_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ThreadPoolExecutor(1) as pool, running(tmp_path) as service:
        ada = service.client("ada")
        with slow(service, monkeypatch) as (began, go):
            asking = pool.submit(ada.ask, SICK)
            assert began.wait(60)
            service.server.ask_to_stop()
            inner = service.server._listener._server
            wait_until(lambda: not (inner.servers and inner.servers[0].is_serving()))
            go.set()
            assert asking.result().status_code == 200


def test_a_service_that_ends_finishes_what_it_began(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        ada = service.client("ada")
        ada.ask(SICK)
        path = service.curator.ledger.path
    assert path is not None
    with sulq.Ledger.read(path) as ledger:
        assert ledger.verify() == [] and len(list(ledger.entries())) == 2
    with pytest.raises(httpx.TransportError):
        ada.get("/healthz")

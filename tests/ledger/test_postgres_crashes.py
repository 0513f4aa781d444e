"""A server, or a connection to it, that is lost at any moment: nothing is charged twice, and nothing is lost."""

from __future__ import annotations

import itertools
import os
import random
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sulq.errors import BudgetError, LedgerError
from sulq.ledger import postgres_connections
from sulq.ledger.ledger import Ledger
from sulq.ledger.postgres_tables import PostgresTransaction
from tests.effort import either
from tests.ledger.homes import backends
from tests.ledger.ledgers import (
    COST,
    Received,
    Stepping,
    charged,
    check_that_charges_cover,
    child,
    ending,
    never,
    opened,
    stored,
    token,
)
from tests.postgres import PostgresServer
from tests.waiting import wait_until

KILLS = either(3, 30)
STRIDE = either(3, 1)


@pytest.fixture
def doomed() -> Iterator[PostgresServer]:
    """A server that may be killed."""
    server = PostgresServer()
    yield server
    server.stop()


def cut(connection: Any) -> None:
    """End a connection as a network does: neither side is told."""
    with socket.socket(fileno=os.dup(connection.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)


def insisting(ledger: Ledger, question: str, answer: Callable[[], str] = token) -> str:
    """The answer, however often it takes."""
    for _ in range(20):
        try:
            return ledger.release("run", question, COST, answer)
        except BudgetError:
            raise
        except LedgerError as error:
            assert "nothing was released" in str(error) and "\n" not in str(error)
    raise AssertionError("never answered")


def test_a_connection_may_be_lost_at_any_step(postgres: PostgresServer, stepping: type[Stepping]) -> None:
    refused = 0
    for steps in itertools.count(0, STRIDE):
        ledger = opened(postgres.url())  # type: ignore[arg-type]
        ledger.release("run", "q0", COST, token)
        left = itertools.count(steps, -1)

        def step(left: Iterator[int] = left) -> None:
            if next(left) == 0:
                with postgres.connect() as other:
                    other.execute(
                        """SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
                        WHERE application_name = 'sulq ledger' AND pid <> pg_backend_pid()"""
                    )

        stepping.step = staticmethod(step)
        try:
            answer = ledger.release("run", "q1", COST, token)
        except LedgerError as error:
            refused += 1
            assert "nothing was released" in str(error)
            answer = insisting(ledger, "q1")
        stepping.step = staticmethod(lambda: None)
        assert (ledger.verify(), charged(ledger)) == ([], ["q0", "q1"])
        assert stored(ledger)["q1"] == answer and ledger.spent == 2 * COST
        ledger.close()
        if next(left) >= 0:
            break
    assert steps > 20 and refused > 2


@pytest.mark.parametrize("made", [True, False])
def test_a_commit_that_nobody_confirmed_is_looked_for(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch, made: bool
) -> None:
    """Either the commit was made and only its confirmation is lost, or it was not made."""
    ledger = opened(postgres.url())  # type: ignore[arg-type]
    commit, losses = PostgresTransaction.commit, itertools.count()
    which = 0

    def losing(self: PostgresTransaction) -> str | None:
        if self.written is not None and next(losses) == which:
            if made:
                commit(self)
            cut(self._connection)
        return commit(self)

    monkeypatch.setattr(PostgresTransaction, "commit", losing)
    for which in (0, 1):
        losses, question = itertools.count(), f"q{which}"
        if made:
            answer = ledger.release("run", question, COST, token)
        else:
            with pytest.raises(LedgerError, match="nothing was released; ask again"):
                ledger.release("run", question, COST, token)
            answer = ledger.release("run", question, COST, token)
        assert stored(ledger)[question] == answer
    assert (charged(ledger), ledger.verify()) == (["q0", "q1"], [])


def test_a_server_that_is_started_anew_is_found_again(
    doomed: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = opened(doomed.url())  # type: ignore[arg-type]
    ledger.release("run", "q", COST, lambda: "42")
    doomed.kill()
    monkeypatch.setattr(postgres_connections, "RETURN", 0.2)
    with pytest.raises(LedgerError, match=r"nothing was released; see that the server is there"):
        ledger.release("run", "another", COST, never)
    monkeypatch.setattr(postgres_connections, "RETURN", 20.0)
    returning = threading.Timer(0.5, doomed.start)
    returning.start()
    assert ledger.release("run", "q", COST, never) == "42"
    returning.join()
    ledger.release("run", "another", COST, token)
    assert (ledger.spent, ledger.verify()) == (2 * COST, [])


def test_a_server_may_be_killed_at_any_moment(doomed: PostgresServer, tmp_path: Path) -> None:
    """Three processes ask the same questions. One connection is killed, or the whole server, again and again."""
    moments = random.Random(0)
    url, received, over = doomed.url(), Received(tmp_path / "received"), tmp_path / "over"
    opened(url, total=1000).close()  # type: ignore[arg-type]

    def work() -> None:
        ledger = opened(url, total=1000)  # type: ignore[arg-type]
        for place in itertools.count():
            if over.exists():
                return
            received.add(f"q{place}", insisting(ledger, f"q{place}"))

    workers = [child(work) for _ in range(3)]
    try:
        for kill in range(KILLS):
            before = len(received.pairs())
            wait_until(lambda before=before: len(received.pairs()) >= before + 4)
            time.sleep(moments.uniform(0, 0.05))
            if kill % 3 == 2:
                doomed.kill()
                doomed.start()
            elif serving := backends(doomed):
                with suppress(ProcessLookupError):  # the one before took it along
                    os.kill(moments.choice(serving), signal.SIGKILL)
    finally:
        over.touch()
    assert [ending(worker) for worker in workers] == [0] * 3
    with opened(url, total=1000) as ledger:  # type: ignore[arg-type]
        check_that_charges_cover(ledger, received)
        assert set(charged(ledger)) == set(stored(ledger)), "who was cut off asked again"


def test_a_group_whose_commit_was_not_confirmed_is_looked_for_together(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = opened(postgres.url(), total=1).shared()  # type: ignore[arg-type]
    commit, losses = PostgresTransaction.commit, itertools.count()

    def losing(self: PostgresTransaction) -> str | None:
        ended = commit(self)
        if self.written is not None and next(losses) % 3 == 0:
            cut(self._connection)
            return commit(self)
        return ended

    monkeypatch.setattr(PostgresTransaction, "commit", losing)

    def ask(place: int) -> str | None:
        try:
            return ledger.release(f"{place}", "how many?", Fraction(1, 10), token)
        except BudgetError:
            return None

    with ThreadPoolExecutor(8) as pool:
        answers = [answer for answer in pool.map(ask, range(24)) if answer is not None]
    assert len(answers) == 10 and ledger.remaining == 0 and ledger.verify() == []
    assert {entry.answer for entry in ledger.entries() if entry.answer} == set(answers)
    ledger.close()

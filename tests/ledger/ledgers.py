"""Ledgers to ask, processes that ask them, and what came out."""

from __future__ import annotations

import itertools
import os
import secrets
import signal
import sqlite3
import traceback
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

import pytest

from sulq.errors import BudgetError
from sulq.ledger.ledger import JSON, Ledger
from sulq.ledger.postgres_tables import PostgresTransaction
from tests.ledger.homes import Place

FACTS: dict[str, JSON] = {"schema": "9f86d081", "neighbours": "replace", "rows": 20190, "delta": "1/1000000"}
COST = Fraction(1, 10)
KILLED = 9
ADA, BOB = "analyst:ada", "analyst:bob"


def nameless() -> Place | None:
    """Where a ledger without a name is: in memory, unless a test says otherwise."""
    return None


def opened(path: Place | None, total: Fraction | int = 1) -> Ledger:
    return Ledger(nameless() if path is None else path, "epsilon", Fraction(total), FACTS)


def capped(path: Place | None = None, total: int = 1, **caps: Fraction) -> Ledger:
    """A ledger with caps for analysts."""
    ledger = opened(path, total)
    for name, cap in caps.items():
        ledger.set_cap(f"analyst:{name}", cap)
    return ledger


def standings(ledger: Ledger) -> dict[str, tuple[Fraction, Fraction | None]]:
    return {account.name: (account.spent, account.cap) for account in ledger.accounts()}


class Stepping(sqlite3.Connection):
    """A connection that calls `step` before each statement and after it."""

    step: Callable[[], None] = staticmethod(lambda: None)

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        type(self).step()
        cursor = super().execute(*arguments)
        type(self).step()
        return cursor


def stepping_postgres(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let connections to Postgres take steps as well."""
    try:
        import psycopg
    except ModuleNotFoundError:
        return

    class SteppingPostgres(psycopg.Connection[Any]):
        def execute(self, *arguments: Any, **named: Any) -> Any:
            Stepping.step()
            cursor = super().execute(*arguments, **named)
            Stepping.step()
            return cursor

    commit = PostgresTransaction.commit

    def committed(transaction: PostgresTransaction) -> str | None:
        ended = commit(transaction)
        Stepping.step()
        return ended

    monkeypatch.setattr(psycopg, "connect", SteppingPostgres.connect)
    monkeypatch.setattr(PostgresTransaction, "commit", committed)


def token() -> str:
    """An answer that is never drawn twice, so that an answer drawn again cannot pass for the stored one."""
    return secrets.token_hex(8)


def never() -> NoReturn:
    raise AssertionError("an answer was computed that should not be")


def child(work: Callable[[], object]) -> int:
    """Do the work in a forked process; its id. It ends with 0, with 1 after a BudgetError, else with 2."""
    process = os.fork()
    if process:
        return process
    signal.alarm(800)  # a child that hangs is killed, and its test fails
    status = 2
    try:
        work()
        status = 0
    except BudgetError:
        status = 1
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def ending(process: int) -> int:
    """How a child ended: its exit status, or minus the signal that killed it."""
    _, status = os.waitpid(process, 0)
    return os.waitstatus_to_exitcode(status)


class Received:
    """The answers that processes got out of a ledger, written down the moment they came."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, question: str, answer: str) -> None:
        file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(file, f"{question} {answer}\n".encode())
        os.close(file)

    def pairs(self) -> set[tuple[str, str]]:
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        return {(question, answer) for question, answer in map(str.split, lines)}


def stored(ledger: Ledger) -> dict[str, str]:
    return {entry.question: entry.answer for entry in ledger.entries() if entry.answer is not None}


def charged(ledger: Ledger) -> list[str]:
    return [entry.question for entry in ledger.entries() if entry.kind == "charge"]


def check_that_charges_cover(ledger: Ledger, received: Received) -> None:
    assert ledger.verify() == []
    questions = charged(ledger)
    assert len(questions) == len(set(questions))
    assert set(stored(ledger)) <= set(questions)
    assert received.pairs() <= stored(ledger).items()
    assert ledger.spent == COST * len(questions)


def ask_forever(path: Place, received: Received, first: int = 0, heartbeat: int | None = None) -> None:
    ledger = opened(path, total=1000)
    for i in itertools.count(first):
        received.add(f"q{i}", ledger.release("run", f"q{i}", COST, token))
        if heartbeat is not None:
            os.write(heartbeat, b"!")

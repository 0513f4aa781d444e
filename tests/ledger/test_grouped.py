"""Many threads, one writer: commits are shared, and everything that a ledger promises holds as before."""

from __future__ import annotations

import copy
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sulq.errors import BudgetError, LedgerError, SulqError
from sulq.ledger.grouped import GroupedStore
from sulq.ledger.ledger import Ledger
from sulq.ledger.sqlite import SqliteStore
from sulq.ledger.store import Transaction
from tests.ledger.homes import Home
from tests.ledger.ledgers import COST, FACTS, child, ending, opened, token
from tests.waiting import wait_until

FIRST = "the first of a group"


class Held(SqliteStore):
    """A store whose next commit waits until it may go on, and which counts commits."""

    def __init__(self, path: Path | None) -> None:
        super().__init__(path)
        self.go = threading.Event()
        self.go.set()
        self.entered = threading.Event()
        self.commits = 0
        self.failing = False

    @contextmanager
    def transaction(self, write: bool) -> Iterator[Any]:
        with super().transaction(write) as transaction:
            if write:
                self.entered.set()
                self.go.wait()
            yield transaction
            if write and self.failing:
                raise sqlite3.OperationalError("disk I/O error")
        self.commits += write


def grouped(path: Path | None, total: int = 1) -> tuple[Ledger, Held]:
    store = Held(path)
    return Ledger(GroupedStore(store), "epsilon", Fraction(total), FACTS), store


def together(ledger: Ledger, store: Held, steps: list[Any]) -> list[Any]:
    """Do all the steps at once: the first begins a group, and waits until the others have lined up."""
    store.go.clear()
    store.entered.clear()
    results: list[Any] = [None] * len(steps)

    def do(place: int) -> None:
        try:
            results[place] = steps[place]()
        except SulqError as error:
            results[place] = error

    with ThreadPoolExecutor(len(steps)) as pool:
        queue = ledger._store._queue  # type: ignore[attr-defined]
        pool.submit(do, 0)
        store.entered.wait()
        for place in range(1, len(steps)):
            pool.submit(do, place)
            wait_until(lambda place=place: queue.qsize() >= place, every=0.001)
        store.go.set()
    return results


def charge(ledger: Ledger, run: str, cost: Fraction = COST) -> Any:
    return lambda: ledger.release(run, "how many?", cost, token)


def test_threads_that_write_at_once_share_their_commits(tmp_path: Path) -> None:
    ledger, store = grouped(tmp_path / "ledger")
    answers = together(ledger, store, [charge(ledger, str(run)) for run in range(8)])
    assert len(set(answers)) == 8 and not any(isinstance(answer, SulqError) for answer in answers)
    # One commit for all charges; the answers come one by one, or together.
    assert store.commits <= 1 + 8
    assert ledger.spent == 8 * COST and ledger.verify() == []
    kinds = [entry.kind for entry in ledger.entries()]
    assert kinds[:8] == ["charge"] * 8 and kinds[8:] == ["answer"] * 8


def test_turns_come_in_the_order_of_arrival(tmp_path: Path) -> None:
    ledger, store = grouped(None)
    together(ledger, store, [charge(ledger, str(run)) for run in range(8)])
    runs = [entry.run for entry in ledger.entries() if entry.kind == "charge"]
    assert runs == [str(run) for run in range(8)]


def test_a_charge_that_is_refused_undoes_nothing_of_the_others(tmp_path: Path) -> None:
    ledger, store = grouped(tmp_path / "ledger")
    ledger.set_cap("run:greedy", Fraction(1, 100))
    steps = [charge(ledger, "first"), charge(ledger, "greedy"), charge(ledger, "last")]
    first, greedy, last = together(ledger, store, steps)
    assert isinstance(greedy, BudgetError) and greedy.account == "run:greedy"
    assert isinstance(first, str) and isinstance(last, str)
    assert ledger.spent == 2 * COST and ledger.verify() == []


def test_if_the_database_fails_all_are_told_and_nothing_was_written(tmp_path: Path) -> None:
    ledger, store = grouped(tmp_path / "ledger")
    store.failing = True
    results = together(ledger, store, [charge(ledger, str(run)) for run in range(3)])
    assert all(
        isinstance(result, LedgerError) and "nothing was released" in str(result) for result in results
    )
    assert ledger.spent == 0 and list(ledger.entries()) == []
    store.failing = False
    charge(ledger, "later")()  # what was seen and never committed is not missed
    assert ledger.spent == COST and ledger.verify() == []


def test_an_error_of_the_database_in_a_turn_undoes_the_whole_group(tmp_path: Path) -> None:
    ledger, store = grouped(tmp_path / "ledger")

    def broken() -> None:
        with ledger._store.transaction(True):
            raise sqlite3.OperationalError("database or disk is full")

    first, failed = together(ledger, store, [charge(ledger, "first"), broken])
    assert isinstance(first, LedgerError) and isinstance(failed, LedgerError)
    assert ledger.spent == 0


def test_a_thousand_turns_never_spend_more_than_there_is(home: Home) -> None:
    ledger = opened(home / "ledger").shared()
    ledger.set_cap("analyst:ada", 4 * COST)

    def ask(place: int) -> str | None:
        account = "analyst:ada" if place % 2 else "analyst:bob"
        try:
            return ledger.release(f"{place}", "how many?", COST, token, account=account)
        except BudgetError:
            return None

    with ThreadPoolExecutor(16) as pool:
        answers = [answer for answer in pool.map(ask, range(64)) if answer is not None]
    assert len(answers) == 10 and ledger.remaining == 0
    assert ledger.spent_of("analyst:ada") <= 4 * COST
    assert ledger.verify() == []


def test_the_same_question_of_many_threads_is_charged_once(home: Home) -> None:
    ledger = opened(None).shared()
    with ThreadPoolExecutor(8) as pool:
        answers = set(pool.map(lambda _: charge(ledger, "tree")(), range(32)))
    assert len(answers) == 1 and ledger.spent == COST


def test_a_closed_store_writes_for_those_who_wait_and_then_for_nobody(tmp_path: Path) -> None:
    ledger, store = grouped(tmp_path / "ledger")
    results = together(ledger, store, [charge(ledger, "first"), ledger.close])
    assert isinstance(results[0], str | LedgerError)
    with pytest.raises(LedgerError, match="is closed"):
        charge(ledger, "late")()
    ledger.close()
    with Ledger.read(tmp_path / "ledger") as kept:
        assert kept.spent == COST and kept.verify() == []


def test_no_copy_of_it_writes(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger").shared()
    with pytest.raises(LedgerError, match="cannot be copied"):
        copy.copy(ledger._store)
    assert ending(child(charge(ledger, "forked"))) == 2
    assert ledger.spent == 0


def test_a_part_that_is_undone_leaves_the_rest_of_the_transaction() -> None:
    store = SqliteStore(None)
    store.create({"head": FIRST})

    def change(transaction: Transaction, value: str, fails: bool) -> None:
        with transaction.nested():
            transaction.put("head", value)
            if fails:
                raise BudgetError("epsilon", Fraction(1), Fraction(0))

    with store.transaction(True) as transaction:
        change(transaction, "kept", fails=False)
        with pytest.raises(BudgetError):
            change(transaction, "undone", fails=True)
    assert store.declared() == {"head": "kept"}

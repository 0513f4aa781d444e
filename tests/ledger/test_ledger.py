"""A charge comes before its answer, an answer is given once, and costs add up exactly."""

from __future__ import annotations

import itertools
import statistics
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sulq.errors import BudgetError, LedgerError
from sulq.ledger.ledger import Ledger
from sulq.ledger.sqlite_tables import SELECT
from sulq.ledger.store import Transaction
from tests.effort import long
from tests.ledger.homes import Home
from tests.ledger.ledgers import COST, charged, never, opened, stored, token


def test_a_charge_is_recorded_before_its_answer(home: Home) -> None:
    ledger = opened(home / "ledger")

    def answer() -> str:
        with Ledger.read(home / "ledger") as other:
            assert charged(other) == ["q"]
            assert other.spent == COST
        return "42"

    assert ledger.release("run", "q", COST, answer) == "42"
    assert [entry.kind for entry in ledger.entries()] == ["charge", "answer"]


def test_an_answer_is_stored_before_it_is_returned(home: Home) -> None:
    with opened(home / "ledger") as ledger:
        ledger.release("run", "q", COST, lambda: "42")
        with Ledger.read(home / "ledger") as other:
            assert stored(other) == {"q": "42"}


def test_an_equal_question_of_the_same_run_is_free_and_gets_the_stored_answer(home: Home) -> None:
    ledger = opened(None)
    ledger.release("run", "q", COST, lambda: "42")
    assert ledger.release("run", "q", COST, never) == "42"
    assert ledger.spent == COST


def test_an_equal_question_of_another_run_is_charged_anew(home: Home) -> None:
    ledger = opened(None)
    ledger.release("run", "q", COST, lambda: "42")
    assert ledger.release("another", "q", COST, lambda: "43") == "43"
    assert ledger.spent == 2 * COST


def test_an_empty_answer_is_an_answer(home: Home) -> None:
    ledger = opened(None)
    assert ledger.release("run", "q", COST, lambda: "") == ""
    assert ledger.release("run", "q", COST, never) == ""


def test_ten_tenths_are_exactly_one(home: Home) -> None:
    ledger = opened(None)
    for i in range(10):
        ledger.release("run", f"q{i}", COST, token)
    assert ledger.remaining == 0
    with pytest.raises(BudgetError) as refused:
        ledger.release("run", "one more", Fraction(1, 10**30), never)
    assert refused.value.requested == refused.value.excess == Fraction(1, 10**30)
    assert refused.value.remaining == 0
    assert ledger.release("run", "for nothing", Fraction(0), lambda: "public") == "public"


def test_a_refused_question_leaves_no_trace_and_the_run_goes_on(home: Home) -> None:
    ledger = opened(None)
    ledger.release("run", "q0", Fraction(2, 3), token)
    before = list(ledger.entries())
    with pytest.raises(BudgetError) as refused:
        ledger.release("run", "q1", Fraction(1, 2), never)
    assert (refused.value.remaining, refused.value.excess) == (Fraction(1, 3), Fraction(1, 6))
    assert list(ledger.entries()) == before
    ledger.release("run", "q1", Fraction(1, 3), token)
    assert ledger.remaining == 0
    assert ledger.verify() == []


def test_if_computing_an_answer_fails_its_charge_stays_and_is_not_taken_twice(home: Home) -> None:
    ledger = opened(None)
    with pytest.raises(ZeroDivisionError):
        ledger.release("run", "q", COST, lambda: str(1 / 0))
    assert ledger.spent == COST
    assert ledger.release("run", "q", COST, lambda: "42") == "42"
    assert ledger.spent == COST


def test_an_old_charge_does_not_cover_a_dearer_answer(home: Home) -> None:
    ledger = opened(None)
    with pytest.raises(ZeroDivisionError):
        ledger.release("run", "q", COST, lambda: str(1 / 0))
    with pytest.raises(LedgerError, match="more than that covers"):
        ledger.release("run", "q", 2 * COST, never)
    assert ledger.spent == COST


def test_the_answer_that_is_stored_first_is_the_answer(home: Home) -> None:
    slow, fast = opened(home / "ledger"), opened(home / "ledger")

    def overtaken() -> str:
        assert fast.release("run", "q", COST, lambda: "first") == "first"
        return "second"

    assert slow.release("run", "q", COST, overtaken) == "first"
    assert slow.spent == COST
    assert stored(slow) == {"q": "first"}


def test_an_answer_may_itself_ask_the_ledger(home: Home) -> None:
    ledger = opened(None)
    inner = ledger.release("run", "outer", COST, lambda: ledger.release("run", "inner", COST, lambda: "42"))
    assert inner == "42"
    assert ledger.verify() == []


@pytest.mark.parametrize("cost", [0.1, 1, Fraction(-1, 10), "1/10"])
def test_a_charge_is_an_exact_fraction_of_at_least_zero(cost: Any, home: Home) -> None:
    ledger = opened(None)
    with pytest.raises(LedgerError, match="exact Fraction"):
        ledger.release("run", "q", cost, never)
    assert ledger.spent == 0


def test_a_budget_has_a_known_unit() -> None:
    with pytest.raises(LedgerError, match="epsilon"):
        Ledger(None, "dollars", Fraction(1), {})


def test_text_that_cannot_be_stored_is_refused_and_not_repeated(home: Home) -> None:
    ledger = opened(None)
    with pytest.raises(LedgerError, match="nothing was released") as refused:
        ledger.release("run", "q", COST, lambda: "secret \ud800")
    assert "secret" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert ledger.release("run", "q", COST, lambda: "42") == "42"
    assert ledger.spent == COST


@pytest.mark.parametrize("run", [1, True, 1.5, None, b"run", ("run",), "lone \ud800"])
def test_a_run_that_a_file_would_not_give_back_is_refused_at_the_door(home: Home, run: Any) -> None:
    with opened(home / "ledger") as ledger:
        with pytest.raises(LedgerError, match=r"the name of a run .*; nothing was released"):
            ledger.release(run, "q", COST, never)
        assert (ledger.spent, ledger.verify()) == (0, [])
        with pytest.raises(LedgerError, match="a question"):
            ledger.release("run", run, COST, never)
        assert (ledger.spent, ledger.verify()) == (0, [])


@pytest.mark.parametrize("secret", [20187, 2.5, True, None, b"20187"])
def test_an_answer_that_is_no_text_is_refused_and_not_repeated(home: Home, secret: Any) -> None:
    with opened(home / "ledger") as ledger:
        with pytest.raises(LedgerError, match="an answer must be a text") as refused:
            ledger.release("run", "q", COST, lambda: secret)
        assert str(secret) not in str(refused.value) or secret is None
        assert ledger.release("run", "q", COST, lambda: "42") == "42"
        assert (ledger.spent, ledger.verify()) == (COST, [])


@pytest.mark.parametrize("odd", ["", " ", "a\0b", "ε\n\t\r", "\U0001f600", "\ufffd\ufffe", "x" * 100_000])
def test_any_other_text_comes_back_as_it_was(home: Home, odd: str) -> None:
    with opened(home / "ledger") as ledger:
        ledger.release(odd, odd, COST, lambda: odd)
    with opened(home / "ledger") as ledger:
        assert ledger.release(odd, odd, COST, never) == odd
        assert [run.name for run in ledger.runs()] == [odd]
        assert ledger.verify() == []


def test_runs_are_counted_apart(home: Home) -> None:
    ledger = opened(None)
    ledger.release("tree", "q0", COST, token)
    ledger.release("means", "q0", 2 * COST, token)
    ledger.release("tree", "q1", COST, token)
    with pytest.raises(ZeroDivisionError):
        ledger.release("tree", "q2", COST, lambda: str(1 / 0))
    tree, means = ledger.runs()
    assert (tree.name, tree.charges, tree.answers, tree.spent) == ("tree", 3, 2, 3 * COST)
    assert (means.name, means.charges, means.answers, means.spent) == ("means", 1, 1, 2 * COST)
    assert tree.first <= means.first <= means.last <= tree.last


def test_entries_are_chained(home: Home) -> None:
    ledger = opened(None)
    for i in range(3):
        ledger.release("run", f"q{i}", COST, token)
    entries = list(ledger.entries())
    assert [entry.number for entry in entries] == [1, 2, 3, 4, 5, 6]
    assert all(later.previous == earlier.hash for earlier, later in itertools.pairwise(entries))
    assert entries[0].time.endswith("+00:00")


def test_a_closed_ledger_releases_nothing(home: Home) -> None:
    with opened(None) as ledger:
        pass
    with pytest.raises(LedgerError, match="closed"):
        ledger.release("run", "q", COST, never)


def test_every_commit_is_forced_to_the_disk(tmp_path: Path) -> None:
    with opened(tmp_path / "ledger") as ledger:
        settings = [
            ledger._store.connection().execute(f"PRAGMA {name}") for name in ("journal_mode", "synchronous")
        ]
        assert [setting.fetchone() for setting in settings] == [("delete",), (3,)]  # 3 is EXTRA


@long
def test_the_last_of_ten_thousand_releases_costs_no_more_than_the_first() -> None:
    """Counted in steps of SQLite's machine; and in time, taking turns with a new ledger on equal terms."""
    ledger = opened(None, total=10_000)
    connection = ledger._store.connection()

    def steps(question: int) -> int:
        count = itertools.count()
        connection.set_progress_handler(lambda: next(count) < 0, 1)
        ledger.release("run", str(question), COST, token)
        connection.set_progress_handler(None, 1)
        return next(count)

    first = [steps(i) for i in range(500)]
    for i in range(500, 9_500):
        if i % 500:
            ledger.release("run", str(i), COST, token)
        else:
            assert steps(i) < 2 * max(first)
    last = [steps(i) for i in range(9_500, 10_000)]
    assert min(first) > 50
    assert statistics.median(last) < 1.1 * statistics.median(first)

    def seconds(ledger: Ledger, question: int) -> float:
        start = time.perf_counter()
        ledger.release("timed", str(question), COST, token)
        return time.perf_counter() - start

    young = opened(None, total=10_000)
    pairs = [(seconds(ledger, i), seconds(young, i)) for i in range(500)]
    old_time, young_time = (statistics.median(times) for times in zip(*pairs, strict=True))
    assert old_time < 2 * young_time


def test_the_entries_of_runs_are_found_by_the_index() -> None:
    ledger = opened(None, total=10)
    ledger.set_cap("run:a/x", Fraction(5))
    for run in ("a/x", "b", "a/x", "a", "a/", "a/ä", "a0", "aa/x", "A/x"):
        ledger.release(run, f"question {ledger.spent}", COST, token)
    of_runs = [entry for entry in ledger.entries() if entry.kind != "cap"]
    assert list(ledger.entries("a/x")) == [entry for entry in of_runs if entry.run == "a/x"]
    assert list(ledger.entries("a/", begins=True)) == [
        entry for entry in of_runs if entry.run.startswith("a/")
    ]
    assert [entry.kind for entry in ledger.entries("a/x")] == ["charge", "answer"] * 2
    assert list(ledger.entries("c")) == list(ledger.entries("c", begins=True)) == []
    with ledger._store.transaction(False) as transaction:
        for begins in (False, True):
            assert list(transaction.rows_of("a/", begins)) == list(
                Transaction.rows_of(transaction, "a/", begins)
            )
    where = "WHERE kind != 'cap' AND run >= 'a/' AND run < 'a0' ORDER BY +number"
    [plan, *_] = ledger._store.connection().execute(f"EXPLAIN QUERY PLAN {SELECT} {where}")
    assert "USING INDEX once" in plan[3]

"""Below the whole budget, analysts and runs have caps: a charge fits all of them or is not made."""

from __future__ import annotations

import itertools
import os
import pickle
import sqlite3
import statistics
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sulq.errors import BudgetError, LedgerError
from sulq.ledger import chain, sqlite_tables
from sulq.ledger.accounts import Account
from sulq.ledger.ledger import Ledger
from tests.ledger.ledgers import COST, child, ending, never, opened, token

ADA, BOB = "analyst:ada", "analyst:bob"


def capped(path: Path | None = None, total: int = 1, **caps: Fraction) -> Ledger:
    """A ledger with caps for analysts."""
    ledger = opened(path, total)
    for name, cap in caps.items():
        ledger.set_cap(f"analyst:{name}", cap)
    return ledger


def standings(ledger: Ledger) -> dict[str, tuple[Fraction, Fraction | None]]:
    return {account.name: (account.spent, account.cap) for account in ledger.accounts()}


def test_a_charge_counts_against_the_whole_and_its_analyst_and_its_run() -> None:
    ledger = opened(None)
    ledger.release("tree", "q", COST, token, account=ADA)
    ledger.release("tree", "r", 2 * COST, token, account=BOB)
    ledger.release("means", "q", COST, token, account=ADA)
    ledger.release("means", "r", COST, token)
    assert ledger.spent == 5 * COST
    assert standings(ledger) == {
        ADA: (2 * COST, None),
        "run:tree": (3 * COST, None),
        BOB: (2 * COST, None),
        "run:means": (2 * COST, None),
    }
    assert {name: ledger.spent_of(name) for name in standings(ledger)} == {
        name: spent for name, (spent, _) in standings(ledger).items()
    }
    assert ledger.spent_of("analyst:carl") == ledger.spent_of("run:other") == 0
    assert ledger.verify() == []


def test_a_charge_that_a_cap_cannot_bear_is_counted_nowhere() -> None:
    ledger = capped(ada=Fraction(1, 4))
    ledger.release("tree", "q", Fraction(1, 5), token, account=ADA)
    before = list(ledger.entries()), ledger.accounts()
    with pytest.raises(BudgetError) as refused:
        ledger.release("tree", "r", COST, never, account=ADA)
    assert (refused.value.account, refused.value.remaining) == (ADA, Fraction(1, 20))
    assert "exceeds what is left of the cap of 'analyst:ada', 0.05, by 0.05; it was not made" in str(
        refused.value
    )
    assert (list(ledger.entries()), ledger.accounts()) == before
    ledger.release("tree", "r", COST, token, account=BOB)
    ledger.release("tree", "s", Fraction(1, 20), token, account=ADA)
    assert ledger.remaining_of(ADA) == 0
    assert ledger.remaining_of(BOB) == ledger.remaining == Fraction(13, 20)
    assert ledger.verify() == []


def test_the_account_that_leaves_least_is_named() -> None:
    ledger = capped(ada=Fraction(1, 2))
    ledger.set_cap("run:tree", Fraction(1, 4))
    for account in (ADA, BOB, None):
        with pytest.raises(BudgetError) as refused:
            ledger.release("tree", "q", Fraction(2), never, account=account)
        assert refused.value.account == "run:tree"
    with pytest.raises(BudgetError) as refused:
        ledger.release("means", "q", Fraction(2), never, account=ADA)
    assert refused.value.account == ADA
    with pytest.raises(BudgetError) as refused:
        ledger.release("means", "q", Fraction(2), never, account=BOB)
    assert refused.value.account is None
    copy = pickle.loads(pickle.dumps(refused.value))
    assert (copy.account, str(copy)) == (None, str(refused.value))


def test_the_whole_budget_is_a_limit_whatever_the_caps() -> None:
    ledger = capped(ada=Fraction(1), bob=Fraction(5))
    ledger.release("tree", "q", Fraction(3, 4), token, account=ADA)
    with pytest.raises(BudgetError) as refused:
        ledger.release("tree", "r", Fraction(1, 2), never, account=BOB)
    assert (refused.value.account, refused.value.remaining) == (None, Fraction(1, 4))
    assert ledger.remaining_of(BOB) == Fraction(1, 4)


@pytest.mark.parametrize("kind", ["analyst", "run"])
def test_a_default_cap_holds_for_all_that_have_none_of_their_own(kind: str) -> None:
    def ask(name: str, cost: Fraction) -> None:
        run, account = (name, None) if kind == "run" else ("tree", f"analyst:{name}")
        ledger.release(run, token(), cost, token, account=account)

    ledger = opened(None, total=10)
    ask("early", COST)
    ledger.set_cap(f"{kind}:*", 2 * COST)
    ledger.set_cap(f"{kind}:large", Fraction(1))
    ask("early", COST)
    for name in ("early", "new"):
        with pytest.raises(BudgetError) as refused:
            ask(name, 3 * COST)
        assert refused.value.account == f"{kind}:{name}"
    ask("new", 2 * COST)
    ask("large", Fraction(1))
    assert ledger.verify() == []
    with pytest.raises(LedgerError, match=rf"'{kind}:early' has spent 1/5 already"):
        ledger.set_cap(f"{kind}:*", COST)
    ledger.set_cap(f"{kind}:*", 3 * COST)
    ask("early", COST)
    assert ledger.remaining_of(f"{kind}:early") == 0
    assert ledger.verify() == []


def test_a_run_is_charged_for_what_it_asked_before_it_had_a_cap() -> None:
    ledger = opened(None)
    ledger.release("tree", "q", Fraction(1, 2), token)
    with pytest.raises(LedgerError, match="the cap of 'run:tree' cannot be 1/4: 'run:tree' has spent 1/2"):
        ledger.set_cap("run:tree", Fraction(1, 4))
    ledger.set_cap("run:tree", Fraction(11, 20))
    with pytest.raises(BudgetError) as refused:
        ledger.release("tree", "r", COST, never)
    assert refused.value.remaining == Fraction(1, 20)
    assert (ledger.spent_of("run:tree"), ledger.verify()) == (Fraction(1, 2), [])


def test_a_cap_is_raised_and_lowered_and_never_below_what_was_spent() -> None:
    ledger = capped(ada=Fraction(1, 4))
    ledger.release("tree", "q", Fraction(1, 4), token, account=ADA)
    ledger.set_cap(ADA, Fraction(1, 2))
    ledger.release("tree", "r", COST, token, account=ADA)
    ledger.set_cap(ADA, Fraction(7, 20))
    with pytest.raises(LedgerError, match="'analyst:ada' has spent 7/20 already; the cap is as before"):
        ledger.set_cap(ADA, Fraction(1, 4))
    with pytest.raises(BudgetError):
        ledger.release("tree", "s", COST, never, account=ADA)
    assert [entry.cap for entry in ledger.entries() if entry.kind == "cap"] == [
        Fraction(1, 4),
        Fraction(1, 2),
        Fraction(7, 20),
    ]
    assert ledger.verify() == []


def test_every_change_of_a_cap_is_an_entry_and_no_change_is_none() -> None:
    ledger = capped(ada=Fraction(1, 4))
    seal = ledger.seal
    ledger.set_cap(ADA, Fraction(1, 4))
    assert ledger.seal == seal
    [entry] = ledger.entries()
    assert (entry.number, entry.kind, entry.account, entry.cap) == (1, "cap", ADA, Fraction(1, 4))
    assert (entry.cost, entry.spent, entry.answer) == (0, 0, None)
    ledger.release("tree", "q", COST, token, account=ADA)
    assert [(entry.kind, entry.account) for entry in ledger.entries()][1:] == [
        ("charge", ADA),
        ("answer", None),
    ]
    assert [run.name for run in ledger.runs()] == ["tree"]
    assert ledger.verify(seal) == []


def test_what_was_charged_before_is_free_whatever_the_cap() -> None:
    ledger = capped(ada=COST)
    ledger.release("tree", "q", COST, lambda: "42", account=ADA)
    assert ledger.release("tree", "q", COST, never, account=ADA) == "42"
    assert ledger.release("tree", "q", COST, never, account=BOB) == "42"
    with pytest.raises(ZeroDivisionError):
        ledger.release("means", "q", COST, lambda: str(1 / 0), account=BOB)
    ledger.set_cap(BOB, COST)
    assert ledger.release("means", "q", COST, lambda: "43", account=BOB) == "43"
    assert (ledger.spent_of(BOB), ledger.verify()) == (COST, [])


@pytest.mark.parametrize("account", ["ada", "", "Analyst:ada", "analist:ada", 7, None, b"analyst:ada", "run"])
def test_a_name_that_is_no_account_is_refused(account: Any) -> None:
    ledger = opened(None)
    with pytest.raises(LedgerError, match=r"an account (is \"analyst:\" or \"run:\"|must be a text)"):
        ledger.set_cap(account, COST)
    with pytest.raises(LedgerError, match="an account"):
        ledger.spent_of(account)
    if account is not None:
        with pytest.raises(LedgerError, match="nothing was released"):
            ledger.release("tree", "q", COST, never, account=account)
    assert list(ledger.entries()) == []


@pytest.mark.parametrize("account", ["run:tree", "analyst:*", "analyst:", "run:*"])
def test_a_charge_is_made_to_one_analyst(account: str) -> None:
    with pytest.raises(LedgerError, match='a charge is made to one analyst, as "analyst:ada"'):
        opened(None).release("tree", "q", COST, never, account=account)


@pytest.mark.parametrize("cap", [0.5, 1, Fraction(-1), "1/2", None])
def test_a_cap_is_an_exact_fraction(cap: Any) -> None:
    with pytest.raises(LedgerError, match="exact Fraction"):
        opened(None).set_cap(ADA, cap)


def test_caps_are_the_same_for_all_who_open_the_file(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    with capped(path, ada=COST) as ledger, opened(path) as other:
        other.release("tree", "q", COST, token, account=ADA)
        with pytest.raises(BudgetError):
            ledger.release("tree", "r", COST, never, account=ADA)
        other.set_cap(ADA, 2 * COST)
        ledger.release("tree", "r", COST, token, account=ADA)
        assert pickle.loads(pickle.dumps(other)).remaining_of(ADA) == 0
    with Ledger.read(path) as reader:
        assert standings(reader)[ADA] == (2 * COST, 2 * COST)
        assert (reader.spent_of(ADA), reader.remaining_of("run:tree"), reader.verify()) == (
            2 * COST,
            8 * COST,
            [],
        )
        with pytest.raises(LedgerError, match="open it for writing"):
            reader.set_cap(ADA, Fraction(1))


def race(path: Path, names: list[str]) -> list[int]:
    """Let one process for each name ask for 1 at the same moment; 0 for each who got it, 1 for each refused."""
    gate, starter = os.pipe()

    def run(number: int, name: str) -> None:
        os.close(starter)
        os.read(gate, 1)
        opened(path, total=6).release(
            f"run {number % 3}", token(), Fraction(1), token, account=f"analyst:{name}"
        )

    runners = [child(partial(run, number, name)) for number, name in enumerate(names)]
    os.close(gate)
    os.close(starter)
    return [ending(runner) for runner in runners]


@pytest.mark.parametrize("heat", range(3))
def test_sixteen_processes_exceed_no_cap(tmp_path: Path, heat: int) -> None:
    """Two analysts with a cap of 2 each, and one without, race for 6."""
    path = tmp_path / "ledger"
    capped(path, total=6, ada=Fraction(2), bob=Fraction(2)).close()
    names = ["ada"] * 5 + ["bob"] * 5 + ["carl"] * 6
    released = [name for name, status in zip(names, race(path, names), strict=True) if status == 0]
    with opened(path, total=6) as ledger:
        assert (ledger.remaining, ledger.verify()) == (0, [])
        assert released.count("ada") == ledger.spent_of(ADA) <= 2
        assert released.count("bob") == ledger.spent_of(BOB) <= 2
        assert len(released) == 6


def test_sixteen_processes_exceed_no_cap_of_a_run(tmp_path: Path) -> None:
    """Three runs with 1 each: three of sixteen get through, one in each run."""
    path = tmp_path / "ledger"
    with opened(path, total=6) as ledger:
        ledger.set_cap("run:*", Fraction(1))
    assert sorted(race(path, ["ada"] * 16)) == [0] * 3 + [1] * 13
    with opened(path, total=6) as ledger:
        assert [ledger.spent_of(f"run:run {number}") for number in range(3)] == [1, 1, 1]
        assert (ledger.spent_of(ADA), ledger.verify()) == (3, [])


def test_eight_threads_exceed_no_cap() -> None:
    ledger = capped(total=10, ada=Fraction(3))
    start = threading.Barrier(8)

    def run(number: int) -> bool:
        start.wait()
        try:
            ledger.release(f"run {number}", "q", Fraction(1), token, account=ADA)
        except BudgetError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(run, range(8))) == 3
    assert (ledger.spent, ledger.spent_of(ADA), ledger.verify()) == (3, 3, [])


class Stepping(sqlite3.Connection):
    """A connection that calls `step` before each statement and after it."""

    step: Callable[[], None] = staticmethod(lambda: None)

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        type(self).step()
        cursor = super().execute(*arguments)
        type(self).step()
        return cursor


def test_a_charge_or_a_cap_that_is_broken_off_at_any_step_counts_everywhere_or_nowhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **named: connect(*args, **named, factory=Stepping))
    for steps in itertools.count():
        monkeypatch.setattr(Stepping, "step", staticmethod(lambda: None))
        ledger = capped(ada=COST)
        left = itertools.count(steps, -1)

        def step(left: Iterator[int] = left) -> None:
            if next(left) == 0:
                raise KeyboardInterrupt

        try:
            Stepping.step = staticmethod(step)
            ledger.release("tree", "q", COST, token, account=ADA)
            ledger.set_cap("run:*", 2 * COST)
            break  # more steps than there are
        except KeyboardInterrupt:
            Stepping.step = staticmethod(lambda: None)
        assert ledger.verify() == []
        assert ledger.spent == ledger.spent_of(ADA) == ledger.spent_of("run:tree")
        ledger.release("tree", "q", COST, token, account=ADA)
        ledger.set_cap("run:*", 2 * COST)
        assert (ledger.spent_of(ADA), ledger.remaining_of("run:tree"), ledger.verify()) == (COST, COST, [])
    assert steps > 50


def test_with_caps_a_late_release_takes_no_more_steps_than_an_early_one() -> None:
    ledger = capped(total=10_000, ada=Fraction(10_000))
    ledger.set_cap("run:*", Fraction(10_000))
    connection = ledger._store.connection()  # type: ignore[attr-defined]

    def steps(question: int) -> int:
        count = itertools.count()
        connection.set_progress_handler(lambda: next(count) < 0, 1)
        ledger.release("run", str(question), COST, token, account=ADA)
        connection.set_progress_handler(None, 1)
        return next(count)

    first = [steps(i) for i in range(40)]
    for i in range(40, 1000):
        ledger.release("run", str(i), COST, token, account=ADA)
    last = [steps(i) for i in range(1000, 1040)]
    assert statistics.median(last) < 1.1 * statistics.median(first)


def edited(path: Path, *statements: str) -> list[str]:
    """What verify() says after an edit from outside."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("DROP TRIGGER no_change; DROP TRIGGER no_removal;")
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    with Ledger.read(path) as ledger:
        return ledger.verify()


@pytest.fixture
def spent(tmp_path: Path) -> Path:
    """A ledger whose analyst has spent all she may: a cap, a charge, an answer."""
    with capped(tmp_path / "ledger", ada=COST) as ledger:
        ledger.release("tree", "q", COST, token, account=ADA)
    return tmp_path / "ledger"


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE entries SET account = NULL WHERE number = 2", "entry 2 was changed"),
        ("UPDATE entries SET account = 'analyst:bob' WHERE number = 2", "entry 2 was changed"),
        ("UPDATE entries SET account = 'analyst:bob' WHERE number = 3", "entry 3 was changed"),
        ("UPDATE entries SET account = 'analyst:bob' WHERE number = 1", "entry 1 was changed"),
        ("UPDATE entries SET cap = '1/1' WHERE number = 1", "entry 1 was changed"),
        (
            "UPDATE accounts SET spent = '0/1'",
            "what is kept of account 'analyst:ada' is not what the entries",
        ),
        ("UPDATE accounts SET cap = '1/1'", "what is kept of account 'analyst:ada'"),
        ("DELETE FROM accounts", "what is kept of account 'analyst:ada'"),
        ("INSERT INTO accounts VALUES ('analyst:x', '0/1', NULL, '')", "what is kept of account 'analyst:x'"),
    ],
)
def test_verify_names_what_was_done_to_an_account(spent: Path, statement: str, named: str) -> None:
    assert any(finding.startswith(named) for finding in edited(spent, statement))


@pytest.mark.parametrize("change", ["spent = '0/1'", "cap = '1/1'", "cap = NULL", "spent = x'ff'"])
def test_a_changed_account_frees_no_budget(spent: Path, change: str) -> None:
    assert edited(spent, f"UPDATE accounts SET {change}")
    with (
        opened(spent) as ledger,
        pytest.raises(LedgerError, match="account 'analyst:ada' was changed from outside"),
    ):
        ledger.release("tree", "r", COST, never, account=ADA)


def test_a_forger_of_all_hashes_cannot_hide_spending_beyond_a_cap(spent: Path) -> None:
    edited(spent, "UPDATE entries SET cap = '1/20' WHERE number = 1")
    with closing(sqlite3.connect(spent)) as connection, Ledger.read(spent) as ledger:
        seal = ledger._record.beginning
        for row in connection.execute(f"{sqlite_tables.SELECT} ORDER BY number").fetchall():
            values = [*row[:8], seal, "", *row[10:]]
            values[9] = seal = chain.seal_of(values)
            connection.execute("DELETE FROM entries WHERE number = ?", (row[0],))
            connection.execute(sqlite_tables.INSERT, values)
        connection.execute("UPDATE meta SET value = ? WHERE key = 'head'", (f"3 {seal}",))
        connection.commit()
    with Ledger.read(spent) as ledger:
        assert "entry 2 brings the charges of 'analyst:ada' to 1/10, and its cap is 1/20" in ledger.verify()


def test_an_account_says_what_is_left_of_it() -> None:
    assert Account(ADA, COST, 3 * COST).remaining == 2 * COST
    assert Account(ADA, COST).remaining is None


# A question that an earlier version stored under another text


def test_a_question_is_found_under_its_former_text() -> None:
    ledger = opened(None)
    ledger.release("tree", "old text", COST, lambda: "42")
    assert ledger.release("tree", "new text", COST, never, formerly="old text") == "42"
    assert ledger.charged("tree", "new text", formerly="old text")
    assert not ledger.charged("tree", "new text")
    assert not ledger.charged("means", "new text", formerly="old text")
    assert ledger.spent == COST


def test_a_question_that_was_charged_under_its_former_text_is_answered_under_that_charge() -> None:
    ledger = opened(None)
    with pytest.raises(ZeroDivisionError):
        ledger.release("tree", "old text", COST, lambda: str(1 / 0))
    assert ledger.release("tree", "new text", COST, lambda: "42", formerly="old text") == "42"
    assert ledger.release("tree", "old text", COST, never) == "42"
    assert [entry.question for entry in ledger.entries()] == ["old text", "old text"]
    assert (ledger.spent, ledger.verify()) == (COST, [])


def test_what_is_stored_under_a_questions_own_text_comes_first() -> None:
    ledger = opened(None)
    ledger.release("tree", "old text", COST, lambda: "41")
    ledger.release("tree", "new text", COST, lambda: "42")
    assert ledger.release("tree", "new text", COST, never, formerly="old text") == "42"
    assert ledger.release("tree", "newest text", COST, lambda: "43", formerly="unknown text") == "43"
    assert [entry.question for entry in ledger.entries()][-1] == "newest text"

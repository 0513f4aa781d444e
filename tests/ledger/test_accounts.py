"""Below the whole budget, analysts and runs have caps: a charge fits all of them or is not made."""

from __future__ import annotations

import pickle
from fractions import Fraction
from typing import Any

import pytest

from sulq.errors import BudgetError, LedgerError
from sulq.ledger.accounts import Account
from sulq.ledger.ledger import Ledger
from tests.ledger.homes import Home
from tests.ledger.ledgers import ADA, BOB, COST, capped, never, opened, standings, token

pytestmark = pytest.mark.usefixtures("home")


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


def test_caps_are_the_same_for_all_who_open_the_file(home: Home) -> None:
    path = home / "ledger"
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


def test_an_account_says_what_is_left_of_it() -> None:
    assert Account(ADA, COST, 3 * COST).remaining == 2 * COST
    assert Account(ADA, COST).remaining is None

"""What is done to the accounts in a ledger's file is noticed, and frees no budget."""

from __future__ import annotations

import pytest

from sulq.errors import LedgerError
from sulq.ledger.ledger import Ledger
from tests.ledger.homes import Home, Place, edit, reseal
from tests.ledger.ledgers import (
    ADA,
    COST,
    capped,
    never,
    opened,
    token,
)


def edited(path: Place, *statements: str) -> list[str]:
    """What verify() says after an edit from outside."""
    edit(path, *statements)
    with Ledger.read(path) as ledger:
        return ledger.verify()


@pytest.fixture
def spent(home: Home) -> Place:
    """A ledger whose analyst has spent all she may: a cap, a charge, an answer."""
    with capped(home / "ledger", ada=COST) as ledger:
        ledger.release("tree", "q", COST, token, account=ADA)
    return home / "ledger"


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
def test_verify_names_what_was_done_to_an_account(spent: Place, statement: str, named: str) -> None:
    assert any(finding.startswith(named) for finding in edited(spent, statement))


@pytest.mark.parametrize("change", ["spent = '0/1'", "cap = '1/1'", "cap = NULL", "spent = x'ff'"])
def test_a_changed_account_frees_no_budget(spent: Place, change: str) -> None:
    assert edited(spent, f"UPDATE accounts SET {change}")
    with (
        opened(spent) as ledger,
        pytest.raises(LedgerError, match="account 'analyst:ada' was changed from outside"),
    ):
        ledger.release("tree", "r", COST, never, account=ADA)


def test_a_forger_of_all_hashes_cannot_hide_spending_beyond_a_cap(spent: Place) -> None:
    findings = reseal(spent, "UPDATE entries SET cap = '1/20' WHERE number = 1")
    assert "entry 2 brings the charges of 'analyst:ada' to 1/10, and its cap is 1/20" in findings

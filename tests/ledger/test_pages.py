"""Pages of a ledger: the same from every store, and together all there is."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from sulq.ledger.accounts import Account
from sulq.ledger.chain import RunTotals
from sulq.ledger.ledger import Ledger
from sulq.ledger.sqlite_tables import SqliteTransaction
from sulq.ledger.store import Transaction

RUNS = [
    "",
    "tree",
    "ada/tree",
    "ada/z",
    "ada/ä",
    "ada0",
    "ad",
    "bob/tree",
    "ada/tree 2",
    "zz",
    "ada/\U0001f333",
]
FASTER = ("page", "run_names", "account_page")


@pytest.fixture(params=["faster", "plain"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """A ledger in a store that finds pages by itself, or leaves it to `Transaction`."""
    if request.param == "plain":
        for name in FASTER:
            monkeypatch.setattr(SqliteTransaction, name, getattr(Transaction, name))
    return filled(tmp_path / "ledger")


def filled(path: Path) -> Ledger:
    """Eleven runs of two questions each."""
    ledger = Ledger(path, "epsilon", Fraction(1), {})
    for place, run in enumerate(RUNS * 2):
        analyst = f"analyst:{run.partition('/')[0] or 'nobody'}"
        ledger.release(run, f"question {place}", Fraction(1, 100), lambda: "1", account=analyst)
    ledger.set_cap("run:tree", Fraction(1, 2))
    return ledger


@pytest.mark.parametrize("most", [1, 3, 7, 100])
def test_pages_together_are_all_there_is(ledger: Ledger, most: int) -> None:
    for run in (None, "ada/tree", "nobody"):
        entries, after = [], 0
        while page := ledger.pages.entries(after, most, run):
            assert len(page) <= most
            entries += page
            after = page[-1].number
        assert entries == list(ledger.entries(run))
    for begins in ("", "ada/", "x", "\U0010ffff"):
        runs: list[RunTotals] = []
        name: str | None = None
        while some := ledger.pages.runs(begins, name, most):
            assert len(some) <= most
            runs += some
            name = some[-1].name
        assert [run.name for run in runs] == sorted(name for name in RUNS if name.startswith(begins))
        assert all(run in ledger.runs() for run in runs)
    accounts: list[Account] = []
    name = None
    while kept := ledger.pages.accounts(name, most):
        accounts += kept
        name = kept[-1].name
    known = {account.name: account for account in ledger.accounts()}
    assert all(known[account.name] == account for account in accounts)
    analysts = {f"analyst:{run.partition('/')[0] or 'nobody'}" for run in RUNS}
    assert [account.name for account in accounts] == sorted([*analysts, "run:tree"])


def test_a_page_reads_no_more_than_it_shows(tmp_path: Path) -> None:
    ledger = filled(tmp_path / "ledger")
    with ledger._record.transaction() as transaction:
        assert isinstance(transaction, SqliteTransaction)
        execute = transaction._execute
        for statement, values in (
            ("SELECT * FROM entries WHERE number > ? ORDER BY number LIMIT ?", (1, 1)),
            ("SELECT run FROM entries WHERE kind != 'cap' AND run > ? ORDER BY run LIMIT 1", ("",)),
            ("SELECT * FROM accounts WHERE name > ? ORDER BY name LIMIT ?", ("", 1)),
        ):
            plan = " ".join(str(row[-1]) for row in execute(f"EXPLAIN QUERY PLAN {statement}", values))
            assert "SEARCH" in plan and "SCAN" not in plan and "TEMP" not in plan, plan

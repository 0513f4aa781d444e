"""A curator and its ledger: who may know how many rows there are, what is answered again, and who is refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.ledger.ledger import Ledger
from tests.oracles.curators import SCHEMA, people, terms

col = sulq.col


# People with one row


ONE_EACH = sulq.Schema({"sick": sulq.Boolean(), "age": sulq.Real(5, 6)}, sulq.Unit("id", rows=1))


@pytest.mark.parametrize("name", ["alice", "p7", ""])
def test_with_a_unit_of_one_row_nobody_is_told_for_nothing_how_many_rows_count(name: str) -> None:
    """Whether a row counts depends on whom it names: a new person, one who has a row, or nobody."""
    rows = {"id": [*(f"p{i}" for i in range(99)), name], "sick": [False] * 100, "age": [5.5] * 100}
    curator = sulq.open(rows, ONE_EACH).curator(epsilon=1)
    assert curator.offer.rows is None
    with pytest.raises(sulq.QueryError, match="how much may this round cost"):
        curator.ask(sulq.Round([sulq.count()]))
    counted, aged = terms(curator, sulq.Round([sulq.count(), sulq.total("age")], share=1)).noises
    assert counted is not None
    step = float(curator.offer.scope.number(col("age")).unit)
    assert aged.scale * step >= 6, "a row that comes or goes moves the sum by all of it"


def test_ledgers_that_counted_people_with_one_row_are_still_read(tmp_path: Path) -> None:
    source = sulq.open({"id": ["a", "b"], "sick": [True, False], "age": [5, 6]}, ONE_EACH)
    facts = {"schema": ONE_EACH.hash, "neighbours": "replace", "promise": "ε = 1 (pure)", "rows": 2}
    Ledger(tmp_path / "ledger", "epsilon", Fraction(1), facts).close()
    curator = source.curator(epsilon=1, ledger=tmp_path / "ledger")
    curator.ask(sulq.Round([sulq.count(where=col("sick"))], share=1))
    assert curator.remaining == 0


# Runs and ledgers


def test_equal_questions_of_one_run_are_answered_from_the_store() -> None:
    curator = people().curator(epsilon=1)
    round_ = sulq.Round([sulq.total(col("pay")), sulq.choose(["a", "b"], label="y")], share=0.5)
    first = [answer.value for answer in curator.ask(round_)]
    assert [answer.value for answer in curator.ask(round_)] == first
    assert curator.spent == Fraction(1, 2)


def test_a_ledger_lies_beside_its_file_and_remembers(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("a,b,y,pay,age\n" + "true,false,true,3.5,4\n" * 50)
    round_ = sulq.Round([sulq.count(where=col("a"))], share=0.75)
    value = sulq.open(path, SCHEMA).curator(epsilon=1).ask(round_, run="tree")[0].value
    assert (tmp_path / "people.csv.ledger").exists()
    again = sulq.open(path, SCHEMA).curator(epsilon=1)
    assert again.spent == Fraction(3, 4)
    assert again.ask(round_, run="tree")[0].value == value
    with pytest.raises(sulq.BudgetError):
        again.ask(round_, run="forest")
    with pytest.raises(sulq.errors.LedgerError, match=r"promise was ε = 1 \(pure\) and is ε = 2 \(pure\)"):
        sulq.open(path, SCHEMA).curator(epsilon=2)
    forgetful = sulq.open(path, SCHEMA).curator(epsilon=1, ledger=":memory:")
    assert forgetful.spent == 0


def test_a_ledger_of_other_data_is_refused(tmp_path: Path) -> None:
    ledger = tmp_path / "people.ledger"
    people(100).curator(epsilon=1, ledger=ledger)
    with pytest.raises(sulq.errors.LedgerError, match="number of rows was 100 and is 101"):
        people(101).curator(epsilon=1, ledger=ledger)
    other = sulq.open({"a": np.ones(100, bool)}, {"a": sulq.Boolean()})
    with pytest.raises(sulq.errors.LedgerError, match="the schema is another"):
        other.curator(epsilon=1, ledger=ledger)


def test_a_charge_is_recorded_before_a_row_is_read() -> None:
    source = people()
    curator = source.curator(epsilon=1)
    seen = []

    def watched(parts: Any) -> Any:
        seen.append(curator.spent)
        raise OSError("the disk is gone")

    source.sums = watched  # type: ignore[method-assign]
    with pytest.raises(sulq.errors.ReleaseError):
        curator.ask(sulq.Round([sulq.count(where=col("a"))], share=0.25))
    assert seen == [Fraction(1, 4)]
    assert curator.spent == Fraction(1, 4), "a failure can waste budget, never leak"
    del source.sums  # type: ignore[method-assign]
    curator.ask(sulq.Round([sulq.count(where=col("a"))], share=0.25))
    assert curator.spent == Fraction(1, 4), "and the same question is answered under the old charge"

"""A part of a curator's budget is a limit of its own, on the ledger of the whole."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sulq
from tests.oracles.curators import people

col = sulq.col


def test_parts_of_a_budget_are_spent_from_one_ledger() -> None:
    curator = people().curator(epsilon=1)
    half = curator.part(0.5)
    half.ask(sulq.Round([sulq.count(where=col("a"))], share="1/2"))
    assert (curator.spent, half.remaining) == (Fraction(1, 4), Fraction(1, 4))
    half.part("1/2").ask(sulq.Round([sulq.count(where=col("a"))], share=1), run="other")
    assert (curator.remaining, half.remaining) == (Fraction(1, 2), 0)


def test_a_part_of_a_budget_is_a_limit_however_a_round_is_asked() -> None:
    curator = people().curator(epsilon=1)
    tenth = curator.part("1/10")
    close = sulq.Round([sulq.count(where=col("a"), tolerance=5, beta="0.05")])
    assert tenth.cost(close) > Fraction(1, 10)
    with pytest.raises(sulq.BudgetError):
        tenth.ask(close)
    assert (curator.spent, tenth.remaining) == (0, Fraction(1, 10)), "what is refused is not counted"
    for number in range(10):
        tenth.ask(sulq.Round([sulq.count(where=col("a"))], share="1/10"), run=f"run {number}")
    with pytest.raises(sulq.BudgetError):
        tenth.ask(sulq.Round([sulq.count(where=col("a"))], share="1/10"), run="one more")
    assert curator.spent == Fraction(1, 10)
    tenth.ask(sulq.Round([sulq.count(where=col("a"))], share="1/10"), run="run 3")
    assert curator.spent == Fraction(1, 10), "what is in the ledger is still free"


def test_a_part_of_a_part_counts_against_both() -> None:
    curator = people().curator(epsilon=1)
    half = curator.part("1/2")
    half.part("1/2").ask(sulq.Round([sulq.count(where=col("a"))], share=1))
    assert half.remaining == Fraction(1, 4)
    with pytest.raises(sulq.BudgetError):
        half.ask(sulq.Round([sulq.count(where=col("b"))], share="3/4"))


def test_a_part_meets_its_limit_again_in_a_run_that_is_resumed(tmp_path: Path) -> None:
    def ask(times: int) -> None:
        part = people().curator(epsilon=1, ledger=tmp_path / "ledger").part("1/5")
        for number in range(times):
            part.ask(sulq.Round([sulq.count(where=col("age") == number)], share="1/2"))

    ask(1)
    ask(2)
    with pytest.raises(sulq.BudgetError):
        ask(3)
    assert people().curator(epsilon=1, ledger=tmp_path / "ledger").spent == Fraction(1, 5)


def test_a_refused_question_gives_a_part_nothing_back_that_another_was_charged() -> None:
    """Two parts of one part have equal questions: what one of them was charged stays so if the other refuses."""
    curator = people().curator(epsilon=1)
    tenth = curator.part("1/10")
    one, other = tenth.part("1/2"), tenth.part("1/2")
    first, second = (sulq.Round([sulq.count(where=col(name))], share=1) for name in "ab")
    one.ask(first)
    other.ask(second)
    with pytest.raises(sulq.BudgetError):
        other.ask(first)
    assert (tenth.remaining, curator.spent) == (0, Fraction(1, 10))


@pytest.mark.parametrize("run", [5, None, "\ud800", []])
def test_a_run_that_is_refused_costs_a_part_nothing(run: Any) -> None:
    tenth = people().curator(epsilon=1).part("1/10")
    with pytest.raises(sulq.errors.LedgerError):
        tenth.ask(sulq.Round([sulq.count(where=col("a"))], share="1/4"), run=run)
    assert tenth.remaining == Fraction(1, 10)

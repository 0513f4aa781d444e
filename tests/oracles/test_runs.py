"""Whoever takes the name of a run refuses one that no ledger could keep, before anything is spent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import sulq
from sulq.errors import LedgerError

ORACLES: dict[str, Callable[[sulq.Source], Any]] = {
    "curator": lambda people: people.curator(epsilon=1),
    "chunks": lambda people: people.curator(epsilon=1, answering="chunks", queries=4),
    "crowd": lambda people: people.crowd(epsilon=1),
    "sample": lambda people: people.sample(),
}
SICK = sulq.col("sick")


@pytest.fixture
def people() -> sulq.Source:
    return sulq.open(
        {"sick": [True, False] * 500, "old": [True] * 1000}, {"sick": sulq.Boolean(), "old": sulq.Boolean()}
    )


@pytest.mark.parametrize("run", [1, True, 1.5, None, "lone \ud800"])
@pytest.mark.parametrize("oracle", ORACLES)
def test_an_oracle_refuses_a_run_that_is_no_text(people: sulq.Source, oracle: str, run: Any) -> None:
    asked = ORACLES[oracle](people)
    before = getattr(asked, "left", None), getattr(asked, "spent", None)
    with pytest.raises(LedgerError, match="the name of a run"):
        asked.ask(sulq.Round([sulq.count(where=SICK)], share="1/4"), run)
    assert (getattr(asked, "left", None), getattr(asked, "spent", None)) == before
    asked.ask(sulq.Round([sulq.count(where=SICK)], share="1/4"), "1")


@pytest.mark.parametrize("oracle", [*ORACLES, "exact"])
def test_a_learner_refuses_a_run_that_is_no_text(people: sulq.Source, oracle: str) -> None:
    asked = (ORACLES | {"exact": lambda people: people.exact()})[oracle](people)
    with pytest.raises(LedgerError, match="the name of a run"):
        sulq.Conjunction("sick").learn(asked, run=1)  # type: ignore[arg-type]


def test_a_learner_beyond_sums_refuses_a_run_that_is_no_text(people: sulq.Source) -> None:
    curator = people.curator(epsilon=1)
    with pytest.raises(LedgerError, match="the name of a run"):
        sulq.Select(sulq.classes.MonotoneConjunctions(), "sick").learn(curator, run=1)  # type: ignore[arg-type]
    assert curator.spent == 0


def test_learning_at_an_unknown_rate_refuses_a_run_that_is_no_text_before_it_begins(
    people: sulq.Source,
) -> None:
    curator = people.curator(epsilon=1)
    with pytest.raises(LedgerError, match="the name of a run"):
        sulq.learn_at_unknown_rate(sulq.Conjunction("sick"), curator, "sick", rates=[0, 0.1], run=1)  # type: ignore[arg-type]
    assert curator.spent == 0

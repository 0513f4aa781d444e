from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.learners.unknown_rate import learn_at_unknown_rate

D = 3
SCHEMA = sulq.Schema({name: sulq.Boolean() for name in [*(f"x{j}" for j in range(D)), "y"]})
RATES = [0, "0.15", "0.3", "0.45"]
LEARNER = sulq.Conjunction("y", error="0.4", share=1)


def rows(many: int, rate: float) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    bits = rng.random((D, many)) < 0.6
    told = {f"x{j}": bits[j] for j in range(D)}
    return told | {"y": (bits[0] & bits[1]) ^ (rng.random(many) < rate)}


@pytest.mark.parametrize("trust", ["sample", "curator", "crowd"])
def test_the_right_rate_is_found_by_one_more_question(trust: str) -> None:
    """The rows are fixed, and so many that noise spoils a run with a chance far below 10⁻⁶: the answers that decide
    are more than ten deviations of their noise apart."""
    many = 60_000 if trust == "curator" else 2_000_000
    people = sulq.open(rows(many, 0.3), SCHEMA)
    oracle: Any = (
        people.sample() if trust == "sample" else people.curator(4) if trust == "curator" else people.crowd(4)
    )
    rule, rate = learn_at_unknown_rate(LEARNER, oracle, "y", RATES)
    assert rule.describe() == "x0 and x1"
    assert rate == Fraction(3, 10)
    assert rule.origin is not None


def test_all_of_it_stays_within_the_budget_and_is_resumed_at_no_cost() -> None:
    curator = sulq.open(rows(60_000, 0.3), SCHEMA).curator(4)
    first = learn_at_unknown_rate(LEARNER, curator, "y", RATES, share="1/4")
    assert curator.spent == 4
    assert learn_at_unknown_rate(LEARNER, curator, "y", RATES, share="1/4") == first
    runs = {run.name: run.spent for run in curator.ledger.runs()}
    assert runs == {"main": 1} | {f"main, rate {Fraction(rate)}": Fraction(3, 4) for rate in RATES}


def test_where_all_rates_teach_the_same_nothing_more_is_asked() -> None:
    curator = sulq.open(rows(60_000, 0.3), SCHEMA).curator(4)
    _, rate = learn_at_unknown_rate(LEARNER, curator, "y", ["0.3"])
    assert rate == Fraction(3, 10)
    assert [run.name for run in curator.ledger.runs()] == ["main, rate 3/10"]


def test_a_learner_by_tolerances_pays_for_every_rate() -> None:
    """At this confidence noise keeps the column that does not matter once in 10^6 runs."""
    learner = sulq.Conjunction("y", error="0.4", confidence="0.99999999")
    curator = sulq.open(rows(60_000, 0.3), SCHEMA).curator(40)
    rule, _ = learn_at_unknown_rate(learner, curator, "y", RATES)
    assert rule.describe() == "x0 and x1"
    spent = {run.name: run.spent for run in curator.ledger.runs()}
    assert spent["main, rate 9/20"] > spent["main, rate 0"] > 0


def test_what_makes_no_sense_is_refused_with_nothing_spent() -> None:
    curator = sulq.open(rows(1_000, 0.3), SCHEMA).curator(4)
    for rates, share in (([], "1/5"), (["1/2"], "1/5"), (RATES, 1), (RATES, 0)):
        with pytest.raises(sulq.QueryError):
            learn_at_unknown_rate(LEARNER, curator, "y", rates, share=share)
    assert curator.spent == 0

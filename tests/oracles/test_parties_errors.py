"""How far off parties say beforehand that answers are: as far as answers themselves say, or further."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.oracles.parties_plan import Factor, deviation
from tests.effort import most
from tests.oracles.test_parties import HERE, ROWS, THERE, col, curators, table

BETA = 0.05


def three(**epsilon: Any) -> sulq.Parties:
    """Parties with one flag each, and budgets of their own."""
    rng = np.random.default_rng(2)
    sources = {
        name: table({"id": range(ROWS), name: rng.random(ROWS) < 0.5}, {name: sulq.Boolean()})
        for name in epsilon
    }
    return sulq.parties({name: sources[name].curator(epsilon=each) for name, each in epsilon.items()}, "id")


def test_a_sketch_that_is_joined_to_fewer_buckets_is_planned_with_the_noise_of_all_that_are_joined() -> None:
    """Of a party with little noise there is a sketch of many buckets, which one with more noise has to join.

    The answer's own deviation is known to a tenth: it has 63 degrees and more.
    """
    asked = three(p=1, q=20, r="0.1")
    asked.ask(sulq.Round([sulq.count(where=col("p") & col("q"))], share=1))
    crossing = sulq.Round([sulq.count(where=col("p") & col("r"))], share=1)
    planned, [error] = asked.plan(crossing), asked.error(crossing, BETA)
    [answer] = asked.ask(crossing)
    sketches = {each.factor.key: each.sketch for each in asked.group.published.sketches.values()}
    assert sketches[col("p").key].buckets > 64
    assert planned.deviation == pytest.approx(answer.deviation, rel=0.3)
    assert error is not None and error > 0.5 * answer.radius(BETA)
    joined = Factor(0.5, 1.0, 2.0, 1, buckets=1024)
    assert deviation([joined, Factor(0.5, 1.0, 8.0, 1)], ROWS, 64) == deviation(
        [Factor(0.5, 1.0, 2.0 * 4, 1), Factor(0.5, 1.0, 8.0, 1)], ROWS, 64
    )


def test_the_chance_of_a_miss_is_divided_among_an_answers_numbers() -> None:
    """All numbers at once are within the error, as those of one curator are."""
    every = sulq.outer(sulq.vector(*["x"] * 8), sulq.vector(*["y"] * 8))
    [one, many] = (
        curators(epsilon=20).error(sulq.Round([sulq.total(col("x") * col("y"))], share=1), BETA),
        (curators(epsilon=20).error(sulq.Round([sulq.total(every)], share=1), BETA)),
    )
    assert one[0] is not None and many[0] is not None and many[0] > 1.4 * one[0]


def test_sums_of_one_party_share_the_round_with_whatever_else_it_is_asked() -> None:
    """Without estimates the error is stated to the last bit: it is that of the answer."""
    asked = curators(epsilon=1)
    others = [sulq.count(where=col("x") > each / 20) for each in range(19)]
    round_ = sulq.Round([sulq.total(col("x") + col("y")), *others], share=1)
    errors = asked.error(round_, BETA)
    assert errors == [answer.radius(BETA) for answer in asked.ask(round_)]


@pytest.mark.parametrize("size", [1e100, 1e-30, 1e-100, 1e-150])
def test_errors_of_very_large_and_very_small_numbers_are_stated(size: float) -> None:
    """As of the same numbers between 0 and 1, up to what noise and salt make of a deviation."""
    rng, kind = np.random.default_rng(6), sulq.Real(0, size)
    hands = [
        table({"id": range(ROWS), name: rng.random(ROWS) * size}, {name: kind}).curator(epsilon=2)
        for name in "pq"
    ]
    asked, round_ = sulq.parties(hands, "id"), sulq.Round([sulq.total(col("p") * col("q"))], share=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        planned, [error] = asked.plan(round_), asked.error(round_, BETA)
        [answer] = asked.ask(round_)
    assert 50 < planned.deviation / size / size < 500 and 50 < answer.deviation / size / size < 500
    assert error is not None and error > planned.deviation and planned.buckets > 64


def test_products_of_three_rare_flags_have_bars_that_know_of_meetings_which_are_rare() -> None:
    """Of 40 bars one is to miss; of those that products alone gave, 39 did. The misses allowed: 10^-7."""
    rng, missed = np.random.default_rng(0), 0
    flags = {name: rng.random(2000) < 0.03 for name in "pqr"}
    sources = [table({"id": range(2000), name: flag}, {name: sulq.Boolean()}) for name, flag in flags.items()]
    asked = sulq.Round([sulq.count(where=col("p") & col("q") & col("r"))], share=1)
    true = np.logical_and.reduce(list(flags.values())).sum()
    for salt in range(40):
        together = sulq.parties([each.curator(epsilon=15) for each in sources], "id", salt=f"{salt}")
        [answer] = together.ask(asked)
        missed += bool(abs(answer.value - true) > answer.radius(BETA))
    assert missed <= most(40, BETA)


def test_without_people_a_plan_says_that_nobody_shares_buckets() -> None:
    asked = sulq.parties([HERE.curator(epsilon=1), THERE.curator(epsilon=1)], "id", people=0)
    plan = asked.plan(sulq.Round([sulq.count(by=["a", "b"])], share=1))
    assert plan.sketch_error == 0 and "0 as people share buckets" in plan.describe()

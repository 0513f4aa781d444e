"""How far off parties say beforehand that answers are: as far as answers themselves say, or further."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.oracles.parties_plan import Factor, best_buckets, deviation
from sulq.oracles.sketches import Sketch, estimated
from sulq.queries.factored import Products
from tests.effort import most, runs
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
    """Of 20 bars one is to miss; of those that products alone gave, 39 of 40 did. The misses allowed: 10^-7.

    With the buckets of 30 people: with those of 2000 hardly any two meet, and runs take long.
    """
    rng, missed = np.random.default_rng(0), 0
    flags = {name: rng.random(2000) < 0.03 for name in "pqr"}
    sources = [table({"id": range(2000), name: flag}, {name: sulq.Boolean()}) for name, flag in flags.items()]
    asked = sulq.Round([sulq.count(where=col("p") & col("q") & col("r"))], share=1)
    true = np.logical_and.reduce(list(flags.values())).sum()
    for salt in range(times := runs(40, 20)):
        together = sulq.parties(
            [each.curator(epsilon=15) for each in sources], "id", people=30, salt=f"{salt}"
        )
        [answer] = together.ask(asked)
        missed += bool(abs(answer.value - true) > answer.radius(BETA))
    assert missed <= most(times, BETA)


def test_what_three_parties_are_asked_is_as_far_off_as_was_said_beforehand() -> None:
    """All people have in common, and three frequent flags: of 40 errors two are to be above that of 5 %.

    The misses allowed: 10^-7. The mean square of 40 is off by less than a factor of 2.5 as often.
    """
    rng, n, runs = np.random.default_rng(1), 2000, 40
    flags = {name: rng.random(n) < 0.9 for name in "pqr"}
    sources = [table({"id": range(n), name: flag}, {name: sulq.Boolean()}) for name, flag in flags.items()]
    every = sulq.Round([sulq.count()], share=1)
    frequent = sulq.Round([sulq.count(where=col("p") & col("q") & col("r"))], share=1)
    true = int(np.logical_and.reduce(list(flags.values())).sum())
    for about, asked, size in (("common", every, n), ("each", frequent, true)):
        off, errors, planned = [], [], 0.0
        for salt in range(runs):
            hands = [each.curator(epsilon=5) for each in sources]
            together = sulq.parties(hands, "id", salt=f"{salt}", people=n, about=about)  # type: ignore[arg-type]
            [error], planned = together.error(asked, BETA), together.plan(asked).deviation
            [answer] = together.ask(asked)
            off.append(abs(answer.value - size))
            errors.append(error)
        assert sum(map(np.greater, off, errors)) <= most(runs, BETA)
        if about == "common":  # whose sizes are known beforehand
            assert 0.4 < np.mean(np.square(off)) / planned**2 < 2.5


@pytest.mark.parametrize(("size", "noise", "buckets"), [(1.0, 0.0, 1024), (2.0, 0.3, 8192), (1.0, 2.0, 256)])
def test_estimates_of_three_factors_vary_as_the_plan_says(size: float, noise: float, buckets: int) -> None:
    """Other buckets and other noise, 400 times: of the same people in all three, as in the worst case."""
    rng, people, found = np.random.default_rng(3), 1000, []
    at = np.zeros(1, np.intp)
    products = Products(at, np.ones(1), {}, {0: at, 1: at, 2: at})
    for _ in range(400):
        dealt = size * np.bincount(rng.integers(0, buckets, people), minlength=buckets)
        sums = [dealt + rng.normal(0, noise, buckets) for _ in range(3)]
        found.append(estimated(products, [Sketch(each[:, None]) for each in sums]).values[0])
    stated = deviation([Factor(size, size, noise, 1)] * 3, people, buckets)
    assert 0.8 < np.sqrt(np.mean((np.array(found) - people * size**3) ** 2)) / stated < 1.15


def test_three_factors_have_more_buckets_a_person_than_two() -> None:
    """Of three, meetings of two people have 18·n²/T of the variance: of two factors, n²/T."""
    factor = Factor(1.0, 1.0, 0.2, 1)
    assert best_buckets([[factor] * 2], 1000) <= 16 * 1000 < best_buckets([[factor] * 3], 1000)


def test_without_people_a_plan_says_that_nobody_shares_buckets() -> None:
    asked = sulq.parties([HERE.curator(epsilon=1), THERE.curator(epsilon=1)], "id", people=0)
    plan = asked.plan(sulq.Round([sulq.count(by=["a", "b"])], share=1))
    assert plan.sketch_error == 0 and "0 as people share buckets" in plan.describe()

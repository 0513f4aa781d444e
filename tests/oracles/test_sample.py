"""Answers about a distribution from its sample: fresh chunks, or all rows for every question."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sulq

col = sulq.col
SCHEMA = sulq.Schema({"sick": sulq.Boolean(), "age": sulq.Real(0, 100), "town": sulq.Integer(0, 3)})
RATE = 0.3


def drawn(rows: int, seed: int) -> sulq.Source:
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {
        "sick": rng.random(rows) < RATE,
        "age": rng.uniform(0, 100, rows),
        "town": rng.integers(0, 4, rows),
    }
    return sulq.open(columns, SCHEMA)


@pytest.mark.parametrize("fresh", [True, False])
def test_tolerances_hold_as_often_as_stated(fresh: bool) -> None:
    """60 samples, three queries, each stated to fail one time in ten: the count of failures is Bin(180, 0.1)
    at worst, and above 60 with probability below 10⁻¹⁴. A tolerance half as wide would fail most."""
    queries = [
        sulq.mean(col("sick"), tolerance=0.05, beta=0.1),
        sulq.mean(col("age"), tolerance=5, beta=0.1),
        sulq.mean(sulq.one_hot(col("town")), tolerance=0.05, beta=0.1),
    ]
    truths = [RATE, 50.0, np.full(4, 0.25)]
    failures, half = 0, 0
    for seed in range(60):
        for answer, truth, query in zip(
            drawn(4_000, seed).sample(fresh=fresh).ask(sulq.Round(queries)), truths, queries, strict=True
        ):
            assert query.tolerance is not None
            off = np.max(np.abs(answer.value - truth))
            failures += bool(off > query.tolerance)
            half += bool(off > query.tolerance / 8)
    assert failures <= 60
    assert half > 60


def test_every_question_has_rows_of_its_own_until_they_are_used_up() -> None:
    sample = drawn(10_000, 0).sample()
    asked = sulq.Round([sulq.mean(col("sick")), sulq.mean(col("age"))], share=Fraction(1, 2))
    assert sample.cost(asked) == pytest.approx(5_000, abs=2)
    first = sample.ask(asked)
    assert sample.ask(asked)[0].value == first[0].value, "the same run is told the same"
    assert sample.left == pytest.approx(5_000, abs=2)
    other = sample.ask(asked, run="another")
    assert other[1].value != first[1].value
    with pytest.raises(sulq.BudgetError) as refused:
        sample.ask(asked, run="a third")
    assert refused.value.unit == "people"
    assert (sample.rounds, sample.queries) == (2, 4)


def test_without_fresh_rows_all_answer_everything() -> None:
    people = drawn(10_000, 0)
    sample = people.sample(fresh=False)
    asked = sulq.Round([sulq.mean(col("sick")), sulq.count(by="town")], share=1)
    [rate, towns], [true_rate, true_towns] = sample.ask(asked), people.exact().ask(asked)
    assert rate.value == pytest.approx(true_rate.value)
    np.testing.assert_allclose(towns.value, true_towns.value)
    assert sample.left == sample.cost(asked) == 10_000
    assert towns.radius(0.05) > 0, "about the distribution, the rows are not certain"
    with pytest.raises(sulq.BudgetError):
        sample.ask(sulq.Round([sulq.mean(col("sick"), tolerance=0.001, beta=0.05)]))


def test_weights_divide_the_rows() -> None:
    sample = drawn(10_000, 0).sample()
    asked = sulq.Round(
        [sulq.mean(col("sick")), sulq.mean(col("sick") & (col("age") > 50), weight=2)], share=1
    )
    one, two = sample.error(asked, 0.05)
    assert one is not None and two is not None
    assert one / two == pytest.approx(2, rel=0.02)


def test_a_choice_is_made_by_estimates_and_knows_how_far_off_it_may_be() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(20_000) < 0.5
    columns = {"good": y ^ (rng.random(20_000) < 0.1), "bad": rng.random(20_000) < 0.5, "y": y}
    people = sulq.open(columns, {name: sulq.Boolean() for name in columns})
    [which] = people.sample().ask(sulq.Round([sulq.choose(["bad", "good"], label="y")], share=1))
    assert which.value == 1
    assert 0 < which.radius(0.05) < 3_000
    sums = sulq.choose([sulq.count(where=col("bad")), sulq.count(where=col("y") | col("good"))])
    assert people.sample().ask(sulq.Round([sums], share=1))[0].value == 1


def test_a_constant_needs_nobody() -> None:
    sample = drawn(100, 0).sample()
    [number] = sample.ask(sulq.Round([sulq.count(tolerance=1, beta=0.1)]))
    assert (number.value, number.radius(0.1), sample.left) == (100.0, 0.0, 100)


def test_a_round_without_share_or_tolerance_is_refused() -> None:
    sample = drawn(100, 0).sample()
    for asked in [
        sulq.Round([sulq.mean(col("sick"))]),
        sulq.Round([sulq.mean(col("sick")), sulq.mean(col("age"), tolerance=5, beta=0.1)]),
        sulq.Round([sulq.mean(col("age"), where=col("sick"), tolerance=5, beta=0.1)]),
        sulq.Round([sulq.mean(col("sick"))] * 60, share="0.5"),
        "age",
    ]:
        with pytest.raises(sulq.QueryError):
            sample.ask(asked)  # type: ignore[arg-type]
    assert sample.left == 100


@pytest.mark.parametrize(
    "learner",
    [
        sulq.ID3("sick", depth=2),
        sulq.KMeans(2),
        sulq.PCA(1),
        sulq.Perceptron("sick"),
        sulq.Conjunction("sick", [col("age") > 50], share=1),
        sulq.Table(["sick"], medians=["age"]),
        sulq.Statement("SELECT sick, median(age), avg(age) FROM p GROUP BY sick"),
    ],
)
def test_every_learner_runs_on_it_unchanged(learner: sulq.Learner) -> None:
    assert learner.learn(drawn(3_000, 0).sample()).origin.promise == "none: averages of a sample"


def test_totals_on_different_grids_are_compared_in_their_own_units() -> None:
    columns = {"a": np.full(1_000, 100.0), "b": np.arange(1_000) < 10}
    people = sulq.open(columns, {"a": sulq.Real(0, 1000), "b": sulq.Boolean()})
    asked = sulq.Round([sulq.choose([sulq.total(col("a")), sulq.count(where=col("b"))])], share=1)
    for oracle in (people.exact(), people.sample(fresh=False), people.crowd(epsilon=20)):
        assert oracle.ask(asked)[0].value == 0


def test_the_values_of_no_rows_have_the_type_of_some() -> None:
    none = sulq.open(
        {"b": np.zeros(0, bool), "t": np.zeros(0, "<U1")}, {"b": sulq.Boolean(), "t": sulq.Category(["x"])}
    )
    assert none.values(col("b")).dtype == bool and none.values(col("t")).dtype.kind == "u"

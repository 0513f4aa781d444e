"""Models that noise made are not believed: the most frequent class is said instead."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.hypotheses.target import Target
from sulq.learners.majority import CHECK, MajorityCheck, checked, part_for_check

rng = np.random.default_rng(8)
X, SICK = rng.uniform(-1, 1, 500), np.arange(500) % 5 == 0
TABLE = {"x": X, "c": rng.choice(["a", "b"], 500), "sick": np.where(SICK, "yes", "no")}
SCHEMA = sulq.Schema(
    {"x": sulq.Real(-1, 1), "c": sulq.Category(["a", "b"], missing="a"), "sick": sulq.Category(["no", "yes"])}
)
TARGET = Target(SCHEMA, sulq.col("sick"))
PEOPLE = sulq.open(TABLE, SCHEMA)
LEARNERS: dict[str, Any] = {
    "logistic": sulq.LogisticRegression("sick"),
    "bayes": sulq.NaiveBayes("sick"),
    "list": sulq.DecisionList("sick"),
}


def answered(intercept: float, slope: float = 0.0) -> MajorityCheck:
    """What a check says of a model, by exact answers of people of whom those with a positive x are sick."""
    people = sulq.open(TABLE | {"x": np.where(SICK, 0.5, -0.5)}, SCHEMA)
    x, sick = sulq.col("x"), sulq.col("sick")
    model = sulq.hypotheses.LogisticModel(SCHEMA, None, sick, (x,), ((slope,),), ((0.0,),), (intercept,))
    rounds = checked(model, TARGET, Fraction(1))
    try:
        rounds.send(people.exact().ask(next(rounds)))
    except StopIteration as done:
        return done.value
    raise AssertionError("a check has one round")


def test_a_model_is_better_only_if_it_is_right_more_often_than_the_most_frequent_class() -> None:
    assert not answered(1.0).better and not answered(-1.0).better and not answered(0.0, -9.0).better
    assert answered(0.0, 9.0).better
    assert answered(1.0).classes.tolist() == [400.0, 100.0]


@pytest.mark.parametrize(("rows", "part"), [(50.0, CHECK), (10**9, 0)])
def test_a_check_is_paid_for_only_where_rows_are_few_beside_the_noise(rows: float, part: Fraction) -> None:
    [answer] = PEOPLE.curator(epsilon=1).ask(sulq.Round([sulq.count(by=["sick"])], "1/10"))
    assert part_for_check(rows, answer, Fraction(1, 10), 1) == part
    [exact] = PEOPLE.exact().ask(sulq.Round([sulq.count(by=["sick"])], "1/10"))
    assert part_for_check(rows, exact, Fraction(1, 10), 1) == 0


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_no_more_than_the_budget_is_spent_with_a_check(name: str, neighbours: Any) -> None:
    for epsilon in ("0.1", 1):
        curator = PEOPLE.curator(epsilon=epsilon, neighbours=neighbours)
        found = LEARNERS[name].learn(curator)
        assert curator.remaining >= 0 and set(found.predict(TABLE)) <= {"no", "yes"}


def test_naive_bayes_that_noise_would_drown_asks_for_the_label_alone() -> None:
    # The number of rows is public, and so is the noise: 500 rows, and more than 1,000 rows of noise in a count.
    curator = PEOPLE.curator(epsilon="0.01")
    found = sulq.NaiveBayes("sick").learn(curator)
    assert found.effects == () and found.origin.rounds == 2 and curator.remaining == 0

"""A label of two declared values is two classes: rows whose label is neither are left out, and none is told so."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.hypotheses.additive import AdditiveModel
from sulq.hypotheses.target import Target

rng = np.random.default_rng(4)
AGE = rng.integers(0, 100, 3000)
OLD = rng.random(3000) < 1 / (1 + np.exp(-(AGE - 50) / 8))
TABLE = {"age": AGE, "town": rng.choice(["x", "y", "z"], 3000), "sick": np.where(OLD, "yes", "no")}
KINDS = {"age": sulq.Integer(0, 100), "town": sulq.Category(["x", "y", "z"], missing="x")}
OPEN = sulq.Schema(KINDS | {"sick": sulq.Category(["no", "yes"])})
CLOSED = sulq.Schema(KINDS | {"sick": sulq.Category(["no", "yes"], missing="no")})
LEARNERS: dict[str, Any] = {
    "additive": sulq.Additive("sick"),
    "logistic": sulq.LogisticRegression("sick"),
    "bayes": sulq.NaiveBayes("sick"),
    "list": sulq.DecisionList("sick"),
    "tree": sulq.ID3("sick"),
}
MODELS = ["additive", "logistic", "bayes"]


def with_others() -> dict[str, Any]:
    """The table and a thousand young people whose label is missing."""
    more = {"age": np.full(1000, 10), "town": np.full(1000, "x"), "sick": np.full(1000, "perhaps")}
    return {name: np.concatenate([TABLE[name], more[name]]) for name in TABLE}


@pytest.mark.parametrize("name", MODELS)
def test_two_declared_values_are_two_classes_as_if_others_could_not_be(name: str) -> None:
    learner = LEARNERS[name]
    found, closed = (learner.learn(sulq.open(TABLE, schema).exact()) for schema in (OPEN, CLOSED))
    assert found.classes == closed.classes == ("no", "yes")
    assert found.intercept == closed.intercept
    assert np.array_equal(found.predict_proba(TABLE), closed.predict_proba(TABLE))
    assert found.likelihood is not None


@pytest.mark.parametrize("name", ["additive", "bayes"])
def test_rows_whose_label_is_neither_value_say_nothing_about_it(name: str) -> None:
    found = LEARNERS[name].learn(sulq.open(with_others(), OPEN).exact())
    [young] = found.predict_proba({"age": [10], "town": ["x"]})
    assert young.shape == (2,) and young[1] == pytest.approx(1 / (1 + np.exp(5)), abs=0.03)
    assert set(found.predict(with_others())) == {"no", "yes"}


@pytest.mark.parametrize("name", LEARNERS)
def test_noise_makes_nobody_other(name: str) -> None:
    few = sulq.open({column: values[:30] for column, values in TABLE.items()}, OPEN)
    for _ in range(5):
        found = LEARNERS[name].learn(few.curator(epsilon="0.1"))
        assert set(found.predict(TABLE)) <= {"no", "yes"}


@pytest.mark.parametrize("name", MODELS)
def test_how_good_such_a_model_is_can_be_asked_with_a_curve(name: str) -> None:
    people = sulq.open(with_others(), OPEN)
    found = LEARNERS[name].learn(people.exact())
    [wrong] = people.exact().ask(sulq.Round([sulq.error_rate(found, "sick")]))
    said = found.predict(with_others())
    assert wrong.value == pytest.approx((said != with_others()["sick"]).mean(), abs=1e-6)
    assert sulq.Evaluate(found).learn(people.exact()).auroc.value > 0.7
    assert sulq.Hypothesis.from_json(found.to_json()) == found


def test_a_model_that_was_written_when_other_was_a_class_is_read() -> None:
    old = AdditiveModel(OPEN, None, sulq.col("sick"), (0.0, -1.0, 2.0), ())
    again = sulq.Hypothesis.from_json(old.to_json())
    assert again == old and again.classes == ("no", "yes", "(other)")
    assert again.predict({"age": [1], "town": ["x"]}).tolist() == ["(other)"]
    assert replace(old, intercept=(1.0,)).classes == ("no", "yes")


def test_three_declared_values_and_others_are_four_classes() -> None:
    schema = sulq.Schema({"town": sulq.Category(["x", "y", "z"])})
    assert Target(schema, sulq.col("town")).classes == ("x", "y", "z", "(other)")
    assert Target(schema, sulq.col("town")).known is None

"""A hypothesis can be asked about: how often it is wrong is one more query, for labels of every kind."""

from __future__ import annotations

import numpy as np
import pytest

import sulq

ROWS = 2_000


def table() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    old, income = rng.random(ROWS) < 0.5, rng.integers(0, 10, ROWS)
    return {
        "old": old,
        "income": income,
        "plan": np.where(old, np.where(income > 5, "full", "some"), "none"),
        "rich": np.where(income + rng.integers(0, 3, ROWS) > 5, "yes", "no"),
    }


SCHEMA = sulq.Schema(
    {
        "old": sulq.Boolean(),
        "income": sulq.Integer(0, 9),
        "plan": sulq.Category(["full", "some", "none"], missing="none"),
        "rich": sulq.Category(["no", "yes"], missing="no"),
    }
)


@pytest.mark.parametrize(
    ("learner", "label"),
    [
        (sulq.ID3("plan", ["old", "income"], depth=1), "plan"),
        (sulq.ID3("old", ["income", "plan"], depth=1), "old"),
        (sulq.ID3("rich", ["old"], depth=1), "rich"),
        (sulq.Perceptron("rich", ["income"], iterations=4), "rich"),
        (sulq.Perceptron("old", ["income"], iterations=4), "old"),
    ],
)
def test_the_error_rate_is_how_often_predictions_are_wrong(learner: sulq.Learner, label: str) -> None:
    rows = table()
    exact = sulq.open(rows, SCHEMA).exact()
    hypothesis = learner.learn(exact)
    [rate] = exact.ask(sulq.Round([sulq.error_rate(hypothesis, label)]))
    assert rate.value == np.mean(hypothesis.predict(rows) != rows[label])


@pytest.mark.parametrize(
    "learner",
    [
        sulq.ID3("old"),
        sulq.KMeans(2),
        sulq.PCA(1),
        sulq.Perceptron("old"),
        sulq.Conjunction("old", [sulq.col("income") > 3]),
    ],
)
def test_a_hypothesis_equals_what_is_read_back_and_nothing_else(learner: sulq.Learner) -> None:
    source = sulq.open(table(), SCHEMA)
    hypothesis = learner.learn(source.exact())
    again = type(hypothesis).from_json(hypothesis.to_json())
    assert again == hypothesis and hash(again) == hash(hypothesis)
    assert hypothesis != learner.learn(source.exact(), run="another")

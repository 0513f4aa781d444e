"""The parity learner: what it asks of its curator, what it refuses, and the parity that it finds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.classes.sizes import parity_plan, parity_rows
from sulq.hypotheses import Nothing
from sulq.hypotheses.rules import ParityRule
from sulq.learners.parity import Parity, masked
from sulq.privacy.parity import Attempts

BITS = [f"x{i}" for i in range(6)]


def people(rows: int = 6000, flips: float = 0.0, seed: int = 0, **schema: Any) -> sulq.Source:
    rng = np.random.default_rng(seed)
    data: dict[str, Any] = {name: rng.random(rows) < 0.5 for name in BITS}
    data["y"] = data["x1"] ^ data["x4"] ^ (rng.random(rows) < flips)
    data["age"] = rng.integers(0, 100, rows)
    data["who"] = np.arange(rows) // 2
    columns = {name: sulq.Boolean() for name in [*BITS, "y"]} | {"age": sulq.Integer(0, 120)}
    return sulq.open(data, sulq.Schema(columns, **schema))


SURE = {"error": 0.2, "confidence": "0.99999999"}


@pytest.mark.parametrize("amplification", ["repeat", "test set"])
@pytest.mark.parametrize("budget", [{"epsilon": 8}, {"rho": 32}])
def test_a_curator_learns_a_parity(amplification: Any, budget: dict[str, Any]) -> None:
    """It fails with a chance of 1e-8, by the promise."""
    curator = people(rows=12_000).curator(**budget)
    rule = Parity("y", amplification=amplification, **SURE).learn(curator)
    assert isinstance(rule, ParityRule)
    assert rule.describe() == "x1 xor x4"
    assert rule.origin == sulq.hypotheses.hypothesis.Origin("Parity", curator.promise, "main", 1)
    assert curator.remaining == 0


def test_the_charge_is_in_the_ledger_before_a_row_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    source = people()
    curator = source.curator(epsilon=8)
    seen: list[Fraction] = []
    values = source.values
    monkeypatch.setattr(source, "values", lambda node: (seen.append(curator.spent), values(node))[1])
    Parity("y", share="1/2", error=0.2).learn(curator)
    assert seen == [Fraction(4)] * 7


def test_asking_again_in_the_same_run_is_free_and_the_same() -> None:
    curator = people().curator(epsilon=8)
    learner = Parity("y", share="1/2", error=0.2)
    first = learner.learn(curator)
    assert all(learner.learn(curator) == first for _ in range(5))
    assert curator.spent == 4
    learner.learn(curator, run="another")
    assert curator.remaining == 0
    with pytest.raises(sulq.BudgetError):
        learner.learn(curator, run="a third")


def test_labels_that_are_no_parity_give_bottom_and_no_error() -> None:
    """Of 6000 labels half are wrong: that any run finds a consistent sample has a chance below 1e-100."""
    curator = people(flips=0.5).curator(epsilon=8)
    bottom = Parity("y", error=0.2).learn(curator)
    assert isinstance(bottom, Nothing) and not bottom
    assert curator.remaining == 0


def test_too_few_rows_are_refused_before_anything_is_spent() -> None:
    curator = people(rows=500).curator(epsilon="0.1")
    needed = parity_rows(6, 0.1, 0.05, 0.1)
    with pytest.raises(
        sulq.QueryError, match=f"insufficient samples: .* needs {needed} rows, and there are 500"
    ):
        Parity("y").learn(curator)
    assert curator.spent == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"features": []}, "no features"),
        ({"features": ["x1", "age"]}, "'age' is not true or false"),
        ({"features": ["x1", "x1"]}, "named twice"),
        ({"features": ["x1", "y"]}, "label cannot be one of its own"),
        ({"features": ["x1", "nobody"]}, "no column 'nobody'"),
        ({"label": "age"}, "'age' is not true or false"),
        ({"sampling": "half"}, "sampling is"),
        ({"amplification": "hope"}, "amplification is"),
        ({"error": 0}, "error must be"),
        ({"confidence": 1}, "beta must be"),
        ({"sampling": "paper", "confidence": "0.6"}, "at most 2"),
    ],
)
def test_bad_input_is_refused_before_anything_is_spent(given: dict[str, Any], message: str) -> None:
    curator = people().curator(epsilon=8)
    with pytest.raises(sulq.SulqError, match=message):
        Parity(**({"label": "y"} | given)).learn(curator)
    assert curator.spent == 0


def test_the_papers_calibrations_have_no_such_door() -> None:
    curator = people().curator(epsilon=1, calibration="sulq-laplace", queries=10)
    with pytest.raises(sulq.QueryError, match="sums only"):
        Parity("y").learn(curator)


def test_a_person_with_several_rows_is_protected_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row gets its part of ε, and no error says how many rows there are."""
    used: list[Attempts] = []
    monkeypatch.setattr(Attempts, "release", lambda attempts, *_: used.append(attempts))
    curator = people(rows=20, unit=sulq.schema.Unit("who", 2)).curator(epsilon=1)
    learner = Parity("y")
    assert isinstance(learner.learn(curator), Nothing)
    assert used == [Attempts(Fraction(1, 2), Fraction(parity_plan(6, 0.1, 0.05, 0.5).runs))]
    with pytest.raises(sulq.QueryError, match="public number of rows"):
        Parity("y", amplification="test set").learn(curator, run="another")


def test_the_opposite_of_a_parity_is_learned_with_a_constant() -> None:
    curator = people().curator(epsilon=16)
    rule = Parity(~sulq.col("y"), constant=True, **SURE).learn(curator)
    assert isinstance(rule, ParityRule)
    assert rule.describe() == "x1 xor x4 xor true"
    assert rule.predict({name: [0, 1] for name in BITS}).tolist() == [True, True]


def test_masked_parity_is_a_parity_of_other_features() -> None:
    """c(x, i, b) = ⟨r, x⟩ + a where b = 0, and rᵢ where b = 1; r = 1011 and a = 1. Fails with chance 1e-8."""
    rng = np.random.default_rng(3)
    r, rows = np.array([1, 0, 1, 1]), 6000
    x, i, b = rng.random((rows, 4)) < 0.5, rng.integers(0, 4, rows), rng.random(rows) < 0.5
    label = np.where(b, r[i] == 1, (x @ r + 1) % 2 == 1)
    data = {f"x{j}": x[:, j] for j in range(4)} | {"i": i, "b": b, "y": label}
    columns = {name: sulq.Boolean() for name in data} | {"i": sulq.Integer(0, 3)}
    source = sulq.open(data, columns)
    names, choices = [f"x{j}" for j in range(4)], [sulq.col("i") == j for j in range(4)]
    features = masked(names, choices, sulq.col("b"), source.schema)
    rule = Parity("y", features=features, **SURE).learn(source.curator(epsilon=8))
    assert isinstance(rule, ParityRule)
    assert rule.mask == (1, 0, 1, 1, 1)
    assert (rule.predict(data) == label).all()


def test_a_rule_survives_the_way_through_json() -> None:
    schema = people(rows=2).schema
    rule = ParityRule(schema, None, tuple(map(sulq.col, BITS)), (0, 1, 0, 0, 1, 0))
    again = ParityRule.from_json(rule.to_json())
    assert again == rule
    assert again.describe() == "x1 xor x4"
    assert ParityRule(schema, None, rule.features, (0,) * 6).describe() == "never"
    assert rule.picture().startswith("<svg")

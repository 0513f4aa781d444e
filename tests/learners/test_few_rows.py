"""Learners on tables of no rows, of one, and of rows that are all the same: no error tells which it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sulq
from tests.effort import either

col = sulq.col
SCHEMA: dict[str, Any] = {
    "a": sulq.Boolean(),
    "b": sulq.Boolean(),
    "y": sulq.Boolean(),
    "pay": sulq.Real(0, 100),
    "age": sulq.Integer(0, 9),
    "town": sulq.Category(["x", "z"]),
}
TABLES = {
    "no rows": 0,
    "one row": 1,
    "equal rows": 3,
}
SIZES = list(TABLES.values())[: either(2, 3)]
LEARNERS: dict[str, Any] = {
    "tree": sulq.ID3("y"),
    "tree, multiway": sulq.ID3("y", split="multiway"),
    "tree, counts": sulq.ID3("y", pick="counts"),
    "tree of a category": sulq.ID3("town"),
    "additive": sulq.Additive("y"),
    "classifier": sulq.Classifier("y"),
    "classifier of a category": sulq.Classifier("town"),
    "regressor": sulq.Regressor("pay"),
    "additive of a category": sulq.Additive("town"),
    "additive of a number": sulq.Additive("pay"),
    "additive of an expression": sulq.Additive(col("age") > 5),
    "linear": sulq.LinearRegression("pay"),
    "linear of an expression": sulq.LinearRegression(col("age") * 2, ["a", "town", "pay"]),
    "logistic": sulq.LogisticRegression("y"),
    "logistic of a category": sulq.LogisticRegression("town"),
    "bayes": sulq.NaiveBayes("y"),
    "bayes of a category": sulq.NaiveBayes("town"),
    "list": sulq.DecisionList("y", length=2),
    "list of a category": sulq.DecisionList("town", length=2),
    "clusters": sulq.KMeans(2),
    "one cluster": sulq.KMeans(1),
    "perceptron": sulq.Perceptron("y"),
    "components": sulq.PCA(2),
    "directions": sulq.SVD(2),
    "conjunction": sulq.Conjunction("y", share=1),
    "table": sulq.Table(
        ["town", "a"], sums=["pay"], means=["pay"], shares=["y"], medians=["age", "pay"], whole=True
    ),
    "table of all": sulq.Table(means=["pay"], where=col("a")),
    "pairs": sulq.Pairs(),
    "pairs with a label": sulq.Pairs(label="y"),
    "select": sulq.Statement(
        "SELECT town, count(*) AS n, avg(pay), median(age), sum(pay) / sum(age) AS r, quantile_disc(pay, 0.9) "
        "FROM p WHERE a OR b GROUP BY ROLLUP (town) HAVING n < 1e9 ORDER BY r DESC, town"
    ),
    "select of all": sulq.Statement("SELECT count(*) FILTER (WHERE y) / count(*) AS r, sum(pay) FROM p"),
    "stumps": sulq.Select(sulq.classes.Stumps(), "y"),
    "thresholds": sulq.Select(sulq.classes.Thresholds("age", [1, 5]), "y"),
    "intervals": sulq.Select(sulq.classes.Intervals("pay", [1, 50]), "y"),
    "rectangles": sulq.Select(sulq.classes.Rectangles([("pay", [1, 50]), ("age", [5])]), "y"),
    "conjunctions": sulq.Select(sulq.classes.Conjunctions(["a", "b"]), "y"),
    "monotone conjunctions": sulq.Select(sulq.classes.MonotoneConjunctions(["a", "b"]), "y"),
    "small conjunctions": sulq.Select(sulq.classes.SmallConjunctions(1, ["a", "b"]), "y"),
    "parities": sulq.Select(sulq.classes.Parities(["a", "b"]), "y"),
    "labelings": sulq.Select(sulq.classes.Labelings(["a", "b"], [[0, 0, 0, 1], [0, 1, 1, 0]]), "y"),
    "halfspaces": sulq.Select(sulq.classes.Halfspaces(["a", "b"]), "y"),
    "a list": sulq.Select([col("a"), col("b")], "y"),
    "exponential": sulq.Select([col("a"), col("b")], "y", mechanism="exponential"),
    "parity": sulq.Parity("y", ["a", "b"]),
}
CURATORS: dict[str, dict[str, Any]] = {"little": {"epsilon": 1, "delta": "1e-6"}, "much": {"epsilon": 1000}}


def table(rows: int, unit: sulq.Unit | None) -> sulq.Source:
    data = {
        "a": np.ones(rows, bool),
        "b": np.zeros(rows, bool),
        "y": np.ones(rows, bool),
        "pay": np.full(rows, 100.0),
        "age": np.full(rows, 9),
        "town": np.array(["z"] * rows, dtype=object),
        "person": np.arange(rows),
    }
    return sulq.open(data, sulq.Schema(SCHEMA, unit), threads=1)


@pytest.mark.parametrize(
    ("unit", "settings"),
    [(None, CURATORS["little"]), (sulq.Unit("person", 2), CURATORS["much"])],
    ids=CURATORS,
)
@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_a_curator_teaches_without_an_error(
    learner: Any, settings: dict[str, Any], unit: sulq.Unit | None
) -> None:
    """Rows may come or go, so that nobody may tell an empty table from one of a single row."""
    for rows in SIZES:
        curator = table(rows, unit).curator(**settings, neighbours="add-remove")
        found = learner.learn(curator)
        assert found.describe()
        if found:  # ⊥ predicts nothing
            assert found.predict({name: [1] if name != "town" else ["x"] for name in SCHEMA}) is not None


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_exact_answers_teach_without_an_error(learner: Any) -> None:
    if isinstance(learner, sulq.Learner):
        for rows in SIZES:
            assert learner.learn(table(rows, None).exact()).describe()

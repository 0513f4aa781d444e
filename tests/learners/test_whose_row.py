"""The column that says whose row it is: no learner learns from it or about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.queries.attributes import attribute
from sulq.sources.table import TableSource

N = 600
KINDS = {
    "integer": sulq.Integer(0, N - 1),
    "real": sulq.Real(0, N),
    "category": sulq.Category(["0", "1", "2"]),
    "boolean": sulq.Boolean(),
}
COLUMNS = {"a": sulq.Boolean(), "b": sulq.Boolean(), "x": sulq.Real(0, 1), "y": sulq.Boolean()}


def people(kind: str) -> TableSource:
    """One row a person, and the label is what the person's number says."""
    rng, pid = np.random.default_rng(0), np.arange(N)
    rows = {"pid": pid, "a": rng.random(N) < 0.5, "b": rng.random(N) < 0.5, "x": rng.random(N)}
    rows["y"] = pid < N // 2
    return sulq.open(rows, sulq.Schema({"pid": KINDS[kind], **COLUMNS}, sulq.Unit("pid", rows=1)))


LEARNERS: dict[str, Callable[[], Any]] = {
    "ID3": lambda: sulq.ID3("y"),
    "ID3 counts": lambda: sulq.ID3("y", pick="counts"),
    "Additive": lambda: sulq.Additive("y"),
    "LinearRegression": lambda: sulq.LinearRegression("x"),
    "LogisticRegression": lambda: sulq.LogisticRegression("y"),
    "NaiveBayes": lambda: sulq.NaiveBayes("y"),
    "DecisionList": lambda: sulq.DecisionList("y"),
    "Classifier": lambda: sulq.Classifier("y"),
    "Regressor": lambda: sulq.Regressor("x"),
    "KMeans": lambda: sulq.KMeans(2),
    "Pairs": lambda: sulq.Pairs(),
    "PCA": lambda: sulq.PCA(1),
    "SVD": lambda: sulq.SVD(1),
    "Perceptron": lambda: sulq.Perceptron("y"),
    "Conjunction": lambda: sulq.Conjunction("y", share=1),
    "Parity": lambda: sulq.Parity("y", error=0.5, confidence="1/2"),
    **{
        name: lambda made=made: sulq.Select(made(), "y")
        for name, made in {
            "Stumps": sulq.classes.Stumps,
            "SmallConjunctions": sulq.classes.SmallConjunctions,
            "Parities": sulq.classes.Parities,
            "Conjunctions": sulq.classes.Conjunctions,
            "MonotoneConjunctions": sulq.classes.MonotoneConjunctions,
        }.items()
    },
}


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The names of the columns that are summed or looked at."""
    found: set[str] = set()
    sums, values = TableSource.sums, TableSource.values

    def spied_sums(self: TableSource, parts: Any) -> Any:
        found.update(leaf.name for part in parts for leaf in part.leaves().values())
        return sums(self, parts)

    def spied_values(self: TableSource, expression: Any) -> Any:
        found.update(leaf.name for leaf in expression.leaves().values())
        return values(self, expression)

    monkeypatch.setattr(TableSource, "sums", spied_sums)
    monkeypatch.setattr(TableSource, "values", spied_values)
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_by_default_nothing_is_learned_from_whose_row_it_is(
    learner: str, kind: str, looked_at: set[str]
) -> None:
    LEARNERS[learner]().learn(people(kind).curator(epsilon=100))
    assert looked_at and "pid" not in looked_at


PID = sulq.col("pid")
NAMED: dict[str, Callable[[], Any]] = {
    "Pairs": lambda: sulq.Pairs(["pid", "a"]),
    "Table": lambda: sulq.Table(["pid"]),
    "Table's sums": lambda: sulq.Table(sums=["pid"]),
    "Table's quantiles": lambda: sulq.Table(quantiles={"pid": [0.5]}),
    "Table's condition": lambda: sulq.Table(where=PID > 0),
    "Statement": lambda: sulq.Statement("SELECT pid, count(*) FROM p GROUP BY pid"),
    "ID3": lambda: sulq.ID3("y", ["pid"]),
    "ID3's label": lambda: sulq.ID3("pid"),
    "KMeans": lambda: sulq.KMeans(2, ["pid", "x"]),
    "PCA": lambda: sulq.PCA(1, ["pid", "x"]),
    "SVD": lambda: sulq.SVD(1, ["pid"]),
    "Perceptron": lambda: sulq.Perceptron("y", ["pid"]),
    "Perceptron's label": lambda: sulq.Perceptron(PID > 0),
    "Conjunction": lambda: sulq.Conjunction("y", [PID], share=1),
    "Conjunction's label": lambda: sulq.Conjunction(PID, share=1),
    "Parity": lambda: sulq.Parity("y", ["pid"], error=0.5),
    "Parity's label": lambda: sulq.Parity("pid", error=0.5),
    **{
        name: lambda made=made: sulq.Select(made, "y")
        for name, made in {
            "Stumps": sulq.classes.Stumps(["pid"]),
            "SmallConjunctions": sulq.classes.SmallConjunctions(2, ["pid"]),
            "Parities": sulq.classes.Parities(["pid"]),
            "Conjunctions": sulq.classes.Conjunctions(["pid"]),
            "MonotoneConjunctions": sulq.classes.MonotoneConjunctions(["pid", "a"]),
            "Thresholds": sulq.classes.Thresholds("pid", [1]),
            "Intervals": sulq.classes.Intervals("pid", [1]),
            "Rectangles": sulq.classes.Rectangles([("x", [0.5]), ("pid", [1])]),
            "Halfspaces": sulq.classes.Halfspaces(["pid", "a"]),
            "Labelings": sulq.classes.Labelings(["pid"], [[0, 1]]),
            "Hypotheses": sulq.classes.Hypotheses([PID]),
        }.items()
    },
    "Select's label": lambda: sulq.Select(sulq.classes.Stumps(), PID),
}


@pytest.mark.parametrize("kind", ["integer", "boolean"])
@pytest.mark.parametrize("learner", NAMED)
def test_a_learner_who_is_told_to_is_refused_before_anything_is_spent(learner: str, kind: str) -> None:
    curator = people(kind).curator(epsilon=1)
    with pytest.raises(sulq.errors.SchemaError, match="'pid' says whose row it is"):
        NAMED[learner]().learn(curator)
    assert curator.spent == 0


def test_labels_that_say_whose_row_it_is_are_not_denoised() -> None:
    with pytest.raises(sulq.errors.SchemaError, match="whose row it is"):
        people("boolean").exact().denoised("pid", 0.1)


def test_masked_parities_have_no_bit_that_says_whose_row_it_is() -> None:
    columns = {**sulq.theory.masked_parity_schema(2), "pid": sulq.Boolean()}
    schema = sulq.Schema(columns, sulq.Unit("pid", rows=1))
    learner = sulq.theory.MaskedParity()
    assert "pid" not in learner.columns(schema) and len(learner.columns(schema)) == 2
    with pytest.raises(sulq.errors.SchemaError, match="whose row it is"):
        sulq.theory.MaskedParity(bits=["pid", "x1"]).columns(schema)


def test_a_query_may_be_about_whose_row_it_is() -> None:
    [answer] = people("integer").exact().ask(sulq.Round([sulq.count(where=PID < 100)]))
    assert answer.value == 100


def test_a_schema_without_a_unit_has_no_such_column() -> None:
    schema = sulq.Schema(COLUMNS)
    assert schema.attributes == tuple(COLUMNS)
    assert attribute(schema, "a").key == sulq.col("a").key
    with pytest.raises(sulq.errors.SchemaError, match="no column 'pid'"):
        attribute(schema, PID)

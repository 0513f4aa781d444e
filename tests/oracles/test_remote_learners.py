"""Every learner learns the same from a curator elsewhere as in process, from the same answers."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import sulq
import sulq.learners
import sulq.theory
from sulq.classes import MonotoneConjunctions
from sulq.learners.learner import Learner
from tests.oracles.test_remote import ROWS, SCHEMA, columns, people
from tests.serve.services import Curators, curators


@pytest.fixture(scope="module")
def owned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Curators]:
    with curators(tmp_path_factory.mktemp("owned"), owner=True) as server:
        yield server


TREE, OTHER = (sulq.ID3("y", ["a", "b"], depth=depth).learn(people().exact()) for depth in (1, 2))


LEARNERS: dict[str, Learner[Any]] = {
    "tree": sulq.ID3("y", ["a", "b", "c"], depth=2, share="1/2"),
    "tree by counts": sulq.ID3("y", ["a", "b"], depth=2, share="1/2", pick="counts"),
    "additive": sulq.Additive("y", ["a", "x"], share="1/2"),
    "additive for a number": sulq.Additive("z", ["a", "x"], refinements=1, share="1/2"),
    "clusters": sulq.KMeans(2, ["x", "z"], iterations=2, share="1/2"),
    "components": sulq.PCA(1, ["x", "z"], share="1/2"),
    "singular vectors": sulq.SVD(1, ["x", "z"], share="1/2"),
    "perceptron": sulq.Perceptron("y", ["a", "b"], iterations=3, share="1/2"),
    "conjunction": sulq.Conjunction("y", ["a", "b", "c"], share="1/2"),
    "conjunction by tolerances": sulq.Conjunction("y", ["a", "b"], error="0.2"),
    "select": sulq.Select(MonotoneConjunctions(["a", "b", "c"]), "y", share="1/2"),
    "parity": sulq.Parity("y", ["a", "b", "c"], error="0.3", share="1/2"),
    "compress": sulq.Compress(
        [MonotoneConjunctions(["a"]), MonotoneConjunctions(["a", "b"])], "y", share="1/2"
    ),
    "table": sulq.Table(["a", "b"], means=["x"], share="1/2"),
    "quantiles": sulq.Table(["a"], medians=["z"], quantiles={"x": [0.1, 0.9]}, share="1/2"),
    "statement": sulq.Statement("SELECT a, count(*), avg(x), median(z) FROM people GROUP BY a", share="1/2"),
    "masked parity": sulq.theory.MaskedParity(share="1/2"),
    "classifier": sulq.Classifier("y", ["a", "b"], share="1/2"),
    "regressor": sulq.Regressor("z", ["a", "x"], share="1/2"),
    "linear regression": sulq.LinearRegression("z", ["a", "x"], share="1/2"),
    "logistic regression": sulq.LogisticRegression("y", ["a", "x"], share="1/2"),
    "naive Bayes": sulq.NaiveBayes("y", ["a", "x"], share="1/2"),
    "decision list": sulq.DecisionList("y", ["a", "x"], length=2, share="1/2"),
    "pairs": sulq.Pairs(["a", "b", "x"], share="1/2"),
    "evaluation": sulq.Evaluate(TREE, share="1/4"),
    "cross-validation": sulq.CrossValidate(sulq.ID3("y", ["a", "b"], depth=1), folds=2),
    "hold-out": sulq.Holdout(sulq.ID3("y", ["a", "b"], depth=1)),
    "a choice of models": sulq.ChooseModel([TREE, OTHER], "y", share="1/4"),
}


def learners_in(package: Any) -> set[type]:
    """The classes of all learners that the modules of a package define."""
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)
    classes, new = set[type](), [Learner]
    while new:
        new = [each for cls in new for each in cls.__subclasses__() if each not in classes]
        classes.update(new)
    return {each for each in classes if each.__module__.startswith(f"{package.__name__}.")}


def rows_for(learner: Learner[Any]) -> sulq.Source:
    return sulq.open(*table_for(learner))


def table_for(learner: Learner[Any]) -> tuple[dict[str, Any], Any]:
    """Columns to learn from, and their schema."""
    if isinstance(learner, sulq.theory.MaskedParity):
        rows = sulq.theory.masked_parity_rows([1, 0], 1, ROWS, np.random.default_rng(0))
        return rows, sulq.theory.masked_parity_schema(2)
    return columns(), SCHEMA


def test_the_learners_that_are_tried_are_all_there_are() -> None:
    tried = {type(learner) for learner in LEARNERS.values()}
    there = learners_in(sulq.learners) | learners_in(sulq.theory)
    public = {each for each in vars(sulq).values() if isinstance(each, type) and issubclass(each, Learner)}
    assert there == tried and public - {Learner} <= tried


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_learns_the_same_over_the_wire_as_in_process_from_the_same_answers(
    owned: Curators, name: str
) -> None:
    learner = LEARNERS[name]
    curator = rows_for(learner).curator(epsilon=200)
    here = learner.learn(curator)
    spent = curator.spent
    assert spent > 0
    there = learner.learn(owned.connect(curator))  # who reads what is stored
    assert there.to_json() == here.to_json()
    assert curator.spent == spent


def test_a_rate_of_wrong_labels_is_found_out_over_the_wire_as_in_process(owned: Curators) -> None:
    curator = people().curator(epsilon=200)
    learner, rates = sulq.Conjunction("y", ["a", "b"], share="1/2"), [0, "0.1"]
    here = sulq.learn_at_unknown_rate(learner, curator, "y", rates)[0]
    spent = curator.spent
    there = sulq.learn_at_unknown_rate(learner, owned.connect(curator), "y", rates)[0]
    assert there.to_json() == here.to_json() and curator.spent == spent > 0


def test_an_answer_has_the_same_bits_over_the_wire(owned: Curators) -> None:
    curator = people().curator(rho=4)
    x = sulq.col("x")
    round_ = sulq.Round([sulq.mean(x, by="a"), sulq.total(sulq.vector("x", "z")), sulq.count(by="b")], "1/8")
    for here, there in zip(curator.ask(round_), owned.connect(curator).ask(round_), strict=True):
        assert np.array_equal(here.value, there.value) and here.axes == there.axes
        assert np.array_equal(here.radius(1e-3), there.radius(1e-3))

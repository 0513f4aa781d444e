"""How much each column of a table matters to what was learned: from noisy answers, so at no cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.hypotheses.additive import AdditiveModel
from sulq.hypotheses.linear import LinearModel
from sulq.hypotheses.logistic import LogisticModel
from sulq.hypotheses.measures import bounds_of
from sulq.hypotheses.nodes import End, Split
from sulq.hypotheses.tree import Tree
from sulq.queries.attributes import looked_at

Floats = NDArray[np.float64]


def parts(weights: Mapping[str, float], names: Sequence[str]) -> Floats:
    """The weight of each column as a part of all; all 0 if none has one.

    >>> parts({"a": 3.0, "c": 1.0}, ["a", "b", "c"])
    array([0.75, 0.  , 0.25])
    """
    each = np.array([weights.get(name, 0.0) for name in names])
    return np.asarray(each / each.sum() if each.sum() > 0 else each)


def importance(hypothesis: Any) -> dict[str, float]:
    """How much each column matters to what was learned, whatever that is.

    In a tree it is how much purer its questions make the rows; in an additive model how much it adds to a row
    on average; in a weighted sum how far it can move the sum. The columns of a rule matter alike.

    Args:
        hypothesis: what was learned.
    """
    match hypothesis:
        case Tree():
            return of_tree(hypothesis)
        case AdditiveModel():
            return _of_effects(hypothesis)
        case LinearModel() | LogisticModel():
            return _of_coefficients(hypothesis)
    return dict.fromkeys(looked_at(hypothesis.expression), 1.0)


def _of_effects(model: AdditiveModel) -> dict[str, float]:
    weights: dict[str, float] = {}
    for effect in model.effects:
        columns = looked_at(effect.code)
        for name in columns:
            weights[name] = weights.get(name, 0.0) + effect.importance / len(columns)
    return weights


def _of_coefficients(model: LinearModel | LogisticModel) -> dict[str, float]:
    weights: dict[str, float] = {}
    sizes = np.abs(np.array(model.coefficients, dtype=np.float64)).reshape(len(model.features), -1)
    for feature, each in zip(model.features, sizes, strict=True):
        low, high = bounds_of(model.schema, feature)
        for name in looked_at(feature):
            weights[name] = max(weights.get(name, 0.0), float(each.mean()) * (high - low))
    return weights


def of_tree(tree: Tree) -> dict[str, float]:
    """How much purer the questions about each column make the rows, by the noisy counts at the ends.

    A question takes Σ(1 − Σp²) over the rows before it, less the same after it (Gini's impurity).

    Args:
        tree: the tree.
    """
    weights: dict[str, float] = {}

    def walk(node: Split | End) -> Floats:
        if isinstance(node, End):
            return np.array(node.counts).clip(min=0.0)
        below = [walk(branch) for branch in node.branches]
        here = np.sum(below, axis=0)
        gain = max(0.0, _impurity(here) - sum(map(_impurity, below)))
        columns = looked_at(tree.questions[node.question])
        for name in columns:
            weights[name] = weights.get(name, 0.0) + gain / len(columns)
        return np.asarray(here)

    walk(tree.root)
    return weights


def _impurity(counts: Floats) -> float:
    rows = float(counts.sum())
    return rows - float(counts @ counts) / rows if rows > 0 else 0.0

"""Trees of dependence from tables of pairs."""

from __future__ import annotations

import numpy as np

from sulq.effects.layout import Floats
from sulq.errors import QueryError
from sulq.hypotheses.dependence import Dependence, DependenceTree
from sulq.hypotheses.pairs.agreement import Pair
from sulq.hypotheses.pairs.columns import PairsFacts
from sulq.hypotheses.pairs.joint import spanning_tree


def chow_liu(facts: PairsFacts, label: str) -> DependenceTree:
    """The tree whose neighbours tell most about each other, all columns being in it.

    Args:
        facts: what a release says.
        label: the column to predict first.
    """
    tables = facts.positive

    def informs(pair: Pair) -> float:
        return tables.information(pair) if pair in tables.tables else 0.0

    root = facts.place(label)
    return _tree(facts, root, spanning_tree(len(facts.columns), root, informs))


def naive_bayes(facts: PairsFacts, label: str) -> DependenceTree:
    """The tree in which every column depends on the label.

    Args:
        facts: what a release says.
        label: the column to predict.
    """
    root = facts.place(label)
    features = sorted(facts.beside(root))
    if not features:
        raise QueryError(f"there is no table of {label!r} and another column in this release")
    return _tree(facts, root, [(feature, root) for feature in features])


def _tree(facts: PairsFacts, root: int, edges: list[tuple[int, int]]) -> DependenceTree:
    places = {root: 0} | {child: number for number, (child, _) in enumerate(edges, 1)}
    margin = facts.positive.margins[root]
    first = Dependence(facts.columns[root].code, None, _chances(margin[np.newaxis], margin, 1.0))
    rest = [
        Dependence(
            facts.columns[child].code,
            places[parent],
            _chances(
                facts.positive.table(parent, child),
                facts.positive.margins[child],
                _doubt(facts, child, parent),
            ),
        )
        for child, parent in edges
    ]
    return DependenceTree(facts.schema, None, 0, (first, *rest))


def _doubt(facts: PairsFacts, one: int, other: int) -> float:
    """How many rows are added to each row of a table, as independent columns would have them."""
    pair = min(one, other), max(one, other)
    return 1.0 + (facts.agreement.table_law(pair).deviation if pair in facts.agreement.pairs else 0.0)


def _chances(table: Floats, margin: Floats, doubt: float) -> tuple[tuple[float, ...], ...]:
    """How likely each value is in each row of a table: never quite impossible."""
    usual = (margin + 1.0) / (margin + 1.0).sum()
    cells = table + doubt * usual
    return tuple(tuple(row) for row in (cells / cells.sum(axis=1, keepdims=True)).tolist())

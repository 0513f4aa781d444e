"""The statistical query dimension of a small class: how many concepts hardly correlate with each other."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.classes.base import HypothesisClass, Setting, check_size
from sulq.errors import QueryError
from sulq.numbers import rational
from sulq.queries.attributes import condition
from sulq.queries.node import Node
from sulq.schema import Boolean, Schema
from sulq.sources.opening import open as open_source
from sulq.sources.rows import rows_of

MOST_CONCEPTS = 512
MOST_BITS = 16
ROUNDING = 1e-12


def sq_dimension(concepts: Any, weights: Sequence[float] | None = None, power: float = 3) -> int:
    """The largest d so that d of the concepts correlate by at most 1/d³ with each other, all pairs of them.

    It is the SQ dimension of Blum et al., which the full paper refers to (section 5.3): a class of dimension
    d is not even weakly learned by fewer than about d^(1/3) queries of tolerance d^(−1/3), and weakly learned
    by polynomially many that are asked at once. For the parities of n bits and uniform examples it is 2^n.

    The search is exact: for each d it looks for d concepts in the graph of pairs that hardly correlate, with
    greedy colourings as bounds. That can take long for large classes without structure.

    Args:
        concepts: one row for each concept, with −1 or 1 for every example of the domain.
        weights: how likely each example is; by default all are equally likely.
        power: correlations are compared with 1/d to this power.

    >>> sq_dimension([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]])
    4
    >>> sq_dimension([[1, 1, 1, 1], [1, 1, 1, -1], [1, 1, -1, -1]])
    2
    """
    table, decay = _numbers(concepts), float(rational("power", power))
    if table.ndim != 2 or not table.size or not np.isin(table, (-1, 1)).all():
        raise QueryError(
            "concepts are rows of −1 and 1, one for each example of a domain: concepts_of(…) has those of "
            "a class"
        )
    if len(table) > MOST_CONCEPTS:
        raise QueryError(f"the SQ dimension is worked out for at most {MOST_CONCEPTS} concepts")
    chances = np.full(table.shape[1], 1 / table.shape[1]) if weights is None else _numbers(weights)
    if chances.shape != table.shape[1:] or (chances < 0).any() or not np.isclose(chances.sum(), 1):
        raise QueryError("weights are chances of the examples, which add up to 1")
    correlated = np.abs((table * chances) @ table.T)
    sizes = range(len(table), 1, -1)
    return next((size for size in sizes if _clique(correlated <= size**-decay + ROUNDING, size)), 1)


def concepts_of(hypotheses: HypothesisClass, schema: Schema, label: str | Node) -> NDArray[np.int64]:
    """The concepts of a class over boolean columns, for `sq_dimension`: for each a row of −1 and 1.

    Args:
        hypotheses: the class.
        schema: boolean columns: all combinations of those that the label does not look at are the domain.
        label: what the hypotheses are about.

    >>> import sulq
    >>> schema = sulq.Schema({name: sulq.Boolean() for name in ("a", "b", "c", "y")})
    >>> sq_dimension(concepts_of(sulq.classes.Parities(), schema, "y"))
    8
    >>> sq_dimension(concepts_of(sulq.classes.MonotoneConjunctions(), schema, "y"))
    4
    """
    truth = condition(label, schema)
    looked_at = {leaf.name for leaf in truth.leaves().values()}
    names = [name for name in schema if name not in looked_at]
    if not all(isinstance(schema[name], Boolean) for name in names) or len(names) > MOST_BITS:
        raise QueryError(f"the domain is that of at most {MOST_BITS} boolean columns")
    setting = Setting(schema, truth)
    size = check_size(hypotheses, setting)
    if size > MOST_CONCEPTS:
        raise QueryError(
            f"the SQ dimension is worked out for at most {MOST_CONCEPTS} concepts, and these are {size}"
        )
    bits = np.array(list(itertools.product([False, True], repeat=len(names)))).reshape(-1, len(names))
    rows = {name: bits[:, place] for place, name in enumerate(names)}
    blank = {name: np.zeros(len(bits), dtype=bool) for name in looked_at}
    domain = rows_of(open_source(rows | blank, schema), "a domain")
    values = [domain.values(hypotheses.hypothesis(index, setting).expression) for index in range(size)]
    return np.where(np.array(values, dtype=bool), 1, -1)


def _numbers(given: Any) -> NDArray[np.float64]:
    """What was given as an array of numbers; an empty one, if it is none."""
    try:
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return np.empty(0)


def _clique(near: NDArray[np.bool_], size: int) -> bool:
    """Whether there are so many that are all near each other, by branch and bound."""
    neighbours: list[int] = [
        sum(1 << j for j in np.flatnonzero(row).tolist() if j != i) for i, row in enumerate(near)
    ]
    order = sorted(range(len(near)), key=lambda i: -neighbours[i].bit_count())

    def grow(chosen: int, left: int) -> bool:
        if chosen == size:
            return True
        if chosen + _colours(left, neighbours, order) < size:
            return False
        for i in order:
            if left >> i & 1:
                if grow(chosen + 1, left & neighbours[i]):
                    return True
                left &= ~(1 << i)
                if chosen + left.bit_count() < size:
                    return False
        return False

    return grow(0, (1 << len(near)) - 1)


def _colours(left: int, neighbours: Sequence[int], order: Sequence[int]) -> int:
    """How many colours a greedy colouring takes: no set of all near each other is larger."""
    colours: list[int] = []
    for i in order:
        if left >> i & 1:
            for place, members in enumerate(colours):
                if not members & neighbours[i]:
                    colours[place] |= 1 << i
                    break
            else:
                colours.append(1 << i)
    return len(colours)

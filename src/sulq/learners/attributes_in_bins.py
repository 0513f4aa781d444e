"""Attributes with few values: categories as they are, numbers in public bins, coarser where rows are few."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sulq.effects.layout import Floats
from sulq.errors import QueryError
from sulq.hypotheses.measures import bounds_of
from sulq.queries.attributes import check_numbers, features_beside
from sulq.queries.codes import Bins
from sulq.queries.expressions import Column
from sulq.queries.facts import Code
from sulq.queries.node import Node
from sulq.queries.scope import scope_of
from sulq.schema import Schema

FEW_VALUES = 64
"""A column of so few whole numbers has a bin for each of them."""
EVEN = 32
"""Into so many bins of equal width a number is cut."""
A_HALVING, HALVINGS = 16, 12
"""Towards 0 edges come closer: so many for each halving of the distance, and so many halvings."""
FEWEST = 10.0
"""Rows in a bin, at least."""


@dataclass(frozen=True)
class Attribute:
    """One attribute of rows.

    Args:
        code: which of its values a row has, as a row expression.
        size: how many values there are.
        ordered: whether the values are intervals in their order.
    """

    code: Node
    size: int
    ordered: bool

    def joined(self, counts: Floats, least: float, noise: float) -> NDArray[np.intp]:
        """Which values are taken together: neighbouring intervals, until each has enough rows.

        Args:
            counts: how many rows have each value, noise and all.
            least: how many rows are enough, but for noise.
            noise: how many rows noise alone could be in one count; in a sum of several it grows like the root.

        >>> age = Attribute(Bins(Column("age"), (20.0, 40.0, 60.0)), 4, True)
        >>> age.joined(np.array([8.0, 1, 2, 50]), 5.0, 0.0)
        array([0, 1, 1, 1])
        """
        if not self.ordered:
            return np.arange(self.size)
        groups, group, rows, members = [], 0, 0.0, 0

        def enough() -> bool:
            return rows >= max(least, noise)

        for number in counts:
            if members and enough():
                group, rows, members = group + 1, 0.0, 0
            groups.append(group)
            rows += max(0.0, float(number))
            members += 1
        if group and not enough():
            groups = [min(each, group - 1) for each in groups]
        return np.array(groups)

    def coarser(self, groups: NDArray[np.intp]) -> Attribute:
        """The attribute with values taken together.

        Args:
            groups: the new value of each value, as `joined` says.
        """
        if not isinstance(self.code, Bins) or not self.ordered:
            return self
        edges = tuple(edge for edge, step in zip(self.code.edges, np.diff(groups), strict=True) if step)
        code: Node = Bins(self.code.inner, edges) if edges else self.code
        return Attribute(code, len(edges) + 1, True)


def attributes(
    schema: Schema, label: Node, features: Sequence[str | Node] | None, bins: Mapping[str, Sequence[float]]
) -> tuple[Attribute, ...]:
    """The features as attributes with few values, none of which looks at the label.

    Args:
        schema: what is public about the columns.
        label: what is learned.
        features: columns or expressions; None for all columns beside the label that can vary.
        bins: public edges by column, for numbers.
    """
    given = features_beside(schema, features, label)
    names = [feature.name for feature in given if isinstance(feature, Column)]
    check_numbers("bins", bins, names, schema)
    found = [_attribute(schema, feature, bins) for feature in given]
    if features is not None and None in found:
        unvaried = given[found.index(None)]
        raise QueryError(f"{unvaried.described()} cannot vary: leave it out of the features")
    varied = tuple(each for each in found if each is not None)
    if not varied:
        raise QueryError("there are no features to learn from: name some columns beside the label")
    return varied


def _attribute(schema: Schema, feature: Node, bins: Mapping[str, Sequence[float]]) -> Attribute | None:
    facts = scope_of(schema).facts(feature)
    if isinstance(facts, Code) or facts.flag:
        size = scope_of(schema).code(feature).size
        return Attribute(feature, size, False) if size > 1 else None
    if isinstance(feature, Column) and feature.name in bins:
        edges: Sequence[float] = Bins(feature, tuple(bins[feature.name])).edges
    else:
        edges = public_edges(*bounds_of(schema, feature), facts.bits == 0)
    return Attribute(Bins(feature, tuple(edges)), len(edges) + 1, True) if edges else None


def public_edges(low: float, high: float, integers: bool) -> list[float]:
    """Many edges between public bounds: evenly spread, and closer and closer towards 0.

    Nothing is read off the data. Whatever its scale, a number whose mass is near 0 is cut there too.

    Args:
        low: where the interval starts.
        high: where it ends.
        integers: whether all numbers are whole.

    >>> public_edges(0, 4, True)
    [1.0, 2.0, 3.0, 4.0]
    >>> len(public_edges(0.0, 100_000.0, True))
    175
    """
    if not low < high:
        return []
    if integers and high - low < FEW_VALUES:
        return [float(edge) for edge in range(int(low) + 1, int(high) + 1)]
    edges = [low + (high - low) * place / EVEN for place in range(1, EVEN)]
    for end in (low, high):
        edges += [end * 2.0 ** (-place / A_HALVING) for place in range(1, A_HALVING * HALVINGS)]
        edges += [math.copysign(1.0, end)] if integers else []
    if low < 0 < high:
        edges.append(0.0)
    if integers:
        edges = [float(math.ceil(edge)) for edge in edges]
    return sorted({edge for edge in edges if low < edge <= high})

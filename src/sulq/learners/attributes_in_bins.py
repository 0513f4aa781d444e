"""Attributes with few values: categories as they are, numbers in public bins, coarser where rows are few."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.effects.layout import Floats
from sulq.errors import QueryError
from sulq.hypotheses.measures import bounds_of
from sulq.queries.attributes import Edges, check_numbers, edge_numbers, features_beside
from sulq.queries.codes import Bins
from sulq.queries.edges import near_zero
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
"""Rows in an interval, at least."""
ENOUGH = 3.0
"""An interval is wide enough if it has so many times as many rows as there is noise in their number."""
WIDEST, STEPS = 400, 40
"""If numbers have more intervals in all, more rows are enough for one, 1.5 times as many at each step."""


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

    def groups(self, counts: Floats, enough: float) -> NDArray[np.intp]:
        """Which values are taken together: neighbouring intervals, until each group has enough rows.

        Args:
            counts: how many rows have each value, noise and all.
            enough: how many rows are enough.

        >>> age = Attribute(Bins(Column("age"), (20.0, 40.0, 60.0)), 4, True)
        >>> age.groups(np.array([8.0, 1, 2, 50]), 5.0)
        array([0, 1, 1, 1])
        """
        if not self.ordered:
            return np.arange(self.size)
        groups, group, rows = [], 0, 0.0
        for number in counts.tolist():
            if rows >= enough:
                group, rows = group + 1, 0.0
            groups.append(group)
            rows += max(0.0, number)
        if group and rows < enough:
            groups = [min(each, group - 1) for each in groups]
        return np.array(groups)

    def coarser(self, groups: NDArray[np.intp]) -> Attribute:
        """The attribute with values taken together.

        Args:
            groups: the new value of each value, as `groups` says; not all are the same.
        """
        if not isinstance(self.code, Bins) or not self.ordered:
            return self
        edges = tuple(edge for edge, step in zip(self.code.edges, np.diff(groups), strict=True) if step)
        return Attribute(Bins(self.code.inner, edges), len(edges) + 1, True)


@dataclass(frozen=True)
class Joined:
    """Attributes that still vary once values with few rows are taken together.

    Args:
        attributes: those attributes.
        groups: for each attribute there was, which of its values are taken together; None for those that no
            longer vary.
    """

    attributes: tuple[Attribute, ...]
    groups: tuple[NDArray[np.intp] | None, ...]

    def taken(self, tables: Sequence[Floats]) -> Floats:
        """Tables with a row for each value: those of values taken together are added, and all stacked.

        Args:
            tables: one for each attribute there was.
        """
        taken = [np.zeros((0, tables[0].shape[1]))]
        for group, table in self._varied(tables):
            sums = np.zeros((int(group[-1]) + 1, table.shape[1]))
            np.add.at(sums, group, table)
            taken.append(sums)
        return np.concatenate(taken)

    def variances(self, offs: Floats) -> Floats:
        """The variance of the noise in each row of what is `taken`.

        Args:
            offs: one standard deviation of the noise in a number of each table.
        """
        each = [off**2 * np.bincount(group) for group, off in self._varied(offs)]
        return np.concatenate([np.zeros(0), *each])

    def positive(self, counts: Floats, rows: float, offs: Floats) -> Floats:
        """Counts without negative ones, that add up to the number of rows for every attribute.

        Args:
            counts: how many rows have each value, noise and all.
            rows: how many rows there are.
            offs: one standard deviation of the noise in a count of each attribute there was.
        """
        each = [np.full(group[-1] + 1, off) for group, off in self._varied(offs)]
        least = np.concatenate([np.zeros(0), *each])
        raised, start, parts = np.maximum(counts, np.maximum(3.0, least / 2)), 0, [np.zeros(0)]
        for attribute in self.attributes:
            part = raised[start : start + attribute.size]
            parts.append(part * (rows / part.sum()))
            start += attribute.size
        return np.concatenate(parts)

    def _varied(self, each: Sequence[Any] | Floats) -> list[tuple[NDArray[np.intp], Any]]:
        return [(group, one) for group, one in zip(self.groups, each, strict=True) if group is not None]


def joined(attributes: Sequence[Attribute], counts: Sequence[Floats], offs: Floats) -> Joined:
    """Attributes whose intervals have enough rows to be told from noise.

    Args:
        attributes: the attributes.
        counts: how many rows have each value of each attribute, noise and all.
        offs: one standard deviation of the noise in a count of each attribute.
    """
    enough = np.maximum(FEWEST, ENOUGH * offs)
    for _ in range(STEPS):
        groups = [
            attribute.groups(each, float(least))
            for attribute, each, least in zip(attributes, counts, enough, strict=True)
        ]
        ordered = sum(int(group[-1]) for group, each in zip(groups, attributes, strict=True) if each.ordered)
        if ordered <= WIDEST:
            break
        enough = 1.5 * enough
    varied = [group if group[-1] > 0 else None for group in groups]
    coarse = [
        attribute.coarser(group)
        for attribute, group in zip(attributes, varied, strict=True)
        if group is not None
    ]
    return Joined(tuple(coarse), tuple(varied))


def attributes(
    schema: Schema, label: Node, features: Sequence[str | Node] | None, bins: Mapping[str, Edges]
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
    each = [_attribute(schema, feature, bins) for feature in given]
    if features is not None and None in each:
        unvaried = given[each.index(None)]
        raise QueryError(f"{unvaried.described()} cannot vary: leave it out of the features")
    varied = tuple(attribute for attribute in each if attribute is not None)
    if not varied:
        raise QueryError("there are no features to learn from: name some columns beside the label")
    return varied


def _attribute(schema: Schema, feature: Node, bins: Mapping[str, Edges]) -> Attribute | None:
    facts = scope_of(schema).facts(feature)
    if isinstance(facts, Code) or facts.flag:
        size = scope_of(schema).code(feature).size
        return Attribute(feature, size, False) if size > 1 else None
    if isinstance(feature, Column) and feature.name in bins:
        edges: Sequence[float] = Bins(
            feature, tuple(edge_numbers(schema[feature.name], bins[feature.name]))
        ).edges
    else:
        edges = public_edges(*bounds_of(schema, feature), facts.bits == 0)
    return Attribute(Bins(feature, tuple(edges)), len(edges) + 1, True) if edges else None


def public_edges(
    low: float,
    high: float,
    integers: bool,
    a_halving: int = A_HALVING,
    halvings: int = HALVINGS,
    few: int = FEW_VALUES,
) -> list[float]:
    """Many edges between public bounds: evenly spread, and closer and closer towards 0.

    Nothing is read off the data. Whatever its scale, a number whose mass is near 0 is cut there too.

    Args:
        low: where the interval starts.
        high: where it ends.
        integers: whether all numbers are whole.
        a_halving: how many edges there are for each halving of the distance from 0.
        halvings: how often it is halved.
        few: so few whole numbers have an interval each.

    >>> public_edges(0, 4, True)
    [1.0, 2.0, 3.0, 4.0]
    >>> len(public_edges(0.0, 100_000.0, True))
    218
    """
    if not low < high:
        return []
    if integers and high - low < few:
        return [float(edge) for edge in range(int(low) + 1, int(high) + 1)]
    return near_zero(low, high, integers, EVEN, a_halving, a_halving * halvings - 1)

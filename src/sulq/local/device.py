"""The side of the people: a device looks at its person's rows, randomizes, and sends nothing but a report."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.local.item import Item, fits
from sulq.local.lr import NOTHING, Used, charged
from sulq.local.randomizer import Randomizer
from sulq.local.report import Report
from sulq.local.shapes import Keyed, OneOf
from sulq.numbers import make_rational
from sulq.queries.codes import Cross
from sulq.queries.node import Node
from sulq.queries.scope import Scope


class Readable(Protocol):
    """Rows that a device may look at, because they are its person's: a source is."""

    @property
    def scope(self) -> Scope:
        """The schema that expressions are read against."""

    def values(self, expression: Node) -> NDArray[Any]:
        """The value of an expression on every row, in order."""


@dataclass(frozen=True)
class Device:
    """A person's device; or many people's at once, which is the same work done in one go.

    Before it looks at a row, it refuses an item that costs the person more than `epsilon`, and one that was
    made for another schema. Each call of `report` may cost that much: a device that is asked more than once
    adds up what its reports cost, with `sulq.local.lr.charged`, as `LocalRandomness` does.

    Args:
        rows: the person's rows. If they are many people's, each row plays a person, or one of a person's
            rows where the schema has a unit of several.
        epsilon: what a report on all rows of one person may cost.

    >>> import sulq
    >>> from sulq.local.item import item_of
    >>> person = sulq.open({"sick": [True]}, {"sick": sulq.Boolean()})
    >>> item = item_of(sulq.col("sick"), person.scope, Fraction(1))
    >>> Device(person, epsilon=1).report(item).numbers.shape
    (1,)
    >>> Device(person, epsilon="1/2").report(item)
    Traceback (most recent call last):
    sulq.errors.BudgetError: the charge of epsilon = 1 exceeds what is left, 0.5, ...
    """

    rows: Readable
    epsilon: Fraction

    def __post_init__(self) -> None:
        make_rational(self, "epsilon")

    def report(self, item: Item) -> Report:
        """What to send about an item: drawn anew at every call.

        Raises BudgetError if that costs more than is allowed, and QueryError if the item is for another
        schema; then no row was looked at.
        """
        self._check(item)
        return Report(item.key, item.randomizer.sample(self._values(item)))

    def _check(self, item: Item) -> None:
        """Refuse by public facts alone."""
        scope = self.rows.scope
        if item.rows != scope.schema.rows_per_unit:
            rows = scope.schema.rows_per_unit
            raise QueryError(f"this item is for people with {item.rows} rows, and here they may have {rows}")
        _cost(item.randomizer, self.epsilon / item.rows)
        if not scope.remember((item.key, "fits"), lambda: fits(item, scope)):
            raise QueryError("this item was made for another schema than that of these rows")

    def _values(self, item: Item) -> Any:
        """What the item is about, as the randomizer takes it."""
        if item.group is None:
            assert item.value is not None
            return self.rows.values(item.value)
        assert isinstance(item.shape, OneOf | Keyed)
        groups = self.rows.values(Cross((item.group,)))
        if item.condition is not None:
            # Those whom the condition leaves out are a group of their own, the last.
            groups = np.where(self.rows.values(item.condition), groups, item.shape.size - 1)
        if item.value is None:
            return groups
        assert isinstance(item.shape, Keyed)
        return groups, self.rows.values(item.value).reshape(-1, len(item.shape.box.lows))


@lru_cache(maxsize=256)
def _cost(randomizer: Randomizer, epsilon: Fraction) -> Used:
    """What a report costs, or a refusal; remembered, because devices are put the same item by the million."""
    return charged(NOTHING, randomizer, epsilon)

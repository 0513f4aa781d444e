"""The side of the people: a device looks at its person's rows, randomizes, and sends nothing but a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sulq.errors import BudgetError, QueryError
from sulq.local.item import Item, fits
from sulq.local.lifetime import Lifetime, cost_of
from sulq.local.lr import NOTHING, Used, charged
from sulq.local.questionnaire import Questionnaire
from sulq.local.randomizer import Randomizer
from sulq.local.report import Report
from sulq.local.shapes import Keyed, OneOf
from sulq.numbers import make_rational, several, whole
from sulq.privacy.coins import uniform
from sulq.queries.codes import Cross
from sulq.queries.node import Node
from sulq.queries.scope import Scope

MOST_ROUNDS = 2**53
MOST_PEOPLE = 2**31 - 1
"""As the JavaScript has it: a lot is drawn with 32 bits."""


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
            with_rows = several(item.rows, "row", "rows", "d")
            raise QueryError(f"this item is for people with {with_rows}, and here they may have {rows}")
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


@dataclass(frozen=True)
class PersonalDevice:
    """One person's own device, which keeps to their ε for life, whoever asks and however often it restarts.

    It refuses what it cannot verify before it looks at a row: an item for another schema, a shape that does
    not follow from the schema, a randomizer whose numbers do not keep the item's ε. It reports on the same
    item with the same report for ever. A report and its cost are on the disk before it is handed out.
    The JavaScript of `sulq survey` keeps the same rules.

    Args:
        rows: the person's rows.
        keeps: what was spent and reported, in a file: a `sulq.local.lifetime.Lifetime`.

    >>> import sulq
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sulq.local.item import item_of
    >>> person = sulq.open({"sick": [True]}, {"sick": sulq.Boolean()})
    >>> item = item_of(sulq.col("sick"), person.scope, Fraction(1))
    >>> with TemporaryDirectory() as folder:
    ...     device = PersonalDevice(person, Lifetime(Path(folder) / "mine.db", "health", epsilon=3))
    ...     device.report(item) == device.report(item), device.keeps.left
    (True, Fraction(2, 1))
    """

    rows: Readable
    keeps: Lifetime

    def report(self, item: Item) -> Report:
        """What to send about an item.

        Raises QueryError if the item cannot be verified and BudgetError if the person's ε does not pay for
        it; then no row was looked at.

        Args:
            item: what is asked.
        """
        return self.reports([item])[0]

    def reports(self, items: Sequence[Item]) -> list[Report]:
        """What to send about several items: all of them are paid for, or none.

        Args:
            items: what is asked.
        """
        for item in items:
            self._verify(item)
        return self.keeps.reports(items, self._drawn)

    def answer(self, number: int, asked: Questionnaire, asks: Literal["all", "one"] = "all") -> list[Report]:
        """What to send in a round of a survey.

        Args:
            number: the number of the round. A lot that was drawn in a round stays.
            asked: the items, and how many people each is put to.
            asks: "all" for a report on every item; "one" for a report on one of them, by lot, with chances in
                the proportion of the people.
        """
        if asks not in ("all", "one"):
            raise QueryError(f"a round asks all or one of its items, not {asks!r}")
        whole("the number of a round", number, 0, MOST_ROUNDS)
        if asks == "all":
            return self.reports(asked.items)
        whole("the number of people of a round", sum(asked.people), 1, MOST_PEOPLE)
        for item in asked.items:
            self._verify(item)
        ends = np.cumsum(asked.people)

        def by_lot() -> int:
            return int(np.searchsorted(ends, uniform(int(ends[-1]), 1)[0], side="right"))

        return self.reports([self.keeps.lot(number, asked.items, by_lot)])

    def _verify(self, item: Item) -> None:
        """Refuse by public facts alone."""
        try:
            Device(self.rows, cost_of(item))._check(item)
        except BudgetError:
            raise QueryError("the randomizer of this item does not keep the item's epsilon") from None

    def _drawn(self, item: Item) -> Report:
        report = Device(self.rows, cost_of(item)).report(item)
        if len(report.numbers) > item.rows:
            raise QueryError("a personal device has the rows of one person, and these are more")
        return report


@lru_cache(maxsize=256)
def _cost(randomizer: Randomizer, epsilon: Fraction) -> Used:
    """What a report costs, or a refusal; remembered, because devices are put the same item by the million."""
    return charged(NOTHING, randomizer, epsilon)

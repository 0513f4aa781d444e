"""What is predicted: a class or a number, and the numbers of a row that stand for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sulq.errors import QueryError
from sulq.hypotheses.measures import bounds_of
from sulq.kinds import OTHER
from sulq.queries.arithmetic import Compare
from sulq.queries.cases import clip
from sulq.queries.codes import OneHot
from sulq.queries.expressions import Constant
from sulq.queries.facts import Code
from sulq.queries.lookups import Lookup
from sulq.queries.node import Node
from sulq.queries.scope import scope_of
from sulq.schema import Schema


@dataclass(frozen=True)
class Target:
    """A label, and the numbers of a row that stand for it.

    A class is 0 or 1: whether a row has the second of two classes, or each of more. A number is scaled such
    that its public bounds are −1 and 1. A category of two declared values has two classes: a row whose label
    is `(other)` has neither, so it is left out of what is asked about the label. If it is
    known where the values of a number are, the ends of that are −1 and 1, and values beyond count as these.

    Args:
        schema: what is public about the columns.
        label: the label, as a row expression.
        others: whether `(other)` is a class of its own even beside two declared values.
        within: where the values of a number are; None for anywhere within its bounds.

    >>> from sulq.queries.expressions import Column
    >>> from sulq.schema import Category
    >>> Target(Schema({"sick": Category(["no", "yes"])}), Column("sick")).classes
    ('no', 'yes')
    """

    schema: Schema
    label: Node
    others: bool = False
    within: tuple[float, float] | None = None

    @property
    def classes(self) -> tuple[str, ...] | tuple[bool, ...] | None:
        """What the label can be; None for a number."""
        facts = scope_of(self.schema).facts(self.label)
        if isinstance(facts, Code):
            levels = facts.levels or tuple(map(str, range(facts.size)))
            return levels[:2] if self._leaves_out(levels) else levels
        return (False, True) if facts.flag else None

    @property
    def known(self) -> Node | None:
        """Which rows have one of the classes; None where all have."""
        facts = scope_of(self.schema).facts(self.label)
        if not isinstance(facts, Code) or not self._leaves_out(facts.levels or ()):
            return None
        return Compare("!=", self.label, Constant(OTHER))

    def _leaves_out(self, levels: Sequence[str]) -> bool:
        return not self.others and len(levels) == 3 and levels[2] == OTHER

    @property
    def width(self) -> int:
        """How many numbers stand for the label."""
        classes = self.classes
        return 1 if classes is None or len(classes) == 2 else len(classes)

    @property
    def numbers(self) -> Node:
        """The numbers that stand for the label of a row."""
        if self.classes is None:
            low, high = self.bounds
            kept = self.label if self.within is None else kept_between(self.schema, self.label, low, high)
            return (kept - (low / 2 + high / 2)) * (2 / (high - low))
        if self.width > 1:
            return OneHot(self.label)
        return Lookup(self.label, ((0,), (1,)) if self.known is None else ((0,), (1,), (0,)))

    @property
    def bounds(self) -> tuple[float, float]:
        """Between which bounds a number is."""
        return self.within or bounds_of(self.schema, self.label)

    def scaled(self, number: float) -> float:
        """A value of a number, scaled as `numbers` are."""
        low, high = self.bounds
        return (number - (low / 2 + high / 2)) * (2 / (high - low))

    def kept(self, score: Node) -> Node:
        """A score that stands for a number, kept between −1 and 1, also where it lies beyond for every row.

        Noise may have made such a score, so it must not be refused: that would tell of the rows.
        """
        return kept_between(self.schema, score, -1.0, 1.0)

    def check(self) -> None:
        """Refuse what is no label."""
        classes = self.classes
        if classes is None and scope_of(self.schema).number(self.label).width > 1:
            raise QueryError(
                f"{self.label.described()} is a vector: a label is a category or a single number"
            )
        if (classes is None and self.bounds[0] == self.bounds[1]) or (
            classes is not None and len(classes) < 2
        ):
            raise QueryError(f"{self.label.described()} can only have one value: there is nothing to predict")
        if self.within is not None:
            self._check_within(*self.within)

    def _check_within(self, low: float, high: float) -> None:
        least, most = bounds_of(self.schema, self.label)
        if self.classes is not None or not least <= low < high <= most:
            raise QueryError(f"the values of {self.label.described()} are not between {low:g} and {high:g}")


def kept_between(schema: Schema, number: Node, low: float, high: float) -> Node:
    """A number, kept between two bounds: one of them where it never is between.

    Args:
        schema: what is public about the columns.
        number: the number, as a row expression.
        low: the lower bound.
        high: the upper bound.

    >>> from sulq.schema import Integer
    >>> kept_between(Schema({"age": Integer(0, 99)}), Constant(7), 0, 5).key == Constant(5).key
    True
    """
    facts = scope_of(schema).number(number)
    least, most = float(facts.low.min()) / 2.0**facts.bits, float(facts.high.max()) / 2.0**facts.bits
    if most <= low or least >= high:
        return Constant(low if most <= low else high)
    return clip(number, low, high)

"""What a device is asked: a row expression, and the randomizer to report it by. All plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.local.best import Method, best_randomizer, check_method
from sulq.local.few_values import takes_few_values
from sulq.local.forms import VERSION, Versioned, opened
from sulq.local.onebit import OneBitReport
from sulq.local.randomizer import Randomizer
from sulq.local.reading import shape_of
from sulq.local.report import Report
from sulq.local.shapes import Ball, Box, Flag, Interval, Keyed, OneOf, Shape
from sulq.local.tally import Tally
from sulq.numbers import make_rational, several, whole
from sulq.queries import codes
from sulq.queries.facts import Number
from sulq.queries.node import Node
from sulq.queries.node_forms import node_of
from sulq.queries.products import Outer
from sulq.queries.scope import Scope
from sulq.queries.vectors import Only
from sulq.wire import canonical, digest, entry, exact, reading

MOST_ROWS = 2**31


@dataclass(frozen=True, eq=False)
class Item(Versioned):
    """What to report of a row, so that all reports together tell the mean of a row expression.

    A group and a value in it are reported as such, and not as the long vector of zeros they stand for. Made
    by `item_of`; a device checks that the schema is its own, and that the shape follows from it.

    Args:
        schema: the hash of the schema that the expressions are read against.
        shape: what the value may be.
        epsilon: what the report on one row may cost the person.
        value: the row expression to report, or the value within a group; None where only a group is.
        group: the group of a row, if one is reported.
        condition: rows for which it does not hold are in one more group, the last.
        rows: how many rows a person may have; each is reported on with `epsilon`.
        method: "best" for the randomizer with the least variance; "printed" for the best among those that
            articles print, and that surveys had before there were better ones; "paper" for the paper's.

    >>> import sulq
    >>> schema = sulq.Schema({"age": sulq.Integer(0, 120), "sick": sulq.Boolean()})
    >>> item = item_of(sulq.col("age"), Scope(schema), Fraction(1))
    >>> item.shape, item.described
    (Interval(low=0.0, high=120.0), 'window of cells')
    >>> Item.from_json(item.to_json()) == item
    True
    """

    kind: ClassVar[str] = "item"
    schema: str
    shape: Shape
    epsilon: Fraction
    value: Node | None = None
    group: Node | None = None
    condition: Node | None = None
    rows: int = 1
    method: Method = "best"

    def __post_init__(self) -> None:
        if not isinstance(self.schema, str):
            raise QueryError(f"an item has the hash of a schema, not {self.schema!r}")
        make_rational(self, "epsilon")
        whole("the number of rows of a person", self.rows, 1, MOST_ROWS)
        check_method(self.method)
        grouped, keyed = isinstance(self.shape, OneOf | Keyed), isinstance(self.shape, Keyed)
        if (self.group is None) == grouped or (self.condition is not None and not grouped):
            raise QueryError("an item of groups has the shape one of or keyed; only such has a condition")
        if (self.value is None) != (grouped and not keyed):
            raise QueryError("an item has a value to report, unless it is one of some groups")

    def __reduce__(self) -> tuple[type[Item], tuple[Any, ...]]:
        return Item, tuple(getattr(self, field.name) for field in fields(self))

    @cached_property
    def randomizer(self) -> Randomizer:
        """What a device draws its report by. It follows from shape, ε and method."""
        return _randomizer(self.shape, self.epsilon, self.method)

    @property
    def _wire_method(self) -> str:
        """What forms call the method: where the printed ones were the best there were, they are "best"."""
        names = _METHODS[isinstance(self.shape, SHARPENED)].items()
        return next((name for name, method in names if method == self.method), "best")

    @property
    def described(self) -> str:
        """The randomizer's name, for people."""
        return _NAMES[type(self.randomizer).__name__]

    @property
    def width(self) -> int:
        """How many numbers of the estimate are answers; a group of all other rows may follow them."""
        others = self.condition is not None
        match self.shape:
            case OneOf(size):
                return size - others
            case Keyed(size, box):
                return (size - others) * len(box.lows)
            case Box(lows, _):
                return len(lows)
            case Ball(size, _):
                return size
            case _:
                return 1

    @cached_property
    def key(self) -> str:
        """Names the item: equal for equal items, on every machine."""
        nodes = self.value, self.group, self.condition
        keys = [None if node is None else node.key for node in nodes]
        plain = [self.shape.form, str(self.epsilon), keys, self.rows, self._wire_method]
        return digest(canonical([VERSION, self.schema, *plain]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Item) and other.key == self.key

    def __hash__(self) -> int:
        return hash(self.key)

    def tally(self, report: Report, people: int = 1) -> Tally:
        """The tally of a report, which is refused if it is on another item or on too many rows.

        Args:
            report: what was received.
            people: whose report it is: one person's, or so many people's in one array.
        """
        if report.item != self.key:
            raise QueryError("this report is on another item")
        tally = self.randomizer.tally(report.numbers, self.key)
        if tally.reports > people * self.rows:
            most = several(self.rows, "row", "rows", "d")
            raise QueryError(f"a person reports on at most {most}: this report is on more")
        return tally

    def estimate(self, tally: Tally) -> NDArray[np.float64]:
        """The mean of the row expression over the rows that were reported on, without bias.

        How far it may be off is the randomizer's `radius(tally.reports, beta)`.
        """
        if tally.item != self.key:
            raise QueryError("this tally is of another item")
        return np.ravel(self.randomizer.estimate_of(tally))[: self.width]

    def form(self) -> dict[str, Any]:
        nodes = {"value": self.value, "group": self.group, "condition": self.condition}
        return {
            self.kind: VERSION,
            "schema": self.schema,
            "shape": self.shape.form,
            "epsilon": str(self.epsilon),
            **{name: None if node is None else node.form for name, node in nodes.items()},
            "rows": self.rows,
            "method": self._wire_method,
            "randomizer": self.randomizer.form,
        }

    @classmethod
    def of(cls, form: Mapping[str, Any]) -> Item:
        """The item with this form. A version, and a randomizer, that is not known is refused."""
        with reading("an item"):
            return cls._read(opened(form, cls.kind, _KEYS))

    @classmethod
    def _read(cls, given: Mapping[str, Any]) -> Item:
        expressions = (given[name] for name in ("value", "group", "condition"))
        value, group, condition = (None if node is None else node_of(node) for node in expressions)
        shape, rows = shape_of(given["shape"]), given["rows"]
        method = entry(given["method"], _METHODS[isinstance(shape, SHARPENED)], "method")
        epsilon: Any = exact(given["epsilon"], "epsilon")
        item = cls(given["schema"], shape, epsilon, value, group, condition, rows, method)
        # Both ends must draw and read reports by the same chances, to the last step.
        if canonical(item.randomizer.form) != canonical(given["randomizer"]):
            raise QueryError(f"this item is reported by a {item.described} here, and the form has another")
        return item


def item_of(part: Node, scope: Scope, epsilon: Fraction, rows: int = 1, method: Method = "best") -> Item:
    """What to ask of people for the mean of a row expression: as little as it needs.

    Args:
        part: the row expression: one part of a query.
        scope: the schema.
        epsilon: what the report on one row may cost.
        rows: how many rows a person may have.
        method: "best", "printed" or "paper"; see `Item`.

    >>> import sulq
    >>> schema = sulq.Schema({"sick": sulq.Boolean(), "town": sulq.Category(["a", "b"])})
    >>> [part] = sulq.count(where=sulq.col("sick"), by="town").parts
    >>> item = item_of(part, Scope(schema), Fraction(1))
    >>> item.shape, item.width
    (OneOf(size=4), 3)
    """
    known_by = part.key, f"item {epsilon} {rows} {method}"
    return scope.remember(known_by, lambda: _item(part, scope, epsilon, rows, method))


def _item(part: Node, scope: Scope, epsilon: Fraction, rows: int, method: Method) -> Item:
    condition, inner = (part.condition, part.inner) if isinstance(part, Only) else (None, part)
    group: Node | None = None
    value: Node | None = None
    if isinstance(inner, codes.OneHot):
        group = inner.choice
    elif isinstance(inner, Outer) and isinstance(inner.left, codes.OneHot):
        group, value = inner.left.choice, inner.right
    else:
        condition, value = None, part
    shape = _best(_shapes(value, group, condition, scope), epsilon, method)
    if method == "best" and isinstance(shape, Interval) and takes_few_values(part, scope):
        method = "printed" if isinstance(_randomizer(shape, epsilon, "printed"), OneBitReport) else "best"
    return Item(_hash(scope), shape, epsilon, value, group, condition, rows, method)


def fits(item: Item, scope: Scope) -> bool:
    """Whether an item was made for this schema, and its shape is one that follows from it."""
    return item.schema == _hash(scope) and item.shape in _shapes(
        item.value, item.group, item.condition, scope
    )


def _shapes(
    value: Node | None, group: Node | None, condition: Node | None, scope: Scope
) -> tuple[Shape, ...]:
    """The shapes in which an item with these expressions may be reported, by the schema."""
    if condition is not None:
        scope.condition(condition)
    if group is not None:
        size = scope.code(group).size + (condition is not None)
        return (OneOf(size) if value is None else Keyed(size, _box(scope.number(value))),)
    assert value is not None
    facts = scope.number(value)
    if facts.flag:
        return (Flag(),)
    box = _box(facts)
    if facts.width == 1:
        return (Interval(box.lows[0], box.highs[0]),)
    return box, Ball(facts.width, float(np.sqrt(float(facts.square * facts.unit**2))))


def _hash(scope: Scope) -> str:
    return scope.remember(("", "hash of the schema"), lambda: scope.schema.hash)


def _box(facts: Number) -> Box:
    unit = float(facts.unit)
    return Box(tuple((facts.low * unit).tolist()), tuple((facts.high * unit).tolist()))


@lru_cache(maxsize=256)
def _best(shapes: Sequence[Shape], epsilon: Fraction, method: Method) -> Shape:
    """The shape whose randomizer has the least variance; learners ask for the same again and again."""
    if len(shapes) == 1:
        return shapes[0]
    return min(shapes, key=lambda shape: _randomizer(shape, epsilon, method).variance(1))


@lru_cache(maxsize=256)
def _randomizer(shape: Shape, epsilon: Fraction, method: Method) -> Randomizer:
    return best_randomizer(shape, epsilon, method)


SHARPENED = (Interval, Ball)
"""The shapes for which "best" was another randomizer once: forms call the newer one "tight"."""
_FORMER: dict[str, Method] = {"best": "best", "paper": "paper"}
_METHODS = (_FORMER, _FORMER | {"best": "printed", "tight": "best"})
_KEYS = ("schema", "shape", "epsilon", "value", "group", "condition", "rows", "method", "randomizer")
_NAMES = {
    "CapReport": "direction from a cap",
    "CoordinateReport": "bits of some coordinates",
    "DesignResponse": "response into blocks",
    "HadamardResponse": "Hadamard response",
    "KaryResponse": "k-ary response",
    "KeyedReport": "group and one coordinate",
    "LaplaceReport": "Laplace noise",
    "OneBitReport": "one bit",
    "PaperReport": "one number with Laplace noise",
    "PiecewiseReport": "piecewise report",
    "RandomizedResponse": "randomized response",
    "SphereReport": "side of a random plane",
    "UnaryResponse": "unary response",
    "WindowReport": "window of cells",
}
"""What people call the randomizers."""

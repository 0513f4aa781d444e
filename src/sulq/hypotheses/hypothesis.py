"""What a learner returns: something to predict with, to read, and to keep."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar

from numpy.typing import NDArray
from rich.console import RenderableType
from rich.text import Text

from sulq.errors import QueryError
from sulq.pictures import chips
from sulq.pictures.svg import clean
from sulq.queries.attributes import looked_at
from sulq.queries.canonical import parse
from sulq.queries.expressions import Column, Compare, Constant, Node, Not, Operand, node
from sulq.queries.query import Query, mean
from sulq.queries.scope import Scope
from sulq.schema import Schema
from sulq.sources.source import open as open_source

T = TypeVar("T", bound="Hypothesis")


@dataclass(frozen=True)
class Origin:
    """Where a hypothesis came from: who learned it, under what promise, in which run, in how many rounds."""

    learner: str
    promise: str
    run: str
    rounds: int


@dataclass(frozen=True, eq=False)
class Hypothesis(ABC):
    """The base of all hypotheses. It holds answers and public facts, and never a row or an exact sum.

    Args:
        schema: what is public about the columns.
        origin: where the hypothesis comes from, if it was learned.
    """

    schema: Schema
    origin: Origin | None

    @property
    @abstractmethod
    def expression(self) -> Node:
        """What it says of a row, as a row expression: to predict with, or to ask about."""

    @abstractmethod
    def describe(self) -> str:
        """What it says, for people."""

    def picture(self) -> str:
        """What it says, as an SVG picture that stands on its own. Notebooks show it."""
        return chips.picture(type(self).__name__, self.describe().splitlines(), joint="", note=self._caption)

    def drawing(self) -> RenderableType:
        """What it says, for `rich.print` on a terminal."""
        return Text("\n".join(clean(line) for line in self.describe().splitlines()))

    def _repr_svg_(self) -> str:
        return self.picture()

    @property
    def _caption(self) -> str:
        """Who learned it and under what promise, to stand below its picture."""
        origin = self.origin
        return "" if origin is None else f"learned by {origin.learner} · privacy: {origin.promise}"

    def predict(self, frame: Any) -> NDArray[Any]:
        """What it says of every row of a frame, which needs no label."""
        return self._values(self.expression, frame)

    def _values(self, expression: Node, frame: Any) -> NDArray[Any]:
        """An expression on every row of a frame, which needs no other columns than those it looks at."""
        needed = looked_at(expression)
        if not needed:  # what says the same of every row still needs to know how many there are
            given = getattr(frame, "columns", frame)
            needed = frozenset(
                [next((name for name in self.schema if name in given), next(iter(self.schema)))]
            )
        rows = open_source(frame, Schema({name: self.schema[name] for name in self.schema if name in needed}))
        return rows.values(expression)

    def wrong(self, truth: Node) -> Node:
        """Whether what it says of a row differs from the truth, as a row expression."""
        return Compare("!=", self.expression, truth)

    def to_json(self) -> str:
        """The hypothesis as text; `from_json` reads it back."""
        origin = None if self.origin is None else asdict(self.origin)
        return json.dumps({"schema": self.schema.form(), "origin": origin} | self._own())

    @classmethod
    def from_json(cls: type[T], text: str) -> T:
        """The hypothesis that `to_json` wrote."""
        try:
            form = json.loads(text)
            schema = Schema.of(dict(form.pop("schema")))
            origin = form.pop("origin")
            read = cls._read(schema, None if origin is None else Origin(**origin), form)
            read.describe()
            Scope(schema).facts(read.expression)
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError):
            raise QueryError(f"this is not the text of a {cls.__name__}") from None
        return read

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is type(self) and isinstance(other, Hypothesis) and other.to_json() == self.to_json()
        )

    def __hash__(self) -> int:
        return hash(self.to_json())

    def _own(self) -> dict[str, Any]:
        """What is its own, as plain data: by default its further fields."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)[2:]}

    @classmethod
    def _read(cls: type[T], schema: Schema, origin: Origin | None, fields: dict[str, Any]) -> T:
        return cls(schema, origin, **{name: _read(value) for name, value in fields.items()})


def error_rate(hypothesis: Hypothesis, label: Operand, **precision: Any) -> Query:
    """One more query: how often a hypothesis is wrong. `precision` is a weight, or a tolerance and beta."""
    truth = Column(label) if isinstance(label, str) else node(label)
    return mean(hypothesis.wrong(truth), **precision)


def _plain(value: Any) -> Any:
    """Row expressions by their form, whatever they are inside of."""
    if isinstance(value, Node):
        return value.form
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, tuple | list) else value


def _read(value: Any) -> Any:
    """What `_plain` made plain; lists come back as tuples."""
    if isinstance(value, Mapping):
        return parse(value) if "node" in value else {name: _read(each) for name, each in value.items()}
    return tuple(map(_read, value)) if isinstance(value, list) else value


def words(expression: Node) -> str:
    """A literal as people would say it."""
    if isinstance(expression, Column):
        return expression.name
    if isinstance(expression, Constant):
        return str(expression.constant)
    if isinstance(expression, Not):
        return f"not {words(expression.inner)}"
    if isinstance(expression, Compare):
        return f"{words(expression.left)} {expression.relation} {words(expression.right)}"
    return type(expression).__name__.lower()

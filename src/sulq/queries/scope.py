"""Reading expressions: against a schema, and on a block of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, wraps
from typing import Any, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.loops import Taken
from sulq.queries.facts import Code, Number
from sulq.queries.room import most_cells
from sulq.schema import Schema

T = TypeVar("T")
Values = NDArray[Any]
Floats = NDArray[np.float64]
MOST_REMEMBERED, MOST_NUMBERS = 10_000, 2**24
"""How many facts are remembered at once, and of how many numbers they are in all."""
NOTHING = object()


class RowExpression(Protocol):
    """What every row expression has: facts that follow from a schema, and a value on a block of rows."""

    @property
    def key(self) -> str:
        """Names the expression."""
        ...

    def described(self) -> str:
        """What to call it in a message."""
        ...

    def facts(self, scope: Scope) -> Number | Code:
        """What is known of its value from the schema alone."""
        ...

    def value(self, batch: Batch) -> Values:
        """Its value on every row of a block."""
        ...


class Scope:
    """Expressions read against one schema. It remembers what was worked out about each.

    Args:
        schema: what is public about the columns.
        former: whether facts are as loose as in earlier versions, to read what these released.
    """

    def __init__(self, schema: Schema, former: bool = False) -> None:
        self.schema = schema
        self.former = former
        self._known: dict[tuple[str, str], Any] = {}
        self._numbers = 0

    def __reduce__(self) -> tuple[Callable[..., Scope], tuple[Schema, bool]]:
        # What it remembers follows from the schema, and some of it cannot be pickled.
        return scope_of, (self.schema, self.former)

    def facts(self, expression: RowExpression) -> Number | Code:
        return self.remember((expression.key, "facts"), lambda: expression.facts(self))

    def remember(self, key: tuple[str, str], work_out: Callable[[], T]) -> T:
        """What was worked out before, or is worked out now. Everything is forgotten before it is too much."""
        known = self._known.get(key, NOTHING)
        if known is NOTHING:
            known = work_out()
            numbers = known.width if isinstance(known, Number) else 1
            most = min(MOST_NUMBERS, most_cells())  # where many share a machine, less is remembered
            if len(self._known) >= MOST_REMEMBERED or self._numbers + numbers > most:
                self._known.clear()
                self._numbers = 0
            self._numbers += numbers
            self._known[key] = known
        return cast(T, known)

    def number(self, expression: RowExpression) -> Number:
        facts = self.facts(expression)
        if isinstance(facts, Code):
            raise QueryError(f"{expression.described()} is a category, not a number: use one_hot or lookup")
        return facts

    def code(self, expression: RowExpression) -> Code:
        """The facts of a category, a truth value or a bounded integer, read as a choice among few."""
        facts = self.facts(expression)
        if isinstance(facts, Code):
            return facts
        return self.remember((expression.key, "code"), lambda: self._few(expression, facts))

    def _few(self, expression: RowExpression, facts: Number) -> Code:
        if facts.width == 1 and facts.bits == 0:
            size = int(facts.high[0] - facts.low[0]) + 1
            if size <= 2**20:
                return Code(size, tuple(map(str, range(facts.low[0], facts.high[0] + 1))))
        raise QueryError(f"{expression.described()} has no short list of values: use bins with public edges")

    def condition(self, expression: RowExpression) -> Number:
        facts = self.facts(expression)
        if isinstance(facts, Code) or not facts.flag:
            raise QueryError(f"{expression.described()} is not true or false: compare it with something")
        return facts


def scope_of(schema: Schema, former: bool = False) -> Scope:
    """The scope of a schema: one for all who read expressions against it."""
    return _scope_of(schema, former)


@lru_cache(maxsize=64)
def _scope_of(schema: Schema, former: bool) -> Scope:
    return Scope(schema, former)


def once(method: Callable[[Any, Scope], T]) -> Callable[[Any, Scope], T]:
    """A method of a node worked out once for each scope instead of once for each block."""

    @wraps(method)
    def remembered(self: RowExpression, scope: Scope) -> T:
        return scope.remember((self.key, method.__name__), lambda: method(self, scope))

    return remembered


class Batch:
    """A block of encoded columns, by the keys of their leaves. Every value on it is computed at most once."""

    def __init__(
        self,
        scope: Scope,
        columns: Mapping[str, Values],
        rows: int,
        room: dict[str, Floats] | None = None,
        depth: int = 0,
    ) -> None:
        self.scope = scope
        self.columns = columns
        self.rows = rows
        self._values: dict[str, Values] = {}
        self._room = {} if room is None else room
        self._depth = depth

    def value(self, expression: RowExpression) -> Values:
        known = self._values.get(expression.key)
        if known is None:
            known = self._values[expression.key] = expression.value(self)
        return known

    def keep(self, expression: RowExpression, values: Values) -> None:
        """Take an expression's value as known."""
        self._values[expression.key] = values

    def knows(self, expression: RowExpression) -> bool:
        """Whether an expression's value was computed before."""
        return expression.key in self._values

    def number(self, expression: RowExpression, on: int | None = None) -> Floats:
        """A number's value, on its own grid or on another."""
        facts = self.scope.number(expression)
        values = np.atleast_2d(np.asarray(self.value(expression), dtype=np.float64))
        return values if on is None else regridded(values, on - facts.bits)

    def condition(self, expression: RowExpression) -> NDArray[np.bool_]:
        return np.asarray(np.atleast_2d(self.value(expression))[0], dtype=bool)

    def code(self, expression: RowExpression) -> Values:
        """A choice as whole numbers from 0."""
        values, facts = self.value(expression), self.scope.facts(expression)
        if isinstance(facts, Code):
            return values
        values = np.asarray(np.atleast_2d(values)[0])
        if values.dtype == bool:
            return values.view(np.uint8)
        if facts.low[0] == 0 and values.dtype.kind in "iu":
            return values
        return np.asarray(values.astype(np.int64) - facts.low[0])

    def encoded(self, keys: Sequence[str]) -> Sequence[Values]:
        """Columns as they are encoded, not copied."""
        if isinstance(self.columns, _Taken):
            return Taken([self.columns.whole[key] for key in keys], self.columns.places)
        return [self.columns[key] for key in keys]

    def room(self, expression: RowExpression, width: int) -> Floats:
        """An array for an expression's value, the same one block after block: fresh memory is slow."""
        name = f"{self._depth} {expression.key}"
        kept = self._room.get(name)
        if kept is None or kept.size < width * self.rows:
            kept = self._room[name] = np.empty(width * self.rows)
        return kept[: width * self.rows].reshape(width, self.rows)

    def only(self, conditions: Sequence[RowExpression]) -> Batch:
        """The block of only those rows where all conditions hold."""
        chosen = np.logical_and.reduce([self.condition(condition) for condition in conditions])
        return self.at(np.flatnonzero(chosen))

    def at(self, places: NDArray[np.intp]) -> Batch:
        """The block of only the rows at some places.

        Blocks that are made of one block share its working memory: only the last one made is good.
        """
        return Batch(self.scope, _Taken(self.columns, places), len(places), self._room, self._depth + 1)


class _Taken(dict[str, Values]):
    """Some rows of columns, taken when a column is asked for."""

    def __init__(self, columns: Mapping[str, Values], places: NDArray[np.intp]) -> None:
        super().__init__()
        self.whole = columns
        self.places = places

    def __missing__(self, key: str) -> Values:
        taken = self[key] = self.whole[key].take(self.places)
        return taken


def regridded(values: Floats, shift: int) -> Floats:
    """Integers on a grid `shift` bits finer; on a coarser one they are truncated towards zero."""
    if shift == 0:
        return values
    if shift > 0:
        return values * 2.0 ** min(shift, 64)
    return np.trunc(values * 2.0 ** max(shift, -64))

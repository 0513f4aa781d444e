"""Row expressions: what a query may compute of one row.

An expression is a small tree. Each node says what is known of its value before any row is read (`facts`),
computes its value on a block of encoded rows (`value`) and the sum of it (`sums`), and has a canonical form
as data (`form`), so that equal questions are recognised, stored and sent. Nothing about a bound is ever
taken on trust: it follows from the schema.

Operators make expressions of other modules: the + of a node makes an `Add` of `arithmetic.py`. A node knows
them by their names in forms, under which every kind of expression is registered.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property, reduce
from typing import Any, ClassVar

import numpy as np

from sulq import loops
from sulq.errors import QueryError
from sulq.loops.plain import Step, stepped
from sulq.queries.facts import Code, Number
from sulq.queries.moves import MovedColumns, column_sums, regrid
from sulq.queries.scope import Batch, Floats, Scope, Values, once
from sulq.wire import canonical, digest, shown

MOST_DEPTH = 120
"""Python's stack, at five calls a level, has room for more in any program that is not deep itself."""
ISIN_CHAIN = 32
MANY_ROWS = 2**12
"""Of fewer rows a single column is faster in NumPy."""
NODES: dict[str, type[Node]] = {}
"""Every kind of row expression, by its name in forms."""


class Node(ABC):
    """The base of all row expressions. It says what Python's operators mean on them.

    However an expression comes about (written, replaced, read back, unpickled), it is made by its
    constructor, and the constructor refuses what makes no sense.

    >>> import sulq
    >>> people = sulq.open({"age": [10, 50, 90]}, {"age": sulq.Integer(0, 120)})
    >>> grown = (sulq.col("age") >= 18) & ~(sulq.col("age") >= 65)
    >>> people.values(grown).tolist()
    [False, True, False]
    >>> people.values(2 * sulq.col("age") - 1).tolist()
    [19.0, 99.0, 179.0]
    """

    wire: ClassVar[str]
    """What a form calls this kind of expression. It never changes, whatever the class is called."""
    __match_args__: ClassVar[tuple[str, ...]]
    depth = 1
    """How many expressions lie inside each other, this one included."""

    def __init_subclass__(cls) -> None:
        if "wire" in vars(cls):
            known = NODES.setdefault(cls.wire, cls)
            if (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
                raise QueryError(f"{known.__qualname__} is the row expression {cls.wire!r} already")

    def __post_init__(self) -> None:
        deepest = 0
        for name, several in operands_of(type(self)):
            value = getattr(self, name)
            operands = value if several else (value,)
            if not isinstance(operands, tuple) or not all(isinstance(item, Node) for item in operands):
                wanted = "a tuple of row expressions" if several else "a row expression"
                raise QueryError(f"{self.described()} takes {wanted} as {name}, not {shown(value)}")
            deepest = max([deepest, *(item.depth for item in operands)])
        if deepest >= MOST_DEPTH:
            raise QueryError(f"row expressions can lie at most {MOST_DEPTH} deep inside each other")
        object.__setattr__(self, "depth", deepest + 1)

    def __reduce__(self) -> tuple[Callable[..., Node], tuple[Any, ...]]:
        # Cached facts stay behind: with a key that does not fit, an expression would borrow another's bounds.
        values = [getattr(self, field.name) for field in fields(self) if field.init]  # type: ignore[arg-type]
        return type(self), tuple(values)

    @abstractmethod
    def facts(self, scope: Scope) -> Number | Code:
        """What is known of the value from the schema alone; raises QueryError if it makes no sense."""

    @abstractmethod
    def value(self, batch: Batch) -> Values:
        """The value on every row of a block: integers on the grid, shape (width, rows); codes: (rows,)."""

    def sums(self, batch: Batch, steps: Sequence[Step] = (), weight: Floats | None = None) -> Floats:
        """The sum over the block, exact: see `facts` for why.

        Args:
            batch: the block of rows.
            steps: what every row's value goes through first.
            weight: a number for each row, which its value is then multiplied by.
        """
        moved = self.moved(batch.scope)
        if moved is not None and moved.summed_as_read(steps):
            columns = self.coordinates(batch, batch.scope.number(self).bits)
            return column_sums(columns, batch.rows, steps, weight)
        values = stepped(batch.number(self), steps)
        return np.asarray(values.sum(axis=1) if weight is None else values @ weight)

    def coordinates(self, batch: Batch, on: int) -> Sequence[Values]:
        """A number's coordinates on a grid, one by one; not built where they are columns, moved or not."""
        moved = self.moved(batch.scope)
        if moved is None or batch.knows(self):
            return list(batch.number(self, on))
        return moved.matrix(batch, regrid(on - batch.scope.number(self).bits))

    def built(self, batch: Batch) -> Values | None:
        """The value made in one pass, if it is columns that move and they are worth it."""
        moved = self.moved(batch.scope)
        if moved is None or moved.still or (len(moved.leaves) == 1 and batch.rows < MANY_ROWS):
            return None
        return loops.written(moved.matrix(batch), batch.room(self, len(moved.leaves)))

    def moved(self, scope: Scope) -> MovedColumns | None:
        """The value as columns that move by public numbers, if it is that."""
        return None

    def choices(self) -> dict[str, Node] | None:
        """The choices of public tables that the value depends on, by key; None if it depends on more."""
        of_children = [child.choices() for child in children(self)]
        if None in of_children or (not of_children and self.leaves()):
            return None
        return {key: choice for choices in of_children if choices for key, choice in choices.items()}

    def breadth(self, scope: Scope) -> int:
        """The most numbers a row that summing this builds on its way."""
        return self.densest(scope)

    @once
    def densest(self, scope: Scope) -> int:
        """The widest value among this expression and all it is made of."""
        width = facts.width if isinstance(facts := scope.facts(self), Number) else 1
        return max([width, *(child.densest(scope) for child in children(self))])

    def described(self) -> str:
        """What to call it in a message."""
        return f"this {self.wire}"

    @cached_property
    def form(self) -> dict[str, Any]:
        """The expression as plain data; `sulq.queries.reading.parse` reads it back."""
        return {"node": self.wire} | {name: _plain(getattr(self, name)) for name in self.__match_args__}

    @cached_property
    def key(self) -> str:
        """Names the expression: equal for equal forms, on every machine."""
        return digest(canonical(self.form))

    def leaves(self) -> dict[str, Leaf]:
        """The encoded columns the expression looks at, by key."""
        return dict(self._leaves)

    @cached_property
    def _leaves(self) -> dict[str, Leaf]:
        return {key: leaf for child in children(self) for key, leaf in child.leaves().items()}

    def given(self, **values: Operand) -> Node:
        """The expression with columns replaced: `φ.given(label=-col("label"))`."""
        return self.substituted({name: operand(value) for name, value in values.items()})

    def substituted(self, replacements: Mapping[str, Node]) -> Node:
        """The expression with the columns of these names replaced."""

        def new(value: Any) -> Any:
            if isinstance(value, Node):
                return value.substituted(replacements)
            return tuple(map(new, value)) if isinstance(value, tuple) else value

        return type(self)(**{f.name: new(getattr(self, f.name)) for f in fields(self)})  # type: ignore[arg-type]

    def isin(self, *values: str | int) -> Node:
        """Whether a category is one of these values."""
        if not values:
            raise QueryError("isin needs at least one value")
        each: list[Node] = [made("compare", "==", self, operand(value)) for value in values]
        while len(each) > 1:
            chains = (each[i : i + ISIN_CHAIN] for i in range(0, len(each), ISIN_CHAIN))
            each = [reduce(operator.or_, chain) for chain in chains]
        return each[0]

    def __add__(self, other: Operand) -> Node:
        return made("add", self, operand(other))

    def __radd__(self, other: Operand) -> Node:
        return made("add", operand(other), self)

    def __sub__(self, other: Operand) -> Node:
        return made("add", self, -operand(other))

    def __rsub__(self, other: Operand) -> Node:
        return made("add", operand(other), -self)

    def __mul__(self, other: Operand) -> Node:
        return made("multiply", self, operand(other))

    def __rmul__(self, other: Operand) -> Node:
        return made("multiply", operand(other), self)

    def __neg__(self) -> Node:
        return made("multiply", operand(-1), self)

    def __and__(self, other: Operand) -> Node:
        return made("and", self, operand(other))

    def __or__(self, other: Operand) -> Node:
        return made("or", self, operand(other))

    def __invert__(self) -> Node:
        return made("not", self)

    def __lt__(self, other: Operand) -> Node:
        return made("compare", "<", self, operand(other))

    def __le__(self, other: Operand) -> Node:
        return made("compare", "<=", self, operand(other))

    def __gt__(self, other: Operand) -> Node:
        return made("compare", ">", self, operand(other))

    def __ge__(self, other: Operand) -> Node:
        return made("compare", ">=", self, operand(other))

    def __eq__(self, other: Operand) -> Node:  # type: ignore[override]
        return made("compare", "==", self, operand(other))

    def __ne__(self, other: Operand) -> Node:  # type: ignore[override]
        return made("compare", "!=", self, operand(other))

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise QueryError("a row expression has no truth value of its own: use & | ~ instead of and, or, not")


Operand = Node | int | float | str


@dataclass(frozen=True, eq=False)
class Leaf(Node):
    """What a source keeps an encoded array of: a column as it is, or on another scale."""

    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise QueryError(f"a column's name or a row expression is needed here, not {shown(self.name)}")

    def value(self, batch: Batch) -> Values:
        return batch.columns[self.key]

    def leaves(self) -> dict[str, Leaf]:
        return {self.key: self}

    def coordinates(self, batch: Batch, on: int) -> Sequence[Values]:
        same = on == batch.scope.number(self).bits
        return batch.encoded([self.key]) if same else super().coordinates(batch, on)

    def moved(self, scope: Scope) -> MovedColumns | None:
        return MovedColumns.column(self) if isinstance(scope.facts(self), Number) else None

    def described(self) -> str:
        return f"column {self.name!r}"


def operand(value: Operand) -> Node:
    """An expression from an expression or a constant."""
    return value if isinstance(value, Node) else made("constant", value)


@cache
def operands_of(cls: type[Node]) -> list[tuple[str, bool]]:
    """The fields of a class that hold expressions, and whether they hold several."""
    kinds = {"Node": False, "tuple[Node, ...]": True}
    return [(field.name, kinds[str(field.type)]) for field in fields(cls) if field.type in kinds]  # type: ignore[arg-type]


def made(name: str, *operands: Any) -> Node:
    """An expression of the kind that has this name in forms."""
    return NODES[name](*operands)


def children(expression: Node) -> list[Node]:
    """The expressions that an expression is made of."""
    parts = [(getattr(expression, name), several) for name, several in operands_of(type(expression))]
    return [each for part, several in parts for each in (part if several else [part])]


def _plain(value: Any) -> Any:
    if isinstance(value, Node):
        return value.form
    return [_plain(item) for item in value] if isinstance(value, tuple) else value

"""A Python function as a row expression: in process only, fenced in by its declared range."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from sulq.errors import QueryError
from sulq.queries.expressions import col, column_grid
from sulq.queries.facts import Number, number
from sulq.queries.node import Leaf, Node
from sulq.queries.scope import Batch, Floats, Scope, Values
from sulq.row_function_guard import enter_row_function
from sulq.schema import Boolean, Category, Kind, Real

RowFunction = Callable[[Mapping[str, Values]], Any]
REHEARSED_ROWS = 257


@dataclass(frozen=True, eq=False)
class Function(Node):
    """A function of some columns, whose value is clipped to the range declared for it.

    Whatever the function returns or raises on a row, the answer stays within its bounds: a value out of range
    is clipped, and where the function returns no number, or raises, the value is `low`. That one row's value
    does not depend on other rows is rehearsed on made-up rows before a real one is read. It cannot be proved
    of Python code.

    The function is called in a thread of its own. There `sys.exit()` ends nothing, and no oracle answers.

    Args:
        columns: the names of the columns that the function reads.
        low: the smallest value.
        high: the largest value.
        width: how many numbers the function returns for a row.
        function: the function.
    """

    wire = "function"

    columns: tuple[str, ...]
    low: float
    high: float
    width: int
    function: RowFunction
    serial: str = field(default_factory=lambda: uuid.uuid4().hex, init=False)
    """Names this object alone: one that was made from it by `dataclasses.replace` is another question."""

    def __post_init__(self) -> None:
        super().__post_init__()
        named = isinstance(self.columns, tuple) and all(isinstance(name, str) for name in self.columns)
        if not named or not self.columns:
            raise QueryError("a row function names the columns it reads")
        if type(self.width) is not int or self.width < 1:
            raise QueryError(f"a row function's width must be at least 1, not {self.width!r}")
        if not callable(self.function):
            raise QueryError(f"a row function must be callable, and {self.function!r} is not")
        bounds = Real(self.low, self.high)
        object.__setattr__(self, "low", bounds.low)
        object.__setattr__(self, "high", bounds.high)

    @cached_property
    def form(self) -> dict[str, Any]:
        """Names the function without containing it: such a question cannot be read back elsewhere."""
        return {"node": self.wire, "columns": list(self.columns), "serial": self.serial}

    @cached_property
    def range(self) -> Real:
        return Real(self.low, self.high)

    def facts(self, scope: Scope) -> Number:
        kinds = {name: scope.schema[name] for name in self.columns}
        self._rehearse(kinds)
        bits, low, high = column_grid(self.range)
        return number(bits, np.full(self.width, low), np.full(self.width, high), rounded=True)

    def value(self, batch: Batch) -> Values:
        kinds = {name: batch.scope.schema[name] for name in self.columns}
        natural = {name: _guarded(_decoded(kinds[name], batch.value(col(name)))) for name in self.columns}
        return np.trunc(self._clipped(natural, batch.rows) * 2.0 ** column_grid(self.range)[0])

    def leaves(self) -> dict[str, Leaf]:
        return {col(name).key: col(name) for name in self.columns}

    def substituted(self, replacements: Mapping[str, Node]) -> Node:
        if set(self.columns) & replacements.keys():
            raise QueryError("what a Python function reads cannot be replaced: write it as an expression")
        return self

    def _clipped(self, columns: Mapping[str, Values], rows: int) -> Floats:
        # In another thread nothing but the function itself raises what ends a process, as Ctrl-C does.
        with ThreadPoolExecutor(1) as thread:
            values = thread.submit(self._sheltered, columns, rows).result()
        return np.clip(np.where(np.isnan(values), self.low, values), self.low, self.high).T

    def _sheltered(self, columns: Mapping[str, Values], rows: int) -> Floats:
        """The function's values, row by row where it raises on all of them at once."""
        enter_row_function()
        try:
            return self._called(columns, rows)
        except BaseException:
            values = np.full((rows, self.width), self.low)
            for row in range(rows):
                with suppress(BaseException):
                    values[row] = self._called({name: c[row : row + 1] for name, c in columns.items()}, 1)
            return values

    def _called(self, columns: Mapping[str, Values], rows: int) -> Floats:
        with np.errstate(all="ignore"):
            values = np.asarray(self.function(columns), dtype=np.float64)
        return values.reshape(rows, self.width)

    def _rehearse(self, kinds: Mapping[str, Kind]) -> None:
        rng = np.random.default_rng(0)
        made_up = {name: _guarded(_made_up(kind, rng)) for name, kind in kinds.items()}
        together = self._clipped(made_up, REHEARSED_ROWS)
        order = rng.permutation(REHEARSED_ROWS)
        shuffled = self._clipped({name: c[order] for name, c in made_up.items()}, REHEARSED_ROWS)
        alone = [
            self._clipped({name: c[i : i + 1] for name, c in made_up.items()}, 1)
            for i in range(REHEARSED_ROWS)
        ]
        if not (np.array_equal(together[:, order], shuffled) and np.array_equal(together, np.hstack(alone))):
            raise QueryError(
                "the function gives a row another value in another batch or order: a row function may look "
                "at that row alone (no sums, means or ranks over its arrays, no randomness)"
            )


def row_function(
    function: RowFunction, columns: Sequence[str], low: float, high: float, width: int = 1
) -> Function:
    """A Python function as a row expression.

    Args:
        function: it is called with a dict of arrays, one for each of the `columns`, in the schema's own units
            (texts for categories). It returns an array with one entry, or `width` entries, for each row. It
            may look at each row alone only.
        columns: the names of the columns that the function reads.
        low: what values below it are raised to; also the value of a row on which the function fails.
        high: what values above it are lowered to.
        width: how many numbers the function returns for a row.

    >>> import sulq
    >>> people = sulq.open({"kg": [72.0], "m": [2.0]}, {"kg": sulq.Real(0, 200), "m": sulq.Real(0.5, 2.5)})
    >>> bmi = row_function(lambda rows: rows["kg"] / rows["m"] ** 2, ["kg", "m"], low=10, high=60)
    >>> people.values(bmi).round(3).tolist()
    [18.0]
    """
    return Function(tuple(columns), low, high, width, function)


def _guarded(values: Values) -> Values:
    """The same values, which nobody can write to: they may be the source's own."""
    view = values.view()
    view.flags.writeable = False
    return view


def _decoded(kind: Kind, values: Values) -> Values:
    """A column's encoded values in the schema's own units."""
    if isinstance(kind, Category):
        return np.array(kind.levels)[values]
    if isinstance(kind, Boolean):
        return values.astype(bool)
    bits, _, _ = column_grid(kind)
    return values if bits == 0 and not isinstance(kind, Real) else values * 2.0**-bits


def _made_up(kind: Kind, rng: np.random.Generator) -> Values:
    if isinstance(kind, Category):
        return np.array(kind.levels)[rng.integers(len(kind.levels), size=REHEARSED_ROWS)]
    if isinstance(kind, Boolean):
        return rng.random(REHEARSED_ROWS) < 0.5
    if isinstance(kind, Real):
        return rng.uniform(kind.low, kind.high, REHEARSED_ROWS)
    return rng.integers(kind.low, kind.high, size=REHEARSED_ROWS, endpoint=True)

"""What promised functions have in common: their grid, what they are called with, and what failures become."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.queries.expressions import Column
from sulq.row_function_guard import enter_row_function
from sulq.schema import Category
from sulq.talk.row_questions import PublicFacts, SeenRows

TableFunction = Callable[[Mapping[str, NDArray[Any]]], Any]
STEPS = 20
"""A sensitivity has at least 2 to this power steps of the grid."""
LARGEST_STEPS = 2**62
BY_CALLER = "the caller's"


def check_promise(name: Any, columns: Any, function: Any) -> None:
    """Refuse what is no promised question."""
    if not isinstance(name, str) or not name or not isinstance(columns, tuple) or not columns:
        raise QueryError("a promised question has a name, and names the columns it reads")
    if not all(isinstance(column, str) for column in columns) or not callable(function):
        raise QueryError("a promised question takes a function, and the names of columns")


def promise_form(
    kind: str, name: str, columns: Sequence[str], serial: str, weight: Fraction
) -> dict[str, Any]:
    """A promised question as plain data, without what only some have."""
    named = {"query": kind, "name": name, "columns": list(columns), "promise": BY_CALLER}
    return named | {"serial": serial, "weight": str(weight)}


def grid_step(sensitivity: Fraction) -> Fraction:
    """One step of the grid: a power of two, of which the sensitivity has at least 2^20."""
    power = math.floor(math.log2(sensitivity.numerator) - math.log2(sensitivity.denominator)) - STEPS
    return Fraction(2) ** power


def moves_of(sensitivity: Fraction) -> int:
    """How many steps one person moves a value that is rounded to the grid: rounding adds at most one."""
    return math.floor(sensitivity / grid_step(sensitivity)) + 1


def check_columns(columns: Sequence[str], public: PublicFacts) -> None:
    """Refuse columns that are not there."""
    for name in columns:
        public.schema[name]


def table_of(rows: SeenRows, columns: Sequence[str], public: PublicFacts) -> dict[str, NDArray[Any]]:
    """The columns in the schema's own units. They are copies, so that a function can write to them."""
    table = {}
    for name in columns:
        values, kind = np.array(rows.values(Column(name))), public.schema[name]
        table[name] = np.array(kind.levels)[values] if isinstance(kind, Category) else values
    return table


def called(function: TableFunction, table: Mapping[str, NDArray[Any]]) -> Any:
    """What the function returns, None where it raises. In its own thread no oracle answers it."""

    def sheltered() -> Any:
        enter_row_function()
        with suppress(BaseException), np.errstate(all="ignore"):
            return function(table)
        return None

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(sheltered).result()


def number_of(value: Any, otherwise: float) -> float:
    """A finite number, or what stands for anything else."""
    with suppress(BaseException):
        number = float(value)
        if not math.isnan(number):
            return min(max(number, -1e300), 1e300)
    return otherwise

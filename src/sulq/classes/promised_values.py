"""What promised functions have in common: their grid, what they are called with, and what failures become."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.queries.expressions import Column
from sulq.row_function_guard import enter_row_function
from sulq.schema import Category
from sulq.talk.row_questions import PublicFacts, SeenRows

T = TypeVar("T")
TableFunction = Callable[[Mapping[str, NDArray[Any]]], Any]
STEPS = 20
"""A sensitivity has at least 2 to this power steps of the grid."""
LARGEST_STEPS = 2**62
LARGEST = 1e300
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


def called(
    function: TableFunction, table: Mapping[str, NDArray[Any]], read: Callable[[Any], T], otherwise: T
) -> T:
    """What is read of what the function returns, or `otherwise` where anything is raised.

    All of it runs in a thread of its own, where no oracle answers it: what a function returns may have
    methods of its own, and reading it calls them.
    """

    def sheltered() -> T:
        enter_row_function()
        with suppress(BaseException), np.errstate(all="ignore"):
            return read(function(table))
        return otherwise

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(sheltered).result()


def number_in(low: Fraction, high: Fraction) -> Callable[[Any], Fraction]:
    """Reads a number, and brings it into a range; what is no number is the lowest."""

    def read(value: Any) -> Fraction:
        number = float(value)
        if math.isnan(number):
            return low
        return min(max(Fraction(min(max(number, -LARGEST), LARGEST)), low), high)

    return read


def check_range(what: str, low: Fraction, high: Fraction, sensitivity: Fraction) -> None:
    """Refuse a range that is none, or for which there are no floats or steps."""
    if not -LARGEST <= low <= high <= LARGEST or (high - low) / grid_step(sensitivity) > LARGEST_STEPS:
        raise QueryError(
            f"{what} a range from low to high, of at most 2^40 sensitivities and between -1e300 and 1e300"
        )

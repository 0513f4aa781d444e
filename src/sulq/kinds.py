"""The kinds of columns: what any cell of one could hold, as public knowledge."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from sulq.errors import SchemaError

OTHER = "(other)"
"""The level of a category for all values that are not declared."""


@dataclass(frozen=True)
class Real:
    """A real number between public bounds. A value outside them becomes the nearest bound.

    Args:
        low: the smallest value that is possible.
        high: the largest value that is possible.
        missing: what a missing value becomes; by default the middle of the bounds.

    >>> Real(0, 120)
    Real(low=0.0, high=120.0, missing=60.0)
    """

    type: ClassVar[str] = "real"
    low: float
    high: float
    missing: float | None = None

    def __post_init__(self) -> None:
        low, high = (_finite(side, getattr(self, side)) for side in ("low", "high"))
        if not low <= high:
            raise SchemaError(f"low = {low} must not exceed high = {high}")
        if 0 < max(abs(low), abs(high)) < 1e-200 or max(abs(low), abs(high)) > 1e200:
            raise SchemaError("bounds must lie between 1e-200 and 1e200 in magnitude: rescale the column")
        missing = low / 2 + high / 2 if self.missing is None else _finite("missing", self.missing)
        if not low <= missing <= high:
            raise SchemaError(f"missing = {missing} must lie between low = {low} and high = {high}")
        fill(self, low=low, high=high, missing=missing)


@dataclass(frozen=True)
class Integer:
    """A whole number between public bounds. A value outside them becomes the nearest bound.

    Args:
        low: the smallest value that is possible.
        high: the largest value that is possible.
        missing: what a missing value becomes; by default the middle of the bounds, rounded down.

    >>> Integer(0, 9)
    Integer(low=0, high=9, missing=4)
    """

    type: ClassVar[str] = "integer"
    low: int
    high: int
    missing: int | None = None

    def __post_init__(self) -> None:
        low, high = (_whole(side, getattr(self, side)) for side in ("low", "high"))
        if not low <= high:
            raise SchemaError(f"low = {low} must not exceed high = {high}")
        if max(abs(low), abs(high)) >= 2**63:
            raise SchemaError("integer bounds must fit 64 bits: declare the column as real")
        missing = (low + high) // 2 if self.missing is None else _whole("missing", self.missing)
        if not low <= missing <= high:
            raise SchemaError(f"missing = {missing} must lie between low = {low} and high = {high}")
        fill(self, low=low, high=high, missing=missing)


@dataclass(frozen=True)
class Category:
    """One of a public list of values.

    Args:
        values: the values, in order. Numbers and truth values become texts.
        missing: what a missing or unknown value becomes, one of the values. By default such a value becomes a
            level of its own, `(other)`.

    >>> Category(["no", "yes"]).levels
    ('no', 'yes', '(other)')
    >>> Category(["no", "yes"], missing="no").levels
    ('no', 'yes')
    """

    type: ClassVar[str] = "category"
    values: tuple[str, ...]
    missing: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.values, str) or not hasattr(self.values, "__iter__"):
            raise SchemaError(f"values must be a list, not {self.values!r}")
        values = tuple(text(value) for value in self.values)
        if not values:
            raise SchemaError("a category needs at least one value")
        if len(set(values)) < len(values):
            raise SchemaError("the values of a category must differ from each other")
        if OTHER in values:
            raise SchemaError(f"{OTHER!r} stands for unknown values and cannot be declared")
        missing = None if self.missing is None else text(self.missing)
        if missing is not None and missing not in values:
            raise SchemaError(f"missing = {missing!r} must be one of the values {list(values)}")
        fill(self, values=values, missing=missing)

    @property
    def levels(self) -> tuple[str, ...]:
        """What a clean value can be: the declared values, and `(other)` unless `missing` replaces it."""
        return self.values if self.missing is not None else (*self.values, OTHER)


@dataclass(frozen=True)
class Boolean:
    """True or false.

    Args:
        missing: what a missing value becomes.

    >>> Boolean()
    Boolean(missing=False)
    """

    type: ClassVar[str] = "boolean"
    missing: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.missing, bool):
            raise SchemaError(f"missing = {self.missing!r} must be true or false")


Kind = Real | Integer | Category | Boolean
KINDS: dict[str, type[Kind]] = {kind.type: kind for kind in (Real, Integer, Category, Boolean)}


def text(value: object) -> str:
    """A category's value as text, so that 3, 3.0 and "3" are one value, and true is "true"."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str | int | float):
        return str(value)
    raise SchemaError(f"a category's value is a text, a number or a boolean, not {value!r}")


def _finite(what: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise SchemaError(f"{what} = {value!r} must be a finite number")
    return float(value) + 0.0


def _whole(what: str, value: object) -> int:
    """A whole number that a file may have written as 9.0."""
    number = _finite(what, value)
    if not number.is_integer():
        raise SchemaError(f"{what} = {value!r} must be a whole number")
    return int(value)  # type: ignore[call-overload,no-any-return]


def fill(frozen: object, **values: object) -> None:
    """Set fields of a frozen dataclass while it is being made."""
    for name, value in values.items():
        object.__setattr__(frozen, name, value)

"""The kinds of columns: what any cell of one could hold, as public knowledge, and how its texts are read.

This module is long because each kind explains all of its rules, also those that it shares with another.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

from sulq.errors import SchemaError

OTHER = "(other)"
"""The level of a category for all values that are not declared."""
SEPARATORS = (",", ".", " ", "'", "’", "_")
"""What may stand between the thousands of a number."""
POINTS = (".", ",")
"""What may stand before the decimals of a number."""


class Settings:
    """What all kinds have in common: they say how they were declared, without the rules that were not given.

    The rules by which texts are read are the settings that have to be named (`trim=True`). A schema without
    rules has the form, and so the hash, that it had before there were rules.
    """

    def settings(self) -> dict[str, Any]:
        """How the column was declared, as plain data."""
        return {
            f.name: getattr(self, f.name)
            for f in sorted(fields(self), key=attrgetter("kw_only"))  # type: ignore[arg-type]
            if not f.kw_only or getattr(self, f.name) != f.default
        }

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in self.settings().items())
        return f"{type(self).__name__}({settings})"


@dataclass(frozen=True, repr=False)
class Numeral(Settings):
    """How the texts of a column of numbers are written: see `Real`."""

    thousands: str | None = field(default=None, kw_only=True)
    decimal: str = field(default=".", kw_only=True)
    strip: str = field(default="", kw_only=True)
    drop_missing: bool = field(default=False, kw_only=True)

    @property
    def written_plainly(self) -> bool:
        """Whether there is no rule, so that a text is a number as programs write it."""
        return self.thousands is None and self.decimal == "." and not self.strip

    def _check_rules(self) -> None:
        if self.thousands is not None and self.thousands not in SEPARATORS:
            allowed = " ".join(map(repr, SEPARATORS))
            raise SchemaError(f"thousands = {self.thousands!r} must be one of {allowed}")
        if self.decimal not in POINTS:
            raise SchemaError(f"decimal = {self.decimal!r} must be '.' or ','")
        if self.thousands == self.decimal:
            raise SchemaError(
                f"thousands and decimal are both {self.decimal!r}: declare which sign stands before decimals"
            )
        if not isinstance(self.drop_missing, bool):
            raise SchemaError(f"drop_missing = {self.drop_missing!r} must be true or false")
        signs = "+-0123456789eE" + self.decimal + (self.thousands or "")
        if not isinstance(self.strip, str) or any(sign in signs for sign in self.strip):
            raise SchemaError(f"strip = {self.strip!r} must be a text of signs that are no part of a number")


@dataclass(frozen=True, repr=False)
class Real(Numeral):
    """A real number between public bounds. A value outside them becomes the nearest bound.

    Args:
        low: the least value there can be; what lies below becomes this.
        high: the largest value there can be.
        missing: what a cell without a number becomes.
        thousands: in texts, what stands between groups of digits: , . ' _ or a blank.
        decimal: in texts, what stands before the decimals, a point or a comma.
        strip: in texts, signs around the number that are left out, as "€$%".
        drop_missing: leave rows without a number out of sums and means of it. In TOML: missing = "drop".

    >>> Real(0, 120)
    Real(low=0.0, high=120.0, missing=60.0)
    >>> Real(0, 5000, missing=0, thousands=".", decimal=",", strip="€")
    Real(low=0.0, high=5000.0, missing=0.0, thousands='.', decimal=',', strip='€')
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
        self._check_rules()
        fill(self, low=low, high=high, missing=missing)


@dataclass(frozen=True, repr=False)
class Integer(Numeral):
    """A whole number between public bounds. A value outside them becomes the nearest bound.

    Args:
        low: the least value there can be; what lies below becomes this.
        high: the largest value there can be.
        missing: what a cell without a number becomes.
        thousands: in texts, what stands between groups of digits: , . ' _ or a blank.
        decimal: in texts, what stands before the decimals, a point or a comma.
        strip: in texts, signs around the number that are left out, as "€$%".
        drop_missing: leave rows without a number out of sums and means of it. In TOML: missing = "drop".

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
        self._check_rules()
        fill(self, low=low, high=high, missing=missing)


@dataclass(frozen=True, repr=False)
class Category(Settings):
    """One of a public list of values.

    Args:
        values: the values, in order. Numbers and truth values become texts.
        missing: what a missing or unknown value becomes, one of the values. By default such a value becomes a
            level of its own, `(other)`.
        trim: leave out blanks before and after a value.
        fold_case: take "Female" and "FEMALE" for "female".
        aliases: other spellings, and the value that each stands for.

    >>> Category(["no", "yes"]).levels
    ('no', 'yes', '(other)')
    >>> Category(["no", "yes"], missing="no").levels
    ('no', 'yes')
    >>> sex = Category(["female", "male"], trim=True, fold_case=True, aliases={"f": "female", "m": "male"})
    >>> [sex.meant(spelling) for spelling in ("FEMALE ", "M", "femal")]
    ['female', 'male', None]
    """

    type: ClassVar[str] = "category"
    values: tuple[str, ...]
    missing: str | None = None
    trim: bool = field(default=False, kw_only=True)
    fold_case: bool = field(default=False, kw_only=True)
    aliases: Mapping[str, str] | tuple[tuple[str, str], ...] = field(default=(), kw_only=True)

    if TYPE_CHECKING:
        # What is given may be a list and have numbers in it. What is kept are texts, in a tuple.
        def __init__(
            self,
            values: Iterable[str | float],
            missing: str | float | None = None,
            *,
            trim: bool = False,
            fold_case: bool = False,
            aliases: Mapping[str, str] | tuple[tuple[str, str], ...] = (),
        ) -> None: ...

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
            group = f"; without it they are a group of their own, {OTHER}"
            raise SchemaError(f"missing = {missing!r} must be one of the values {list(values)}{group}")
        fill(self, values=values, missing=missing, aliases=self._checked_aliases(values))
        self._check_rules()

    def _checked_aliases(self, values: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
        try:
            aliases = {text(spelling): text(value) for spelling, value in dict(self.aliases).items()}
        except (TypeError, ValueError):
            raise SchemaError(
                f'aliases = {self.aliases!r} must name the value of each spelling, as {{"F": "female"}}'
            ) from None
        for spelling, value in aliases.items():
            if value not in values:
                raise SchemaError(f"the alias {spelling!r} stands for {value!r}, which is none of the values")
        return tuple(sorted(aliases.items()))

    def _check_rules(self) -> None:
        for rule in ("trim", "fold_case"):
            if not isinstance(getattr(self, rule), bool):
                raise SchemaError(f"{rule} = {getattr(self, rule)!r} must be true or false")
        values: dict[str, str] = {}
        for spelling, value in (*zip(self.values, self.values, strict=True), *self.aliases):
            other = values.setdefault(self._folded(spelling), value)
            if spelling not in self.values:
                other = self._as_number(spelling) or other
            if other != value:
                raise SchemaError(f"by its rules {spelling!r} would stand for both {other!r} and {value!r}")

    def _as_number(self, spelling: str) -> str | None:
        """The value that equals a spelling as a number: where all values are numbers, 1.0 and 01 are 1."""
        try:
            return {float(value): value for value in reversed(self.values)}.get(float(spelling))
        except ValueError:
            return None

    @property
    def written_plainly(self) -> bool:
        """Whether there is no rule, so that a cell is a value as it stands, or none."""
        return not (self.trim or self.fold_case or self.aliases)

    def meant(self, spelling: str) -> str | None:
        """The value that a spelling stands for by the rules; None if it stands for none."""
        return self._meanings.get(self._folded(spelling))

    @cached_property
    def _meanings(self) -> dict[str, str]:
        return {
            self._folded(spelling): value
            for spelling, value in (*zip(self.values, self.values, strict=True), *self.aliases)
        }

    def _folded(self, spelling: str) -> str:
        spelling = spelling.strip() if self.trim else spelling
        return spelling.casefold() if self.fold_case else spelling

    def settings(self) -> dict[str, Any]:
        given = super().settings()
        return given | {"aliases": dict(self.aliases)} if self.aliases else given

    @property
    def levels(self) -> tuple[str, ...]:
        """What a clean value can be: the declared values, and `(other)` unless `missing` replaces it."""
        return self.values if self.missing is not None else (*self.values, OTHER)


@dataclass(frozen=True, repr=False)
class Boolean(Settings):
    """True or false.

    Args:
        missing: what a cell becomes that is neither.
        drop_missing: leave rows that say neither out of sums and means of it. In TOML: missing = "drop".

    >>> Boolean()
    Boolean(missing=False)
    """

    type: ClassVar[str] = "boolean"
    missing: bool = False
    drop_missing: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        for setting in ("missing", "drop_missing"):
            if not isinstance(getattr(self, setting), bool):
                raise SchemaError(f"{setting} = {getattr(self, setting)!r} must be true or false")


Kind = Real | Integer | Category | Boolean


def drops(kind: Kind) -> bool:
    """Whether a row that misses such a cell is left out of sums and means of it."""
    return not isinstance(kind, Category) and kind.drop_missing


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

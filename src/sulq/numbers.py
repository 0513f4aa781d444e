"""Numbers as people write them, made exact: a tenth is a tenth."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import wraps
from typing import ParamSpec, TypeAlias, TypeVar

import numpy as np

from sulq.errors import QueryError, SulqError

P = ParamSpec("P")
T = TypeVar("T")
Numeric: TypeAlias = int | float | str | Fraction
"""A number as people write it; a float means the shortest decimal that denotes it."""
LONG_EXPONENT = re.compile(r"[eE][+-]?0*[1-9][0-9]{3}")


def rational(name: str, value: Numeric, most: int | None = None, below: int | None = None) -> Fraction:
    """The positive fraction that `value` says.

    Args:
        name: what an error calls the number.
        value: a number, or a text with a decimal or a fraction; a float means its shortest decimal.
        most: the largest number that is allowed, if any.
        below: the smallest number that is too large, if any.

    >>> rational("epsilon", 0.1), rational("epsilon", "1/3"), rational("epsilon", "1e-6")
    (Fraction(1, 10), Fraction(1, 3), Fraction(1, 1000000))
    >>> rational("share", 2, most=1)
    Traceback (most recent call last):
    sulq.errors.QueryError: share must be a positive, finite number and at most 1, got 2
    >>> rational("beta", 1, below=1)
    Traceback (most recent call last):
    sulq.errors.QueryError: beta must lie above 0 and be less than 1, got 1
    """
    exact = _written(value) or Fraction(0)
    if below is not None and not 0 < exact < below:
        raise QueryError(f"{name} must lie above 0 and be less than {below}, got {value!r}")
    if not 0 < exact <= (sys.float_info.max if most is None else most):
        limit = "" if most is None else f" and at most {most}"
        raise QueryError(f"{name} must be a positive, finite number{limit}, got {value!r}")
    return exact


def fraction(name: str, value: Numeric) -> Fraction:
    """The fraction that `value` says, whatever its sign.

    Args:
        name: what an error calls the number.
        value: a number, or a text with a decimal or a fraction; a float means its shortest decimal.

    >>> fraction("noise_rate", "-0.1")
    Fraction(-1, 10)
    """
    exact = _written(value)
    if exact is None:
        raise QueryError(f"{name} must be a number, got {value!r}")
    return exact


def _written(value: Numeric) -> Fraction | None:
    """The number that is written; None if there is none."""
    if isinstance(value, Fraction):
        return value
    text = str(value)
    try:
        # An exponent is read as a number of that many digits, so it is kept from growing without end.
        return None if LONG_EXPONENT.search(text) else Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None


def make_rational(owner: object, name: str, most: int | None = None) -> None:
    """Replace a field of a frozen object by the positive fraction it says, or refuse it.

    Args:
        owner: the object, which is being made.
        name: the field.
        most: the largest number that is allowed, if any.
    """
    object.__setattr__(owner, name, rational(name, getattr(owner, name), most))


def truth(name: str, value: object) -> bool:
    """True or False, or a refusal.

    Args:
        name: what an error calls the setting.
        value: a bool of Python or NumPy.

    >>> truth("scaled", "no")
    Traceback (most recent call last):
    sulq.errors.QueryError: scaled must be True or False, got 'no'
    """
    if not isinstance(value, bool | np.bool_):
        raise QueryError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def whole(
    name: str,
    value: object,
    least: int,
    most: int | None = None,
    *,
    error: type[SulqError] = QueryError,
) -> int:
    """A whole number between bounds, or a refusal.

    Args:
        name: what an error calls the number.
        value: an integer of Python or NumPy; True and False are none.
        least: the smallest that is allowed.
        most: the largest that is allowed, if any.
        error: what is raised.

    >>> whole("depth", 3, 1, 10)
    3
    >>> whole("k", 0, 1)
    Traceback (most recent call last):
    sulq.errors.QueryError: k must be a whole number from 1, got 0
    """
    integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not integer or not least <= value or (most is not None and value > most):  # type: ignore[operator]
        until = "" if most is None else f" to {most}"
        raise error(f"{name} must be a whole number from {least}{until}, got {value!r}")
    return int(value)  # type: ignore[call-overload,no-any-return]


def in_floats(formula: Callable[P, T]) -> Callable[P, T]:
    """A formula for numbers that floats hold: where they would leave the range of floats, it is a refusal.

    Args:
        formula: works out a number.

    >>> import math
    >>> in_floats(math.exp)(1000)
    Traceback (most recent call last):
    sulq.errors.QueryError: exp of these numbers is beyond the range of floats: choose less extreme ones
    """

    @wraps(formula)
    def refusing(*given: P.args, **named: P.kwargs) -> T:
        try:
            return formula(*given, **named)
        except ArithmeticError:
            raise QueryError(
                f"{formula.__name__} of these numbers is beyond the range of floats: choose less extreme ones"
            ) from None

    return refusing


def amount(value: Fraction) -> str:
    """An exact amount for people: as a short decimal if that is what it is, and else about.

    >>> amount(Fraction(1, 2)), amount(Fraction(1, 3))
    ('0.5', '≈ 0.333333')
    """
    short = f"{float(value):.6g}"
    return short if Fraction(short) == value else f"≈ {short}"


def several(many: float, one: str, more: str, form: str = ",") -> str:
    """So many of something, for people.

    Args:
        many: how many.
        one: what one of them is called.
        more: what none and several are called.
        form: how the number is written.

    >>> several(1, "person", "people"), several(0, "row", "rows"), several(1200, "row is", "rows are")
    ('1 person', '0 rows', '1,200 rows are')
    """
    return f"{many:{form}} {one if many == 1 else more}"


def percent(share: Fraction) -> str:
    """A share for people.

    >>> percent(Fraction(1, 8))
    '12.5 %'
    """
    return f"{float(100 * share):.4g} %"

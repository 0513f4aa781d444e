"""What a person's value may be: what is public about it before anybody is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from sulq.errors import QueryError


@dataclass(frozen=True)
class Flag:
    """True or false."""


@dataclass(frozen=True)
class OneOf:
    """One of `size` possibilities, as a whole number from 0 on."""

    size: int


@dataclass(frozen=True)
class Interval:
    """A number from `low` to `high`."""

    low: float
    high: float


@dataclass(frozen=True)
class Box:
    """A vector, each coordinate between bounds of its own."""

    lows: tuple[float, ...]
    highs: tuple[float, ...]


@dataclass(frozen=True)
class Ball:
    """A vector of `size` numbers with a 2-norm of at most `norm`."""

    size: int
    norm: float


@dataclass(frozen=True)
class Keyed:
    """One of `size` groups, and a vector in a box: a pair, which stands for one_hot(group) ⊗ vector."""

    size: int
    box: Box


Shape: TypeAlias = Flag | OneOf | Interval | Box | Ball | Keyed


def shape_form(shape: Shape) -> dict[str, Any]:
    """A shape as plain data; `shape_of` reads it back.

    >>> shape_form(Interval(0, 120))
    {'is': 'interval', 'low': 0.0, 'high': 120.0}
    """
    match shape:
        case Flag():
            return {"is": "flag"}
        case OneOf(size):
            return {"is": "one of", "size": size}
        case Interval(low, high):
            return {"is": "interval", "low": float(low), "high": float(high)}
        case Box(lows, highs):
            return {"is": "box", "lows": list(map(float, lows)), "highs": list(map(float, highs))}
        case Ball(size, norm):
            return {"is": "ball", "size": size, "norm": float(norm)}
        case Keyed(size, box):
            return {"is": "keyed", "size": size, "box": shape_form(box)}


def shape_of(form: object) -> Shape:
    """The shape with this form; anything else is refused.

    >>> shape_of({"is": "interval", "low": 0, "high": 120})
    Interval(low=0.0, high=120.0)
    """
    if isinstance(form, Mapping) and any(isinstance(value, bool) for value in form.values()):
        raise QueryError("a shape is described by numbers, not by true and false")
    match form:
        case {"is": "flag", **rest}:
            shape: Shape = Flag()
        case {"is": "one of", "size": int(size), **rest} if size >= 1:
            shape = OneOf(size)
        case {"is": "interval", "low": int() | float() as low, "high": int() | float() as high, **rest}:
            shape = Interval(float(low), float(high))
        case {"is": "box", "lows": list(lows), "highs": list(highs), **rest} if _numbers(lows + highs):
            shape = Box(tuple(map(float, lows)), tuple(map(float, highs)))
        case {"is": "ball", "size": int(size), "norm": int() | float() as norm, **rest} if size >= 1:
            shape = Ball(size, float(norm))
        case {"is": "keyed", "size": int(size), "box": Mapping() as inner, **rest} if size >= 1:
            box = shape_of(inner)
            if not isinstance(box, Box):
                raise QueryError("the vector of a keyed shape is in a box")
            shape = Keyed(size, box)
        case _:
            raise QueryError("this is no shape: it is a flag, one of, an interval, a box, a ball or keyed")
    if rest:
        raise QueryError(f"the form of a shape has more than it should: {', '.join(map(repr, rest))}")
    return shape


def _numbers(values: list[Any]) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)

"""What a person's value may be: what is public about it before anybody is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from sulq.local.formed import Formed


@dataclass(frozen=True)
class Flag(Formed):
    """True or false.

    >>> from sulq.local import best_randomizer
    >>> type(best_randomizer(Flag(), epsilon=1)).__name__
    'RandomizedResponse'
    """

    wire = "flag"


@dataclass(frozen=True)
class OneOf(Formed):
    """One of several possibilities, as a whole number from 0 on.

    Args:
        size: how many possibilities there are.

    >>> from sulq.local import best_randomizer
    >>> type(best_randomizer(OneOf(3), epsilon=1)).__name__
    'KaryResponse'
    """

    wire = "one of"

    size: int


@dataclass(frozen=True)
class Interval(Formed):
    """A number between public bounds.

    Args:
        low: the smallest value that is possible.
        high: the largest value that is possible.

    >>> from sulq.local import best_randomizer
    >>> type(best_randomizer(Interval(0, 100), epsilon=1)).__name__
    'WindowReport'
    """

    wire = "interval"

    low: float
    high: float


@dataclass(frozen=True)
class Box(Formed):
    """A vector, each coordinate between bounds of its own.

    Args:
        lows: the smallest value of each coordinate.
        highs: the largest value of each coordinate.

    >>> from sulq.local import best_randomizer
    >>> type(best_randomizer(Box((0, 0), (1, 100)), epsilon=1)).__name__
    'CoordinateReport'
    """

    wire = "box"

    lows: tuple[float, ...]
    highs: tuple[float, ...]


@dataclass(frozen=True)
class Ball(Formed):
    """A vector of limited length.

    Args:
        size: how many coordinates it has.
        norm: its 2-norm, at most.

    >>> from sulq.local import best_randomizer
    >>> type(best_randomizer(Ball(3, 1), epsilon=1)).__name__
    'CapReport'
    """

    wire = "ball"

    size: int
    norm: float


@dataclass(frozen=True)
class Keyed(Formed):
    """One of several groups, and a vector in a box: a pair, which stands for one_hot(group) ⊗ vector.

    Args:
        size: how many groups there are.
        box: where the vector lies.

    >>> from sulq.local import best_randomizer
    >>> type(best_randomizer(Keyed(8, Box((0,), (1,))), epsilon=1)).__name__
    'KeyedReport'
    """

    wire = "keyed"

    size: int
    box: Box


Shape: TypeAlias = Flag | OneOf | Interval | Box | Ball | Keyed

"""What a person's value may be: what is public about it before anybody is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from sulq.local.formed import Formed


@dataclass(frozen=True)
class Flag(Formed):
    """True or false."""

    wire = "flag"


@dataclass(frozen=True)
class OneOf(Formed):
    """One of `size` possibilities, as a whole number from 0 on."""

    wire = "one of"

    size: int


@dataclass(frozen=True)
class Interval(Formed):
    """A number from `low` to `high`."""

    wire = "interval"

    low: float
    high: float


@dataclass(frozen=True)
class Box(Formed):
    """A vector, each coordinate between bounds of its own."""

    wire = "box"

    lows: tuple[float, ...]
    highs: tuple[float, ...]


@dataclass(frozen=True)
class Ball(Formed):
    """A vector of `size` numbers with a 2-norm of at most `norm`."""

    wire = "ball"

    size: int
    norm: float


@dataclass(frozen=True)
class Keyed(Formed):
    """One of `size` groups, and a vector in a box: a pair, which stands for one_hot(group) ⊗ vector."""

    wire = "keyed"

    size: int
    box: Box


Shape: TypeAlias = Flag | OneOf | Interval | Box | Ball | Keyed

"""What a person's value may be: what is public about it before anybody is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


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

"""What reports that are directions have in common: how they are drawn, added up, and turned into a mean.

A direction is drawn without looking at anyone's vector, and what a report tells is which direction was taken.
So the floats of a direction say nothing of a vector, however they are rounded.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sulq import loops
from sulq.errors import QueryError
from sulq.local.coordinates import MOST_COORDINATES
from sulq.local.formed import FormedRandomizer
from sulq.local.received import numbers
from sulq.local.tails import Bounded, people
from sulq.local.tally import Tallied, Tally, sums_of
from sulq.loops.plain_directions import inner
from sulq.numbers import whole
from sulq.privacy.coins import random_bytes

Floats = NDArray[np.float64]

_STEP_PARTS = 2.0**26
# One report's coordinate in steps of 2^-52, with room for the rounding of its length.
_LONGEST = 2**52 + 2**30
# So many numbers are drawn and tallied at once, or else one report.
_NUMBERS = 2**17


@dataclass(frozen=True, init=False)
class DirectionReport(Tallied, FormedRandomizer, ABC):
    """A vector of d numbers with 2-norm at most `norm`, reported as a unit vector.

    Args:
        d: how many coordinates a vector has.
        norm: its 2-norm, at most.
    """

    d: int
    norm: float

    def __init__(self, d: int, norm: float) -> None:
        object.__setattr__(self, "d", whole("the number of coordinates", d, 1, MOST_COORDINATES))
        if not 0 <= norm < math.inf:
            raise QueryError(f"a norm is a finite number that is at least 0, got {norm!r}")
        object.__setattr__(self, "norm", float(norm))

    @property
    @abstractmethod
    def reach(self) -> float:
        """What a report is multiplied by, so that its expectation is the vector.

        The expected squared distance of one such report from the vector is reach² less the vector's square.
        """

    @abstractmethod
    def variance(self, n: int) -> float:
        """The variance of one number of the estimate from n reports, at most."""

    @property
    def exponent(self) -> None:
        return None

    @abstractmethod
    def _draw(self, rows: Floats, reports: Floats, stream: Stream) -> None:
        """Write a unit vector for each row of d numbers to the columns of reports."""

    def sample(self, values: ArrayLike) -> Floats:
        """A unit vector for each row of d numbers."""
        vectors, stream = np.asarray(values, dtype=np.float64), Stream()
        reports, rows = np.empty((self.d, len(vectors))), max(1, _NUMBERS // self.d)
        for start in range(0, len(vectors), rows):
            here = slice(start, start + rows)
            self._draw(vectors[here], reports[:, here], stream)
        return reports.T

    def tally(self, reports: ArrayLike, item: str = "") -> Tally:
        """The sum of the vectors, in steps of 2^-52. Reports longer than 1 are brought back to the sphere."""
        received = numbers(reports, self.d)
        total = np.zeros(self.d, dtype=object)
        rows = max(1, _NUMBERS // self.d)
        for start in range(0, len(received), rows):
            total += _in_steps(received[start : start + rows])
        return Tally(item, len(received), total)

    def estimate_of(self, tally: Tally) -> Floats:
        """The mean vector."""
        total = sums_of(tally, self.d, -_LONGEST, _LONGEST).astype(np.float64) / _STEP_PARTS**2
        return np.asarray(self.reach * total) / people(tally.reports)

    @property
    def tails(self) -> Bounded:
        beyond = self.reach + self.norm
        return Bounded((self.variance(1),), (self.d,), beyond, beyond, 2 * self.reach)

    def radius(self, n: int, beta: float) -> float:
        return self.tails.radius(n, beta)

    def influence(self, n: int) -> float:
        return 2 * self.reach / people(n)


class Stream:
    """Random words that nobody can foretell, used up from the front: one stream for each call of `sample`.

    They follow from 32 bytes of the operating system's randomness by ChaCha12, a stream cipher. Whoever sees
    some of them learns nothing of the others.

    >>> Stream().normals(3, 2).shape
    (3, 2)
    """

    def __init__(self) -> None:
        self._key = random_bytes(32).view(np.uint32)
        self._group = 0

    @cached_property
    def fast(self) -> np.random.Generator:
        """A faster generator, for directions that are all reported: nothing is told by what is public."""
        return np.random.Generator(np.random.SFC64(self._key.tolist()))

    def normals(self, d: int, n: int) -> Floats:
        """n vectors of d numbers, as columns, that point in all directions alike.

        Args:
            d: how many numbers a vector has.
            n: how many vectors there are.
        """
        drawn, used = loops.normals(self._key, self._group, d, n)
        self._group += used
        return drawn

    def aimed(self, rows: Floats, norm: float) -> Floats:
        """Unit vectors, as columns, whose expectations are the rows divided by the norm.

        Args:
            rows: vectors; what is no number counts as 0.
            norm: how long they are, at most.
        """
        made, used = loops.aimed(self._key, self._group, rows, norm)
        self._group += used
        return made

    def met(self, threshold: float, towards: Floats, outside: NDArray[np.bool_], reports: Floats) -> None:
        """Write a direction to each column of reports, drawn until it is on the side that is wanted.

        Args:
            threshold: how far along a vector its cap begins.
            towards: unit vectors, as columns.
            outside: whether a direction is to be outside of the cap.
            reports: where directions are written to.
        """
        self._group += loops.met(self._key, self._group, threshold, towards, outside, reports)


def columns_of(values: ArrayLike) -> Floats:
    """Vectors as columns: few long rows are faster than many short ones. What is no number counts as 0.

    >>> columns_of([[3.0, 4.0], [float("nan"), 1.0]]).tolist()
    [[3.0, 0.0], [4.0, 1.0]]
    """
    columns = np.asarray(values, dtype=np.float64).T
    return np.where(np.isfinite(columns), columns, 0.0)


def _in_steps(reports: NDArray[Any]) -> NDArray[np.object_]:
    """The sum of some vectors in steps of 2^-52, exactly, each coordinate rounded to a whole number of them.

    A coordinate is a number of large steps of 2^-26 and a rest of small ones. Both are whole numbers below
    2^27, so floats add up _NUMBERS of them exactly.
    """
    # One row for each coordinate: few long rows are faster than many short ones.
    vectors = np.array(reports.T, dtype=np.float64, order="C")
    largest = np.maximum(vectors.max(axis=0), -vectors.min(axis=0))
    if not (largest <= 1.0).all():
        # First by the largest coordinate, where that is above 1: squares of large numbers would overflow.
        np.nan_to_num(vectors, copy=False, posinf=0.0, neginf=0.0)
        vectors /= np.maximum(np.abs(vectors).max(axis=0), 1.0)
    # Squares are added in order, so that a report counts the same to the last bit alone and among others.
    vectors *= _STEP_PARTS / np.maximum(np.sqrt(inner(vectors, vectors)), 1.0)
    large = np.rint(vectors)
    vectors -= large
    vectors *= _STEP_PARTS
    small = np.rint(vectors, out=vectors)
    high, low = (part.sum(axis=1).astype(np.int64).astype(object) for part in (large, small))
    return np.asarray(high * int(_STEP_PARTS) + low)

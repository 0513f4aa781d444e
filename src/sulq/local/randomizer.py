"""What every local randomizer is: a person's own device runs it, and nobody else sees the value.

An ε-local randomizer R has Pr[R(u) = w] ≤ e^ε·Pr[R(v) = w] for all values u, v and every report w
(Definition 5.1, full version). The ones here are transparent (Definition 5.13): those probabilities can be
asked for, as exact fractions, and so can the ratio, because reports are drawn by comparing random integers
with the very integers the fractions are made of. Thresholds are rounded to the side of privacy: the ratio is
at most e^ε of the ε that was asked for.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sulq.errors import QueryError
from sulq.local.central import Tails
from sulq.local.draws import ONE
from sulq.local.received import within
from sulq.local.tally import Tally
from sulq.numbers import Numeric, rational
from sulq.privacy.coins import arithmetic, decimal, exp

# Below, a report would say next to nothing, and thresholds of 64 bits no longer say it exactly enough.
LEAST_EPSILON = Fraction(1, 2**30)
# Above, a lie is as rare as thresholds of 64 bits can say; more is not used even if it is allowed.
MOST_EPSILON = Fraction(40)


class Randomizer(Protocol):
    """A value in, a report out; and what many reports together say about the mean of the values.

    >>> from sulq.local import RandomizedResponse
    >>> warner: Randomizer = RandomizedResponse(epsilon=1)
    >>> reports = warner.sample([True, False, True])
    >>> reports.shape, warner.estimate(reports).shape
    ((3,), (1,))
    """

    def __hash__(self) -> int:
        """Randomizers are values: those that were made alike are equal."""

    @property
    def form(self) -> dict[str, Any]:
        """The randomizer as plain data, with its exact chances: `{"randomizer": 1, "is": "unary", …}`."""

    @property
    def ratio(self) -> Fraction:
        """The largest Pr[R(u) = w]/Pr[R(v) = w]: exact, or rounded up where `exponent` has it exactly."""

    @property
    def exponent(self) -> Fraction | None:
        """The logarithm of the ratio where that is rational (Laplace reports); the ratio is, elsewhere."""

    @property
    def epsilon(self) -> float:
        """The logarithm of the ratio, rounded up to the next float."""

    def sample(self, values: Any) -> NDArray[Any]:
        """A report for each value, with randomness of its own. Shape and type do not depend on the values."""

    def pmf(self, report: Any, value: Any) -> Fraction:
        """How likely this report is for this value."""

    def tally(self, reports: ArrayLike, item: str = "") -> Tally:
        """What the estimate needs of the reports on an item: whole numbers that add up.

        What no randomizer could have reported counts as the nearest thing that one could: a number out of
        range as the nearest in range, and what is no number (NaN, a text, nothing) as 0, or the nearest to
        that. So no report is an error, and none moves the estimate by more than its `influence`.
        """

    def estimate_of(self, tally: Tally) -> NDArray[np.float64]:
        """The mean of the values behind the reports of a tally, without bias."""

    def estimate(self, reports: ArrayLike) -> NDArray[np.float64]:
        """The mean of the values behind the reports: the estimate of their tally."""

    def variance(self, n: int) -> float:
        """The variance of one number of the estimate from n reports, at most, whatever the values are."""

    @property
    def tails(self) -> Tails:
        """How far the mean of reports strays, as plain data."""

    def radius(self, n: int, beta: float) -> float:
        """How far the estimate may be from the mean of those n people's own values.

        No number of the estimate is further off, but for a chance of at most `beta`. That counts the
        randomizer's noise alone: how well n people stand for others is another matter.
        """

    def influence(self, n: int) -> float:
        """How far one made-up report among n can move a number of the estimate."""


def usable_epsilon(epsilon: Numeric) -> Fraction:
    """The ε to use where `epsilon` is allowed.

    >>> usable_epsilon("1/3"), usable_epsilon(1000)
    (Fraction(1, 3), Fraction(40, 1))
    """
    number = rational("epsilon", epsilon)
    if number < LEAST_EPSILON:
        raise QueryError(f"a report of epsilon below {float(LEAST_EPSILON):.3g} says nothing")
    return min(number, MOST_EPSILON)


def chance_to_lie(epsilon: Fraction, weight: Fraction | int = 1) -> int:
    """weight/(weight + e^ε), in steps of 2^-64, rounded up.

    The truth is then at most e^ε/weight times as likely as a lie: with `weight` ways to lie, all equally
    likely, at most e^ε times as likely as each of them.

    >>> chance_to_lie(Fraction(1)) / 2**64
    0.2689414213699951
    """
    with arithmetic(60):
        power = Fraction(exp(epsilon))
    # A little below e^ε for certain: see `exp`.
    power *= 1 - (epsilon + 2) / 10**59
    return math.ceil(ONE * weight / (weight + power))


def logarithm(ratio: Fraction) -> float:
    """The smallest float that is not below the natural logarithm of a ratio.

    >>> logarithm(Fraction(3)), logarithm(Fraction(1))
    (1.0986122886681098, 0.0)
    """
    with arithmetic():
        return rounded_up(Fraction(decimal(ratio).ln() * (1 + Decimal("1e-50"))))


def rounded_up(number: Fraction) -> float:
    """The smallest float that is not below a positive number.

    >>> rounded_up(Fraction(1)), rounded_up(1 + Fraction(1, 10**30))
    (1.0, 1.0000000000000002)
    """
    nearest = float(number)
    return nearest if nearest >= number else math.nextafter(nearest, math.inf)


def codes(values: ArrayLike, k: int) -> NDArray[np.int64]:
    """Whole numbers from 0 to k − 1; what is outside counts as the nearest, so that no value is an error.

    >>> codes([-5, 0, 99], 3).tolist()
    [0, 0, 2]
    """
    return within(values, 0, k - 1)


def interval(low: float, high: float) -> tuple[float, float]:
    """Public bounds of a number."""
    if not (math.isfinite(low) and math.isfinite(high) and low <= high and math.isfinite(high - low)):
        raise QueryError(f"an interval needs finite bounds in order, got {low!r} and {high!r}")
    return float(low), float(high)

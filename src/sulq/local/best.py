"""The best randomizer for what a person's value may be, and the paper's."""

from __future__ import annotations

from typing import Literal, get_args

from sulq.errors import QueryError
from sulq.local.cap import CapReport
from sulq.local.coordinates import MOST_BITS, CoordinateReport
from sulq.local.keyed import KeyedReport
from sulq.local.laplace import LaplaceReport
from sulq.local.onebit import OneBitReport
from sulq.local.onehot import one_hot_response
from sulq.local.paper import PaperReport
from sulq.local.piecewise import PiecewiseReport
from sulq.local.randomizer import Randomizer
from sulq.local.response import RandomizedResponse
from sulq.local.shapes import Ball, Box, Flag, Interval, Keyed, OneOf, Shape
from sulq.local.sphere import SphereReport
from sulq.local.window import WindowReport
from sulq.numbers import Numeric
from sulq.wire import shown

Method = Literal["best", "printed", "paper"]
PRINTED = (OneBitReport, PiecewiseReport, LaplaceReport)
"""The reports of a number as articles print them."""
BETTER = 0.95
"""A newer report is taken if its variance is at most this part of a printed one's: of one bit all tails are
known exactly, and a direction by a plane takes less time."""


def best_randomizer(shape: Shape, epsilon: Numeric, method: Method = "best") -> Randomizer:
    """The randomizer whose estimates have the least variance, for values of this shape.

    That is the largest variance that values may have. For one of k possibilities it is instead the variance
    for a rare possibility, because most of many possibilities must be rare. A single possibility is reported
    as one of two, of which nobody has the second.

    Args:
        shape: what a value may be.
        epsilon: what is promised to the person who reports.
        method: "best"; "printed" for the best among those that articles print; or "paper" for the paper's
            choice, g(u) + Lap(2b/ε).

    >>> best_randomizer(Flag(), epsilon=1).epsilon
    1.0
    >>> [type(best_randomizer(Interval(-1, 1), 1, method)).__name__ for method in ("best", "printed")]
    ['WindowReport', 'OneBitReport']
    >>> type(best_randomizer(Keyed(8, Box((0, 0), (1, 1))), 1)).__name__
    'KeyedReport'
    >>> paper, best = (best_randomizer(Flag(), 1, method).variance(1) for method in ("paper", "best"))
    >>> round(paper / best, 2)
    2.17
    """
    check_method(method)
    if method == "paper":
        return _papers(shape, epsilon)
    match shape:
        case Flag():
            return RandomizedResponse(epsilon)
        case OneOf(size):
            return one_hot_response(max(size, 2), epsilon)
        case Interval(low, high):
            printed: Randomizer = min(
                (make(low, high, epsilon) for make in PRINTED), key=lambda made: made.variance(1)
            )
            if method == "printed":
                return printed
            window = WindowReport(low, high, epsilon)
            return window if window.variance(1) <= BETTER * printed.variance(1) else printed
        case Box(lows, highs):
            counts = range(1, min(len(lows), MOST_BITS) + 1)
            return min(
                (CoordinateReport(lows, highs, epsilon, bits) for bits in counts),
                key=lambda made: made.variance(1),
            )
        case Ball(size, norm):
            sphere = SphereReport(size, norm, epsilon)
            if method == "printed":
                return sphere
            cap = CapReport(size, norm, epsilon)
            return cap if cap.variance(1) <= BETTER * sphere.variance(1) else sphere
        case Keyed(size, box):
            return KeyedReport(size, box.lows, box.highs, epsilon)


def check_method(method: object) -> None:
    """Refuse what is no name of a method.

    Args:
        method: what was given.
    """
    if method not in get_args(Method):
        raise QueryError(f"a method is best, printed or paper, not {shown(method)}")


def _papers(shape: Shape, epsilon: Numeric) -> Randomizer:
    match shape:
        case Flag():
            return LaplaceReport(0, 1, epsilon)
        case Interval(low, high):
            return LaplaceReport(low, high, epsilon)
        case _:
            return PaperReport(shape, epsilon)

"""What the law of a randomizer says about reports, whatever people's values are: to notice made-up ones.

Reports fall into classes. For every value the chance of a class lies between two bounds, so over any mix of
people it does too. Some classes have the same chance for every value: how many bits of a unary report are 1,
or which coordinate a device drew. How many reports fall into each class adds up, like a tally.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sulq.local.cap import CapReport
from sulq.local.caps import MASSES
from sulq.local.coordinates import CoordinateReport
from sulq.local.directions import DirectionReport
from sulq.local.draws import ONE
from sulq.local.frequencies import NumberedReport
from sulq.local.hadamard import HadamardResponse
from sulq.local.keyed import KeyedReport
from sulq.local.laplace import LaplaceReport
from sulq.local.onebit import OneBitReport
from sulq.local.piecewise import CELLS, PiecewiseReport
from sulq.local.randomizer import Randomizer
from sulq.local.received import numbers, within
from sulq.local.response import RandomizedResponse
from sulq.local.sphere import SphereReport
from sulq.local.tails import STEPS
from sulq.local.unary import UnaryResponse, unpacked
from sulq.local.window import WindowReport

Floats = NDArray[np.float64]
MOST_CLASSES = 2**12
PIECES = 2**6
ROUNDED = 1e-6
"""How far a direction may be from the length 1."""


@dataclass(frozen=True)
class ReportClasses:
    """The classes of a randomizer's reports.

    Args:
        low: the chance of each class, at least.
        high: the chance of each class, at most.
        about: what the classes are, in words.

    >>> classes = classes_of(RandomizedResponse(epsilon=1))
    >>> classes.about, classes.low.round(2).tolist(), classes.high.round(2).tolist()
    ('which answer', [0.27, 0.27], [0.73, 0.73])
    """

    low: Floats
    high: Floats
    about: str


def classes_of(randomizer: Randomizer) -> ReportClasses | None:
    """The classes of a randomizer's reports, None where nothing is known that could be tested.

    Args:
        randomizer: what devices draw their reports by.
    """
    match randomizer:
        case RandomizedResponse():
            return _alike(2, randomizer.lies / ONE, 1 - randomizer.lies / ONE, "which answer")
        case OneBitReport():
            return classes_of(randomizer.bit)
        case HadamardResponse() if randomizer.rows <= MOST_CLASSES:
            return _alike(randomizer.rows, 1 / randomizer.rows, 1 / randomizer.rows, "which row was drawn")
        case NumberedReport() if randomizer.reports <= MOST_CLASSES:
            chances = [float(randomizer.pmf(0, value)) for value in range(randomizer.k)]
            return _alike(randomizer.reports, min(chances), max(chances), "which report")
        case UnaryResponse() if randomizer.k <= MOST_CLASSES:
            return _exactly(_ones(randomizer), "how many bits are 1")
        case CoordinateReport() if len(randomizer.lows) <= MOST_CLASSES:
            d = len(randomizer.lows)
            return _alike(d, 1 / d, 1 / d, "which coordinate was drawn")
        case KeyedReport() if len(randomizer.lows) <= MOST_CLASSES:
            d = len(randomizer.lows)
            if d == 1:
                return classes_of(randomizer.inner)
            return _alike(d, 1 / d, 1 / d, "which coordinate was drawn")
        case PiecewiseReport():
            inside, outside = (float(chance) for chance in randomizer._each)
            cells = CELLS // PIECES
            most = min(cells, randomizer.window)
            return _alike(
                PIECES, cells * outside, most * inside + (cells - most) * outside, "which part of the range"
            )
        case WindowReport():
            inside, outside = (float(chance) for chance in randomizer.each)
            return _alike(randomizer.cells, outside, inside, "which cell")
        case LaplaceReport():
            return _sides(randomizer)
        case CapReport():
            # Nobody is on a side more often than who lies in its middle.
            mass, lies = randomizer.mass / MASSES, randomizer.lies / ONE
            high = 1 - lies / 2 / (1 - mass)
            return _alike(2, 1 - high, high, "on which side of the first coordinate")
        case SphereReport():
            # Who lies towards a side reports it as often as a bit is told truly, at most.
            lies = randomizer.bit.lies / ONE
            return _alike(2, lies, 1 - lies, "on which side of the first coordinate")
        case _:
            return None


def class_counts(randomizer: Randomizer, reports: ArrayLike) -> NDArray[np.int64]:
    """How many reports fall into each class; an empty array where there are none.

    Args:
        randomizer: what devices draw their reports by.
        reports: the reports.

    >>> class_counts(RandomizedResponse(epsilon=1), [1, 0, 1]).tolist()
    [1, 2]
    """
    classes = classes_of(randomizer)
    if classes is None:
        return np.zeros(0, dtype=np.int64)
    size = len(classes.low)
    match randomizer:
        case UnaryResponse():
            width = math.ceil(randomizer.k / 8)
            bytes_ = within(numbers(reports, width), 0, 255, width).astype(np.uint8)
            places = unpacked(bytes_, randomizer.k).sum(axis=1)
        case HadamardResponse():
            places = within(reports, 0, randomizer.reports - 1) // 2
        case CoordinateReport():
            places = within(reports, 0, (size << randomizer.bits) - 1) >> randomizer.bits
        case KeyedReport() if len(randomizer.lows) == 1:
            return class_counts(randomizer.inner, reports)
        case KeyedReport():
            places = within(reports, 0, size * randomizer.inner.reports - 1) // randomizer.inner.reports
        case PiecewiseReport():
            places = within(reports, 0, CELLS - 1) // (CELLS // PIECES)
        case LaplaceReport():
            steps = randomizer.within(reports)
            places = np.where(steps < 0, 0, np.where(steps <= STEPS, 1, 2))
        case DirectionReport():
            places = (numbers(reports, randomizer.d)[:, 0] > 0).astype(np.int64)
        case _:
            places = within(reports, 0, size - 1)
    return np.bincount(places, minlength=size)


def impossible_among(randomizer: Randomizer, reports: list[Any]) -> int:
    """How many reports no randomizer could have sent: not a whole number, or out of range.

    Args:
        randomizer: what devices draw their reports by.
        reports: the reports, as they were sent.

    >>> impossible_among(RandomizedResponse(epsilon=1), [0, 1, 7, "x", 0.5, True])
    3
    """
    low, high = 0, 0
    match randomizer:
        case RandomizedResponse() | OneBitReport():
            high = 1
        case UnaryResponse():
            return sum(not _is_unary(report, randomizer) for report in reports)
        case DirectionReport():
            return sum(not _is_direction(report, randomizer.d) for report in reports)
        case NumberedReport():
            high = randomizer.reports - 1
        case CoordinateReport():
            high = (len(randomizer.lows) << randomizer.bits) - 1
        case KeyedReport():
            high = len(randomizer.lows) * randomizer.inner.reports - 1
        case PiecewiseReport():
            high = CELLS - 1
        case WindowReport():
            high = randomizer.cells - 1
        case LaplaceReport():
            low, high = -randomizer.margin, STEPS + randomizer.margin
        case _:
            return 0
    return sum(not (isinstance(report, int) and low <= report <= high) for report in reports)


def _is_unary(report: Any, randomizer: UnaryResponse) -> bool:
    width = math.ceil(randomizer.k / 8)
    if not isinstance(report, list) or len(report) != width:
        return False
    if not all(isinstance(byte, int) and 0 <= byte <= 255 for byte in report):
        return False
    return bool(report[-1] >> (randomizer.k - 8 * (width - 1)) == 0)


def _is_direction(report: Any, d: int) -> bool:
    if not isinstance(report, list) or len(report) != d:
        return False
    return all(isinstance(x, int | float) for x in report) and abs(math.hypot(*report) - 1) < ROUNDED


def _ones(randomizer: UnaryResponse) -> Floats:
    """The law of how many bits are 1: one's own coin, and k − 1 others, whatever one's value is."""
    own, other, others = randomizer.own / ONE, randomizer.other / ONE, randomizer.k - 1
    counts = np.arange(others + 1)
    ways = np.array(
        [math.lgamma(others + 1) - math.lgamma(i + 1) - math.lgamma(others - i + 1) for i in counts]
    )
    law = np.exp(ways + counts * math.log(other) + (others - counts) * math.log1p(-other))
    return np.append(law, 0) * (1 - own) + np.append(0, law) * own


def _sides(randomizer: LaplaceReport) -> ReportClasses:
    """Below the interval, in it and above it: of someone at an end, and of someone at the other."""
    p = math.exp(-1 / float(randomizer.noise.scale))
    near, far, middle = (p ** (steps + 1) / (1 + p) for steps in (0, STEPS, STEPS // 2))
    low, high = np.array([far, 1 - near - far, far]), np.array([near, 1 - 2 * middle, near])
    return ReportClasses(low, high, "below, in or above the range")


def _alike(size: int, low: float, high: float, about: str) -> ReportClasses:
    return ReportClasses(np.full(size, low), np.full(size, high), about)


def _exactly(chances: Floats, about: str) -> ReportClasses:
    return ReportClasses(chances, chances, about)

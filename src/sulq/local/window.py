"""A report from a window of cells that count unevenly: the least worst variance known for a number.

Reports are cells 0, …, m − 1, and a window is w neighbouring ones, each of them likelier by e^ε than each
cell outside, as in a piecewise report. What is free is how much a cell counts. Say that cell c counts v_c,
and that cell m − 1 − c counts −v_c. A window at place p has the sum S_p of what its cells count. All cells
together count 0, so the expected count of a report is (inside − outside)·S_p, exactly: a window at place p
stands for the number S_p/S_last, on a scale from −1 to 1. A number is rounded at random to one of the two
places around it, so that its expectation stays. Whatever the counts are, the report is without bias, and
its ratio is inside/outside; so the counts may be those with the least worst variance. `window_designs` has
them.

Why windows: in the least of a linear program each report is likelier by all of e^ε for some numbers and not
for the others (Kairouz, Oh and Viswanath, "Extremal Mechanisms for Local Differential Privacy", 2016). The
probability of all likely reports is the same for every number. So while the number grows, as much leaves
the likely ones as enters them: a window that moves along the reports in the order of their counts. A test
compares with the linear program itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sulq.errors import QueryError
from sulq.local.central import NearlyNormal
from sulq.local.draws import ONE, PARTS, Marks, Position, rounded_by_leading_bits
from sulq.local.formed import FormedRandomizer
from sulq.local.randomizer import chance_to_lie, interval, logarithm, usable_epsilon
from sulq.local.received import nearest
from sulq.local.tails import Bounded, people
from sulq.local.tally import Tallied, Tally, sums_of
from sulq.local.window_designs import WindowDesign, designs
from sulq.numbers import Numeric
from sulq.privacy.outcomes import Outcomes

MOST_CELLS = 2**12
MOST_COUNT = 2**20


@dataclass(frozen=True, init=False)
class WindowReport(Tallied, FormedRandomizer):
    """A number from `low` to `high`, reported as one of 64 or 128 cells. The best there is for most ε.

    Args:
        low: the smallest value that is possible.
        high: the largest value that is possible.
        epsilon: what is promised to the person who reports.

    >>> report = WindowReport(0, 100, epsilon=1)
    >>> ages = np.linspace(20, 60, 100_000)
    >>> bool(abs(report.estimate(report.sample(ages)) - 40)[0] < report.radius(100_000, beta=1e-9))
    True
    """

    wire = "window"

    low: float
    high: float
    window: int
    values: tuple[int, ...]
    """How far below the middle the cells of the lower half count; those of the upper half count above it."""
    lies: int
    """How often the report is from outside the window, in steps of 2^-64."""

    def __init__(self, low: float, high: float, epsilon: Numeric) -> None:
        for name, bound in zip(("low", "high"), interval(low, high), strict=True):
            object.__setattr__(self, name, bound)
        allowed = usable_epsilon(epsilon)
        design = _design(allowed)
        object.__setattr__(self, "window", design.window)
        object.__setattr__(self, "values", design.values)
        weight = Fraction(self.cells - self.window, self.window)
        object.__setattr__(self, "lies", chance_to_lie(allowed, weight))

    @property
    def cells(self) -> int:
        """How many different reports there are."""
        return 2 * len(self.values)

    @property
    def ratio(self) -> Fraction:
        return self.each[0] / self.each[1]

    @property
    def exponent(self) -> None:
        return None

    @property
    def epsilon(self) -> float:
        return logarithm(self.ratio)

    def sample(self, values: ArrayLike) -> NDArray[np.int64]:
        """A cell for each number."""
        reports = rounded_by_leading_bits(self._position(values))
        # How far from the window's beginning a report is has the same law for every number. Cells outside
        # are counted from the end of the window on, and round to its beginning.
        reports += steps_of(self.cells, self.window, self.lies).drawn(reports.size)
        reports -= self.cells * (reports >= self.cells)
        return reports

    def pmf(self, report: int, value: float) -> Fraction:
        base, part = self._position([value])
        near, far = (self._chance(int(report), int(base[0]) + step) for step in (0, 1))
        return near + (far - near) * Fraction(int(part[0]), PARTS)

    def tally(self, reports: ArrayLike, item: str = "") -> Tally:
        """The sum of what all cells count."""
        # A cell beyond the last counts as the last. Counts are at most 2^20, so their sum fits into 64 bits.
        counted = self.counts.take(nearest(reports, 0, self.cells - 1), mode="clip")
        return Tally(item, len(counted), np.array([counted.sum()]))

    def estimate_of(self, tally: Tally) -> NDArray[np.float64]:
        """The mean of the numbers, as an array of one."""
        most = max(self.values)
        [total] = sums_of(tally, 1, -most, most).tolist()
        return np.array([self._middle + self._unit * float(total) / people(tally.reports)])

    def variance(self, n: int, value: float | None = None) -> float:
        """If everyone has this value, exactly; the largest possible if it is not known."""
        if value is None:
            return self._law.variance / people(n)
        base, part = self._position([value])
        place, rest = int(base[0]), float(part[0]) / PARTS
        squares, at = self._squares, self._places
        beyond = min(place + 1, len(at) - 1)
        square = squares[place] + (squares[beyond] - squares[place]) * rest
        mean = at[place] + (at[beyond] - at[place]) * rest
        return float(square - mean**2) / people(n)

    @property
    def tails(self) -> NearlyNormal:
        return self._law

    def radius(self, n: int, beta: float) -> float:
        return self.tails.radius(n, beta)

    def influence(self, n: int) -> float:
        return 2 * self._reach / people(n)

    def third(self, mean: float) -> float:
        """The third absolute moment of a report about the mean of many people's numbers, over its least
        variance to the power 3/2: at most, whatever the numbers are.

        Args:
            mean: the mean of the numbers.
        """
        far = np.abs(self._unit * self.counts + self._middle - mean)
        return float(self._moments(far**3).max() / self._least**1.5) if self._least > 0 else 0.0

    @property
    def _least(self) -> float:
        """The variance of one report, at least: between two places it is concave in the number."""
        return float((self._squares - self._places**2).min())

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """What each cell counts."""
        lower = np.array(self.values, dtype=np.int64)
        return np.concatenate([-lower, lower[::-1]])

    @property
    def each(self) -> tuple[Fraction, Fraction]:
        """The probability of a cell in the window, and of one outside."""
        outside = ONE * (self.cells - self.window)
        return Fraction(ONE - self.lies, ONE * self.window), Fraction(self.lies, outside)

    @cached_property
    def _marks(self) -> NDArray[np.int64]:
        """The sums of the windows, each less the first: where the places lie between low and high."""
        return marks_of(self.window, self.values)

    @cached_property
    def _scale(self) -> Marks:
        return Marks(self._marks)

    def _position(self, values: ArrayLike) -> Position:
        return self._scale.position(np.asarray(values, dtype=np.float64), self.low, self.high)

    def _chance(self, cell: int, place: int) -> Fraction:
        inside, outside = self.each
        return inside if place <= cell < place + self.window else outside

    @property
    def _middle(self) -> float:
        return (self.low + self.high) / 2

    @property
    def _unit(self) -> float:
        """What a count of one is worth: the last window's expected count is the upper end."""
        inside, outside = self.each
        return (self.high - self.low) / float((inside - outside) * int(self._marks[-1]))

    @property
    def _reach(self) -> float:
        """A report counts at most this far above or below the middle."""
        return self._unit * max(self.values)

    @cached_property
    def _places(self) -> NDArray[np.float64]:
        """The number that each place stands for, less the middle."""
        return np.asarray((self.high - self.low) * (self._marks / self._marks[-1] - 0.5))

    @cached_property
    def _squares(self) -> NDArray[np.float64]:
        """At each place, the expected square of what a report counts."""
        return self._moments(np.square(self._unit * self.counts))

    def _moments(self, powers: NDArray[np.float64]) -> NDArray[np.float64]:
        """At each place, the expectation of something that is known of each cell."""
        inside, outside = (float(chance) for chance in self.each)
        sums = np.concatenate([[0.0], np.cumsum(powers)])
        return np.asarray(
            outside * sums[-1] + (inside - outside) * (sums[self.window :] - sums[: -self.window])
        )

    @cached_property
    def _law(self) -> NearlyNormal:
        """The largest variance, and the largest third moment beside the smallest variance.

        Between two places the expected square is linear in the number x, so that the variance is at most its
        chord less x², which is largest where 2x is the chord's slope. E|report − x|³ is convex in x at a
        fixed place: none between two places is above all four of them at these places.
        """
        at, squares, here = self._places, self._squares, self._unit * self.counts
        gaps = np.diff(at)
        slopes = np.divide(np.diff(squares), gaps, out=np.zeros_like(gaps), where=gaps > 0)
        top = np.clip(slopes / 2, at[:-1], at[1:])
        largest = float((squares[:-1] + slopes * (top - at[:-1]) - top**2).max())
        thirds = np.array(
            [self._moments(np.abs(here - x) ** 3)[max(0, i - 1) : i + 2].max() for i, x in enumerate(at)]
        )
        beyond = self._reach + (self.high - self.low) / 2
        bounded = Bounded((largest,), (1,), beyond, beyond, 2 * self._reach)
        third = float(thirds.max() / self._least**1.5) if self._least > 0 else 0.0
        return NearlyNormal(bounded, third, largest, least=self._least)


def marks_of(window: int, values: tuple[int, ...]) -> NDArray[np.int64]:
    """Where the places of a window lie: the sum of each, less that of the first. They must be in order.

    Args:
        window: how many cells a window has.
        values: how far below the middle the cells of the lower half count.

    >>> marks_of(2, (3, 1)).tolist()
    [0, 4, 8]
    """
    if not (1 <= len(values) <= MOST_CELLS // 2 and all(0 <= each <= MOST_COUNT for each in values)):
        raise QueryError(
            f"a window report has 1 to {MOST_CELLS // 2} values, whole numbers from 0 to {MOST_COUNT}"
        )
    if not 1 <= window < 2 * len(values):
        raise QueryError(f"a window has 1 to {2 * len(values) - 1} cells, not {window}")
    lower = np.array(values, dtype=np.int64)
    counts = np.concatenate([-lower, lower[::-1]])
    steps = counts[window:] - counts[:-window]
    if not (steps > 0).all():
        raise QueryError("a window of a window report counts more the further up it is")
    return np.concatenate([[0], np.cumsum(steps)])


@lru_cache(maxsize=64)
def steps_of(cells: int, window: int, lies: int) -> Outcomes:
    """How many cells a report is beyond the first cell of its window, going round at the end.

    Args:
        cells: how many cells there are.
        window: how many of them are a window.
        lies: how often the report is from outside the window, in steps of 2^-64.

    >>> steps = steps_of(4, 2, ONE // 4)
    >>> [Fraction(part, steps.whole) for part in np.diff([0, *steps.edges, steps.whole]).tolist()]
    [Fraction(3, 8), Fraction(3, 8), Fraction(1, 8), Fraction(1, 8)]
    """
    outside = cells - window
    return Outcomes([(ONE - lies) * outside] * window + [lies * window] * outside)


def _design(epsilon: Fraction) -> WindowDesign:
    return next((design for up_to, design in designs() if epsilon <= up_to), designs()[-1][1])

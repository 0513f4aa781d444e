"""How far a predicted number is from the truth, as far as noisy sums tell."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from sulq.hypotheses.intervals import Metric
from sulq.talk.answers import BETA, Answer


@dataclass(frozen=True, eq=False)
class NumberErrors:
    """Mean squared error, mean absolute error and R² of a number, with bounds that noise keeps to.

    R² is 1 − Σ(y − ŷ)²/Σ(y − ȳ)²: 1 if every row is told exactly, 0 for whoever always says the mean, and
    below 0 for what is worse than that. Every sum is within its own bounds at once, but for a chance of 5
    %, so all that is made of them is too. How far other rows would be from these is not computed: `sampling`
    is None.

    Args:
        rows: how many rows there are.
        squares: the sum of (y − ŷ)².
        sizes: the sum of |y − ŷ|.
        label_squares: the sum of (y − c)², c being the middle of the label's bounds.
        label_sum: the sum of y − c.

    >>> errors = NumberErrors(*(Answer(x) for x in (10.0, 20.0, 12.0, 90.0, 10.0)))
    >>> errors.mean_squared.value, errors.mean_absolute.value, errors.r2.value
    (2.0, 1.2, 0.75)
    """

    ASKED: ClassVar[tuple[str, ...]] = ("rows", "squares", "sizes", "label_squares", "label_sum")

    rows: Answer
    squares: Answer
    sizes: Answer
    label_squares: Answer
    label_sum: Answer

    @property
    def mean_squared(self) -> Metric:
        """The mean of (y − ŷ)²."""
        return self._mean(self.squares)

    @property
    def mean_absolute(self) -> Metric:
        """The mean of |y − ŷ|."""
        return self._mean(self.sizes)

    @property
    def r2(self) -> Metric:
        """Which part of the label's variance is told, R². Its lower bound is −∞ if there may be none."""
        rows, few, many = self._rows
        squares, middle = max(0.0, float(self.squares.value)), float(self.label_sum.value)
        spread = float(self.label_squares.value) - middle**2 / rows
        value = 1 - squares / spread if spread > 0 else 0.0
        low, high = self._ends(self.squares)
        least, most = self._ends(self.label_squares)
        down, up = middle - self._off(self.label_sum), middle + self._off(self.label_sum)
        near, far = (0.0 if down < 0 < up else min(abs(down), abs(up))), max(abs(down), abs(up))
        smallest = least - far**2 / few if few > 0 else 0.0
        largest = most - near**2 / many
        bottom = 1 - high / smallest if smallest > 0 else -math.inf
        top = 1 - max(0.0, low) / largest if largest > 0 else 1.0
        top = min(1.0, top)
        return Metric(min(top, value), bottom, top)

    def metrics(self) -> dict[str, Metric]:
        """The figures by name."""
        return {
            "R²": self.r2,
            "mean squared error": self.mean_squared,
            "mean absolute error": self.mean_absolute,
        }

    @property
    def lines(self) -> list[str]:
        """The figures, a sentence each."""
        return [f"{name}: {_said(metric)}" for name, metric in self.metrics().items()]

    def _mean(self, total: Answer) -> Metric:
        value = max(0.0, float(total.value))
        rows, few, many = self._rows
        low, high = self._ends(total)
        return Metric(value / rows, max(0.0, low) / many, high / few if few > 0 else math.inf)

    @property
    def _rows(self) -> tuple[float, float, float]:
        """How many rows there are, and the bounds of that; at least one, or there is no mean."""
        few, many = self._ends(self.rows)
        return max(1.0, float(self.rows.value)), few, max(1.0, many)

    def _ends(self, answer: Answer) -> tuple[float, float]:
        value, off = float(answer.value), self._off(answer)
        return value - off, max(value + off, 1e-300)

    def _off(self, answer: Answer) -> float:
        law: Any = answer.law
        return float(law.radius(BETA / len(self.ASKED)))


def _said(metric: Metric) -> str:
    value, low, high = (f"{each:.4g}".replace("-", "−") for each in (metric.value, metric.low, metric.high))
    return value if low == high else f"{value} ({low} to {high})"

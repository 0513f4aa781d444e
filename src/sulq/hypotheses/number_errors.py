"""How far a predicted number is from the truth, as far as noisy sums tell."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from sulq.hypotheses.intervals import Metric
from sulq.talk.answers import BETA, Answer

SURELY = 1.96


@dataclass(frozen=True, eq=False)
class NumberErrors:
    """Mean squared error, mean absolute error and R² of a number, with bounds that noise keeps to.

    R² is 1 − Σ(y − ŷ)²/Σ(y − ȳ)²: 1 if every row is told exactly, 0 for whoever always says the mean, and
    below 0 for what is worse than that. Every sum is within its own bounds at once, but for a chance of 5
    %, so all that is made of them is too.

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
        rows, squares = float(self.rows.value), max(0.0, float(self.squares.value))
        middle = float(self.label_sum.value)
        spread = float(self.label_squares.value) - middle**2 / rows if rows > 0 else 0.0
        value = 1 - squares / spread if spread > 0 else 0.0
        few, many = self._ends(self.rows)
        low, high = self._ends(self.squares)
        least, most = self._ends(self.label_squares)
        down, up = float(self.label_sum.value) - self._off(self.label_sum), middle + self._off(self.label_sum)
        near, far = (0.0 if down < 0 < up else min(abs(down), abs(up))), max(abs(down), abs(up))
        smallest = least - far**2 / few if few > 0 else 0.0
        largest = most - near**2 / many
        bottom = 1 - high / smallest if smallest > 0 else -math.inf
        top = 1 - max(0.0, low) / largest if largest > 0 else 1.0
        return Metric(min(1.0, value), bottom, min(1.0, top), 0.0)

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
        rows, value = float(self.rows.value), max(0.0, float(total.value))
        few, many = self._ends(self.rows)
        low, high = self._ends(total)
        mean = value / rows if rows > 0 else 0.0
        return Metric(mean, max(0.0, low) / many, high / few if few > 0 else math.inf, 0.0)

    def _ends(self, answer: Answer) -> tuple[float, float]:
        value, off = float(answer.value), self._off(answer)
        return value - off, max(value + off, 1e-300)

    def _off(self, answer: Answer) -> float:
        law: Any = answer.law
        return float(law.radius(BETA / len(self.ASKED)))


def _said(metric: Metric) -> str:
    value, low, high = (f"{each:.4g}".replace("-", "−") for each in (metric.value, metric.low, metric.high))
    return value if low == high else f"{value} ({low} to {high})"

"""Ratios of noisy counts, and between which bounds they lie.

Noise makes a ratio of two noisy sums hard to bound, and easy to test. If r is the true ratio of A·n to B·n,
then (A − rB)·n is 0, so (A − rB)·n̂ is a weighted sum of noise alone. All r for which that sum is no larger
than noise may be make up the interval (Fieller's method): it holds the true ratio but for a chance of beta,
also where the denominator is small.

The area below a ROC curve is tested likewise. With counts p of positive and q of negative rows in each bin, K
the matrix that says which bin is above which, and θ the true area, pᵀ(K − θ)q is 0. With p̂ = p + e and
q̂ = q + f, what is computed is

    p̂ᵀ(K − θ)q̂ = eᵀ(K − θ)q̂ + fᵀ(K − θ)ᵀp.

In the first sum e is independent of q̂, so its bound holds given q̂. In the second p is fixed, and not known:
(K − θ)ᵀp is within (K − θ)ᵀe of what is computed from p̂, and that is a weighted sum of noise too. So the
chance beta is divided among three bounds. `sulq.talk.weighted` has the bounds on sums of noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sulq.talk.laws import Exactly, Noise, PlainLaw
from sulq.talk.weighted import exceeds, quantile

Floats = NDArray[np.float64]
NARROWEST = 1e-9
"""No interval of a ratio that noise is in is narrower."""
SURELY = 1.96
"""So many standard deviations hold 95 % of a bell curve."""
SPARE = 0.1
"""The part of beta for how far off the weights of a sum are."""


@dataclass(frozen=True)
class Metric:
    """A figure and its errors.

    Args:
        value: what the noisy answers say.
        low: the true figure of these rows is not below this, but for the stated chance.
        high: nor above this.
        sampling: about how far the figure of these rows is from that of all people like them, at 95 %; None
            where that is not computed, as for the errors of a number.

    >>> Metric(0.8, 0.78, 0.81, 0.03)
    Metric(value=0.8, low=0.78, high=0.81, sampling=0.03)
    """

    value: float
    low: float
    high: float
    sampling: float | None = None

    def said(self, digits: int = 3, times: float = 1) -> str:
        """The figure and its bounds, for people.

        Args:
            digits: how many digits stand behind the point.
            times: what all is multiplied by: 100 for percent.
        """
        each = (f"{times * number:.{digits}f}" for number in (self.value, self.low, self.high))
        value, low, high = (text.replace("-", "−") for text in each)
        return value if low == high else f"{value} ({low} to {high})"


UNKNOWN = (0.5, 0.0, 1.0)
"""A share of which nothing is known."""


def ratio(
    counts: Floats, top: Floats, bottom: Floats, law: PlainLaw, beta: float
) -> tuple[float, float, float]:
    """The share of some of the counts in others, and its bounds.

    Args:
        counts: noisy counts.
        top: 1 for the counts that make up the numerator, 0 for others.
        bottom: 1 for those that make up the denominator, which has all of the numerator.
        law: the law of the noise in each count.
        beta: the chance that the share of the true counts is out of the bounds.

    >>> from fractions import Fraction
    >>> law = Noise("laplace", Fraction(20), Fraction(1), numbers=2)
    >>> share, low, high = ratio(np.array([800.0, 200.0]), np.array([1.0, 0]), np.ones(2), law, 0.05)
    >>> share, round(low, 2), round(high, 2)
    (0.8, 0.75, 0.85)
    """
    rows = float(bottom @ counts)
    if rows <= 0:
        return UNKNOWN

    def beyond(share: float) -> bool:
        weights = top - share * bottom
        return exceeds(abs(float(weights @ counts)), weights, law, beta)

    return _interval(float(top @ counts) / rows, beyond, law)


def area(negatives: Floats, positives: Floats, law: PlainLaw, beta: float) -> tuple[float, float, float]:
    """The area below the ROC curve of a score in bins, and its bounds.

    Args:
        negatives: noisy counts of the rows of the first class, bin by bin from the lowest score.
        positives: those of the second class.
        law: the law of the noise in each count.
        beta: the chance that the area of the true counts is out of the bounds.

    >>> area(np.array([30.0, 10.0]), np.array([10.0, 30.0]), Exactly(), 0.05)
    (0.75, 0.75, 0.75)
    """
    pairs = float(negatives.sum() * positives.sum())
    if negatives.sum() <= 0 or positives.sum() <= 0:
        return UNKNOWN
    bins = len(negatives)
    above = np.tri(bins, k=-1) + np.eye(bins) / 2
    radius = 0.0 if isinstance(law, Noise) else float(law.radius(beta))
    # No entry of K − θ is beyond 1, so no weighted sum of noise is beyond one whose weights are all 1.
    off = quantile(np.ones(bins), law, beta * SPARE / bins)

    def beyond(theta: float) -> bool:
        kernel = above - theta
        by_positive, by_negative = kernel @ negatives, positives @ kernel
        if isinstance(law, Noise):
            share = beta * (1 - SPARE) / 2
            bound = quantile(by_positive, law, share) + quantile(np.abs(by_negative) + off, law, share)
        else:
            sizes = float(np.abs(by_positive).sum() + np.abs(by_negative).sum())
            bound = radius * sizes + radius**2 * float(np.abs(kernel).sum())
        return abs(float(by_positive @ positives)) > bound

    return _interval(float(positives @ above @ negatives) / pairs, beyond, law)


def binomial(share: float, rows: float) -> float:
    """1.96 standard deviations of a share by who was drawn.

    Args:
        share: the share.
        rows: of how many rows it is the share.
    """
    return SURELY * math.sqrt(share * (1 - share) / rows) if rows >= 1 else 1.0


def hanley(value: float, positives: float, negatives: float) -> float:
    """1.96 standard deviations of an area below a ROC curve by who was drawn (Hanley and McNeil, 1982).

    Args:
        value: the area.
        positives: how many rows are of the second class.
        negatives: how many are of the first.
    """
    if min(positives, negatives) < 1:
        return 1.0
    one, two = value / (2 - value), 2 * value**2 / (1 + value)
    variance = value * (1 - value) + (positives - 1) * (one - value**2) + (negatives - 1) * (two - value**2)
    return SURELY * math.sqrt(max(0.0, variance) / (positives * negatives))


def _interval(value: float, beyond: Callable[[float], bool], law: PlainLaw) -> tuple[float, float, float]:
    """A share from 0 to 1, and how far on both sides of it noise allows others."""
    inside = min(1.0, max(0.0, value))
    if isinstance(law, Exactly):
        return inside, inside, inside
    ends = []
    for sign, end in ((-1.0, 0.0), (1.0, 1.0)):
        near, far = NARROWEST, max(NARROWEST, sign * (end - value))
        if beyond(value + sign * far):
            while far > 1.02 * near:  # what is beyond stays outside: the interval errs by being wide
                middle = (near * far) ** 0.5
                near, far = (near, middle) if beyond(value + sign * middle) else (middle, far)
        ends.append(min(1.0, max(0.0, value + sign * far)))
    return inside, ends[0], ends[1]

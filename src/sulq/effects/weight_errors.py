"""How far off weights of coordinates are, from the known size of the noise in what they were made of.

Exact weights w solve G(w) = G(at) + g, where g is the gradient at any place, and G says what a model expects:
M·w for a linear model. With noisy answers about M and g, both sides differ by noise of known size, whatever
M is (Anderson and Rubin). That says how far off w can be, once it is known how large w is: what noise in M
does grows with w. So the first guess is that weights are as large as they may be at all, and it is narrowed
while the answers leave less. Directions that noise hides leave as much as before.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sulq.effects.bars import around
from sulq.effects.estimate import TINY, Estimate
from sulq.effects.layout import Floats
from sulq.effects.logistic import logistic
from sulq.effects.moments import LARGEST, Moments
from sulq.effects.solving import solved

DOUBT, WIDEST = 2.0, 4.0
"""No variance is less by more than so many standard deviations of noise, and what a coordinate adds varies at
most by so many times the variance of the outcome."""
NARROWINGS = 30
"""How often error bars are made narrower by what they say themselves."""
MARGIN = 1.25
"""Bars are longer by this factor, for products of two noises, which are left out. Where columns are alike,
about 92 % were held without it."""
BENT = 0.15**2
"""How far the curvature of a logistic model is from that of coordinates that are bell curves, squared."""
_PLACES, _MASSES = np.polynomial.hermite_e.hermegauss(15)


@dataclass(frozen=True)
class Straight:
    """What a linear model expects: M·w.

    Args:
        matrix: M, without the directions that noise hides.
    """

    matrix: Floats
    bent = 0.0

    def at(self, weights: Floats) -> tuple[Floats, Floats, float]:
        """What is expected at some weights, its slope there, and how much a row counts in the slope.

        Args:
            weights: the weights.
        """
        return self.matrix @ weights, self.matrix, 1.0


@dataclass(frozen=True)
class Curved:
    """What a logistic model expects: the sums of coordinates, each row counting by how likely its class is.

    Coordinates are taken for bell curves. Then sums over rows follow from second moments alone (Stein).

    Args:
        matrix: M, without the directions that noise hides.
        positive: M, repaired.
        base: the log-odds of a row without weights.
    """

    matrix: Floats
    positive: Floats
    base: float
    bent = BENT

    @cached_property
    def _rows(self) -> float:
        return float(self.positive[0, 0])

    def at(self, weights: Floats) -> tuple[Floats, Floats, float]:
        """What is expected at some weights, its slope there, and how much a row counts in the slope.

        Args:
            weights: the weights.
        """
        rows, mean = self._rows, self.matrix[0] / self._rows
        middle = float(self.positive[0] @ weights) / rows
        spread = max(0.0, float(weights @ self.positive @ weights) / rows - middle**2) ** 0.5
        likely = logistic(self.base + middle + spread * _PLACES)
        sure = likely * (1 - likely)
        mass = _MASSES / _MASSES.sum()
        first, second = sure * (1 - 2 * likely), sure * (1 - 6 * sure)
        p, f, slope, bend = (float(each @ mass) for each in (likely, sure, first, second))
        around_mean = self.matrix - rows * np.outer(mean, mean)
        along = around_mean @ weights
        tilted = slope * np.outer(mean, along)
        steep = f * self.matrix + tilted + tilted.T + bend * np.outer(along, along) / rows
        return rows * p * mean + f * along, steep, f


def deviations(estimate: Estimate, moments: Moments, to: Floats, base: float | None = None) -> Floats:
    """One standard deviation of what noise does to each of some sums of weights.

    What was shrunk away is part of the error: bars are around the weights that are published.

    Args:
        estimate: the estimate.
        moments: the second moments.
        to: the sums, a row of coefficients for each.
        base: the log-odds of a row without weights; None for a linear model.
    """
    noises = np.array([each.noise for each in estimate.gradients])
    if not noises.any():
        return np.zeros(len(to))
    sizes, directions = np.linalg.eigh(moments.asked)
    surely = sizes > _longest(sizes, moments.noise)
    matrix = (directions * np.where(surely, sizes, 0.0)) @ directions.T
    model = Straight(matrix) if base is None else Curved(matrix, moments.matrix, base)
    places = np.array([each.at for each in estimate.gradients])
    seen = np.array([each.value for each in estimate.gradients]) @ (directions * surely) @ directions.T
    seen = seen + np.array([model.at(place)[0] for place in places])
    prior = left = _widest(estimate, moments)
    middle = np.zeros(len(matrix)) if base is None else estimate.effects
    for _ in range(NARROWINGS):
        expected, slope, counted = model.at(middle)
        wrong = counted**2 * moments.noise
        rounding = TINY * (1 + counted * float(np.diag(moments.matrix).mean()))
        steep = np.abs(np.diag(slope))
        crooked = model.bent * float(steep.mean()) * slope + wrong * np.eye(len(slope))
        counting = _counting(noises.mean(axis=1), crooked, places, middle)
        away = middle - counting @ places
        square = float(away @ away + np.trace(left))
        bent = model.bent * steep * max(0.0, float(away @ slope @ away))
        # Noise in M is symmetric, so that what it does to two sums goes together.
        error = np.diag(counting**2 @ noises + rounding + wrong * square + bent) + wrong * np.outer(
            away, away
        )
        gain = solved(slope @ prior @ slope.T + error, slope @ prior).T
        left = prior - gain @ slope @ prior
        after = gain @ (counting @ seen - expected + slope @ middle)
        middle = after if base is None else (middle + after) / 2
    variances = np.einsum("ij,jk,ik->i", to, left, to).clip(min=0.0)
    return MARGIN * around(to @ (estimate.effects - middle), np.sqrt(variances))


def _longest(sizes: Floats, noise: float) -> float:
    """How long a direction of second moments may seem that is nothing but noise.

    Symmetric noise in k directions has none that is longer than 2√k deviations, as a rule (Wigner); k is how
    many directions are not longer themselves.

    Args:
        sizes: how long each direction seems.
        noise: the variance of the noise in a number.

    >>> _longest(np.array([0.1, 50.0, 60.0, 70.0]), 1.0)
    2.0
    """
    hidden = len(sizes)
    while (fewer := max(1, int((sizes <= 2 * np.sqrt(noise * hidden)).sum()))) < hidden:
        hidden = fewer
    return float(2 * np.sqrt(noise * hidden))


def _widest(estimate: Estimate, moments: Moments) -> Floats:
    """The covariance of weights that are as large as they may be at all.

    What a coordinate adds may vary more than the outcome does, where few rows have a value. Its own variance
    may be as small as noise lets it be, and weights are larger then.

    Args:
        estimate: the estimate.
        moments: the second moments.
    """
    prior = np.zeros_like(estimate.curvature)
    for spread in estimate.spreads:
        prior[spread.part, spread.part] += WIDEST * spread.shape
    rows = float(moments.matrix[0, 0])
    means = moments.asked[0] / rows
    doubt = DOUBT * moments.noise**0.5 * (1 + 2 * np.abs(means))
    least = (np.diag(moments.asked) - rows * means**2 - doubt).clip(min=rows / LARGEST**2)
    numbers = [spread.part.start for spread in estimate.spreads[1:] if spread.shape.size == 1]
    prior[numbers, numbers] = np.maximum(prior[numbers, numbers], rows / least[numbers])
    return prior


def _counting(noises: Floats, wrong: Floats, places: Floats, middle: Floats) -> Floats:
    """How much each gradient counts, such that all together have the least error.

    Args:
        noises: the variance of the noise in each.
        wrong: the variance of what is off in the slope, as a matrix between weights.
        places: where each was asked for.
        middle: about where the weights are.
    """
    many = len(noises)
    system = np.ones((many + 1, many + 1))
    system[:many, :many] = np.diag(noises + TINY) + places @ wrong @ places.T
    system[many, many] = 0.0
    right = np.append(places @ wrong @ middle, 1.0)
    return np.asarray(np.linalg.lstsq(system, right, rcond=None)[0][:many])

"""Effects from noisy gradients: what is likely, given how large effects of each attribute seem to be.

Near its optimum a log-likelihood has a gradient that falls as fast as its curvature says: g(θ) ≈ H(θ* − θ).
So a noisy gradient at any θ says H·θ* ≈ g + H·θ, up to an error that has two parts: the rows are a sample,
whose error has covariance φH, and the curator added noise of variance v. Effects of one attribute are taken
for draws from a bell curve, similar for neighbouring intervals of a number. How wide it is, the answers
themselves say (empirical Bayes), as far as they can: where they say little, effects are as wide as usual.
Nothing here needs a row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sulq.effects.association import SMALLEST, second_moments
from sulq.effects.layout import Floats, Layout
from sulq.effects.solving import solved

NEAR = 0.5
"""Effects of two intervals of a number go together by e^(−distance/NEAR), by the part of rows between."""
SMOOTH, ROUGH, APART = 0.3, 0.01, 0.1
"""The usual variance of what neighbouring intervals share, of what each adds, and of a category's effects."""
SHIFT = 0.2
"""The usual variance of what is added to the intercept, which the labels alone told nearly."""
BELIEF = 2.0
"""As many effects of usual size are taken for seen, beside those that were, to say how large effects are."""
LEAST, MOST = 0.02**2, 3.0**2
"""Between these is the variance of an attribute's effects. Log-odds beyond are as good as certain."""
STALE = 0.3
"""How much of the distance between two gradients' places counts as an error of the older one."""
REPEATS = 2
TINY = 1e-6
"""What is less than this part of a curvature is rounding."""


@dataclass(frozen=True)
class Spread:
    """One reason for the effects of an attribute to differ.

    Args:
        part: where the effects are.
        shape: how they go together.
        variance: how far they differ.
        usual: how far they differ as a rule.
    """

    part: slice
    shape: Floats
    variance: float
    usual: float


@dataclass(frozen=True)
class Gradient:
    """A noisy gradient.

    Args:
        at: the effects at which it was asked for.
        value: the gradient, noise and all.
        noise: the variance of the noise in each number of it.
        stretch: by how much it is to be multiplied, noise and all, to fit the curvature.
    """

    at: Floats
    value: Floats
    noise: Floats
    stretch: float = 1.0

    @property
    def stretched(self) -> Floats:
        """The gradient as the curvature has it."""
        return self.stretch * self.value

    @property
    def variance(self) -> Floats:
        """The variance of the noise in `stretched`."""
        return self.stretch**2 * self.noise


@dataclass(frozen=True)
class Estimate:
    """Effects, and what they were made of.

    Args:
        layout: where the values are.
        counts: how many rows have each value.
        beyond: how attributes go together: `sulq.effects.association.beyond_independence`.
        weights: how much a row with each value counts in the curvature.
        curvature: H.
        dispersion: φ, 1 for a logistic model.
        spreads: how effects of each attribute differ.
        gradients: all that was asked for, oldest first.
        effects: the latest estimate, by which older gradients are judged.
        together: how many rows have both of two values, as far as it is known.
    """

    layout: Layout
    counts: Floats
    beyond: Floats
    weights: Floats
    curvature: Floats
    dispersion: float
    spreads: tuple[Spread, ...]
    gradients: tuple[Gradient, ...]
    effects: Floats
    together: Floats

    def weighed(self, weights: Floats) -> Estimate:
        """The estimate with other weights of rows.

        Args:
            weights: how much a row with each value counts in the curvature.
        """
        estimate = replace(self, weights=weights)
        return replace(estimate, curvature=estimate.curved(SMALLEST))

    def curved(self, smallest: float) -> Floats:
        """The curvature that follows from the weights of rows, and from how attributes go together.

        Args:
            smallest: no direction has less than this part of the variance that independent attributes give.
        """
        masses = self.counts * self.weights
        totals = [masses[part].sum() for part in self.layout.slices]
        for part, total in zip(self.layout.slices, totals, strict=True):
            masses[part] *= np.mean(totals) / total
        return second_moments(self.layout, masses, self.beyond, smallest)

    def given(self, gradient: Gradient) -> Estimate:
        """The estimate once one more gradient is known."""
        estimate = replace(self, gradients=(*self.gradients, gradient))
        for _ in range(REPEATS):
            estimate = replace(estimate, spreads=estimate._widened())
            estimate = replace(estimate, effects=estimate.best)
        return estimate

    @cached_property
    def shares(self) -> Floats:
        """How much each gradient counts: noise speaks against it, and so does an outdated place."""
        outdated = [
            STALE * float(np.mean((self.curvature @ (self.effects - gradient.at)) ** 2))
            for gradient in self.gradients
        ]
        noise = [float(gradient.variance.mean()) for gradient in self.gradients]
        # Where there is neither, the latest gradient is the best, by as much as a float can tell.
        least = 1e-9 * (1 + float(np.diag(self.curvature).mean())) * 1e-6 ** np.arange(len(noise))
        weights = 1 / (np.array(noise) + outdated + least)
        return np.asarray(weights / weights.sum())

    @cached_property
    def noise(self) -> Floats:
        """The variance of the noise in the weighted mean of all gradients."""
        return np.asarray(self.shares**2 @ np.array([gradient.variance for gradient in self.gradients]))

    @cached_property
    def _target(self) -> Floats:
        """An estimate of H·θ*."""
        return np.asarray(
            sum(
                weight * (gradient.stretched + self.curvature @ gradient.at)
                for weight, gradient in zip(self.shares, self.gradients, strict=True)
            )
        )

    @cached_property
    def prior(self) -> Floats:
        """The covariance of effects before anything is known about them."""
        prior = np.zeros_like(self.curvature)
        for spread in self.spreads:
            prior[spread.part, spread.part] += spread.variance * spread.shape
        return prior

    def covariance(self, h: Floats) -> Floats:
        """The covariance of the target, from effects, sampling and noise together.

        Args:
            h: the curvature.
        """
        # What all values of two attributes add alike cannot be told apart: there H is 0, up to rounding.
        rounding = TINY * (1 + np.diag(h).mean())
        error = self.dispersion * h + np.diag(self.noise + rounding)
        spread = np.empty_like(h)
        for part in self.layout.slices:
            # Effects of different attributes vary apart.
            spread[:, part] = h[:, part] @ self.prior[part, part]
        return np.asarray(spread @ h + error)

    @cached_property
    def _unlikely(self) -> Floats:
        """C⁻¹·H, C being the covariance of the target, and C⁻¹ times the target as the last column."""
        right = np.column_stack([self.curvature, self._target])
        return solved(self.covariance(self.curvature), right)

    @cached_property
    def _seen(self) -> dict[tuple[int, int], Floats]:
        """H·C⁻¹·H for the values that spreads are about, by where these start and end."""
        parts = {(spread.part.start, spread.part.stop): spread.part for spread in self.spreads}
        return {
            ends: np.asarray(self.curvature[part] @ self._unlikely[:, part]) for ends, part in parts.items()
        }

    @property
    def best(self) -> Floats:
        """The most likely effects, given how far they differ."""
        return np.asarray(self.prior @ self.pull)

    @property
    def pull(self) -> Floats:
        """How strongly answers pull each effect away from 0, and its spread holds it there."""
        # One right side takes a quarter of the time that all of `_unlikely` takes.
        unlikely = solved(self.covariance(self.curvature), self._target[:, np.newaxis])
        return np.asarray(self.curvature @ unlikely[:, 0])

    def _widened(self) -> tuple[Spread, ...]:
        """Spreads that explain the target better: at a fixed point they are the most likely."""
        wider, pulls = [], self.curvature @ self._unlikely[:, -1]
        for spread in self.spreads:
            pull, seen = pulls[spread.part], self._seen[spread.part.start, spread.part.stop]
            measured = float(pull @ spread.shape @ pull) + BELIEF * spread.usual / spread.variance**2
            expected = float((seen * spread.shape).sum()) + BELIEF / spread.variance
            factor = np.sqrt(max(0.0, measured) / max(TINY, expected))
            wider.append(replace(spread, variance=float(np.clip(spread.variance * factor, LEAST, MOST))))
        return tuple(wider)


def start(
    layout: Layout, counts: Floats, beyond: Floats, weights: Floats, dispersion: float = 1.0
) -> Estimate:
    """The estimate before anything is known about the outcome: no effects.

    Args:
        layout: where the values are.
        counts: how many rows have each value.
        beyond: how attributes go together: `sulq.effects.association.beyond_independence`.
        weights: how much a row with each value counts in the curvature.
        dispersion: φ.
    """
    # What all effects of an attribute have in common is the intercept. It has a spread of its own, because
    # otherwise an attribute whose values are mostly rare would seem to have wild effects.
    first = layout.slices[0]
    spreads = [Spread(first, np.ones((first.stop, first.stop)), SHIFT, SHIFT)]
    for part, ordered in zip(layout.slices, layout.ordered, strict=True):
        mass = counts[part] / counts[part].sum()
        centred = np.eye(len(mass)) - mass
        alone = centred @ centred.T
        if ordered:
            middle = np.cumsum(mass) - mass / 2
            near = np.exp(-np.abs(middle[:, np.newaxis] - middle) / NEAR)
            spreads.append(Spread(part, centred @ near @ centred.T, SMOOTH, SMOOTH))
            spreads.append(Spread(part, alone, ROUGH, ROUGH))
        else:
            spreads.append(Spread(part, alone, APART, APART))
    effects = np.zeros(layout.width)
    flat = np.zeros_like(beyond)
    together = second_moments(layout, counts, beyond)
    estimate = Estimate(
        layout, counts, beyond, weights, flat, dispersion, tuple(spreads), (), effects, together
    )
    return estimate.weighed(weights)

"""Effects from noisy gradients: what is likely, given how large effects of each attribute seem to be.

Near its optimum a log-likelihood has a gradient that falls as fast as its curvature says: g(θ) ≈ H(θ* − θ).
So a noisy gradient at any θ says H·θ* ≈ g + H·θ, up to an error that has two parts: the rows are a sample,
whose error has covariance φH, and the curator added noise of variance v. Effects of one attribute are taken
for draws from a bell curve, similar for neighbouring intervals of a number. How wide it is, the answers
themselves say (empirical Bayes). Nothing here needs a row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sulq.effects.layout import Floats, Layout

NEAR = 0.5
"""Effects of two intervals of a number go together by e^(−distance/NEAR), the distance in parts of the rows."""
SMOOTH, ROUGH = 0.9, 0.1
"""How an effect's variance is divided at first: what neighbouring intervals share, and what is their own."""
LEAST, MOST = 0.02**2, 5.0**2
"""Between these is the variance of an attribute's effects."""
STALE = 0.3
"""How much of the distance between two gradients' places counts as an error of the older one."""
REPEATS, WIDENINGS = 2, 2


@dataclass(frozen=True)
class Spread:
    """One reason for the effects of an attribute to differ.

    Args:
        part: where the effects are.
        shape: how they go together.
        variance: how far they differ.
    """

    part: slice
    shape: Floats
    variance: float


@dataclass(frozen=True)
class Gradient:
    """A noisy gradient.

    Args:
        at: the effects at which it was asked for.
        value: the gradient, noise and all.
        noise: the variance of the noise in each number of it.
    """

    at: Floats
    value: Floats
    noise: Floats


@dataclass(frozen=True)
class Estimate:
    """Effects, and what they were made of.

    Args:
        curvature: H.
        dispersion: φ, 1 for a logistic model.
        spreads: how effects of each attribute differ.
        gradients: all that was asked for, oldest first.
        effects: the latest estimate, by which older gradients are judged.
    """

    curvature: Floats
    dispersion: float
    spreads: tuple[Spread, ...]
    gradients: tuple[Gradient, ...]
    effects: Floats

    def given(self, gradient: Gradient) -> Estimate:
        """The estimate once one more gradient is known."""
        estimate = replace(self, gradients=(*self.gradients, gradient))
        for _ in range(REPEATS):
            for _ in range(WIDENINGS):
                estimate = replace(estimate, spreads=estimate._widened())
            estimate = replace(estimate, effects=estimate._best)
        return estimate

    @property
    def deviations(self) -> Floats:
        """One standard deviation of the error of each effect."""
        left = self._prior - self._prior @ self._seen @ self._prior
        return np.sqrt(np.diag(left).clip(min=0.0))

    @cached_property
    def _weights(self) -> Floats:
        """How much each gradient counts: noise speaks against it, and so does an outdated place."""
        outdated = [
            STALE * float(np.mean((self.curvature @ (self.effects - gradient.at)) ** 2))
            for gradient in self.gradients
        ]
        noise = [float(gradient.noise.mean()) for gradient in self.gradients]
        # Where there is neither, the latest gradient is the best, by as much as a float can tell.
        least = 1e-9 * (1 + float(np.diag(self.curvature).mean())) * 1e-6 ** np.arange(len(noise))
        weights = 1 / (np.array(noise) + outdated + least)
        return np.asarray(weights / weights.sum())

    @cached_property
    def _target(self) -> Floats:
        """An estimate of H·θ*."""
        return np.asarray(
            sum(
                weight * (gradient.value + self.curvature @ gradient.at)
                for weight, gradient in zip(self._weights, self.gradients, strict=True)
            )
        )

    @cached_property
    def _prior(self) -> Floats:
        prior = np.zeros_like(self.curvature)
        for spread in self.spreads:
            prior[spread.part, spread.part] += spread.variance * spread.shape
        return prior

    @cached_property
    def _unlikely(self) -> Floats:
        """The inverse of the covariance of the target, from effects, sampling and noise together."""
        noises = np.array([gradient.noise for gradient in self.gradients])
        h = self.curvature
        own = self.dispersion * h + np.diag(self._weights**2 @ noises)
        return np.linalg.inv(h @ self._prior @ h + own)

    @cached_property
    def _seen(self) -> Floats:
        return np.asarray(self.curvature @ self._unlikely @ self.curvature)

    @cached_property
    def _pull(self) -> Floats:
        return np.asarray(self.curvature @ (self._unlikely @ self._target))

    @property
    def _best(self) -> Floats:
        return np.asarray(self._prior @ self._pull)

    def _widened(self) -> tuple[Spread, ...]:
        """Spreads that explain the target better: a fixed point has the largest likelihood."""
        wider = []
        for spread in self.spreads:
            pull, seen = self._pull[spread.part], self._seen[spread.part, spread.part]
            expected = max(1e-300, float((seen * spread.shape).sum()))
            factor = np.sqrt(float(pull @ spread.shape @ pull) / expected)
            wider.append(replace(spread, variance=float(np.clip(spread.variance * factor, LEAST, MOST))))
        return tuple(wider)


def start(
    layout: Layout, counts: Floats, moments: Floats, weights: Floats, dispersion: float = 1.0
) -> Estimate:
    """The estimate before anything is known about the outcome: no effects.

    Args:
        layout: where the values are.
        counts: how many rows have each value.
        moments: the second moments, divided by the roots of counts: `sulq.effects.association.correlation`.
        weights: how much a row with each value counts in the curvature.
        dispersion: φ.
    """
    root = np.sqrt(counts * weights)
    spreads: list[Spread] = []
    for part, ordered in zip(layout.slices, layout.ordered, strict=True):
        alone = np.eye(part.stop - part.start)
        if ordered:
            mass = counts[part] / counts[part].sum()
            middle = np.cumsum(mass) - mass / 2
            shape = np.exp(-np.abs(middle[:, np.newaxis] - middle) / NEAR)
            spreads += [Spread(part, shape, SMOOTH), Spread(part, alone, ROUGH)]
        else:
            spreads.append(Spread(part, alone, 1.0))
    return Estimate(moments * np.outer(root, root), dispersion, tuple(spreads), (), np.zeros(layout.width))

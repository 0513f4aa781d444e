"""What a logistic model says about itself: how likely its label is for rows with a value, and how sure it is.

The log-odds of rows that share a value are taken for a bell curve, whose mean and width follow from the
effects and from how attributes go together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sulq.effects.estimate import Estimate
from sulq.effects.layout import Floats

LEAST = 0.005
"""No row counts less in the curvature."""
SHORTEST, LONGEST = 0.3, 2.0
"""By so much the first gradient is stretched, at least and at most."""
FURTHEST, HALVINGS = 12.0, 30
"""No effect is off by more, and so often the interval is halved that an effect is looked for in."""
_PLACES, _MASSES = np.polynomial.hermite_e.hermegauss(15)


def logistic(log_odds: Floats) -> Floats:
    """How likely something is whose log-odds are known: 1/(1 + e⁻ˣ).

    >>> logistic(np.array([-1000.0, 0.0, 1.0])).round(3).tolist()
    [0.0, 0.5, 0.731]
    """
    return np.asarray(1 / (1 + np.exp(-log_odds.clip(-50.0, 50.0))))


def reweighed(estimate: Estimate, intercept: float) -> Estimate:
    """The estimate with the weights that its own effects imply.

    The first gradient was asked for at no effects at all, where the curvature was another. It is stretched by
    what the model says about itself: to its own gradient there, curvature times effects.

    Args:
        estimate: effects on the log-odds, the first of its gradients at no effects.
        intercept: the log-odds at no effects.
    """
    likely, sure = Chances(estimate, intercept).expected()
    # Halfway to the new weights: a full step would overshoot, and the next one would swing back.
    weighed = estimate.weighed(np.sqrt(estimate.weights * sure.clip(min=LEAST)))
    there = estimate.counts * (likely - logistic(np.array(intercept)))
    along = float(there @ (weighed.curvature @ estimate.effects))
    length = float(there @ there)
    stretch = float(np.clip(along / length, SHORTEST, LONGEST)) if length > 0 else 1.0
    first, *rest = estimate.gradients
    return replace(weighed, gradients=(replace(first, stretch=stretch), *rest))


@dataclass(frozen=True)
class Chances:
    """How likely the label is for rows with each value, by what a model says about itself.

    Args:
        estimate: effects on the log-odds.
        intercept: the log-odds at no effects.
    """

    estimate: Estimate
    intercept: float

    @cached_property
    def _bells(self) -> tuple[Floats, Floats]:
        """For rows with each value: the mean and the width of their log-odds, without the intercept."""
        estimate, effects = self.estimate, self.estimate.effects
        rows = float(estimate.counts[estimate.layout.slices[0]].sum())
        means = estimate.together @ effects / estimate.counts
        middle = float(estimate.counts @ effects) / rows
        spread = float((estimate.counts * effects) @ means) / rows - middle**2
        within = np.empty_like(means)
        for part in estimate.layout.slices:
            mass = estimate.counts[part] / rows
            between = float(mass @ (means[part] - mass @ means[part]) ** 2)
            within[part] = max(0.0, spread - between) ** 0.5
        return means, within

    def moved(self, more: Floats) -> Floats:
        """The chances of rows with each value, at places of a bell curve, if its effect were larger.

        Args:
            more: by how much each effect is larger.
        """
        means, within = self._bells
        return logistic(self.intercept + (means + more)[:, np.newaxis] + within[:, np.newaxis] * _PLACES)

    def expected(self) -> tuple[Floats, Floats]:
        """For rows with each value: p and p(1 − p) on average, p being how likely the label is."""
        chances = self.moved(np.zeros_like(self.estimate.effects))
        mass = _MASSES / _MASSES.sum()
        return np.asarray(chances @ mass), np.asarray((chances * (1 - chances)) @ mass)

    def away(self, more: Floats) -> Floats:
        """By how much each effect would have to be larger for its rows to have the label more often.

        Args:
            more: by how much more likely the label would be for rows with each value, on average. Where no
                effect makes it as likely, the effect is as large as it can be.
        """
        mass = _MASSES / _MASSES.sum()
        wanted = self.expected()[0] + more
        low, high = np.full_like(more, -FURTHEST), np.full_like(more, FURTHEST)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            enough = self.moved(middle) @ mass >= wanted
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return np.asarray((low + high) / 2)

"""What a logistic model says about itself: how likely its label is for rows with a value, and how sure it is.

The log-odds of rows that share a value are taken for a bell curve, whose mean and width follow from the
effects and from how attributes go together.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sulq.effects.estimate import Estimate
from sulq.effects.layout import Floats

LEAST = 0.005
"""No row counts less in the curvature."""
SHORTEST, LONGEST = 0.3, 2.0
"""By so much the first gradient is stretched, at least and at most."""
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
    likely, sure = _expected(estimate, intercept)
    # Halfway to the new weights: a full step would overshoot, and the next one would swing back.
    weighed = estimate.weighed(np.sqrt(estimate.weights * sure.clip(min=LEAST)))
    there = estimate.counts * (likely - logistic(np.array(intercept)))
    along = float(there @ (weighed.curvature @ estimate.effects))
    length = float(there @ there)
    stretch = float(np.clip(along / length, SHORTEST, LONGEST)) if length > 0 else 1.0
    first, *rest = estimate.gradients
    return replace(weighed, gradients=(replace(first, stretch=stretch), *rest))


def _expected(estimate: Estimate, intercept: float) -> tuple[Floats, Floats]:
    """For rows with each value: p and p(1 − p) on average, p being how likely the label is."""
    effects, together = estimate.effects, estimate.together
    rows = float(estimate.counts[estimate.layout.slices[0]].sum())
    means = together @ effects / estimate.counts
    middle = float(estimate.counts @ effects) / rows
    spread = float((estimate.counts * effects) @ means) / rows - middle**2
    likely, sure = np.empty_like(means), np.empty_like(means)
    for part in estimate.layout.slices:
        mass = estimate.counts[part] / rows
        between = float(mass @ (means[part] - mass @ means[part]) ** 2)
        within = np.sqrt(max(0.0, spread - between))
        chances = logistic(intercept + means[part][:, np.newaxis] + within * _PLACES)
        likely[part] = chances @ _MASSES / _MASSES.sum()
        sure[part] = (chances * (1 - chances)) @ _MASSES / _MASSES.sum()
    return likely, sure

"""How long an error bar is: around what is published, so that it holds what exact answers give."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from sulq.effects.layout import Floats

SURELY = 1.96
"""So many standard deviations are 95 % of a bell curve."""
_FURTHEST, _PLACES, _HALVINGS = 4.0, 81, 60


def _beyond(offset: float) -> float:
    """How far beyond an offset the bar ends: Φ(x) − Φ(−2·offset − x) is what Φ(1.96) − Φ(−1.96) is."""
    bell = NormalDist()
    inside = bell.cdf(SURELY) - bell.cdf(-SURELY)
    low, high = 0.0, SURELY
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        enough = bell.cdf(middle) - bell.cdf(-2 * offset - middle) >= inside
        low, high = (low, middle) if enough else (middle, high)
    return high


_OFFSETS = np.linspace(0.0, _FURTHEST, _PLACES)
_BEYOND = np.array([_beyond(float(offset)) for offset in _OFFSETS])


def around(offsets: Floats, deviations: Floats) -> Floats:
    """Deviations of bell curves around 0 that have as much within 1.96 as others that are not around 0.

    What is published is not always the most likely: it is shrunk. The bar is centred on it all the same, and
    as long as it has to be to hold 95 % of a bell curve whose middle is elsewhere. That is 1.96 deviations
    where it is not, and 1.645 deviations more than the offset where it is far.

    Args:
        offsets: how far what is published is from the middle of the bell curve.
        deviations: one standard deviation of the bell curve.

    >>> around(np.array([0.0, 100.0]), np.array([1.0, 1.0])).round(3).tolist()
    [1.0, 51.86]
    >>> around(np.array([2.0]), np.array([0.0])).round(3).tolist()
    [1.02]
    """
    away = np.abs(offsets)
    ratio = away / np.maximum(deviations, 1e-300)
    beyond = np.interp(ratio, _OFFSETS, _BEYOND)
    return np.asarray((away + beyond * deviations) / SURELY)

"""What noisy counts of labels say about rates: shares that add up, how far off they are, and which differ."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sulq.simplex import nearest_distribution

Floats = NDArray[np.float64]

PRIOR = 10.0
"""How many rows the shares of the node above count for, where counts have no noise. So few rows, or fewer,
do not say much about a rate."""
SURE = 1.96
"""How many standard deviations an error of 95 % is."""
TELLING = 3.0
"""How many standard deviations a branch must be off the rates of its node to be told from noise."""
ODDS = 1.2
"""By which factor the odds of a label must change, so that the change is worth showing."""


def shares_of(counts: Floats) -> Floats | None:
    """The shares that noisy counts state: not negative, adding up to 1. None where no rows are counted.

    >>> shares_of(np.array([90.0, 20.0, -10.0]))
    array([0.85, 0.15, 0.  ])
    """
    rows = float(counts.sum())
    return nearest_distribution(counts / rows) if rows > 0 else None


def drawn_to(above: Floats, counts: Floats, noise: float, stated: Floats | None = None) -> Floats:
    """The shares of the labels in a node: those that its counts state, drawn to those in the node above.

    The shares above count for `PRIOR` rows where there is no noise. With noise they count for more, by the
    factor by which noise adds to the variance that rows drawn at random have by themselves. A node with the
    same rows as the node above has the same shares.

    Args:
        above: the shares of the labels in the node above.
        counts: how many rows have each label, noise and all.
        noise: one standard deviation of the noise in each of the counts.
        stated: the shares that the counts above state; by default `above` itself.

    >>> drawn_to(np.array([0.5, 0.5]), np.array([90.0, 10.0]), 0.0).round(3)
    array([0.864, 0.136])
    >>> drawn_to(np.array([0.5, 0.5]), np.array([90.0, 10.0]), 20.0).round(3)
    array([0.608, 0.392])
    >>> drawn_to(np.array([0.5, 0.5]), np.array([-3.0, 1.0]), 20.0)
    array([0.5, 0.5])
    """
    here, rows = shares_of(counts), float(counts.sum())
    if here is None:
        return above
    before = above if stated is None else stated
    middle = (here * rows + before * PRIOR) / (rows + PRIOR)
    chance = rows * float((middle * (1 - middle)).sum())
    weight = PRIOR * (1 + _spread(middle, noise) / chance) if chance > 0 else PRIOR
    return nearest_distribution(above + rows / (rows + weight) * (here - before))


def error_of(share: float, rows: float, labels: int, noise: float) -> float:
    """How far off a share is at most, but for a chance of 5 %, by the noise alone.

    Args:
        share: the share of one label.
        rows: how many rows there are.
        labels: how many labels there are.
        noise: one standard deviation of the noise in the count of each label.

    >>> round(error_of(0.9, 1000.0, 2, 10.0), 3), error_of(0.9, 0.0, 2, 10.0), error_of(0.9, 5.0, 2, 0.0)
    (0.018, 1.0, 0.0)
    """
    if noise == 0:
        return 0.0
    spread = noise * math.sqrt((1 - share) ** 2 + (labels - 1) * share**2)
    return min(1.0, SURE * spread / rows) if rows > 0 else 1.0


def telling(branches: Sequence[Floats], noises: Sequence[float]) -> bool:
    """Whether the rates in some branch of a node differ from the node's by more than chance and noise.

    Args:
        branches: how many rows have each label, in each branch.
        noises: one standard deviation of the noise in each of these counts, by branch.

    >>> telling([np.array([900.0, 100.0]), np.array([700.0, 300.0])], [5.0, 5.0])
    True
    >>> telling([np.array([900.0, 100.0]), np.array([700.0, 300.0])], [200.0, 200.0])
    False
    """
    labels = len(branches[0])
    even = np.full(labels, 1 / labels)
    node = drawn_to(even, np.sum(branches, axis=0), math.hypot(*noises))
    for counts, noise in zip(branches, noises, strict=True):
        rows = max(0.0, float(counts.sum()))
        spread = np.sqrt(rows * node * (1 - node) + noise**2 * (1 - 2 * node + labels * node**2))
        beyond = np.abs(counts - counts.sum() * node) > TELLING * spread
        odds = _odds(drawn_to(node, counts, noise)) / _odds(node)
        if (beyond & (np.maximum(odds, 1 / odds) >= ODDS)).any():
            return True
    return False


def leading(shares: Floats, label: int) -> Floats:
    """The shares, where a label has the largest: if it has not, it is raised to the largest.

    >>> leading(np.array([0.4, 0.35, 0.25]), 2).round(3)
    array([0.348, 0.304, 0.348])
    """
    if int(shares.argmax()) == label:
        return shares
    raised = shares.copy()
    raised[label] = shares.max() * (1 + 1e-9)
    return np.asarray(raised / raised.sum())


def _spread(shares: Floats, noise: float) -> float:
    """The variance that noise adds to the counts, seen from the shares."""
    return noise**2 * float((1 - 2 * shares + shares.size * shares**2).sum())


def _odds(shares: Floats) -> Floats:
    inside = np.clip(shares, 1e-6, 1 - 1e-6)
    return np.asarray(inside / (1 - inside))

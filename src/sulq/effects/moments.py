"""Weights of coordinates, made of noisy second moments and noisy gradients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sulq.effects.estimate import SHIFT, Estimate, Gradient, Spread
from sulq.effects.layout import Floats, Layout

ABOUT = 0.5
"""No variance is less than this part of what a first look showed."""
FLOOR = 1.0
"""No direction has less variance than this part of what noise alone could make."""
SMALLEST = 1e-4
"""No direction has less than this part of the variance that independent coordinates would give it."""
REPEATS = 3
LARGEST = 64.0
"""No weight is larger."""
USUAL, USUAL_APART = 0.05, 0.05
"""The usual variance of what a number adds, and of what a value of a category adds."""


@dataclass(frozen=True)
class Moments:
    """Second moments, repaired.

    Args:
        matrix: the sums of products of coordinates.
        noise: the variance of the noise in a sum.
        asked: the same as they were answered, noise and all.
    """

    matrix: Floats
    noise: float
    asked: Floats


def repaired(triangle: Floats, noise: float, expected: Floats) -> Moments:
    """Second moments from a noisy upper triangle: symmetric, positive, and shrunk as far as noise asks for.

    Correlations are multiplied by how much of them noise does not explain. Then no direction has less than
    noise alone could make.

    Args:
        triangle: the sums of products, each pair of coordinates once.
        noise: one standard deviation of the noise in each.
        expected: about the sum of the square of each coordinate.

    >>> repaired(np.array([4.0, 1.0, 9.0]), 0.0, np.array([4.0, 9.0])).matrix.round(3).tolist()
    [[4.0, 1.0], [1.0, 9.0]]
    """
    width = len(expected)
    matrix = np.zeros((width, width))
    matrix[np.triu_indices(width)] = triangle
    matrix = matrix + np.triu(matrix, 1).T
    asked, diagonal = matrix, np.diag(matrix)
    if noise > 0:
        # Too large a variance makes for small weights, too small a variance for wild ones.
        diagonal = np.maximum(diagonal, np.maximum(ABOUT * expected, noise))
    root = np.sqrt(np.maximum(diagonal, np.maximum(SMALLEST * expected, 1e-9)))
    correlations, off = matrix / np.outer(root, root), noise / np.outer(root, root)
    beside = ~np.eye(width, dtype=bool)
    measured, by_noise = float((correlations[beside] ** 2).sum()), float((off[beside] ** 2).sum())
    kept = max(0.0, 1 - by_noise / measured) if measured > 0 else 0.0
    correlations = np.where(beside, kept * correlations, 1.0)
    sizes, directions = np.linalg.eigh(correlations)
    least = SMALLEST + FLOOR * min(1.0, kept * float(np.sqrt((off**2).mean() * width)))
    correlations = (directions * sizes.clip(min=least)) @ directions.T
    return Moments(np.asarray(correlations * np.outer(root, root)), noise**2, asked)


def unknown(
    moments: Moments, blocks: Sequence[slice], shares: Sequence[Floats | None], variances: Floats
) -> Estimate:
    """The estimate before anything is known about the outcome: all weights are 0.

    Args:
        moments: the second moments of the coordinates, the first of which is 1.
        blocks: where the coordinates of each attribute are.
        shares: the part of rows that has each value of a category; for numbers None.
        variances: about the variance of each coordinate but the first.
    """
    spreads = [Spread(slice(0, 1), np.ones((1, 1)), SHIFT, SHIFT)]
    for block, share in zip(blocks, shares, strict=True):
        if share is None:
            scale = np.array([[1 / max(1e-6, float(variances[block.start - 1]))]])
            spreads.append(Spread(block, scale, USUAL, USUAL))
        else:
            centred = np.eye(len(share)) - share
            spreads.append(Spread(block, centred @ centred.T, USUAL_APART, USUAL_APART))
    width = len(moments.matrix)
    flat, nowhere = np.zeros(width), np.zeros((0, 0))
    layout = Layout((width,), (False,))
    return Estimate(layout, flat, nowhere, flat, moments.matrix, 1.0, tuple(spreads), (), flat, nowhere)


def given(estimate: Estimate, moments: Moments, scale: float, gradient: Gradient) -> Estimate:
    """The estimate once one more gradient is known.

    What is off in the second moments makes older gradients wrong by as much as the weights have moved since.

    Args:
        estimate: the estimate so far.
        moments: the second moments.
        scale: how much a row counts in the curvature.
        gradient: the gradient.
    """
    known = (*estimate.gradients, gradient)
    began = replace(estimate, curvature=scale * moments.matrix)
    after, effects = began, estimate.effects
    for _ in range(REPEATS):
        *older, last = _doubted(known, moments, scale, effects)
        after = replace(began, gradients=tuple(older)).given(last)
        effects = after.effects
    return replace(after, gradients=known)


def _doubted(
    gradients: Sequence[Gradient], moments: Moments, scale: float, effects: Floats
) -> list[Gradient]:
    """Gradients whose noise has in it what is off in the second moments, on the way to the effects."""
    wrong = scale**2 * moments.noise
    return [
        replace(each, noise=each.noise + wrong * float(((effects - each.at) ** 2).sum()))
        for each in gradients
    ]

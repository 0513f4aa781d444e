"""Weights of coordinates, made of noisy second moments and noisy gradients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sulq.effects.estimate import SHIFT, STALE, TINY, Estimate, Gradient, Spread
from sulq.effects.layout import Floats, Layout
from sulq.effects.solving import solved

ABOUT = 0.5
"""No variance is less than this part of what a first look showed."""
FLOOR = 1.0
"""No direction has less variance than this part of what noise alone could make."""
SMALLEST = 1e-4
"""No direction has less than this part of the variance that independent coordinates would give it."""
REPEATS = 3
AGAIN = 0.5
"""For error bars, another step may go on by this part of the last one."""
LARGEST, DOUBT = 64.0, 2.0
"""No weight is larger, and no variance is less by more than so many standard deviations of noise."""
NARROWINGS = 30
"""How often error bars are made narrower by what they say themselves."""
SURELY = 1.96
"""So many standard deviations are 95 % of a bell curve."""
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


def deviations(
    estimate: Estimate, moments: Moments, scale: float, to: Floats, curved: bool = False
) -> Floats:
    """One standard deviation of what noise does to each of some sums of weights.

    Exact weights w solve M·w = g. With noisy answers about M and g, M̃·w − g̃ is noise of known size,
    whatever M is (Anderson and Rubin). That says how far off w can be, once it is known how large w is: what
    noise in M does grows with w. So the first guess is that weights are as large as they may be at all, and
    it is narrowed while the answers leave less. Directions that noise hides leave as much as before. What was
    shrunk away is part of the error.

    Args:
        estimate: the estimate.
        moments: the second moments.
        scale: how much a row counts in the curvature.
        to: the sums, a row of coefficients for each.
        curved: whether the curvature changes on the way, so that gradients from further away say less.
    """
    noises = np.array([each.variance for each in estimate.gradients])
    if not noises.any():
        return np.zeros(len(to))
    wrong, rounding = scale**2 * moments.noise, TINY * (1 + scale * np.diag(moments.matrix).mean())
    sizes, directions = np.linalg.eigh(moments.asked)
    surely = sizes > _longest(sizes, moments.noise)
    h = scale * (directions * np.where(surely, sizes, 0.0)) @ directions.T
    places = np.array([each.at for each in estimate.gradients])
    seen = np.array([each.stretched for each in estimate.gradients]) @ (directions * surely) @ directions.T
    prior = left = _widest(estimate, moments)
    middle = np.zeros(len(h))
    for _ in range(NARROWINGS):
        outdated = STALE * curved * ((middle - places) @ h) ** 2
        doubted = noises + outdated.mean(axis=1, keepdims=True)
        counting = _counting(doubted.mean(axis=1), wrong, places, middle)
        away = middle - counting @ places
        square = float(away @ away + np.trace(left))
        error = np.diag(counting**2 @ doubted + rounding + wrong * square)
        gain = solved(h @ prior @ h + error, h @ prior).T
        left, middle = prior - gain @ h @ prior, gain @ (counting @ (seen + places @ h))
    variances = np.einsum("ij,jk,ik->i", to, left, to).clip(min=0.0)
    # As far as the last step went, another one might go again in part.
    step = to @ (estimate.effects - estimate.gradients[-1].at)
    shrunk = np.abs(to @ (estimate.effects - middle))
    return np.asarray(np.sqrt(variances + (AGAIN * step) ** 2) + shrunk / SURELY)


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

    What a coordinate adds varies as much as the outcome, whose variance is 1. Its own variance may be as
    small as noise lets it be, and weights are larger then.
    """
    prior = np.zeros_like(estimate.curvature)
    for spread in estimate.spreads:
        prior[spread.part, spread.part] += spread.shape
    rows = float(moments.matrix[0, 0])
    means = moments.asked[0] / rows
    doubt = DOUBT * moments.noise**0.5 * (1 + 2 * np.abs(means))
    least = (np.diag(moments.asked) - rows * means**2 - doubt).clip(min=rows / LARGEST**2)
    numbers = [spread.part.start for spread in estimate.spreads[1:] if spread.shape.size == 1]
    prior[numbers, numbers] = np.maximum(prior[numbers, numbers], rows / least[numbers])
    return prior


def _counting(noises: Floats, wrong: float, places: Floats, middle: Floats) -> Floats:
    """How much each gradient counts, such that all together have the least error.

    Args:
        noises: the variance of the noise in each.
        wrong: the variance of the noise in the curvature.
        places: where each was asked for.
        middle: about where the weights are.
    """
    many = len(noises)
    system = np.ones((many + 1, many + 1))
    system[:many, :many] = np.diag(noises + TINY) + wrong * places @ places.T
    system[many, many] = 0.0
    right = np.append(wrong * places @ middle, 1.0)
    return np.asarray(np.linalg.lstsq(system, right, rcond=None)[0][:many])

"""Which noise a sum gets under pure ε: for each number by itself, or for whole vectors if that is narrower.

Laplace noise of scale b in every number costs Δ₁/b, with Δ₁ the 1-norm of what one person moves. Spherical
noise as wide, √2·b in every number, has a scale of b/r with r = √((w + 1)/2) for vectors of w numbers
(`spherical.py`). It costs r·Δ₂/b, with Δ₂ the 2-norms of what one person moves, added up over the groups. So
the cheaper one is that with the smaller of Δ₁ and r·Δ₂, whatever ε is and whatever else is in the round; and
if r·Δ₂ stands in the place of Δ₁, all of the accounting stays as it is.

r is an exchange rate: it may be rounded, since the same number is used for the cost and for the noise.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from sulq.privacy.noise import DiscreteLaplace
from sulq.privacy.ranges import LOWEST
from sulq.privacy.spherical import SphericalLaplace
from sulq.privacy.terms import SumFacts

PureNoise = DiscreteLaplace | SphericalLaplace


def rate(width: int) -> Fraction:
    """r for vectors of so many numbers, rounded.

    >>> rate(1), round(float(rate(7)), 6)
    (Fraction(1, 1), 2.0)
    """
    return Fraction(math.isqrt((width + 1) << 63), 1 << 32)


def in_vectors(facts: SumFacts) -> SumFacts:
    """The facts of a sum with r·Δ₂ in the place of Δ₁, if that is smaller.

    Args:
        facts: what is public about the sum.
    """
    moved = facts.vectors
    if moved is None or moved.moves * rate(moved.width) >= facts.moves1:
        return facts
    shared, r = facts.shared, rate(moved.width)
    if shared is not None:
        inside, alone = (moved.inside * r, shared.inside[1]), (moved.alone * r, shared.alone[1])
        shared = replace(shared, inside=inside, alone=alone)
    return replace(facts, moves1=moved.moves * r, shared=shared, block=moved.width)


def noise_of(block: int, scale: Fraction) -> PureNoise:
    """The noise that is as wide as Laplace noise of this scale, in so many numbers together.

    Args:
        block: how many numbers get their noise together, as `SumFacts.block` says it.
        scale: the scale, in steps of the grid.
    """
    if block == 1:
        return DiscreteLaplace(max(LOWEST, scale))
    return SphericalLaplace(max(LOWEST, scale / rate(block)), block)


def epsilon_of(noise: PureNoise, moves: Fraction) -> Fraction:
    """What noise costs where one person moves Δ₁, or r·Δ₂, so far, in steps of the grid.

    Args:
        noise: the noise.
        moves: how far one person moves the sum, as `in_vectors` says it.
    """
    return noise.epsilon(moves if isinstance(noise, DiscreteLaplace) else moves / rate(noise.width))

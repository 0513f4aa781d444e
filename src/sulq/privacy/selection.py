"""One candidate out of many, chosen privately by its score, with exactly the law that is claimed.

A candidate whose score is a gap below the best has a coin of bias exp(−γ·gap). Both mechanisms go through
the candidates in random order until a coin comes up heads (McKenna and Sheldon, "Permute-and-Flip: A New
Mechanism for Differentially Private Selection", 2020), and differ in one word:

- the **exponential mechanism** draws candidates *with* replacement. That is rejection sampling, so a
  candidate is chosen with probability proportional to exp(−γ·gap);
- **permute-and-flip** draws them *without*. The order does not depend on the coins, so the first heads in it
  is equally likely to be any of the heads: toss every coin once, then choose uniformly among the heads. The
  best candidate's coin is always one of them.

**The rate γ is ε/R**, where R bounds how far the moves of two scores between neighbours can differ: 2Δ if
each score moves by at most Δ, but Δ if they all move in one direction (`monotone`), as counts do when a row
is added or removed. The laws depend on gaps only, so the same number can be added to all scores of one
neighbour, and we may say: every score moves up, by at most R. Then the weights w = exp(γ·score) grow by
factors from 1 to e^ε.

- The exponential mechanism chooses i with probability wᵢ/Σwⱼ. The numerator grows by a factor from 1 to e^ε,
  and so does the denominator.
- Permute-and-flip chooses i with probability pᵢ·E[1/(1 + K)], where pⱼ = wⱼ/max w are the biases and K is the
  number of heads among the others. 1/(1 + K) is the integral of (1 − u)^K over 0 < u < 1, so this is
  pᵢ·∫ Π(1 − u·pⱼ) du, the product over j ≠ i; and with v = u/max w, it is

      wᵢ · ∫ [v·wᵢ ≤ 1] · Π max(0, 1 − v·wⱼ) dv        over all v > 0.

  The integral falls as weights grow, but if all grew by e^ε, it would fall by just e^ε (put v·e^ε for v). So
  it grows by a factor from e^-ε to 1, and wᵢ by one from 1 to e^ε.

So both are ε-differentially private (the first is by McSherry and Talwar, "Mechanism Design via Differential
Privacy", 2007). Everything is integers and exact coins: no weight is ever computed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.numbers import Numeric, rational
from sulq.privacy.coins import LARGEST_SCALE, arithmetic, decimal, exp, reaches, uniform
from sulq.privacy.composition import cost_of_pure
from sulq.privacy.concentrated import rho_of_exponential

Scores: TypeAlias = NDArray[np.int64] | Sequence[int]


@dataclass(frozen=True, init=False)
class ExponentialMechanism:
    """Choose a candidate with probability proportional to exp(γ·score), γ = ε/2Δ, or ε/Δ if `monotone`.

    Under a ρ-budget it costs about a quarter of what permute-and-flip does. But how long `choose` takes
    depends on the scores: one batch of coins if many are near the best, 1.6 on average if none is.

    Args:
        epsilon: ε.
        sensitivity: Δ, how far a neighbour can move any single score, in units of the scores.
        monotone: whether between neighbours no two scores move in opposite directions.

    >>> mechanism = ExponentialMechanism(epsilon=2, sensitivity=1)
    >>> [round(p, 3) for p in mechanism.probabilities([5, 7, 7])]
    [0.063, 0.468, 0.468]
    >>> mechanism.choose([0, 1000, 0])
    1
    >>> mechanism.epsilon, mechanism.rho(printed=True), mechanism.radius(beta=0.05, candidates=1000)
    (Fraction(2, 1), Fraction(1, 2), 9)
    >>> f"{float(mechanism.rho()):.4f}"
    '0.4745'
    """

    epsilon: Fraction
    sensitivity: Fraction
    monotone: bool

    def __init__(self, epsilon: Numeric, sensitivity: Numeric, monotone: bool = False) -> None:
        _set_up(self, epsilon, sensitivity, monotone)

    def choose(self, scores: Scores) -> int:
        """The index of the chosen candidate."""
        gaps = _gaps(scores)
        # The best accepts whenever it is drawn, so a batch of n fails with probability (1 − 1/n)^n < 1/e.
        while True:
            drawn = uniform(gaps.size, gaps.size)
            accepted = np.flatnonzero(reaches(_scale(self), gaps[drawn]))
            if accepted.size:
                return int(drawn[accepted[0]])

    def probabilities(self, scores: Scores) -> list[float]:
        """The probability of each candidate."""
        with arithmetic():
            biases = _biases(self, scores)
            total = sum(biases)
            return [float(bias / total) for bias in biases]

    def rho(self, printed: bool = False) -> Fraction:
        """The ρ it costs: see `sulq.privacy.concentrated`.

        Args:
            printed: take ε²/8, as Cesar and Rogers, "Bounding, Concentrating, and Truncating", 2021.

        Why ε²/8: the privacy loss L = ln(P′/P) at i is γ·(the move of score i), less a constant, so it lies
        in an interval of length γ·R = ε. Let c(t) be the logarithm of the mean of e^tL under P. Its second
        derivative is the variance of L under a tilted law, at most ε²/4, and c(0) = c(1) = 0. So
        c(α) ≤ α(α − 1)·ε²/8, and the Rényi divergence of order α, c(α)/(α − 1), is at most α·ε²/8.
        """
        return self.epsilon**2 / 8 if printed else rho_of_exponential(self.epsilon)

    def radius(self, beta: Numeric, candidates: int) -> int:
        """How far below the best the chosen score may be, but for a chance of `beta`."""
        return _radius(self, beta, candidates)


@dataclass(frozen=True, init=False)
class PermuteAndFlip:
    """Go through the candidates in random order and choose the first whose coin, exp(−γ·gap), shows heads.

    The parameters are those of `ExponentialMechanism`, and so is γ. The expected score is never lower, and
    the expected gap down to a half (McKenna and Sheldon, 2020). `choose` tosses a coin for every candidate,
    whatever the scores are.

    >>> mechanism = PermuteAndFlip(epsilon=2, sensitivity=1)
    >>> [round(p, 3) for p in mechanism.probabilities([5, 7, 7])]
    [0.045, 0.477, 0.477]
    >>> mechanism.choose([0, 1000, 0])
    1
    >>> mechanism.epsilon, mechanism.rho(printed=True), mechanism.radius(beta=0.05, candidates=1000)
    (Fraction(2, 1), Fraction(2, 1), 9)
    >>> f"{float(mechanism.rho()):.4f}"
    '1.5232'
    """

    epsilon: Fraction
    sensitivity: Fraction
    monotone: bool

    def __init__(self, epsilon: Numeric, sensitivity: Numeric, monotone: bool = False) -> None:
        _set_up(self, epsilon, sensitivity, monotone)

    def choose(self, scores: Scores) -> int:
        """The index of the chosen candidate."""
        heads = np.flatnonzero(reaches(_scale(self), _gaps(scores)))
        return int(heads[uniform(heads.size, 1)[0]])

    def probabilities(self, scores: Scores) -> list[float]:
        """The probability of each candidate; the work is cubic in their number.

        pᵢ·E[1/(1 + K)], with the law of K, the number of heads among the others, built up coin by coin.
        """
        with arithmetic():
            biases = _biases(self, scores)
            chances = []
            for i, bias in enumerate(biases):
                law = _number_of_heads(biases[:i] + biases[i + 1 :])
                chances.append(float(bias * sum(chance / (1 + k) for k, chance in enumerate(law))))
            return chances

    def rho(self, printed: bool = False) -> Fraction:
        """The ρ it costs, ε·tanh(ε/2), as for any ε-differentially private mechanism.

        Args:
            printed: take ε²/2, as Bun and Steinke, 2016.
        """
        return cost_of_pure(self.epsilon, "rho", printed)

    def radius(self, beta: Numeric, candidates: int) -> int:
        """How far below the best the chosen score may be, but for a chance of `beta`."""
        return _radius(self, beta, candidates)


Selection: TypeAlias = ExponentialMechanism | PermuteAndFlip


def _set_up(mechanism: Selection, epsilon: Numeric, sensitivity: Numeric, monotone: bool) -> None:
    object.__setattr__(mechanism, "epsilon", rational("epsilon", epsilon))
    object.__setattr__(mechanism, "sensitivity", rational("sensitivity", sensitivity))
    object.__setattr__(mechanism, "monotone", monotone)
    if mechanism.sensitivity / mechanism.epsilon > LARGEST_SCALE / 2:
        limit = f"{float(LARGEST_SCALE / 2):.3g}"
        raise QueryError(
            f"sensitivity/epsilon must be at most {limit} for an exact choice, got {sensitivity}/{epsilon}"
        )


def _scale(mechanism: Selection) -> Fraction:
    """1/γ, in units of the scores."""
    return (1 if mechanism.monotone else 2) * mechanism.sensitivity / mechanism.epsilon


def _radius(mechanism: Selection, beta: Numeric, candidates: int) -> int:
    """The smallest r with (candidates − 1)·exp(−γ(r + 1)) ≤ beta.

    A candidate with a gap of g is chosen with probability at most exp(−γg): in permute-and-flip its coin must
    show heads, in the exponential mechanism that is its weight over the best one's. Gaps are integers, and
    the best candidate has none. It is less than McSherry and Talwar's ln(candidates/beta)/γ.
    """
    rare = rational("beta", beta)
    if rare >= 1:
        raise QueryError(f"beta must be less than 1, got {beta}")
    if candidates < 1:
        raise QueryError(f"there must be at least one candidate, got {candidates}")
    if candidates == 1:
        return 0
    with arithmetic():
        gap = decimal((int(candidates) - 1) / rare).ln() * decimal(_scale(mechanism))
        return max(0, math.ceil(gap - 1 + Decimal("1e-30")))


def _gaps(scores: Scores) -> NDArray[np.uint64]:
    """How far each score is below the best: less than 2^64, so differences modulo 2^64 are exact."""
    array = np.asarray(scores)
    if array.size == 0 or array.ndim != 1:
        raise QueryError("choosing needs a list of scores, one for each of at least one candidate")
    if array.dtype.kind not in "iu":
        raise QueryError(f"scores must be integers of at most 64 bits, got {array.dtype}")
    gaps: NDArray[np.uint64] = array.max().astype(np.uint64) - array.astype(np.uint64)
    return gaps


def _biases(mechanism: Selection, scores: Scores) -> list[Decimal]:
    """exp(−γ·gap) for each candidate."""
    return [exp(-gap / _scale(mechanism)) for gap in _gaps(scores).tolist()]


def _number_of_heads(biases: list[Decimal]) -> list[Decimal]:
    """The law of the number of heads when each of these coins is tossed once."""
    law = [Decimal(1)]
    for p in biases:
        law = [
            p * more + (1 - p) * same
            for more, same in zip([Decimal(0), *law], [*law, Decimal(0)], strict=True)
        ]
    return law

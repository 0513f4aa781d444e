"""What a promise means to one person: how sure somebody can get of a guess about them."""

from __future__ import annotations

import math

from sulq.privacy.budget import Budget, PureDP

GUESS = 0.1
"""How likely something was before, in the example of what the promise means."""
RARE = 1e-6
"""But for this chance: what a budget in ρ promises holds for all answers but the rarest."""


def growth(budget: Budget) -> float:
    """The odds of a guess about a person grow by a factor of at most e to this power.

    Of ρ that holds but for a chance of a millionth: the logarithm Z of the factor has E exp((α − 1)Z) ≤
    exp((α − 1)αρ) for every α > 1, so by Markov's inequality Z exceeds ρ + 2√(ρ·ln(1/chance)) no more often
    than that. An (ε, δ) is kept as a ρ, and here it is that ρ which counts.

    >>> growth(PureDP(2))
    2.0
    >>> from sulq.privacy.budget import ZCDP
    >>> round(growth(ZCDP("0.1")), 2)
    2.45
    """
    if isinstance(budget, PureDP):
        return float(budget.epsilon)
    rho = float(budget.total)
    return rho + 2 * math.sqrt(rho * math.log(1 / RARE))


def surest(budget: Budget, before: float = GUESS) -> float:
    """How sure of a guess about a person somebody can get, rounded up to a percent.

    Args:
        budget: what is promised.
        before: how sure they were.

    >>> surest(PureDP(1)), surest(PureDP("0.1")), surest(PureDP(1000))
    (0.24, 0.11, 1.0)
    """
    return math.ceil(100 / (1 + (1 - before) / before * math.exp(-growth(budget)))) / 100

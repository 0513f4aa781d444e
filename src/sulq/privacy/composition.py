"""What mechanisms cost, alone and together, in the units that budgets are spent in."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Literal, TypeAlias

from sulq.privacy.concentrated import rho_of_pure

BudgetUnit: TypeAlias = Literal["epsilon", "rho"]


def cost_of_pure(epsilon: Fraction, unit: BudgetUnit, printed: bool = False) -> Fraction:
    """What an ε-differentially private mechanism costs in the unit of a budget.

    In ρ that is ε·tanh(ε/2), rounded up: see `sulq.privacy.concentrated`.

    Args:
        epsilon: ε.
        unit: "epsilon" or "rho".
        printed: take ε²/2, as Bun and Steinke, "Concentrated Differential Privacy", 2016, Proposition 1.4.

    >>> cost_of_pure(Fraction(1, 2), "epsilon"), cost_of_pure(Fraction(1, 2), "rho", printed=True)
    (Fraction(1, 2), Fraction(1, 8))
    >>> f"{float(cost_of_pure(Fraction(1, 2), 'rho')):.4f}"
    '0.1225'
    """
    if unit == "epsilon":
        return epsilon
    return epsilon**2 / 2 if printed else rho_of_pure(epsilon)


def sequential(costs: Iterable[Fraction]) -> Fraction:
    """The cost of mechanisms that all see the same rows: the sum, in ε as in ρ.

    >>> sequential([Fraction(1, 3), Fraction(1, 6)])
    Fraction(1, 2)
    """
    return sum(costs, Fraction(0))


def parallel(costs: Iterable[Fraction]) -> Fraction:
    """The cost of mechanisms that see disjoint parts of the rows: the largest, in ε as in ρ.

    >>> parallel([Fraction(1, 3), Fraction(1, 6)])
    Fraction(1, 3)
    """
    return max(costs, default=Fraction(0))

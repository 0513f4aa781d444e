"""How much privacy there is to spend, in exact numbers: ten tenths make one.

A budget is held and charged in one unit, ε for pure differential privacy and ρ for zero-concentrated
differential privacy (zCDP). An (ε, δ) promise is kept by spending at most the ρ that implies it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from sulq.errors import SulqError
from sulq.numbers import Numeric, rational
from sulq.privacy.conversion import rho_of
from sulq.wire import entry, exact, members, reading

BudgetUnit: TypeAlias = Literal["epsilon", "rho"]


@dataclass(frozen=True, init=False)
class PureDP:
    """Pure ε-differential privacy: no output is more than e^ε times likelier on one of two neighbours.

    Args:
        epsilon: ε, a positive number. A text such as "0.1" or "1/3" is exact.

    >>> PureDP(0.5)
    PureDP(epsilon=Fraction(1, 2))
    >>> PureDP("1/3").describe()
    'ε = 1/3 (pure)'
    >>> sequential([Fraction(1, 10)] * 10) == PureDP(1).total
    True
    """

    epsilon: Fraction

    def __init__(self, epsilon: Numeric) -> None:
        object.__setattr__(self, "epsilon", rational("epsilon", epsilon))

    @property
    def unit(self) -> BudgetUnit:
        return "epsilon"

    @property
    def total(self) -> Fraction:
        """The whole budget in its unit."""
        return self.epsilon

    def describe(self) -> str:
        return f"ε = {_text(self.epsilon)} (pure)"

    @property
    def form(self) -> dict[str, Any]:
        """The budget as plain data; `budget_of` reads it back."""
        return {"is": "pure", "epsilon": str(self.epsilon)}


@dataclass(frozen=True, init=False)
class ZCDP:
    """ρ-zCDP: the Rényi divergence of order α between neighbours is at most αρ, for every α > 1.

    Args:
        rho: ρ, a positive number. A text such as "0.1" is exact.

    >>> ZCDP("0.1").describe()
    'ρ = 0.1 (zCDP)'
    >>> ZCDP("0.1").unit, ZCDP("0.1").total
    ('rho', Fraction(1, 10))
    """

    rho: Fraction

    def __init__(self, rho: Numeric) -> None:
        object.__setattr__(self, "rho", rational("rho", rho))

    @property
    def unit(self) -> BudgetUnit:
        return "rho"

    @property
    def total(self) -> Fraction:
        """The whole budget in its unit."""
        return self.rho

    def describe(self) -> str:
        return f"ρ = {_text(self.rho)} (zCDP)"

    @property
    def form(self) -> dict[str, Any]:
        """The budget as plain data; `budget_of` reads it back."""
        return {"is": "zcdp", "rho": str(self.rho)}


@dataclass(frozen=True, init=False)
class ApproxDP:
    """(ε, δ)-differential privacy, kept by spending no more than the largest ρ known to imply it.

    Args:
        epsilon: ε, a positive number.
        delta: δ, a positive number less than 1. A text such as "1e-6" is exact.

    >>> promise = ApproxDP(1, 1e-6)
    >>> promise.describe()
    '(ε, δ) = (1, 1e-06)'
    >>> promise.unit, f"{float(promise.total):.4f}"
    ('rho', '0.0244')
    """

    epsilon: Fraction
    delta: Fraction
    total: Fraction = field(repr=False, compare=False)
    """The whole budget in ρ, rounded down."""

    def __init__(self, epsilon: Numeric, delta: Numeric) -> None:
        object.__setattr__(self, "epsilon", rational("epsilon", epsilon))
        object.__setattr__(self, "delta", rational("delta", delta))
        object.__setattr__(self, "total", rho_of(self.epsilon, self.delta))

    @property
    def unit(self) -> BudgetUnit:
        return "rho"

    def describe(self) -> str:
        return f"(ε, δ) = ({_text(self.epsilon)}, {_text(self.delta)})"

    @property
    def form(self) -> dict[str, Any]:
        """The budget as plain data; `budget_of` reads it back."""
        return {"is": "approximate", "epsilon": str(self.epsilon), "delta": str(self.delta)}


Budget: TypeAlias = PureDP | ZCDP | ApproxDP


def budget(
    epsilon: Numeric | None = None, delta: Numeric | None = None, rho: Numeric | None = None
) -> Budget:
    """The budget that the keywords name: epsilon alone, rho alone, or epsilon with delta.

    There is no default: how much privacy to give up is for the data's owner to say.

    Args:
        epsilon: ε of a pure promise, or with `delta` of an (ε, δ) promise.
        delta: δ; it goes with `epsilon`.
        rho: ρ of a zCDP promise, alone.

    >>> budget(epsilon=1)
    PureDP(epsilon=Fraction(1, 1))
    >>> budget(epsilon=1, delta="1e-6")
    ApproxDP(epsilon=Fraction(1, 1), delta=Fraction(1, 1000000))
    >>> budget()
    Traceback (most recent call last):
    sulq.errors.SulqError: a budget is epsilon, or rho, or epsilon and delta; got nothing
    """
    if rho is not None and epsilon is None and delta is None:
        return ZCDP(rho)
    if epsilon is not None and rho is None:
        return PureDP(epsilon) if delta is None else ApproxDP(epsilon, delta)
    given = [
        name for name, value in (("epsilon", epsilon), ("delta", delta), ("rho", rho)) if value is not None
    ]
    raise SulqError(
        f"a budget is epsilon, or rho, or epsilon and delta; got {' and '.join(given) or 'nothing'}"
    )


def stated(
    given: Numeric | Budget | None, epsilon: Numeric | None, delta: Numeric | None, rho: Numeric | None
) -> tuple[Numeric | None, Numeric | None, Numeric | None]:
    """The numbers ε, δ and ρ of a budget that is given as one, or by these numbers; not both ways at once.

    Args:
        given: a budget; a number stands for `epsilon`.
        epsilon: ε, None if it is not stated.
        delta: δ, None if it is not stated.
        rho: ρ, None if it is not stated.

    >>> stated(PureDP(1), None, None, None)
    (Fraction(1, 1), None, None)
    >>> stated(None, 1, "1e-6", None)
    (1, '1e-6', None)
    >>> stated(PureDP(1), 1, None, None)
    Traceback (most recent call last):
    sulq.errors.SulqError: a budget is stated once: give ε = 1 (pure) alone, without epsilon
    """
    if given is None:
        return epsilon, delta, rho
    numbers = (("epsilon", epsilon), ("delta", delta), ("rho", rho))
    beside = [name for name, value in numbers if value is not None]
    if isinstance(given, Budget):
        if beside:
            raise SulqError(
                f"a budget is stated once: give {given.describe()} alone, without {' and '.join(beside)}"
            )
        if isinstance(given, ZCDP):
            return None, None, given.rho
        return given.epsilon, given.delta if isinstance(given, ApproxDP) else None, None
    if epsilon is not None:
        raise SulqError(f"epsilon is stated twice: {given!r} and {epsilon!r}; give it once")
    return given, delta, rho


def pure_epsilon(epsilon: Numeric | Budget) -> Fraction:
    """The ε of a promise that must be pure, given as a number or as a `PureDP`.

    >>> pure_epsilon("1/2"), pure_epsilon(PureDP(1))
    (Fraction(1, 2), Fraction(1, 1))
    >>> pure_epsilon(ZCDP("0.1"))
    Traceback (most recent call last):
    sulq.errors.SulqError: this promise is pure: give a number, or PureDP(…), and not ρ = 0.1 (zCDP)
    """
    if isinstance(epsilon, PureDP):
        return epsilon.epsilon
    if isinstance(epsilon, Budget):
        raise SulqError(f"this promise is pure: give a number, or PureDP(…), and not {epsilon.describe()}")
    return rational("epsilon", epsilon)


def budget_of(form: Any) -> Budget:
    """The budget with this form.

    >>> budget_of({"is": "pure", "epsilon": "1/3"})
    PureDP(epsilon=Fraction(1, 3))
    >>> budget_of({"is": "renyi"})
    Traceback (most recent call last):
    sulq.errors.QueryError: 'renyi' is not a known budget; known are approximate, pure, zcdp
    """
    with reading("a budget"):
        name = form.get("is") if isinstance(form, Mapping) else None
        names, make = entry(name, BUDGETS, "budget")
        given = members(form, f"the budget {name!r}", ["is", *names])
        return make(*[exact(given[each], each) for each in names])


def numbers_of(budget: Budget) -> tuple[Fraction | None, Fraction | None, Fraction | None]:
    """ε, δ and ρ of a budget, each None if the budget does not have it.

    >>> numbers_of(ApproxDP(1, "1/8")), numbers_of(ZCDP(1))
    ((Fraction(1, 1), Fraction(1, 8), None), (None, None, Fraction(1, 1)))
    """
    if isinstance(budget, ZCDP):
        return None, None, budget.rho
    return budget.epsilon, budget.delta if isinstance(budget, ApproxDP) else None, None


BUDGETS: dict[str, tuple[tuple[str, ...], Callable[..., Budget]]] = {
    "pure": (("epsilon",), PureDP),
    "zcdp": (("rho",), ZCDP),
    "approximate": (("epsilon", "delta"), ApproxDP),
}
"""For every budget, by its name: what its form has, and what is made of that."""


def cost_of_pure(epsilon: Fraction, unit: BudgetUnit) -> Fraction:
    """What an ε-differentially private mechanism costs in the unit of a budget.

    In ρ that is ε²/2: Bun and Steinke, "Concentrated Differential Privacy", 2016, Proposition 1.4.

    >>> cost_of_pure(Fraction(1, 2), "epsilon"), cost_of_pure(Fraction(1, 2), "rho")
    (Fraction(1, 2), Fraction(1, 8))
    """
    return epsilon if unit == "epsilon" else epsilon**2 / 2


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


def _text(value: Fraction) -> str:
    decimal = f"{float(value):.6g}"
    return str(value) if Fraction(decimal) != value and len(str(value)) <= 12 else decimal

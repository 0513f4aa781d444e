"""How much privacy there is to spend, in exact numbers: ten tenths make one.

A budget is held and charged in one unit, ε for pure differential privacy and ρ for zero-concentrated
differential privacy (zCDP). An (ε, δ) promise is kept by spending at most a ρ that implies it, at the prices
of `sulq.privacy.prices`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias, get_args

from sulq.errors import QueryError, SulqError
from sulq.numbers import Numeric, rational
from sulq.privacy.composition import BudgetUnit
from sulq.privacy.prices import Accounting, Prices
from sulq.privacy.rounding import USUAL
from sulq.wire import entry, exact, members, reading

SMALLEST, SMALLEST_DELTA = "1e-50", "1e-300"
"""Shares of less are rounded down to nothing; of a smaller δ no float is left."""


@dataclass(frozen=True, init=False)
class PureDP:
    """Pure ε-differential privacy: no output is more than e^ε times likelier on one of two neighbours.

    Args:
        epsilon: ε, a positive number. A text such as "0.1" or "1/3" is exact.

    >>> PureDP(0.5)
    PureDP(epsilon=Fraction(1, 2))
    >>> PureDP("1/3").describe()
    'ε = 1/3 (pure)'
    >>> sum([Fraction(1, 10)] * 10) == PureDP(1).total
    True
    """

    epsilon: Fraction

    def __init__(self, epsilon: Numeric) -> None:
        object.__setattr__(self, "epsilon", _amount("epsilon", epsilon))

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
        object.__setattr__(self, "rho", _amount("rho", rho))

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

    @property
    def prices(self) -> Prices:
        """What is charged for what."""
        return Prices(self.rho)


@dataclass(frozen=True, init=False)
class ApproxDP:
    """(ε, δ)-differential privacy, kept by spending no more than a ρ that implies it.

    Args:
        epsilon: ε, a positive number.
        delta: δ, a positive number less than 1. A text such as "1e-6" is exact.
        accounting: how it is known that spending keeps the promise. "tight" accounts Gaussian noise exactly,
            and choices cost 10 % more. "gaussian" is the best for noise alone, and choices cost 57 % more.
            "zcdp" is the formula of Canonne, Kamath and Steinke, 2020. See `sulq.privacy.prices`.

    >>> promise = ApproxDP(1, 1e-6)
    >>> promise.describe()
    '(ε, δ) = (1, 1e-06)'
    >>> promise.unit, f"{float(promise.total):.4f}"
    ('rho', '0.0260')
    >>> [f"{float(ApproxDP(1, 1e-6, name).total):.4f}" for name in ("gaussian", "zcdp")]
    ['0.0280', '0.0244']
    """

    epsilon: Fraction
    delta: Fraction
    accounting: Accounting

    def __init__(self, epsilon: Numeric, delta: Numeric, accounting: Accounting = "tight") -> None:
        object.__setattr__(self, "epsilon", _amount("epsilon", epsilon))
        object.__setattr__(self, "delta", _amount("delta", delta, SMALLEST_DELTA))
        object.__setattr__(self, "accounting", accounting)
        if accounting not in get_args(Accounting):
            raise SulqError(f"accounting is one of {', '.join(get_args(Accounting))}, not {accounting!r}")
        if self.total * USUAL < 1:
            raise QueryError(f"no share of {self.describe()} buys an answer: take a larger epsilon or delta")

    @property
    def unit(self) -> BudgetUnit:
        return "rho"

    @property
    def prices(self) -> Prices:
        """What is charged for what."""
        return Prices.of(self.accounting, self.epsilon, self.delta)

    @property
    def total(self) -> Fraction:
        """The whole budget in ρ, rounded down."""
        return self.prices.total

    def describe(self) -> str:
        return f"(ε, δ) = ({_text(self.epsilon)}, {_text(self.delta)})"

    @property
    def form(self) -> dict[str, Any]:
        """The budget as plain data; `budget_of` reads it back. Without an accounting it is "zcdp"."""
        accounting = {} if self.accounting == "zcdp" else {"accounting": self.accounting}
        return {"is": "approximate", "epsilon": str(self.epsilon), "delta": str(self.delta)} | accounting


Budget: TypeAlias = PureDP | ZCDP | ApproxDP


def budget(
    epsilon: Numeric | None = None,
    delta: Numeric | None = None,
    rho: Numeric | None = None,
    accounting: Accounting | None = None,
) -> Budget:
    """The budget that the keywords name: epsilon alone, rho alone, or epsilon with delta.

    There is no default: how much privacy to give up is for the data's owner to say.

    Args:
        epsilon: ε of a pure promise, or with `delta` of an (ε, δ) promise.
        delta: δ; it goes with `epsilon`.
        rho: ρ of a zCDP promise, alone.
        accounting: how spending is accounted (see `ApproxDP`); it goes with `delta`. None for "tight".

    >>> budget(epsilon=1)
    PureDP(epsilon=Fraction(1, 1))
    >>> budget(epsilon=1, delta="1e-6")
    ApproxDP(epsilon=Fraction(1, 1), delta=Fraction(1, 1000000), accounting='tight')
    >>> budget()
    Traceback (most recent call last):
    sulq.errors.SulqError: a budget is epsilon, or rho, or epsilon and delta; got nothing
    """
    if accounting is not None and delta is None:
        raise SulqError("an accounting is for epsilon with delta: state both")
    if rho is not None and epsilon is None and delta is None:
        return ZCDP(rho)
    if epsilon is not None and rho is None:
        return PureDP(epsilon) if delta is None else ApproxDP(epsilon, delta, accounting or "tight")
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
    return PureDP(epsilon).epsilon


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
        if name == "approximate" and "accounting" in form:
            given = members(form, f"the budget {name!r}", ["is", *names, "accounting"])
            if given["accounting"] not in get_args(Accounting):
                raise SulqError(f"accounting is one of {', '.join(get_args(Accounting))}")
            numbers = [exact(given[each], each) for each in ("epsilon", "delta")]
            return ApproxDP(numbers[0], numbers[1], given["accounting"])
        given = members(form, f"the budget {name!r}", ["is", *names])
        return make(*[exact(given[each], each) for each in names])


BUDGETS: dict[str, tuple[tuple[str, ...], Callable[..., Budget]]] = {
    "pure": (("epsilon",), PureDP),
    "zcdp": (("rho",), ZCDP),
    "approximate": (("epsilon", "delta"), partial(ApproxDP, accounting="zcdp")),
}
"""For every budget, by its name: what its form has, and what is made of that."""


def _amount(name: str, value: Numeric, least: str = SMALLEST) -> Fraction:
    number = rational(name, value)
    if number < Fraction(least):
        raise QueryError(f"{name} must be at least {least}, got {value!r}")
    return number


def _text(value: Fraction) -> str:
    decimal = f"{float(value):.6g}"
    return str(value) if Fraction(decimal) != value and len(str(value)) <= 12 else decimal

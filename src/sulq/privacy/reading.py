"""Reading calibrations back from their forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sulq.numbers import rational
from sulq.privacy.budget import budget_of
from sulq.privacy.calibration import Calibration, Gaussian, Laplace
from sulq.privacy.sulq import SulqGaussian, SulqLaplace
from sulq.wire import entry, exact, members, reading


def calibration_of(form: Any) -> Calibration:
    """The calibration with this form.

    >>> calibration_of({"is": "laplace", "budget": {"is": "pure", "epsilon": "1"}})
    Laplace(budget=PureDP(epsilon=Fraction(1, 1)))
    >>> calibration_of({"is": "cauchy"})
    Traceback (most recent call last):
    sulq.errors.QueryError: 'cauchy' is not a known calibration; known are gaussian, laplace, ...
    """
    with reading("a calibration"):
        name = form.get("is") if isinstance(form, Mapping) else None
        names, make = entry(name, CALIBRATIONS, "calibration")
        if name == "sulq gaussian" and "gamma" in form:  # written where it is stated: Theorem 4
            names = (*names, "gamma")
        given = members(form, f"the calibration {name!r}", ["is", *names])
        return make(*[_value(each, given[each]) for each in names])


CALIBRATIONS: dict[str, tuple[tuple[str, ...], Callable[..., Calibration]]] = {
    "laplace": (("budget",), Laplace),
    "gaussian": (("budget",), Gaussian),
    "sulq laplace": (("epsilon", "queries"), SulqLaplace),
    "sulq gaussian": (("epsilon", "delta", "queries"), SulqGaussian),
}
"""For every calibration, by its name: what its form has, and what is made of that."""


def _value(name: str, given: Any) -> Any:
    """A setting: a budget, a number of queries, which the calibration checks, or an exact number."""
    if name == "budget":
        return budget_of(given)
    return given if name == "queries" else rational(name, exact(given, name))

"""Which calibration keeps a promise: the tight one, or the SuLQ paper's own."""

from __future__ import annotations

from typing import get_args

from sulq.errors import QueryError
from sulq.numbers import Numeric
from sulq.privacy.budget import Budget, PureDP, budget
from sulq.privacy.calibration import Calibration, Gaussian, Laplace
from sulq.privacy.prices import Accounting
from sulq.privacy.sulq import SulqGaussian, SulqLaplace

PRINTED = ("sulq-gaussian", "sulq-laplace")


def tight(given: Budget) -> Calibration:
    """The calibration of a budget: Laplace noise for pure ε, Gaussian noise for everything else.

    Args:
        given: the budget; an (ε, δ) budget says how spending is accounted.

    >>> tight(PureDP(1)).describe()
    'ε = 1 (pure)'
    """
    return Laplace(given) if isinstance(given, PureDP) else Gaussian(given)


def calibrated(
    epsilon: Numeric | None,
    delta: Numeric | None,
    rho: Numeric | None,
    calibration: str,
    queries: int | None,
    gamma: Numeric | None = None,
) -> Calibration:
    """The calibration that keywords name.

    Args:
        epsilon: ε of the budget, as `sulq.privacy.budget.budget` takes it.
        delta: δ of the budget.
        rho: ρ of the budget.
        calibration: "tight", or with δ "gaussian" or "zcdp" (see `sulq.privacy.prices`), or one of the SuLQ
            paper's own, "sulq-gaussian" and "sulq-laplace".
        queries: how many queries there will be. The paper's own calibrations need the number beforehand.
        gamma: γ of the SuLQ paper's Theorem 4, for "sulq-gaussian"; None takes its Theorem 1.

    >>> calibrated(1, None, None, "tight", None).describe()
    'ε = 1 (pure)'
    """
    if gamma is not None and calibration != "sulq-gaussian":
        raise QueryError("gamma is of the SuLQ paper's Theorem 4: it goes with calibration='sulq-gaussian'")
    if calibration in get_args(Accounting):
        if queries is not None:
            raise QueryError("a number of queries is only for the SuLQ paper's calibrations")
        if calibration != "tight" and delta is None:
            raise QueryError(f"calibration={calibration!r} is for epsilon with delta: state both")
        [accounting] = [each for each in get_args(Accounting) if each == calibration]
        return tight(budget(epsilon, delta, rho, accounting if delta is not None else None))
    if calibration not in PRINTED:
        raise QueryError(
            "calibrations are 'tight', 'gaussian', 'zcdp' and 'sulq-gaussian' (with delta), 'sulq-laplace' "
            f"(without), not {calibration!r}"
        )
    if queries is None or epsilon is None or rho is not None:
        raise QueryError(f"{calibration} needs epsilon and the number of queries beforehand, and no rho")
    if (delta is None) != (calibration == "sulq-laplace"):
        how = "with delta: state both" if delta is None else "without delta: leave it out"
        raise QueryError(f"calibration={calibration!r} is for epsilon {how}")
    return SulqLaplace(epsilon, queries) if delta is None else SulqGaussian(epsilon, delta, queries, gamma)

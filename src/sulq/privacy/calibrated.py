"""Which calibration keeps a promise: the tight one, or the SuLQ paper's own."""

from __future__ import annotations

from sulq.errors import QueryError
from sulq.numbers import Numeric
from sulq.privacy.budget import PureDP, budget
from sulq.privacy.calibration import Calibration, Gaussian, Laplace
from sulq.privacy.sulq import SulqGaussian, SulqLaplace


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
        calibration: "tight", or one of the SuLQ paper's own, "sulq-gaussian" and "sulq-laplace".
        queries: how many queries there will be. The paper's own calibrations need the number beforehand.
        gamma: γ of the SuLQ paper's Theorem 4, for "sulq-gaussian"; None takes its Theorem 1.

    >>> calibrated(1, None, None, "tight", None).describe()
    'ε = 1 (pure)'
    """
    if gamma is not None and calibration != "sulq-gaussian":
        raise QueryError("gamma is of the SuLQ paper's Theorem 4: it goes with calibration='sulq-gaussian'")
    if calibration == "tight":
        if queries is not None:
            raise QueryError("a number of queries is only for the SuLQ paper's calibrations")
        given = budget(epsilon, delta, rho)
        return Laplace(given) if isinstance(given, PureDP) else Gaussian(given)
    if queries is None or epsilon is None or rho is not None:
        raise QueryError(f"{calibration} needs epsilon and the number of queries beforehand, and no rho")
    if calibration == "sulq-laplace" and delta is None:
        return SulqLaplace(epsilon, queries)
    if calibration == "sulq-gaussian" and delta is not None:
        return SulqGaussian(epsilon, delta, queries, gamma)
    raise QueryError(
        "calibrations are 'tight', 'sulq-gaussian' (with delta) and 'sulq-laplace' (without), "
        f"not {calibration!r}"
    )

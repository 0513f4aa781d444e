"""The SuLQ paper's emulation of statistical queries: ask the same again, and average the noise away."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from sulq.errors import BudgetError, QueryError
from sulq.numbers import Numeric, rational
from sulq.oracles.curator import Curator
from sulq.privacy.sulq import SulqGaussian, SulqLaplace
from sulq.queries.query import Query
from sulq.queries.rounds import Round
from sulq.talk.laws import Value

MOST = 2**60


def repetitions(
    calibration: SulqGaussian | SulqLaplace,
    rows: int,
    tolerance: Numeric,
    beta: Numeric,
    as_printed: bool = False,
) -> int:
    """How often to ask for the mean of values in [0, 1] so that it is within `tolerance`, but for `beta`.

    As printed (section 4.5): t ≥ R/τn², which makes τ the *variance* of the average. For the error to be at
    most τ with probability 1 − β, Chernoff's bound asks for t ≥ ln(2/β)/I, where I = (τn)²/2R for Gaussian
    noise of variance R, and for Laplace noise of scale R, with x = τn/R, I = max over s < 1 of
    s·x + ln(1 − s²), which is reached at s = (√(1 + x²) − 1)/x.

    >>> paper = SulqGaussian(epsilon=1, delta="1e-6", queries=100)
    >>> repetitions(paper, 10_000, tolerance=0.01, beta=0.05)
    201
    >>> repetitions(paper, 10_000, tolerance=0.01, beta=0.05, as_printed=True)
    1
    """
    tau, rare = rational("tolerance", tolerance), rational("beta", beta, most=1)
    if as_printed:
        return math.ceil(calibration.variance / (tau * rows**2))
    if isinstance(calibration, SulqGaussian):
        exponent = float((tau * rows) ** 2 / (2 * calibration.variance))
    else:
        x = float(tau * rows / calibration.scale)
        # (√(1 + x²) − 1)/x without the difference, of which nothing is left if x is small.
        s = x / (1 + math.hypot(1, x))
        exponent = s * x + math.log1p(-s * s)
    times = math.log(2 / rare) * (1 + 1e-9)
    if not exponent > times / MOST:
        raise QueryError(f"a tolerance of {float(tau):g} takes too many repetitions: allow a larger one")
    return math.ceil(times / exponent)


def emulated(
    curator: Curator,
    query: Query,
    tolerance: Numeric,
    beta: Numeric,
    run: str = "main",
    as_printed: bool = False,
) -> Value:
    """The answer to one statistical query under the SuLQ paper's calibration, by repetition.

    The query is repeated as often as `repetitions` says, every time at the price of a query, and the answers
    are averaged. The direct way is the tight calibration: one query with a `tolerance` and a `beta`.

    Args:
        curator: a curator with one of the paper's calibrations.
        query: the mean of a single number over all rows.
        tolerance: how far off the average may be.
        beta: the chance that it is further off.
        run: the name of the run.
        as_printed: repeat it as often as the paper prints.

    >>> import sulq
    >>> people = sulq.open({"sick": [True, False] * 5000}, {"sick": sulq.Boolean()})
    >>> curator = people.curator(epsilon=1, delta="1e-6", calibration="sulq-gaussian", queries=500)
    >>> 0.4 < emulated(curator, sulq.mean("sick"), tolerance=0.1, beta=1e-6) < 0.6
    True
    """
    calibration = curator.offer.calibration
    if not isinstance(calibration, SulqGaussian | SulqLaplace):
        raise QueryError("repetition belongs to the SuLQ paper's calibrations: state a tolerance instead")
    facts = curator.offer.scope.number(query.value)
    if query.statistic != "mean" or query.where is not None or query.by or facts.width != 1:
        raise QueryError("a statistical query is the mean of a single number over all rows")
    rows = curator.offer.rows
    if rows is None:
        raise QueryError(
            "how often to ask follows from the number of rows, which is not public where a person has "
            "several: ask for the mean as often as you like, or use the tight calibration"
        )
    if rows == 0:
        raise QueryError("there are no rows to ask about")
    extent = int(facts.high[0] - facts.low[0]) * facts.unit
    within = rational("tolerance", tolerance) / extent if extent else Fraction(1)
    times = repetitions(calibration, rows, within, beta, as_printed)
    if times > curator.offer.calibration.total:
        raise BudgetError(curator.offer.calibration.unit, Fraction(times), curator.remaining)
    # One round: it is refused as a whole if too few queries are left, and half an average is worth nothing.
    answers = curator.ask(Round([query] * times), run)
    return float(np.mean([answer.value for answer in answers]))

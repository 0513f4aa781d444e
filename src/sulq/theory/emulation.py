"""The SuLQ paper's emulation of statistical queries: ask the same again, and average the noise away."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from sulq.errors import BudgetError, QueryError
from sulq.numbers import Numeric, fraction, in_floats, rational, whole
from sulq.oracles.curator import Curator
from sulq.oracles.remote import Remote
from sulq.privacy import repeated
from sulq.privacy.noise import DiscreteGaussian, DiscreteLaplace
from sulq.privacy.repeated import laplace_exponent
from sulq.privacy.sulq import SulqGaussian, SulqLaplace
from sulq.queries.query import Query
from sulq.queries.rounds import Round, asked_of
from sulq.talk.laws import Value


def repetitions(
    calibration: SulqGaussian | SulqLaplace,
    rows: int,
    tolerance: Numeric,
    beta: Numeric,
    as_printed: bool = False,
) -> int:
    """How often to ask for the mean of values in [0, 1] so that it is within `tolerance`, but for `beta`.

    As printed (section 4.5): t ≥ R/τn², which makes τ the *variance* of the average. For the error to be at
    most τ with probability 1 − β, Chernoff's bound asks for t ≥ ln(2/β)/I(τn): `sulq.privacy.repeated` says
    what I is. For Gaussian noise of variance R it is (τn)²/2R.

    >>> paper = SulqGaussian(epsilon=1, delta="1e-6", queries=100)
    >>> repetitions(paper, 10_000, tolerance=0.01, beta=0.05)
    201
    >>> repetitions(paper, 10_000, tolerance=0.01, beta=0.05, as_printed=True)
    1
    """
    tau, rare = rational("tolerance", tolerance), rational("beta", beta, most=1)
    whole("rows", rows, 1)
    if as_printed:
        return math.ceil(calibration.variance / (tau * rows**2))
    law = DiscreteGaussian if isinstance(calibration, SulqGaussian) else DiscreteLaplace
    width = calibration.variance if isinstance(calibration, SulqGaussian) else calibration.scale
    return repeated.repetitions(law(width), tau * rows, rare)


@in_floats
def emulation_rows(
    calibration: SulqGaussian | SulqLaplace,
    tolerances: Sequence[Numeric],
    beta: Numeric,
    as_printed: bool = False,
) -> int:
    """How many rows a SuLQ database needs for a learner's queries to fit into its T: Theorem 3.

    As printed, n² ≥ R·ln(q/δ)/(T − q)·Σ 1/τⱼ for q queries, which takes τ for a variance. For all answers to
    be within their tolerances but for β, query j is asked ⌈2R·ln(2q/β)/(τⱼn)²⌉ times, so T queries are enough
    if n² ≥ 2R·ln(2q/β)/(T − q)·Σ 1/τⱼ². The theorem is about Gaussian noise. For Laplace noise the same proof
    asks for T ≥ q + Σ ln(2q/β)/I(τⱼn), with I of `sulq.privacy.repeated`. `rows_within` is that for queries
    of which each has a β of its own.

    Args:
        calibration: one of the paper's.
        tolerances: the tolerance of each query, a mean of values in [0, 1].
        beta: the chance that some answer is further off.
        as_printed: take the paper's formula.

    >>> paper = SulqGaussian(epsilon=1, delta="1e-6", queries=500)
    >>> emulation_rows(paper, [0.0125] * 4, 0.05), emulation_rows(paper, [0.0125] * 4, 0.05, as_printed=True)
    (28996, 2131)
    """
    within = [float(fraction("a tolerance", tolerance)) for tolerance in tolerances]
    spare, rare, many = _spare(calibration, within), rational("beta", beta, below=1), len(within)
    if as_printed:
        inverse = sum(1 / tolerance for tolerance in within)
        return math.ceil(math.sqrt(float(calibration.variance) * math.log(many / rare) / spare * inverse))
    return rows_within(calibration, within, [float(rare / many)] * many)


def rows_within(
    calibration: SulqGaussian | SulqLaplace, tolerances: Sequence[float], betas: Sequence[float]
) -> int:
    """How many rows are enough where each query has a β of its own: see `emulation_rows`.

    Args:
        calibration: one of the paper's.
        tolerances: the tolerance of each query, a mean of values in [0, 1].
        betas: for each query the chance that its answer is further off.
    """
    spare, unlikely = _spare(calibration, tolerances), [math.log(2 / beta) for beta in betas]
    if isinstance(calibration, SulqGaussian):
        squares = sum(each / tolerance**2 for each, tolerance in zip(unlikely, tolerances, strict=True))
        return math.ceil(math.sqrt(2 * float(calibration.variance) / spare * squares) * (1 + 1e-9))
    scale = float(calibration.scale)

    def enough(rows: int) -> bool:
        exponents = (laplace_exponent(tolerance * rows / scale) for tolerance in tolerances)
        times = (each / exponent for each, exponent in zip(unlikely, exponents, strict=True))
        return sum(times) <= spare * (1 - 1e-9)

    low, high = 0, 1
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _spare(calibration: SulqGaussian | SulqLaplace, tolerances: Sequence[float]) -> int:
    """T − q, or a refusal."""
    many = len(tolerances)
    if not tolerances or not all(tolerance > 0 for tolerance in tolerances):
        raise QueryError("Theorem 3 is about at least one query, and tolerances above 0")
    if calibration.queries <= many:
        raise QueryError(f"Theorem 3 needs T > {many}, the number of queries, and T is {calibration.queries}")
    return calibration.queries - many


def emulated(
    curator: Curator | Remote,
    query: Query,
    tolerance: Numeric,
    beta: Numeric,
    run: str = "main",
    as_printed: bool = False,
) -> Value:
    """The answer to one statistical query under the SuLQ paper's calibration, by repetition.

    The query is repeated as often as `repetitions` says, every time at the price of a query, and the answers
    are averaged. A curator of these calibrations does the same for every query that states a `tolerance` and
    a `beta`, and so for every learner that states tolerances; here each answer is asked for and kept apart,
    and the printed number of repetitions can be asked for too.

    Args:
        curator: a curator with one of the paper's calibrations, here or elsewhere, who truncates no answers.
        query: the mean of a single number over all rows, of which none is left out for a missing cell.
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
    calibration = curator.offer.calibration if isinstance(curator, Curator | Remote) else None
    if not isinstance(calibration, SulqGaussian | SulqLaplace):
        raise QueryError("repetition belongs to the SuLQ paper's calibrations: state a tolerance instead")
    if curator.offer.truncate:
        raise QueryError("what is cut off does not average out: open the curator with truncate=False")
    [mean] = asked_of(Round([query]), curator.schema).queries
    if not isinstance(mean, Query) or mean.statistic != "mean" or mean.where is not None or mean.by:
        raise QueryError(
            "a statistical query is the mean of a single number over all rows, of which none is left out for "
            "a missing cell"
        )
    facts = curator.offer.scope.number(mean.value)
    if facts.width != 1:
        raise QueryError(f"a statistical query is the mean of a single number, not of {facts.width}")
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
    if times > calibration.total:
        raise BudgetError(calibration.unit, Fraction(times), curator.remaining)
    # One round: it is refused as a whole if too few queries are left, and half an average is worth nothing.
    answers = curator.ask(Round([mean] * times), run)
    return float(np.mean([answer.value for answer in answers]))

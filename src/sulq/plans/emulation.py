"""Plans for the SuLQ paper's own calibrations: Theorem 3, where a learner's tolerances are met by repetition.

The promise is about the rows themselves, as the theorem's is: every answer is within its tolerance, but for a
chance of 1 − confidence in all. That rows are a sample of something larger is not part of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from sulq.errors import QueryError
from sulq.learners.conjunction import Conjunction
from sulq.numbers import Numeric, rational, several, whole
from sulq.plans.bounds import Both, Figures, Goal, solved
from sulq.plans.contents import Plan
from sulq.plans.decisions import Planned, rounds_heard
from sulq.privacy.conversion import rho_of
from sulq.privacy.sulq import NUMBER, SulqGaussian, SulqLaplace
from sulq.queries.query import Query
from sulq.queries.rounds import Round
from sulq.queries.scope import scope_of
from sulq.schema import Schema
from sulq.talk.offer import Offer
from sulq.theory.emulation import rows_within

NAMES = ("sulq-gaussian", "sulq-laplace")


@dataclass(frozen=True)
class PaperNoise:
    """One of the SuLQ paper's calibrations, with an ε that is not settled yet.

    Args:
        name: "sulq-gaussian" or "sulq-laplace".
        queries: the number of queries T.
        delta: δ of Gaussian noise.
        gamma: γ of Theorem 4. None takes Theorem 1, which has one δ for both.

    >>> paper = PaperNoise("sulq-gaussian", 100, "1e-6")
    >>> round(float(paper.at(Fraction(1)).variance))
    271457
    """

    name: str
    queries: int
    delta: Numeric | None = None
    gamma: Numeric | None = None

    def __post_init__(self) -> None:
        if (self.delta is None) == (self.name == "sulq-gaussian"):
            raise QueryError("'sulq-gaussian' has a delta, and 'sulq-laplace' has none")
        if self.gamma is not None and self.name != "sulq-gaussian":
            raise QueryError("gamma is Theorem 4's, for 'sulq-gaussian'")

    def at(self, epsilon: Fraction) -> SulqGaussian | SulqLaplace:
        """The calibration for an ε."""
        if self.delta is None:
            return SulqLaplace(epsilon, self.queries)
        return SulqGaussian(epsilon, self.delta, self.queries, self.gamma)

    def variances(self, epsilon: Fraction) -> Both:
        """The variance of an answer in [0, 1]: R of the theorem, and what ρ accounting needs."""
        paper = self.at(epsilon)
        printed = float(paper.variance)
        if isinstance(paper, SulqLaplace):
            return Both(printed, printed)
        return Both(printed, float(self.queries / (2 * rho_of(epsilon, paper.delta + (paper.gamma or 0)))))


@dataclass(frozen=True, eq=False)
class EmulatedBounds:
    """How many rows a SuLQ database needs so that a learner's T queries suffice.

    Args:
        learner: a learner that states tolerances.
        schema: what is public about the columns.
        noise: the paper's calibration.
    """

    learner: Planned
    schema: Schema
    noise: PaperNoise

    def paper(self, error: Fraction, beta: Fraction, epsilon: Fraction | None) -> int:
        assert epsilon is not None
        asked = [each for round_ in self.rounds(error, beta) for each in _asked(round_, self.schema)]
        tolerances, betas = zip(*asked, strict=True)
        return rows_within(self.noise.at(epsilon), tolerances, betas)

    def enough(self, rows: int, error: Fraction, beta: Fraction, epsilon: Fraction | None) -> bool:
        assert epsilon is not None
        try:
            offer = Offer(self.schema, self.noise.at(epsilon), rows=rows)
            return sum(offer.cost(round_) for round_ in self.rounds(error, beta)) <= self.noise.queries
        except QueryError:  # Theorem 1 does not hold there, or no number of repetitions is large enough
            return False

    def rounds(self, error: Fraction, beta: Fraction) -> tuple[Round, ...]:
        """What the learner asks by tolerances, for this error and this chance of failure."""
        return _rounds(self, error, beta)

    def learner_for(self, error: Fraction, beta: Fraction) -> Planned:
        """The learner, set to ask by tolerances."""
        learner = replace(self.learner, share=None, confidence=1 - beta)
        return replace(learner, error=error) if isinstance(learner, Conjunction) else learner


@lru_cache(maxsize=64)
def _rounds(bounds: EmulatedBounds, error: Fraction, beta: Fraction) -> tuple[Round, ...]:
    return rounds_heard(bounds.learner_for(error, beta), bounds.schema)


def paper_noise(
    name: str, queries: int | None, delta: Numeric | None, gamma: Numeric | None = None
) -> PaperNoise:
    """One of the SuLQ paper's calibrations by name, or a refusal: see `PaperNoise`."""
    if name not in NAMES:
        raise QueryError(f"a plan's calibration is 'tight', 'sulq-gaussian' or 'sulq-laplace', not {name!r}")
    if queries is None:
        raise QueryError(f"{name!r} fixes the number of queries T beforehand: state queries")
    return PaperNoise(name, whole(NUMBER, queries, 1), delta, gamma)


def emulable(learner: Any, schema: Schema) -> Planned:
    """The learner, if a SuLQ database emulates the queries that it states tolerances for; or a refusal.

    Args:
        learner: the learner.
        schema: what is public about the columns.
    """
    if not isinstance(learner, Planned):
        raise QueryError(
            "Theorem 3 of the SuLQ paper is for learners that state tolerances: Conjunction, MaskedParity"
        )
    if schema.unit is not None:
        raise QueryError("how often to ask follows from the number of rows, which is not public with a unit")
    return learner


def emulated_plan(learner: Planned, schema: Schema, goal: Goal, noise: PaperNoise) -> Plan:
    """The plan of a learner on a SuLQ database; see `sulq.plan`.

    Args:
        learner: a learner that states tolerances.
        schema: what is public about the columns.
        goal: what is wanted of it.
        noise: the paper's calibration.
    """
    bounds = EmulatedBounds(learner, schema, noise)
    if goal.error is not None and goal.beta is not None:
        # Known whatever the rows: one query for each number is the least.
        least = sum(len(_asked(round_, schema)) for round_ in bounds.rounds(goal.error, goal.beta))
        if noise.queries <= least:
            raise QueryError(
                f"T = {several(noise.queries, 'query is', 'queries are')} too few for "
                f"{several(least, 'number', 'numbers')}: Theorem 3 of the SuLQ paper "
                f"needs T > {least}"
            )
    figures = solved(bounds, goal)
    error = Fraction(0) if goal.exactly else Fraction(str(figures.error.tight))
    beta = 1 - Fraction(str(figures.confidence.tight))
    rounds = bounds.rounds(error, beta)
    tolerances = tuple(tolerance for round_ in rounds for tolerance, _ in _asked(round_, schema))
    return Plan(
        bounds.learner_for(error, beta),
        "curator",
        _oracle(figures, noise),
        figures.rows,
        figures.error,
        figures.confidence,
        figures.epsilon,
        Fraction(0),
        len(rounds),
        len(tolerances),
        tolerances,
        f"Theorem 3, {_theorem(noise)} (SuLQ paper)",
        covered=False,
        reuse="the promise is about the rows themselves",
        variance=noise.variances(Fraction(str(figures.epsilon.tight))),
    )


def _theorem(noise: PaperNoise) -> str:
    if noise.delta is None:
        return "Theorem 5"
    return "Theorem 1" if noise.gamma is None else "Theorem 4"


def _oracle(figures: Figures, noise: PaperNoise) -> str:
    chances = "" if noise.delta is None else f", delta={float(rational('delta', noise.delta)):g}"
    chances += "" if noise.gamma is None else f", gamma={float(rational('gamma', noise.gamma)):g}"
    named = f"calibration={noise.name!r}, queries={noise.queries}"
    return f"source.curator(epsilon={figures.epsilon.tight:.10g}{chances}, {named})"


def _asked(round_: Round, schema: Schema) -> list[tuple[float, float]]:
    """For each number of a round its tolerance and its β: means of values in [0, 1] over all rows."""
    asked = []
    for query in round_.queries:
        assert isinstance(query, Query) and query.statistic == "mean"
        assert query.tolerance is not None and query.beta is not None
        facts = scope_of(schema).number(query.value)
        extent = int((facts.high - facts.low).max()) * facts.unit
        asked += [(float(query.tolerance / extent), float(query.beta / facts.width))] * facts.width
    return asked

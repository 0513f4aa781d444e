"""How likely a learner is to fail, under each trust model, by the number of rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from sulq.learners.conjunction import Conjunction
from sulq.local.central import NearlyNormal
from sulq.local.frequencies import FrequencyReport
from sulq.local.onebit import OneBitReport
from sulq.local.response import RandomizedResponse
from sulq.local.tails import Bounded, beyond
from sulq.local.window import WindowReport
from sulq.oracles.crowd import Reports
from sulq.oracles.surveys import Survey
from sulq.plans.decisions import Needs, Risk
from sulq.plans.literals import Literals
from sulq.plans.mistakes import Blur, Case, binomial_beyond, wrong
from sulq.plans.rehearsal import made_up
from sulq.privacy.calibrated import calibrated
from sulq.privacy.noise import DiscreteLaplace
from sulq.schema import Schema
from sulq.talk.laws import Noise
from sulq.talk.offer import Offer
from sulq.theory.theorems import local_rows, private_rows, relabelled_rows, sample_rows

MANY = 2**50
"""People enough for every cohort to be its part of them, to the last digit."""
Model = Literal["exact", "sample", "curator", "crowd"]


@dataclass(frozen=True)
class Wanted:
    """What `plan` was asked for. None stands for a number that was not given."""

    error: Fraction | None
    confidence: Fraction | None
    epsilon: Fraction | None
    rows: int | None
    model: Model
    rate: Fraction


Failing = Callable[[int], float]


def failing(needs: Needs, schema: Schema, model: Model, epsilon: Fraction | None) -> Failing:
    """The chance, at most, that some decision comes out wrong, as a function of the number of rows.

    Failures are added up over all decisions (union bound), and rows are independent draws. All rows answer
    every question, except in a crowd, where everyone is asked once.

    >>> import sulq
    >>> from sulq.plans.decisions import needs
    >>> schema = sulq.Schema({name: sulq.Boolean() for name in ("cough", "fever", "old", "flu")})
    >>> chance = failing(needs(sulq.Conjunction("flu"), schema), schema, "curator", Fraction(1))
    >>> [round(chance(rows), 4) for rows in (500, 1000, 2000)]
    [0.0632, 0.0335, 0.0007]
    """
    if model == "exact":
        return lambda rows: 0.0
    if model == "sample":
        return lambda rows: sum(_worst(risk, rows, None) for risk in needs.risks)
    assert epsilon is not None
    return (_curator if model == "curator" else _crowd)(needs, schema, epsilon)


def paper_rows(
    model: Model, tolerances: tuple[float, ...], beta: float, epsilon: float | None, rate: float
) -> int:
    """How many rows the papers ask for, of the finest tolerance for every query."""
    queries, tolerance, width = len(tolerances), min(tolerances), 1 / (1 - 2 * rate)
    if model == "exact":
        return 1
    if model == "sample":
        if rate:
            return relabelled_rows(queries, tolerance, beta, rate)
        return sample_rows(queries, tolerance, beta)
    assert epsilon is not None
    if model == "curator":
        return private_rows(queries, tolerance, beta, epsilon, "chunks", width)
    return local_rows(queries, tolerance, beta, epsilon, width)


def theorem(model: Model, learners_own: tuple[str, str], rate: Fraction) -> str:
    """The theorems a plan rests on: the learner's own, the model's, and that on wrong labels.

    >>> theorem("curator", ("lecture notes", "Theorem 5"), Fraction(0))
    'Theorem 5, Theorem 7 (lecture notes)'
    """
    models = {
        "sample": ("lecture notes", "Theorem 6"),
        "curator": ("lecture notes", "Theorem 7"),
        "crowd": ("full paper", "Theorem 5.7"),
    }
    named = [learners_own, *([models[model]] if model in models else [])]
    named += [("lecture notes", "Theorem 8")] if rate else []
    papers = dict.fromkeys(paper for paper, _ in named)
    by_paper = {paper: ", ".join(name for of, name in named if of == paper) for paper in papers}
    return "; ".join(f"{names} ({paper})" for paper, names in by_paper.items())


def _curator(needs: Needs, schema: Schema, epsilon: Fraction) -> Failing:
    """The noise follows from the shares of the budget, so it is the same for any number of rows."""
    offer = Offer(schema, calibrated(epsilon, None, None, "tight", None))
    blurs = {}
    for number, round_ in enumerate(needs.rounds):
        noises = iter(offer.terms(round_).noises)
        for place, query in enumerate(round_.queries):
            noises_of_query = [next(noises) for _ in query.parts]
            assert isinstance(noises_of_query[0], DiscreteLaplace)
            blurs[number, place] = noises_of_query[0], float(offer.scope.number(query.parts[0]).unit)

    def chance(rows: int) -> float:
        if needs.literals is not None:
            assert isinstance(needs.learner, Conjunction)
            return _kept(needs.learner, needs.literals, rows, *blurs[0, 0])
        chance_of_failure = 0.0
        for risk in needs.risks:
            noise, step = blurs[risk.round, risk.query]
            chance_of_failure += _worst(risk, rows, Blur(noise, step, risk.copies))
        return chance_of_failure

    return chance


def _kept(learner: Conjunction, literals: int, rows: int, noise: DiscreteLaplace, step: float) -> float:
    law = Noise.of(noise, Fraction(step), 1).times(1 / rows)
    threshold, beta = learner.most(literals, law), 1 - float(learner.confidence)
    # Between error/2d and error/d the threshold is what noise may add: a whole number of steps.
    whole = 1 < threshold / float(learner.tolerance(literals)) < 2
    return Literals(literals, float(learner.error), threshold, whole).failing(rows, Blur(noise, step), beta)


def _worst(risk: Risk, rows: int, blur: Blur | None) -> float:
    return risk.times * max(wrong(rows, case, blur) for case in risk.cases)


@dataclass(frozen=True)
class _Reporting:
    """How people report a number from `low` to `high`, or several numbers.

    Args:
        part: which part of all people report.
        low: the smallest value.
        high: the largest value.
        span: how far one person's report can be from another's.
        variance: the variance of a report, at most.
        window: what reports are drawn by, where their mean is known to be nearly normal.
        own: how often a report supports `high` if that is the value; None for reports that are no such bits.
        other: how often a report supports `high` if `low` is the value; None for reports that are no such
            bits.
    """

    part: Fraction
    low: float
    high: float
    span: float
    variance: float
    window: WindowReport | None
    own: float | None
    other: float | None

    def wrong(self, rows: int, case: Case, copies: int) -> float:
        """The chance that what people report is on the wrong side.

        Two numbers are told apart if each is on its own side of half their difference.
        """
        # Cohorts are rounded down, twice at most.
        size = math.floor(rows * self.part) - 2
        if size < 1:
            return 1.0
        if copies == 1:
            return self._wrong(size, case.mean, case.bound, case)
        return sum(self._wrong(size, mean, case.mean / 2, case) for mean in (0.0, case.mean))

    def _wrong(self, size: int, mean: float, bound: float, case: Case) -> float:
        """The chance that a mean is taken to be on the other side of a bound.

        Bits are exact: whatever the rows are, a bit is 1 with a chance that follows from their mean. Else
        Hoeffding's bounds and what is known beside them, on one side.
        """
        if self.own is not None:
            return binomial_beyond(
                size, self._chance_of_one(mean), size * self._chance_of_one(bound), above=mean < bound
            )
        bounded = Bounded((self.variance + case.variance,), (1,), self.span, self.span, self.span)
        reports: Bounded | NearlyNormal = bounded
        if self.window is not None:
            # Rows are drawn one by one, so what they report is independent, and its mean is that of all rows.
            reports = NearlyNormal(bounded, self.window.third(mean), bounded.variance)
        # Both sides are alike, and only one is wrong.
        return beyond(size, abs(bound - mean), reports) / 2

    def _chance_of_one(self, value: float) -> float:
        """How often a bit is 1 if this is the mean."""
        assert self.own is not None and self.other is not None
        return self.other + (self.own - self.other) * (value - self.low) / (self.high - self.low)


def _crowd(needs: Needs, schema: Schema, epsilon: Fraction) -> Failing:
    """Cohorts are parts of all people, so the same account will do for any number of them."""
    crowd = made_up(schema, MANY).crowd(epsilon)
    ways = {}
    for number, round_ in enumerate(needs.rounds):
        surveys = iter(crowd.surveys(round_))
        for place, query in enumerate(round_.queries):
            survey, *_ = [next(surveys) for _ in query.parts]
            ways[number, place] = _way(survey)
    # Questions that are alike fail alike.
    alike: Counter[tuple[_Reporting, tuple[Case, ...], int]] = Counter()
    for risk in needs.risks:
        alike[ways[risk.round, risk.query], risk.cases, risk.copies] += risk.times

    def chance(rows: int) -> float:
        return sum(
            times * max(way.wrong(rows, case, copies) for case in cases)
            for (way, cases, copies), times in alike.items()
        )

    return chance


def _way(survey: Survey) -> _Reporting:
    assert isinstance(survey, Reports)
    facts, randomizer = survey.source.scope.number(survey.part), survey.randomizer
    unit = float(facts.unit)
    own = other = None
    if isinstance(randomizer, RandomizedResponse | OneBitReport | FrequencyReport):
        support = (randomizer.bit if isinstance(randomizer, OneBitReport) else randomizer).support
        own, other = float(support.own), float(support.other)
    return _Reporting(
        Fraction(survey.size, MANY),
        float(facts.low.min()) * unit,
        float(facts.high.max()) * unit,
        survey.span,
        survey.variance,
        randomizer
        if isinstance(randomizer, WindowReport) and survey.source.schema.rows_per_unit == 1
        else None,
        own,
        other,
    )

"""The local model: nobody is trusted, and every person randomizes their own row before it leaves them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.local.best import Method, check_method
from sulq.local.central import NearlyNormal, Tails
from sulq.local.device import Device
from sulq.local.frequencies import FrequencyReport
from sulq.local.item import Item, item_of
from sulq.local.onebit import OneBitReport
from sulq.local.questionnaire import Questionnaire
from sulq.local.randomizer import Randomizer
from sulq.local.response import RandomizedResponse
from sulq.local.tails import Bounded, Counted, by_frequency
from sulq.local.tally import Tally
from sulq.local.window import WindowReport
from sulq.oracles.cohorts import Cohorts
from sulq.oracles.surveyor import Surveyor
from sulq.oracles.surveys import Survey
from sulq.queries.node import Node
from sulq.queries.rounds import Round
from sulq.sources.rows import rows_of
from sulq.sources.sums import Sums
from sulq.talk.answers import Answer
from sulq.talk.statistics import KnownSum


@dataclass
class Crowd(Surveyor):
    """Answers rounds from reports that people randomize themselves: Theorem 5.7 of the full paper.

    Every part of a query is put to a cohort of its own, drawn by lot among those who were not asked yet, so
    each person reports once, by an ε-local randomizer. The average of the reports, without bias, times the
    number of people, is the answer. A person with m rows reports on each of them with ε/m. How many reports
    there are, and so how many rows, everybody sees.

    A round states its share of all people, or its queries state tolerances. `Source.crowd` makes a crowd.

    Args:
        source: the people's rows.
        epsilon: what is promised to every person.
        method: "best" picks the randomizer with the least variance for what is asked; "printed" the best of
            those that articles print; "paper" takes the Laplace report of the paper.
        interactive: whether there may be a second round. False is the noninteractive model: a second round is
            refused.

    >>> import sulq
    >>> people = sulq.open({"sick": [True, False] * 50_000}, {"sick": sulq.Boolean()})
    >>> crowd = people.crowd(epsilon=1)
    >>> [answer] = crowd.ask(sulq.Round([sulq.mean(sulq.col("sick"))], share=0.5))
    >>> abs(answer.value - 0.5) <= answer.radius(1e-9)
    True
    >>> crowd.left
    50000
    """

    epsilon: Fraction
    method: Method = "best"

    who = "crowd"

    def __post_init__(self) -> None:
        check_method(self.method)
        super().__post_init__()

    def influence(self, round_: Round) -> list[float]:
        """How far one made-up report can move each answer. Of a mean, the total is meant."""
        surveys = iter(self.surveys(round_))
        return [max(next(surveys).influence for _ in query.parts) for query in round_.queries]

    @property
    def promise(self) -> str:
        """What is promised to every person, in words."""
        return f"ε = {float(self.epsilon):g} (pure, local)"

    def _dealt(self) -> Cohorts:
        return Cohorts(rows_of(self.source, "a crowd"))

    def survey(self, part: Node) -> Reports:
        return Reports(self.source, part, 0, self.epsilon, self.method)

    def questionnaire(self, round_: Round) -> Questionnaire:
        """What the devices would be asked in a round, and how many of them. Nobody is asked."""
        surveys = [survey for survey in self._reports(round_) if not survey.needless]
        return Questionnaire(
            tuple(survey.item for survey in surveys), tuple(survey.size for survey in surveys)
        )

    def answers(self, round_: Round, tallies: Sequence[Tally]) -> list[Answer]:
        """The answers to the queries of a round, from tallies that were collected elsewhere.

        Error bars are for as many people as a tally has reports of: they hold if those were drawn by lot,
        each asked once. Nobody is asked here, and nothing is kept.

        Args:
            round_: what was asked.
            tallies: for each item of the round's questionnaire its tally, in order.
        """
        surveys = self._reports(round_)
        if len(tallies) != sum(not survey.needless for survey in surveys):
            raise QueryError(f"a round is answered from one tally for each of its items, not {len(tallies)}")
        given = iter(tallies)
        known = [survey.blank() if survey.needless else survey.known_from(next(given)) for survey in surveys]
        return self._read(round_, known)

    def _reports(self, round_: Round) -> list[Reports]:
        return [survey for survey in self.surveys(round_) if isinstance(survey, Reports)]


@dataclass(frozen=True)
class Reports(Survey):
    """One part of a query, answered by reports of an ε-local randomizer.

    Args:
        epsilon: what is promised to a person; it is divided among their rows.
        method: "best", "printed" or "paper".
    """

    epsilon: Fraction
    method: Method

    @property
    def variance(self) -> float:
        return self.randomizer.variance(1)

    @property
    def span(self) -> float:
        return self.randomizer.influence(1)

    def mean(self, people: Sums) -> NDArray[np.float64]:
        report = Device(rows_of(people, "a crowd"), self.epsilon).report(self.item)
        return self.item.estimate(self.item.tally(report, people.rows))

    def known_from(self, tally: Tally) -> KnownSum:
        """The sum over all rows, as far as the reports of a tally tell."""
        return replace(self, size=tally.reports).known_by(self.item.estimate(tally))

    @property
    def tails(self) -> Tails:
        # If everybody is asked, what is left is the randomness of their reports.
        return self.randomizer.tails if self.size == self.source.rows else super().tails

    @property
    def _contributions(self) -> Bounded | Counted | NearlyNormal:
        randomizer, rows = self.randomizer, self.source.schema.rows_per_unit
        # Rows of one person are drawn together, and then counts are no sums of independent bits, and values
        # are not drawn one by one.
        if isinstance(randomizer, FrequencyReport):
            support, span = randomizer.support, self.span
            # Of a group with a share f of the people: how they differ adds f·(1 − f), which is at most f.
            absent, present = support.variance(1, 0), support.variance(1, 1) + 1
            variances, copies = by_frequency(randomizer.k, absent, present)
            bounded = Bounded(variances, copies, span, span, span)
            return support.counted(bounded) if rows == 1 else bounded
        others = super()._contributions
        bit = randomizer.bit if isinstance(randomizer, OneBitReport) else randomizer
        if rows == 1 and isinstance(bit, RandomizedResponse) and isinstance(others, Bounded):
            return bit.support.counted(others, self._widest)
        if rows == 1 and isinstance(randomizer, WindowReport) and isinstance(others, Bounded):
            return replace(randomizer.tails, bounded=others, width=self._widest)
        return others

    @cached_property
    def item(self) -> Item:
        """What the devices are asked."""
        rows = self.source.schema.rows_per_unit
        return item_of(self.part, self.source.scope, self.epsilon / rows, rows, self.method)

    @property
    def randomizer(self) -> Randomizer:
        """What the devices draw their reports by."""
        return self.item.randomizer

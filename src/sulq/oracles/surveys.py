"""One part of a query, put to a cohort of people: what surveys of the crowd and of the sample share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.local.central import NearlyNormal, Tails
from sulq.local.tails import Bounded, Counted, beyond
from sulq.oracles.cohorts import Cohorts, smallest
from sulq.queries.node import Node
from sulq.queries.query import Query
from sulq.queries.question import Question
from sulq.sources.sums import Sums
from sulq.talk.laws import Averaged, Exactly
from sulq.talk.statistics import KnownSum

S = TypeVar("S", bound="Survey")


@dataclass(frozen=True)
class Survey(ABC):
    """One part of a query, to be put to so many people. A part that is the same for all rows needs nobody."""

    source: Sums
    part: Node
    size: int

    @property
    @abstractmethod
    def variance(self) -> float:
        """How much what one person says varies beyond how people differ, at most, in one number."""

    @property
    @abstractmethod
    def span(self) -> float:
        """How far what one person says can be from what another says, in one number."""

    @abstractmethod
    def mean(self, people: Sums) -> NDArray[np.float64]:
        """The mean of what these people say."""

    @cached_property
    def needless(self) -> bool:
        """Whether the part is the same for all rows: then nobody needs to be asked."""
        facts = self.source.scope.number(self.part)
        return bool((facts.low == facts.high).all())

    @property
    def need(self) -> float:
        """The variance of what one person says, in units of one row's largest contribution."""
        if self.needless:
            return 0.0
        facts = self.source.scope.number(self.part)
        return (self.variance + self._widest**2 / 4) / float(facts.magnitude * facts.unit) ** 2

    @property
    def influence(self) -> float:
        """How far one person can move the sum by what they say."""
        return 0.0 if self.needless else self.source.rows * self.span / self.size

    def within(self: S, query: Question) -> S:
        """The same survey of the fewest people that keep the tolerance of a query."""
        assert isinstance(query, Query) and query.tolerance is not None and query.beta is not None
        if query.statistic == "mean" and (query.where is not None or query.by):
            raise QueryError(
                "a mean can only have a tolerance over all rows: ask for its total and its count"
            )
        if self.needless:
            return self
        tolerance = float(query.tolerance) / (1 if query.statistic == "mean" else self.source.rows)
        beta = float(query.beta)
        each = self._contributions
        return replace(self, size=smallest(lambda n: beyond(n, tolerance, each) <= beta))

    def known(self, cohorts: Cohorts | None) -> KnownSum:
        """What a cohort says about the sum over all rows. Without cohorts, all rows are asked."""
        if self.needless:
            return self.blank()
        people = self.source if cohorts is None else cohorts.next(self.size)
        return self.known_by(self.mean(people))

    def known_by(self, mean: NDArray[np.float64]) -> KnownSum:
        """What the mean of a cohort's answers says about the sum over all rows."""
        return replace(self.blank(), values=self.source.rows * mean)

    def blank(self) -> KnownSum:
        """What is known before anyone is asked: a constant, or how far off zero could be."""
        facts, rows = self.source.scope.number(self.part), self.source.rows
        if self.needless:
            return KnownSum(np.array([float(int(low) * facts.unit) * rows for low in facts.low]), Exactly())
        return KnownSum(np.zeros(facts.width), Averaged(self.tails, max(self.size, 1), rows))

    @property
    def tails(self) -> Tails:
        """How far the mean of what a cohort says strays from the mean of all people's values.

        What a person drawn by lot says strays from that mean by chance and by who was drawn. That people are
        drawn without replacement makes the bounds for independent draws no less true: the moment generating
        function of the sum is a mean of products of n different people's, which is at most the n-th power of
        their mean (Maclaurin's inequality).
        """
        return self._contributions

    @property
    def _contributions(self) -> Bounded | Counted | NearlyNormal:
        variance = self.variance + self._widest**2 / 4
        width, span = self.source.scope.number(self.part).width, self.span
        return Bounded((variance,), (width,), span, span, span)

    @property
    def _widest(self) -> float:
        facts = self.source.scope.number(self.part)
        return float(int((facts.high - facts.low).max()) * facts.unit)

"""Statistical queries in the PAC model: the rows are a sample, and answers are about where they came from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sulq.errors import BudgetError
from sulq.oracles.cohorts import Cohorts
from sulq.oracles.surveyor import Surveyor
from sulq.oracles.surveys import Survey
from sulq.queries.node import Node
from sulq.queries.rounds import Round
from sulq.sources.rows import rows_of
from sulq.sources.sums import Sums


@dataclass
class Sample(Surveyor):
    """Answers about the distribution that the rows were drawn from: Theorem 6 of the lecture notes.

    A round states its share of the rows, or its queries state tolerances. There is no privacy here.
    `Source.sample` makes a sample.

    Args:
        source: the rows.
        fresh: True averages each part of a query over a chunk of rows of its own. Then the answers are
            independent, and their error bars hold however later questions depend on earlier answers. False
            answers every question from all rows, which needs far fewer of them. Then the error bars hold for
            the first round, and for a later round only if it does not depend on earlier answers.
        interactive: whether there may be a second round. False is the model of nonadaptive queries.

    >>> import numpy as np, sulq
    >>> sick = np.random.default_rng(0).random(100_000) < 0.1
    >>> sample = sulq.open({"sick": sick}, {"sick": sulq.Boolean()}).sample()
    >>> [rate] = sample.ask(sulq.Round([sulq.mean(sulq.col("sick"), tolerance=0.01, beta=0.05)]))
    >>> abs(rate.value - 0.1) <= 0.01, sample.left
    (True, 81555)
    """

    fresh: bool = True

    who = "sample"

    def _dealt(self) -> Cohorts | None:
        return Cohorts(rows_of(self.source, "a sample with fresh=True")) if self.fresh else None

    @property
    def promise(self) -> str:
        """What is promised to every person, in words."""
        return "none: averages of a sample"

    def survey(self, part: Node) -> Chunk:
        return Chunk(self.source, part, 0)

    def cost(self, round_: Round) -> int:
        """How many rows a round would use up, or look at if they are not used up. None is looked at."""
        sizes = [survey.size for survey in self.surveys(round_)]
        return sum(sizes) if self.fresh else max(sizes)

    def surveys(self, round_: Round) -> list[Survey]:
        surveys, rows = super().surveys(round_), self.source.rows
        if self.fresh:
            return surveys
        most = max(survey.size for survey in surveys)
        if most > rows:
            raise BudgetError("rows", requested=Fraction(most), remaining=Fraction(rows))
        return [replace(survey, size=rows) for survey in surveys]


@dataclass(frozen=True)
class Chunk(Survey):
    """One part of a query, averaged over some rows."""

    @property
    def variance(self) -> float:
        return 0.0

    @property
    def span(self) -> float:
        return self._widest

    def mean(self, people: Sums) -> NDArray[np.float64]:
        facts = self.source.scope.number(self.part)
        [steps] = people.sums([self.part])
        return np.array([float(int(step) * facts.unit) for step in steps]) / people.rows

"""A release of pairs: how many rows have each two values of two columns, for many pairs of columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

import numpy as np

from sulq.errors import QueryError
from sulq.hypotheses.additive import AdditiveModel
from sulq.hypotheses.dependence import DependenceTree
from sulq.hypotheses.hypothesis import Hypothesis
from sulq.hypotheses.linear import LinearModel
from sulq.hypotheses.pairs.additive import additive
from sulq.hypotheses.pairs.agreement import Agreement, ColumnCounts, Pair, PairCounts, pairs_of
from sulq.hypotheses.pairs.columns import PairsColumn, PairsFacts, named_pairs
from sulq.hypotheses.pairs.dependence import chow_liu, naive_bayes
from sulq.hypotheses.pairs.linear import linear
from sulq.hypotheses.pairs.positive import fitted
from sulq.hypotheses.pairs.synthetic import SyntheticRows, sampled
from sulq.numbers import several
from sulq.pictures import heat
from sulq.pictures.svg import clean, plain
from sulq.queries.node import Node
from sulq.talk.answers import BETA, Answer, Axis
from sulq.talk.columns import plain_table
from sulq.talk.laws import Noise
from sulq.talk.sketched import one_law
from sulq.talk.vector_law import VectorNoise

H = TypeVar("H", bound=Hypothesis)
SURELY = 3.0
"""A table tells of an association if it differs from independence by so many standard deviations of noise."""
FREE = "post-processing of a release, no charge"
"""What the origin of a model says that was made of a release."""
LISTED = 15
"""How many associations are worth listing."""


@dataclass(frozen=True)
class PairsTable:
    """One table of a release, as it was answered.

    Args:
        columns: the places of its two columns, the smaller one first.
        counts: how many rows have each two values.
    """

    columns: tuple[int, int]
    counts: Answer


@dataclass(frozen=True, eq=False)
class PairsRelease(Hypothesis):
    """All pairs of some columns, counted once: what `sulq.Pairs` learns.

    Its tables agree: a column has the same counts in all tables that it is in. Models are made of it as often
    as is wanted, at no further cost to anyone's privacy, and without the data. As a hypothesis it says of a
    row how usual it is: the logarithm of how likely its values are together, by Chow and Liu's tree.

    Args:
        schema: what is public about the columns.
        origin: where the release comes from, if it was learned.
        rows: how many rows there are.
        columns: the columns, each with counts of its own.
        tables: the tables.

    >>> import sulq
    >>> release = sulq.Pairs(["sex", "plan", "bought_drugs"]).learn(sulq.randhie().exact())
    >>> print(release.table("sex", "bought_drugs"))
    sex     bought_drugs  value
    female  false         4,239
    female  true          6,200
    male    false         5,153
    male    true          4,598
    """

    wire = "pairs"

    rows: Answer
    columns: tuple[PairsColumn, ...]
    tables: tuple[PairsTable, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return self.facts.names

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs of columns that there are tables for."""
        return tuple((self.names[one], self.names[other]) for one, other in self.facts.agreement.pairs)

    @property
    def left_out(self) -> tuple[tuple[str, str], ...]:
        """The pairs of columns that there are no tables for."""
        return tuple((self.names[one], self.names[other]) for one, other in self._absent)

    def counts(self, name: str) -> Answer:
        """How many rows have each value of a column, as all tables say.

        Args:
            name: the column.
        """
        place = self.facts.place(name)
        law = self.facts.agreement.margin_law(place)
        return Answer(self.facts.agreement.margin(place), law, (self._axis(place),))

    def table(self, one: str, other: str, positive: bool = False) -> Answer:
        """How many rows have each two values of two columns, with errors.

        Args:
            one: the column whose values are below each other.
            other: the column whose values are beside each other.
            positive: whether counts are moved such that none is negative; margins agree nevertheless. The
                errors grow by as much as a count was moved.
        """
        places = self.facts.place(one), self.facts.place(other)
        pair = min(places), max(places)
        agreed = self.facts.agreement
        if pair not in agreed.pairs:
            raise QueryError(f"there is no table of {one!r} and {other!r} in this release; see its `pairs`")
        value, law = agreed.table(pair), agreed.table_law(pair)
        if positive:
            moved = fitted(value, *(self.facts.positive.margins[place] for place in pair))
            value, law = moved, replace(law, moved=float(np.abs(moved - value).max()))
        axes = self._axis(places[0]), self._axis(places[1])
        return Answer(value if places == pair else value.T, law, axes)

    def associations(self) -> dict[tuple[str, str], tuple[float, bool]]:
        """For each pair how strongly it goes together (Cramér's V), and whether that is more than noise."""
        return {
            (self.names[one], self.names[other]): (cell.strength, cell.telling)
            for (one, other), cell in self._heat.items()
        }

    def additive(self, label: str) -> AdditiveModel:
        """An additive model for one of the columns: what each value of each other column adds. It is free.

        Args:
            label: the column to predict: a category, a truth value, or a number.
        """
        return self._from_here(additive(self.facts, label))

    def linear(self, target: str) -> LinearModel:
        """A number as a weighted sum of the other numbers and truth values. It is free.

        Args:
            target: the column to predict.
        """
        return self._from_here(linear(self.facts, target))

    def naive_bayes(self, label: str) -> DependenceTree:
        """Naive Bayes: every other column depends on the label, and on nothing else. It is free.

        Args:
            label: the column to predict; a number is told by the interval that it is in.
        """
        return self._from_here(naive_bayes(self.facts, label))

    def tree(self, label: str) -> DependenceTree:
        """Chow and Liu's tree of all columns, which tells any of them by its neighbours. It is free.

        Args:
            label: the column to predict first; the tree's `about` tells others.
        """
        return self._from_here(chow_liu(self.facts, label))

    def sample(self, rows: int, seed: int | None = None) -> SyntheticRows:
        """Synthetic rows with nearly the tables of this release. They are free.

        Args:
            rows: how many; with all their columns at most 10^8 cells.
            seed: makes the rows the same every time; by default randomness is the operating system's.
        """
        return sampled(self.facts, rows, seed)

    def _from_here(self, model: H) -> H:
        """A model that was made of this release, under the promise that the release was made under."""
        origin = self.origin and replace(self.origin, learner=f"{self.origin.learner}, {FREE}")
        return replace(model, origin=origin)

    @property
    def expression(self) -> Node:
        return self.tree(self.names[0]).likelihood

    @property
    def headline(self) -> str:
        known = [[self.names[place] for place in pair] for pair, cell in self._heat.items() if cell.telling]
        return clean(f"{self._size} {' and '.join(known[0])} go together most.") if known else self._size

    def describe(self) -> str:
        lines = [
            [f"{self.names[one]} × {self.names[other]}", cell.words]
            for (one, other), cell in list(self._heat.items())[:LISTED]
        ]
        more = [f"… {len(self._heat) - LISTED:,} more"] if len(self._heat) > LISTED else []
        table = [plain_table(["columns", "strength"], lines, 1)] if lines else []
        return "\n".join([self._size, *self._noise, *self._absence, *table, *more])

    @property
    def outlook(self) -> str:
        """What to expect of such a release, in words: of a rehearsal, whose rows spread evenly."""
        return "\n".join([f"It would be {self._size}", *self._noise, *self._absence])

    def picture(self) -> str:
        return heat.picture("Which columns go together", self.names, self._heat, self._caption)

    @property
    def _size(self) -> str:
        cells = sum(table.values.size for table in self.facts.agreement.pairs.values())
        tables, columns = len(self.tables), len(self.columns)
        return f"{several(tables, 'table', 'tables')} of two of {columns:,} columns, {cells:,} counts in all."

    @property
    def _noise(self) -> list[str]:
        agreed = self.facts.agreement
        radii = [agreed.table_law(pair).radius(BETA) for pair in agreed.pairs]
        if not any(radii):
            return []
        drowned = sum(not cell.telling for cell in self._heat.values())
        within = f" {drowned:,} show no more than noise." if drowned else ""
        off = plain(float(np.median(radii)), 2)
        return [f"The counts of a table are off by at most ± {off} at 95 %.{within}"]

    @property
    def _absence(self) -> list[str]:
        return [f"Left out: {named_pairs(self.facts, self._absent)}."] if self._absent else []

    @property
    def _absent(self) -> list[Pair]:
        return [pair for pair in pairs_of(len(self.columns)) if pair not in self.facts.agreement.pairs]

    @cached_property
    def _heat(self) -> dict[Pair, heat.HeatCell]:
        """How strongly columns go together, the strongest first."""
        strength, pairs = self.facts.positive.strength, self.facts.agreement.pairs
        cells = {pair: heat.HeatCell(strength(pair), self._telling(pair)) for pair in pairs}
        return dict(sorted(cells.items(), key=lambda item: -item[1].strength))

    def _telling(self, pair: Pair) -> bool:
        """Whether squares of differences from independence add up to more than those of noise alone."""
        agreed, positive = self.facts.agreement, self.facts.positive
        law = agreed.table_law(pair)
        independent = np.outer(*(positive.margins[place] for place in pair)) / positive.total
        squares = float(((agreed.table(pair) - independent) ** 2).sum())
        if law.deviation == 0:
            return squares > 1e-9 * positive.total
        # The square of Laplace noise varies more than that of Gaussian noise: its kurtosis is 6, not 3.
        # A vector's varies as much: its squared length, relatively, by (4w + 6)/(w(w + 1)), at most 5/w.
        noises = [each for each in law.laws if isinstance(each, Noise | VectorNoise)]
        heavy = 5.0 if any(each.power == 1 for each in noises) else 2.0
        most = independent.size + SURELY * (heavy * independent.size) ** 0.5
        return bool(squares / law.deviation**2 > most)

    @cached_property
    def facts(self) -> PairsFacts:
        """All that the release says, for models to be made of."""
        columns = tuple(
            ColumnCounts(_numbers(column.counts), column.groups, one_law(column.counts.law))
            for column in self.columns
        )
        pairs = {
            table.columns: PairCounts(_numbers(table.counts), one_law(table.counts.law))
            for table in self.tables
        }
        agreement = Agreement(float(self.rows.value), one_law(self.rows.law), columns, pairs)
        return PairsFacts(self.schema, self.columns, agreement)

    def _axis(self, place: int) -> Axis:
        return Axis(f"column {self.names[place]!r}", self.facts.labels(place))

    def _check(self) -> None:
        if not self.columns or len({column.name for column in self.columns}) < len(self.columns):
            raise QueryError("a release has at least one column, and none of them twice")
        for column in self.columns:
            column.check(self.schema)
        sizes = [int(column.groups[-1]) + 1 for column in self.columns]
        pairs = [table.columns for table in self.tables]
        if any(not 0 <= one < other < len(sizes) for one, other in pairs) or any(
            a >= b for a, b in pairwise(sorted(pairs))
        ):
            raise QueryError("a table of a release has the places of two columns, and none is there twice")
        for table in self.tables:
            shape = tuple(sizes[place] for place in table.columns)
            if np.shape(table.counts.value) != shape or not np.isfinite(table.counts.value).all():
                raise QueryError(f"this table of a release has {shape[0]} × {shape[1]} finite counts")
        if np.shape(self.rows.value) != () or not np.isfinite(self.rows.value):
            raise QueryError("the number of rows of a release is a finite number")
        counts = [*(column.counts for column in self.columns), *(table.counts for table in self.tables)]
        for answer in (self.rows, *counts):
            one_law(answer.law)
        super()._check()


def _numbers(answer: Answer) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.asarray(answer.value, dtype=np.float64)

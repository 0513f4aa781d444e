"""Noisy tables of pairs of columns, made to agree: columns that tables share have the same counts in all.

A table of two columns is a sum of four parts, at right angles to each other: what all cells share, what the
rows differ by, what the columns differ by, and the rest. The rest is known from the table alone. What the
values of a column differ by is known from its own counts and from every table that it is in, and the number
of all rows is known from everything. Least squares, weighted by the variances, averages each part over the
answers that know it, and adds the parts up again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sulq.effects.layout import Floats
from sulq.talk.combined import Term, WeightedSums
from sulq.talk.laws import PlainLaw

Name = TypeVar("Name")
Pair = tuple[int, int]
"""The places of two columns, the smaller one first."""
CERTAIN = 1e-12
"""What is exact gets the weight of this part of the largest variance, so that weights stay finite."""
ROUNDING = 1e-9
"""A weight below this part of the largest is rounding."""


@dataclass(frozen=True)
class ColumnCounts:
    """How many rows have each value of one column, noise and all.

    Args:
        values: the counts.
        groups: which of the values in the tables each count belongs to: the first ones to 0, and so on.
        law: the law of their errors.
    """

    values: Floats
    groups: NDArray[np.intp]
    law: PlainLaw

    @property
    def together(self) -> Floats:
        """The counts of the values in the tables."""
        return np.asarray(np.bincount(self.groups, weights=self.values), dtype=np.float64)

    @property
    def members(self) -> NDArray[np.intp]:
        """How many counts belong to each value in the tables."""
        return np.bincount(self.groups)


@dataclass(frozen=True)
class PairCounts:
    """How many rows have each two values of two columns, noise and all.

    Args:
        values: the counts, with an axis for each column.
        law: the law of their errors.
    """

    values: Floats
    law: PlainLaw


@dataclass(frozen=True)
class Agreement:
    """The tables that fit all answers best and agree with each other.

    Args:
        rows: how many rows there are, noise and all.
        rows_law: the law of its error.
        columns: the counts of each column.
        pairs: the tables, by the places of their columns.

    >>> from sulq.talk.laws import Within
    >>> law, groups = Within(1.0), np.array([0, 1])
    >>> one, other = (ColumnCounts(np.array(counts), groups, law) for counts in ([6.0, 4.0], [5.0, 5.0]))
    >>> table = PairCounts(np.array([[4.0, 3.0], [1.0, 2.0]]), law)
    >>> agreed = Agreement(10.0, law, (one, other), {(0, 1): table})
    >>> agreed.margin(0).round(2).tolist(), agreed.table((0, 1)).sum(axis=1).round(2).tolist()
    ([6.33, 3.67], [6.33, 3.67])
    """

    rows: float
    rows_law: PlainLaw
    columns: tuple[ColumnCounts, ...]
    pairs: Mapping[Pair, PairCounts]

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many values each column has in the tables."""
        return tuple(len(column.members) for column in self.columns)

    @cached_property
    def total(self) -> float:
        """How many rows there are."""
        sums = [self.rows, *(each.values.sum() for each in self._answers.values())]
        return float(np.dot(list(self._total_weights.values()), sums))

    def margin(self, place: int) -> Floats:
        """How many rows have each value of a column, in all tables."""
        return self.total / self.sizes[place] + self._effects[place]

    def table(self, pair: Pair) -> Floats:
        """How many rows have each two values of two columns."""
        a, b = (self.sizes[place] for place in pair)
        rest = self.pairs[pair].values
        rest = rest - rest.mean(axis=0) - rest.mean(axis=1, keepdims=True) + rest.mean()
        rows, columns = self._effects[pair[0]], self._effects[pair[1]]
        return np.asarray(rest + rows[:, np.newaxis] / b + columns / a + self.total / (a * b))

    def margin_law(self, place: int) -> WeightedSums:
        """How far off the numbers of a margin are.

        Args:
            place: which column.
        """
        return WeightedSums.of(self._terms({place: 1.0}, self.sizes[place]), self.sizes[place])

    def table_law(self, pair: Pair) -> WeightedSums:
        """How far off the numbers of a table are.

        Args:
            pair: which two columns.
        """
        a, b = (self.sizes[place] for place in pair)
        terms = self._terms({pair[0]: 1 / b, pair[1]: 1 / a}, a * b, pair)
        return WeightedSums.of(terms, a * b)

    def _terms(self, shares: Mapping[int, float], cells: int, pair: Pair | None = None) -> list[Term]:
        """What errs in the first number of a margin or of a table.

        Every answer enters by what its numbers say of the total, and of the effects of its columns.

        Args:
            shares: for each column how much of the effect of its first value is in the number.
            cells: among how many numbers the total is divided.
            pair: the table whose rest is in the number too.
        """
        totals = {name: weight / cells for name, weight in self._total_weights.items()}
        terms = [_term(self.rows_law, np.array([totals["rows"]]))]
        for place, column in enumerate(self.columns):
            weights = totals[place] + self._pulls(place, place, shares)
            # In which order values come is no matter: the first may have as many members as any.
            members = np.concatenate([[column.members.max()], np.sort(column.members)[:-1]])
            terms.append(_term(column.law, np.repeat(weights, members)))
        for each, table in self.pairs.items():
            one, other = (self._pulls(place, each, shares) for place in each)
            weights = totals[each] + one[:, np.newaxis] + other
            if each == pair:
                weights = weights + np.outer(_centred(len(one)), _centred(len(other)))
            terms.append(_term(table.law, weights))
        return terms

    def _pulls(self, place: int, source: int | Pair, shares: Mapping[int, float]) -> Floats:
        """With which weights numbers of an answer enter, for what they say of the effect of one column."""
        size = self.sizes[place]
        if place not in shares:
            return np.zeros(size)
        return shares[place] * self._effect_weights[place][source] * _centred(size)

    @cached_property
    def _effects(self) -> list[Floats]:
        """What the values of each column differ by from their average."""
        effects = []
        for place, weights in enumerate(self._effect_weights):
            known = [weight * self._told(place, source) for source, weight in weights.items()]
            effect = np.sum(known, axis=0)
            effects.append(effect - effect.mean())
        return effects

    def _told(self, place: int, source: int | Pair) -> Floats:
        """What one answer says about how many rows have each value of a column."""
        if isinstance(source, int):
            return self.columns[source].together
        return np.asarray(self.pairs[source].values.sum(axis=1 - source.index(place)))

    @cached_property
    def _effect_weights(self) -> list[dict[int | Pair, float]]:
        """For each column, how much each answer counts that knows its effects."""
        every = []
        for place, column in enumerate(self.columns):
            variances: dict[int | Pair, float] = {
                place: float(column.members.mean()) * float(column.law.deviation) ** 2
            }
            for pair, table in self.pairs.items():
                if place in pair:
                    other = self.sizes[pair[1 - pair.index(place)]]
                    variances[pair] = other * float(table.law.deviation) ** 2
            every.append(_weights(variances))
        return every

    @property
    def _answers(self) -> dict[int | Pair, ColumnCounts | PairCounts]:
        answers: dict[int | Pair, ColumnCounts | PairCounts] = dict(enumerate(self.columns))
        answers.update(self.pairs.items())
        return answers

    @cached_property
    def _total_weights(self) -> dict[int | Pair | str, float]:
        """How much each answer counts for the number of rows."""
        variances: dict[int | Pair | str, float] = {"rows": float(self.rows_law.deviation) ** 2}
        for name, each in self._answers.items():
            variances[name] = each.values.size * float(each.law.deviation) ** 2
        return _weights(variances)


def _weights(variances: Mapping[Name, float]) -> dict[Name, float]:
    """Weights inverse to variances, that add up to 1."""
    least = CERTAIN * max(variances.values()) or 1.0
    weights = {name: 1 / max(variance, least) for name, variance in variances.items()}
    whole = sum(weights.values())
    return {name: weight / whole for name, weight in weights.items()}


def _centred(size: int) -> Floats:
    """How the first of so many numbers differs from their average, as weights."""
    return np.asarray((np.arange(size) == 0) - 1 / size)


def _term(law: PlainLaw, weights: Floats) -> Term:
    weights = np.abs(weights)
    weights = np.where(weights < ROUNDING, 0.0, weights)
    return Term(law, float((weights**2).sum()), float(weights.max()), float(weights.sum()))


def pairs_of(many: int) -> Sequence[Pair]:
    """All pairs of so many columns.

    >>> pairs_of(3)
    [(0, 1), (0, 2), (1, 2)]
    """
    return [(i, j) for i in range(many) for j in range(i + 1, many)]

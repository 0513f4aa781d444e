"""Pairs: all two-way tables of some columns, published once, for many models."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from sulq.effects.layout import Floats
from sulq.errors import QueryError
from sulq.hypotheses.pairs.agreement import Pair, pairs_of
from sulq.hypotheses.pairs.columns import PairsColumn
from sulq.hypotheses.pairs.release import PairsRelease, PairsTable
from sulq.learners.attributes_in_bins import Attribute, attributes, public_edges
from sulq.learners.foretold import MANY_COLUMNS, MOST_CELLS, ForetoldNoise, most_values
from sulq.learners.learner import Learner
from sulq.numbers import Numeric, rational
from sulq.queries.attributes import Edges, column_names, distinct
from sulq.queries.choose import Choice, choose
from sulq.queries.codes import Bins
from sulq.queries.expressions import Column, Constant
from sulq.queries.query import Query, count
from sulq.queries.rounds import Round, numbers_of
from sulq.schema import Boolean, Category, Integer, Schema
from sulq.talk.answers import Answer
from sulq.talk.oracle import Rounds

COUNTS, CHOICES = Fraction(1, 5), Fraction(1, 4)
"""The parts of the budget for the counts of each column, and for choosing pairs where there are too many."""
ROWS_WEIGHT = Fraction(1, 10)
"""For the number of all rows, which is free where it is public: elsewhere it gets little of the budget."""
EMPHASIS = Fraction(2)
"""How much more the tables with the label count."""
A_HALVING, HALVINGS = 4, 24
"""Edges where numbers are counted alone: for each halving of the distance from 0, and how many halvings."""
FEW_VALUES = 128
"""So few whole numbers are counted one by one. Of hours that people work, 40 is far more frequent than 41."""


@dataclass(frozen=True)
class Pairs(Learner[PairsRelease]):
    """Publishes all two-way tables of some columns, of which any number of models can be made afterwards.

    A first round counts the rows for each column alone. By these counts numbers are cut into public bins that
    have enough rows. Then all tables of two columns are asked for in one round. Tables that noise would drown
    are left out. Where there are so many columns that noise would drown most tables, a few partners of each
    column are chosen privately before.

    Args:
        columns: names of columns; by default all that can vary.
        label: a column that matters most: its tables are never left out, and more precise.
        pairs: which two columns to ask about, as [("age", "sick")]; by default all, or those worth it.
        bins: public edges of numbers and dates, by column; by default found by the counts of the first round.
        share: the part of the budget to spend.

    >>> import sulq
    >>> release = Pairs(["sex", "plan", "age"]).learn(sulq.randhie().curator(epsilon=1))
    >>> release.pairs
    (('sex', 'plan'), ('sex', 'age'), ('plan', 'age'))
    >>> model = release.naive_bayes("sex")
    >>> model.origin.promise
    'ε = 1 (pure)'
    """

    columns: Sequence[str] | None = None
    label: str | None = None
    pairs: Sequence[tuple[str, str]] | None = None
    bins: Mapping[str, Edges] = field(default_factory=dict)
    share: Numeric = 1

    def rounds(self, schema: Schema) -> Rounds[PairsRelease]:
        share, fine = rational("share", self.share, most=1), self._attributes(schema)
        names = [_name(each) for each in fine]
        wanted, alone = self._wanted(names), [count(by=[each.code]) for each in fine]
        rows, *counts = yield Round([count(weight=ROWS_WEIGHT), *alone], share * COUNTS)
        left = share * (1 - COUNTS)
        noise = ForetoldNoise(rows, counts, share * COUNTS, left)
        coarse = [
            each if name in self.bins else noise.coarse(each, _numbers(answer), len(wanted))
            for name, each, answer in zip(names, fine, counts, strict=True)
        ]
        cells = {(i, j): coarse[i].size * coarse[j].size for i, j in wanted}
        pairs = self._always(names, cells)
        times = 0 if self.pairs is not None else noise.partners(cells, len(fine))
        for _ in range(times):
            choices = [_Partner.of(place, coarse, cells, pairs) for place in range(len(fine))]
            open_ones = [choice for choice in choices if choice.others]
            if open_ones:
                best = yield Round([choice.question(coarse) for choice in open_ones], share * CHOICES / times)
                left -= share * CHOICES / times
                pairs |= {choice.pair(answer) for choice, answer in zip(open_ones, best, strict=True)}
        ordered = sorted(pairs if times else noise.worth_asking(cells, pairs))
        answers: Sequence[Answer] = ()
        if ordered:
            answers = yield Round([self._question(coarse, names, pair) for pair in ordered], left)
        columns = [
            PairsColumn(name, _edges(each), _edges(taken), answer)
            for name, each, taken, answer in zip(names, fine, coarse, counts, strict=True)
        ]
        tables = [PairsTable(pair, answer) for pair, answer in zip(ordered, answers, strict=True)]
        return PairsRelease(schema, None, rows, tuple(columns), tuple(tables))

    def most_numbers(self, schema: Schema) -> int | None:
        """All columns alone, and all tables that may be asked for. Of many columns pairs are chosen."""
        fine = self._attributes(schema)
        if self.pairs is None and len(fine) >= MANY_COLUMNS:
            return None
        wanted = self._wanted([_name(each) for each in fine])
        alone = Round([count(), *(count(by=[each.code]) for each in fine)])
        sizes = [each.size if _name(each) in self.bins else most_values(each) for each in fine]
        return numbers_of(alone, schema) + sum(min(MOST_CELLS, sizes[i] * sizes[j]) for i, j in wanted)

    def _question(self, coarse: Sequence[Attribute], names: Sequence[str], pair: Pair) -> Query:
        matters = self.label in [names[place] for place in pair]
        return count(by=[coarse[place].code for place in pair], weight=EMPHASIS if matters else 1)

    def _attributes(self, schema: Schema) -> tuple[Attribute, ...]:
        if self.columns is not None:
            column_names(distinct(schema, self.columns, "columns", "column"), schema)
        given = [
            each if _name(each) in self.bins else _finer(schema, each)
            for each in attributes(schema, Constant(1), self.columns, self.bins)
        ]
        if len(given) < 2:
            raise QueryError("pairs need at least two columns that can vary")
        return tuple(given)

    def _wanted(self, names: Sequence[str]) -> list[Pair]:
        """The pairs that may be asked for."""
        for name in [
            *([] if self.label is None else [self.label]),
            *(name for pair in self.pairs or () for name in pair),
        ]:
            if name not in names:
                raise QueryError(f"there is no column {name!r} to pair; there are {', '.join(names)}")
        if self.pairs is None:
            return list(pairs_of(len(names)))
        wanted = {_sorted(*(names.index(name) for name in pair)) for pair in self.pairs}
        if not wanted or any(one == other for one, other in wanted):
            raise QueryError("a pair is two different columns, as in pairs=[('age', 'sick')]")
        return sorted(wanted)

    def _always(self, names: Sequence[str], cells: Mapping[Pair, int]) -> set[Pair]:
        """The pairs that are never left out: those that were named, and the label's."""
        return {
            pair
            for pair, size in cells.items()
            if size <= MOST_CELLS
            and (self.pairs is not None or self.label in (names[pair[0]], names[pair[1]]))
        }


@dataclass(frozen=True)
class _Partner:
    """A choice of one more partner for a column.

    Args:
        place: the column.
        others: the columns that it may be paired with.
    """

    place: int
    others: tuple[int, ...]

    @classmethod
    def of(
        cls, place: int, coarse: Sequence[Attribute], cells: Mapping[Pair, int], pairs: Collection[Pair]
    ) -> _Partner:
        """The choice that is left once some pairs were chosen."""
        others = [other for other in range(len(coarse)) if other != place]
        fitting = [other for other in others if cells[_sorted(place, other)] <= MOST_CELLS]
        return cls(place, tuple(other for other in fitting if _sorted(place, other) not in pairs))

    def question(self, coarse: Sequence[Attribute]) -> Choice:
        """Which of the others tells most about the column."""
        return choose([coarse[other].code for other in self.others], coarse[self.place].code, score="purity")

    def pair(self, answer: Answer) -> Pair:
        """The pair that was chosen."""
        return _sorted(self.place, self.others[int(answer.value)])


def _finer(schema: Schema, attribute: Attribute) -> Attribute:
    """A number with the public edges that it is counted alone with; anything else as it is."""
    kind = schema[_name(attribute)]
    if not attribute.ordered or isinstance(kind, Category | Boolean):
        return attribute
    edges = public_edges(kind.low, kind.high, isinstance(kind, Integer), A_HALVING, HALVINGS, FEW_VALUES)
    return Attribute(Bins(Column(_name(attribute)), tuple(edges)), len(edges) + 1, True)


def _sorted(one: int, other: int) -> Pair:
    return min(one, other), max(one, other)


def _name(attribute: Attribute) -> str:
    column = attribute.code.inner if isinstance(attribute.code, Bins) else attribute.code
    assert isinstance(column, Column)
    return column.name


def _edges(attribute: Attribute) -> tuple[float, ...]:
    return attribute.code.edges if isinstance(attribute.code, Bins) else ()


def _numbers(answer: Answer) -> Floats:
    return np.asarray(answer.value, dtype=np.float64)

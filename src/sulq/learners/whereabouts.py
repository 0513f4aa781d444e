"""Where a number is, by a histogram of it alone, and its average."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from sulq.effects.layout import Floats
from sulq.hypotheses.linear import LinearModel
from sulq.hypotheses.measures import bounds_of
from sulq.learners.attributes_in_bins import Attribute, public_edges
from sulq.learners.coordinates import in_few_bins, off_of, value
from sulq.learners.spans import Span, span_of
from sulq.queries.codes import Bins
from sulq.queries.node import Node
from sulq.queries.query import Query, count, total
from sulq.queries.rounds import Round
from sulq.queries.scope import scope_of
from sulq.schema import Schema
from sulq.talk.answers import Answer
from sulq.talk.oracle import Rounds

LOOK, AGAIN = Fraction(1, 20), Fraction(1, 5)
"""The parts of a budget for where a number is, and for a second look if the first was too blurred."""
CLEAR, WORTH = 15.0, 3.0
"""A histogram is clear if rows are so many times as many as the noise in the sum of all its bins. It is not
worth asking for one that would have fewer than the second number."""
SELDOM = Fraction(1, 2)
"""The weight of the number of rows, beside the sum that is divided by it."""


@dataclass(frozen=True)
class Whereabouts:
    """Where a number is, as far as it is known.

    Args:
        schema: what is public about the columns.
        number: the number, as a row expression.
        bins: its intervals.
        rows: how many rows there are, as far as it is known.
        counts: how many rows are in each interval, noise and all.
        off: one standard deviation of the noise in a count.
        power: the noise is inverse to the budget to this power.
    """

    schema: Schema
    number: Node
    bins: Attribute
    rows: float
    counts: Floats
    off: float
    power: float = 0.5

    @property
    def clear(self) -> bool:
        """Whether the histogram shows more than noise."""
        return bool(self.rows >= CLEAR * self.off * len(self.counts) ** 0.5)

    @property
    def span(self) -> Span:
        """Where the values are."""
        return span_of(self.schema, self.bins, self.number, self.counts, self.off, self.rows, self.power)

    @property
    def within(self) -> tuple[float, float] | None:
        """Between which numbers the values are; None for anywhere within the public bounds."""
        ends = self.span.low, self.span.high
        return ends if self.worth(1.0) and ends != bounds_of(self.schema, self.number) else None

    def worth(self, more: float) -> bool:
        """Whether a histogram of this number alone would show more than noise.

        Args:
            more: by how much its noise would be less than that of the histogram so far.
        """
        return bool(more * self.rows >= WORTH * self.off * len(self.counts) ** 0.5)

    def questions(self) -> list[Query]:
        """How many rows are in each interval?"""
        return [count(by=[self.bins.code])]

    def given(self, answers: Sequence[Answer]) -> Whereabouts:
        """The same once `questions` were answered once more: both count by how little noise there is."""
        [answer] = answers
        again = float(np.max(answer.deviation))
        if again == 0:
            return replace(self, counts=value(answer), off=0.0)
        part = self.off**2 / (self.off**2 + again**2)
        counts = part * value(answer) + (1 - part) * self.counts
        return replace(self, counts=counts, off=part**0.5 * again)


def spread_of(schema: Schema, number: Node) -> Attribute:
    """A number in the few public intervals that show where its values are.

    Args:
        schema: what is public about the columns.
        number: the number, as a row expression.
    """
    edges = public_edges(*bounds_of(schema, number), scope_of(schema).number(number).bits == 0)
    return in_few_bins(schema, Attribute(Bins(number, tuple(edges)), len(edges) + 1, True))


def sought(schema: Schema, number: Node, share: Fraction) -> Rounds[tuple[Whereabouts, Fraction]]:
    """Where a number is, and what is left: one look, and another if that is blurred and would be clear.

    Args:
        schema: what is public about the columns.
        number: the number, as a row expression.
        share: the part of the budget that there is.
    """
    bins, left = spread_of(schema, number), share * (1 - LOOK)
    rows, counts = yield Round([count(weight=SELDOM), count(by=[bins.code])], share * LOOK)
    off = off_of(counts)
    where = Whereabouts(
        schema, number, bins, max(1.0, float(value(rows))), value(counts), off, float(counts.law.power)
    )
    if not where.clear and where.worth(float(AGAIN / LOOK) ** float(counts.law.power)):
        where, left = where.given((yield Round(where.questions(), share * AGAIN))), left - share * AGAIN
    return where, left


def average(where: Whereabouts, share: Fraction, more: float) -> Rounds[LinearModel]:
    """The model that says the average of a number for every row.

    Half of the share shows where the number is, if that is not clear but could be; the rest is for the sum
    within.

    Args:
        where: where the number is.
        share: the part of the budget to spend.
        more: by how much less noise half of the share would make in a histogram of this number alone.
    """
    if not where.clear and where.worth(more):
        where = where.given((yield Round(where.questions(), share / 2)))
        share /= 2
    low, high = bounds_of(where.schema, where.number)
    span = where.span if where.worth(1.0) else Span(low, high, low / 2 + high / 2, high / 2 - low / 2)
    half = (span.high - span.low) / 2
    rows, summed = yield Round([count(weight=SELDOM), total(span.scaled(where.number, half))], share)
    many, all_in_all = max(1.0, float(value(rows))), float(value(summed))
    # The best guess if the average were as likely to be anywhere within the span.
    doubt = float(np.max(rows.deviation)) ** 2 + 3 * float(np.max(summed.deviation)) ** 2
    mean = all_in_all * many / (many**2 + doubt)
    inside = min(span.high, max(span.low, span.middle + half * mean))
    return LinearModel(where.schema, None, where.number, (), (), (), inside)

"""Where a number is, if a first look was too blurred to show it: a histogram of it alone, and its average."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sulq.effects.layout import Floats
from sulq.hypotheses.linear import LinearModel
from sulq.hypotheses.measures import bounds_of
from sulq.learners.attributes_in_bins import Attribute
from sulq.learners.coordinates import value
from sulq.learners.spans import Span, span_of
from sulq.queries.node import Node
from sulq.queries.query import Query, count, total
from sulq.queries.rounds import Round
from sulq.schema import Schema
from sulq.talk.answers import Answer
from sulq.talk.oracle import Rounds

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
    """

    schema: Schema
    number: Node
    bins: Attribute
    rows: float
    counts: Floats
    off: float

    @property
    def clear(self) -> bool:
        """Whether the histogram shows more than noise."""
        return bool(self.rows >= CLEAR * self.off * len(self.counts) ** 0.5)

    @property
    def span(self) -> Span:
        """Where the values are."""
        return span_of(self.schema, self.bins, self.number, self.counts, self.off, self.rows)

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
            return Whereabouts(self.schema, self.number, self.bins, self.rows, value(answer), 0.0)
        part = self.off**2 / (self.off**2 + again**2)
        counts = part * value(answer) + (1 - part) * self.counts
        return Whereabouts(self.schema, self.number, self.bins, self.rows, counts, part**0.5 * again)


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

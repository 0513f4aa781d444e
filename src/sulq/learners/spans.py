"""Where the values of a number are, as far as a histogram shows it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sulq.effects.layout import Floats
from sulq.hypotheses.measures import bounds_of
from sulq.learners.attributes_in_bins import Attribute
from sulq.queries.cases import clip
from sulq.queries.codes import Bins
from sulq.queries.node import Node
from sulq.queries.scope import scope_of
from sulq.queries.vectors import Scaled
from sulq.schema import Schema

SEEN, ENOUGH = 4.0, 3.0
"""Rows are seen, and are enough for a group, if they are so many times as many as there is noise in their
number."""
HEAVIER = 2.8
"""Laplace noise in one count is as rarely beyond so many more standard deviations as a bell curve is beyond
`SEEN`; in sums of several counts it comes closer to that."""
RAREST, TAIL, DOUBT = 0.0005, 0.1, 0.6
"""Tails with a smaller part of the rows are cut off; none that could have more than the
second part, if noise is off by the third number of standard deviations."""
STEPS = 2.0**10
"""Centres and scales are multiples of 1/1024."""
SMALLEST = 2.0**-6
"""No number is taken to vary by less than this part of its range."""


@dataclass(frozen=True)
class Span:
    """Where the values of a number are.

    Args:
        low: values below are taken for it.
        high: values above are taken for it.
        middle: about the mean.
        deviation: about one standard deviation.
    """

    low: float
    high: float
    middle: float
    deviation: float

    @property
    def reach(self) -> float:
        """How far a value can be from the middle."""
        return max(self.high - self.middle, self.middle - self.low)

    def scaled(self, number: Node, unit: float) -> Node:
        """The number, kept within the span, less the middle and divided by the unit.

        Args:
            number: a row expression.
            unit: what becomes 1.
        """
        half, centre = (self.high - self.low) / 2, (self.high + self.low) / 2
        inside = Scaled(clip(number, self.low, self.high))
        return inside * _on_grid(half / unit) + _on_grid((centre - self.middle) / unit)


def span_of(
    schema: Schema, attribute: Attribute, number: Node, counts: Floats, off: float, rows: float, power: float
) -> Span:
    """Where the values of a number are, as far as a histogram shows it.

    Args:
        schema: what is public about the columns.
        attribute: the number's intervals; or a truth value, whose number is 0 or 1.
        number: the number, as a row expression.
        counts: how many rows are in each interval.
        off: one standard deviation of the noise in a count.
        rows: how many rows there are.
        power: the noise is inverse to the budget to this power: Laplace noise to the first.
    """
    low, high = bounds_of(schema, number)
    if not (isinstance(attribute.code, Bins) and attribute.ordered):
        mass = likely(counts, off)
        deviation = math.sqrt(float(mass[0] * mass[1]))
        return Span(low, high, float(mass[1]), max(SMALLEST * (high - low), deviation))
    ends = np.array([low, *np.clip(attribute.code.edges, low, high), high])
    first, last = _seen(counts, off, rows, HEAVIER if power == 1 else 0.0)
    inside = np.where(_between(counts, first, last), counts, 0.0)
    groups = attribute.groups(inside, ENOUGH * off) if off else np.arange(len(counts))
    # A bin of whole numbers ends before its edge.
    before = 1.0 if scope_of(schema).number(number).bits == 0 else 0.0
    lefts, rights = ends[:-1], np.maximum(ends[:-1], ends[1:] - before * (ends[1:] < high))
    # Noise makes bins rows that they do not have, so groups of bins say how many there are.
    summed, positive = np.bincount(groups, inside).clip(min=0.0), inside.clip(min=0.0)
    mass = likely(positive * (summed / np.maximum(1e-9, np.bincount(groups, positive)))[groups], 0.0)
    within = float(lefts[first]), float(rights[last])
    if not within[0] < within[1]:
        within = low, high
    middle = float(np.clip(mass @ (lefts + rights) / 2, *within))
    squares = ((lefts + rights) / 2 - middle) ** 2 + (rights - lefts) ** 2 / 12
    return Span(*within, middle, max(SMALLEST * (within[1] - within[0]), math.sqrt(float(mass @ squares))))


def likely(counts: Floats, off: float) -> Floats:
    """The parts of rows with each value: none is negative, and equal parts if nothing can be told.

    Args:
        counts: how many rows have each value, noise and all.
        off: one standard deviation of the noise.

    >>> likely(np.array([30.0, -2.0, 10.0]), 0.0).tolist()
    [0.75, 0.0, 0.25]
    """
    kept = np.where(counts > off, counts, 0.0) if off else counts.clip(min=0.0)
    kept = kept if kept.sum() > 0 else np.ones_like(kept)
    return np.asarray(kept / kept.sum())


def _seen(counts: Floats, off: float, rows: float, heavier: float) -> tuple[int, int]:
    """The first and the last interval with rows that can be told from noise, alone or with those beyond."""
    if off == 0 and (counts > 0).any():
        rowful = np.flatnonzero(counts > 0)
        return int(rowful[0]), int(rowful[-1])
    last = max(_furthest(counts, off, rows, heavier), _safe(counts, off, rows))
    first = len(counts) - 1 - max(_furthest(counts[::-1], off, rows, heavier), _safe(counts[::-1], off, rows))
    return (first, last) if first <= last else (0, len(counts) - 1)


def _safe(counts: Floats, off: float, rows: float) -> int:
    """The first place beyond which there can only be few rows, noise or not."""
    beyond = np.append(np.cumsum(counts[::-1])[::-1][1:], 0.0).clip(min=0.0)
    doubt = DOUBT * off * np.sqrt(np.arange(len(counts) - 1, -1, -1))
    return int(np.argmax(beyond + doubt <= TAIL * rows))


def _furthest(counts: Floats, off: float, rows: float, heavier: float) -> int:
    """The last place from which on some intervals, 1 or 2 or 4 and so on, have more rows than noise."""
    summed, place, many = np.concatenate([[0.0], np.cumsum(counts)]), -1, 1
    while many <= len(counts):
        sums = summed[many:] - summed[:-many]
        seen = np.flatnonzero(sums > max((SEEN * math.sqrt(many) + heavier) * off, RAREST * rows))
        place, many = max(place, int(seen[-1]) if len(seen) else -1), 2 * many
    return place if place >= 0 else len(counts) - 1


def _between(counts: Floats, first: int, last: int) -> NDArray[np.bool_]:
    places = np.arange(len(counts))
    return np.asarray((places >= first) & (places <= last))


def _on_grid(number: float) -> float:
    return round(number * STEPS) / STEPS

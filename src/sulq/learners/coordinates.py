"""Rows as points: numbers centred and scaled by what a first look showed, categories as a 1 among zeros."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sulq.effects.layout import Floats
from sulq.hypotheses.measures import bounds_of
from sulq.learners.attributes_in_bins import Attribute
from sulq.queries.cases import clip
from sulq.queries.codes import Bins, OneHot
from sulq.queries.lookups import Lookup
from sulq.queries.node import Node
from sulq.queries.scope import scope_of
from sulq.queries.vectors import Scaled, clip_norm, vector
from sulq.schema import Schema
from sulq.talk.answers import Answer

SEEN, ENOUGH = 4.0, 3.0
"""Rows are seen, and are enough for a group, if they are so many times as many as there is noise in their
number."""
RAREST, TAIL, DOUBT = 0.0005, 0.1, 0.6
"""Tails with a smaller part of the rows are cut off; none that could have more than the
second part, if noise is off by the third number of standard deviations."""
STEPS = 2.0**10
"""Centres and scales are multiples of 1/1024."""
EVEN, HALVINGS = 16, 13
"""Into so many equal parts a number is cut, and so often the distance from 0 is halved."""
SMALLEST = 2.0**-6
"""No number is taken to vary by less than this part of its range."""
TYPICAL, SHORTEST = 40.0, 1.5
"""Rows may be longer than usual. The square of the factor is the number of rows, divided by this many times
the noise in a count, and at least the second number."""
ALONE = Fraction(1, 2)
"""The weight of the sum of what is not explained, beside that of its products with coordinates."""
UNKNOWN = 1e12
"""What says nothing is off by this."""


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


@dataclass(frozen=True)
class Coordinates:
    """The features of a row as a point, whose first coordinate is 1.

    Args:
        point: the point, as a row expression.
        features: what each coordinate but the first stands for, as a number in its own unit.
        middles: which value of a feature is 0.
        units: by how much a feature differs where its coordinate differs by 1.
        variances: about the variance of each coordinate but the first.
        blocks: where the coordinates of each attribute are, the 1 being at 0.
        shares: the part of rows that has each value of a category; for numbers None.
    """

    point: Node
    features: tuple[Node, ...]
    middles: Floats
    units: Floats
    variances: Floats
    blocks: tuple[slice, ...]
    shares: tuple[Floats | None, ...]

    @property
    def length(self) -> tuple[float, float]:
        """How long a point usually is, in the 1-norm and in the 2-norm."""
        one, square = 1.0, 1.0
        for block, shares in zip(self.blocks, self.shares, strict=True):
            variance = 1.0 if shares is not None else float(self.variances[block.start - 1])
            one, square = one + math.sqrt(variance), square + variance
        return one, math.sqrt(square)


@dataclass(frozen=True)
class Look:
    """How much was seen at a first look.

    Args:
        rows: how many rows there are.
        off: one standard deviation of the noise in a count of rows.
        power: the noise is inverse to the budget to this power.
    """

    rows: float
    off: float
    power: float

    def shortened(self, row: Node, usual: tuple[float, float]) -> Node:
        """A vector of a row, shortened where it is unusually long; by less, the less noise there is.

        Args:
            row: the vector, as a row expression.
            usual: how long it usually is, in the 1-norm and in the 2-norm.
        """
        if self.off == 0:
            return row
        longer = math.sqrt(max(SHORTEST, self.rows / (TYPICAL * self.off)))
        shorter = clip_norm(row, _up(longer * usual[1]))
        return shorter if self.power < 1 else clip_norm(shorter, _up(longer * usual[0]), order=1)


def looked_at_first(rows: Answer, counts: Sequence[Answer]) -> Look:
    """What a first look says about noise.

    Args:
        rows: the answer about the number of rows.
        counts: the answers about the rows with each value of each attribute.
    """
    off = max(_off(answer) for answer in counts)
    return Look(max(1.0, float(value(rows))), off, float(counts[0].law.power))


def gradient_of(answers: Sequence[Answer], shape: tuple[int, ...]) -> tuple[Floats, Floats]:
    """A gradient and the variance of its noise, the first coordinate being what is not explained in all.

    Args:
        answers: the sums of coordinates times what is not explained, and of what is not explained.
        shape: the numbers that stand for the label, and the coordinates.
    """
    along, alone = answers
    sums, noise = np.reshape(value(along), shape).copy(), np.full(shape[-1], _off(along) ** 2)
    sums[..., 0], noise[0] = np.reshape(value(alone), shape[:-1]), _off(alone) ** 2
    return sums, noise


def in_few_bins(schema: Schema, attribute: Attribute) -> Attribute:
    """A number in few public intervals, which halve their distance from 0; other attributes as they are.

    Args:
        schema: what is public about the columns.
        attribute: the attribute.
    """
    if not (isinstance(attribute.code, Bins) and attribute.ordered) or attribute.size <= EVEN:
        return attribute
    low, high = bounds_of(schema, attribute.code.inner)
    edges = {low + (high - low) * place / EVEN for place in range(1, EVEN)}
    edges |= {end / 2**place for end in (low, high) for place in range(1, HALVINGS)}
    if low < 0 < high:
        edges.add(0.0)
    if scope_of(schema).number(attribute.code.inner).bits == 0:
        edges = {float(math.ceil(edge)) for edge in edges}
    cut = tuple(sorted(edge for edge in edges if low < edge <= high))
    return Attribute(Bins(attribute.code.inner, cut), len(cut) + 1, True)


def coordinates(
    schema: Schema, attributes: Sequence[Attribute], counts: Sequence[Answer], rows: float
) -> Coordinates:
    """Attributes as coordinates of similar sizes.

    Args:
        schema: what is public about the columns.
        attributes: the attributes.
        counts: how many rows have each value of each attribute.
        rows: how many rows there are.
    """
    parts: list[Node] = []
    features: list[Node] = []
    numbers: list[tuple[float, float, float]] = []
    blocks: list[slice] = []
    shares: list[Floats | None] = []
    for attribute, answer in zip(attributes, counts, strict=True):
        start, each = len(features) + 1, value(answer)
        if attribute.ordered or attribute.size == 2:
            number = _number(attribute)
            span = span_of(schema, attribute, number, each, _off(answer), rows)
            unit = math.sqrt(span.deviation * span.reach)
            parts.append(span.scaled(number, unit))
            features.append(number if not attribute.ordered else clip(number, span.low, span.high))
            numbers.append((span.middle, unit, span.deviation / span.reach))
            shares.append(None)
        else:
            share = likely(each, _off(answer))
            parts.append(OneHot(attribute.code))
            features += [_whether(attribute, place) for place in range(attribute.size)]
            numbers += [(0.0, 1.0, float(part)) for part in share * (1 - share)]
            shares.append(share)
        blocks.append(slice(start, len(features) + 1))
    middles, units, variances = np.array(numbers).T
    return Coordinates(
        vector(1, *parts), tuple(features), middles, units, variances, tuple(blocks), tuple(shares)
    )


def span_of(
    schema: Schema, attribute: Attribute, number: Node, counts: Floats, off: float, rows: float
) -> Span:
    """Where the values of a number are, as far as a histogram shows it.

    Args:
        schema: what is public about the columns.
        attribute: the number's intervals; or a truth value, whose number is 0 or 1.
        number: the number, as a row expression.
        counts: how many rows are in each interval.
        off: one standard deviation of the noise in a count.
        rows: how many rows there are.
    """
    low, high = bounds_of(schema, number)
    if not (isinstance(attribute.code, Bins) and attribute.ordered):
        mass = likely(counts, off)
        deviation = math.sqrt(float(mass[0] * mass[1]))
        return Span(low, high, float(mass[1]), max(SMALLEST * (high - low), deviation))
    ends = np.array([low, *np.clip(attribute.code.edges, low, high), high])
    first, last = _seen(counts, off, rows)
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


def value(answer: Answer) -> Floats:
    """What an answer says, as finite numbers."""
    return np.nan_to_num(np.asarray(answer.value, dtype=np.float64), posinf=UNKNOWN, neginf=-UNKNOWN)


def _off(answer: Answer) -> float:
    return min(UNKNOWN, float(np.max(answer.deviation)))


def _seen(counts: Floats, off: float, rows: float) -> tuple[int, int]:
    """The first and the last interval with rows that can be told from noise, alone or with those beyond."""
    if off == 0 and (counts > 0).any():
        rowful = np.flatnonzero(counts > 0)
        return int(rowful[0]), int(rowful[-1])
    last = max(_furthest(counts, off, rows), _safe(counts, off, rows))
    first = len(counts) - 1 - max(_furthest(counts[::-1], off, rows), _safe(counts[::-1], off, rows))
    return (first, last) if first <= last else (0, len(counts) - 1)


def _safe(counts: Floats, off: float, rows: float) -> int:
    """The first place beyond which there can only be few rows, noise or not."""
    beyond = np.append(np.cumsum(counts[::-1])[::-1][1:], 0.0).clip(min=0.0)
    doubt = DOUBT * off * np.sqrt(np.arange(len(counts) - 1, -1, -1))
    return int(np.argmax(beyond + doubt <= TAIL * rows))


def _furthest(counts: Floats, off: float, rows: float) -> int:
    """The last place from which on some intervals, 1 or 2 or 4 and so on, have more rows than noise."""
    summed, place, many = np.concatenate([[0.0], np.cumsum(counts)]), -1, 1
    while many <= len(counts):
        sums = summed[many:] - summed[:-many]
        seen = np.flatnonzero(sums > max(SEEN * off * math.sqrt(many), RAREST * rows))
        place, many = max(place, int(seen[-1]) if len(seen) else -1), 2 * many
    return place if place >= 0 else len(counts) - 1


def _between(counts: Floats, first: int, last: int) -> NDArray[np.bool_]:
    places = np.arange(len(counts))
    return np.asarray((places >= first) & (places <= last))


def _number(attribute: Attribute) -> Node:
    if isinstance(attribute.code, Bins) and attribute.ordered:
        return attribute.code.inner
    return _whether(attribute, 1)


def _whether(attribute: Attribute, place: int) -> Node:
    return Lookup(attribute.code, tuple((float(each == place),) for each in range(attribute.size)))


def _on_grid(number: float) -> float:
    return round(number * STEPS) / STEPS


def _up(number: float) -> float:
    return math.ceil(number * STEPS) / STEPS

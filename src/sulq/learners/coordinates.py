"""Rows as points: numbers centred and scaled by what a first look showed, categories as a 1 among zeros."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sulq.effects.layout import Floats
from sulq.errors import QueryError
from sulq.hypotheses.measures import bounds_of
from sulq.learners.attributes_in_bins import Attribute
from sulq.learners.spans import STEPS, likely, span_of
from sulq.queries.cases import clip
from sulq.queries.codes import Bins, OneHot
from sulq.queries.lookups import Lookup
from sulq.queries.node import Node
from sulq.queries.scope import scope_of
from sulq.queries.vectors import clip_norm, vector
from sulq.schema import Schema
from sulq.talk.answers import Answer

EVEN, HALVINGS = 16, 13
"""Into so many equal parts a number is cut, and so often the distance from 0 is halved."""
TYPICAL, SHORTEST = 40.0, 1.5
"""Rows may be longer than usual. The square of the factor is the number of rows, divided by this many times
the noise in a count, and at least the second number."""
ALONE = Fraction(1, 2)
"""The weight of the sum of what is not explained, beside that of its products with coordinates."""
HIDDEN = 0.1
"""As many rows, in units of the noise in a count, are taken to be at the end of what was seen of a number. It
would seem to vary less than it does where noise hides them, and its weights would be wild."""
UNKNOWN = 1e12
"""What says nothing is off by this."""


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
        lengths = np.array([1.0, *self.lengths])
        return float(lengths.sum()), math.sqrt(float((lengths**2).sum()))

    @property
    def lengths(self) -> list[float]:
        """How long the coordinates of each attribute usually are."""
        return [
            1.0 if shares is not None else math.sqrt(float(self.variances[block.start - 1]))
            for block, shares in zip(self.blocks, self.shares, strict=True)
        ]


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
    off = max(off_of(answer) for answer in counts)
    return Look(max(1.0, float(value(rows))), off, float(counts[0].law.power))


def gradient_of(answers: Sequence[Answer], shape: tuple[int, ...]) -> tuple[Floats, Floats]:
    """A gradient and the variance of its noise, the first coordinate being what is not explained in all.

    Args:
        answers: the sums of coordinates times what is not explained, and of what is not explained.
        shape: the numbers that stand for the label, and the coordinates.
    """
    along, alone = answers
    sums, noise = np.reshape(value(along), shape).copy(), np.full(shape[-1], off_of(along) ** 2)
    if np.size(along.deviation) == shape[-1]:
        noise = np.minimum(UNKNOWN, np.ravel(along.deviation)) ** 2
    sums[..., 0], noise[0] = np.reshape(value(alone), shape[:-1]), off_of(alone) ** 2
    return sums, noise


def by_hands(schema: Schema, attributes: Sequence[Attribute]) -> tuple[list[Attribute], tuple[int, ...]]:
    """Attributes in the order of the hands that hold them, and how many each hand holds.

    Args:
        schema: what is public about the columns.
        attributes: the attributes.
    """
    held: list[list[Attribute]] = [[] for _ in schema.hands]
    for each in attributes:
        names = {leaf.name for leaf in each.code.leaves().values()}
        whose = [place for place, hand in enumerate(schema.hands) if names <= set(hand)]
        if not whose:
            raise QueryError(f"{each.code.described()} looks at columns of several parties")
        held[whose[0]].append(each)
    return [each for hand in held for each in hand], tuple(len(hand) for hand in held if hand)


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
            span = span_of(schema, attribute, number, each, off_of(answer), rows, float(answer.law.power))
            hidden = HIDDEN * min(1.0, off_of(answer) / rows) if attribute.ordered else 0.0
            deviation = min(span.reach, math.hypot(span.deviation, math.sqrt(hidden) * span.reach))
            unit = math.sqrt(deviation * span.reach)
            parts.append(span.scaled(number, unit))
            features.append(number if not attribute.ordered else clip(number, span.low, span.high))
            numbers.append((span.middle, unit, deviation / span.reach))
            shares.append(None)
        else:
            share = likely(each, off_of(answer))
            parts.append(OneHot(attribute.code))
            features += [_whether(attribute, place) for place in range(attribute.size)]
            numbers += [(0.0, 1.0, float(part)) for part in share * (1 - share)]
            shares.append(share)
        blocks.append(slice(start, len(features) + 1))
    middles, units, variances = np.array(numbers).T
    return Coordinates(
        vector(1, *parts), tuple(features), middles, units, variances, tuple(blocks), tuple(shares)
    )


def width_of(attributes: Sequence[Attribute]) -> int:
    """How many coordinates a point of some attributes has, with the 1 that is the first of them.

    Args:
        attributes: the attributes.
    """
    return 1 + sum(1 if each.ordered or each.size == 2 else each.size for each in attributes)


def value(answer: Answer) -> Floats:
    """What an answer says, as finite numbers."""
    given = np.asarray(answer.value, dtype=np.float64)
    return np.asarray(np.nan_to_num(given, posinf=UNKNOWN, neginf=-UNKNOWN))


def off_of(answer: Answer) -> float:
    """One standard deviation of the noise in an answer, the largest if there are several; at most `UNKNOWN`.

    Args:
        answer: the answer.
    """
    return min(UNKNOWN, float(np.max(answer.deviation)))


def _number(attribute: Attribute) -> Node:
    if isinstance(attribute.code, Bins) and attribute.ordered:
        return attribute.code.inner
    return _whether(attribute, 1)


def _whether(attribute: Attribute, place: int) -> Node:
    return Lookup(attribute.code, tuple((float(each == place),) for each in range(attribute.size)))


def _up(number: float) -> float:
    return math.ceil(number * STEPS) / STEPS

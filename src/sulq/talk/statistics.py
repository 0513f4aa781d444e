"""From sums to statistics, and to the laws of their errors."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sulq.privacy.finer import FinerGaussian
from sulq.privacy.repeated import AddedNoise, RepeatedNoise
from sulq.privacy.spherical import SphericalLaplace
from sulq.privacy.terms import Pure, Settled
from sulq.queries.choose import Choice
from sulq.queries.node import Node
from sulq.queries.query import Query
from sulq.queries.scope import Scope
from sulq.queries.value_names import value_names
from sulq.talk.answers import Answer, Axis
from sulq.talk.choice_laws import Gap
from sulq.talk.laws import Exactly, MeanOfNoise, Noise, PlainLaw, Ratio, shaped
from sulq.talk.vector_law import VectorNoise

Steps = NDArray[np.object_]
MOST_LABELS = 4096
"""The places of an axis are named if they are no more than this."""
SAFE_BITS = 500


@dataclass(frozen=True)
class KnownSum:
    """What is known of the sum of one part of a query, in natural units."""

    values: NDArray[np.float64]
    law: PlainLaw


def answer_to(
    query: Query, sums: Sequence[Steps], noises: Sequence[AddedNoise | None], scope: Scope
) -> Answer:
    """The statistic a query asks for, from the sums of its parts and the noise that is in them."""
    parts = [_released(scope, *of) for of in zip(query.parts, sums, noises, strict=True)]
    return statistic(query, parts, scope)


def statistic(query: Query, parts: Sequence[KnownSum], scope: Scope) -> Answer:
    """The statistic a query asks for, from what is known of the sums of its parts."""
    shape, axes = query.shape(scope), axes_of(query, scope)
    if query.statistic != "mean":
        [only] = parts
        return Answer(shaped(only.values, shape), only.law, axes)
    total, count = parts
    totals = total.values.reshape(len(count.values), -1)
    # Of nobody there is no mean, whatever noise makes the total.
    means = totals / np.where(count.values == 0, np.nan, count.values)[:, np.newaxis]
    rows = tuple(map(tuple, totals.tolist()))
    law = Ratio(rows, tuple(count.values.tolist()), total.law, count.law, shape)
    return Answer(shaped(means, shape), law, axes)


def chosen(choice: Choice, indices: Sequence[int], selection: Settled | None, scope: Scope) -> Answer:
    """The candidates chosen, one for each group."""
    shape = choice.shape(scope)
    value = np.array(indices, dtype=np.int64).reshape(shape)
    law = (
        Exactly()
        if selection is None or isinstance(selection, Pure)
        else Gap.of(selection, len(choice.candidates), len(indices), choice.score_step(scope))
    )
    return Answer(int(value) if shape == () else value, law, axes_of(choice, scope))


def axes_of(query: Query | Choice, scope: Scope) -> tuple[Axis, ...]:
    """What the axes of an answer stand for: one for each `by`, then a vector's own."""
    axes = [Axis(group.described(), _labels(group, scope)) for group in query.by]
    if isinstance(query, Query) and scope.number(query.value).width > 1:
        axes.append(Axis(query.value.described(), None))
    return tuple(axes)


def _labels(group: Node, scope: Scope) -> tuple[str, ...] | None:
    return None if scope.code(group).size > MOST_LABELS else value_names(group, scope)


def _released(scope: Scope, part: Node, steps: Steps, noise: AddedNoise | None) -> KnownSum:
    """The sum of one part of a query, as the nearest floats, with the noise that is in it."""
    facts = scope.number(part)
    if isinstance(noise, RepeatedNoise):
        law = MeanOfNoise(Noise.of(noise.noise, facts.unit, len(steps)), noise.times)
        return KnownSum(nearest_floats(steps, facts.bits) / noise.times, law)
    if isinstance(noise, FinerGaussian):
        finer = Noise.of(noise.noise, facts.unit / noise.times, len(steps))
        return KnownSum(nearest_floats(steps, facts.bits + noise.bits), finer)
    values = nearest_floats(steps, facts.bits)
    if isinstance(noise, SphericalLaplace):
        return KnownSum(values, VectorNoise.of(noise, facts.unit, len(steps)))
    return KnownSum(values, Exactly() if noise is None else Noise.of(noise, facts.unit, len(steps)))


def nearest_floats(steps: Steps, bits: int) -> NDArray[np.float64]:
    """The floats nearest to whole numbers of steps of a grid.

    Args:
        steps: the whole numbers.
        bits: the grid is 2 to the power of minus this.

    >>> nearest_floats(np.array([3, 2**60 + 1], dtype=object), 1).tolist()
    [1.5, 5.764607523034235e+17]
    """
    with suppress(OverflowError):
        floats = steps.astype(np.float64)
        if max(abs(bits), np.log2(np.abs(floats).max(initial=1))) < SAFE_BITS:
            return np.ldexp(floats, -bits)  # rounded once: nothing is near the ends of the range of floats
    unit = Fraction(2) ** -bits
    times, over = unit.numerator, unit.denominator  # whole numbers are much faster than fractions
    return np.array([int(step) * times / over for step in steps], dtype=np.float64)

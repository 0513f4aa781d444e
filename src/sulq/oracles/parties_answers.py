"""Answers across parties, made of sums that single parties said and of their sketches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from sulq.oracles.sketches import SketchEstimate
from sulq.queries.factored import Products
from sulq.queries.node import Node
from sulq.queries.query import Query
from sulq.queries.scope import Scope
from sulq.talk.answers import Answer
from sulq.talk.laws import Exactly, Noise, PlainLaw
from sulq.talk.sketched import Sketched
from sulq.talk.statistics import KnownSum, statistic

Key = tuple[int, str]
"""Names a factor: the hand that it is in, and the key of its expression."""
EXACTLY_KNOWN = 2**20
"""The degrees of freedom of an answer without estimates."""


def factor_key(hand: int, node: Node | None) -> Key:
    """Names a factor; without an expression, the number of rows.

    Args:
        hand: the hand that it is in.
        node: its expression.
    """
    return hand, "" if node is None else node.key


def across(
    query: Query,
    parts: Sequence[Sequence[Products]],
    sums: Mapping[Key, Answer],
    estimate: Callable[[Products], SketchEstimate],
    scope: Scope,
) -> Answer:
    """The answer to a query over the columns of several parties.

    Args:
        query: what was asked.
        parts: its parts, as sums of products.
        sums: the sums that single parties said.
        estimate: estimates products from the sketches of their factors.
        scope: expressions read against the columns of all parties.
    """
    widths = [scope.number(part).width for part in query.parts]
    shapes = [(widths[-1], widths[0] // widths[-1]), (widths[-1], 1)]
    plain = [query.shape(scope)] if query.statistic != "mean" else shapes
    known = [
        _known(part, width, shape, sums, estimate)
        for part, width, shape in zip(parts, widths, plain, strict=True)
    ]
    return statistic(query, known, scope)


def _known(
    part: Sequence[Products],
    width: int,
    shape: tuple[int, ...],
    sums: Mapping[Key, Answer],
    estimate: Callable[[Products], SketchEstimate],
) -> KnownSum:
    """The sum of one part of a query, from sums of single parties and from estimates across them."""
    values, deviations, degrees = np.zeros(width), np.zeros(width), EXACTLY_KNOWN
    laws: dict[tuple[Noise | Exactly, int], NDArray[np.float64]] = {}
    for products in part:
        hands = sorted(products.factors)
        if len(hands) > 1:
            known = estimate(products)
            degrees = min(degrees, known.degrees)
            np.add.at(values, products.places, products.weights * known.values)
            np.add.at(deviations, products.places, np.abs(products.weights) * known.deviations)
            continue
        hand = min(hands, default=0)
        answer = sums[factor_key(hand, products.factors.get(hand))]
        numbers = np.ravel(answer.value)[products.at[hand] if hands else np.zeros_like(products.places)]
        np.add.at(values, products.places, products.weights * numbers)
        for turn, at in enumerate(_turns(products.places)):
            weights = laws.setdefault((cast(Noise | Exactly, answer.law), turn), np.zeros(width))
            weights[products.places[at]] += np.abs(products.weights[at])
    law = Sketched(
        tuple(deviations.tolist()),
        degrees,
        tuple(law for law, _ in laws),
        tuple(tuple(weights.tolist()) for weights in laws.values()),
        shape,
    )
    return KnownSum(values, cast(PlainLaw, law))


def _turns(places: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Products in turns, in each of which no place is met twice: so errors of one turn are of one number."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    first = np.searchsorted(ordered, ordered)
    rank = np.arange(len(places)) - first
    return [order[rank == turn] for turn in range(int(rank.max(initial=-1)) + 1)]

"""What one person loses by a round, worked out from the noise that is really added."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import sulq
from sulq.oracles.curator import Curator
from sulq.privacy.finer import FinerGaussian
from sulq.privacy.noise import DiscreteGaussian, DiscreteLaplace
from sulq.privacy.prices import Prices
from sulq.privacy.repeated import RepeatedNoise
from sulq.privacy.spherical import SphericalLaplace
from sulq.queries.choose import Choice
from sulq.queries.exchanged import vector_moves
from sulq.queries.node import Node
from sulq.queries.rounds import asked_of
from sulq.queries.vectors import Only


def loss(curator: Curator, round_: sulq.Round) -> Fraction:
    """In the unit of the curator's budget, by the facts of the expressions and the laws of the noise.

    Under the paper's calibrations a number that is told at all costs a query, and must have the noise of the
    paper for the distance that one person moves it.
    """
    terms, round_ = curator.offer.terms(round_), asked_of(round_, curator.schema)
    noises, selections = iter(terms.noises), iter(terms.selections)
    prices = getattr(getattr(curator.offer.calibration, "budget", None), "prices", Prices(Fraction(0)))
    lost = Fraction(0)
    # Of two exchanged rows both satisfy a condition or one does: the same for all sums with that condition.
    by_condition: dict[str, list[Fraction]] = defaultdict(lambda: [Fraction(0), Fraction(0)])
    for query in round_.queries:
        if isinstance(query, Choice):
            selection = next(selections)
            moved = query.moves(curator.offer.scope, curator.offer.neighbours)
            assert (selection is None) == (moved == 0)
            if selection is not None:
                assert selection.sensitivity == moved
                lost += (
                    selection.epsilon
                    if curator.offer.calibration.unit == "epsilon"
                    else prices.choice * selection.rho()
                )
            continue
        for part in query.parts:
            noise = next(noises)
            if noise is None:
                assert _moves(curator, part)[0] == 0, "what somebody moves goes without noise"
                continue
            one, two, furthest = _moves(curator, part)
            if curator.offer.calibration.unit == "queries":
                times = noise.times if isinstance(noise, RepeatedNoise) else 1
                each = noise.noise if isinstance(noise, RepeatedNoise) else noise
                if isinstance(each, DiscreteLaplace):
                    assert each.scale >= curator.offer.calibration.scale * furthest  # type: ignore[attr-defined]
                else:
                    assert each.variance >= curator.offer.calibration.variance * furthest**2  # type: ignore[attr-defined]
                lost += times * curator.offer.scope.number(part).width
                continue
            assert not isinstance(noise, RepeatedNoise)
            if isinstance(noise, SphericalLaplace):
                moves = vector_moves(curator.offer.scope, part, curator.offer.neighbours)
                assert moves is not None and moves.width == noise.width
                step = curator.offer.scope.number(part).unit
                inside, alone = (noise.epsilon(moved / step) for moved in (moves.inside, moves.alone))
                if query.where is not None and curator.offer.neighbours == "replace":
                    by_condition[query.where.key][0] += inside
                    by_condition[query.where.key][1] += alone
                else:
                    lost += noise.epsilon(moves.moves / step)
                continue
            if query.where is not None and isinstance(part, Only) and curator.offer.neighbours == "replace":
                for case, (first, second) in enumerate(_cases(curator, part)):
                    by_condition[query.where.key][case] += _lost(noise, first, second, prices)
            else:
                lost += _lost(noise, one, two, prices)
    return lost + sum(map(max, by_condition.values()), Fraction(0))


def _lost(
    noise: DiscreteLaplace | DiscreteGaussian | FinerGaussian, one: Fraction, two: Fraction, prices: Prices
) -> Fraction:
    if isinstance(noise, DiscreteLaplace):
        return one / noise.scale
    if isinstance(noise, FinerGaussian):  # what moves a sum by a step moves it by so many of the finer grid
        return _lost(noise.noise, one, two * noise.times**2, prices)
    return two / (2 * prices.continuous(noise.variance))


def _cases(curator: Curator, part: Only) -> list[tuple[Fraction, Fraction]]:
    """How far a sum with a condition moves, in steps: if both of two rows satisfy it, and if one does."""
    facts, inner = curator.offer.scope.number(part), curator.offer.scope.number(part.inner)
    rows, steps = curator.schema.rows_per_unit, inner.unit / facts.unit
    both = min(inner.spread1 * steps, facts.spread1), min(inner.spread_square * steps**2, facts.spread_square)
    alone = min(inner.norm1 * steps, facts.norm1), min(inner.square * steps**2, facts.square)
    return [(Fraction(rows * one), Fraction(rows**2 * two)) for one, two in (both, alone)]


def _moves(curator: Curator, part: Node) -> tuple[Fraction, Fraction, Fraction]:
    """How far one person moves a sum, in steps: its 1-norm, the square of its 2-norm, its furthest coordinate."""
    facts, rows = curator.offer.scope.number(part), curator.schema.rows_per_unit
    come = facts.norm1, facts.square, facts.magnitude
    exchanged = facts.spread1, facts.spread_square, int((facts.high - facts.low).max())
    if curator.offer.neighbours == "add-remove":
        worst = come
    else:
        worst = exchanged if rows == 1 else tuple(map(max, come, exchanged))  # type: ignore[assignment]
    return Fraction(rows * worst[0]), Fraction(rows**2 * worst[1]), Fraction(rows * worst[2])

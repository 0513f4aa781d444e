"""Whole learners, round by round: what each answer loses on two neighbouring tables, exactly.

A learner sees nothing but answers. So what it gives away of a person is what its transcript gives away: the
noisy sums and the choices, one after the other. Its rounds are recorded; both tables are summed for them by
the kernel; and the loss of every answer, at its worst, is added up and compared with the charge.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sulq.audits.costs import BY_RHO, cost_in, loss_of_sum
from sulq.oracles.curator import Curator
from sulq.privacy.prices import Prices
from sulq.privacy.repeated import AddedNoise
from sulq.privacy.selection import ExponentialMechanism, Selection
from sulq.privacy.spherical import SphericalLaplace
from sulq.privacy.terms import Pure
from sulq.queries.choose import Choice
from sulq.queries.rounds import Ahead, Round, asked_of
from sulq.schema import Schema
from sulq.sources.sums import Sums
from sulq.talk.answers import Answer
from sulq.talk.row_questions import RowQuestion


@dataclass
class Recorded:
    """A curator who keeps the rounds that were asked."""

    curator: Curator
    rounds: list[Round] = field(default_factory=list)

    @property
    def schema(self) -> Schema:
        return self.curator.schema

    @property
    def promise(self) -> str:
        return self.curator.promise

    def ask(self, round_: Round, run: str = "main") -> list[Answer]:
        self.rounds.append(round_)
        return self.curator.ask(round_, run)

    def afford(self, round_: Round, run: str, ahead: Ahead) -> bool:
        return self.curator.afford(round_, run, ahead)

    def denoised(self, *arguments: Any, **named: Any) -> Any:
        return self.curator.denoised(*arguments, **named)


@dataclass(frozen=True)
class RoundLoss:
    """What a round was charged, and what it gives away of the person in whom two tables differ."""

    charged: Fraction
    lost: float
    other_mechanisms: bool
    """Whether a mechanism of its own was asked as well: its charge counts as lost here."""


def losses(curator: Curator, here: Sums, there: Sums, rounds: Sequence[Round]) -> list[RoundLoss]:
    """For each round, its charge and its loss, in the unit of the budget."""
    return [_loss(curator, here, there, asked_of(round_, curator.schema)) for round_ in rounds]


def _loss(curator: Curator, here: Sums, there: Sums, round_: Round) -> RoundLoss:
    offer = curator.offer
    terms = offer.terms(round_)
    parts = [part for query in round_.queries for part in query.parts]
    both = [iter(source.sums(parts) if parts else []) for source in (here, there)]
    noises, selections = iter(terms.noises), iter(terms.selections)
    prices = getattr(getattr(offer.calibration, "budget", None), "prices", BY_RHO)
    lost, others = 0.0, False
    for query in round_.queries:
        ones, twos = ([next(sums) for _ in query.parts] for sums in both)
        if isinstance(query, RowQuestion):
            settled, others = next(selections), True
            lost += 0.0 if settled is None else _most(settled, offer.unit, prices)
        elif isinstance(query, Choice):
            settled = next(selections)
            assert not isinstance(settled, Pure)
            pairs = zip(query.scores(ones, offer.scope).T, query.scores(twos, offer.scope).T, strict=True)
            lost += float(prices.choice if offer.unit == "rho" else 1) * sum(
                _choice(settled, [int(x) for x in a], [int(x) for x in b], offer.unit) for a, b in pairs
            )
        else:
            for one, two in zip(ones, twos, strict=True):
                moves = [abs(int(a) - int(b)) for a, b in zip(one, two, strict=True)]
                squares, noise = Fraction(sum(move * move for move in moves)), next(noises)
                lost += float(
                    loss_of_sum(noise, Fraction(sum(moves)), squares, _lengths(noise, moves), prices)
                )
    return RoundLoss(terms.cost, lost, others)


def _lengths(noise: AddedNoise | None, moves: Sequence[int]) -> Fraction:
    """The 2-norms of what moved in each vector, added up, where the noise is of vectors."""
    width = noise.width if isinstance(noise, SphericalLaplace) else len(moves)
    blocks = (moves[start : start + width] for start in range(0, len(moves), width))
    return sum((Fraction(math.hypot(*block)) for block in blocks), Fraction(0))


def _most(settled: Selection | Pure, unit: str, prices: Prices) -> float:
    """What a mechanism may lose on any two tables."""
    if unit == "rho" and prices.concentrated and isinstance(settled, ExponentialMechanism):
        return float(prices.choice * settled.rho())
    if unit == "rho" and isinstance(settled, ExponentialMechanism):
        return float(prices.choice * settled.rho(printed=True))
    return float(cost_in(settled.epsilon, unit, prices))


def _choice(selection: Selection | None, one: Sequence[int], two: Sequence[int], unit: str) -> float:
    """What a choice loses between these scores: the largest ratio; in ρ, the largest divergence."""
    if selection is None:
        return 0.0 if one == two else math.inf
    laws = [
        (p, q)
        for p, q in zip(selection.probabilities(one), selection.probabilities(two), strict=True)
        if p > 1e-280 and q > 1e-280
    ]
    if unit == "epsilon":
        return max(abs(math.log(p / q)) for p, q in laws)
    return max(
        _divergence(each, order) / order
        for each in (laws, [(q, p) for p, q in laws])
        for order in (1.01, 2.0, 8.0)
    )


def _divergence(law: Sequence[tuple[float, float]], order: float) -> float:
    return math.log(math.fsum(math.exp(order * math.log(p) + (1 - order) * math.log(q)) for p, q in law)) / (
        order - 1
    )

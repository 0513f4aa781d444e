"""Learners at a desk: they ask as they would over the wire, under the same names, limits and caps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from sulq.errors import BudgetError, QueryError
from sulq.hypotheses.tabulation import Tabulation
from sulq.learners.learner import Learner
from sulq.learners.table import Table
from sulq.plans.watching import BETA, questions_of
from sulq.privacy.repeated import bits_of, times_of
from sulq.queries.query import Query
from sulq.queries.room import at_most
from sulq.queries.rounds import NOTHING_AHEAD, Ahead, Round
from sulq.schema import Schema
from sulq.serve.desk import Desk
from sulq.serve.keys import AccessKey
from sulq.serve.refusals import RefusedError
from sulq.talk.affording import needed_for
from sulq.talk.answers import Answer
from sulq.talk.offer import Offer

MOST_FIGURES = 5_000
"""How many figures a table of the console has: they are worked out by the service, which many share."""
MADE_UP = 10_000
"""For how many rows errors are expected, where their number is not public and nobody says one."""


@dataclass(frozen=True)
class AtDesk:
    """A data set as an oracle, for whoever has a key.

    Args:
        desk: the data set.
        key: who asks.
        stored: whether only what was asked before is answered, so that nothing can be spent.
    """

    desk: Desk
    key: AccessKey
    stored: bool = False

    @property
    def offer(self) -> Offer:
        return self.desk.curator.offer

    @property
    def schema(self) -> Schema:
        return self.offer.schema

    @property
    def promise(self) -> str:
        return self.offer.promise

    def ask(self, round_: Round, run: str = "main") -> list[Answer]:
        """One answer for each query of the round."""
        body = _body(round_, run)
        if self.stored:
            quote = self.desk.quote(self.key, body)
            if Fraction(quote["cost"]) and not quote["charged"]:
                raise RefusedError("not_found", "this was not asked yet in that run: ask it first")
        return [Answer.of(form) for form in self.desk.ask(self.key, body)["answers"]]

    def afford(self, round_: Round, run: str = "main", ahead: Ahead = NOTHING_AHEAD) -> bool:
        """Refuse, with nothing spent, a run that could not be paid to its end."""
        quote = self.desk.quote(self.key, _body(round_, run))
        needed, left = needed_for(self.offer, round_, ahead), Fraction(quote["remaining"])
        if quote["charged"] or self.stored:
            return False
        if needed > left:
            raise BudgetError(self.offer.unit, needed, left)
        return True


def learned(desk: Desk, key: AccessKey, learner: Learner[Any], run: str, stored: bool = False) -> Any:
    """What a learner makes of the answers at a desk.

    Args:
        desk: the data set.
        key: who asks.
        learner: who learns.
        run: the name of the run.
        stored: whether only what was asked before is answered.
    """
    with at_most(desk.limits.numbers):
        _check_figures(learner, desk.curator.offer)
        return learner.learn(AtDesk(desk, key, stored), run)


@dataclass(frozen=True)
class Expectation:
    """What asking would cost, and how good it would be. Nothing is spent to know it.

    Args:
        cost: what all of it would cost, in the unit of the budget, if nothing of it was asked before.
        left: what is left for whoever asks.
        charged: whether its first round was asked in this run before, so that it is answered at no cost.
        rounds: "one" if the first round is all there is, "several" if later ones depend on its answers.
        lines: the expected errors: of what, and how far off.
        rows: for how many rows errors are expected, None if that plays no part.
    """

    cost: Fraction
    left: Fraction
    charged: bool
    rounds: Literal["one", "several"]
    lines: tuple[tuple[str, str], ...]
    rows: int | None = None

    @property
    def affordable(self) -> bool:
        return self.charged or self.cost <= self.left


def expected(desk: Desk, key: AccessKey, learner: Learner[Any], run: str, rows: int | None) -> Expectation:
    """What a learner would cost at a desk, and how good its answers would be.

    Args:
        desk: the data set.
        key: who would ask.
        learner: who would learn.
        run: the name of the run.
        rows: how many rows to expect, where their number is not public.
    """
    offer = desk.curator.offer
    with at_most(desk.limits.numbers):
        _check_figures(learner, offer)
        first = next(learner.rounds(offer.schema))
        quote = desk.quote(key, _body(first, run))
        cost = needed_for(offer, first, Ahead(learner.stake))
        if isinstance(learner, Table):
            many = offer.rows or rows or MADE_UP
            table = _evenly(learner, offer, many)
            lines = tuple(_pair(line) for line in table.outlook.splitlines()[1:])
        else:
            many = None
            lines = tuple(
                (line.describe(), line.precision())
                for line in questions_of(first, offer.scope, errors=offer.error(first, BETA))
            )
    rounds: Literal["one", "several"] = "one" if isinstance(learner, Table) else "several"
    return Expectation(cost, Fraction(quote["remaining"]), bool(quote["charged"]), rounds, lines, many)


def _check_figures(learner: Learner[Any], offer: Offer) -> None:
    """Refuse a table that would keep the service busy for long."""
    if not isinstance(learner, Table):
        return
    levels = sum(len(each) for each in learner.quantiles.values())
    columns = (learner.sums, learner.means, learner.shares, learner.medians)
    measures = 1 + levels + sum(map(len, columns))
    if measures > MOST_FIGURES:
        raise QueryError(f"a table has {MOST_FIGURES:,} figures at most here, and this would have more")
    counts = next(learner.rounds(offer.schema)).queries[0]
    assert isinstance(counts, Query)
    figures = measures * math.prod(counts.shape(offer.scope))
    if figures > MOST_FIGURES:
        raise QueryError(
            f"a table has {MOST_FIGURES:,} figures at most here, not {figures:,}: group by less, or ask in "
            "Python"
        )


def _evenly(learner: Table, offer: Offer, rows: int) -> Tabulation:
    """The table that there would be if rows spread evenly over all cells, and noise were 0."""
    asking = learner.rounds(offer.schema)
    round_ = next(asking)
    sums = []
    for query in round_.queries:
        assert isinstance(query, Query)
        cells = math.prod(query.shape(offer.scope))
        sums.append([rows // cells if query.statistic == "count" else 0] * cells)
    terms = offer.terms(round_)
    sums = [[n * times_of(noise) for n in each] for each, noise in zip(sums, terms.noises, strict=True)]
    bits = [bits_of(noise) for noise in terms.noises]
    said = {"sums": sums, "jointly": True, "vectors": True, "finer": bits}
    try:
        asking.send(offer.read(round_, terms, said))
    except StopIteration as done:
        table: Tabulation = done.value
        return table
    raise AssertionError("a table is asked for in one round")


def _pair(line: str) -> tuple[str, str]:
    what, _, off = line.strip().rpartition(": ")
    return what, off


def _body(round_: Round, run: str) -> dict[str, Any]:
    return {"round": round_.form, "run": run, "allowance": "1", "beta": BETA}

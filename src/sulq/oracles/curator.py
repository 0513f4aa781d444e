"""The SuLQ database: a trusted curator who charges, sums and adds noise, in that order."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sulq.errors import BudgetError, QueryError, sheltered
from sulq.ledger.ledger import Ledger
from sulq.ledger.parts import Part
from sulq.numbers import Numeric, rational
from sulq.privacy.calibration import Calibration, Contest, Piece, Terms
from sulq.queries.choose import Choice
from sulq.queries.expressions import Node
from sulq.queries.query import Neighbours, Query, moves, reach
from sulq.queries.rounds import NOTHING_AHEAD, Ahead, Round
from sulq.talk.answers import Answer
from sulq.talk.denoised import denoised
from sulq.talk.statistics import Steps, answer_to, chosen
from sulq.wire import canonical

if TYPE_CHECKING:
    from sulq.schema import Schema
    from sulq.sources.source import Source

LARGEST_SCORE = 2**62


@dataclass
class Curator:
    """Answers rounds with noise, and charges every round to a budget before it looks at a cell.

    Made by `Source.curator`.

    >>> import sulq
    >>> curator = sulq.randhie().curator(epsilon=1)
    >>> plans = sulq.Round([sulq.count(by="plan")], share=0.1)
    >>> curator.cost(plans), curator.error(plans, beta=0.05)
    (Fraction(1, 10), [458.0])
    >>> [answer] = curator.ask(plans)
    >>> answer.value.shape, curator.spent, curator.remaining
    ((5,), Fraction(1, 10), Fraction(9, 10))
    """

    source: Source
    calibration: Calibration
    ledger: Ledger
    neighbours: Neighbours
    truncate: bool
    allowance: Fraction = Fraction(1)
    """The part of the whole budget that the shares of rounds are shares of."""
    held: Part | None = None
    """The part of the budget that this curator was handed out, None if it has the whole."""
    rounds: int = field(default=0, init=False)
    queries: int = field(default=0, init=False)

    denoised = denoised

    def ask(self, round_: Round, run: str = "main") -> list[Answer]:
        """One answer for each query of the round, in order.

        A run that asks the same round again gets the stored answers at no cost, so an interrupted run is
        resumed by asking everything again. Raises BudgetError, with nothing spent, if too little is left.
        """
        terms = self.terms(round_)
        answer = self._paid(run, self._entry(round_), terms.cost, lambda: self._release(round_, terms))
        self.rounds += 1
        self.queries += len(round_.queries)
        return self._read(round_, terms, json.loads(answer))

    def release(
        self, form: dict[str, Any], cost: Fraction, look: Callable[[], Any], run: str = "main"
    ) -> Any:
        """What `look` says of the rows, as plain data: for mechanisms that need more than sums.

        The charge is in the ledger before `look` is called. `form` names the question and all that the
        answer depends on, as plain data: asked again in the same run it is answered from the ledger, and
        neither looked at nor charged again. That `look` costs no more than `cost` is its own promise.

        >>> import sulq
        >>> curator = sulq.randhie().curator(epsilon=1)
        >>> curator.release({"asked": "a coin"}, Fraction(1, 4), lambda: "heads")
        'heads'
        >>> curator.release({"asked": "a coin"}, Fraction(1, 4), lambda: "tails")
        'heads'
        >>> curator.spent
        Fraction(1, 4)
        """
        question = canonical({"release": form, "allowance": str(self.allowance)})
        answer = self._paid(run, question, cost, lambda: json.dumps(look()))
        self.rounds += 1
        return json.loads(answer)

    def afford(self, round_: Round, run: str = "main", ahead: Ahead = NOTHING_AHEAD) -> bool:
        """Refuse, with nothing spent, a run that could not be paid to its end.

        `round_` is asked next, and `ahead` says what it and all after it may cost. False if `round_` is in
        the ledger already: it is free, and the rest is to be looked at again with the next round.
        """
        cost = self.cost(round_)
        if self.ledger.charged(run, self._entry(round_)):
            return False
        if ahead.share is not None and self.calibration.unit != "queries":
            cost = max(cost, ahead.share * self.allowance * self.calibration.total)
        cost += sum((self.cost(other) for other in ahead.later), ahead.reserve)
        if cost > self.remaining:
            raise BudgetError(self.calibration.unit, cost, self.remaining)
        return True

    def cost(self, round_: Round) -> Fraction:
        """What a round would cost, in the unit of the budget. Nothing is spent and no row is read."""
        return self.terms(round_).cost

    def error(self, round_: Round, beta: float) -> list[float | None]:
        """How far off each answer would be, but for a chance of `beta` each. Nothing is spent.

        None for a mean whose count is not public: its error depends on that count.
        """
        terms, scope = self.terms(round_), self.source.scope
        noises, selections = iter(terms.noises), iter(terms.selections)
        errors: list[float | None] = []
        for query in round_.queries:
            if isinstance(query, Choice):
                groups = math.prod(query.shape(scope))
                errors.append(chosen(query, [0] * groups, next(selections), scope).radius(beta))
                continue
            own = [next(noises) for _ in query.parts]
            sums = [np.zeros(scope.number(part).width, dtype=object) for part in query.parts]
            if query.statistic == "mean":
                if own[1] is not None or self.public_rows is None:
                    errors.append(None)
                    continue
                sums[1] += self.public_rows
            errors.append(float(np.max(answer_to(query, sums, own, scope).radius(beta))))
        return errors

    def part(self, share: Numeric) -> Curator:
        """A curator on the same ledger to whom only this share of the budget is the whole.

        That is also the most that everything asked of it can cost, by shares or by tolerances. What it was
        given is taken from this curator for good, whether or not it is spent; see `sulq.ledger.parts.Part`.

        >>> import sulq
        >>> curator = sulq.randhie().curator(epsilon=1)
        >>> one, other = curator.part("3/10"), curator.part("3/10")
        >>> one.remaining, other.remaining, curator.remaining
        (Fraction(3, 10), Fraction(3, 10), Fraction(2, 5))
        """
        portion = rational("share", share, most=1)
        return replace(self, allowance=self.allowance * portion, held=self._part.hand_out(portion))

    @property
    def schema(self) -> Schema:
        return self.source.schema

    @property
    def promise(self) -> str:
        """What is promised to every person, in words."""
        return self.calibration.describe()

    @property
    def spent(self) -> Fraction:
        """What was charged so far, in the unit of the budget, by all who share the ledger."""
        return self.ledger.spent

    @property
    def remaining(self) -> Fraction:
        """What is left of the budget, or of the part of it that this curator has, in its unit."""
        return self._part.remaining(self.ledger)

    @property
    def _part(self) -> Part:
        return self.ledger.whole if self.held is None else self.held

    def terms(self, round_: Round) -> Terms:
        """What the round costs and the noise it gets, or a refusal: from public facts alone."""
        if not isinstance(round_, Round):
            raise QueryError(f"ask takes a Round of queries, not {type(round_).__name__}")
        pieces = [
            self._piece(query, part)
            for query in round_.queries
            if isinstance(query, Query)
            for part in query.parts
        ]
        contests = [self._contest(query) for query in round_.queries if isinstance(query, Choice)]
        stated = [isinstance(query, Query) and query.tolerance is not None for query in round_.queries]
        if any(stated):
            if not all(stated) or round_.share is not None:
                raise QueryError(
                    "a round is asked by tolerances or by a share: state a tolerance and beta for every "
                    "query (a choice cannot have one) and no share, or a share alone"
                )
            return self.calibration.for_tolerances(pieces).check(pieces, contests)
        cost = None if round_.share is None else round_.share * self.allowance * self.calibration.total
        return self.calibration.for_cost(pieces, contests, cost).check(pieces, contests)

    def _piece(self, query: Query, part: Node) -> Piece:
        scope = self.source.scope
        facts = scope.number(part)
        tolerance = query.tolerance
        if tolerance is not None and query.statistic == "mean":
            rows = self.public_rows
            if rows is None or query.where is not None or query.by:
                raise QueryError(
                    "a mean can only have a tolerance over all rows, and when their number is public: ask "
                    "for the total and the count, each with its own"
                )
            tolerance *= rows
        return Piece(
            step=facts.unit,
            width=facts.width,
            moves1=moves(scope, part, 1, self.neighbours),
            moves2=moves(scope, part, 2, self.neighbours),
            size=facts.magnitude * facts.unit,
            reach=reach(scope, part, self.neighbours),
            weight=query.weight,
            tolerance=tolerance,
            beta=query.beta,
        )

    def _contest(self, choice: Choice) -> Contest:
        scope = self.source.scope
        if choice.size(scope) * (self.public_rows or 2**30) >= LARGEST_SCORE:
            raise QueryError("the scores of this choice could leave 62 bits: clip or scale the candidates")
        return Contest(
            moves=choice.moves(scope, self.neighbours),
            monotone=choice.monotone(scope, self.neighbours),
            size=choice.size(scope),
            weight=choice.weight,
        )

    def _entry(self, round_: Round) -> str:
        """What the ledger knows a round by."""
        return canonical({"round": round_.form, "allowance": str(self.allowance)})

    def _paid(self, run: str, question: str, cost: Fraction, look: Callable[[], str]) -> str:
        """What `look` says of the rows, or said of them before in this run; the charge comes first."""
        return self._part.release(self.ledger, run, question, cost, partial(sheltered, look))

    def _release(self, round_: Round, terms: Terms) -> str:
        """Look at the rows, and say what may be said. Called once the charge is in the ledger."""
        scope = self.source.scope
        sums = iter(self.source.sums([part for query in round_.queries for part in query.parts]))
        noises, selections = iter(terms.noises), iter(terms.selections)
        noisy: list[list[int]] = []
        choices: list[list[int]] = []
        for query in round_.queries:
            own = [next(sums) for _ in query.parts]
            if isinstance(query, Choice):
                selection = next(selections)
                # More rows than were thought of cannot raise an error here; clipping moves no score further.
                scores = np.clip(query.scores(own, scope), -LARGEST_SCORE, LARGEST_SCORE)
                if selection is None:
                    choices.append(scores.argmax(axis=0).tolist())
                else:
                    choices.append([selection.choose([int(score) for score in group]) for group in scores.T])
            else:
                for true in own:
                    noise = next(noises)
                    added = true if noise is None else true + noise.sample(len(true)).astype(object)
                    noisy.append([int(steps) for steps in added])
        return json.dumps({"sums": noisy, "choices": choices})

    def _read(self, round_: Round, terms: Terms, released: Mapping[str, Any]) -> list[Answer]:
        """What was released, as answers."""
        scope = self.source.scope
        sums, choices = iter(released["sums"]), iter(released["choices"])
        noises, selections = iter(terms.noises), iter(terms.selections)
        answers = []
        for query in round_.queries:
            if isinstance(query, Choice):
                answers.append(chosen(query, next(choices), next(selections), scope))
            else:
                own = [self._truncated(part, np.array(next(sums), dtype=object)) for part in query.parts]
                answers.append(answer_to(query, own, [next(noises) for _ in own], scope))
        return answers

    def _truncated(self, part: Node, sums: Steps) -> Steps:
        """The sums brought into the range that is public, if truncation was asked for."""
        if not self.truncate:
            return sums
        facts, rows = self.source.scope.number(part), self.public_rows
        if rows is not None:
            return np.clip(sums, facts.low.astype(object) * rows, facts.high.astype(object) * rows)
        return np.where(facts.low >= 0, np.maximum(sums, 0), sums)

    @property
    def public_rows(self) -> int | None:
        """How many rows there are, if that is public: when a row is replaced by a row.

        With a unit it is not: whether a row counts depends on whom it names.
        """
        public = self.source.schema.unit is None and self.neighbours == "replace"
        return self.source.rows if public else None

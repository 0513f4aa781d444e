"""The SuLQ database: a trusted curator who charges, sums and adds noise, in that order."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from sulq.errors import BudgetError, sheltered
from sulq.faces import bar, columns_grid, face, facts, offered
from sulq.ledger.carried import carried_since
from sulq.ledger.chain import Entry
from sulq.ledger.ledger import Ledger
from sulq.ledger.parts import Part
from sulq.numbers import Numeric, amount, rational
from sulq.oracles.one_round import check_own, is_the_one, make_the_one
from sulq.privacy.repeated import bits_of, blurred
from sulq.privacy.terms import Pure, Terms
from sulq.queries.choose import Choice
from sulq.queries.former import former_data, may_be_former
from sulq.queries.rounds import NOTHING_AHEAD, Ahead, Round, asked_of
from sulq.schema import Schema
from sulq.sources.rows import rows_of
from sulq.sources.sums import Sums
from sulq.talk.affording import needed_for
from sulq.talk.answers import Answer
from sulq.talk.denoised import denoised
from sulq.talk.offer import LARGEST_SCORE, Offer
from sulq.talk.row_questions import RowQuestion
from sulq.wire import canonical


@dataclass
class Curator:
    """Answers rounds with noise, and charges every round to a budget before it looks at a cell.

    `sulq.open(data, schema).curator(epsilon=1)` makes one. Before a round is asked, `cost` says what it would
    cost and `error` how far off the answers would be; `spent` and `remaining` say how the budget stands. Hand
    it to a learner, as `sulq.Table(...).learn(curator)`. The same round in the same run is free.

    Args:
        offer: what it offers: what a round costs, and how well it is answered.
        source: the rows.
        ledger: the record of what was spent.
        held: the part of the budget that this curator was handed out, or None if it has the whole.
        account: the account of whoever asks, or None.
        interactive: whether there may be a second round. False is the papers' centralized noninteractive
            model: one round is answered, whoever asks, and a second is refused.

    >>> import sulq
    >>> curator = sulq.randhie().curator(epsilon=1)
    >>> plans = sulq.Round([sulq.count(by="plan")], share=0.1)
    >>> curator.cost(plans), curator.error(plans, beta=0.05)
    (Fraction(1, 10), [458.0])
    >>> [answer] = curator.ask(plans)
    >>> answer.value.shape, curator.spent, curator.remaining
    ((5,), Fraction(1, 10), Fraction(9, 10))
    """

    offer: Offer
    source: Sums
    ledger: Ledger
    held: Part | None = None
    account: str | None = None
    interactive: bool = True
    rounds: int = field(default=0, init=False)
    queries: int = field(default=0, init=False)
    looks: int = field(default=0, init=False, repr=False)
    """How many rounds were answered by a look at the rows, and not from the ledger."""

    denoised = denoised

    def ask(self, round_: Round, run: str = "main") -> list[Answer]:
        """One answer for each query of the round, in order.

        A run that asks the same round again gets the stored answers at no cost, so an interrupted run is
        resumed by asking everything again. Raises BudgetError, with nothing spent, if too little is left.

        Args:
            round_: the queries.
            run: the name of the run that asks.
        """
        terms = self.offer.terms(round_)
        round_ = asked_of(round_, self.schema)
        if any(isinstance(query, RowQuestion) for query in round_.queries):
            rows_of(self.source, "this question")
        self.source.check([part for query in round_.queries for part in query.parts])
        question, formerly = self._entry({"round": round_.form}, round_)
        self._claim(round_, run, terms.cost, run)
        look = partial(self._release, round_, terms)
        released = self._paid(run, question, terms.cost, look, formerly)
        self.rounds += 1
        self.queries += len(round_.queries)
        return self.offer.read(round_, terms, json.loads(released))

    def afford(self, round_: Round, run: str = "main", ahead: Ahead = NOTHING_AHEAD) -> bool:
        """Refuse, with nothing spent, a run that could not be paid to its end.

        False says that `round_` is in the ledger already. Then it is free, and the rest of the run is looked
        at again with the next round.

        Args:
            round_: the round that is asked next.
            run: the name of the run that asks.
            ahead: what this round and all later ones may cost.
        """
        needed = needed_for(self.offer, round_, ahead)
        self.check_open(round_, run)
        if self.charged(round_, run):
            return False
        self._check_left(needed, run)
        return True

    def charged(self, round_: Round, run: str = "main") -> bool:
        """Whether a round was charged in a run before, so that it costs nothing there any more.

        Args:
            round_: the queries.
            run: the name of the run.
        """
        question, formerly = self._question(round_)
        return self.ledger.charged(run, question, formerly=formerly)

    def kept(self, round_: Round, run: str = "main") -> list[Entry]:
        """What the ledger has of a round in a run: its charge, and its answer if there is one.

        Args:
            round_: the queries.
            run: the name of the run.
        """
        return self.ledger.pages.kept(run, self._question(round_)[0])

    def _claim(self, round_: Round, run: str, cost: Fraction, charged: str) -> None:
        """Make this round the one that the ledger holds; a refusal if it holds another already.

        A round that could not be paid is refused before it is the one.

        Args:
            round_: the queries.
            run: the name of the run that asks.
            cost: what the round will be charged.
            charged: the name of the run that will be charged.
        """
        check_own(run)
        if self.interactive or self.check_open(round_, run):
            return
        self._check_left(cost, charged)
        make_the_one(self.ledger, asked_of(round_, self.schema), run)

    def check_open(self, round_: Round, run: str) -> bool:
        """Refuse a second round, if there may be one only. Whether this round is known to be the one."""
        return not self.interactive and is_the_one(self.ledger, asked_of(round_, self.schema), run)

    def _check_left(self, needed: Fraction, run: str) -> None:
        """Refuse what the budget, or a cap of whoever asks or of the run, does not leave."""
        left = min(self.remaining, self.ledger.remaining_of(f"run:{run}"))
        if needed > left:
            raise BudgetError(self.offer.unit, needed, left)

    def _question(self, round_: Round) -> tuple[str, str | None]:
        """A round as the ledger names it, and as earlier versions did."""
        round_ = asked_of(round_, self.schema)
        return self._entry({"round": round_.form}, round_)

    def cost(self, round_: Round) -> Fraction:
        """What a round would cost, in the unit of the budget. Nothing is spent and no row is read."""
        return self.offer.cost(round_)

    def error(self, round_: Round, beta: float) -> list[float | None]:
        """How far off each answer would be, but for a chance of `beta` each. Nothing is spent.

        None for a mean whose count is not public: its error depends on that count.
        """
        return self.offer.error(round_, beta)

    def part(self, share: Numeric) -> Curator:
        """A curator on the same ledger to whom only this share of the budget is the whole.

        Everything that is asked of that curator costs no more than the share, by shares or by tolerances. The
        share is taken from this curator for good, whether or not it is spent; see `sulq.ledger.parts.Part`.

        Args:
            share: the share, from 0 to 1.
        """
        portion = rational("share", share, most=1)
        return replace(self, offer=self.offer.part(portion), held=self._part.hand_out(portion))

    def for_analyst(self, name: str) -> Curator:
        """The same curator, asked by an analyst, whose account may have a cap; see `Ledger.set_cap`.

        Args:
            name: the analyst's name.

        >>> import sulq
        >>> curator = sulq.randhie().curator(epsilon=1)
        >>> curator.ledger.set_cap("analyst:ada", Fraction(1, 4))
        >>> curator.for_analyst("ada").remaining, curator.remaining
        (Fraction(1, 4), Fraction(1, 1))
        """
        return replace(self, account=f"analyst:{name}")

    def _repr_html_(self) -> str:
        about = offered(self.offer)
        if self.account is not None:
            about.append(("asks", self.account))
        if self.held is not None or self.account is not None:
            about.append(("left to this one", f"{amount(self.remaining)} {self.offer.unit}"))
        spent = bar(self.spent, self.offer.total, self.offer.unit)
        return face("Curator", facts(about), spent, columns_grid(self.schema))

    @property
    def schema(self) -> Schema:
        return self.offer.schema

    @property
    def promise(self) -> str:
        """What is promised to every person, in words."""
        return self.offer.promise

    @property
    def spent(self) -> Fraction:
        """What was charged so far, in the unit of the budget, by all who share the ledger."""
        return self.ledger.spent

    @property
    def remaining(self) -> Fraction:
        """What is left: of the budget, of the part that this curator has, and of the cap of whoever asks."""
        left = self._part.remaining(self.ledger)
        return left if self.account is None else min(left, self.ledger.remaining_of(self.account))

    @property
    def _part(self) -> Part:
        return self.ledger.whole if self.held is None else self.held

    def _entry(self, question: dict[str, Any], round_: Round) -> tuple[str, str | None]:
        """The texts that the ledger knows a question by: today's, and that of version 0 if there was one.

        A question about cells that are read otherwise since the schema was changed is another question.
        """
        form = question | {"allowance": str(self.offer.allowance)}
        if (since := carried_since(self.ledger.carried, _columns(round_))) is not None:
            return canonical(form | {"carry": since}), None
        former = former_data(form) if may_be_former(self.ledger.first_question) else None
        return canonical(form), None if former is None else canonical(former)

    def _paid(
        self, run: str, question: str, cost: Fraction, look: Callable[[], str], formerly: str | None
    ) -> str:
        """What `look` says of the rows, now or before in this run. The charge comes first."""
        look = partial(sheltered, look)
        return self._part.release(
            self.ledger, run, question, cost, look, account=self.account, formerly=formerly
        )

    def _release(self, round_: Round, terms: Terms) -> str:
        """Look at the rows, and say what may be said. Called once the charge is in the ledger."""
        self.looks += 1
        scope = self.offer.scope
        parts = [part for query in round_.queries for part in query.parts]
        sums = iter(self.source.sums(parts) if parts else ())
        noises, selections = iter(terms.noises), iter(terms.selections)
        noisy: list[list[int]] = []
        choices: list[list[int]] = []
        others: list[object] = []
        for query in round_.queries:
            exact = [next(sums) for _ in query.parts]
            if isinstance(query, RowQuestion):
                rows = rows_of(self.source, "this question")
                others.append(query.look(rows, self.offer.public, next(selections)))
            elif isinstance(query, Choice):
                selection = next(selections)
                assert not isinstance(selection, Pure)
                # More rows than were thought of cannot raise an error here; clipping moves no score further.
                scores = np.clip(query.scores(exact, scope), -LARGEST_SCORE, LARGEST_SCORE)
                if selection is None:
                    choices.append(scores.argmax(axis=0).tolist())
                else:
                    choices.append([selection.choose([int(score) for score in group]) for group in scores.T])
            else:
                noisy += [[int(steps) for steps in blurred(true, next(noises))] for true in exact]
        released: dict[str, object] = {"sums": noisy, "choices": choices}
        released |= {"jointly": True, "vectors": True, "finer": [bits_of(noise) for noise in terms.noises]}
        return json.dumps(released | {"others": others} if others else released)


def _columns(round_: Round) -> set[str] | None:
    """The columns that a round looks at; None where all rows are looked at as they are."""
    if any(isinstance(query, RowQuestion) for query in round_.queries):
        return None
    parts = (part for query in round_.queries for part in query.parts)
    return {leaf.name for part in parts for leaf in part.leaves().values()}

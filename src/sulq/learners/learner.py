"""What all learners have in common: they ask, are answered, and never see by whom.

A learner is a generator: it yields rounds and is sent their answers, and returns a hypothesis. No oracle is
in sight, so it can be driven in process, over a wire, across weeks of a survey, or from a ledger's stored
answers: given the same answers it asks the same questions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Generic, TypeVar

from sulq.hypotheses.hypothesis import Hypothesis, Origin
from sulq.loops.one_thread import one_thread
from sulq.numbers import rational
from sulq.queries.rounds import Ahead, Round, numbers_of
from sulq.schema import Schema
from sulq.talk.oracle import AsyncOracle, Oracle, Rounds
from sulq.wire import check_run

H = TypeVar("H", bound=Hypothesis, covariant=True)
LATER = {"asks": "if stated"}
"""Metadata of a setting that earlier versions did not have: it is part of a run's name where it is stated."""


@dataclass(frozen=True)
class RunStep:
    """What a run wants next.

    Args:
        round: the round that is asked next.
        ahead: what it and all later ones may cost, if that is to be checked; None to have it answered.
    """

    round: Round
    ahead: Ahead | None = None


class Learner(ABC, Generic[H]):
    """Asks rounds of queries until it has a hypothesis.

    >>> import sulq
    >>> people = sulq.open({"a": [1, 0], "y": [1, 0]}, {"a": sulq.Boolean(), "y": sulq.Boolean()})
    >>> learner: Learner[sulq.hypotheses.Rule] = sulq.Conjunction("y")
    >>> learner.learn(people.exact()).describe()
    'a'
    """

    @abstractmethod
    def rounds(self, schema: Schema) -> Rounds[H]:
        """The questions, one round at a time."""

    @property
    def stake(self) -> Fraction | None:
        """The share of a budget that a run may cost in all; None for a learner that asks by tolerances."""
        share = getattr(self, "share", None)
        return None if share is None else rational("share", share, most=1)

    def later(self, schema: Schema) -> Sequence[Round]:
        """The rounds by tolerances that come after the first, so far as their cost is known beforehand."""
        return ()

    def most_numbers(self, schema: Schema) -> int | None:
        """How many numbers a run asks for at most, if that is known beforehand.

        It is the number of queries T of the SuLQ paper, and is checked before the first round under its
        calibrations.

        Args:
            schema: what is public about the columns.
        """
        return None

    def least_share(self, schema: Schema) -> Fraction | None:
        """The least part of the budget that a question of a run gets, if that is known beforehand.

        Under a crowd or a sample it must be one person, and that is checked before the first round.

        Args:
            schema: what is public about the columns.
        """
        return None

    def later_columns(self, schema: Schema) -> frozenset[str]:
        """The columns that rounds after the first may look at, where it does not look at all of them itself.

        Each of them may be in other hands, and whoever holds it is asked beforehand whether the run can be
        paid to its end.

        Args:
            schema: what is public about the columns.
        """
        return frozenset()

    def most_hands(self, schema: Schema) -> int:
        """In how many hands the columns are, at most, that one question of a later round looks at.

        It is stated where later rounds look at more of them than the first, so that whoever holds them can
        refuse beforehand.

        Args:
            schema: what is public about the columns.
        """
        return 1

    def learn(self, oracle: Oracle, run: str = "main") -> H:
        """What the oracle's answers teach.

        A run that could not be paid to its end is refused before its first round: half of it would cost half
        and teach nothing.

        Args:
            oracle: whoever answers.
            run: the name of the run in the oracle's ledger, if it has one. An interrupted run that is started
                again under its name is answered from the store up to where it stopped, at no cost.
        """
        return self.learn_before(oracle, run)

    def learn_before(
        self, oracle: Oracle, run: str, share: Fraction = Fraction(0), reserve: Fraction = Fraction(0)
    ) -> H:
        """What `learn` does, where more rounds come afterwards, which must be affordable as well.

        Args:
            oracle: whoever answers.
            run: the name of the run.
            share: what comes afterwards may cost this part of the budget.
            reserve: what it costs beyond that, in the unit of the budget.
        """
        steps = self._steps(oracle.schema, oracle.promise, run, share, reserve)
        afford = getattr(oracle, "afford", None)
        reply: Any = None
        while True:
            try:
                with one_thread:
                    step = steps.send(reply)
            except StopIteration as done:
                hypothesis: H = done.value
                return hypothesis
            if step.ahead is None:
                reply = oracle.ask(step.round, run)
            else:
                reply = afford is None or afford(step.round, run, step.ahead)

    async def learn_async(self, oracle: AsyncOracle, run: str = "main") -> H:
        """What `learn` does, with an oracle who is awaited; see `sulq.connect_async`.

        Args:
            oracle: whoever answers.
            run: the name of the run.
        """
        steps = self._steps(oracle.schema, oracle.promise, run, Fraction(0), Fraction(0))
        reply: Any = None
        while True:
            try:
                with one_thread:
                    step = steps.send(reply)
            except StopIteration as done:
                hypothesis: H = done.value
                return hypothesis
            if step.ahead is None:
                reply = await oracle.ask(step.round, run)
            else:
                reply = await oracle.afford(step.round, run, step.ahead)

    def _steps(
        self, schema: Schema, promise: str, run: str, share: Fraction, reserve: Fraction
    ) -> Generator[RunStep, Any, H]:
        """What a run wants, one step at a time: to know whether it can be paid to its end, and answers."""
        check_run(run)
        rounds = self.rounds(schema)
        left = None if self.stake is None else self.stake + share
        later = self.later(schema)
        affordable, number, asked, promised = False, 0, 0, dict[str, None]()

        def numbers() -> int | None:
            most = None if share else self.most_numbers(schema)
            return None if most is None else max(0, most - asked)

        # What follows from the schema is worked out for those oracles that want to know it.
        least, columns = partial(self.least_share, schema), partial(self.later_columns, schema)
        hands = partial(self.most_hands, schema)
        try:
            round_ = next(rounds)
            while True:
                if not affordable:
                    ahead = Ahead(left, tuple(later[number:]), reserve, numbers, least, columns, hands)
                    affordable = yield RunStep(round_, ahead)
                if not affordable:  # or else nobody asks again what is ahead
                    if left is not None:
                        left -= round_.share or 0
                    asked += numbers_of(round_, schema)
                promised |= {each: None for query in round_.queries if (each := query.caller_promises)}
                answers = yield RunStep(round_)
                number += 1
                round_ = rounds.send(answers)
        except StopIteration as done:
            hypothesis: H = done.value
        if promised:
            promise = f"{promise}, if {' and '.join(promised)}, as the caller promises"
        chosen = None if hypothesis.origin is None else hypothesis.origin.chosen
        return replace(hypothesis, origin=Origin(type(self).__name__, promise, run, number, chosen))

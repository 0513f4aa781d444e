"""One road for a run: check everything, rehearse, ask, watch and account for it.

The command line, scikit-learn, the demo and the examples all take it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from sulq.errors import BudgetError, SulqError
from sulq.hypotheses.hypothesis import Hypothesis
from sulq.learners.learner import Learner
from sulq.numbers import amount
from sulq.oracles.assembly import as_accounted, ledger_place, offered
from sulq.oracles.curator import Curator
from sulq.plans.rehearsal import Rehearsal, priced, rehearse
from sulq.plans.watching import AskedRound, Watched
from sulq.privacy.budget import Budget
from sulq.privacy.calibrated import tight
from sulq.privacy.calibration import Calibration
from sulq.queries.query import Neighbours
from sulq.runs.outcome import Outcome, RunBudget, spending
from sulq.sources.source import Source
from sulq.talk.offer import Offer
from sulq.wire import check_run

GOES_ON = "the same run goes on from there, and pays for nothing twice"
Tell = Callable[[AskedRound, bool], None]
"""Is told of every round twice: before it is asked, and once it is answered."""


def tell_nobody(round_: AskedRound, done: bool) -> None:
    """Tells nobody."""


def say_what_was_spent(error: SulqError, name: str, spent: Fraction, unit: str) -> None:
    """Let an error that ended a run also say what the run has spent, if it has spent anything.

    Args:
        error: what was raised.
        name: the name of the run.
        spent: what it was charged.
        unit: what the budget is counted in.
    """
    if spent:
        error.args = (f"{error}; run {name} has spent {spending(spent, unit)} so far: {GOES_ON}",)


@dataclass(frozen=True)
class Run:
    """A learner that is run on rows, under a budget.

    Args:
        learner: who asks.
        source: the rows.
        budget: what may be spent, or None for exact answers, which are not private.
        neighbours: what one person's presence means, "replace" or "add-remove".
        ledger: the file, or the address in Postgres, that remembers what was spent; None as for
            `Source.curator`.
        name: the name of the run in the ledger, under which it goes on after an interruption.

    >>> import sulq
    >>> run = Run(sulq.ID3("bought_drugs", depth=1, share=0.5), sulq.randhie(), sulq.PureDP(1))
    >>> run.rehearse(rows=20_000).cost
    Fraction(1, 2)
    >>> outcome = run.learn()
    >>> outcome.cost, outcome.account.remaining, type(outcome.hypothesis).__name__
    (Fraction(1, 2), Fraction(1, 2), 'Tree')
    """

    learner: Learner[Any]
    source: Source
    budget: Budget | None
    neighbours: Neighbours = "replace"
    ledger: str | Path | None = None
    name: str = "main"

    @property
    def offer(self) -> Offer:
        """What a curator under this budget would offer."""
        return offered(self.source, self._calibration, self.neighbours)

    def check(self) -> None:
        """Refuse what public facts alone can refuse. A ledger would bind the data, so none is made."""
        check_run(self.name)
        first = next(self.learner.rounds(self.source.schema))
        if self.budget is None:
            return
        offer = self.offer
        cost = offer.cost(first)
        if cost > offer.total:
            raise BudgetError(offer.unit, cost, offer.total)

    def rehearse(self, rows: int | None = None) -> Rehearsal:
        """What the run would ask and pay. The data is not asked, and nothing is spent.

        Args:
            rows: how many rows to make up, where their number is not public.
        """
        if self.budget is None:
            raise SulqError("a rehearsal shows what a budget buys, and exact answers have none")
        schema = self.source.schema
        if rows is None:
            offer = self.offer
        else:
            public = schema.unit is None and self.neighbours == "replace"
            offer = Offer(schema, self._calibration, self.neighbours, rows if public else None)
        if (plan := priced(self.learner, offer)) is not None:
            return plan
        rows = offer.rows if rows is None else rows
        if rows is None:
            raise SulqError("the number of rows is not public here: say how many to rehearse on, --rows N")
        if offer.rows == 0:
            raise SulqError("there are no rows: say how many to rehearse on, --rows N")
        return rehearse(
            self.learner,
            schema,
            rows,
            budget=self.budget,
            neighbours=self.neighbours,
        )

    def learn(self, tell: Tell = tell_nobody) -> Outcome:
        """What is learned, from which questions, at what cost.

        Args:
            tell: is told of every round twice: before it is asked, and once it is answered.
        """
        self.check()
        if self.budget is None:
            exact = Watched(self.source.exact(), tell)
            return self._outcome(self.learner.learn(exact, self.name), exact, None)
        curator = self.source.curator(self.budget, neighbours=self.neighbours, ledger=self.ledger)
        with curator.ledger:
            self._check_affordable(curator)
            watched = Watched(curator, tell)
            try:
                hypothesis = self.learner.learn(watched, self.name)
            except SulqError as error:
                say_what_was_spent(error, self.name, self._spent(curator), curator.offer.unit)
                raise
            # The ledger may be one that was made with another accounting.
            kept = getattr(curator.offer.calibration, "budget", self.budget)
            account = RunBudget(kept, self.neighbours, self._file(curator), curator.remaining)
            return self._outcome(hypothesis, watched, account)

    @property
    def _calibration(self) -> Calibration:
        assert self.budget is not None
        return as_accounted(tight(self.budget), ledger_place(self.source, self.ledger))

    def _outcome(self, hypothesis: Hypothesis, watched: Watched, account: RunBudget | None) -> Outcome:
        assert hypothesis.origin is not None
        return Outcome(hypothesis, tuple(watched.asked), account, hypothesis.origin, self.source.schema)

    def _check_affordable(self, curator: Curator) -> None:
        """That a new run can be paid for to its end: half a tree is worth nothing, and costs half."""
        share = self.learner.stake
        if share is None or any(run.name == self.name for run in curator.ledger.runs()):
            return
        left, total, unit = curator.remaining, curator.offer.total, curator.offer.unit
        if share * total > left:
            advice = f"give it a smaller share, as {_down(left / total)}" if left else "the budget is spent"
            raise SulqError(
                f"this may cost {spending(share * total, unit)}, and {spending(left, unit)} of "
                f"{amount(total)} is left in {self._file(curator)}: {advice}; nothing was spent"
            )

    def _file(self, curator: Curator) -> str:
        """The ledger, as people would call it."""
        if self.ledger is not None:
            return str(self.ledger)
        return "memory" if curator.ledger.path is None else str(curator.ledger.path)

    def _spent(self, curator: Curator) -> Fraction:
        """What the run was charged, as far as its ledger can say."""
        with suppress(SulqError):
            runs = curator.ledger.runs()
            return sum((run.spent for run in runs if run.name == self.name), Fraction(0))
        return Fraction(0)


def _down(share: Fraction) -> str:
    """At most this share, in few letters."""
    return str(share) if len(str(share)) <= 7 else str(Fraction(int(share * 10**6), 10**6))

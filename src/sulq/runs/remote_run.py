"""The same road for a run at a curator elsewhere: rehearse, ask, watch and account for it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from urllib.parse import urlsplit

from sulq.errors import SulqError
from sulq.learners.learner import Learner
from sulq.oracles.remote import Remote
from sulq.plans.rehearsal import Rehearsal, priced, rehearse
from sulq.plans.watching import Watched
from sulq.privacy.budget import Budget
from sulq.runs.outcome import Outcome, RunBudget
from sulq.runs.run import Tell, say_what_was_spent, tell_nobody
from sulq.wire import check_run


@dataclass(frozen=True)
class RemoteRun:
    """A learner that is run at a curator elsewhere.

    Args:
        learner: who asks.
        remote: who answers.
        name: the name of the run there, under which it goes on after an interruption.

    >>> import sulq
    >>> from sulq.serve.trial import trial
    >>> with trial(people=sulq.randhie().curator(epsilon=1)) as (url, key):
    ...     run = RemoteRun(sulq.ID3("bought_drugs", depth=1, share=0.5), sulq.connect(url, key))
    ...     print(run.rehearse(rows=20_000).cost, run.learn().cost)
    1/2 1/2
    """

    learner: Learner[Any]
    remote: Remote
    name: str = "main"

    @property
    def place(self) -> str:
        """Where what was spent is remembered, as people would call it."""
        connection = self.remote.book.connection
        return f"{connection.dataset} at {urlsplit(connection.url).netloc}"

    def rehearse(self, rows: int | None = None) -> Rehearsal:
        """What the run would ask and pay. Nobody is asked, and nothing is spent.

        Args:
            rows: how many rows to make up, where their number is not public.
        """
        offer = self.remote.offer
        if (plan := priced(self.learner, offer)) is not None:
            return plan
        rows = offer.rows if rows is None else rows
        if rows is None:
            raise SulqError("the number of rows is not public here: say how many to rehearse on, --rows N")
        return rehearse(
            self.learner,
            offer.schema,
            rows,
            budget=self._budget,
            neighbours=offer.neighbours,
        )

    def learn(self, tell: Tell = tell_nobody) -> Outcome:
        """What is learned, from which questions, at what cost.

        Args:
            tell: is told of every round twice: before it is asked, and once it is answered.
        """
        check_run(self.name)
        budget = self._budget
        watched = Watched(self.remote, tell)
        try:
            hypothesis = self.learner.learn(watched, self.name)
        except SulqError as error:
            spent = Fraction(0)
            with suppress(SulqError):
                spent = self.remote.spent_by(self.name)
            say_what_was_spent(error, self.name, spent, self.remote.offer.unit)
            raise
        assert hypothesis.origin is not None
        account = RunBudget(
            budget, self.remote.offer.neighbours, self.place, self.remote.remaining, elsewhere=True
        )
        asked = tuple(watched.asked)
        return Outcome(hypothesis, asked, account, hypothesis.origin, self.remote.offer.schema)

    @property
    def _budget(self) -> Budget:
        budget = getattr(self.remote.offer.calibration, "budget", None)
        if not isinstance(budget, Budget):
            raise SulqError(f"{self.place} counts queries, which this command does not: use sulq.connect")
        return budget

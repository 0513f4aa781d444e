"""Does α imply β in probability? Dwork and Nissim's question, where α is known here and β there."""

from __future__ import annotations

from dataclasses import dataclass

from sulq.numbers import Numeric
from sulq.queries.expressions import named
from sulq.queries.node import Node
from sulq.queries.query import mean
from sulq.queries.rounds import Round
from sulq.queries.scope import scope_of
from sulq.talk.answers import BETA, Answer
from sulq.talk.oracle import Oracle


@dataclass(frozen=True)
class Implication:
    """How much more likely β is for people with α: Pr[β | α] − Pr[β].

    Args:
        given: Pr[β | α], with its error.
        overall: Pr[β], with its error.

    >>> from sulq.talk.laws import Within
    >>> found = Implication(Answer(0.5, Within(0.01)), Answer(0.2, Within(0.01)))
    >>> found.holds(0.2), found.holds(0.35), found.holds(0.29)
    (True, False, None)
    """

    given: Answer
    overall: Answer

    @property
    def gain(self) -> float:
        """By how much β is more likely with α than without knowing about α."""
        return float(self.given.value - self.overall.value)

    def interval(self, beta: float = BETA) -> tuple[float, float]:
        """Between these two the gain lies, but for a chance of `beta`."""
        off = float(self.given.radius(beta / 2) + self.overall.radius(beta / 2))
        return self.gain - off, self.gain + off

    def holds(self, least: float, beta: float = BETA) -> bool | None:
        """Whether the gain is at least so much; None where the noise leaves it open.

        Args:
            least: the gain from which on α is said to imply β.
            beta: the chance that the answer is wrong.
        """
        low, high = self.interval(beta)
        return True if low >= least else False if high < least else None


def implication(
    oracle: Oracle, alpha: str | Node, beta: str | Node, share: Numeric | None = None, run: str = "main"
) -> Implication:
    """Whether α implies β in probability, with error bars: section 3 of Dwork and Nissim's paper.

    The oracle may be `sulq.parties`, where one party knows α of a person and another one β. There Pr[β | α]
    takes the people with α for those whom both tables have.

    Args:
        oracle: whoever answers.
        alpha: a boolean column, or a condition.
        beta: another one.
        share: the part of the budget to spend; None for oracles without one.
        run: the name of the run that asks.

    >>> import sulq
    >>> rows = {"smokes": [True, True, False, False] * 9, "sick": [True, True, True, False] * 9}
    >>> people = sulq.open(rows, {name: sulq.Boolean() for name in rows})
    >>> found = implication(people.exact(), "smokes", "sick")
    >>> found.gain, found.holds(0.2)
    (0.25, True)
    """
    conclusion = named(beta)
    scope_of(oracle.schema).condition(conclusion)
    questions = [mean(conclusion, where=named(alpha)), mean(conclusion)]
    given, overall = oracle.ask(Round(questions, share), run)
    return Implication(given, overall)

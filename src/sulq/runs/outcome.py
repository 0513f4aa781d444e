"""What came of a run, and the promise it was made under, in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from rich.console import RenderableType

from sulq.hypotheses.hypothesis import Hypothesis, Origin
from sulq.hypotheses.tree import Tree
from sulq.numbers import amount
from sulq.plans.watching import AskedRound
from sulq.privacy.budget import ApproxDP, Budget, PureDP
from sulq.privacy.conversion import epsilon_of
from sulq.queries.query import Neighbours
from sulq.runs.odds import GUESS, RARE, surest
from sulq.schema import Schema

SYMBOLS = {"epsilon": "ε", "rho": "ρ"}


@dataclass(frozen=True)
class RunBudget:
    """The budget a run was charged to.

    Args:
        budget: what may be spent in all.
        neighbours: what one person's presence means.
        ledger: the name of the file that remembers what was spent.
        remaining: what is left now.
        elsewhere: whether the ledger is at a curator elsewhere.
    """

    budget: Budget
    neighbours: Neighbours
    ledger: str
    remaining: Fraction
    elsewhere: bool = False

    def words(self, cost: Fraction) -> str:
        """An amount, in the unit of the budget."""
        return spending(cost, self.budget.unit)


@dataclass(frozen=True)
class Outcome:
    """What came of a run.

    Args:
        hypothesis: what was learned; `sulq.hypotheses.Nothing` if nothing was found.
        asked: the rounds it was learned from.
        account: the account they were charged to, or None for exact answers.
        origin: who learned it, under what promise.
        schema: what is public about the columns.
        prune: whether a tree is shown without the splits that tell nothing.
    """

    hypothesis: Hypothesis
    asked: tuple[AskedRound, ...]
    account: RunBudget | None
    origin: Origin
    schema: Schema
    prune: bool = True

    def describe(self) -> str:
        """What was learned, for people."""
        return self.hypothesis.describe(**self._shown)

    def picture(self) -> str:
        """What was learned, as an SVG picture."""
        return self.hypothesis.picture(**self._shown)

    def drawing(self) -> RenderableType:
        """What was learned, for a terminal."""
        return self.hypothesis.drawing(**self._shown)

    @property
    def _shown(self) -> dict[str, bool]:
        return {"prune": self.prune} if isinstance(self.hypothesis, Tree) else {}

    @property
    def cost(self) -> Fraction:
        """What all rounds cost, whenever they were charged."""
        return sum((round_.cost for round_ in self.asked), Fraction(0))

    @property
    def charged(self) -> Fraction:
        """What was charged for them this time."""
        return sum((round_.charged for round_ in self.asked), Fraction(0))


def spending(cost: Fraction, unit: str) -> str:
    """An amount of privacy, with the letter it is written with.

    >>> spending(Fraction(1, 2), "epsilon"), spending(Fraction(1, 3), "rho")
    ('ε = 0.5', 'ρ ≈ 0.333333')
    """
    written = amount(cost)
    return f"{SYMBOLS[unit]} {written}" if written.startswith("≈") else f"{SYMBOLS[unit]} = {written}"


def promise_in_words(budget: Budget, neighbours: Neighbours, schema: Schema) -> list[str]:
    """What a budget promises to everyone in the data, a paragraph at a time.

    >>> from sulq.schema import Boolean
    >>> for paragraph in promise_in_words(PureDP(1), "replace", Schema({"sick": Boolean()})):
    ...     print(paragraph)
    Exchange any one row for any other: the chance of everything that is answered under this budget changes
    by a factor of at most e^ε, about 2.72.
    Someone who knows all other rows, and gave a guess about this one a chance of 10 %, can give it at most
    24 % afterwards.
    What is protected is one row. How many rows there are is public.
    """
    unit = schema.unit
    one, others, this, it = ("one row", "rows", "this one", "it is")
    protected = one
    if unit is not None:
        one, others, this, it = ("one person's rows", "people's rows", "theirs", "they are")
        protected = f"one person ({unit.column}) with all of the rows that count, at most {unit.rows}"
    replaced = neighbours == "replace"
    event = f"Exchange any {one} for any other" if replaced else f"Take away or add any {one}"
    paragraphs = [f"{event}: {_bound(budget)}"]
    guess = f"about {this}" if replaced else f"that {it} there"
    rarely = "" if isinstance(budget, PureDP) else f", but for a chance of {RARE:g}"
    paragraphs.append(
        f"Someone who knows all other {others}, and gave a guess {guess} a chance of {100 * GUESS:.0f} %, "
        f"can give it at most {100 * surest(budget):.0f} % afterwards{rarely}."
    )
    public = " How many rows there are is public." if replaced and schema.unit is None else ""
    return [*paragraphs, f"What is protected is {protected}.{public}"]


def _bound(budget: Budget) -> str:
    changes = "the chance of everything that is answered under this budget changes by a factor of at most"
    if isinstance(budget, PureDP):
        return f"{changes} e^ε, about {_factor(float(budget.epsilon))}."
    if isinstance(budget, ApproxDP):
        factor, delta = _factor(float(budget.epsilon)), float(budget.delta)
        return f"{changes} e^ε, about {factor}, and by no more than δ = {delta:g} beyond that."
    delta = 1e-6
    epsilon = epsilon_of(budget.rho, delta)
    return (
        "the Rényi divergence of order α between all that is answered before and after is at most ρα, for "
        f"every α > 1. So {changes} about {_factor(epsilon)}, and by no more than δ = {delta:g} beyond that."
    )


def _factor(epsilon: float) -> str:
    return f"{math.exp(epsilon):.3g}" if epsilon < 14 else f"10^{epsilon / math.log(10):.0f}"

"""What a learner's promise rests on: which of its decisions could come out wrong, and in which cases.

The theorems ask that every answer be within its tolerance. A learner needs less: that it decides rightly. A
conjunction must keep a literal that is never violated, and drop one that is violated on more than error/d of
the rows; the first has no sampling error at all, the second far less than a tolerance allows for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from sulq.errors import QueryError
from sulq.learners.conjunction import Conjunction
from sulq.oracles.exact import Exact
from sulq.plans.mistakes import Case
from sulq.plans.rehearsal import made_up
from sulq.queries.expressions import Column
from sulq.queries.rounds import Round
from sulq.schema import Schema
from sulq.talk.answers import Answer
from sulq.talk.denoised import Denoised
from sulq.theory.masked_parity import MaskedParity

FEW = 64
"""Made-up rows whose exact answers lead a learner from round to round; which they are does not matter."""
Planned = Conjunction | MaskedParity


@dataclass(frozen=True)
class Risk:
    """Decisions that are made from one query. Each is wrong with the largest chance of its cases.

    Args:
        round: the number of the round, from 0.
        query: the number of the query in the round, from 0.
        times: how many such decisions are made.
        cases: what rows could be like where the decision matters.
        copies: 1 if an answer is compared with a bound, 2 if two numbers are compared with each other.
    """

    round: int
    query: int
    times: int
    cases: tuple[Case, ...]
    copies: Literal[1, 2] = 1


@dataclass(frozen=True)
class Needs:
    """What a learner needs: its rounds, the decisions it makes from their answers, and the theorem behind it.

    Args:
        learner: the learner, set to spend all of a budget.
        rounds: the rounds as they reach whoever answers.
        risks: the decisions that could come out wrong.
        tolerances: the tolerances of the theorem, one for each of its queries.
        theorem: the paper, and the name of the theorem in it.
        fixed: why the questions do not depend on the rows as long as the decisions are right, so that one
            sample may answer them all.
        literals: how many literals a conjunction may be made of, if keeping a bad one is no failure yet; None
            if every wrong decision counts as one.
    """

    learner: Planned
    rounds: tuple[Round, ...]
    risks: tuple[Risk, ...]
    tolerances: tuple[float, ...]
    theorem: tuple[str, str]
    fixed: str
    literals: int | None = None


def needs(learner: Planned, schema: Schema, rate: Fraction = Fraction(0)) -> Needs:
    """What a learner needs that spends all of a budget, or of the rows.

    Args:
        learner: the learner.
        schema: what is public about the columns.
        rate: how often labels are wrong.

    >>> import sulq
    >>> schema = sulq.Schema({name: sulq.Boolean() for name in ("cough", "fever", "old", "flu")})
    >>> needed = needs(sulq.Conjunction("flu"), schema)
    >>> needed.theorem, [risk.times for risk in needed.risks]
    (('lecture notes', 'Theorem 5'), [1, 1, 1])
    """
    spending = replace(learner, share=1)
    heard = _Heard(schema)
    spending.learn(heard if rate == 0 else Denoised(heard, label_of(learner), rate))
    rounds = tuple(heard.rounds)
    if isinstance(learner, Conjunction):
        return _conjunction(learner, spending, schema, rounds, float(rate))
    return _masked_parity(learner, spending, schema, rounds, float(rate))


def rounds_heard(learner: Planned, schema: Schema) -> tuple[Round, ...]:
    """The rounds that a learner asks, of a few made-up rows.

    Args:
        learner: the learner.
        schema: what is public about the columns.

    >>> import sulq
    >>> schema = sulq.Schema({name: sulq.Boolean() for name in ("cough", "fever", "flu")})
    >>> [len(round_.queries) for round_ in rounds_heard(sulq.Conjunction("flu"), schema)]
    [2]
    """
    heard = _Heard(schema)
    learner.learn(heard)
    return tuple(heard.rounds)


def _conjunction(
    learner: Conjunction, spending: Planned, schema: Schema, rounds: tuple[Round, ...], rate: float
) -> Needs:
    """A literal of the target is violated by no row; one that must go by more than 2τ of them.

    With wrong labels a row where the literal fails adds b = (1 − η)/(1 − 2η) if its label says true and −a,
    a = η/(1 − 2η), else. The moments are largest if it fails on every row: rows on which it does not add 0,
    and exp(s·0) is at most the mean of exp(s·v) over rows whose v is 0 on average.
    """
    count = len(learner.literals(schema))
    tolerance = float(learner.tolerance(count))
    often = min(1.0, 2 * tolerance)
    if rate == 0:
        cases = (
            Case(((0.0, 1.0),), tolerance, above=True),
            Case(((0.0, 1 - often), (1.0, often)), tolerance, above=False),
        )
    else:
        cases = (
            Case(_relabelled(1, 0, rate), tolerance, above=True, exact=False),
            Case(_relabelled(1 - often, often, rate), tolerance, above=False, exact=False),
        )
    risks = tuple(Risk(0, number, 1, cases) for number in range(count))
    return Needs(
        spending,
        rounds,
        risks,
        (tolerance,) * count,
        ("lecture notes", "Theorem 5"),
        "there is one round only",
        count if rate == 0 and learner.keep == "tight" else None,
    )


def _masked_parity(
    learner: MaskedParity, spending: Planned, schema: Schema, rounds: tuple[Round, ...], rate: float
) -> Needs:
    """For uniform rows: of the two counts for bit j, one is 1/2d of the rows and one is 0.

    Their difference has the rows (2d − 1)/2d: 0, else 1 if the label is right, −1 if not, over 1 − 2η.
    """
    d = len(learner.columns(schema))
    seen, off = 1 / (2 * d), 1 - 1 / (2 * d)
    if learner.paper:
        cases = _all_or_none(seen, off, rate, 1 / (4 * d))
        risks = [Risk(0, bit, 1, cases) for bit in range(d)]
    else:
        size = 1 / (1 - 2 * rate)
        apart = [(0.0, off), (size, seen * (1 - rate)), (-size, seen * rate)]
        law = tuple(pair for pair in apart if pair[1])
        risks = [Risk(0, 0, d, (Case(law, 0.0, above=False),), copies=2)]
    tolerances = (float(learner.tolerance(d)),) * d
    if learner.adaptive:
        risks.append(Risk(1, 0, 1, _all_or_none(0.5, 0.5, rate, 0.25)))
        tolerances += (0.2,)
    fixed = "the second question is the same whenever the first answers are told apart rightly"
    if not learner.adaptive:
        fixed = "there is one round only"
    return Needs(spending, rounds, tuple(risks), tolerances, ("full paper", "Proposition 5.18"), fixed)


def _all_or_none(seen: float, off: float, rate: float, bound: float) -> tuple[Case, ...]:
    """Of a part `seen` of the rows all are counted, or none; the rest never are."""
    none, everyone = ((0.0, off), *_relabelled(seen, 0, rate)), ((0.0, off), *_relabelled(0, seen, rate))
    if rate == 0:
        none, everyone = ((0.0, 1.0),), ((0.0, off), (1.0, seen))
    return Case(none, bound, above=True), Case(everyone, bound, above=False)


def _relabelled(false: float, true: float, rate: float) -> tuple[tuple[float, float], ...]:
    """What rows with false and true labels add to a rewritten query, the labels being wrong at a rate."""
    right, wrong = (1 - rate) / (1 - 2 * rate), rate / (1 - 2 * rate)
    labelled_true = true * (1 - rate) + false * rate
    return ((-wrong, false + true - labelled_true), (right, labelled_true))


def label_of(learner: Planned) -> str:
    """The column that is wrong part of the time."""
    label = learner.label
    if isinstance(label, Column):
        return label.name
    if not isinstance(label, str):
        raise QueryError("labels that are wrong part of the time must be a column, not an expression of some")
    return label


class _Heard:
    """An oracle that keeps the rounds it is asked, and answers from a few made-up rows."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.promise = "none: made-up rows"
        self.rounds: list[Round] = []
        self._answers = Exact(made_up(schema, FEW))

    def ask(self, round_: Round, run: str = "main") -> list[Answer]:
        self.rounds.append(round_)
        return self._answers.ask(round_)

"""Learning from labels that are wrong part of the time: Theorem 8 of the lecture notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np

from sulq.errors import QueryError
from sulq.numbers import Numeric, rational
from sulq.queries.choose import Choice, Score
from sulq.queries.expressions import Constant, col
from sulq.queries.node import Node
from sulq.queries.query import Query, total
from sulq.queries.question import Question
from sulq.queries.rounds import Round, asked_of
from sulq.queries.scope import Scope, scope_of
from sulq.queries.vectors import Only
from sulq.schema import Boolean
from sulq.talk.answers import Answer
from sulq.talk.laws import PlainLaw
from sulq.talk.oracle import Oracle
from sulq.talk.row_questions import RowQuestion
from sulq.talk.statistics import KnownSum, statistic
from sulq.talk.wrapper import Wrapper


@dataclass(frozen=True)
class Denoised(Wrapper):
    """Answers as if the labels were right, where each was flipped with probability η = `rate`.

    Every query φ(x, y) that looks at the label becomes one other: ((1 − η)·φ(x, y) − η·φ(x, ȳ))/(1 − 2η). Of
    a row with true label t it is φ(x, t) on average: with probability 1 − η the label is t, with η it is t̄,
    and of the four terms the two with φ(x, t̄) cancel. Whoever answers does so as for any other query, so
    this wraps every oracle, and privacy is that oracle's. The price is a range larger by 1/(1 − 2η).

    A choice by how well attributes predict the label is asked as it is, by majorities. If majorities were
    counts, flips would turn a score s of n rows into (1 − 2η)·s + η·n on average, and the best attribute
    would stay the best. But a majority is a maximum, and on average that is above the maximum of the
    averages: where a value has few rows, or labels that are balanced, flips make a majority out of nothing.
    An attribute of v values is flattered by up to √(η(1 − η)·v·n) rows. So an attribute of many values can
    win that is not the best; `sulq.talk.flips.behind` states by how much it can be worse.

    `Answer.radius` is about the rows as they are: how far a number is from what the rewritten query comes to
    on them, and how far a choice is from the best score by their labels. Which labels were flipped is chance
    beyond that, and `sulq.talk.flips` says how much; answers of `Source.sample`, about where the rows came
    from, include it in their radius, except for choices.

    `oracle.denoised(label, rate)` makes one of these. It has what the oracle inside has: `cost`, `error`,
    `influence`, `left`, `spent`, `remaining`.

    Args:
        oracle: the oracle inside, which answers.
        label: a boolean column.
        rate: how often a label was flipped: η, below 1/2.

    >>> import numpy as np, sulq
    >>> rng = np.random.default_rng(0)
    >>> sick, flipped = rng.random(100_000) < 0.1, rng.random(100_000) < 0.3
    >>> people = sulq.open({"sick": sick ^ flipped}, {"sick": sulq.Boolean()})
    >>> round_ = sulq.Round([sulq.mean(sulq.col("sick"))])
    >>> round(people.exact().ask(round_)[0].value, 2)
    0.34
    >>> round(people.exact().denoised("sick", 0.3).ask(round_)[0].value, 2)
    0.1
    """

    oracle: Oracle
    label: str
    rate: Numeric

    def __post_init__(self) -> None:
        rate = Fraction(0) if self.rate in (0, "0") else rational("rate", self.rate, most=1)
        if rate >= Fraction(1, 2):
            raise QueryError(
                f"labels that are wrong at a rate of {float(rate):g} say nothing, or the opposite: "
                "the rate must be below 1/2 (above it, learn the negation at 1 − rate)"
            )
        if len(self.oracle.schema.hands) > 1:
            raise QueryError(
                "labels are not denoised across parties: denoise the curator who holds the label, for what "
                "that one answers alone"
            )
        if not isinstance(self.oracle.schema.attribute(self.label), Boolean):
            raise QueryError(f"the label {self.label!r} must be a boolean column")
        object.__setattr__(self, "rate", rate)

    def ask(self, round_: Round, run: str = "main") -> list[Answer]:
        """One answer for each query of the round, about the labels before they were flipped."""
        instead, inside = self._instead(round_)
        answers = iter(self.oracle.ask(inside, run))
        scope = scope_of(self.schema)
        return [
            _combined(query, [next(answers) for _ in rewritten], rewritten, scope)
            for query, rewritten in zip(round_.queries, instead, strict=True)
        ]

    def inside(self, round_: Round) -> Round:
        """The round that is asked of the oracle inside."""
        return self._instead(round_)[1]

    def error(self, round_: Round, beta: float) -> list[float | None]:
        """How far off each answer would be, as `Answer.radius` has it, but for a chance of `beta` each.

        None where the oracle inside cannot say, and for a mean among rows chosen by their label.
        """
        instead, rewritten = self._instead(round_)
        inside: Any = self.oracle
        errors = iter(inside.error(rewritten, beta))
        errors_of = [[next(errors) for _ in each] for each in instead]
        return [each[0] if len(each) == 1 else None for each in errors_of]

    def influence(self, round_: Round) -> list[float]:
        """How far one made-up report can move each answer, where people report."""
        instead, rewritten = self._instead(round_)
        inside: Any = self.oracle
        moved = iter(inside.influence(rewritten))
        return [max(next(moved) for _ in each) for each in instead]

    def _instead(self, round_: Round) -> tuple[list[Sequence[Question]], Round]:
        """What is asked instead of each query, and all that as a round."""
        round_ = asked_of(round_, self.schema)
        instead = [self._rewritten(query) for query in round_.queries]
        return instead, Round([query for each in instead for query in each], round_.share)

    def _rewritten(self, query: Question) -> Sequence[Question]:
        """What is asked instead: usually one query, but two for a mean among rows chosen by their label."""
        if isinstance(query, Choice):
            return [self._checked(query)]
        if not isinstance(query, Query):
            assert isinstance(query, RowQuestion)
            return [query.flipped(self.label, cast(Fraction, self.rate), self.schema)]
        if not any(self._looks(node) for node in (query.value, query.where, *query.by)):
            return [query]
        if not any(self._looks(node) for node in (query.where, *query.by)):
            statistic = "total" if query.statistic == "count" else query.statistic
            return [replace(query, statistic=statistic, value=self._without_noise(query.value))]
        if any(self._looks(node) for node in query.by):
            return [_total(query, self._without_noise(part), ()) for part in query.parts]
        # Only the condition looks at the label: groups that do not are left to the oracle, as groups.
        values = (query.value, Constant(1)) if query.statistic == "mean" else (query.value,)
        assert query.where is not None
        return [_total(query, self._without_noise(Only(query.where, value)), query.by) for value in values]

    def _without_noise(self, value: Node) -> Node:
        assert isinstance(self.rate, Fraction)
        right, wrong = float((1 - self.rate) / (1 - 2 * self.rate)), float(self.rate / (1 - 2 * self.rate))
        return right * value - wrong * value.given(**{self.label: ~col(self.label)})

    def _checked(self, choice: Choice) -> Choice:
        label = choice.label
        if label is None:
            if any(self._looks(part) for part in choice.parts):
                raise QueryError("sums that look at a noisy label cannot be chosen among: ask for them")
        elif any(self._looks(node) for node in (*choice.candidates, *choice.by)):
            raise QueryError("the noisy label cannot be an attribute or a group of a choice")
        elif self._looks(label) and label.key not in (col(self.label).key, (~col(self.label)).key):
            raise QueryError("a choice by a noisy label needs that label itself, not an expression of it")
        elif self._looks(label):
            return replace(choice, score=self._score(choice.score))
        return choice

    def _score(self, score: Score) -> Score:
        """A score of noisy labels that changes where the score changes for the labels before the flips.

        A share t of true labels becomes rate + (1 − 2·rate)·t. Majorities change at 1/2 before and after.
        Weights change at the share at which both labels count the same.
        """
        if not isinstance(score, tuple) or len(score) != 2:
            return "majority"
        assert isinstance(self.rate, Fraction)
        turn = self.rate + (1 - 2 * self.rate) * Fraction(score[0], sum(score))
        return max(1, round(100 * turn)), max(1, round(100 * (1 - turn)))

    def _looks(self, node: Node | None) -> bool:
        return node is not None and any(leaf.name == self.label for leaf in node.leaves().values())

    def denoised(self, label: str, rate: Numeric) -> Denoised:
        """The same, where another label was flipped too."""
        return Denoised(self, label, rate)


def denoised(self: Oracle, label: str, rate: Numeric) -> Denoised:
    """The same oracle, for labels that were flipped with probability `rate`: see `Denoised`."""
    return Denoised(self, label, rate)


def _total(query: Query, value: Node, by: tuple[Node, ...]) -> Query:
    summed = total(value, by=by or None, weight=query.weight)
    if query.statistic == "mean":
        if query.tolerance is not None:
            raise QueryError("a mean among rows chosen by a noisy label cannot have a tolerance")
        return summed
    return replace(summed, tolerance=query.tolerance, beta=query.beta)


def _combined(query: Question, answers: list[Answer], rewritten: Sequence[Any], scope: Scope) -> Answer:
    [first, *_] = answers
    if not isinstance(query, Query):
        return first
    # Groups that look at the label were asked for as the coordinates of a vector, in no shape of their own.
    same_shape = rewritten[0].statistic == query.statistic and len(rewritten[0].by) == len(query.by)
    if len(rewritten) == 1 and same_shape:
        return first
    # What was asked instead are totals, so their laws are those of sums.
    parts = [KnownSum(np.ravel(answer.value), cast(PlainLaw, answer.law)) for answer in answers]
    return statistic(query, parts, scope)

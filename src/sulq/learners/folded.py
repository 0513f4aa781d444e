"""A learner that sees some rows only: its questions are put with one more condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

import numpy as np

from sulq.errors import QueryError
from sulq.queries.cases import Where
from sulq.queries.choose import Choice
from sulq.queries.expressions import Column
from sulq.queries.folds import Fold
from sulq.queries.node import Node
from sulq.queries.query import Query
from sulq.queries.question import Question
from sulq.queries.rounds import Round
from sulq.queries.routes import Route
from sulq.queries.vectors import Only
from sulq.schema import Schema
from sulq.talk.answers import Answer
from sulq.talk.oracle import Rounds

H = TypeVar("H")


def public_fold(schema: Schema, folds: int, salt: str) -> Fold:
    """Which fold a row is in: by whose row it is where a column says so, else by all that the row says.

    Args:
        schema: what is public about the columns.
        folds: how many folds there are.
        salt: a public text; another salt deals the rows otherwise.

    >>> import sulq
    >>> public_fold(sulq.Schema({"a": sulq.Boolean(), "b": sulq.Boolean()}), 5, "").values
    (Column(name='a'), Column(name='b'))
    """
    unit = schema.unit
    names = [unit.column] if unit is not None and unit.column in schema else list(schema)
    return Fold(tuple(map(Column, names)), folds, salt)


def restricted(rounds: Rounds[H], where: Node, share: Fraction, learner: str) -> Rounds[H]:
    """The questions of a learner, of the rows that meet a condition alone.

    Counts, totals and means get one more condition. A choice by label is made in both groups of rows at once,
    those that meet the condition and the others: a row is in one of them, so that costs no more, and the
    choice in the others is not looked at.

    Args:
        rounds: the learner's rounds.
        where: the condition.
        share: what the learner may spend, as a part of the budget.
        learner: the learner's name, for a refusal.
    """
    round_ = next(rounds)
    while True:
        if round_.share is None:
            raise QueryError(f"{learner} asks by tolerances here: give it a share of the budget instead")
        answers = yield Round(
            [_restricted(query, where, learner) for query in round_.queries], round_.share * share
        )
        try:
            round_ = rounds.send([_its_own(*each) for each in zip(round_.queries, answers, strict=True)])
        except StopIteration as done:
            hypothesis: H = done.value
            return hypothesis


def _restricted(query: Question, where: Node, learner: str) -> Question:
    if isinstance(query, Query):
        return replace(query, where=where if query.where is None else query.where & where)
    if not isinstance(query, Choice):
        raise QueryError(
            f"{learner} asks about the rows themselves, and not about some of them: learn it from rows that "
            "were set apart, and evaluate it on others"
        )
    if query.label is None:
        return replace(query, candidates=tuple(Only(where, each) for each in query.candidates))
    return replace(query, by=(where, *query.by))


def _its_own(query: Question, answer: Answer) -> Answer:
    """The answer about the rows that meet the condition."""
    if not isinstance(query, Choice) or query.label is None:
        return answer
    value = np.asarray(answer.value)[1]
    return Answer(int(value) if value.ndim == 0 else value, answer.law, answer.axes[1:])


@dataclass(frozen=True)
class Dealt:
    """Which models tell which rows: each fold has a model of its own.

    Args:
        fold: which fold a row is in.
        size: how many folds there are.
    """

    fold: Fold
    size: int

    def is_in(self, place: int) -> Node:
        """Whether a row is in a fold."""
        return self.fold == str(place)

    def numbers(self, each: Sequence[Node]) -> Node:
        """A number of a row, made by the expression of its fold."""
        *first, value = each
        for place in range(len(first) - 1, -1, -1):
            value = Where(self.is_in(place), first[place], value)
        return value

    def positions(self, each: Sequence[Node], size: int) -> Node:
        """A position among so many classes, said by the expression of a row's fold."""
        many = len(each)
        roots = tuple(1 + place * (size + 1) for place in range(many))
        steps: list[tuple[int, ...]] = [(0, *roots)]
        for place, root in enumerate(roots):
            steps.append((1 + place, *range(root + 1, root + 1 + size)))
            steps += [(position,) for position in range(size)]
        return Route((self.fold, *each), tuple(steps), size)

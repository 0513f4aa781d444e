"""Rows, error, confidence and ε: from three of them the fourth, or what would be possible instead.

`Bounds` say how many rows the papers ask for, and whether a number of rows is enough by the tight account.
Every number here follows from `Bounds`, once by each account.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

from sulq.errors import QueryError
from sulq.numbers import several
from sulq.plans.search import smallest_number, smallest_rows

ERRORS = range(-6, 0)
CHANCES = range(-12, 0)
EPSILONS = range(-4, 2)


@dataclass(frozen=True)
class Both:
    """A number twice. None says that no number will do.

    Args:
        paper: the number as the papers have it.
        tight: the number as small as it can be proved.

    >>> Both(47217660, 44583).ratio
    1059.1
    """

    paper: float | None
    tight: float | None

    @property
    def ratio(self) -> float | None:
        """How many times larger the papers' is."""
        return None if not self.paper or not self.tight else round(self.paper / self.tight, 1)


class Bounds(Protocol):
    """How many rows a learner needs for an error, but for a chance of `beta`. Without privacy, ε is None."""

    def paper(self, error: Fraction, beta: Fraction, epsilon: Fraction | None) -> int:
        """By the papers' account."""
        ...

    def enough(self, rows: int, error: Fraction, beta: Fraction, epsilon: Fraction | None) -> bool:
        """Whether so many are enough, by the tight account."""
        ...


@dataclass(frozen=True)
class Goal:
    """What is wanted of a learner.

    One number is worked out. If `rows` is None, it is the rows. If `rows` is given, it is the other number
    that is None.

    Args:
        error: on which part of the rows the hypothesis may be wrong; 0 if it is learned `exactly`.
        beta: the chance that the error is larger.
        epsilon: what is promised to each person.
        rows: how many rows there are.
        exactly: whether the learner finds its target or fails, so that there is no error to trade.
        private: whether there is an ε.
    """

    error: Fraction | None
    beta: Fraction | None
    epsilon: Fraction | None
    rows: int | None
    exactly: bool
    private: bool

    @property
    def completed(self) -> Goal:
        """The same with something usual in the place of what is not given."""
        return replace(
            self,
            error=Fraction(1, 10) if self.error is None else self.error,
            beta=Fraction(1, 20) if self.beta is None else self.beta,
            epsilon=Fraction(1) if self.epsilon is None and self.private else self.epsilon,
        )

    def describe(self) -> str:
        """What is given, for people."""
        error = "learning it exactly" if self.exactly else f"an error of {short(self.error)}"
        epsilon = f" at ε = {short(self.epsilon)}" if self.private else ""
        return f"{error}{epsilon} with confidence {short(None if self.beta is None else 1 - self.beta)}"


@dataclass(frozen=True)
class Figures:
    """The four numbers, each twice."""

    rows: Both
    error: Both
    confidence: Both
    epsilon: Both


def solved(bounds: Bounds, goal: Goal) -> Figures:
    """The numbers of a goal, with the one that was not given. If all are given, they are checked."""
    sure = None if goal.beta is None else 1 - goal.beta
    given = Figures(_same(goal.rows), _same(goal.error), _same(sure), _same(goal.epsilon))
    if goal.rows is None:
        rows = _rows(bounds, goal)
        if rows.tight is None:
            raise QueryError(f"{goal.describe()} takes more than 2^50 rows: ask for less")
        return replace(given, rows=rows)
    if goal.private and goal.epsilon is None:
        return replace(given, epsilon=_checked(_epsilon(bounds, goal), bounds, goal))
    if goal.error is None:
        return replace(given, error=_checked(_error(bounds, goal), bounds, goal))
    if goal.beta is None:
        return replace(given, confidence=_checked(_confidence(bounds, goal), bounds, goal))
    if not bounds.enough(goal.rows, goal.error, goal.beta, goal.epsilon):
        raise QueryError(f"{several(goal.rows, 'row is', 'rows are')} too few: {possible(bounds, goal)}")
    return given


def possible(bounds: Bounds, goal: Goal) -> str:
    """What would be possible, in words: with as many rows as it takes, and with the rows that are given."""
    full = goal.completed
    needed = _rows(bounds, full).tight
    rows = "more than 2^50 rows" if needed is None else several(needed, "row", "rows")
    words = [f"{full.describe()} takes {rows}"]
    if goal.rows is not None:
        if goal.private:
            words.append(_at("ε = ", _epsilon(bounds, full).tight, replace(full, private=False)))
        if goal.exactly:
            words.append(_at("a confidence of ", _confidence(bounds, full).tight, full))
        else:
            words.append(_at("an error of ", _error(bounds, full).tight, full))
    return f"; with {several(goal.rows or 0, 'row', 'rows')}, ".join(filter(None, words))


def short(number: Fraction | None) -> str:
    """A number in few digits."""
    return "any" if number is None else f"{float(number):.10g}"


def _rows(bounds: Bounds, goal: Goal) -> Both:
    error, beta, epsilon = goal.error, goal.beta, goal.epsilon
    assert error is not None and beta is not None
    tight = smallest_rows(lambda rows: bounds.enough(rows, error, beta, epsilon))
    return Both(None, None) if tight is None else Both(bounds.paper(error, beta, epsilon), tight)


def _epsilon(bounds: Bounds, goal: Goal) -> Both:
    error, beta = goal.error, goal.beta
    assert error is not None and beta is not None
    return _both(bounds, goal, EPSILONS, lambda epsilon: (error, beta, epsilon))


def _error(bounds: Bounds, goal: Goal) -> Both:
    beta, epsilon = goal.beta, goal.epsilon
    assert beta is not None
    return _both(bounds, goal, ERRORS, lambda error: (error, beta, epsilon))


def _confidence(bounds: Bounds, goal: Goal) -> Both:
    error, epsilon = goal.error, goal.epsilon
    assert error is not None
    chances = _both(bounds, goal, CHANCES, lambda beta: (error, beta, epsilon))
    return Both(*(None if chance is None else 1 - chance for chance in (chances.paper, chances.tight)))


def _both(
    bounds: Bounds,
    goal: Goal,
    decades: range,
    terms_at: Callable[[Fraction], tuple[Fraction, Fraction, Fraction | None]],
) -> Both:
    """The smallest number with which the rows are enough."""
    rows = goal.rows
    assert rows is not None
    paper = smallest_number(lambda number: bounds.paper(*terms_at(number)) <= rows, decades)
    tight = smallest_number(lambda number: bounds.enough(rows, *terms_at(number)), decades)
    return Both(*(None if number is None else float(number) for number in (paper, tight)))


def _checked(number: Both, bounds: Bounds, goal: Goal) -> Both:
    if number.tight is None:
        raise QueryError(f"{several(goal.rows or 0, 'row is', 'rows are')} too few: {possible(bounds, goal)}")
    return number


def _at(name: str, number: float | None, goal: Goal) -> str:
    at = f" at ε = {short(goal.epsilon)}" if goal.private else ""
    return "" if number is None else f"{name}{number:.10g}{at} is possible"


def _same(number: Fraction | int | None) -> Both:
    value = number if number is None or isinstance(number, int) else float(number)
    return Both(value, value)

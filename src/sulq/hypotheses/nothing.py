"""⊥: the hypothesis of a learner that found nothing."""

from __future__ import annotations

from dataclasses import dataclass

from sulq.errors import QueryError
from sulq.hypotheses.hypothesis import Hypothesis
from sulq.queries.node import Node


@dataclass(frozen=True, eq=False)
class Nothing(Hypothesis):
    """⊥: nothing was found. It predicts nothing, and counts as false where a truth value is asked for.

    Args:
        schema: the columns that were learned from.
        origin: who looked, under what promise.
        sought: what was looked for, in words.
        chance: how likely it is, at most, to find nothing where there is something to find.

    >>> import sulq
    >>> nothing = Nothing(sulq.Schema({"a": sulq.Boolean()}), None, "parity", 0.05)
    >>> print(nothing.describe())
    ⊥: no parity was found. If there is one, the chance of that was at most 5 %; if there is none, that is
    what to expect.
    >>> bool(nothing)
    False
    >>> nothing.predict({"a": [True]})
    Traceback (most recent call last):
    sulq.errors.QueryError: no parity was found, so there is nothing to predict with
    """

    wire = "nothing"
    no_label = "nothing"

    sought: str
    chance: float

    def __bool__(self) -> bool:
        return False

    @property
    def expression(self) -> Node:
        raise QueryError(f"no {self.sought} was found, so there is nothing to predict with")

    def _check(self) -> None:
        self.describe()

    def describe(self) -> str:
        return (
            f"⊥: no {self.sought} was found. If there is one, the chance of that was at most "
            f"{100 * self.chance:.4g} %; if there is none, that is what to expect."
        )

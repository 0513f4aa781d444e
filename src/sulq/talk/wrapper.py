"""What is put around an oracle, and offers whatever that one offers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sulq.queries.rounds import NOTHING_AHEAD, Ahead, Round
from sulq.schema import Schema


class Wrapper:
    """An oracle around another. What the other one does not have is missing here too."""

    oracle: Any

    def inside(self, round_: Round) -> Round:
        """What the oracle inside is asked instead of a round: the same, if nothing else is said."""
        return round_

    def cost(self, round_: Round) -> Fraction:
        """What a round would cost, as the oracle inside counts it. Nothing is spent."""
        return Fraction(self.oracle.cost(self.inside(round_)))

    def afford(self, round_: Round, run: str = "main", ahead: Ahead = NOTHING_AHEAD) -> bool:
        """Refuse, with nothing spent, a run that could not be paid to its end; see `Curator.afford`."""
        afford: Callable[..., bool] | None = getattr(self.oracle, "afford", None)
        if afford is None:
            return True
        later = tuple(self.inside(other) for other in ahead.later)
        return afford(self.inside(round_), run, replace(ahead, later=later))

    @property
    def schema(self) -> Schema:
        schema: Schema = self.oracle.schema
        return schema

    @property
    def promise(self) -> str:
        return str(self.oracle.promise)

    @property
    def innermost(self) -> Any:
        """The oracle that answers, whatever is around it."""
        return getattr(self.oracle, "innermost", self.oracle)

    @property
    def rounds(self) -> int:
        """How many rounds the oracle inside answered."""
        return int(self.oracle.rounds)

    @property
    def queries(self) -> int:
        """How many queries the oracle inside answered."""
        return int(self.oracle.queries)

    @property
    def left(self) -> int:
        """How many people, rows or chunks were not asked yet, where that is counted."""
        return int(self.oracle.left)

    @property
    def spent(self) -> Fraction:
        """What was charged so far, where there is a budget."""
        return Fraction(self.oracle.spent)

    @property
    def remaining(self) -> Fraction:
        """What is left of the budget, where there is one."""
        return Fraction(self.oracle.remaining)

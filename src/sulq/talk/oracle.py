"""The two sides: whoever answers rounds, and what asks them."""

from __future__ import annotations

from collections.abc import Generator
from typing import Protocol, TypeVar

from sulq.queries.rounds import Ahead, Round
from sulq.schema import Schema
from sulq.talk.answers import Answer

H = TypeVar("H")
Rounds = Generator[Round, list[Answer], H]
"""What a learner is: it yields rounds, is sent their answers, and returns what it learned."""


class Oracle(Protocol):
    """Whoever answers rounds: anything with a schema, a promise and `ask` will do.

    >>> import sulq
    >>> def sick(oracle: Oracle) -> float:
    ...     [answer] = oracle.ask(sulq.Round([sulq.mean("sick", tolerance=0.25, beta=0.01)]))
    ...     return answer.value
    >>> people = sulq.open({"sick": [True, False] * 5000}, {"sick": sulq.Boolean()})
    >>> [0.25 <= sick(oracle) <= 0.75 for oracle in (people.exact(), people.sample())]
    [True, True]
    """

    @property
    def schema(self) -> Schema:
        """What is public about the columns."""
        ...

    @property
    def promise(self) -> str:
        """What is promised to every person, in words."""
        ...

    def ask(self, round_: Round, run: str = "main") -> list[Answer]:
        """One answer for each query of a round, in order.

        Args:
            round_: the queries.
            run: the name of the run that asks, under which the answers may be kept.
        """
        ...


class AsyncOracle(Protocol):
    """Whoever answers rounds and is awaited, as a curator elsewhere."""

    @property
    def schema(self) -> Schema:
        """What is public about the columns."""
        ...

    @property
    def promise(self) -> str:
        """What is promised to every person, in words."""
        ...

    async def ask(self, round_: Round, run: str = "main") -> list[Answer]:
        """One answer for each query of a round, in order."""
        ...

    async def afford(self, round_: Round, run: str = "main", ahead: Ahead = ...) -> bool:
        """Refuse a run that could not be paid to its end; see `Curator.afford`."""
        ...

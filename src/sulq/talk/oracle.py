"""The two sides: whoever answers rounds, and what asks them."""

from __future__ import annotations

from collections.abc import Generator
from typing import Protocol, TypeVar

from sulq.queries.rounds import Round
from sulq.schema import Schema
from sulq.talk.answers import Answer

H = TypeVar("H")
Rounds = Generator[Round, list[Answer], H]
"""What a learner is: it yields rounds, is sent their answers, and returns what it learned."""


class Oracle(Protocol):
    """Whoever answers rounds."""

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

"""One of several parties: a curator who holds some columns, and how people are told apart there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sulq.errors import QueryError
from sulq.oracles.chunks import ChunkCurator
from sulq.oracles.curator import Curator
from sulq.oracles.exact import Exact
from sulq.oracles.remote import Remote
from sulq.queries.buckets import check_identifier
from sulq.queries.rounds import Ahead, Round
from sulq.schema import Schema
from sulq.talk.answers import Answer
from sulq.talk.law_forms import Law
from sulq.talk.laws import Exactly


@dataclass(frozen=True)
class Party:
    """A party: whoever answers about its columns, and the column that names people there.

    Args:
        name: what it is called in messages.
        oracle: a curator, here or elsewhere; or exact answers, for comparison.
        key: the column that names people.
    """

    name: str
    oracle: Curator | Remote | Exact
    key: str

    def __post_init__(self) -> None:
        if isinstance(self.oracle, ChunkCurator) or not isinstance(self.oracle, Curator | Remote | Exact):
            raise QueryError(
                f"{self.name} is a {type(self.oracle).__name__}: parties are curators who answer from all of "
                "their rows (source.curator(...) or sulq.connect(...)), or exact oracles, for comparison"
            )
        if not isinstance(self.oracle, Exact) and self.oracle.offer.truncate:
            raise QueryError(
                f"{self.name} truncates its answers, and what is cut off does not average out: open its "
                "curator with truncate=False"
            )
        check_identifier(self.schema, self.key)

    @property
    def schema(self) -> Schema:
        """What is public about its columns."""
        return self.oracle.schema

    @property
    def rows(self) -> int | None:
        """How many rows it has, if that is public."""
        return self.oracle.source.rows if isinstance(self.oracle, Exact) else self.oracle.offer.rows

    def cost(self, rounds: Sequence[Round]) -> Fraction:
        """What rounds cost together, in the unit of its budget."""
        if isinstance(self.oracle, Exact):
            return Fraction(0)
        return sum((self.oracle.cost(each) for each in rounds), Fraction(0))

    def laws(self, round_: Round) -> list[Law | None]:
        """What law the error of each answer has; None for a mean whose error depends on its count."""
        if isinstance(self.oracle, Exact):
            return [Exactly() for _ in round_.queries]
        return self.oracle.offer.laws(round_)

    def afford(self, rounds: Sequence[Round], run: str, ahead: Ahead) -> bool:
        """Refuse rounds that could not all be paid; False if all of them were charged before."""
        fresh, share = False, ahead.share
        for place, each in enumerate(rounds):
            after = rounds[place + 1 :] if share is None else ()
            later = tuple(other for other in after if self.oracle.afford(other, run))
            fresh = self.oracle.afford(each, run, Ahead(share, later, ahead.reserve)) or fresh
            share = None if share is None else share - (each.share or 0)
        return fresh

    def ask(self, rounds: Sequence[Round], run: str) -> list[Answer]:
        """The answers to all rounds, one after the other."""
        return [answer for each in rounds for answer in self.oracle.ask(each, run)]

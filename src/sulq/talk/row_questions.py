"""Questions that need the rows themselves and not their sums: only who holds the rows can answer them.

A mechanism of its own answers each. What it costs, how well it does and when it is refused follow from public
facts, as for every other question.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol

from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.privacy.terms import Contest, Settled
from sulq.queries.choose import Choice
from sulq.queries.node import Node
from sulq.queries.query import Neighbours, Query
from sulq.queries.question import Question
from sulq.queries.rounds import Round
from sulq.schema import Schema
from sulq.talk.answers import Answer
from sulq.talk.law_forms import Law


@dataclass(frozen=True)
class PublicFacts:
    """What is public about a table.

    Args:
        schema: what is public about its columns.
        neighbours: what one person's presence means.
        rows: how many rows there are, or None if that is not public.
        truncate: whether answers are brought into the range that is public.
    """

    schema: Schema
    neighbours: Neighbours = "replace"
    rows: int | None = None
    truncate: bool = False

    def require(self, needed: int, promise: str) -> None:
        """Refuse if the rows are too few for a promise; unless their number is not public.

        >>> import sulq
        >>> facts = PublicFacts(sulq.Schema({"sick": sulq.Boolean()}), rows=10)
        >>> facts.require(20, "it")
        Traceback (most recent call last):
        sulq.errors.QueryError: insufficient samples: it needs 20 rows, and there are 10; nothing was spent
        """
        if self.rows is not None and self.rows < needed:
            raise QueryError(
                f"insufficient samples: {promise} needs {needed} rows, and there are {self.rows}; nothing "
                "was spent"
            )


class SeenRows(Protocol):
    """Rows that a mechanism may look at, once it is paid for."""

    @property
    def rows(self) -> int:
        """How many there are."""
        ...

    def values(self, expression: Node) -> NDArray[Any]:
        """The value of an expression on every row."""
        ...


def check_kinds(round_: object) -> None:
    """Refuse what is no round, and a round with a question of a kind that nobody here answers."""
    if not isinstance(round_, Round):
        raise QueryError(f"ask takes a Round of queries, not {type(round_).__name__}")
    if not all(isinstance(query, Query | Choice | RowQuestion) for query in round_.queries):
        raise QueryError("this round has a question of a kind that cannot be answered here")


class RowQuestion(Question):
    """A question that needs the rows themselves.

    `settled` is the mechanism, or the ε that the question's own mechanism may spend. It is None where answers
    are exact.
    """

    numbers = 1
    """How many numbers the answer has."""
    measured_in: Literal["best", "share"] = "share"
    """What the answer's radius is counted in: rows below the best, or a share of the population."""

    @property
    def parts(self) -> tuple[Node, ...]:
        """No sums: they do not answer it."""
        return ()

    @abstractmethod
    def contest(self, public: PublicFacts) -> Contest:
        """How far one person moves it; raises QueryError if the question makes no sense here."""

    @abstractmethod
    def check(self, public: PublicFacts, settled: Settled) -> None:
        """Refuse, from public facts, what the mechanism cannot do."""

    @abstractmethod
    def look(self, rows: SeenRows, public: PublicFacts, settled: Settled | None) -> Any:
        """What may be said of the rows, as plain data. Called once the charge is in the ledger."""

    @abstractmethod
    def answer(self, released: Any, public: PublicFacts, settled: Settled | None) -> Answer:
        """What `look` said, as an answer."""

    @abstractmethod
    def law(self, public: PublicFacts, settled: Settled | None) -> Law:
        """How good the answer is."""

    @abstractmethod
    def words(self, public: PublicFacts) -> str:
        """What is asked, for people."""

    def flipped(self, column: str, rate: Fraction, schema: Schema) -> RowQuestion:
        """What to ask instead where a column's truth values were flipped with this rate, or a refusal."""
        raise QueryError(f"this question cannot be asked where {column!r} is wrong part of the time")

    def promise(self, public: PublicFacts, settled: Settled) -> str | None:
        """What is promised about the population that the rows were drawn from, for people."""
        return None

"""Rounds: what a learner asks at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from sulq.errors import QueryError
from sulq.numbers import Numeric, rational
from sulq.queries.choose import Choice
from sulq.queries.exchanged import moved_together
from sulq.queries.facts import ceil_sqrt
from sulq.queries.missing import without_missing
from sulq.queries.query import Neighbours, Query, moves
from sulq.queries.question import Question, question_of
from sulq.queries.scope import Scope, scope_of
from sulq.schema import Schema
from sulq.wire import canonical, digest, exact, listed, members, of_json, reading, versioned

VERSION = 1
"""Of the form of a round."""


@dataclass(frozen=True, eq=False)
class Round:
    """Queries asked at once: one interaction with whoever answers.

    Args:
        queries: the queries, at least one.
        share: the part of the run's budget that the round may cost, from 0 to 1. It is for queries that do
            not state tolerances, and for oracles that charge.

    >>> import sulq
    >>> round_ = Round([sulq.count(where=sulq.col("sick")), sulq.total(sulq.col("cost"))])
    >>> schema = Schema({"sick": sulq.Boolean(), "cost": sulq.Real(0, 100)})
    >>> round_.sensitivity(schema, order=1)
    Fraction(101, 1)
    """

    queries: tuple[Question, ...]
    share: Fraction | None

    def __init__(self, queries: Iterable[Question], share: Numeric | None = None) -> None:
        given = tuple(queries)
        if not given or not all(isinstance(query, Question) for query in given):
            raise QueryError("a round is a list of at least one query: count, total, mean or choose")
        object.__setattr__(self, "queries", given)
        object.__setattr__(self, "share", None if share is None else rational("share", share, most=1))

    def __reduce__(self) -> tuple[type[Round], tuple[Any, ...]]:
        return Round, (self.queries, self.share)

    @property
    def form(self) -> dict[str, Any]:
        """The round as plain data; `Round.of` reads it back."""
        share = None if self.share is None else str(self.share)
        return {"round": VERSION, "queries": [query.form for query in self.queries], "share": share}

    @classmethod
    def of(cls, form: Mapping[str, Any]) -> Round:
        """The round with this form. A version that is not known is refused, and so is an unknown query.

        >>> Round.of({"round": 1, "queries": [{"query": "median"}], "share": None})
        Traceback (most recent call last):
        sulq.errors.QueryError: 'median' is not a known query; known are choose, count, mean, ...total
        """
        with reading("a round"):
            given = members(versioned(form, "round", VERSION), "a round", ["round", "queries", "share"])
            queries = [question_of(query) for query in listed(given["queries"], "the queries of a round")]
            return cls(queries, None if given["share"] is None else exact(given["share"], "a share"))

    @cached_property
    def by_sums(self) -> tuple[Query | Choice, ...]:
        """The queries, all of them of a kind that sums answer; a refusal if one is of another kind."""
        kinds = tuple(query for query in self.queries if isinstance(query, Query | Choice))
        if len(kinds) < len(self.queries):
            raise QueryError(
                "only count, total, mean and choose can be answered here: ask the rest elsewhere"
            )
        return kinds

    @cached_property
    def canonical(self) -> str:
        """The form as text, written in one way only."""
        return canonical(self.form)

    def to_json(self) -> str:
        """The round as JSON, for `from_json`: the canonical text.

        >>> import sulq
        >>> Round.from_json(Round([sulq.count()]).to_json()) == Round([sulq.count()])
        True
        """
        return self.canonical

    @classmethod
    def from_json(cls, text: str) -> Round:
        """The round that `to_json` wrote."""
        return cls.of(of_json(text, "a round"))

    @property
    def key(self) -> str:
        """Names the round: equal for equal questions, on every machine."""
        return digest(self.canonical)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Round) and other.canonical == self.canonical

    def __hash__(self) -> int:
        return hash(self.canonical)

    def sensitivity(
        self, schema: Schema | Scope, order: Literal[1, 2], neighbours: Neighbours = "replace"
    ) -> Fraction:
        """How far all the round's sums together can move, in the 1- or 2-norm, with one person's rows.

        With `replace` one person's rows are exchanged for others (the number of rows is public); with
        `add-remove` they come or go. A person of several rows moves the sums by at most that many times
        one row's share: their rows are exchanged in pairs, and where one of the two has more, the rest
        come or go. The 2-norm is rounded up to a 2^-40th of a grid step or less.
        """
        scope = schema if isinstance(schema, Scope) else scope_of(schema)
        queries = asked_of(self, scope.schema).queries
        joint = moved_together(
            scope, [query for query in queries if isinstance(query, Query)], order, neighbours
        )
        return joint if order == 1 else _root_up(joint)


def asked_of(round_: Round, schema: Schema) -> Round:
    """A round as it is asked of rows with this schema: without the rows that miss what is summed.

    Every oracle asks this instead of what it was given, and a ledger keeps it: so what was stored says which
    rows were left out. See `sulq.queries.missing`.

    Args:
        round_: what was asked.
        schema: what is public about the columns.
    """
    if not isinstance(round_, Round):
        raise QueryError(f"ask takes a Round of queries, not {type(round_).__name__}")
    if not schema.drops_missing:
        return round_
    queries = [
        without_missing(query, schema) if isinstance(query, Query) else query for query in round_.queries
    ]
    changed = any(new is not old for new, old in zip(queries, round_.queries, strict=True))
    return Round(queries, round_.share) if changed else round_


def numbers_of(round_: Round, schema: Schema) -> int:
    """How many numbers a round asks for that somebody's row moves: what the SuLQ paper counts as queries.

    Args:
        round_: what is asked.
        schema: what is public about the columns.

    >>> import sulq
    >>> schema = sulq.Schema({"sick": sulq.Boolean()})
    >>> numbers_of(Round([sulq.count(by="sick"), sulq.count()]), schema)
    2
    """
    scope = scope_of(schema)
    queries = (query for query in asked_of(round_, schema).queries if isinstance(query, Query))
    parts = [part for query in queries for part in query.parts]
    return sum(scope.number(part).width for part in parts if moves(scope, part, 1, "replace"))


def least_of(rounds: Iterable[Round]) -> Fraction:
    """The least part of the budget that a question of some rounds gets, if each round is divided equally.

    Args:
        rounds: rounds by shares.

    >>> import sulq
    >>> mean = sulq.mean("cost", where=sulq.col("sick"))
    >>> least_of([Round([sulq.count(), mean], share=0.3), Round([sulq.count()], share=0.5)])
    Fraction(1, 10)
    """
    return min(
        (each.share or Fraction(0)) / sum(len(query.parts) for query in each.queries) for each in rounds
    )


@dataclass(frozen=True)
class Ahead:
    """What a run may still cost, as far as that is known before its next round.

    Args:
        share: the share of the budget for that round and all after it; None where rounds are asked by
            tolerances.
        later: rounds by tolerances that come after it.
        reserve: what must be left after them for further rounds, in the unit of the budget.
        numbers: says how many numbers that round and all after it ask for, at most; None if that is not
            known.
        least: says the least share of the budget that a question of these rounds gets; None if that is not
            known.
        columns: says which columns rounds after it may look at, as far as that is known: others may hold
            them.
        hands: says in how many hands the columns are, at most, that one question of these rounds looks at.
    """

    share: Fraction | None = None
    later: tuple[Round, ...] = ()
    reserve: Fraction = Fraction(0)
    numbers: Callable[[], int | None] = lambda: None
    least: Callable[[], Fraction | None] = lambda: None
    columns: Callable[[], frozenset[str]] = frozenset
    hands: Callable[[], int] = lambda: 1


NOTHING_AHEAD = Ahead()


def _root_up(value: Fraction) -> Fraction:
    """√value, rounded up to about 40 bits more than it has."""
    scale = 1 << max(0, 40 + value.denominator.bit_length() - value.numerator.bit_length() // 2)
    return Fraction(ceil_sqrt(math.ceil(value * scale * scale)), scale)

"""What is public about the sums that answer a query: how far one person moves them and how large they are."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import NamedTuple

from sulq.errors import QueryError
from sulq.privacy.terms import SharedCondition, SumFacts
from sulq.queries.exchanged import VectorMoves, moves_where, vector_moves
from sulq.queries.node import Node
from sulq.queries.query import Neighbours, Query, moves, reach
from sulq.queries.rounds import Round
from sulq.queries.scope import Scope, scope_of
from sulq.talk.row_questions import PublicFacts


def sum_facts(
    public: PublicFacts,
    query: Query,
    part: Node,
    several: bool = True,
    former: bool = False,
    vectors: bool = True,
) -> SumFacts:
    """The facts of one of the sums that answer a query.

    Args:
        public: what is public about the table.
        query: what is asked.
        part: the row expression that is summed, one of the query's parts.
        several: whether there are several sums with the query's condition, to be accounted jointly.
        former: whether facts are as loose as in earlier versions.
        vectors: whether noise may be drawn for whole vectors, as it was not in earlier versions.

    >>> import sulq
    >>> schema = sulq.Schema({"sick": sulq.Boolean(), "x": sulq.Real(-1, 1)})
    >>> query = sulq.mean("x", where="sick")
    >>> [float(sum_facts(PublicFacts(schema), query, part).moves1) for part in query.parts]
    [2.0, 1.0]
    >>> float(sulq.Round([query]).sensitivity(schema, order=1))
    2.0
    """
    scope, neighbours = scope_of(public.schema, former), public.neighbours
    known = scope.remember((part.key, f"moved, {neighbours}"), lambda: _moved(scope, part, neighbours))
    tolerance = query.tolerance
    if tolerance is not None and query.statistic == "mean":
        if public.rows is None or query.where is not None or query.by:
            raise QueryError(
                "a mean can only have a tolerance over all rows, and when their number is public: ask "
                "for the total and the count, each with its own"
            )
        tolerance *= public.rows
    shared = None
    if query.where is not None and several and known.exchanged is not None:
        shared = SharedCondition(query.where.key, *known.exchanged)
    return SumFacts(
        step=known.step,
        width=known.width,
        moves1=known.moves1,
        moves2=known.moves2,
        size=known.size,
        reach=known.reach,
        weight=query.weight,
        tolerance=tolerance,
        beta=query.beta,
        shared=shared,
        vectors=known.vectors if vectors and not former else None,
    )


class _Moved(NamedTuple):
    """What is public about a sum, whoever asks for it: see `SumFacts`."""

    step: Fraction
    width: int
    moves1: Fraction
    moves2: Fraction
    size: Fraction
    reach: Fraction
    exchanged: tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]] | None
    vectors: VectorMoves | None


def _moved(scope: Scope, part: Node, neighbours: Neighbours) -> _Moved:
    facts = scope.number(part)
    return _Moved(
        facts.unit,
        facts.width,
        moves(scope, part, 1, neighbours),
        moves(scope, part, 2, neighbours),
        facts.magnitude * facts.unit,
        reach(scope, part, neighbours),
        moves_where(scope, part, neighbours),
        vector_moves(scope, part, neighbours),
    )


def round_facts(
    public: PublicFacts, round_: Round, former: bool = False, vectors: bool = True
) -> list[SumFacts]:
    """The facts of all sums that answer the queries of a round.

    Args:
        public: what is public about the table.
        round_: what is asked.
        former: whether sums are accounted on their own, with looser facts, as in earlier versions.
        vectors: whether noise may be drawn for whole vectors, as it was not in earlier versions.
    """
    parts = [(query, part) for query in round_.queries if isinstance(query, Query) for part in query.parts]
    conditions = Counter(query.where.key for query, _ in parts if query.where is not None)

    def several(query: Query) -> bool:
        return not former and query.where is not None and conditions[query.where.key] > 1

    return [sum_facts(public, query, part, several(query), former, vectors) for query, part in parts]

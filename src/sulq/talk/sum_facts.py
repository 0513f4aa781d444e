"""What is public about the sums that answer a query: how far one person moves them and how large they are."""

from __future__ import annotations

from sulq.errors import QueryError
from sulq.privacy.terms import SharedCondition, SumFacts
from sulq.queries.exchanged import moves_where
from sulq.queries.node import Node
from sulq.queries.query import Query, moves, reach
from sulq.queries.scope import scope_of
from sulq.talk.row_questions import PublicFacts


def sum_facts(public: PublicFacts, query: Query, part: Node) -> SumFacts:
    """The facts of one of the sums that answer a query.

    Args:
        public: what is public about the table.
        query: what is asked.
        part: the row expression that is summed, one of the query's parts.

    >>> import sulq
    >>> schema = sulq.Schema({"sick": sulq.Boolean(), "x": sulq.Real(-1, 1)})
    >>> query = sulq.mean("x", where="sick")
    >>> [float(sum_facts(PublicFacts(schema), query, part).moves1) for part in query.parts]
    [2.0, 1.0]
    >>> float(sulq.Round([query]).sensitivity(schema, order=1))
    2.0
    """
    scope, neighbours = scope_of(public.schema), public.neighbours
    facts = scope.number(part)
    tolerance = query.tolerance
    if tolerance is not None and query.statistic == "mean":
        if public.rows is None or query.where is not None or query.by:
            raise QueryError(
                "a mean can only have a tolerance over all rows, and when their number is public: ask "
                "for the total and the count, each with its own"
            )
        tolerance *= public.rows
    one, two = (moves_where(scope, part, order, neighbours) for order in (1, 2))
    shared = None
    if query.where is not None and one is not None and two is not None:
        shared = SharedCondition(query.where.key, (one[0], two[0]), (one[1], two[1]))
    return SumFacts(
        step=facts.unit,
        width=facts.width,
        moves1=moves(scope, part, 1, neighbours),
        moves2=moves(scope, part, 2, neighbours),
        size=facts.magnitude * facts.unit,
        reach=reach(scope, part, neighbours),
        weight=query.weight,
        tolerance=tolerance,
        beta=query.beta,
        shared=shared,
    )

"""Learn from people's data without seeing it.

A learner asks statistical queries, sums of bounded row functions, and never sees a row; whoever answers
adds the noise that the trust between them calls for. See the README for a first look.
"""

from sulq.errors import (
    AdaptivityError,
    BudgetError,
    LedgerError,
    QueryError,
    SchemaError,
    SulqError,
)
from sulq.queries.canonical import parse, parse_round
from sulq.queries.codes import bins, cross, lookup, nearest, one_hot, parity
from sulq.queries.expressions import clip, col, where
from sulq.queries.functions import row_function
from sulq.queries.rounds import Query, Round, count, mean, total
from sulq.queries.vectors import clip_norm, dot, features, gram, outer, vector
from sulq.samples import randhie
from sulq.schema import Boolean, Category, Integer, Real, Schema, Unit
from sulq.sources.source import Source, open

__all__ = [
    "AdaptivityError",
    "Boolean",
    "BudgetError",
    "Category",
    "Integer",
    "LedgerError",
    "Query",
    "QueryError",
    "Real",
    "Round",
    "Schema",
    "SchemaError",
    "Source",
    "SulqError",
    "Unit",
    "bins",
    "clip",
    "clip_norm",
    "col",
    "count",
    "cross",
    "dot",
    "features",
    "gram",
    "lookup",
    "mean",
    "nearest",
    "one_hot",
    "open",
    "outer",
    "parity",
    "parse",
    "parse_round",
    "randhie",
    "row_function",
    "total",
    "vector",
    "where",
]

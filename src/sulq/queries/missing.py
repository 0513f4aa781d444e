"""Cells that are missing: which rows a sum leaves out, where the schema says `missing = "drop"`.

A total or a mean of a number leaves out the rows that miss a cell which the number is made of: such a row
adds nothing, and a mean does not count it. So `mean("cost")` is asked as `mean("cost", where=known("cost"))`,
the ratio of two sums.

One person moves these sums no further than the rules for `where` say. Whether a cell is known is a function
of that row alone, and the rule is public and the same for all rows. So a row adds its value v or 0. Where
rows come and go, that is at most |v|. Where one row is exchanged for another, two values differ by at most
their spread, and a value and 0 by at most |v|: `Only.facts` states the larger of both.

Conditions and groups are no numbers that are summed: they read the column's public constant. Points, which
learners make of features or of `coordinate`, do too, because a point needs all its coordinates.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from operator import and_

from sulq.queries.arithmetic import And
from sulq.queries.cases import Where
from sulq.queries.expressions import Column, Known
from sulq.queries.facts import Number
from sulq.queries.folds import Fold
from sulq.queries.node import Leaf, Node, children
from sulq.queries.query import Query
from sulq.queries.scope import Scope, scope_of
from sulq.queries.vectors import Scaled
from sulq.schema import Schema, drops

READ_AS_THEY_ARE = ("choice", "condition")
"""What expressions call those of their operands that are no numbers: groups and conditions."""


def without_missing(query: Query, schema: Schema) -> Query:
    """A total or a mean that leaves out the rows which miss a cell of its value; the same if there are none.

    A query that says itself what to do with a column's missing cells, by `known`, is left as it is.

    Args:
        query: what is asked.
        schema: what is public about the columns.

    >>> from sulq.queries.query import mean
    >>> from sulq.schema import Real
    >>> schema = Schema({"cost": Real(0, 100, drop_missing=True)})
    >>> without_missing(mean("cost"), schema).where
    Known(name='cost')
    """
    where = known_beside(query.where, _summed_columns(query.value, scope_of(schema)), query.value)
    return query if where is query.where else replace(query, where=where)


def with_missing(value: Node, schema: Schema) -> Node | None:
    """A condition that always holds, and beside which no row is left out of the sum of a value.

    A part of a query that says itself what to do with missing cells may not say so where it stands alone.

    Args:
        value: what is summed.
        schema: what is public about the columns.

    >>> from sulq.queries.expressions import col
    >>> from sulq.queries.query import total
    >>> from sulq.schema import Real
    >>> schema = Schema({"cost": Real(0, 100, drop_missing=True)})
    >>> alone = total("cost", where=with_missing(col("cost"), schema))
    >>> without_missing(alone, schema) is alone
    True
    """
    known = known_beside(None, _summed_columns(value, scope_of(schema)), value)
    return None if known is None else known | ~known


def looked_at_missing(expressions: Iterable[Node | None], schema: Schema) -> tuple[str, ...]:
    """The columns that expressions look at, in whatever way, of which the schema drops missing cells.

    A fold is made of all that a row says, and of what it misses: it asks for no cell to be known.

    Args:
        expressions: the expressions; None stands for no expression.
        schema: what is public about the columns.

    >>> from sulq.queries.expressions import col, known
    >>> from sulq.schema import Real
    >>> schema = Schema({"cost": Real(0, 100, drop_missing=True)})
    >>> looked_at_missing([col("cost") > 5], schema), looked_at_missing([known("cost")], schema)
    (('cost',), ())
    """
    leaves = [leaf for each in expressions if each is not None for leaf in _leaves(each)]
    stated = {leaf.name for leaf in leaves if isinstance(leaf, Known)}
    names = dict.fromkeys(leaf.name for leaf in leaves if isinstance(leaf, Column))
    return tuple(name for name in names if name not in stated and drops(schema[name]))


def _leaves(expression: Node) -> list[Leaf]:
    """The leaves of an expression, other than those that are hashed into a fold."""
    if isinstance(expression, Fold):
        return []
    inner = children(expression)
    if not inner:
        return list(expression.leaves().values())
    return list({leaf.key: leaf for child in inner for leaf in _leaves(child)}.values())


def coordinate(name: str, schema: Schema) -> Node:
    """A column as a coordinate of a point: of a row that misses the cell, it is the public constant.

    It says so by `known`, so that sums of it leave no row out.

    Args:
        name: the column.
        schema: what is public about the columns.

    >>> import sulq
    >>> people = sulq.open({"cost": [100, None]}, {"cost": sulq.Real(0, 1000, missing=0, drop_missing=True)})
    >>> means = [sulq.mean("cost"), sulq.mean(coordinate("cost", people.schema))]
    >>> [answer.value for answer in people.exact().ask(sulq.Round(means))]
    [100.0, 50.0]
    """
    column = Column(name)
    return Where(Known(name), column, column) if drops(schema[name]) else column


def known_beside(where: Node | None, names: Iterable[str], value: Node | None = None) -> Node | None:
    """A condition, and beside it that some columns are known, unless it says something of that itself.

    Args:
        where: the condition; None for all rows.
        names: the columns.
        value: what is summed; columns whose missing cells it handles itself are left to it.
    """
    stated = {key for each in (where, value) if each is not None for key in each.leaves()}
    needed = [known for known in map(Known, names) if known.key not in stated]
    if not needed:
        return where
    return reduce(and_, [*([] if where is None else [where]), *needed])


def certainly_known(where: Node | None) -> frozenset[str]:
    """The columns of which no row that meets a condition misses a cell, as the condition itself says.

    Args:
        where: the condition; None for all rows.

    >>> from sulq.queries.expressions import col, known
    >>> sorted(certainly_known(known("cost") & (col("age") > 5) & known("born")))
    ['born', 'cost']
    """
    if isinstance(where, And):
        return certainly_known(where.left) | certainly_known(where.right)
    return frozenset([where.name]) if isinstance(where, Known) else frozenset()


def _summed_columns(value: Node, scope: Scope) -> list[str]:
    """The columns that a number is made of, other than by conditions, groups and features."""
    if isinstance(value, Column):
        return [value.name] if drops(scope.schema[value.name]) else []
    facts = scope.facts(value)
    if isinstance(value, Scaled) or not isinstance(facts, Number) or facts.flag:
        return []
    apart = [getattr(value, name, None) for name in READ_AS_THEY_ARE]
    numbers = [child for child in children(value) if not any(child is each for each in apart)]
    return list(dict.fromkeys(name for child in numbers for name in _summed_columns(child, scope)))

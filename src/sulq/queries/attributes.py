"""Which columns are learned from: as expressions, and as coordinates where a row is a point in space."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TypeAlias, cast

from sulq.errors import QueryError
from sulq.queries.expressions import Column, named
from sulq.queries.node import Node
from sulq.queries.public import public_list
from sulq.queries.scope import scope_of
from sulq.queries.vectors import Vector
from sulq.schema import Boolean, Category, Date, Integer, Kind, Real, Schema

Edges: TypeAlias = Sequence[float | str]
"""Public edges of a number; of a date they may be days, as "2000-01-31"."""


def attribute(schema: Schema, given: str | Node) -> Node:
    """A feature or a label as an expression; a refusal if it looks at the column that says whose row it is.

    Args:
        schema: what is public about the columns.
        given: a column or an expression.

    >>> attribute(Schema({"sick": Boolean()}), "sick").described()
    "column 'sick'"
    """
    expression = named(given)
    for leaf in expression.leaves().values():
        schema.attribute(leaf.name)
    return expression


def looked_at(expression: Node) -> frozenset[str]:
    """The columns that an expression looks at.

    >>> sorted(looked_at(Column("age") > Column("years")))
    ['age', 'years']
    """
    return frozenset(leaf.name for leaf in expression.leaves().values())


def distinct(
    schema: Schema, given: Sequence[str | Node], what: str = "features", one: str = "feature"
) -> tuple[Node, ...]:
    """A list of columns or expressions, as expressions; a refusal if it is no list or names one twice.

    Args:
        schema: what is public about the columns.
        given: the list.
        what: what an error calls the list.
        one: what an error calls one of them.

    >>> [feature.described() for feature in distinct(Schema({"sick": Boolean()}), ["sick"])]
    ["column 'sick'"]
    """
    if isinstance(given, str | Node):
        raise QueryError(f"{what} is a list of columns: [{given!r}]")
    listed = tuple(attribute(schema, each) for each in given)
    if len({each.key for each in listed}) < len(listed):
        raise QueryError(f"a {one} is named twice")
    return listed


def features_beside(
    schema: Schema, given: Sequence[str | Node] | None, label: Node, what: str = "features"
) -> tuple[Node, ...]:
    """Features that look at no column which the label looks at.

    Args:
        schema: what is public about the columns.
        given: columns or expressions; None for all columns that the label does not look at.
        label: what is learned.
        what: what an error calls the list.

    >>> schema = Schema({"age": Integer(0, 120), "sick": Boolean()})
    >>> [feature.described() for feature in features_beside(schema, None, Column("sick"))]
    ["column 'age'"]
    """
    taken = looked_at(label)
    if given is None:
        given = [name for name in schema.attributes if name not in taken]
    features = distinct(schema, given, what)
    for feature in features:
        for name in sorted(looked_at(feature) & taken):
            raise QueryError(f"the label cannot be one of its own features: it looks at column {name!r}")
    return features


def column_names(features: Sequence[Node], schema: Schema) -> tuple[str, ...]:
    """The names of features that must be columns.

    >>> column_names([Column("sick")], Schema({"sick": Boolean()}))
    ('sick',)
    """
    for feature in features:
        if not isinstance(feature, Column):
            raise QueryError(
                f"features are columns here, not expressions: name some of {', '.join(schema.attributes)}"
            )
    return tuple(feature.name for feature in features if isinstance(feature, Column))


def check_numbers(what: str, names: Iterable[str], features: Collection[str], schema: Schema) -> None:
    """Refuse edges for what is no number, or no feature.

    Args:
        what: what an error calls the edges.
        names: the columns that have edges.
        features: the columns that are learned from.
        schema: what is public about the columns.
    """
    for name in names:
        if name not in features or not isinstance(schema[name], Integer | Real):
            raise QueryError(f"{what} are for features that are numbers, and {name!r} is none")


def edge_numbers(kind: Kind, edges: Edges) -> Sequence[float]:
    """Edges as numbers: of dates, texts are days.

    Args:
        kind: the column's kind.
        edges: its public edges.

    >>> edge_numbers(Date("1950-01-01", "2020-12-31"), ["1950-01-31", 60])
    (30, 60)
    """
    if isinstance(kind, Date):
        edges = tuple(kind.day(edge) if isinstance(edge, str) else edge for edge in public_list(edges))
    return cast("Sequence[float]", edges)


def feature_names(
    schema: Schema,
    given: Sequence[str] | None,
    *,
    booleans: bool = False,
    categories: bool = False,
    but: Collection[str] = (),
) -> tuple[str, ...]:
    """The columns that make up a feature vector, or a refusal.

    The column that says whose row it is makes no feature, named or not.

    Args:
        schema: what is public about the columns.
        given: numeric or boolean columns that can vary; None for all numeric ones whose bounds differ.
        booleans: whether None stands for the boolean columns too.
        categories: whether categories are features too, named or not.
        but: columns that None does not stand for.

    >>> schema = Schema({"age": Integer(0, 120), "sick": Boolean(), "sex": Category(["f", "m"])})
    >>> feature_names(schema, None), feature_names(schema, ["sick"])
    (('age',), ('sick',))
    """
    if given is None:
        kinds = (Real, Integer, *[Boolean] * booleans, *[Category] * categories)
        known = [name for name in schema.attributes if name not in but and isinstance(schema[name], kinds)]
        names = tuple(name for name in known if _can_vary(schema, name))
    else:
        names = column_names(distinct(schema, given), schema)
        for name in names:
            if isinstance(schema[name], Category) and not categories:
                raise QueryError(f"column {name!r} is a category: features are numeric or boolean")
            if not _can_vary(schema, name):
                raise QueryError(f"column {name!r} cannot vary, its bounds are equal: leave it out")
    if not names:
        kinds_named = "columns that can vary" if categories else "numeric or boolean columns"
        raise QueryError(f"there are no features: name {kinds_named}")
    return names


def interval(schema: Schema, name: str) -> tuple[float, float]:
    """What becomes [−1, 1] when a feature is scaled: the public interval of a column, 0 to 1 for a boolean.

    >>> interval(Schema({"age": Integer(0, 120)}), "age")
    (0, 120)
    """
    kind = schema[name]
    return (kind.low, kind.high) if isinstance(kind, Real | Integer) else (0, 1)


def _can_vary(schema: Schema, name: str) -> bool:
    kind = schema[name]
    if isinstance(kind, Category):
        return len(kind.levels) > 1
    low, high = interval(schema, name)
    return low < high


def condition(expression: str | Node, schema: Schema) -> Node:
    """A column or expression that is true or false of every row, as the schema says.

    >>> condition("sick", Schema({"sick": Boolean()})).described()
    "column 'sick'"
    """
    checked = attribute(schema, expression)
    scope_of(schema).condition(checked)
    return checked


def conditions(features: Sequence[str | Node] | None, label: Node, schema: Schema) -> tuple[Node, ...]:
    """The features, each true or false of every row.

    Args:
        features: columns or expressions; None for all boolean columns that the label does not look at.
        label: what is learned; it cannot be one of its own features.
        schema: what is public about the columns.

    >>> schema = Schema({"age": Integer(0, 120), "sick": Boolean(), "old": Boolean()})
    >>> [feature.described() for feature in conditions(None, Column("sick"), schema)]
    ["column 'old'"]
    """
    if features is None:
        taken = looked_at(label)
        features = [n for n in schema.attributes if isinstance(schema[n], Boolean) and n not in taken]
    given = distinct(schema, list(features))
    for feature in given:
        scope_of(schema).condition(feature)
    if not given:
        raise QueryError("there are no features to learn from: name some that are true or false")
    check_beside(label, given)
    return given


def check_beside(label: Node, features: Iterable[Node]) -> None:
    """Refuse a label that is one of its own features."""
    if label.key in {feature.key for feature in features}:
        raise QueryError("the label cannot be one of its own features")


def in_hands(schema: Schema, names: Sequence[str]) -> list[tuple[str, ...]]:
    """Columns by who holds them, in the order of the hands; one list where one hand holds them all.

    Args:
        schema: what is public about the columns.
        names: the columns.

    >>> in_hands(Schema({"age": Integer(0, 120), "sick": Boolean()}), ["sick", "age"])
    [('sick', 'age')]
    """
    held = [tuple(name for name in names if name in hand) for hand in schema.hands]
    return [hand for hand in held if hand]


def in_one_hand(schema: Schema, *expressions: Node) -> bool:
    """Whether there is a hand that holds all columns that some expressions look at.

    Args:
        schema: what is public about the columns.
        *expressions: row expressions.

    >>> in_one_hand(Schema({"age": Integer(0, 120), "sick": Boolean()}), Column("sick"), Column("age"))
    True
    """
    names = frozenset[str]().union(*map(looked_at, expressions))
    return schema.in_one_hand(names)


def hands_of(schema: Schema, *expressions: Node) -> set[tuple[str, ...]]:
    """The hands whose columns expressions look at.

    Args:
        schema: what is public about the columns.
        *expressions: row expressions.
    """
    names = frozenset[str]().union(*map(looked_at, expressions))
    return {hand for hand in schema.hands if not names.isdisjoint(hand)}


def check_in_one_hand(schema: Schema, *expressions: Node) -> None:
    """Refuse a learner that asks about whole rows, if no party holds all columns that it looks at.

    Args:
        schema: what is public about the columns.
        *expressions: what the learner looks at.
    """
    if not in_one_hand(schema, *expressions):
        names = sorted(frozenset[str]().union(*map(looked_at, expressions)))
        raise QueryError(
            f"this learner asks about whole rows, of which no party holds all columns ({', '.join(names)}) "
            "or knows who is in all tables: SVD, PCA, LinearRegression, Pairs, NaiveBayes, "
            "ID3(pick='counts') and Conjunction do not"
        )


def side_by_side(parts: Sequence[Node]) -> Node:
    """Vectors laid end to end; a single one as it is.

    Args:
        parts: the vectors.

    >>> side_by_side([Column("x")])
    Column(name='x')
    """
    return parts[0] if len(parts) == 1 else Vector(tuple(parts))

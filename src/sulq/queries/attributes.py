"""Which columns are learned from: as expressions, and as coordinates where a row is a point in space."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sulq.errors import QueryError
from sulq.queries.expressions import Column, Node
from sulq.queries.scope import Scope
from sulq.schema import Boolean, Category, Integer, Real, Schema


def attribute(schema: Schema, given: str | Node) -> Node:
    """A feature or a label as an expression; a refusal if it looks at the column that says whose row it is.

    >>> attribute(Schema({"sick": Boolean()}), "sick").described()
    "column 'sick'"
    """
    expression = Column(given) if isinstance(given, str) else given
    for leaf in expression.leaves().values():
        schema.attribute(leaf.name)
    return expression


def feature_names(
    schema: Schema,
    given: Sequence[str] | None,
    *,
    booleans: bool = False,
    but: Collection[str] = (),
) -> tuple[str, ...]:
    """The columns that make up a feature vector, or a refusal.

    By default all numeric ones, and the boolean ones if `booleans`, `but` some; a column whose bounds are
    equal says nothing and is left out. Named columns may be boolean, and must be able to vary. The column
    that says whose row it is makes no feature, named or not.

    >>> schema = Schema({"age": Integer(0, 120), "sick": Boolean(), "sex": Category(["f", "m"])})
    >>> feature_names(schema, None), feature_names(schema, ["sick"])
    (('age',), ('sick',))
    """
    if given is None:
        kinds = (Real, Integer, Boolean) if booleans else (Real, Integer)
        known = [name for name in schema.attributes if name not in but]
        numeric = [name for name in known if isinstance(schema[name], kinds)]
        names = tuple(name for name in numeric if _can_vary(schema, name))
    elif isinstance(given, str):
        raise QueryError(f"features is a list of columns: [{given!r}]")
    else:
        names = tuple(given)
        for name in names:
            if isinstance(schema.attribute(name), Category):
                raise QueryError(f"column {name!r} is a category: features are numeric or boolean")
            if not _can_vary(schema, name):
                raise QueryError(f"column {name!r} cannot vary, its bounds are equal: leave it out")
    if not names:
        raise QueryError("there are no features: name numeric or boolean columns")
    if len(set(names)) < len(names):
        raise QueryError("a feature is named twice")
    return names


def interval(schema: Schema, name: str) -> tuple[float, float]:
    """What becomes [−1, 1] when a feature is scaled: the public interval of a column, 0 to 1 for a boolean.

    >>> interval(Schema({"age": Integer(0, 120)}), "age")
    (0, 120)
    """
    kind = schema[name]
    return (kind.low, kind.high) if isinstance(kind, Real | Integer) else (0, 1)


def _can_vary(schema: Schema, name: str) -> bool:
    low, high = interval(schema, name)
    return low < high


def condition(expression: str | Node, schema: Schema) -> Node:
    """A column or expression that is true or false of every row, as the schema says."""
    given = attribute(schema, expression)
    Scope(schema).condition(given)
    return given


def conditions(features: Sequence[str | Node] | None, label: Node, schema: Schema) -> tuple[Node, ...]:
    """The features, each true or false of every row: by default all boolean columns but the label's."""
    if features is None:
        own = {leaf.name for leaf in label.leaves().values()}
        features = [n for n in schema.attributes if isinstance(schema[n], Boolean) and n not in own]
    given = tuple(condition(feature, schema) for feature in features)
    if not given:
        raise QueryError("there are no features to learn from: name some that are true or false")
    keys = {feature.key for feature in given}
    if len(keys) < len(given):
        raise QueryError("a feature is named twice")
    if label.key in keys:
        raise QueryError("the label cannot be one of its own features")
    return given

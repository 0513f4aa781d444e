"""Labels of two values, as the two sides of a halfspace."""

from __future__ import annotations

from dataclasses import dataclass

from sulq.errors import QueryError
from sulq.queries.attributes import attribute
from sulq.queries.expressions import Column
from sulq.queries.node import Node
from sulq.queries.scope import scope_of
from sulq.schema import Category, Schema


@dataclass(frozen=True)
class Sides:
    """What is on which side.

    Args:
        label: what is learned.
        true: when it is true.
        false: when it is false.
        values: what to call false and true, where the label is a category.
    """

    label: Node
    true: Node
    false: Node
    values: tuple[str, str] | None


def sides_of(schema: Schema, given: str | Node) -> Sides:
    """What is on which side of a halfspace for a label of two values.

    Args:
        schema: what is public about the columns.
        given: the label: a column or an expression.
    """
    label = attribute(schema, given)
    kind = schema[label.name] if isinstance(label, Column) else None
    if isinstance(label, Column) and isinstance(kind, Category):
        if len(kind.values) != 2:
            raise QueryError(
                f"the label {label.name!r} has {len(kind.values)} values and not two: compare it with "
                f"one of them, as in col({label.name!r}) == {kind.values[-1]!r}"
            )
        no, yes = kind.values
        return Sides(label, label == yes, label == no, (no, yes))
    facts = scope_of(schema).condition(label)
    if facts.low[0] == facts.high[0]:
        raise QueryError("the label can only have one value")
    return Sides(label, label, ~label, None)

"""The columns of several tables, and who holds them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sulq.errors import SchemaError
from sulq.schema import Kind, Schema


class JointSchema(Schema):
    """The columns of several tables that different parties hold, side by side.

    Args:
        schemas: the schemas of the tables.
        leave_out: of each table, the column that names people; it is no column of the whole.
        common: whether rows are those of the people who are in all tables: nobody holds such rows.

    >>> import sulq
    >>> tables = [Schema({"id": sulq.Integer(0, 9), name: sulq.Boolean()}) for name in "ab"]
    >>> JointSchema(tables, ["id", "id"]).hands
    (('a',), ('b',))
    """

    def __init__(self, schemas: Sequence[Schema], leave_out: Sequence[str], common: bool = False) -> None:
        given = list(zip(schemas, leave_out, strict=True))
        hands = [tuple(name for name in schema.attributes if name != key) for schema, key in given]
        columns: dict[str, Kind] = {}
        for (schema, _), names in zip(given, hands, strict=True):
            if twice := sorted(set(names) & set(columns)):
                raise SchemaError(
                    f"two parties have a column {twice[0]!r}: rename it at one of them, so that a question "
                    "says whose it means"
                )
            columns |= {name: schema[name] for name in names}
        super().__init__(columns)
        self._hands, self._common = tuple(hands), common

    @property
    def hands(self) -> tuple[tuple[str, ...], ...]:
        """Who holds which columns."""
        return self._hands

    def in_one_hand(self, names: Iterable[str]) -> bool:
        """Whether a party answers about its own rows, and holds all of these columns."""
        return not self._common and any(set(names) <= set(hand) for hand in self.hands)

"""People dealt into public buckets, and the public signs that follow: what joins tables in different hands.

A person's bucket is the first bits of a public hash of their identifier and a public salt. Whoever knows the
identifier computes the same bucket, so two tables that are held apart deal the same person into the same
bucket, and nothing about it is stored. Of T buckets, T − 1 signs a person follow at no cost: the sign with
number t is the entry of Hadamard's matrix in row t and in the column of the person's bucket. So the sums of a
column by buckets, multiplied by Hadamard's matrix, are its sums with T signs: one pass over the rows makes
them all, and no row is multiplied by T signs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sulq.errors import QueryError
from sulq.queries.facts import Code, Number, number
from sulq.queries.folds import row_hashes
from sulq.queries.node import Leaf, Node
from sulq.queries.scope import Batch, Scope, Values
from sulq.schema import Schema
from sulq.wire import canonical, digest, encodable, shown

MOST_BUCKETS = 2**20
HASH_BITS = 64
NOBODY = 0
"""The hash of a cell that names nobody."""


@dataclass(frozen=True, eq=False)
class Identifier(Leaf):
    """Whom a row is about: a 64-bit hash of the cell as it came. Nothing but buckets can be made of it."""

    @cached_property
    def key(self) -> str:
        return digest(canonical({"identifier": self.name}))

    def facts(self, scope: Scope) -> Number | Code:
        raise QueryError(f"column {self.name!r} as an identifier is no value: deal it into buckets")


@dataclass(frozen=True, eq=False)
class Bucket(Node):
    """The bucket that a person falls into, by a public hash of their identifier.

    The last place is for rows that name nobody, so there is one place more than buckets. Buckets are nested:
    the bucket among half as many is the half of the bucket's number.
    """

    wire = "bucket"

    name: str
    buckets: int
    salt: str

    def __post_init__(self) -> None:
        super().__post_init__()
        _check(self.name, self.buckets, self.salt)

    def facts(self, scope: Scope) -> Code:
        check_identifier(scope.schema, self.name)
        return Code(self.buckets + 1)

    def value(self, batch: Batch) -> Values:
        return _buckets(batch, self.name, self.buckets, self.salt)

    def leaves(self) -> dict[str, Leaf]:
        return _identifier(self.name)

    def substituted(self, replacements: Mapping[str, Node]) -> Node:
        return self

    def described(self) -> str:
        return f"the bucket of column {self.name!r}"


@dataclass(frozen=True, eq=False)
class Sign(Node):
    """A public sign, −1 or 1, by the identifier of a row; 0 for a row that names nobody.

    With number t it is (−1) to the number of bits that t has in common with the person's bucket: an entry of
    Hadamard's matrix. Two people in different buckets have the same sign under half of all t.
    """

    wire = "sign"

    name: str
    index: int
    buckets: int
    salt: str

    def __post_init__(self) -> None:
        super().__post_init__()
        _check(self.name, self.buckets, self.salt)
        if type(self.index) is not int or not 1 <= self.index < self.buckets:
            raise QueryError(
                f"of {self.buckets} buckets there are signs number 1 to {self.buckets - 1}, not "
                f"{shown(self.index)}"
            )

    def facts(self, scope: Scope) -> Number:
        check_identifier(scope.schema, self.name)
        return number(0, np.array([-1]), np.array([1]), rounded=False)

    def value(self, batch: Batch) -> Values:
        buckets = _buckets(batch, self.name, self.buckets, self.salt)
        odd = np.bitwise_count(buckets & np.int32(self.index)) & 1
        signs = np.where(buckets == self.buckets, 0.0, 1.0 - 2.0 * odd)
        return signs[np.newaxis]

    def leaves(self) -> dict[str, Leaf]:
        return _identifier(self.name)

    def substituted(self, replacements: Mapping[str, Node]) -> Node:
        return self

    def described(self) -> str:
        return f"sign {self.index} of column {self.name!r}"


def bucket(identifier: str, buckets: int, salt: str = "sulq") -> Bucket:
    """The public bucket that the person of a row falls into, a number from 0.

    Whoever holds a table with the same identifiers deals the same people into the same buckets. Equal
    identifiers are one person, however they are written: as numbers or as texts, 7, "7", "007" and 7.0.

    Args:
        identifier: the column that names people.
        buckets: how many buckets there are: a power of two from 2 to 2^20. One place more, the last, is for
            rows that name nobody.
        salt: a public text that all who deal agree on.

    >>> import sulq
    >>> here = sulq.open({"id": [7, 8, None]}, {"id": sulq.Integer(0, 99)})
    >>> there = sulq.open({"person": ["8", "007"]}, {"person": sulq.Category(["7", "8"])})
    >>> one, two = here.values(bucket("id", 64)), there.values(bucket("person", 64))
    >>> one[:2].tolist() == two[::-1].tolist(), int(one[2])
    (True, 64)
    """
    return Bucket(identifier, buckets, salt)


def sign(identifier: str, index: int, buckets: int, salt: str = "sulq") -> Sign:
    """A public sign, −1 or 1, for the person of a row, by a hash of their identifier and a number.

    The sums of a column times all signs are the sums of the column by buckets, times Hadamard's matrix: ask
    for `total(column, by=bucket(...))` instead of for many signs.

    Args:
        identifier: the column that names people.
        index: the number of the sign, from 1 to `buckets` − 1.
        buckets: how many buckets people are dealt into, a power of two.
        salt: a public text that all who deal agree on.

    >>> import sulq
    >>> people = sulq.open({"id": range(1000)}, {"id": sulq.Integer(0, 999)})
    >>> signs = people.values(sign("id", 5, 64))
    >>> sorted(set(signs.tolist())), bool(abs(signs.sum()) < 200)
    ([-1.0, 1.0], True)
    """
    return Sign(identifier, index, buckets, salt)


def _check(name: Any, buckets: Any, salt: Any) -> None:
    if not isinstance(name, str):
        raise QueryError(f"an identifier is the name of a column, not {shown(name)}")
    if type(buckets) is not int or not 2 <= buckets <= MOST_BUCKETS or buckets & (buckets - 1):
        raise QueryError(f"the number of buckets is a power of two from 2 to 2^20, not {shown(buckets)}")
    if not encodable(salt):
        raise QueryError(f"the salt of buckets is a text of whole letters, not {shown(salt)}")


def check_identifier(schema: Schema, name: str) -> None:
    """Refuse to tell people apart by a column that is not there. The unit's need not be in the schema.

    Args:
        schema: what is public about the columns.
        name: the column that names people.
    """
    if schema.unit is None or schema.unit.column != name:
        schema[name]


def _identifier(name: str) -> dict[str, Leaf]:
    identifier = Identifier(name)
    return {identifier.key: identifier}


def _buckets(batch: Batch, name: str, buckets: int, salt: str) -> Values:
    """The bucket of each row; `buckets` for rows that name nobody."""
    people = batch.columns[Identifier(name).key]
    hashes = row_hashes(salt, batch.rows, [people])
    dealt = hashes >> np.uint64(HASH_BITS - (buckets.bit_length() - 1))
    return np.where(people == NOBODY, buckets, dealt.astype(np.int32)).astype(np.int32)

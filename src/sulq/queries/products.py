"""Products of vectors: inner, outer, and of a vector with itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sulq import loops
from sulq.errors import QueryError
from sulq.loops import Step
from sulq.queries.codes import OneHot
from sulq.queries.expressions import named
from sulq.queries.facts import EXACT, LIMIT_BITS, Number, factors, number
from sulq.queries.node import Node
from sulq.queries.scope import Batch, Floats, Scope, Values, once
from sulq.queries.vectors import check_width, vector


@dataclass(frozen=True, eq=False)
class Dot(Node):
    """The inner product of two vectors, exact on the factors' grids."""

    wire = "dot"

    left: Node
    right: Node

    def facts(self, scope: Scope) -> Number:
        left, right = self._factors(scope)
        corners = [left.low * right.low, left.low * right.high, left.high * right.low, left.high * right.high]
        low, high = (int(side.sum()) for side in (np.min(corners, axis=0), np.max(corners, axis=0)))
        longest = math.isqrt(left.square * right.square)
        low, high = max(low, -longest), min(high, longest)
        if self.left.key == self.right.key:
            low = max(low, 0)
        steps = max(0, max(abs(low), abs(high)).bit_length() - LIMIT_BITS)
        whole = left.rounded or right.rounded or steps > 0
        low, high = (math.trunc(Fraction(side, 1 << steps)) for side in (low, high))
        bits, ends = left.bits + right.bits - steps, (np.array([low]), np.array([high]))
        if scope.former:
            return number(bits, *ends, rounded=whole)
        most, apart = self._longest(left, right, steps)
        within = min(high, most) - max(low, -most)
        return number(bits, *ends, norm1=most, square=most**2, spread1=min(within, apart), rounded=whole)

    def _longest(self, left: Number, right: Number, steps: int) -> tuple[int, int]:
        """How large a product can be, and how far two can differ if one side is constant: by Hölder.

        |⟨u, c⟩| ≤ ‖u‖₁·max|c|. Two rows have the same c, so |⟨u, c⟩ − ⟨u′, c⟩| ≤ ‖u − u′‖₁·max|c|, and it is
        at most ‖u − u′‖₂·‖c‖₂. Truncation to a coarser grid makes nothing larger, but may widen a difference.
        """
        most = min(left.norm1 * right.magnitude, right.norm1 * left.magnitude) >> steps
        for side, constant in ((left, right), (right, left)):
            if steps == 0 and (constant.low == constant.high).all():
                by_two = math.isqrt(side.spread_square * constant.square)
                return most, min(side.spread1 * constant.magnitude, by_two)
        return most, 2 * most

    def value(self, batch: Batch) -> Values:
        left, right = self._factors(batch.scope)
        if (right.low == right.high).all():
            columns = self.left.coordinates(batch, left.bits)
            products = loops.combined(columns, right.low.astype(np.float64))
        else:
            sides = batch.number(self.left, left.bits), batch.number(self.right, right.bits)
            products = np.einsum("ij,ij->j", *sides)
        coarser = batch.scope.number(self).bits - left.bits - right.bits
        if coarser != 0:
            products *= 2.0**coarser
            np.trunc(products, out=products)
        return products

    @once
    def _factors(self, scope: Scope) -> tuple[Number, Number]:
        left, right = scope.number(self.left), scope.number(self.right)
        if left.width != right.width:
            raise QueryError(
                f"the inner product of {left.width} and {right.width} coordinates is not defined"
            )
        return factors(left, right, terms=left.width, room=EXACT.bit_length() - 1)


@dataclass(frozen=True, eq=False)
class Outer(Node):
    """All products of a coordinate of one vector with a coordinate of another, row by row of the matrix."""

    wire = "outer"

    left: Node
    right: Node

    def facts(self, scope: Scope) -> Number:
        left, right = self.factors_of(scope)
        check_width(left.width * right.width)
        corners = np.stack(
            [np.outer(a, b).ravel() for a in (left.low, left.high) for b in (right.low, right.high)]
        )
        one = isinstance(self.left, OneHot)
        same = self.left.key == self.right.key
        square = left.square * right.square
        return number(
            left.bits + right.bits,
            corners.min(axis=0),
            corners.max(axis=0),
            norm1=left.norm1 * right.norm1,
            square=square,
            # In one group rows differ by the spread of the value; in two groups by both values' norms.
            spread1=max(right.spread1, 2 * right.norm1) if one else None,
            # ⟨xxᵀ, yyᵀ⟩ = (x·y)² ≥ 0, and rows of two groups are orthogonal.
            spread_square=max(right.spread_square, 2 * right.square) if one else 2 * square if same else None,
            rounded=left.rounded or right.rounded,
        )

    def value(self, batch: Batch) -> Values:
        a, b = self._values(batch)
        # Both sides of the shape are written out: what is left of no rows cannot be worked out.
        return (a[:, np.newaxis, :] * b[np.newaxis, :, :]).reshape(len(a) * len(b), batch.rows)

    def sums(self, batch: Batch, steps: Sequence[Step] = (), weight: Floats | None = None) -> Floats:
        left, right = self.factors_of(batch.scope)
        a, b = self.left.coordinates(batch, left.bits), self.right.coordinates(batch, right.bits)
        return loops.product(a, b, steps, weight).ravel()

    def grouped_sums(
        self, batch: Batch, code: Values, size: int, steps: Sequence[Step], weight: Floats | None
    ) -> Floats:
        """The sums of the rows with each code, one after the other; otherwise as `sums`."""
        left, right = self.factors_of(batch.scope)
        a, b = self.left.coordinates(batch, left.bits), self.right.coordinates(batch, right.bits)
        return loops.grouped_product(a, b, code, size, steps, weight).ravel()

    def breadth(self, scope: Scope) -> int:
        return max(self.left.densest(scope), self.right.densest(scope))

    def _values(self, batch: Batch) -> tuple[Floats, Floats]:
        left, right = self.factors_of(batch.scope)
        return batch.number(self.left, left.bits), batch.number(self.right, right.bits)

    @once
    def factors_of(self, scope: Scope) -> tuple[Number, Number]:
        """The facts of both factors, on the grids that they are multiplied on."""
        return factors(scope.number(self.left), scope.number(self.right))


@dataclass(frozen=True, eq=False)
class Gram(Node):
    """The upper triangle of x xᵀ, row by row: each product of two coordinates once."""

    wire = "gram"

    inner: Node

    def facts(self, scope: Scope) -> Number:
        x = self._factor(scope)
        check_width(x.width * (x.width + 1) // 2)
        i, j = _triangle(x.width)
        corners = np.stack([a[i] * b[j] for a in (x.low, x.high) for b in (x.low, x.high)])
        low, high = corners.min(axis=0), corners.max(axis=0)
        low[i == j] = np.maximum(low[i == j], 0)
        return number(
            2 * x.bits,
            low,
            high,
            # Off the diagonal every product is met once instead of twice: (‖x‖₁² + ‖x‖₂²)/2.
            norm1=(x.norm1**2 + x.square + 1) // 2,
            square=x.square**2,
            # The triangles' inner product is ((x·y)² + Σ xᵢ²yᵢ²)/2 ≥ 0.
            spread_square=2 * x.square**2,
            rounded=x.rounded,
        )

    def value(self, batch: Batch) -> Values:
        x = batch.number(self.inner, self._factor(batch.scope).bits)
        i, j = _triangle(len(x))
        return x[i] * x[j]

    def sums(self, batch: Batch, steps: Sequence[Step] = (), weight: Floats | None = None) -> Floats:
        x = self.inner.coordinates(batch, self._factor(batch.scope).bits)
        return loops.gram(x, steps, weight)[_triangle(len(x))]

    def grouped_sums(
        self, batch: Batch, code: Values, size: int, steps: Sequence[Step], weight: Floats | None
    ) -> Floats:
        """The sums of the rows with each code, one after the other; otherwise as `sums`."""
        x = self.inner.coordinates(batch, self._factor(batch.scope).bits)
        i, j = _triangle(len(x))
        tables = loops.grouped_product(x, x, code, size, steps, weight)
        return tables.reshape(size, -1).take(i * len(x) + j, axis=1).ravel()

    def breadth(self, scope: Scope) -> int:
        return self.inner.densest(scope)

    @once
    def _factor(self, scope: Scope) -> Number:
        inner = scope.number(self.inner)
        return factors(inner, inner)[1]


@lru_cache(maxsize=32)
def _triangle(width: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rows and columns of a square matrix on and above its diagonal."""
    i, j = np.triu_indices(width)
    return i, j


def dot(left: str | Node, right: Node | Sequence[float]) -> Dot:
    """The inner product of two vectors, or of a vector with public weights.

    Args:
        left: a vector, as an expression, or a column's name.
        right: a vector of as many coordinates, as an expression or as a list of numbers.

    >>> import sulq
    >>> people = sulq.open({"x": [1, 2], "y": [5, 7]}, {"x": sulq.Integer(0, 9), "y": sulq.Integer(0, 9)})
    >>> people.values(sulq.dot(sulq.vector("x", "y"), [1, 10])).tolist()
    [51.0, 72.0]
    """
    return Dot(named(left), right if isinstance(right, Node) else vector(*map(float, right)))


def outer(left: str | Node, right: str | Node) -> Outer:
    """All products of a coordinate of one vector with a coordinate of another.

    Args:
        left: a vector, as an expression, or a column's name.
        right: another vector. It may have another length.

    >>> import sulq
    >>> people = sulq.open({"x": [2], "y": [5]}, {"x": sulq.Integer(0, 9), "y": sulq.Integer(0, 9)})
    >>> people.values(sulq.outer(sulq.vector("x", "y"), sulq.vector("x", 1))).tolist()
    [[4.0, 2.0, 10.0, 5.0]]
    """
    return Outer(named(left), named(right))


def gram(expression: str | Node) -> Gram:
    """The products of all pairs of coordinates of a vector x, each pair once: the upper triangle of x xᵀ.

    Args:
        expression: the vector, as an expression, or a column's name.

    >>> import sulq
    >>> people = sulq.open({"x": [2], "y": [5]}, {"x": sulq.Integer(0, 9), "y": sulq.Integer(0, 9)})
    >>> people.values(sulq.gram(sulq.vector("x", "y"))).tolist()
    [[4.0, 10.0, 25.0]]
    """
    return Gram(named(expression))

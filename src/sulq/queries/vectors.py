"""Vectors of numbers: features on one scale, clipped norms, products of vectors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sulq.errors import QueryError
from sulq.queries.codes import MOST_CELLS, OneHot
from sulq.queries.expressions import (
    Batch,
    Constant,
    Floats,
    Leaf,
    Node,
    Operand,
    Scope,
    Values,
    col,
    densest,
    node,
    once,
)
from sulq.queries.facts import EXACT, LIMIT_BITS, Number, common_bits, factors, joined, magnitude_bits, number

FEATURE_BITS = 15
TOP = 2**FEATURE_BITS - 1
GROUPS_BY_PRODUCT = 24
PIECE = 512
SLACK = 1 - 2.0**-48


@dataclass(frozen=True, eq=False)
class Vector(Node):
    """Numbers and vectors laid end to end."""

    parts: tuple[Node, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise QueryError("a vector needs at least one coordinate")

    def facts(self, scope: Scope) -> Number:
        parts = [scope.number(part) for part in self.parts]
        _fits(sum(part.width for part in parts))
        return joined(parts, common_bits(*parts))

    def value(self, batch: Batch) -> Values:
        facts = batch.scope.number(self)
        values = batch.room(self, facts.width)
        parts = [
            # On one grid the conversion to float64 and the copy below are one step.
            batch.value(part)
            if batch.scope.number(part).bits == facts.bits
            else batch.number(part, facts.bits)
            for part in self.parts
        ]
        np.concatenate([part.reshape(-1) for part in parts], out=values.reshape(-1))
        return values


@dataclass(frozen=True, eq=False)
class Scaled(Node):
    """Every coordinate moved and stretched so that its public interval becomes [−1, 1].

    Computed as rint((v − middle) · stretch): the difference is exact, the product is rounded once, and each
    element is computed alone, so it is the same in every batch. The ends of the interval become ±TOP, and
    rounding is monotone, so nothing passes them.
    """

    inner: Node

    def facts(self, scope: Scope) -> Number:
        inner = scope.number(self.inner)
        top = np.where(inner.low < inner.high, TOP, 0).astype(np.int64)
        return number(FEATURE_BITS, -top, top, rounded=True)

    def value(self, batch: Batch) -> Values:
        return scaled(batch.number(self.inner), batch.scope.number(self.inner))


@dataclass(frozen=True, eq=False)
class Feature(Leaf):
    """A column with its public interval scaled to [−1, 1], encoded once in 16 bits."""

    def facts(self, scope: Scope) -> Number:
        return Scaled(col(self.name)).facts(scope)

    def substituted(self, replacements: Mapping[str, Node]) -> Node:
        return Scaled(replacements[self.name]) if self.name in replacements else self


def scaled(values: Values, facts: Number, out: Floats | None = None) -> Floats:
    """Values with these facts, their public intervals scaled to ±TOP."""
    span = (facts.high - facts.low).astype(np.float64)
    stretch = np.divide(2.0 * TOP * SLACK, span, out=np.zeros_like(span), where=span > 0)
    moved: Floats = np.subtract(values, ((facts.low + facts.high) / 2.0)[:, np.newaxis], out=out)
    moved *= stretch[:, np.newaxis]
    return np.rint(moved, out=moved)


@dataclass(frozen=True, eq=False)
class ClipNorm(Node):
    """A vector shortened, where needed, to a public length in the 1- or 2-norm.

    The length of a row's vector is an exact integer (its square, for the 2-norm); the factor bound/length
    is rounded a few times and short by 2^-48 of itself, more than those roundings, and the products are
    truncated towards zero: the result is never longer than the bound.
    """

    inner: Node
    bound: float
    order: int

    def __post_init__(self) -> None:
        bound = Constant(self.bound).constant
        if isinstance(bound, str) or bound <= 0:
            raise QueryError(f"a norm is clipped to a positive number, not {self.bound!r}")
        if self.order not in (1, 2):
            raise QueryError(f"norms of order 1 and 2 can be clipped, not of order {self.order!r}")
        object.__setattr__(self, "bound", bound)

    def facts(self, scope: Scope) -> Number:
        inner = self._inner(scope)
        bound = Fraction(self.bound) * Fraction(2) ** inner.bits
        most = np.minimum(inner.magnitudes, math.floor(bound))
        return number(
            inner.bits,
            np.maximum(np.minimum(inner.low, 0), -most),
            np.minimum(np.maximum(inner.high, 0), most),
            norm1=min(inner.norm1, math.floor(bound)) if self.order == 1 else inner.norm1,
            square=min(inner.square, math.floor(bound**2)),
            rounded=True,
        )

    def value(self, batch: Batch) -> Values:
        facts = self._inner(batch.scope)
        values = batch.number(self.inner, facts.bits)
        if self.order == 1:
            length = np.abs(values).sum(axis=0)
        else:
            length = np.sqrt(np.einsum("ij,ij->j", values, values))
        bound = float(Fraction(self.bound) * Fraction(2) ** facts.bits)
        shortened = np.where(length > bound * SLACK, bound * SLACK / np.maximum(length, 1.0), 1.0)
        return np.trunc(values * shortened)

    @once
    def _inner(self, scope: Scope) -> Number:
        """The vector on a grid fine enough for its bound and coarse enough for its square."""
        inner = scope.number(self.inner)
        wanted = FEATURE_BITS - math.frexp(self.bound)[1] - inner.bits
        finer = inner.on(inner.bits + max(0, min(wanted, LIMIT_BITS - magnitude_bits(inner))))
        return factors(finer, finer, terms=inner.width, room=EXACT.bit_length() - 1)[1]


@dataclass(frozen=True, eq=False)
class Dot(Node):
    """The inner product of two vectors, exact on the factors' grids."""

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
        steps = max(0, max(abs(low), abs(high)).bit_length() - 37)
        whole = left.rounded or right.rounded or steps > 0
        low, high = (math.trunc(Fraction(side, 1 << steps)) for side in (low, high))
        return number(left.bits + right.bits - steps, np.array([low]), np.array([high]), rounded=whole)

    def value(self, batch: Batch) -> Values:
        left, right = self._factors(batch.scope)
        a = batch.number(self.left, left.bits)
        if (right.low == right.high).all():
            products = right.low.astype(np.float64) @ a
        else:
            products = np.einsum("ij,ij->j", a, batch.number(self.right, right.bits))
        coarser = batch.scope.number(self).bits - left.bits - right.bits
        return products if coarser == 0 else np.trunc(products * 2.0**coarser)

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

    left: Node
    right: Node

    def facts(self, scope: Scope) -> Number:
        left, right = self._factors(scope)
        _fits(left.width * right.width)
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
        return (a[:, np.newaxis, :] * b[np.newaxis, :, :]).reshape(-1, batch.rows)

    def sums(self, batch: Batch) -> Floats:
        if isinstance(self.left, OneHot):
            return self._grouped(self.left, batch)
        a, b = self._values(batch)
        return _product(a, b)

    def breadth(self, scope: Scope) -> int:
        left = self.left.choice if isinstance(self.left, OneHot) else self.left
        return max(densest(left, scope), densest(self.right, scope), GROUPS_BY_PRODUCT)

    def _grouped(self, groups: OneHot, batch: Batch) -> Floats:
        size = batch.scope.code(groups.choice).size
        code = batch.code(groups.choice)
        values = batch.number(self.right, self._factors(batch.scope)[1].bits)
        if size <= GROUPS_BY_PRODUCT and len(values) > 1:
            members = batch.room(groups, size)
            members[:] = code == np.arange(size, dtype=code.dtype)[:, np.newaxis]
            return _product(members, values)
        sums = [np.bincount(code, weights=row, minlength=size) for row in values]
        return np.stack(sums, axis=1, dtype=np.float64).ravel()

    def _values(self, batch: Batch) -> tuple[Floats, Floats]:
        left, right = self._factors(batch.scope)
        return batch.number(self.left, left.bits), batch.number(self.right, right.bits)

    @once
    def _factors(self, scope: Scope) -> tuple[Number, Number]:
        return factors(scope.number(self.left), scope.number(self.right))


@dataclass(frozen=True, eq=False)
class Gram(Node):
    """The upper triangle of x xᵀ, row by row: each product of two coordinates once."""

    inner: Node

    def facts(self, scope: Scope) -> Number:
        x = self._factor(scope)
        _fits(x.width * (x.width + 1) // 2)
        i, j = np.triu_indices(x.width)
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
        i, j = np.triu_indices(len(x))
        return x[i] * x[j]

    def sums(self, batch: Batch) -> Floats:
        x = batch.number(self.inner, self._factor(batch.scope).bits)
        return _product(x, x).reshape(len(x), -1)[np.triu_indices(len(x))]

    def breadth(self, scope: Scope) -> int:
        return densest(self.inner, scope)

    @once
    def _factor(self, scope: Scope) -> Number:
        inner = scope.number(self.inner)
        return factors(inner, inner)[1]


@dataclass(frozen=True, eq=False)
class Only(Node):
    """A value where a condition holds, and zero elsewhere; summed by looking at the chosen rows alone."""

    condition: Node
    inner: Node

    def facts(self, scope: Scope) -> Number:
        scope.condition(self.condition)
        inner = scope.number(self.inner)
        return number(
            inner.bits,
            np.minimum(inner.low, 0),
            np.maximum(inner.high, 0),
            norm1=inner.norm1,
            square=inner.square,
            spread1=max(inner.spread1, inner.norm1),
            spread_square=max(inner.spread_square, inner.square),
            rounded=inner.rounded,
        )

    def value(self, batch: Batch) -> Values:
        return batch.number(self.inner) * batch.condition(self.condition)

    def sums(self, batch: Batch) -> Floats:
        return self.inner.sums(batch.only(batch.condition(self.condition)))

    def breadth(self, scope: Scope) -> int:
        return max(self.inner.breadth(scope), densest(self.condition, scope))


def vector(*parts: Operand) -> Vector:
    """Numbers and vectors laid end to end."""
    return Vector(tuple(node(part) for part in parts))


def features(*columns: str | Node, norm: float | None = None, order: int = 2) -> Node:
    """A feature vector: each coordinate's public interval becomes [−1, 1]; with `norm`, no row is longer.

    >>> features("age", "income", norm=1).bound
    1
    """
    names = [column for column in columns if isinstance(column, str)]
    if len(set(names)) < len(names):
        raise QueryError("a feature is named twice")
    point = Vector(
        tuple(Feature(column) if isinstance(column, str) else Scaled(column) for column in columns)
    )
    return point if norm is None else ClipNorm(point, norm, order)


def clip_norm(expression: Node, bound: float, order: int = 2) -> ClipNorm:
    """A vector shortened, where needed, to a public length in the 1- or 2-norm."""
    return ClipNorm(expression, bound, order)


def dot(left: Node, right: Node | Sequence[float]) -> Dot:
    """The inner product of two vectors, or of a vector with public weights."""
    return Dot(left, right if isinstance(right, Node) else vector(*map(float, right)))


def outer(left: Node, right: Node) -> Outer:
    """All products of a coordinate of one vector with a coordinate of another."""
    return Outer(left, right)


def gram(expression: Node) -> Gram:
    """The products of all pairs of coordinates, each pair once: the upper triangle of x xᵀ."""
    return Gram(expression)


def _product(left: Floats, right: Floats) -> Floats:
    """left · rightᵀ, flat.

    A long thin product is fastest piece by piece in the cache; of a matrix with itself, NumPy's `dot` knows
    that half is enough.
    """
    if left is right:
        return np.asarray(np.dot(left, left.T)).ravel()
    whole = left.shape[1] // PIECE * PIECE
    a, b = (side[:, :whole].reshape(len(side), -1, PIECE) for side in (left, right))
    pieces = np.matmul(a.transpose(1, 0, 2), b.transpose(1, 2, 0)).sum(axis=0)
    return np.asarray(pieces + np.dot(left[:, whole:], right[:, whole:].T)).ravel()


def _fits(width: int) -> None:
    if width > MOST_CELLS:
        raise QueryError(f"{width} numbers are too many to answer at once; at most {MOST_CELLS}")

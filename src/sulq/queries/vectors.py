"""Vectors of numbers: features on one scale, clipped norms, products of vectors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sulq import loops
from sulq.errors import QueryError
from sulq.queries.expressions import Constant, col, measured, named
from sulq.queries.facts import EXACT, LIMIT_BITS, Number, common_bits, factors, joined, magnitude_bits, number
from sulq.queries.moves import MovedColumns, column_sums, grid_factor, joined_moves, regrid
from sulq.queries.node import Leaf, Node, Operand
from sulq.queries.room import most_cells
from sulq.queries.scope import Batch, Floats, Scope, Values, once

FEATURE_BITS = 15
TOP = 2**FEATURE_BITS - 1
SLACK = 1 - 2.0**-48


@dataclass(frozen=True, eq=False)
class Vector(Node):
    """Numbers and vectors laid end to end."""

    wire = "vector"

    parts: tuple[Node, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.parts:
            raise QueryError("a vector needs at least one coordinate")

    def facts(self, scope: Scope) -> Number:
        parts = [scope.number(part) for part in self.parts]
        check_width(sum(part.width for part in parts))
        return joined(parts, common_bits(*parts))

    def value(self, batch: Batch) -> Values:
        if (built := self.built(batch)) is not None:
            return built
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

    @once
    def moved(self, scope: Scope) -> MovedColumns | None:
        bits, parts = scope.number(self).bits, []
        for part in self.parts:
            moved = part.moved(scope)
            finer = None if moved is None else moved.on(bits - scope.number(part).bits)
            if finer is None:
                return None
            parts.append(finer)
        return joined_moves(parts)

    def coordinates(self, batch: Batch, on: int) -> Sequence[Values]:
        if on == FEATURE_BITS and all(isinstance(part, Feature) for part in self.parts):
            return batch.encoded([part.key for part in self.parts])
        return super().coordinates(batch, on)


@dataclass(frozen=True, eq=False)
class Scaled(Node):
    """Every coordinate moved and stretched so that its public interval becomes [−1, 1].

    Computed as rint((v − middle) · stretch): the difference is exact, the product is rounded once, and each
    element is computed alone, so it is the same in every batch. The ends of the interval become ±TOP, and
    rounding is monotone, so nothing passes them.
    """

    wire = "scaled"

    inner: Node

    def facts(self, scope: Scope) -> Number:
        inner = scope.number(self.inner)
        top = np.where(inner.low < inner.high, TOP, 0).astype(np.int64)
        return number(FEATURE_BITS, -top, top, rounded=True)

    def value(self, batch: Batch) -> Values:
        if (built := self.built(batch)) is not None:
            return built
        return scaled(batch.number(self.inner), batch.scope.number(self.inner))

    @once
    def moved(self, scope: Scope) -> MovedColumns | None:
        inner = self.inner.moved(scope)
        return None if inner is None else inner.scaled(*scaling(scope.number(self.inner)))


@dataclass(frozen=True, eq=False)
class Feature(Leaf):
    """A column with its public interval scaled to [−1, 1], encoded once in 16 bits."""

    wire = "feature"

    def facts(self, scope: Scope) -> Number:
        return Scaled(col(self.name)).facts(scope)

    def substituted(self, replacements: Mapping[str, Node]) -> Node:
        return Scaled(replacements[self.name]) if self.name in replacements else self


def scaled(values: Values, facts: Number) -> Floats:
    """Values with these facts, their public intervals scaled to ±TOP."""
    middle, stretch = scaling(facts)
    moved: Floats = values - middle[:, np.newaxis]
    moved *= stretch[:, np.newaxis]
    return np.rint(moved, out=moved)


def scaling(facts: Number) -> tuple[Floats, Floats]:
    """The middle of each coordinate's public interval, and by how much it is stretched."""
    span = (facts.high - facts.low).astype(np.float64)
    stretch = np.divide(2.0 * TOP * SLACK, span, out=np.zeros_like(span), where=span > 0)
    return (facts.low + facts.high) / 2.0, stretch


@dataclass(frozen=True, eq=False)
class ClipNorm(Node):
    """A vector shortened, where it is longer, to a public length in the 1- or 2-norm.

    The length of a row's vector is an exact integer (its square, for the 2-norm). The factor bound/length is
    rounded a few times, and then reduced by 2^-48 of itself, which is more than those roundings. The products
    are truncated towards zero. So the result is never longer than the bound.
    """

    wire = "clip norm"

    inner: Node
    bound: float
    order: int

    def __post_init__(self) -> None:
        super().__post_init__()
        bound = Constant(self.bound).constant
        if isinstance(bound, str) or bound <= 0:
            raise QueryError(f"a norm is clipped to a positive number, not {self.bound!r}")
        if self.order not in (1, 2):
            raise QueryError(f"norms of order 1 and 2 can be clipped, not of order {self.order!r}")
        object.__setattr__(self, "bound", bound)

    def facts(self, scope: Scope) -> Number:
        inner = self._inner(scope)
        bound = self._bound(inner)
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
        return loops.written(self._shortened(batch), batch.room(self, batch.scope.number(self).width))

    def coordinates(self, batch: Batch, on: int) -> Sequence[Values]:
        if batch.knows(self):
            return super().coordinates(batch, on)
        return self._shortened(batch, regrid(on - batch.scope.number(self).bits))

    def sums(self, batch: Batch, steps: Sequence[loops.Step] = (), weight: Floats | None = None) -> Floats:
        columns = self.coordinates(batch, batch.scope.number(self).bits)
        return column_sums(columns, batch.rows, steps, weight)

    def _shortened(self, batch: Batch, more: Sequence[loops.Norm] = ()) -> loops.Moved:
        base, norms = self._norms(batch.scope)
        norms = [*norms, *more]
        moved = base.moved(batch.scope)
        if moved is not None:
            return moved.matrix(batch, norms)
        return loops.Moved(base.coordinates(batch, batch.scope.number(base).bits), norms=norms)

    @once
    def _norms(self, scope: Scope) -> tuple[Node, list[loops.Norm]]:
        """What is shortened to one norm after the other, and those norms, the first one first."""
        inner = self._inner(scope)
        norm = loops.Norm(
            grid_factor(inner.bits - scope.number(self.inner).bits),
            self.order,
            float(self._bound(inner)) * SLACK,
        )
        if not isinstance(self.inner, ClipNorm):
            return self.inner, [norm]
        base, norms = self.inner._norms(scope)
        return base, [*norms, norm]

    def _bound(self, inner: Number) -> Fraction:
        """The bound in steps of the grid; no vector is longer than EXACT anyway."""
        return min(Fraction(self.bound) * Fraction(2) ** inner.bits, Fraction(EXACT))

    @once
    def _inner(self, scope: Scope) -> Number:
        """The vector on a grid fine enough for its bound and coarse enough for its square."""
        inner = scope.number(self.inner)
        wanted = FEATURE_BITS - math.frexp(self.bound)[1] - inner.bits
        finer = inner.on(inner.bits + max(0, min(wanted, LIMIT_BITS - magnitude_bits(inner))))
        return factors(finer, finer, terms=inner.width, room=EXACT.bit_length() - 1)[1]


@dataclass(frozen=True, eq=False)
class Only(Node):
    """A value where a condition holds, and zero elsewhere."""

    wire = "only"

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


def vector(*parts: Operand) -> Vector:
    """Numbers and vectors laid end to end.

    Args:
        *parts: names of columns, expressions and constants.

    >>> import sulq
    >>> people = sulq.open({"x": [2], "y": [5]}, {"x": sulq.Integer(0, 9), "y": sulq.Integer(0, 9)})
    >>> people.values(sulq.vector("x", "y", 1)).tolist()
    [[2.0, 5.0, 1.0]]
    """
    return Vector(tuple(map(measured, parts)))


def features(*columns: str | Node, norm: float | None = None, order: int = 2) -> Node:
    """A feature vector: the public interval of each coordinate is scaled to [−1, 1].

    Args:
        *columns: names of columns, or expressions.
        norm: where a row's vector is longer than this, it is shortened to this length. By default none is.
        order: how length is measured: 1 for the 1-norm, 2 for the 2-norm.

    >>> import sulq
    >>> people = sulq.open({"x": [0, 8], "y": [4, 8]}, {"x": sulq.Integer(0, 8), "y": sulq.Integer(0, 8)})
    >>> people.values(sulq.features("x", "y")).round(3).tolist()
    [[-1.0, 0.0], [1.0, 1.0]]
    """
    names = [column for column in columns if isinstance(column, str)]
    if len(set(names)) < len(names):
        raise QueryError("a feature is named twice")
    point = Vector(
        tuple(Feature(column) if isinstance(column, str) else Scaled(column) for column in columns)
    )
    return point if norm is None else ClipNorm(point, norm, order)


def clip_norm(expression: str | Node, bound: float, order: int = 2) -> ClipNorm:
    """A vector shortened, where it is longer, to a public length.

    Args:
        expression: the vector, as an expression, or a column's name.
        bound: the length.
        order: how length is measured: 1 for the 1-norm, 2 for the 2-norm.

    >>> import sulq
    >>> people = sulq.open({"x": [3, 0], "y": [4, 1]}, {"x": sulq.Integer(0, 8), "y": sulq.Integer(0, 8)})
    >>> people.values(sulq.clip_norm(sulq.vector("x", "y"), 1)).round(3).tolist()
    [[0.6, 0.8], [0.0, 1.0]]
    """
    return ClipNorm(named(expression), bound, order)


def check_width(width: int) -> None:
    """Refuse vectors of more numbers than can be answered at once."""
    if width > most_cells():
        raise QueryError(f"{width} numbers are too many to answer at once; at most {most_cells()}")

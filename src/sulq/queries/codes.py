"""Choices among few possibilities: categories, bins, the nearest centre, and their combinations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from sulq import loops
from sulq.errors import QueryError
from sulq.queries.edges import interval_names
from sulq.queries.expressions import named, truncated
from sulq.queries.facts import EXACT, Code, Number, coarsened, flag, magnitude_bits, one_of
from sulq.queries.node import MANY_ROWS, Node
from sulq.queries.public import public_list, public_numbers
from sulq.queries.room import most_cells
from sulq.queries.scope import Batch, Floats, Scope, Values, once
from sulq.renamed import moved

FEW_EDGES = 32
"""Values are compared with each of so few edges, which takes less time than to search among them."""
FEW_VALUES = 2**16
"""So few possible values, or ranges of values, are looked up in a table."""
FEW_STEPS = 8  # edges within a range, which are compared with one by one


@dataclass(frozen=True, eq=False)
class Bins(Node):
    """Which of the intervals between public edges a number falls into; an edge belongs to the right."""

    wire = "bins"

    inner: Node
    edges: tuple[float, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        edges = public_numbers(self.edges)
        if not edges or any(a >= b for a, b in pairwise(edges)):
            raise QueryError("bins need at least one edge, in increasing order")
        object.__setattr__(self, "edges", edges)

    def facts(self, scope: Scope) -> Code:
        if scope.number(self.inner).width != 1:
            raise QueryError("bins take a single number, not a vector")
        return Code(len(self.edges) + 1, interval_names([f"{edge:g}" for edge in self.edges]))

    def value(self, batch: Batch) -> Values:
        edges, facts = self._on_grid(batch.scope), batch.scope.number(self.inner)
        many = facts.high[0] - facts.low[0] >= FEW_VALUES
        if many and len(edges) <= FEW_EDGES:
            numbers, codes = batch.number(self.inner)[0], np.zeros(batch.rows, dtype=np.uint8)
            for edge in edges:
                codes += numbers >= edge
            return codes
        values = np.atleast_2d(batch.value(self.inner))[0]
        if not many or batch.rows >= MANY_ROWS:
            values = values if values.dtype.kind in "iu" else values.astype(np.int64)
            least, shift, steps = self._table(batch.scope)
            if steps <= FEW_STEPS:
                codes, beyond = least.take(values >> shift if shift else values), np.append(edges, np.inf)
                for _ in range(steps):
                    codes += values >= beyond.take(codes)
                return np.asarray(codes)
        return np.asarray(np.searchsorted(edges, values, side="right"))

    @once
    def _table(self, scope: Scope) -> tuple[Values, int, int]:
        """The bin of the least value in each of few ranges, the bits of a range, and its most edges."""
        facts, edges = scope.number(self.inner), self._on_grid(scope)
        low, high = int(facts.low[0]), int(facts.high[0])
        shift = max(0, (max(high, 0) - min(low, 0)).bit_length() - FEW_VALUES.bit_length() + 1)
        ranges = np.arange(min(low, 0) >> shift, (max(high, 0) >> shift) + 1, dtype=np.int64)
        least = np.searchsorted(edges, ranges << shift, side="right")
        most = np.searchsorted(edges, ((ranges + 1) << shift) - 1, side="right") if shift else least
        least_first = np.roll(least, int(ranges[0]))  # those below 0 come last, where NumPy looks for them
        return least_first.astype(np.min_scalar_type(len(edges))), shift, int((most - least).max())

    @once
    def _on_grid(self, scope: Scope) -> Floats:
        """The edges as a comparison would see them: truncated like the values if those were, else exact."""
        facts = scope.number(self.inner)
        whole = math.trunc if facts.rounded else math.ceil
        steps = [whole(Fraction(edge) * Fraction(2) ** facts.bits) for edge in self.edges]
        return np.array([float(min(max(step, -EXACT), EXACT)) for step in steps])


@dataclass(frozen=True, eq=False)
class Nearest(Node):
    """Which of k public centres is nearest in the 2-norm; of several equally near, the first.

    The rows and the centres are integers on one grid, and ‖c‖² − 2·c·x is computed exactly, so that no
    other row and no rounding can turn a tie.
    """

    wire = "nearest"

    point: Node
    centres: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        centres = tuple(map(public_numbers, public_list(self.centres)))
        if not centres or len({len(centre) for centre in centres}) != 1 or not centres[0]:
            raise QueryError("nearest needs at least one centre, all of the same length")
        object.__setattr__(self, "centres", centres)

    def facts(self, scope: Scope) -> Code:
        self._grid(scope)
        return Code(len(self.centres), tuple(map(str, range(len(self.centres)))))

    def value(self, batch: Batch) -> Values:
        bits, centres = self._grid(batch.scope)
        return loops.nearest(self.point.coordinates(batch, bits), centres)

    @once
    def _grid(self, scope: Scope) -> tuple[int, Floats]:
        point = scope.number(self.point)
        if point.width != len(self.centres[0]):
            raise QueryError(
                f"the centres have {len(self.centres[0])} coordinates, the point has {point.width}"
            )
        exact = [[Fraction(x) for x in centre] for centre in self.centres]
        furthest = max(abs(x) for centre in exact for x in centre)

        def largest_score(facts: Number) -> Fraction:
            c = furthest * Fraction(2) ** facts.bits
            return point.width * c * (c + 2 * facts.magnitude)

        while largest_score(point) > EXACT:
            point = (
                coarsened(point, magnitude_bits(point) - 1) if point.magnitude else point.on(point.bits - 1)
            )
        on_grid = [[float(truncated(x, point.bits)) for x in centre] for centre in exact]
        return point.bits, np.array(on_grid)


@dataclass(frozen=True, eq=False)
class Cross(Node):
    """Several choices at once, the last one varying fastest."""

    wire = "cross"

    parts: tuple[Node, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.parts:
            raise QueryError("cross needs at least one choice")

    def facts(self, scope: Scope) -> Code:
        codes = [scope.code(part) for part in self.parts]
        size = math.prod(code.size for code in codes)
        if size > most_cells():
            raise QueryError(f"{size} cells are too many to answer at once; at most {most_cells()}")
        return Code(size)

    def value(self, batch: Batch) -> Values:
        combined: Values = np.zeros(batch.rows, dtype=np.int64)
        for part in self.parts:
            combined = combined * batch.scope.code(part).size + batch.code(part)
        return combined


@dataclass(frozen=True, eq=False)
class OneHot(Node):
    """A choice as a vector with a single 1."""

    wire = "one hot"

    choice: Node

    def facts(self, scope: Scope) -> Number:
        return one_of(scope.code(self.choice).size)

    def choices(self) -> dict[str, Node]:
        return {self.choice.key: self.choice}

    def value(self, batch: Batch) -> Values:
        size = batch.scope.code(self.choice).size
        return np.asarray(batch.code(self.choice) == np.arange(size)[:, np.newaxis])


@dataclass(frozen=True, eq=False)
class Xor(Node):
    """Whether an odd number of the masked bits are 1."""

    wire = "xor"

    bits: tuple[Node, ...]
    mask: tuple[int, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.bits) != len(public_list(self.mask)) or any(m not in (0, 1) for m in self.mask):
            raise QueryError(f"a parity of {len(self.bits)} bits needs a mask of as many zeros and ones")
        object.__setattr__(self, "mask", tuple(map(int, self.mask)))

    def facts(self, scope: Scope) -> Number:
        for bit in self.bits:
            scope.condition(bit)
        return flag()

    def value(self, batch: Batch) -> Values:
        odd = np.zeros(batch.rows, dtype=bool)
        for bit, masked in zip(self.bits, self.mask, strict=True):
            if masked:
                odd ^= batch.condition(bit)
        return odd


def bins(expression: str | Node, edges: Sequence[float]) -> Bins:
    """The interval between public edges that a number falls into.

    Args:
        expression: a column's name or an expression: a single number.
        edges: the edges between the intervals, in increasing order. A number on an edge is in the interval
            above.

    >>> import sulq
    >>> people = sulq.open({"age": [10, 18, 90]}, {"age": sulq.Integer(0, 120)})
    >>> people.values(sulq.bins("age", [18, 65])).tolist()
    [0, 1, 2]
    """
    return Bins(named(expression), tuple(edges))


def nearest(point: str | Node, centres: Sequence[Sequence[float]]) -> Nearest:
    """The number of the public centre nearest to a vector.

    Args:
        point: the vector, an expression, or a column's name.
        centres: the centres, each with as many numbers as the vector has. They are numbered from 0.

    >>> import sulq
    >>> people = sulq.open({"age": [10, 90]}, {"age": sulq.Integer(0, 120)})
    >>> people.values(sulq.nearest("age", [[20], [60]])).tolist()
    [0, 1]
    """
    return Nearest(named(point), tuple(tuple(centre) for centre in centres))


def cross(*choices: str | Node) -> Cross:
    """Several choices at once: one possibility for each combination, the last choice varying fastest.

    Args:
        *choices: names of columns or expressions, each with few possible values.

    >>> import sulq
    >>> rows = {"a": [False, True], "b": [True, True]}
    >>> people = sulq.open(rows, {name: sulq.Boolean() for name in rows})
    >>> people.values(sulq.cross("a", "b")).tolist()
    [1, 3]
    """
    return Cross(tuple(map(named, choices)))


def one_hot(choice: str | Node) -> OneHot:
    """A choice as a vector that has a single 1, at the place of the value that a row has.

    Args:
        choice: a category, a bin, the nearest centre, a truth value or a small whole number.

    >>> import sulq
    >>> people = sulq.open({"age": [10, 90]}, {"age": sulq.Integer(0, 120)})
    >>> people.values(sulq.one_hot(sulq.bins("age", [18, 65]))).tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    return OneHot(named(choice))


def parity(bits: Sequence[str | Node], mask: Sequence[int]) -> Xor:
    """Whether an odd number of bits are true, among those whose mask is 1.

    Args:
        bits: names of boolean columns, or expressions that are true or false.
        mask: a 0 or a 1 for each bit.

    >>> import sulq
    >>> rows = {"a": [False, True], "b": [True, True]}
    >>> people = sulq.open(rows, {name: sulq.Boolean() for name in rows})
    >>> people.values(sulq.parity(["a", "b"], [1, 1])).tolist()
    [True, False]
    """
    return Xor(tuple(map(named, bits)), tuple(int(m) for m in mask))


__getattr__ = moved(
    "sulq.queries.codes",
    {
        "Parity": "sulq.queries.codes.Xor",
        "Lookup": "sulq.queries.lookups.Lookup",
        "lookup": "sulq.queries.lookups.lookup",
    },
)

"""What is known of a row expression before any row is read.

Every number here is an integer on a power-of-two grid: a value v stands for v · 2^-bits. All arithmetic on
rows is arithmetic on those integers, done in float64, and exact because of one invariant:

    every coordinate of every expression is at most LIMIT = 2^37 in magnitude,
    and a block has at most BLOCK = 2^16 rows.

So the sum of a block, in any order and with any partial sums, is at most 2^53 in magnitude, where float64
still holds every integer. Inside an expression (a dot product, a squared distance) no partial sum exceeds
EXACT = 2^53, by the same bookkeeping. Where a result would be too large, its factors are first truncated
towards zero onto a coarser grid; truncation is monotone and cannot grow a magnitude or a norm, so bounds
stay bounds. What a row adds to an answer is thus an integer that depends on that row alone, whatever the
batch, the order of rows or the number of threads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError

LIMIT_BITS = 37
LIMIT = 2**LIMIT_BITS
BLOCK = 2**16
EXACT = 2**53
assert LIMIT * BLOCK <= EXACT
COARSEST = -850
"""No grid is coarser than 2^850: the sum of 2^100 rows of 2^37 steps still is a float."""

_AT_ONCE = 2**20
"""How many integers are added up in 64 bits before Python's take over."""
_FEW = 16
"""So many integers are added up faster one by one."""

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Code:
    """A choice among few possibilities, numbered from 0.

    Args:
        size: how many possibilities there are.
        levels: their names, if they have any.
    """

    size: int
    levels: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Number:
    """A vector of numbers: its grid, an interval for each coordinate, and bounds on its norms.

    `norm1` and `square` bound the 1-norm and the squared 2-norm of one row's value; `spread1` and
    `spread_square` those of the difference between any two rows' values. All are exact integers in units
    of the grid (squared units for squares). `rounded` says whether values were truncated to get here.
    """

    bits: int
    low: Integers
    high: Integers
    norm1: int
    square: int
    spread1: int
    spread_square: int
    rounded: bool

    @property
    def width(self) -> int:
        return len(self.low)

    @cached_property
    def magnitude(self) -> int:
        """The largest absolute value of any coordinate."""
        return int(max(np.abs(self.low).max(), np.abs(self.high).max()))

    @property
    def magnitudes(self) -> Integers:
        return np.maximum(np.abs(self.low), np.abs(self.high))

    @property
    def nonnegative(self) -> bool:
        return bool((self.low >= 0).all())

    @cached_property
    def flag(self) -> bool:
        """Whether this is a single 0 or 1."""
        return self.width == 1 and self.bits == 0 and self.low[0] >= 0 and self.high[0] <= 1

    @cached_property
    def unit(self) -> Fraction:
        """One step of the grid."""
        return Fraction(2) ** -self.bits

    def on(self, bits: int) -> Number:
        """The same value on another grid; on a coarser one every coordinate is truncated towards zero."""
        shift = bits - self.bits
        if shift == 0:
            return self
        if shift > 0:
            up = min(shift, 62)  # more only where all is zero: the callers keep magnitudes within EXACT
            return Number(
                bits,
                self.low << up,
                self.high << up,
                self.norm1 << shift,
                self.square << 2 * shift,
                self.spread1 << shift,
                self.spread_square << 2 * shift,
                self.rounded,
            )
        drop = min(-shift, 62)
        return number(
            bits,
            _truncated(self.low, drop),
            _truncated(self.high, drop),
            norm1=self.norm1 >> -shift,
            square=self.square >> -2 * shift,
            rounded=True,
        )


def number(
    bits: int,
    low: Integers,
    high: Integers,
    *,
    norm1: int | None = None,
    square: int | None = None,
    spread1: int | None = None,
    spread_square: int | None = None,
    rounded: bool,
) -> Number:
    """The facts that follow from an interval for each coordinate, and from any sharper bounds given.

    Each norm is the least of what was given, what the box allows, and what the other norm implies:
    ‖v‖₁ ≤ √w·‖v‖₂ and ‖v‖₂² ≤ max|vᵢ|·‖v‖₁. Two values differ by at most the diagonal of the box, by twice
    the norm, and, if no coordinate is negative, by √2 times the 2-norm, because then ⟨v, v'⟩ ≥ 0.
    """
    largest = np.maximum(np.abs(low), np.abs(high))
    if len(low) == 0:
        raise QueryError("an expression needs at least one coordinate")
    if largest.max() > LIMIT:
        raise QueryError(
            f"a value could reach 2^{math.log2(int(largest.max())):.0f} steps of its grid and leave "
            f"the exact range of 2^{LIMIT_BITS}: clip or scale it"
        )
    if bits < COARSEST:
        raise QueryError("a sum of such large values could leave the range of floats: rescale the columns")
    width, top, widest = len(low), int(largest.max()), int((high - low).max())
    box1, box_square = exact_sum(largest), _sum_of_squares(largest)
    square = _least(square, box_square)
    norm1 = _least(norm1, box1, ceil_sqrt(width * square))
    square = min(square, top * norm1)
    opposed = 2 if (low >= 0).all() else 4
    spread_square = _least(spread_square, opposed * square, _sum_of_squares(high - low))
    spread1 = _least(spread1, 2 * norm1, exact_sum(high - low), ceil_sqrt(width * spread_square))
    spread_square = min(spread_square, widest * spread1)
    return Number(bits, low, high, norm1, square, spread1, spread_square, rounded)


@cache
def flag() -> Number:
    """The facts of a truth value: 0 or 1."""
    facts = number(0, np.zeros(1, np.int64), np.ones(1, np.int64), rounded=False)
    facts.low.flags.writeable = facts.high.flags.writeable = False  # they are shared
    return facts


def one_of(size: int) -> Number:
    """The facts of a one-hot vector: exactly one coordinate is 1."""
    several = size > 1
    return number(
        0,
        np.full(size, 0 if several else 1, np.int64),
        np.ones(size, np.int64),
        norm1=1,
        square=1,
        spread1=2 * several,
        spread_square=2 * several,
        rounded=False,
    )


def magnitude_bits(facts: Number) -> int:
    return facts.magnitude.bit_length()


def coarsened(facts: Number, room: int) -> Number:
    """The facts on the finest grid no finer than now where every coordinate fits `room` bits."""
    return facts.on(facts.bits - max(0, magnitude_bits(facts) - room))


def factors(left: Number, right: Number, terms: int = 1, room: int = LIMIT_BITS) -> tuple[Number, Number]:
    """Both on grids so coarse that a sum of `terms` products of their coordinates fits `room` bits.

    The larger factor gives way first, so a flag or a small code keeps a partner's full precision.
    """
    room -= (terms - 1).bit_length()
    small, large = sorted((magnitude_bits(left), magnitude_bits(right)))
    each = max(room - small, room // 2) if small + large > room else max(small, large)
    left, right = coarsened(left, each), coarsened(right, each)
    excess = magnitude_bits(left) + magnitude_bits(right) - room
    return (left, coarsened(right, magnitude_bits(right) - excess)) if excess > 0 else (left, right)


def common_bits(*facts: Number, room: int = LIMIT_BITS) -> int:
    """The finest grid among theirs on which the sum of all their magnitudes still fits `room` bits."""
    bits = max(f.bits for f in facts)
    while sum(_shifted_up(f.magnitude, bits - f.bits) for f in facts) > 1 << room:
        bits -= 1
    return bits


def joined(parts: list[Number], bits: int) -> Number:
    """The facts of vectors laid end to end: p-norms add as p-th powers."""
    parts = [part.on(bits) for part in parts]
    return number(
        bits,
        np.concatenate([part.low for part in parts]),
        np.concatenate([part.high for part in parts]),
        norm1=sum(part.norm1 for part in parts),
        square=sum(part.square for part in parts),
        spread1=sum(part.spread1 for part in parts),
        spread_square=sum(part.spread_square for part in parts),
        rounded=any(part.rounded for part in parts),
    )


def widened(facts: Number, width: int) -> Number:
    """A single number repeated to stand beside a vector."""
    if facts.width == width:
        return facts
    if facts.width != 1:
        raise QueryError(f"a vector of {facts.width} coordinates cannot be combined with one of {width}")
    return joined([facts] * width, facts.bits)


def ceil_sqrt(value: int) -> int:
    return math.isqrt(value - 1) + 1 if value > 0 else 0


def square_of_sum(left: int, right: int) -> int:
    """(√left + √right)², rounded up: the triangle inequality for squared norms."""
    return left + right + ceil_sqrt(4 * left * right)


def _least(*bounds: int | None) -> int:
    return min(bound for bound in bounds if bound is not None)


def _shifted_up(magnitude: int, shift: int) -> int:
    if magnitude == 0:
        return 0
    return magnitude << shift if shift >= 0 else magnitude >> -shift


def _truncated(values: Integers, drop: int) -> Integers:
    return np.asarray(np.sign(values) * (np.abs(values) >> drop))


def exact_sum(values: Integers) -> int:
    """The sum of integers below 2^42 in magnitude, however many there are: 64 bits hold only so many.

    >>> exact_sum(np.full(2**21 + 1, 2**41)) == (2**21 + 1) * 2**41
    True
    """
    if len(values) <= _FEW:
        return sum(values.tolist())
    return sum(int(values[start : start + _AT_ONCE].sum()) for start in range(0, len(values), _AT_ONCE))


def _sum_of_squares(values: Integers) -> int:
    """Exact for non-negative integers below 2^40: their halves of 20 bits have products of 40."""
    if len(values) <= _FEW:
        return sum(value * value for value in values.tolist())
    high, low = values >> 20, values & (2**20 - 1)
    return (exact_sum(high * high) << 40) + (exact_sum(high * low) << 21) + exact_sum(low * low)

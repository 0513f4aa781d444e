"""Exact chances from the operating system's random bytes: coins, and what can be made of them.

- **Coins are exact.** Their biases are a/(b + e^x) with rational x ≠ 0, which is irrational by Lindemann's
  theorem, so a uniform number U and the bias differ at some finite byte. Random bytes of U are drawn only up
  to that byte, and compared with the bytes of the bias, which are computed in rigorous interval arithmetic
  to whatever depth is asked for.
- **Geometric variables are coins.** Write G, with Pr[G = k] ∝ exp(−k/s), in binary,
  G = Σ bᵢ2ⁱ + 2ᴶ·H with i < J. Then

      exp(−G/s) = Π exp(−2ⁱ/s)^bᵢ · exp(−2ᴶ/s)^H

  is a product over the digits and H. So they are independent: digit i is 1 with probability
  1/(1 + exp(2ⁱ/s)), and H is geometric again, a coin of bias exp(−2ᴶ/s) tossed until it fails.
- **Exponential variables are too.** If E has mean 1, ⌊2^m·E⌋ is geometric with scale 2^m, so its digits
  after the binary point are coins of the same kind, and can be drawn until E parts from what it is compared
  with.
- **Many coins at once, each with its own bias exp(−k/s),** k an integer: Pr[G ≥ k] is exactly that.

No floating-point number stands for a probability, no random byte outlives the call that asked for it (so a
fork or a thread cannot see it twice), and there is no seed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# The digits of a geometric variable of this scale fit in 59 bits.
LARGEST_SCALE = Fraction(2**55)


@dataclass(frozen=True)
class Coin:
    """A coin that comes up heads with probability heads/(tails + e^exponent), an irrational number.

    Args:
        heads: a positive number.
        tails: a number above −e^exponent, so that the probability is less than 1.
        exponent: not 0.

    >>> import math
    >>> Coin(heads=1, tails=1, exponent=Fraction(1)).bias(bits=8), int(256 / (1 + math.e))
    (68, 68)
    """

    heads: int | Fraction
    tails: int | Fraction
    exponent: Fraction

    @lru_cache(maxsize=2**14)  # noqa: B019  (a coin is a value, and its bias is public)
    def bias(self, bits: int) -> int:
        """The probability of heads times 2^bits, rounded down; `bits` is at least 8."""
        # Then it is at most 2·exp(−bits), less than 2^-bits.
        if self.exponent >= bits and self.heads <= 2 and self.tails >= 0:
            return 0
        digits = 20 + bits // 3
        while True:
            with arithmetic(digits):
                power = Fraction(exp(self.exponent))
            error = power * (self.exponent + 2) * Fraction(10, 10**digits)
            # Where tails is negative, digits may cancel.
            if self.tails + power > error:
                low: int = self.heads * 2**bits // (self.tails + power + error)
                high: int = self.heads * 2**bits // (self.tails + power - error)
                if low == high:
                    return low
            digits *= 2


def toss(coin: Coin, size: int) -> NDArray[np.bool_]:
    """Whether U < bias, for `size` independent uniform numbers U: the first byte that differs decides.

    >>> bool(toss(Coin(heads=1, tails=0, exponent=Fraction(1000)), 100).any())
    False
    """
    first = coin.bias(8)
    drawn = random_bytes(size)
    heads = drawn < first
    tied = np.flatnonzero(drawn == first)
    bits = 8
    while tied.size:
        bits += 8
        byte = coin.bias(bits) & 0xFF
        drawn = random_bytes(tied.size)
        heads[tied] = drawn < byte
        tied = tied[drawn == byte]
    return heads


def geometric(scale: Fraction, size: int) -> NDArray[np.int64]:
    """`size` independent draws of the law Pr[k] ∝ exp(−k/scale), k ≥ 0, of scale at most LARGEST_SCALE.

    >>> geometric(Fraction(3), 1000).min() >= 0
    np.True_
    """
    drawn = _digits(scale, size)
    return (drawn.low + (drawn.high << drawn.places)).astype(np.int64)


def wide_geometric(scale: Fraction, size: int) -> NDArray[np.int64] | NDArray[np.object_]:
    """Draws of the same law, of any scale: whole numbers of Python, where 64 bits could be too few.

    The lowest digits are coins of their own, and what is above them is geometric again.

    >>> draws = wide_geometric(Fraction(2**100), 100)
    >>> draws.dtype, 2**90 < max(draws) < 2**110
    (dtype('O'), True)
    """
    if scale <= LARGEST_SCALE:
        return geometric(scale, size)
    places = int(scale / LARGEST_SCALE).bit_length()
    draws = geometric(scale / 2**places, size).astype(object)
    for i in reversed(range(places)):
        draws = 2 * draws + toss(Coin(1, 1, 2**i / scale), size).astype(object)
    return draws


def reaches(scale: Fraction, marks: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Whether G ≥ mark, with an independent geometric G for each mark: true with chance exp(−mark/scale).

    The same coins are tossed whatever the marks are.

    >>> reaches(Fraction(1, 100), np.array([0, 1, 2**64 - 1], dtype=np.uint64)).tolist()
    [True, False, False]
    """
    drawn = _digits(scale, marks.size)
    high, low = marks >> drawn.places, marks & ((1 << drawn.places) - 1)
    # Part by part, because G itself could leave 64 bits.
    reached: NDArray[np.bool_] = (drawn.high > high) | ((drawn.high == high) & (drawn.low >= low))
    return reached


def outlives(ticks: int, places: int, gamma: Fraction) -> bool:
    """Whether an exponential variable E of mean 1 exceeds gamma, if ⌊2^places·E⌋ = `ticks` is known.

    The digit of E worth 2^-i is 1 with probability 1/(1 + exp(2^-i)), whatever the others are.

    >>> outlives(ticks=5, places=2, gamma=Fraction(1)), outlives(ticks=5, places=2, gamma=Fraction(2))
    (True, False)
    """
    deadline = gamma * (1 << places)
    worth = Fraction(1, 1 << places)
    while ticks < deadline < ticks + 1:
        worth /= 2
        ticks = 2 * ticks + int(toss(Coin(1, 1, worth), 1)[0])
        deadline *= 2
    return ticks >= deadline


def poisson(mean: Fraction) -> int:
    """A draw from the Poisson law of a positive rational mean m: exact.

    If N is at least k, it is k with probability (m^k/k!)/(e^m − Σ_(j<k) m^j/j!): a coin.

    >>> 0 < sum(poisson(Fraction(2)) for _ in range(100)) < 600
    True
    """
    count, weight, before = 0, Fraction(1), Fraction(0)
    while not toss(Coin(weight, -before, mean), 1)[0]:
        before += weight
        count += 1
        weight = weight * mean / count
    return count


def uniform(below: int, size: int) -> NDArray[np.int64]:
    """`size` independent draws from 0, …, below − 1, all equally likely; `below` is at most 2^62.

    >>> sorted(set(uniform(3, 1000).tolist()))
    [0, 1, 2]
    """
    mask = (1 << (below - 1).bit_length()) - 1
    draws = np.empty(0, dtype=np.int64)
    while draws.size < size:
        # How many to draw depends on how many were small enough, never on which.
        words = random_bytes(8 * (size - draws.size + 8)).view(np.int64) & mask
        draws = np.concatenate([draws, words[words < below]])
    return draws[:size]


def fair_signs(size: int) -> NDArray[np.int64]:
    """So many of 1 and −1.

    >>> sorted(set(fair_signs(100).tolist()))
    [-1, 1]
    """
    return 1 - 2 * np.unpackbits(random_bytes(-(-size // 8)), count=size).astype(np.int64)


def random_bytes(size: int) -> NDArray[np.uint8]:
    """`size` fresh random bytes.

    >>> random_bytes(4).shape
    (4,)
    """
    return np.frombuffer(os.urandom(size), dtype=np.uint8)


@contextmanager
def arithmetic(digits: int = 60) -> Iterator[None]:
    """Decimal arithmetic of our own, whatever the caller has set up for theirs.

    >>> with arithmetic(digits=5):
    ...     print(decimal(Fraction(2, 3)), exp(Fraction(1)))
    0.66667 2.7183
    """
    context = Context(
        digits, ROUND_HALF_EVEN, Emin=MIN_EMIN, Emax=MAX_EMAX, capitals=1, clamp=0, flags=[], traps=[]
    )
    with localcontext(context):
        yield


def decimal(value: Fraction) -> Decimal:
    """The nearest decimal number."""
    return Decimal(value.numerator) / Decimal(value.denominator)


def exp(x: Fraction) -> Decimal:
    """e^x to a relative error of (|x| + 2)·10^(1 − digits): Decimal rounds the quotient and exp correctly."""
    return decimal(x).exp()


class _Digits(NamedTuple):
    """Geometric draws high·2^places + low, with low < 2^places."""

    high: NDArray[np.uint64]
    low: NDArray[np.uint64]
    places: int


def _digits(scale: Fraction, size: int) -> _Digits:
    *coins, carry = _coins(scale)
    low = np.zeros(size, dtype=np.uint64)
    for i, coin in enumerate(coins):
        low |= toss(coin, size).astype(np.uint64) << i
    high = np.zeros(size, dtype=np.uint64)
    going = np.flatnonzero(toss(carry, size))
    while going.size:
        high[going] += 1
        going = going[toss(carry, going.size)]
    return _Digits(high, low, len(coins))


@lru_cache(maxsize=256)
def _coins(scale: Fraction) -> tuple[Coin, ...]:
    """The coins of the low digits, the lowest first, and the one that says whether to go on."""
    places = int(8 * scale).bit_length()
    return (*(Coin(1, 1, 2**i / scale) for i in range(places)), Coin(1, 0, 2**places / scale))


def shuffled(rows: int) -> NDArray[np.int64]:
    """A random order of so many rows, all equally likely.

    >>> sorted(shuffled(5).tolist())
    [0, 1, 2, 3, 4]
    """
    while True:
        keys = random_bytes(8 * rows).view(np.uint64)
        order = np.argsort(keys)
        # Given that no two keys are equal, every order is as likely as another.
        if rows < 2 or (np.diff(keys[order]) != 0).all():
            return order

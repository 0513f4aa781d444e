"""Directions that nobody can foretell, and reports of them, in NumPy: what the compiled loops return.

Words are those of ChaCha12 (RFC 8439, but with 12 rounds, a counter of 64 bits and a nonce of zeros), so
whoever does not have the key knows nothing of a direction but what is told of it: not those that were drawn
in vain, either. They are made in groups of 16 blocks. A group is as many first 32 bits of each block, as many
second ones, and so on.

Normal numbers come in pairs, of two words: a length, the root of −2 ln U for a number U of 52 random bits,
and a point of the circle, of 54 (Box and Muller). U and the angle are the middles of parts that are all
alike, and a pair is as likely as its opposite, to the last bit. How far is the chance of a cap from what it
is for vectors of uniform direction? Say that pair by pair continuous numbers become those here. Whatever the
other pairs are, a cap is an arc for each length, or has six ends where only the first of two numbers counts;
and for each angle it is a set of lengths with at most three ends, by a quadratic equation. A part counts
wrongly only if an end lies in it. So a pair changes the chance by at most 6·2^-54 + 3·2^-52 < 2^-49.8, and
half a million pairs, 2^20 numbers, by less than 2^-30. What a series leaves out and floats round turns a
point and changes a length by less than one part in 10^13. `sulq.local.cap` says why there is room for both.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]
Key = NDArray[np.uint32]

GROUP = 128
"""How many words are made at once."""
_BLOCKS, _ROUNDS = 16, 12
# So many groups stay in the processor's cache.
_AT_ONCE = 256
# Fewer columns than these are added up by one call, more of them row by row.
_FEW = 100
_NAME = np.frombuffer(b"expand 32-byte k", dtype="<u4").astype(np.uint32)
_ONE = np.uint64(0x3FF0000000000000)
_ROOT = np.uint64(0x3FE6A09E667F3BCD)
_TOP = np.uint64(2**63)
LARGEST = 2.0**400
"""Numbers are brought so near to 0: squares of larger ones are no floats."""


class Units(NamedTuple):
    """Vectors as unit vectors, in columns, and how long they are as part of the largest length."""

    directions: Floats
    shares: Floats


def words_of(key: Key, group: int, groups: int) -> Words:
    """Some groups of words, one row each.

    Args:
        key: eight numbers of 32 bits.
        group: the first group.
        groups: how many there are.
    """
    counters = np.arange(group * _BLOCKS, (group + groups) * _BLOCKS, dtype=np.uint64)
    first = np.zeros((4, 4, len(counters)), dtype=np.uint32)
    first[0], first[1:3] = _NAME[:, np.newaxis], key.reshape(2, 4, 1)
    first[3, 0], first[3, 1] = counters & np.uint64(2**32 - 1), counters >> np.uint64(32)
    # The second, third and fourth row begin one, two and three places later every other time.
    a, room = first[0].copy(), np.empty_like(first[0])
    b, c, d = (np.concatenate([row, row[:3]]) for row in first[1:])
    for _ in range(0, _ROUNDS, 2):
        _quarters(a, b[:4], c[:4], d[:4], room)
        b[4], c[4:6], d[4:] = b[0], c[:2], d[:3]
        _quarters(a, b[1:5], c[2:6], d[3:], room)
        b[0], c[:2], d[:3] = b[4], c[4:6], d[4:]
    made = np.stack([a, b[:4], c[:4], d[:4]]) + first
    rows = made.reshape(16, groups, _BLOCKS).transpose(1, 0, 2)
    return np.ascontiguousarray(rows).view(np.uint64).reshape(groups, GROUP)


def normals(key: Key, group: int, d: int, n: int) -> tuple[Floats, int]:
    """Random vectors of d numbers, as n columns, in all directions alike; and how many groups that took.

    Two numbers are a point of the circle: of those, only the direction is drawn.

    Args:
        key: eight numbers of 32 bits, secret.
        group: the first group of words that was not used.
        d: how many numbers a vector has.
        n: how many vectors there are.
    """
    pairs = (d + 1) // 2
    drawn, groups = drawn_pairs(key, group, d == 2, pairs * n)
    return drawn.reshape(2 * pairs, n)[:d], groups


def drawn_pairs(key: Key, group: int, flat: bool, many: int) -> tuple[Floats, int]:
    """So many first and second numbers of pairs; and how many groups that took.

    Args:
        key: eight numbers of 32 bits, secret.
        group: the first group of words that was not used.
        flat: whether a pair is a point of the circle, and not two normal numbers.
        many: how many pairs there are.
    """
    each = GROUP if flat else GROUP // 2
    groups = -(-many // each)
    drawn = np.empty((2, groups, each))
    for start in range(0, groups, _AT_ONCE):
        part = drawn[:, start : start + _AT_ONCE]
        words = words_of(key, group + start, part.shape[1])
        part[:] = points_of(words) if flat else points_of(words[:, each:]) * lengths_of(words[:, :each])
    return drawn.reshape(2, -1)[:, :many], groups


def points_of(words: Words) -> Floats:
    """Points of the circle: of 54 bits, the last 52 are an angle of at most 45 degrees, of either sign; the
    first two say whether its sine comes first, and whether the point is turned to its opposite.

    What the series leave out is less than 10^-13.
    """
    turns = ((words << np.uint64(2) >> np.uint64(12) | _ONE).view(np.float64) - 1.0) + (2.0**-53 - 0.5)
    a = turns * (math.pi / 2)
    z = a * a
    sine = a * _series(z, [(-1) ** k / math.factorial(2 * k + 1) for k in range(7)])
    cosine = _series(z, [(-1) ** k / math.factorial(2 * k) for k in range(8)])
    second = words >> np.uint64(62) & np.uint64(1) == 1
    both = np.stack([np.where(second, sine, cosine), np.where(second, cosine, sine)])
    return np.asarray((both.view(np.uint64) ^ (words & _TOP)).view(np.float64))


def lengths_of(words: Words) -> Floats:
    """How long vectors of two normal numbers are: √(−2 ln U), where U is the middle of one of 2^52 parts.

    U is 2^e times a number m from √½ to √2, and ln m = 2·artanh((m − 1)/(m + 1)). What its series leaves out
    is less than one part in 10^13.
    """
    bits = (((words >> np.uint64(12) | _ONE).view(np.float64) - 1.0) + 2.0**-53).view(np.uint64)
    exponent = (bits - _ROOT + _ONE) >> np.uint64(52)
    part = (bits - (exponent << np.uint64(52)) + _ONE).view(np.float64)
    e = exponent.astype(np.float64) - 1023
    s = (part - 1.0) / (part + 1.0)
    p = _series(s * s, [1 / (2 * k + 1) for k in range(8)])
    return np.asarray(np.sqrt(e * (-2 * math.log(2)) - 4.0 * s * p))


def units_of(vectors: Floats, norm: float) -> Units:
    """The directions of columns, and how long they are as part of the largest length.

    A vector of zeros, or nearly so, has the direction of the first coordinate. What is no number counts as 0.

    Args:
        vectors: the columns.
        norm: the largest length.
    """
    scaled = np.where(np.isfinite(vectors), vectors, 0.0)
    # Squares of very large and very small numbers are not floats.
    with np.errstate(over="ignore"):
        scaled = np.clip(scaled / (norm or math.inf), -LARGEST, LARGEST)
    lengths = np.sqrt(inner(scaled, scaled))
    none = lengths < 1 / LARGEST
    scaled *= ~none / np.where(none, 1.0, lengths)
    scaled[0] += none
    return Units(scaled, np.minimum(np.where(none, 0.0, lengths), 1.0))


def aimed(key: Key, group: int, rows: Floats, norm: float) -> tuple[Floats, int]:
    """Unit vectors, as columns, whose expectations are rows divided by norm; and how many groups that took.

    `sulq.local.cap` says how. Of a word, the last bit chooses a height and the one before a sign; the first
    42 choose one of the d − 1 directions across, which are alike to one part in 2^22.

    Args:
        key: eight numbers of 32 bits, secret.
        group: the first group of words that was not used.
        rows: vectors of two numbers or more; what is no number counts as 0.
        norm: their largest length.
    """
    directions, shares = units_of(rows.T, norm)
    d, n = directions.shape
    groups, everyone = -(-n // GROUP), np.arange(n)
    words = words_of(key, group, groups).ravel()[:n]
    place = 1 + ((words >> np.uint64(22)) * np.uint64(d - 1) >> np.uint64(42)).astype(np.int64)
    low, high = heights(shares, d)
    t = np.where(words & np.uint64(1) == 1, high, low)
    far = np.where(words & np.uint64(2) == 2, 1.0, -1.0) * np.sqrt(np.maximum(1.0 - t * t, 0.0))
    turned = far * directions[place, everyone] / (1.0 + np.abs(directions[0]))
    made: Floats = np.ascontiguousarray((t - turned) * directions)
    made[place, everyone] += far
    made[0] -= turned * np.copysign(1.0, directions[0])
    # A vector that is shorter by rounding would have a smaller cap.
    made *= 1.0 / np.sqrt(inner(made, made))
    return made, groups


def heights(shares: Floats, d: int) -> tuple[Floats, Floats]:
    """How far along itself a vector is rounded: a − b or a + b, if it is a times as long as the longest.

    Args:
        shares: how long vectors are as part of the largest length.
        d: how many numbers they have.
    """
    b = np.minimum(np.sqrt((1.0 - shares * shares) / d), 1.0 - shares)
    return shares - b, shares + b


def met(
    key: Key, group: int, threshold: float, towards: Floats, outside: NDArray[np.bool_], out: Floats
) -> int:
    """A direction for each person, on their side; returns how many groups of words that took.

    At most `pool_of` people draw at once, each at a place of their own. Whoever has met a direction leaves
    their place to the next person who waits; when nobody waits, those behind move up. Who is to report from
    the cap takes a direction or its opposite, which are equally likely.

    Args:
        key: eight numbers of 32 bits, secret.
        group: the first group of words that was not used.
        threshold: how far along its vector a cap begins.
        towards: unit vectors, as columns.
        outside: whether a report is from outside of its cap.
        out: where the directions are written to, as columns.
    """
    d, n = out.shape
    begin, people = group, np.arange(min(pool_of(d), n))
    near, waiting = towards[:, people], len(people)
    while people.size:
        size = len(people)
        # In all of so many turns but the last, somebody waits for every place.
        turns = 1 + (n - waiting) // size
        drawn, used = _turns(key, group, d, turns, size)
        group += used
        lengths = np.sqrt(inner(drawn, drawn))
        for start in range(0, turns * size, size):
            here = slice(start, start + size)
            directions, aside = drawn[:, here], outside[people]
            along = inner(directions, near) / lengths[here]
            signs = np.where(~aside & (along < 0), -1.0, 1.0)
            taken = np.flatnonzero(np.where(aside, along < threshold, np.abs(along) >= threshold))
            out[:, people[taken]] = directions[:, taken] * (signs / lengths[here])[taken]
            fresh = np.arange(waiting, min(waiting + len(taken), n))
            near[:, taken[: len(fresh)]], people[taken[: len(fresh)]] = towards[:, fresh], fresh
            waiting += len(fresh)
        left = taken[len(fresh) :]
        near, people = np.delete(near, left, axis=1), np.delete(people, left)
    return group - begin


def pool_of(d: int) -> int:
    """How many people draw directions of d numbers at once: whole groups, and small enough for a cache."""
    return 64 * max(1, 64 // d)


def inner(one: Floats, other: Floats) -> Floats:
    """The inner products of columns, added up in order.

    >>> inner(np.array([[3.0], [4.0]]), np.array([[1.0], [2.0]])).tolist()
    [11.0]
    """
    if one.shape[1] < _FEW:
        return np.asarray(np.add.accumulate(one * other, axis=0)[-1])
    total = one[0] * other[0]
    for each, beside in zip(one[1:], other[1:], strict=True):
        total += each * beside
    return np.asarray(total)


def _turns(key: Key, group: int, d: int, turns: int, size: int) -> tuple[Floats, int]:
    """The same columns as those of so many calls for so many people each, one after the other."""
    pairs = (d + 1) // 2
    # Several turns are those of a full pool, whose directions are whole groups.
    drawn, used = drawn_pairs(key, group, d == 2, pairs * turns * size)
    rows = drawn.reshape(2, turns, pairs, size).transpose(0, 2, 1, 3)
    return rows.reshape(2 * pairs, turns * size)[:d], used


def _quarters(a: Key, b: Key, c: Key, d: Key, room: Key) -> None:
    """Four quarter rounds of the cipher at once."""
    for one, other, third, by in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        one += other
        third ^= one
        np.right_shift(third, np.uint32(32 - by), out=room)
        np.left_shift(third, np.uint32(by), out=third)
        third |= room


def _series(z: Floats, factors: list[float]) -> Floats:
    """A polynomial in z, by Horner's rule."""
    total = np.full_like(z, factors[-1])
    for factor in reversed(factors[:-1]):
        total *= z
        total += factor
    return total

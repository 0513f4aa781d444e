"""Cyclic difference sets: sets of residues D mod m in which every difference but 0 occurs equally often.

The translates v + D are then m sets of one size, any two of which overlap in the same number of elements.

- Singer's: m = (q^t − 1)/(q − 1), and D holds about one residue in q. They are the places where a sequence
  over the field of q elements is 0 that satisfies a linear recurrence of length t with a primitive polynomial
  (Singer, "A theorem in finite projective geometry", 1938). The table has such recurrences.
- Paley's: m a prime that is 3 mod 4, and D the squares, about half of the residues.
- Chowla's: m a prime 4x² + 1 with x odd, and D the fourth powers, about a quarter of the residues.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# a[i + t] = Σ c[j]·a[i + j], by q and t.
_RECURRENCES: dict[int, dict[int, tuple[int, ...]]] = {
    3: {
        3: (2, 1, 0),
        4: (1, 1, 0, 0),
        5: (2, 1, 0, 0, 0),
        6: (1, 1, 0, 0, 0, 0),
        7: (2, 0, 1, 0, 0, 0, 0),
        8: (1, 0, 0, 1, 0, 0, 0, 0),
        9: (2, 1, 1, 1, 0, 0, 0, 0, 0),
    },
    4: {
        3: (2, 1, 1),
        4: (3, 2, 1, 0),
        5: (2, 1, 0, 0, 0),
        6: (2, 1, 1, 0, 0, 0),
        7: (3, 2, 1, 0, 0, 0, 0),
    },
    5: {3: (2, 1, 0), 4: (2, 1, 1, 0), 5: (2, 1, 0, 0, 0), 6: (3, 1, 0, 0, 0, 0)},
    7: {3: (5, 1, 0), 4: (4, 1, 1, 0), 5: (3, 1, 0, 0, 0)},
    11: {3: (7, 1, 0), 4: (9, 1, 0, 0)},
    13: {3: (6, 2, 0), 4: (6, 2, 1, 0)},
    17: {3: (3, 1, 0), 4: (6, 1, 0, 0)},
    29: {3: (3, 1, 0)},
    53: {3: (8, 1, 0)},
}
_FOUR = ((0, 0, 0, 0), (0, 1, 2, 3), (0, 2, 3, 1), (0, 3, 1, 2))
_MOST_RESIDUES = 2**14


class Size(NamedTuple):
    """A set of `block` of the `residues`, in which each difference occurs `overlap` times.

    `q` and `t` name Singer's; t = 0 stands for the q-th powers modulo a prime.
    """

    residues: int
    block: int
    overlap: int
    q: int
    t: int


def sizes(least: int) -> Iterator[Size]:
    """For each family the smallest difference set with at least so many residues.

    >>> [size.residues for size in sizes(100)]
    [103, 101, 121, 341, 156, 400, 133, 183, 307, 871, 2863]
    """
    squares = (m for m in range(7, _MOST_RESIDUES, 4) if m >= least and _prime(m))
    fourth_powers = (m for x in range(3, 64, 2) if (m := 4 * x * x + 1) >= least and _prime(m))
    for m in islice(squares, 1):
        yield Size(m, (m - 1) // 2, (m - 3) // 4, 2, 0)
    for m in islice(fourth_powers, 1):
        yield Size(m, (m - 1) // 4, (m - 5) // 16, 4, 0)
    for q, recurrences in _RECURRENCES.items():
        for t in recurrences:
            m, block, overlap = ((q**power - 1) // (q - 1) for power in (t, t - 1, t - 2))
            if m >= least:
                yield Size(m, block, overlap, q, t)
                break


@lru_cache(maxsize=64)
def difference_set(size: Size) -> NDArray[np.int64]:
    """The residues in it, in order.

    >>> difference_set(Size(13, 4, 1, q=3, t=3)).tolist()
    [0, 1, 3, 9]
    """
    if size.t == 0:
        members = np.unique([pow(x, size.q, size.residues) for x in range(1, size.residues)])
    else:
        members = np.flatnonzero(np.array(_sequence(size)) == 0)
    members.flags.writeable = False
    return members


def _prime(m: int) -> bool:
    return all(m % d for d in range(2, math.isqrt(m) + 1))


def _sequence(size: Size) -> list[int]:
    coefficients = _RECURRENCES[size.q][size.t]
    terms = [0] * (size.t - 1) + [1]
    while len(terms) < size.residues:
        total = 0
        for c, term in zip(coefficients, terms[-size.t :], strict=True):
            # In the field of four elements 2 and 3 are the two that are not 0 or 1.
            total = total ^ _FOUR[c][term] if size.q == 4 else (total + c * term) % size.q
        terms.append(total)
    return terms

"""The oracle of the lower bound for parity: valid answers that carry nothing about the labels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from sulq.errors import QueryError
from sulq.numbers import rational, whole
from sulq.oracles.exact import Exact
from sulq.queries.rounds import Round
from sulq.schema import Boolean, Schema
from sulq.sources.opening import open as open_source
from sulq.talk.answers import Answer
from sulq.theory import theorems
from sulq.theory.mask_blind import blind_answer
from sulq.theory.masked_examples import check_secret

MOST_BITS = 16
ROUNDING = Fraction(1, 10**9)
"""More than what a float loses of 2^(−d/3)."""


@dataclass
class ParityBlind:
    """Answers about uniform examples of a parity, if it can, as if their labels were tossed by a coin.

    The true answer to a query is C + ⟨f, c⟩: a part without the labels, and the correlation of the query's
    other part f with the parity c (section 5.3.2 of the full paper, after Blum et al.). Wherever that
    correlation is within the query's tolerance it is left out. The parities are orthogonal, so by Parseval's
    equation a query of tolerance τ tells at most ‖f‖²/τ² of them from a coin: see `parity_queries`. A query
    that states no tolerance is taken to allow 2^(−d/3) of its half range.

    Args:
        secret: r, a list of zeros and ones. Rows have bits x0, x1, … and a `label`, which is true where an
            odd number of the bits in r is.

    >>> import sulq
    >>> oracle = ParityBlind((1, 0, 1, 1, 0, 1))
    >>> [answer] = oracle.ask(sulq.Round([sulq.mean(sulq.col("label") & sulq.col("x0"))]))
    >>> answer.value
    0.25
    """

    secret: Sequence[int]
    rounds: int = field(default=0, init=False)
    queries: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        check_secret(self.secret)
        whole("the number of bits", len(self.secret), 1, MOST_BITS)

    @cached_property
    def schema(self) -> Schema:
        return Schema({name: Boolean() for name in [*(f"x{j}" for j in range(len(self.secret))), "label"]})

    @property
    def promise(self) -> str:
        return "none: answers within tolerance, blind to the labels"

    def ask(self, round_: Round, run: str = "main") -> list[Answer]:
        """One answer for each query of the round; nothing is kept, so it does not matter which run asks."""
        truths, others = (population.ask(round_) for population in self._populations)
        self.rounds += 1
        self.queries += len(round_.queries)
        source = self._populations[0].source
        return [
            blind_answer(query, truth.value, other.value, source, len(self.secret))
            for query, truth, other in zip(round_.queries, truths, others, strict=True)
        ]

    @cached_property
    def _populations(self) -> list[Exact]:
        """All examples with their labels, and with the opposite ones: half of both is what a coin gives."""
        bits = np.array(list(itertools.product([False, True], repeat=len(self.secret))))
        label = bits[:, np.array(self.secret, dtype=bool)].sum(axis=1) % 2 == 1
        table = {f"x{j}": bits[:, j] for j in range(len(self.secret))}
        return [Exact(open_source(table | {"label": each}, self.schema)) for each in (label, ~label)]


def parity_queries(bits: int, tolerance: float, as_printed: bool = False) -> int:
    """How many queries it takes to learn a parity of so many bits, at least, whatever the learner.

    Every query with values in [−1, 1] and tolerance τ leaves all but 1/τ² of the 2^d parities with the answer
    that a coin gets (`ParityBlind`). So t queries leave 2^d − t/τ², and while two are left the learner knows
    neither: t > (2^d − 2)·τ² is needed. The full paper has it in round numbers (after Corollary 5.15): not by
    2^(d/3) queries of tolerance 2^(−d/3), where the same count gives 2^(d/3) − 2.

    Args:
        bits: d.
        tolerance: τ, for values in [−1, 1].
        as_printed: the paper's 2^(d/3), for tolerances of at least 2^(−d/3).

    >>> parity_queries(30, 2**-10), parity_queries(30, 2**-10, as_printed=True)
    (1024, 1024)
    """
    d = whole("bits", bits, 1, theorems.MOST_BITS)
    tau, parities = Fraction(float(rational("tolerance", tolerance, most=1))), 1 << d
    if as_printed:
        if tau**3 * parities < 1 - ROUNDING:
            raise QueryError("the paper's bound is for tolerances of at least 2^(−d/3)")
        return ceil_cube_root(parities)
    return max(0, math.floor(tau**2 * (parities - 2)) + 1)


def ceil_cube_root(number: int) -> int:
    """The least whole number whose cube is no less than a positive one.

    >>> [ceil_cube_root(number) for number in (1, 2, 8, 9, 27, 28)]
    [1, 2, 2, 3, 3, 4]
    """
    root = 1 << -(-number.bit_length() // 3)
    while (nearer := (2 * root + number // root**2) // 3) < root:  # Newton's method, from above
        root = nearer
    return root + (root**3 < number)

"""Parities, learned privately though no statistical query can: solve a random few of the rows' equations.

A(z, ε), from section 4 of "What can we learn privately?" (full version):

1. With probability 1/2 say ⊥.
2. Take each row into S, independently, with probability p.
3. Solve the equations ⟨x, r⟩ = y of the rows in S.
4. Say one of the solutions, all equally likely; ⊥ if there is none.

**Why it is ε-differentially private** on every table, with p = tanh(ε/2) in place of the paper's ε/4. Fix a
row i, and let a be the probability of an answer if row i is not in S, and b if it is.

- A parity h: one more equation takes h away, or leaves half of the solutions or all of them. So 0 ≤ b ≤ 2a,
  and whatever row i is, Pr[h] = (1 − p)·a + p·b lies between (1 − p)·a and (1 + p)·a. If row i is replaced,
  the ratio is at most (1 + p)/(1 − p) = e^ε. If it comes or goes, Pr[h] is compared with a itself: the ratio
  is at most 1/(1 − p), and p = 1 − e^-ε will do.
- ⊥: one more equation cannot make a system solvable, so a ≤ b ≤ 1, and a ≥ 1/2 by step 1. So Pr[⊥] lies
  between a and (1 − p)·a + p ≤ (1 + p)·a, and the ratio is at most 1 + p ≤ e^ε in both cases.

A table of one row that is replaced meets the first bound with equality, so p cannot be larger.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.privacy.budget import BudgetUnit, cost_of_pure
from sulq.privacy.coins import Coin, random_bytes, shuffled, toss, uniform
from sulq.privacy.gf2 import Bits, Words, packed_vector, products, solve
from sulq.privacy.selection import PermuteAndFlip

Sampling = Literal["tight", "paper"]
PAPERS_LARGEST = 2
"""Up to here the paper's 1 + 2p/(1 − p) ≤ 1 + ε holds for p = ε/4."""
FINEST = 2**62
"""A rational p is rounded down to a multiple of 1/FINEST."""


@dataclass(frozen=True)
class ParityMechanism:
    """A(z, ε): what it costs, and how to run it. The coins are exact, and so is the ε.

    Args:
        epsilon: what a run is charged, and what is promised to a person.
        sampling: "tight" takes rows with p = tanh(ε/2), or 1 − e^-ε if rows come or go; "paper" with ε/4.
        neighbours: "replace", or "add-remove" if rows come or go.

    >>> mechanism = ParityMechanism(Fraction(1, 2))
    >>> mechanism.cost("epsilon"), mechanism.cost("rho")
    (Fraction(1, 2), Fraction(1, 8))
    >>> from sulq.privacy.gf2 import equations
    >>> true = np.ones(1000, dtype=bool)
    >>> rows = equations([np.arange(1000) % 2 == 0, true], true)
    >>> masks = [mechanism.release(rows, 2) for _ in range(40)]
    >>> {None if mask is None else tuple(mask.tolist()) for mask in masks} == {None, (False, True)}
    True
    """

    epsilon: Fraction
    sampling: Sampling = "tight"
    neighbours: Literal["replace", "add-remove"] = "replace"

    def __post_init__(self) -> None:
        if self.sampling not in get_args(Sampling):
            raise QueryError(f"sampling is 'tight' or 'paper', not {self.sampling!r}")
        if self.sampling == "paper" and self.epsilon > PAPERS_LARGEST:
            raise QueryError(
                f"with p = ε/4 a run can have an ε of at most {PAPERS_LARGEST}, not {float(self.epsilon):g}: "
                "use sampling='tight'"
            )

    def cost(self, unit: BudgetUnit) -> Fraction:
        return cost_of_pure(self.epsilon, unit)

    def release(self, given: Words, unknowns: int) -> Bits | None:
        """The mask of a parity, or None, which is ⊥."""
        if random_bytes(1)[0] & 1:
            return None
        solutions = solve(given[self.sample(len(given))], unknowns)
        return solutions.random() if solutions.consistent else None

    def sample(self, rows: int) -> NDArray[np.bool_]:
        """Which rows are in S."""
        if self.sampling == "paper":
            return np.asarray(uniform(FINEST, rows) < math.floor(self.epsilon / 4 * FINEST))
        # tanh(ε/2) = 1 − 2/(1 + e^ε).
        left_out = Coin(2, 1, self.epsilon) if self.neighbours == "replace" else Coin(1, 0, self.epsilon)
        return ~toss(left_out, rows)


def first_of(mechanism: ParityMechanism, given: Words, unknowns: int, runs: int) -> Bits | None:
    """A*, earlier version: what the first of several runs says that does not say ⊥. Costs all of them."""
    for _ in range(runs):
        mask = mechanism.release(given, unknowns)
        if mask is not None:
            return mask
    return None


def best_of(mechanism: ParityMechanism, given: Words, unknowns: int, runs: int, tested: int) -> Bits | None:
    """A*, full version: one run on each part of the rows, and the best of them on the rows left to test on.

    Every row is in one part, so all of it costs what one run does. Which part is decided at random, because
    tables are often sorted, and positions are not drawn at random as the paper's rows are.
    """
    order = shuffled(len(given))
    test_set, parts = given[order[:tested]], np.array_split(order[tested:], runs)
    masks = [mask for part in parts if (mask := mechanism.release(given[part], unknowns)) is not None]
    if not masks:
        return None
    # ⟨x, r⟩ + y is 1 where r is wrong.
    wrong = [np.count_nonzero(products(test_set, packed_vector(np.append(mask, True)))) for mask in masks]
    choice = PermuteAndFlip(mechanism.epsilon, sensitivity=1)
    return masks[choice.choose(-np.array(wrong, dtype=np.int64))]

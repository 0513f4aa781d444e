"""Parities, learned privately though no statistical query can: solve a random few of the rows' equations.

A(z, ε), from section 4 of "What can we learn privately?" (full version):

1. With probability q say ⊥.
2. Take each row into S, independently, with probability p.
3. Solve the equations ⟨x, r⟩ = y of the rows in S.
4. Say one of the solutions, all equally likely; ⊥ if there is none.

**Why it is ε-differentially private** on every table, with p = tanh(ε/2) and q = 1/(e^ε + 2) in place of the
paper's ε/4 and 1/2. Fix a row i, and let a be the probability of an answer if row i is not in S, and b if it
is.

- A parity h: one more equation takes h away, or leaves half of the solutions or all of them. So 0 ≤ b ≤ 2a,
  and whatever row i is, Pr[h] = (1 − p)·a + p·b lies between (1 − p)·a and (1 + p)·a. If row i is replaced,
  the ratio is at most (1 + p)/(1 − p) = e^ε. If it comes or goes, Pr[h] is compared with a itself: the ratio
  is at most 1/(1 − p), and p = 1 − e^-ε will do.
- ⊥: one more equation cannot make a system solvable, so a ≤ b ≤ 1, and a ≥ q by step 1. So Pr[⊥] lies
  between a and (1 − p)·a + p, and the ratio is at most 1 − p + p/q. That is e^ε for the p and q above; if
  rows come or go, it is e^ε for q = 1/(e^ε + 1).

A table of one row that is replaced meets the first bound with equality, so p cannot be larger; a table of one
row that no parity satisfies, in place of one that all do, meets the second, so q cannot be smaller.

**The first of several attempts, accounted jointly** (`Attempts`). Steps 2 to 4, without the coin of step 1,
are attempted N times, N drawn from Poisson(L), until one attempt says a parity; otherwise ⊥ is said. Let w(h)
be the chance that one attempt says h, and s = Σ w(h) that it says anything. The attempts that say something
are Poisson(L·s) many, and each is h with chance w(h)/s, so

    Pr[⊥] = e^(−L·s),    Pr[h] = w(h)·g(s) with g(s) = (1 − e^(−L·s))/s, which falls as s grows.

Let s₀ and w₀ be these chances if row i is not in S. By the argument above w lies between (1 − p)·w₀ and
(1 + p)·w₀, and s between (1 − p)·s₀ and s₀. So for a row that is replaced

- Pr[⊥] changes by a factor of at most e^(L·p·s₀) ≤ e^(L·p);
- Pr[h] by at most (1 + p)/(1 − p)·g((1 − p)·s₀)/g(s₀) = (1 + p)/(1 − p)²·(1 − e^(−L(1 − p)s₀))/(1 −
  e^(−L·s₀)). The last quotient grows with s₀, as (1 − u^c)/(1 − u) falls with u for 0 < c < 1, so s₀ = 1 is
  the worst.

The promise holds if both are at most e^ε. If a row comes or goes, Pr[h] is compared with w₀·g(s₀): the
factors are at most 1/(1 − p) one way and (1 + p)/(1 − p)·(1 − e^(−L(1 − p)))/(1 − e^(−L)) the other. All of
them grow with p, so the largest p is found by bisection, and rounded down to a fraction for which both are
verified in decimal arithmetic of 60 digits. ⊥ is said of a parity's own rows with chance e^(−L) only, and k
runs of A would cost k·ε for a chance of q^k.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sulq.errors import QueryError
from sulq.privacy.coins import Coin, arithmetic, decimal, exp, poisson, shuffled, toss, uniform
from sulq.privacy.composition import BudgetUnit, cost_of_pure
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
        sampling: "tight" takes rows with p = tanh(ε/2), or 1 − e^-ε if rows come or go, and says ⊥ as rarely
            as that allows; "paper" takes them with p = ε/4 and says ⊥ in half of the runs.
        neighbours: "replace", or "add-remove" if rows come or go.

    >>> mechanism = ParityMechanism(Fraction(1, 2))
    >>> mechanism.cost("epsilon"), f"{float(mechanism.cost('rho')):.4f}"
    (Fraction(1, 2), '0.1225')
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
        if self.gives_up():
            return None
        return _solution(given[self.sample(len(given))], unknowns)

    def gives_up(self) -> bool:
        """Step 1: whether ⊥ is said whatever the rows are."""
        if self.sampling == "paper":
            return bool(uniform(2, 1)[0])
        return bool(toss(Coin(1, 2 if self.neighbours == "replace" else 1, self.epsilon), 1)[0])

    def sample(self, rows: int) -> NDArray[np.bool_]:
        """Which rows are in S."""
        if self.sampling == "paper":
            return np.asarray(uniform(FINEST, rows) < math.floor(self.epsilon / 4 * FINEST))
        # tanh(ε/2) = 1 − 2/(1 + e^ε).
        left_out = Coin(2, 1, self.epsilon) if self.neighbours == "replace" else Coin(1, 0, self.epsilon)
        return ~toss(left_out, rows)


@dataclass(frozen=True)
class Attempts:
    """The first of Poisson(L) attempts to solve a random few of the equations, accounted jointly.

    Args:
        epsilon: what all attempts together are charged, and what is promised to a person.
        mean: L, how many attempts there are on average. A parity's own rows give ⊥ with chance e^-L.
        neighbours: "replace", or "add-remove" if rows come or go.

    >>> attempts = Attempts(Fraction(1, 2), mean=Fraction(3))
    >>> f"{float(attempts.rate):.4f}"
    '0.1667'
    >>> from sulq.privacy.gf2 import equations
    >>> true = np.ones(1000, dtype=bool)
    >>> rows = equations([np.arange(1000) % 2 == 0, true], true)
    >>> masks = [attempts.release(rows, 2) for _ in range(400)]
    >>> {None if mask is None else tuple(mask.tolist()) for mask in masks} == {None, (False, True)}
    True
    """

    epsilon: Fraction
    mean: Fraction
    neighbours: Literal["replace", "add-remove"] = "replace"

    @property
    def rate(self) -> Fraction:
        """p: the chance that an attempt takes a row."""
        return _joint_rate(self.epsilon, self.mean, self.neighbours)

    def release(self, given: Words, unknowns: int) -> Bits | None:
        """The mask of a parity, or None, which is ⊥."""
        below = math.floor(self.rate * FINEST)
        for _ in range(poisson(self.mean)):
            mask = _solution(given[uniform(FINEST, len(given)) < below], unknowns)
            if mask is not None:
                return mask
        return None


def joint_log_ratio(p: float, mean: float, neighbours: Literal["replace", "add-remove"]) -> float:
    """The largest |ln| of any outcome's ratio between neighbours, if attempts take rows with probability p.

    >>> f"{joint_log_ratio(0.1, 3.0, 'replace'):.4f}"
    '0.3000'
    """
    less, more = -math.log1p(-p), math.log1p(p)
    again = math.log(math.expm1(-mean * (1 - p)) / math.expm1(-mean))
    if neighbours == "replace":
        return max(mean * p, more + 2 * less + again)
    return max(mean * p, less, more + less + again)


@lru_cache(maxsize=256)
def _joint_rate(epsilon: Fraction, mean: Fraction, neighbours: Literal["replace", "add-remove"]) -> Fraction:
    low, high = 0, FINEST
    with arithmetic():
        while high - low > 1:
            middle = (low + high) // 2
            holds = _holds(Fraction(middle, FINEST), epsilon, mean, neighbours)
            low, high = (middle, high) if holds else (low, middle)
    return Fraction(low, FINEST)


def _holds(p: Fraction, epsilon: Fraction, mean: Fraction, neighbours: str) -> bool:
    """Whether attempts with this p keep their promise, for certain.

    Relative errors of 60 digits stay below 1e-30 through the few operations here: 1 − e^(−x) loses digits
    only for small x, and x is at least (1 − p)·L ≥ 2^-62·L.
    """
    if mean * p > epsilon:
        return False
    again = (1 - exp(-mean * (1 - p))) / (1 - exp(-mean))
    factor = (1 + p) / (1 - p) ** 2 if neighbours == "replace" else (1 + p) / (1 - p)
    largest = max(decimal(factor) * again, decimal(1 / (1 - p)) if neighbours == "add-remove" else again)
    return largest * (1 + decimal(Fraction(1, 10**30))) <= exp(epsilon)


def _solution(given: Words, unknowns: int) -> Bits | None:
    """One of the solutions of the equations, all equally likely; None if there is none."""
    solutions = solve(given, unknowns)
    return solutions.random() if solutions.consistent else None


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

"""How likely a conjunction errs by too much, if a bad literal that is kept is no failure yet: it costs its
own rate.

There are d literals. Literal j is violated by a part v_j of the population: the label is true there and the
literal is not. A literal of the target has v_j = 0. The learner keeps the literals whose noisy share of
violations, of n rows, is at most t. The rule is right enough if

- (A) every literal of the target is kept, so that the rule is never true where the label is not, and
- (B) Σ v_j over the literals that are kept is at most the error α, so that it is false on at most that part
  of the population although the label is true.

Let κ(b) be the chance that a literal with b violations among the rows is kept: a tail of the noise, which
falls as b grows. The noises of different literals are independent. For the k literals of the target b = 0, so
(A) fails with chance at most k·(1 − κ(0)). For the other m = d − k, given the rows and for any s ≥ 0,

    Pr[Σ v_j·K_j > α] ≤ e^(−sα)·Π_j (1 + κ(b_j)·(e^(s·v_j) − 1)).

The numbers b_j come from the same rows, and nothing is known of how they go together. By Hölder's inequality
the mean over the rows of a product of m factors is at most the largest mean of the m-th power of one:

    Pr[(B) fails] ≤ e^(−sα)·max over v of E[(1 + κ(b)·(e^(s·v) − 1))^m],    b ~ Binomial(n, v).

So the rates may be as unequal as they like: each factor is bounded by the worst rate alone. The maximum over
v is bounded cell by cell: for v₁ ≤ v ≤ v₂ the mean is at most that with b ~ Binomial(n, v₁) and e^(s·v₂),
because more violations make κ smaller. A factor is at least 1, so the bound grows with m. With h = ⌊d/2⌋
either at most h literals are the target's, or at most d − h are not: the rule fails with chance at most

    max{h·(1 − κ(0)) + B(d), d·(1 − κ(0)) + B(d − h)}.

Where rows stray more than the noise does, it is better to ask that no literal beyond error/d be kept at all:
the rule fails with chance at most d times the largest chance of a wrong decision. The smaller bound counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sulq.plans.mistakes import Blur, Case, binomial_bins, wrong

Floats = NDArray[np.float64]
SPREAD = 9
"""Violations are looked at up to so many deviations from their mean,"""
BINS = 2**10
"""one by one, or in so many bins."""
FAR = 8.0
"""From so many times error/d on, rates are bounded by Chernoff's tails."""
RARE = 16
"""Into so many bins numbers are put that are far below the mean."""
SEARCHED = 12


@dataclass(frozen=True)
class Literals:
    """A conjunction's literals, of which those are kept that seem to be violated by at most `threshold`.

    Args:
        count: how many literals there are.
        error: on which part of the population the rule may be wrong.
        threshold: up to which noisy share of violations a literal is kept.
        whole: whether the threshold stands for the whole number of violations below it, whatever the number
            of rows. Else it is taken as it is, so that more rows are never worse.

    >>> from sulq.privacy.noise import DiscreteLaplace
    >>> literals = Literals(count=20, error=0.1, threshold=0.1 / 20)
    >>> noise = Blur(DiscreteLaplace(20), step=1.0)
    >>> [round(literals.failing(rows, noise), 3) for rows in (15_000, 20_000, 25_000)]
    [0.241, 0.069, 0.025]
    """

    count: int
    error: float
    threshold: float
    whole: bool = False

    def failing(self, rows: int, blur: Blur, beta: float | None = None) -> float:
        """The chance, at most, that the rule errs by more than `error`.

        With `beta` no more work is done than tells whether the chance is at most that.
        """
        return _failing(self, rows, blur, beta)

    def limit(self, rows: int, blur: Blur) -> float:
        """Up to how many noisy violations a literal is kept."""
        at = rows * self.threshold
        return math.floor(at / blur.step) * blur.step if self.whole else at


@lru_cache(maxsize=4096)
def _failing(literals: Literals, rows: int, blur: Blur, beta: float | None) -> float:
    """`Literals.failing`; a plan and its picture, and plans that are alike, ask for the same again."""
    limit = literals.limit(rows, blur)
    dropped = float(blur.beyond(np.array([limit + blur.step if literals.whole else limit]))[0])
    half = literals.count // 2
    each = min(1.0, literals.error / literals.count)
    bad = Case(((0.0, 1 - each), (1.0, each)), limit / rows, above=False)
    all_right = min(1.0, literals.count * max(dropped, wrong(rows, bad, blur)))
    # No bound here is below the chance that the target loses a literal.
    if literals.count * dropped >= (1.0 if beta is None else beta) or (
        beta is not None and all_right <= beta
    ):
        return all_right
    cells = _cells(rows, literals, blur)
    steepness = _steepness(_Cells([*cells[::4], cells[-1]]), literals.count, literals.error)
    together = _Cells(cells)
    few = half * dropped + _costly(together, steepness, literals.count, literals.error)
    many = literals.count * dropped + _costly(together, steepness, literals.count - half, literals.error)
    return min(all_right, max(few, many))


@dataclass(frozen=True)
class _Cell:
    """Literals of almost one rate: numbers of violations, how likely they are, and how likely they are kept.

    Args:
        most: the largest rate.
        log_masses: ln of how likely each number of violations is at the smallest rate; from above.
        chances: how likely a literal with so many is kept.
    """

    most: float
    log_masses: Floats
    chances: Floats


class _Cells:
    """Cells one after the other, so that all of them are bounded at once.

    Args:
        cells: at least one.
    """

    def __init__(self, cells: Sequence[_Cell]) -> None:
        sizes = [cell.chances.size for cell in cells]
        chances = np.concatenate([cell.chances for cell in cells])
        self._starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        self._rates = np.repeat([cell.most for cell in cells], sizes)
        self._log_masses = np.concatenate([cell.log_masses for cell in cells])
        with np.errstate(divide="ignore"):
            self._dropped, self._kept = np.log1p(-chances), np.log(chances)

    def log_power(self, s: float, literals: int) -> float:
        """ln of the largest E[(1 + κ(b)·(e^(s·v) − 1))^m] of a cell, at most."""
        factors = np.logaddexp(self._dropped, self._kept + s * self._rates)
        terms = literals * factors + self._log_masses
        # Of all cells the largest term is taken out: a cell that vanishes beside it is not meant.
        largest = float(terms.max())
        return largest + math.log(float(np.add.reduceat(np.exp(terms - largest), self._starts).max()))


def _costly(cells: _Cells, s: float, literals: int, error: float) -> float:
    """B: the chance, at most, that of so many bad literals some are kept that cost more than the error."""
    return math.exp(min(0.0, cells.log_power(s, literals) - s * error))


def _steepness(cells: _Cells, literals: int, error: float) -> float:
    """A good s, looked for on these cells: every s gives a bound."""

    def exponent(s: float) -> float:
        return cells.log_power(s, literals) - s * error

    low, high = 0.0, 4 * literals / error
    for _ in range(SEARCHED):
        left, right = (2 * low + high) / 3, (low + 2 * high) / 3
        low, high = (low, right) if exponent(left) <= exponent(right) else (left, high)
    return (low + high) / 2


def _cells(rows: int, literals: Literals, blur: Blur) -> list[_Cell]:
    """Cells of rates from 0 to 1, narrow about the rate at which all literals together cost the error."""
    each = literals.error / literals.count
    few, many = np.linspace(0.82, 2, 60), np.geomspace(2.05, FAR, 40)
    near = each * np.concatenate([np.linspace(0, 0.8, 9), few, many])
    rates = np.unique(np.minimum(1.0, near)).tolist()
    threshold = literals.limit(rows, blur)

    def kept(violations: Floats) -> Floats:
        # Violations and noise stay at or below the threshold; the noise is symmetric.
        return np.clip(blur.beyond(violations - threshold), 0.0, 1.0)

    cells = [_Cell(rates[1], np.zeros(1), kept(np.zeros(1)))]
    for least, most in pairwise(rates[1:]):
        numbers, log_masses = _violations(rows, least)
        cells.append(_Cell(most, log_masses, kept(numbers)))
    while rates[-1] < 1:
        least = rates[-1]
        rates.append(min(1.0, 1.2 * least))
        fewer, log_masses = _rare(rows * least, rows * least)
        cells.append(_Cell(rates[-1], np.append(log_masses[:-1], 0.0), kept(fewer)))
    return cells


def _violations(rows: int, rate: float) -> tuple[Floats, Floats]:
    """Numbers of violations, and ln of how likely each is, from above; each stands for those up to the next.

    Fewer violations are kept more often, so that is a bound.
    """
    mean = rows * rate
    reach = SPREAD * math.sqrt(mean) + 60
    low, high = max(0, math.floor(mean - reach)), min(rows, math.ceil(mean + reach))
    bins = binomial_bins(rows, rate, low, high, BINS)
    with np.errstate(divide="ignore"):
        log_masses = np.log(bins.masses)
    if high < rows:
        log_masses[-1] = np.logaddexp(log_masses[-1], _chernoff(mean, high))
    fewer, few_masses = _rare(mean, low)
    return np.concatenate([fewer, bins.first]), np.concatenate([few_masses, log_masses])


def _rare(mean: float, below: float) -> tuple[Floats, Floats]:
    """The same for numbers below some number. They are rare, but are kept: so bins are many."""
    ends = below * np.arange(RARE + 1) / RARE
    log_masses = [_chernoff(mean, most) if most > 0 else -math.inf for most in ends[1:].tolist()]
    return ends[:-1], np.array(log_masses)


def _chernoff(mean: float, number: float) -> float:
    """ln of the chance, at most, of a number as far from the mean as this, on its side of it."""
    return number - mean - number * math.log(number / mean)

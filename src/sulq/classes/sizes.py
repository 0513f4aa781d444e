"""How many rows suffice: the papers' numbers with their slips mended, and the smallest that we can prove.

**Selection.** Let h* be a best hypothesis and h one that errs on more than α rows beyond it. Both mechanisms
choose h with probability at most min(1, exp(−γ·D)), where D is how many more of the n rows it gets wrong than
h* does, and γ = ε/2 (ε if rows only come or go). For every λ between 0 and γ that is at most exp(−λD), and D
is a sum of independent terms between −1 and 1 with a mean above α. On [−1, 1] the convex e^(−λx) lies below
its chord cosh λ − x·sinh λ, so

    Pr[h is chosen] ≤ (cosh λ − α·sinh λ)^n,

least at λ = min(γ, artanh α). If h* makes no mistakes at all, D is a number of mistakes, each with a
probability above α, and Pr[h is chosen] ≤ (1 − α(1 − e^−γ))^n. A union bound over the others gives n. There
are no constants to lose: for large ε the first is the usual bound without privacy.

**Parity.** A row rules a wrong parity out if it is in S and the parity errs on it. So one that errs with
probability above α is still among the solutions with probability at most (1 − pα)^n, and any of at most 2^d
is with at most 2^d·(1 − pα)^n. No bound on the size of S is needed. And if it is among the solutions, it is
said with probability at most 1/2, because the true parity is among them too: so a wrong one is said with
probability at most φ/2 = 2^(d−1)·(1 − pα)^n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from sulq.errors import QueryError
from sulq.numbers import rational, whole
from sulq.privacy.parity import Sampling, joint_log_ratio
from sulq.queries.query import Neighbours

Amplification = Literal["repeat", "test set", "boxed"]
MOST_RUNS = 64
BISECTIONS = 60
MARGINS = tuple(2.0**-8 * 1.2**k for k in range(50))
"""By how much the mean number of attempts exceeds ln 1/β, where the fewest rows are looked for."""
LEAST_ERROR, LEAST = 1e-12, 1e-100
"""Below, no table has the rows, and numbers leave the range of floats."""


def sampling_rate(epsilon: float, sampling: Sampling = "tight", neighbours: Neighbours = "replace") -> float:
    """The probability p with which the parity learner takes a row, for a given ε.

    >>> sampling_rate(0.5), round(sampling_rate(0.5, "paper"), 4)
    (0.24491866240370913, 0.125)
    """
    if sampling == "paper":
        return min(1.0, epsilon / 4)
    return math.tanh(epsilon / 2) if neighbours == "replace" else -math.expm1(-epsilon)


def bottom_rate(epsilon: float, sampling: Sampling = "tight", neighbours: Neighbours = "replace") -> float:
    """The probability q with which a run of A says ⊥ whatever the rows are: see `sulq.privacy.parity`.

    >>> round(bottom_rate(0.5), 4), bottom_rate(0.5, "paper")
    (0.2741, 0.5)
    """
    if sampling == "paper":
        return 0.5
    return math.exp(-epsilon) / (1 + (2 if neighbours == "replace" else 1) * math.exp(-epsilon))


def joint_rate(epsilon: float, mean: float, neighbours: Neighbours = "replace") -> float:
    """The probability p with which each of Poisson(`mean`) attempts takes a row: see `sulq.privacy.parity`.

    >>> round(joint_rate(0.5, 2.0), 4), round(joint_rate(0.5, 2.0, "add-remove"), 4)
    (0.1828, 0.25)
    """
    low, high = 0.0, min(1.0, epsilon / mean)
    if high < 1 and joint_log_ratio(high, mean, neighbours) <= epsilon:
        return high
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        holds = middle < 1 and joint_log_ratio(middle, mean, neighbours) <= epsilon
        low, high = (middle, high) if holds else (low, middle)
    return low


@dataclass(frozen=True)
class ParityPlan:
    """How the parity learner keeps its promise.

    Args:
        rows: so many rows are enough.
        runs: how many runs of A there are; how many attempts on average, where they are accounted jointly.
        tested: so many rows are left to test on.
        each: how many rows a run has where that is settled.
    """

    rows: int
    runs: int | Fraction
    tested: int = 0
    each: int | None = None


@lru_cache(maxsize=256)
def parity_plan(
    features: int,
    error: float,
    beta: float,
    epsilon: float,
    sampling: Sampling = "tight",
    amplification: Amplification = "repeat",
    neighbours: Neighbours = "replace",
) -> ParityPlan:
    """The fewest rows with which A* errs by more than `error` with a chance of at most `beta`.

    "repeat": Poisson(L) attempts on all rows, accounted jointly, and the first parity decides. None is made
    with probability e^-L; the first is wrong with probability at most φ/2. Together e^-L + (1 − e^-L)·φ/2,
    which must be at most β; L is chosen for the fewest rows.

    "test set": k runs with ε on disjoint parts, each good (error at most α/5) with probability (1 − q)(1 −
    φ/2), where q is the chance of ⊥, and one of what they say chosen on s other rows. With α′ = α/5 and β′ =
    β/3, a good one has at most 2α′s mistakes there and a bad one at least 4α′s if s ≥ (10/α′)·ln(k/β′), and
    the choice tells them apart if s ≥ ln(k/β′)/(α′ε). None is good with probability β′; k is chosen.

    "boxed", and "repeat" with sampling="paper": `boxed_parity_plan` and `repeated_parity_plan`.

    >>> parity_plan(64, 0.05, 0.05, 0.5).rows, parity_plan(64, 0.05, 0.05, 0.5, "paper").rows
    (6021, 92257)
    >>> parity_plan(64, 0.05, 0.05, 0.5, amplification="test set").rows
    80209
    """
    _check(error, beta, epsilon)
    whole("features", features, 1)
    if amplification == "boxed":
        return boxed_parity_plan(features, error, beta, epsilon)
    if amplification == "repeat" and sampling == "paper":
        return repeated_parity_plan(features, error, beta, epsilon)
    plans = []
    if amplification == "test set":
        rate, good, rare = sampling_rate(epsilon, sampling, neighbours), error / 5, beta / 3
        bottom = bottom_rate(epsilon, sampling, neighbours)
        for runs in range(1, MOST_RUNS):
            wrong = 1 - -math.expm1(math.log(rare) / runs) / (1 - bottom)
            if wrong > 0:
                tested = math.ceil(max(10 / good, 1 / (good * epsilon)) * math.log(runs / rare))
                plans.append(ParityPlan(runs * _solving(features, wrong, rate * good) + tested, runs, tested))
    else:
        for margin in MARGINS:
            mean = math.ceil((margin - math.log(beta)) * 2**20) / 2**20
            never = math.exp(-mean)
            rate = joint_rate(epsilon, mean, neighbours)
            rows = _solving(features, (beta - never) / (1 - never), rate * error)
            plans.append(ParityPlan(rows, Fraction(mean)))
    if not plans:
        raise QueryError(f"a chance of {beta:g} takes more than {MOST_RUNS} runs: use amplification='repeat'")
    return min(plans, key=lambda plan: plan.rows)


def _solving(features: int, wrong: float, ruled_out: float) -> int:
    """How many rows until a wrong parity is said with this chance; a row rules one out with that chance."""
    return math.ceil(((features - 1) * math.log(2) - math.log(wrong)) / -math.log1p(-ruled_out))


def repeated_parity_plan(features: int, error: float, beta: float, epsilon: float) -> ParityPlan:
    """The box of A* in the earlier version: k runs with ε/k each on all rows, for p = ε/4k.

    β′ = β/2, k = ⌈log₂ 1/β′⌉, and 8k/εα·(d ln 2 + ln 1/β′) rows, by Theorem 3.8.

    >>> repeated_parity_plan(64, 0.05, 0.05, 0.5)
    ParityPlan(rows=92257, runs=6, tested=0, each=None)
    """
    runs = math.ceil(math.log2(2 / beta))
    rows = 8 * runs / (epsilon * error) * (features * math.log(2) + math.log(2 / beta))
    return ParityPlan(math.ceil(rows), runs)


def boxed_parity_plan(features: int, error: float, beta: float, epsilon: float) -> ParityPlan:
    """The box of A* in the full version: k runs on n′ rows each, and s rows to test on, for p = ε/4.

    α′ = α/5, k = ⌈log_{4/3} 1/β′⌉ (printed to the base 3/4), n′ = ⌈8/εα′·(d ln 2 + ln 4)⌉ by Lemma 4.1, and
    s = ⌈max{10, k/ε}/α′·ln(k/β′)⌉: the constants c and c′ that the Chernoff bound (with δ = 1/5) and noise of
    scale k/ε ask for. The box has β′ = β/2; its proof needs β/3, which is taken. With n ≤ kn′ + s rows the
    box says "insufficient samples".

    >>> boxed_parity_plan(64, 0.05, 0.05, 0.5)
    ParityPlan(rows=1118364, runs=15, tested=20408, each=73197)
    """
    good, rare = error / 5, beta / 3
    runs = math.ceil(math.log(1 / rare) / math.log(4 / 3))
    each = math.ceil(8 / (epsilon * good) * (features * math.log(2) + math.log(4)))
    tested = math.ceil(max(10, runs / epsilon) / good * math.log(runs / rare))
    return ParityPlan(runs * each + tested + 1, runs, tested, each)


def parity_rows(
    features: int,
    error: float,
    beta: float,
    epsilon: float,
    sampling: Sampling = "tight",
    amplification: Amplification = "repeat",
    neighbours: Neighbours = "replace",
) -> int:
    """How many rows the parity learner needs: see `parity_plan`.

    >>> parity_rows(64, 0.05, 0.05, 0.5), parity_rows(64, 0.05, 0.05, 0.5, "paper")
    (6021, 92257)
    """
    return parity_plan(features, error, beta, epsilon, sampling, amplification, neighbours).rows


def printed_parity_rows(
    features: int, error: float, beta: float, epsilon: float, amplification: Amplification = "repeat"
) -> int:
    """The papers' own number of rows, for p = ε/4: `repeated_parity_plan` or `boxed_parity_plan`.

    >>> printed_parity_rows(64, 0.05, 0.05, 0.5), printed_parity_rows(64, 0.05, 0.05, 0.5, "test set")
    (92257, 1118363)
    """
    _check(error, beta, epsilon)
    if amplification == "repeat":
        return repeated_parity_plan(features, error, beta, epsilon).rows
    return boxed_parity_plan(features, error, beta, epsilon).rows - 1


def occam_rows(
    size: int,
    error: float,
    beta: float,
    epsilon: float,
    agnostic: bool = True,
    neighbours: Neighbours = "replace",
) -> int:
    """How many rows the generic learner needs to choose among `size` hypotheses.

    With that many it errs by at most `error` more than the best of them does, but for a chance of `beta`;
    with `agnostic=False` some hypothesis is known to make no mistakes.

    >>> occam_rows(1000, 0.05, 0.05, 0.5), occam_rows(1000, 0.05, 0.05, 0.5, agnostic=False)
    (7913, 891)
    """
    _check(error, beta, epsilon)
    whole("size", size, 1)
    if size == 1:
        return 0
    gamma = epsilon / 2 if neighbours == "replace" else epsilon
    others = math.log(size - 1) - math.log(beta)
    if agnostic:
        rate = min(gamma, math.atanh(error))
        # 1 − cosh λ + α·sinh λ, written so that nothing cancels.
        decline = error * math.sinh(rate) - 2 * math.sinh(rate / 2) ** 2
    else:
        decline = -error * math.expm1(-gamma)
    return max(0, math.ceil(others / -math.log1p(-decline)))


def printed_occam_rows(size: int, error: float, beta: float, epsilon: float, agnostic: bool = True) -> int:
    """The paper's number of rows, with ln(3/β) where Theorem 3.4 prints ln(1/β).

    6·(ln|H| + ln 3/β)·max{1/εα, 1/α²}. Its remark on the case without mistakes has no constants; the same
    proof with a multiplicative Chernoff bound gives (ln|H| + ln 2/β)·max{4/εα, 8/α}.

    >>> printed_occam_rows(1000, 0.05, 0.05, 0.5), printed_occam_rows(1000, 0.05, 0.05, 0.5, agnostic=False)
    (26406, 1696)
    """
    _check(error, beta, epsilon)
    if agnostic:
        largest = max(1 / (epsilon * error), 1 / error**2)
        return math.ceil(6 * (math.log(size) + math.log(3 / beta)) * largest)
    return math.ceil((math.log(size) + math.log(2 / beta)) * max(4 / (epsilon * error), 8 / error))


def most_labelings(dimension: int, domain: int) -> int:
    """How many ways a class of this VC dimension can label a finite domain, at most: Sauer's lemma.

    >>> most_labelings(2, 100)
    5051
    """
    return sum(math.comb(domain, points) for points in range(dimension + 1))


def vc_rows(
    dimension: int,
    domain: int,
    error: float,
    beta: float,
    epsilon: float,
    agnostic: bool = True,
    neighbours: Neighbours = "replace",
) -> int:
    """How many rows suffice for a class of finite VC dimension over a finite domain: Corollary 3.6.

    >>> vc_rows(2, 100, 0.05, 0.05, 0.5)
    9207
    """
    return occam_rows(most_labelings(dimension, domain), error, beta, epsilon, agnostic, neighbours)


def _check(error: float, beta: float, epsilon: float) -> None:
    least = {"error": LEAST_ERROR, "beta": LEAST, "epsilon": LEAST}
    given = {"error": rational("error", error, below=1), "beta": rational("beta", beta, below=1)}
    given["epsilon"] = rational("epsilon", epsilon)
    for name, value in given.items():
        if value < least[name]:
            raise QueryError(f"{name} must be at least {least[name]:g} here, got {float(value):g}")

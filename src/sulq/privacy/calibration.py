"""How much noise for how much budget.

A round releases sums (vectors of them) and settles contests (choices). A calibration turns the part of
the budget a round may cost, or the tolerances its queries state, into one law of noise for each of the sums
and one mechanism for each contest. It rounds against itself: noise up, costs up.

Errors are compared in a unit that does not depend on how a column is measured: one row's largest
contribution. All sums get the same error in that unit, or as much smaller as their weight says. With
noise of scale sⱼ = t·sizeⱼ/weightⱼ the cost of a round is Σⱼ Δ₁ⱼ/sⱼ in ε (Laplace) or Σⱼ Δ₂ⱼ²/2sⱼ² in ρ
(Gaussian), so that t follows from the cost, and no smaller cost has these errors.

Sums over the rows that satisfy one condition are accounted jointly. If a row is exchanged for another, either
both satisfy the condition, and every sum moves by at most the difference between two values, or one does, and
every sum moves by at most one value. It is one of the two for all these sums at once. So their part of the
cost is the larger of two sums, and not the sum of the larger: of a mean over some rows, of a value between −1
and 1, total and count move by max(2 + 0, 1 + 1) = 2 together and not by 2 + 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

from sulq.errors import QueryError
from sulq.privacy.budget import ZCDP, ApproxDP, Budget, PureDP
from sulq.privacy.composition import BudgetUnit
from sulq.privacy.finer import FinerGaussian
from sulq.privacy.noise import DiscreteGaussian
from sulq.privacy.prices import Prices
from sulq.privacy.ranges import LOWEST
from sulq.privacy.rounding import USUAL, cost_up, down, root_down, up
from sulq.privacy.selection import ExponentialMechanism, PermuteAndFlip
from sulq.privacy.terms import Contest, Pure, Settled, SumFacts, Terms, jointly
from sulq.privacy.tolerances import widest_within
from sulq.privacy.vector_noise import epsilon_of, in_vectors, noise_of


class Calibration(Protocol):
    """A budget together with the noise that spends it."""

    @property
    def unit(self) -> str: ...
    @property
    def total(self) -> Fraction: ...
    @property
    def form(self) -> dict[str, Any]: ...
    def describe(self) -> str: ...
    def for_cost(
        self, sums: Sequence[SumFacts], contests: Sequence[Contest], cost: Fraction | None
    ) -> Terms: ...
    def for_tolerances(self, sums: Sequence[SumFacts]) -> Terms: ...


@dataclass(frozen=True)
class Laplace:
    """Pure ε: discrete Laplace noise, or spherical noise for vectors, and permute-and-flip.

    >>> one = Fraction(1)
    >>> count = SumFacts(one, 1, moves1=one, moves2=one, size=one, reach=one, weight=one)
    >>> Laplace(PureDP(1)).for_cost([count, count], [], Fraction(1, 10)).noises[0]
    DiscreteLaplace(scale=Fraction(20, 1))
    """

    budget: PureDP

    def __post_init__(self) -> None:
        _check_unit(self.budget, "epsilon")

    @property
    def unit(self) -> BudgetUnit:
        return self.budget.unit

    @property
    def total(self) -> Fraction:
        return self.budget.total

    @property
    def form(self) -> dict[str, Any]:
        """The calibration as plain data; `sulq.privacy.reading.calibration_of` reads it back."""
        return {"is": "laplace", "budget": self.budget.form}

    def describe(self) -> str:
        return self.budget.describe()

    def for_cost(self, sums: Sequence[SumFacts], contests: Sequence[Contest], cost: Fraction | None) -> Terms:
        sums = [in_vectors(facts) for facts in sums]
        loads = [jointly(sums, 1, lambda facts: facts.weight / _size(facts))]
        loads += [_swing(contest) * contest.weight / contest.size for contest in contests]
        if sum(loads) == 0:
            return Terms(Fraction(0), (None,) * len(sums), (None,) * len(contests))
        cost = _stated(cost)
        t = sum(loads) / cost
        noises = tuple(
            noise_of(facts.block, up(t * _size(facts) / facts.weight / facts.step)) if facts.moves1 else None
            for facts in sums
        )
        selections = tuple(
            _settled(contest, down(_swing(contest) * contest.weight / contest.size / t), PermuteAndFlip)
            for contest in contests
        )
        return Terms(cost, noises, selections)

    def for_tolerances(self, sums: Sequence[SumFacts]) -> Terms:
        sums = [_cheapest(facts) for facts in sums]
        noises = tuple(widest_within(facts, noise_of) if facts.moves1 else None for facts in sums)
        scales = {id(facts): noise for facts, noise in zip(sums, noises, strict=True)}

        def epsilon(facts: SumFacts) -> Fraction:
            noise = scales[id(facts)]
            return Fraction(0) if noise is None else epsilon_of(noise, 1 / facts.step)

        return Terms(cost_up(jointly(sums, 1, epsilon)), noises)


@dataclass(frozen=True)
class Gaussian:
    """ρ-zCDP, or the (ε, δ) it implies: discrete Gaussian noise and the exponential mechanism.

    A round is divided as if the exponential mechanism of parameter ε cost ε²/8: with ε = 2Δ/s that is Δ²/2s²,
    as for a sum. What is only known to be ε-differentially private counts as ε²/2: four times that. Both cost
    a little less, so that each gets a larger ε for its part. What is charged for what, `Prices` says.

    Args:
        budget: the budget.
        printed: leave it at ε²/8 and ε²/2, as earlier versions did. What they stored is read with that.
        finer: add noise on finer grids where that is narrower, as earlier versions did not.
    """

    budget: ZCDP | ApproxDP
    printed: bool = False
    finer: bool = True

    def __post_init__(self) -> None:
        _check_unit(self.budget, "rho")

    @property
    def unit(self) -> BudgetUnit:
        return self.budget.unit

    @property
    def total(self) -> Fraction:
        return self.budget.total

    @property
    def form(self) -> dict[str, Any]:
        """The calibration as plain data; `sulq.privacy.reading.calibration_of` reads it back."""
        return {"is": "gaussian", "budget": self.budget.form}

    def describe(self) -> str:
        return self.budget.describe()

    def for_cost(self, sums: Sequence[SumFacts], contests: Sequence[Contest], cost: Fraction | None) -> Terms:
        loads = [jointly(sums, 2, lambda facts: (facts.weight / _size(facts)) ** 2)]
        prices = self.budget.prices
        loads += [
            prices.choice * (Fraction(_span(contest), _cheaper(contest)) * contest.weight / contest.size) ** 2
            for contest in contests
        ]
        if sum(loads) == 0:
            return Terms(Fraction(0), (None,) * len(sums), (None,) * len(contests))
        cost = _stated(cost)
        t_squared = sum(loads) / (2 * cost)
        noises = tuple(
            self._noise(t_squared * (_size(facts) / facts.weight / facts.step) ** 2) if facts.moves2 else None
            for facts in sums
        )
        selections = tuple(
            _settled(contest, self._epsilon(contest, t_squared), ExponentialMechanism) for contest in contests
        )
        return Terms(cost, noises, selections)

    def for_tolerances(self, sums: Sequence[SumFacts]) -> Terms:
        noises = tuple(widest_within(facts, _gaussian) if facts.moves2 else None for facts in sums)
        scales = {id(facts): noise for facts, noise in zip(sums, noises, strict=True)}

        def rho(facts: SumFacts) -> Fraction:
            noise = scales[id(facts)]
            if noise is None:
                return Fraction(0)
            continuous = self.budget.prices.continuous(noise.variance)
            if continuous <= 0:
                raise QueryError(
                    "this tolerance is too small for exact Gaussian accounting: use calibration='tight'"
                )
            return 1 / facts.step**2 / (2 * continuous)

        return Terms(cost_up(jointly(sums, 2, rho)), noises)

    def _noise(self, continuous: Fraction) -> DiscreteGaussian | FinerGaussian:
        """The narrowest noise that costs no more than continuous noise of this variance."""
        return _narrowest(self.budget.prices, continuous, self.finer)

    def _epsilon(self, contest: Contest, t_squared: Fraction) -> Fraction:
        """The ε of a contest's mechanism, as large as the contest's part of the cost allows."""
        if contest.moves == 0:
            return Fraction(0)
        quadratic = root_down((_span(contest) * contest.weight / contest.size) ** 2 / t_squared)
        if self.printed:
            return down(quadratic)
        return down(self.budget.prices.epsilon(quadratic, exponential=_cheaper(contest) == 2))


@lru_cache(maxsize=1024)
def _narrowest(prices: Prices, continuous: Fraction, finer: bool) -> DiscreteGaussian | FinerGaussian:
    """The narrowest noise that costs no more than continuous noise of a variance, on which grid that is."""
    bits = prices.bits(continuous) if finer else 0
    whole, fine = (
        DiscreteGaussian(max(LOWEST**2, up(prices.variance(continuous * 4**each)))) for each in (0, bits)
    )
    noise = FinerGaussian(fine, bits)
    return noise if bits and noise.std <= whole.std else whole


def _check_unit(budget: Budget, unit: BudgetUnit) -> None:
    """What is promised in words and what may be spent are one thing, so that neither misstates the other."""
    if budget.unit != unit:
        raise QueryError(f"{budget.describe()} is spent in {budget.unit}, and this calibration spends {unit}")


def _gaussian(_: int, variance: Fraction) -> DiscreteGaussian:
    return DiscreteGaussian(variance)


def _cheapest(facts: SumFacts) -> SumFacts:
    """A sum by numbers or by vectors, whichever costs less within its tolerance: numbers if β is large."""

    def epsilon(one: SumFacts) -> Fraction:
        return epsilon_of(widest_within(one, noise_of), one.moves1 / one.step)

    other = in_vectors(facts)
    return facts if other is facts else min(facts, other, key=epsilon)


def _stated(cost: Fraction | None) -> Fraction:
    """What a round may cost, or a refusal. A part of an unusual denominator is rounded down, before there is
    noise for it: charges of every denominator would add up to fractions of ever more digits.
    """
    if cost is not None and USUAL % cost.denominator:
        cost = Fraction(math.floor(cost * USUAL), USUAL)
    if cost is not None and cost <= 0:
        raise QueryError("a round costs more than nothing: give it a larger share")
    if cost is None:
        raise QueryError(
            "how much may this round cost? Give it a share of the budget, Round(..., share=0.1), or its "
            "queries a tolerance and beta"
        )
    return cost


def _swing(contest: Contest) -> int:
    """How far a candidate's lead can move: scores may go opposite ways, unless all go the same way."""
    return contest.moves if contest.monotone or contest.way == "pure" else 2 * contest.moves


def _span(contest: Contest) -> int:
    """The same under ρ, where the exponential mechanism has no use for scores that go the same way."""
    return 2 * contest.moves if contest.way in ("usual", "exponential") else _swing(contest)


def _cheaper(contest: Contest) -> int:
    """By how much the root of a contest's ρ is below that of any mechanism with its ε."""
    return 2 if contest.way in ("usual", "exponential") else 1


def _settled(
    contest: Contest, epsilon: Fraction, usual: type[PermuteAndFlip | ExponentialMechanism]
) -> Settled | None:
    if contest.moves == 0:
        return None
    if contest.way == "pure":
        return Pure(epsilon)
    if contest.way != "usual":
        usual = PermuteAndFlip if contest.way == "permute-and-flip" else ExponentialMechanism
    return usual(epsilon, Fraction(contest.moves), contest.monotone)


def _size(facts: SumFacts) -> Fraction:
    return facts.size or Fraction(1)

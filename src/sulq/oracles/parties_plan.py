"""How many buckets are best for a budget, and how far off estimates from sketches are then."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from sulq.numbers import several
from sulq.oracles.sketches import FEWEST_BUCKETS
from sulq.queries.buckets import MOST_BUCKETS
from sulq.queries.facts import Number

MOST_NUMBERS = 2**20
"""The most numbers that a party is asked for in one round: a service answers twice as many by default."""
MOST_A_PERSON = 16
"""With so many buckets for each person two factors lose little by people who meet, even without noise."""


@dataclass(frozen=True)
class Factor:
    """What is known of a factor before it is sketched.

    Args:
        typical: about the root of the mean square of a coordinate, over people.
        largest: how far from 0 a coordinate can be.
        noise: one standard deviation of the noise in a number of its sketch.
        width: how many coordinates it has.
        buckets: how many buckets its sketch has; None where there is none yet.
    """

    typical: float
    largest: float
    noise: float
    width: int
    buckets: int | None = None

    @classmethod
    def of(cls, facts: Number, noise: float, buckets: int | None = None) -> Factor:
        """What the public facts of an expression say: its values are taken to be even over their intervals.

        Args:
            facts: the facts.
            noise: one standard deviation of the noise.
            buckets: how many buckets there are, if there is a sketch.
        """
        unit, low, high = float(facts.unit), facts.low.astype(np.float64), facts.high.astype(np.float64)
        even = float(np.mean((low**2 + low * high + high**2) / 3))
        typical = math.sqrt(min(even, facts.square / facts.width)) * unit
        return cls(typical, float(facts.magnitude) * unit, noise, facts.width, buckets)


@dataclass(frozen=True)
class SketchPlan:
    """How a round across parties would be answered: by how many buckets, and how well.

    Args:
        people: about how many people there are.
        buckets: how many buckets they are dealt into; 0 where nothing is estimated across parties.
        sketch_error: the part of one standard deviation that comes from dealing people into few buckets.
        noise_error: the part that comes from the noise of the parties.
        shares: the part of its budget that each party is asked for, by its name.

    >>> plan = SketchPlan(100_000, 4096, 1500.0, 2500.0, {"hospital": 0.5})
    >>> print(plan.describe())
    4,096 buckets for about 100,000 people.
    An estimate across parties is off by about ±2,900, one standard deviation: 1,500 as people share ...
    hospital is asked for 50 % of its budget.
    """

    people: int
    buckets: int
    sketch_error: float
    noise_error: float
    shares: Mapping[str, float]

    @property
    def deviation(self) -> float:
        """One standard deviation of an estimate across parties."""
        return math.hypot(self.sketch_error, self.noise_error)

    def describe(self) -> str:
        """The plan in words."""
        lines = ["Nothing is estimated across parties."]
        if self.buckets:
            off, shared, noisy = map(in_short, (self.deviation, self.sketch_error, self.noise_error))
            lines = [
                f"{several(self.buckets, 'bucket', 'buckets')} for about "
                f"{several(self.people, 'person', 'people')}.",
                f"An estimate across parties is off by about ±{off}, one standard deviation: "
                f"{shared} as people share buckets, {noisy} by noise.",
            ]
        lines += [f"{name} is asked for {share:.0%} of its budget." for name, share in self.shares.items()]
        return "\n".join(lines).replace("%", " %")


def best_buckets(products: Sequence[Sequence[Factor]], people: int, width: int = 1) -> int:
    """The number of buckets at which estimates vary least: a power of two.

    The numbers of buckets are compared by the product of the deviations of all estimates, so that none is
    given up for another. Of three factors, whose error by people who meet is much larger, there may be as
    many buckets as there can be.

    Args:
        products: the factors of each product.
        people: about how many people there are.
        width: the most numbers that a party publishes for each bucket.

    >>> factor = Factor(typical=1.0, largest=1.0, noise=5.0, width=1)
    >>> best_buckets([[factor, factor]], 100_000)
    4096
    """
    most = min(MOST_BUCKETS, MOST_NUMBERS // width)
    if all(len(factors) == 2 for factors in products):
        most = min(most, MOST_A_PERSON * people)
    every = [2**power for power in range(FEWEST_BUCKETS.bit_length() - 1, MOST_BUCKETS.bit_length())]
    sizes = [size for size in every if size == FEWEST_BUCKETS or size <= most]

    def off(buckets: int) -> float:
        return sum(math.log(deviation(each, people, buckets) or sys.float_info.min) for each in products)

    best: int = min(sizes, key=off)
    return best


def deviation(factors: Sequence[Factor], people: int, buckets: int, worst: bool = False) -> float:
    """About one standard deviation of an estimate.

    In each bucket every factor is the sum of its people and its noise. The variance of their product has a
    part for each choice of factors of which the noise is taken.

    Args:
        factors: what is multiplied.
        people: how many people there are.
        buckets: how many buckets they are dealt into, where there is no sketch yet.
        worst: take every person's value for as large as there can be.
    """
    shared = in_common(factors, buckets)
    sizes = [each.largest if worst else each.typical for each in factors]
    # Where buckets are joined, their noises add up.
    noises = [each.noise * math.sqrt((each.buckets or buckets) / shared) for each in factors]
    parts = []
    for noisy in product((False, True), repeat=len(factors)):
        taken = zip(noisy, noises, sizes, strict=True)
        moment = _met(noisy.count(False), any(noisy), people / shared, worst)
        parts.append(math.prod(noise if of_it else size for of_it, noise, size in taken) * math.sqrt(moment))
    return math.sqrt(shared) * math.hypot(*parts)


def _met(factors: int, noisy: bool, people: float, worst: bool) -> float:
    """The mean square, in a bucket, of what people of size 1 make of some factors: at most, for three.

    With noise these are central moments of a Poisson variable, a person's own products among them. Without
    noise a person's own product is what is asked. Two people meet in six ways, of which each pair has the
    sum: 36·n²/2/T. Three people, too: 36·n³/6/T².

    Args:
        factors: how many factors people make; noise makes the others.
        noisy: whether there are others.
        people: how many people are in a bucket, on average.
        worst: whether two factors may have all in common, which doubles their part.
    """
    if factors < 2:
        return people**factors
    if noisy:
        return people + 3 * people**2
    return (2 if worst else 1) * people**2 if factors == 2 else 18 * people**2 + 6 * people**3


def in_common(factors: Sequence[Factor], buckets: int) -> int:
    """The number of buckets that all sketches of some factors can be joined to.

    Args:
        factors: what is multiplied.
        buckets: how many there are where there is no sketch yet.
    """
    return min(factor.buckets or buckets for factor in factors)


def in_short(number: float) -> str:
    """A number to two digits.

    >>> in_short(1234.5), in_short(0.1234), in_short(1.234e13)
    ('1,200', '0.12', '1.2e+13')
    """
    digits = 0 if number < 1 else max(0, math.floor(math.log10(number)) - 1)
    return f"{round(number, -digits):,.0f}" if 10 <= number < 10**9 else f"{number:.2g}"

"""The laws of what is drawn: coins, noise, private choices, parities; enumerated, and compared with draws.

Laws are worked out here once more, from their definitions and not from sulq's formulas.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from sulq.audits.findings import AuditFinding, Check, Effort, all_of, exact
from sulq.audits.statistics import fit
from sulq.privacy.coins import Coin, geometric, outlives, reaches, shuffled, toss, uniform
from sulq.privacy.noise import DiscreteGaussian, DiscreteLaplace, Noise

SLACK = 1e-9
"""What floating point may add to a logarithm that is worked out here."""


def draws(effort: Effort) -> int:
    return 60_000 if effort == "quick" else 2_000_000


def tally(drawn: Iterable[Any], outcomes: Sequence[Any]) -> list[int]:
    """How often each outcome was drawn, and last, how often none of them was."""
    seen = Counter(drawn)
    counts = [seen.get(outcome, 0) for outcome in outcomes]
    return [*counts, sum(seen.values()) - sum(counts)]


def coins(effort: Effort) -> Iterator[AuditFinding]:
    """Biases to the last digit, and tosses."""
    wrong, tried = [], 0
    for heads, tails, exponent, bits in itertools.product(
        (1, 2), (0, 1), (Fraction(1, 100), Fraction(1), Fraction(7, 3)), (8, 64, 200)
    ):
        tried += 1
        bias = Coin(heads, tails, exponent).bias(bits)
        power = _power(exponent, 400)
        if bias != (heads << bits) // (tails + power):
            wrong.append(f"{heads}/({tails} + e^{exponent}) to {bits} bits is {bias}")
    yield all_of("biases of coins", "the chance of heads, to the last of 200 bits", wrong, tried)
    size = draws(effort)
    for coin in (Coin(1, 1, Fraction(1)), Coin(1, 0, Fraction(1, 50)), Coin(2, 1, Fraction(3))):
        chance = coin.heads / (coin.tails + math.exp(coin.exponent))
        heads = int(toss(coin, size).sum())
        yield fit(
            f"tosses of {coin.heads}/({coin.tails} + e^{coin.exponent})",
            [heads, size - heads],
            [chance, 1 - chance],
        )
    for scale in (Fraction(1, 2), Fraction(7, 2)):
        law = [(1 - math.exp(-1 / scale)) * math.exp(-k / scale) for k in range(12)]
        counts = tally(geometric(scale, size).tolist(), range(12))
        yield fit(f"geometric draws of scale {scale}", counts, [*law, 1 - sum(law)])
    marks = np.repeat(np.array([0, 1, 3], dtype=np.uint64), size // 3)
    reached = reaches(Fraction(3), marks).reshape(3, -1).sum(axis=1).tolist()
    for mark, hits in zip((0, 1, 3), reached, strict=True):
        chance = math.exp(-mark / 3)
        yield fit(f"G ≥ {mark} of scale 3", [hits, size // 3 - hits], [chance, 1 - chance])
    for below in (3, 5):
        yield fit(
            f"uniform draws below {below}",
            np.bincount(uniform(below, size), minlength=below).tolist(),
            [1 / below] * below,
        )
    orders = list(itertools.permutations(range(3)))
    yield fit(
        "random orders of 3",
        tally((tuple(shuffled(3).tolist()) for _ in range(size // 20)), orders),
        [1 / 6] * 6 + [0],
    )
    late = sum(outlives(0, 0, Fraction(1, 2)) for _ in range(size // 20))
    chance = (math.exp(-0.5) - math.exp(-1)) / (1 - math.exp(-1))
    yield fit("E > 1/2, given that E < 1", [late, size // 20 - late], [chance, 1 - chance])


def _power(exponent: Fraction, bits: int) -> Fraction:
    """e^exponent by its series, with nothing rounded, to some `bits` bits."""
    term, total, n = Fraction(1), Fraction(0), 0
    while term > Fraction(1, 2**bits):
        total, n = total + term, n + 1
        term = term * exponent / n
    return total


def noise(effort: Effort) -> Iterator[AuditFinding]:
    """The two laws of noise: what neighbours lose, tails, and draws."""
    laws: list[Noise] = [
        DiscreteLaplace(Fraction(1, 2)),
        DiscreteLaplace(Fraction(7, 2)),
        DiscreteLaplace(40),
    ]
    laws += [DiscreteGaussian(Fraction(1, 3)), DiscreteGaussian(9), DiscreteGaussian(1600)]
    for law in laws:
        name = (
            f"Laplace of scale {law.scale}"
            if isinstance(law, DiscreteLaplace)
            else f"Gaussian of variance {law.variance}"
        )
        reach = max(80, int((40 if isinstance(law, DiscreteLaplace) else 14) * law.std))
        weights = [weight_of(law, k) for k in range(-reach, reach + 1)]
        whole = math.fsum(weights)
        wrong = [
            f"Pr[{k}]"
            for k, weight in zip(range(-reach, reach + 1), weights, strict=True)
            if abs(law.pmf(k) - weight / whole) > 1e-9 * weight / whole + 1e-30
        ]
        yield all_of(f"{name}: its chances", "∝ exp(−|k|/s), or exp(−k²/2σ²)", wrong, len(weights))
        yield from _losses(name, law, reach)
        tails = [
            math.fsum(w for k, w in zip(range(-reach, reach + 1), weights, strict=True) if abs(k) > t) / whole
            for t in range(reach)
        ]
        low = [f"tail({t})" for t, tail in enumerate(tails) if law.tail(t) < tail * (1 - 1e-9) - 1e-30]
        low += [f"radius({beta})" for beta in (0.3, 0.05, 1e-3) if law.tail(law.radius(beta)) > beta]
        yield all_of(f"{name}: tails and radii", "not below what they are", low, reach + 3)
        middle = int(2 * law.std)
        cells = range(-middle, middle + 1)
        chances = [weights[k + reach] / whole for k in cells]
        counts = tally(law.sample(draws(effort)).tolist(), cells)
        yield fit(f"{name}: draws", counts, [*chances, max(0.0, 1 - math.fsum(chances))])


def weight_of(law: Noise, k: int) -> float:
    return (
        math.exp(-abs(k) / law.scale)
        if isinstance(law, DiscreteLaplace)
        else math.exp(-k * k / (2 * law.variance))
    )


def _losses(name: str, law: Noise, reach: int) -> Iterator[AuditFinding]:
    for moved in (1, 3):
        if isinstance(law, DiscreteLaplace):
            claim = float(law.epsilon(moved))
            loss = max(
                math.log(law.pmf(k) / law.pmf(k - moved))
                for k in range(-reach // 2, reach // 2)
                if law.pmf(k - moved) > 0
            )
            words = f"ε = {claim:.6g}", f"ε = {loss:.6g}"
        else:
            claim, loss = (
                float(law.rho(moved**2)),
                max(_renyi(law, moved, reach, order) / order for order in (1.5, 2, 4)),
            )
            words = f"ρ = {claim:.6g}", f"ρ = {loss:.6g}"
        yield exact(
            f"{name}, a sum moved by {moved}",
            *words,
            "any excess above 1e-9",
            loss <= claim * (1 + SLACK) + SLACK,
        )


def _renyi(law: Noise, moved: int, reach: int, order: float) -> float:
    pairs = [(law.pmf(k), law.pmf(k - moved)) for k in range(-reach, reach + 1)]
    logs = ((math.log(p), math.log(q)) for p, q in pairs if p > 0 and q > 0)
    powers = [math.exp(order * p + (1 - order) * q) for p, q in logs]
    return math.log(math.fsum(powers)) / (order - 1)


CHECKS = (
    Check(
        "coins",
        "Coins and what is tossed with them",
        "Biases are worked out again by a series of fractions, to 200 bits; draws are compared with their "
        "laws.",
        coins,
        ("Coin",),
    ),
    Check(
        "noise",
        "The two laws of noise",
        "Every chance is enumerated up to a tail of 1e-30; losses and Rényi divergences of neighbouring "
        "sums, tails, radii, and draws.",
        noise,
        ("DiscreteLaplace", "DiscreteGaussian"),
    ),
)

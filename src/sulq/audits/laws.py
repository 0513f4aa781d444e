"""The laws of what is drawn: coins, noise, private choices, parities; enumerated, and compared with draws.

Laws are worked out here once more, from their definitions and not from sulq's formulas.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from sulq.audits.black_box import power_of
from sulq.audits.findings import ALARM, Check, Effort, Finding, all_of, exact
from sulq.audits.statistics import fit, loss_at_least
from sulq.privacy import many_candidates
from sulq.privacy.coins import Coin, geometric, outlives, reaches, shuffled, toss, uniform
from sulq.privacy.gf2 import equations
from sulq.privacy.noise import DiscreteGaussian, DiscreteLaplace, Noise
from sulq.privacy.parity import ParityMechanism
from sulq.privacy.selection import ExponentialMechanism, PermuteAndFlip, Selection
from sulq.queries.query import Neighbours

SLACK = 1e-9
"""What floating point may add to a logarithm that is worked out here."""


def _draws(effort: Effort) -> int:
    return 60_000 if effort == "quick" else 2_000_000


def tally(drawn: Iterable[Any], outcomes: Sequence[Any]) -> list[int]:
    """How often each outcome was drawn, and last, how often none of them was."""
    seen = Counter(drawn)
    counts = [seen.get(outcome, 0) for outcome in outcomes]
    return [*counts, sum(seen.values()) - sum(counts)]


def coins(effort: Effort) -> Iterator[Finding]:
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
    size = _draws(effort)
    for coin in (Coin(1, 1, Fraction(1)), Coin(1, 0, Fraction(1, 50)), Coin(2, 1, Fraction(3))):
        chance = coin.heads / (coin.tails + math.exp(coin.exponent))
        heads = int(toss(coin, size).sum())
        yield fit(f"tosses of {coin.heads}/({coin.tails} + e^{coin.exponent})", [heads, size - heads], [chance, 1 - chance])
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
        yield fit(f"uniform draws below {below}", np.bincount(uniform(below, size), minlength=below).tolist(), [1 / below] * below)
    orders = list(itertools.permutations(range(3)))
    yield fit("random orders of 3", tally((tuple(shuffled(3).tolist()) for _ in range(size // 20)), orders), [1 / 6] * 6 + [0])
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


def noise(effort: Effort) -> Iterator[Finding]:
    """The two laws of noise: what neighbours lose, tails, and draws."""
    laws: list[Noise] = [DiscreteLaplace(Fraction(1, 2)), DiscreteLaplace(Fraction(7, 2)), DiscreteLaplace(40)]
    laws += [DiscreteGaussian(Fraction(1, 3)), DiscreteGaussian(9), DiscreteGaussian(1600)]
    for law in laws:
        name = f"Laplace of scale {law.scale}" if isinstance(law, DiscreteLaplace) else f"Gaussian of variance {law.variance}"
        reach = max(80, int((40 if isinstance(law, DiscreteLaplace) else 14) * law.std))
        weights = [_weight(law, k) for k in range(-reach, reach + 1)]
        whole = math.fsum(weights)
        wrong = [
            f"Pr[{k}]" for k, weight in zip(range(-reach, reach + 1), weights, strict=True)
            if abs(law.pmf(k) - weight / whole) > 1e-9 * weight / whole + 1e-30
        ]
        yield all_of(f"{name}: its chances", "∝ exp(−|k|/s), or exp(−k²/2σ²)", wrong, len(weights))
        yield from _losses(name, law, reach)
        tails = [math.fsum(w for k, w in zip(range(-reach, reach + 1), weights, strict=True) if abs(k) > t) / whole for t in range(reach)]
        low = [f"tail({t})" for t, tail in enumerate(tails) if law.tail(t) < tail * (1 - 1e-9) - 1e-30]
        low += [f"radius({beta})" for beta in (0.3, 0.05, 1e-3) if law.tail(law.radius(beta)) > beta]
        yield all_of(f"{name}: tails and radii", "not below what they are", low, reach + 3)
        middle = int(2 * law.std)
        cells = range(-middle, middle + 1)
        chances = [weights[k + reach] / whole for k in cells]
        counts = tally(law.sample(_draws(effort)).tolist(), cells)
        yield fit(f"{name}: draws", counts, [*chances, max(0.0, 1 - math.fsum(chances))])


def _weight(law: Noise, k: int) -> float:
    return math.exp(-abs(k) / law.scale) if isinstance(law, DiscreteLaplace) else math.exp(-k * k / (2 * law.variance))


def _losses(name: str, law: Noise, reach: int) -> Iterator[Finding]:
    for moved in (1, 3):
        if isinstance(law, DiscreteLaplace):
            claim = float(law.epsilon(moved))
            loss = max(math.log(law.pmf(k) / law.pmf(k - moved)) for k in range(-reach // 2, reach // 2) if law.pmf(k - moved) > 0)
            words = f"ε = {claim:.6g}", f"ε = {loss:.6g}"
        else:
            claim, loss = float(law.rho(moved**2)), max(_renyi(law, moved, reach, order) / order for order in (1.5, 2, 4))
            words = f"ρ = {claim:.6g}", f"ρ = {loss:.6g}"
        yield exact(f"{name}, a sum moved by {moved}", *words, "any excess above 1e-9", loss <= claim * (1 + SLACK) + SLACK)


def _renyi(law: Noise, moved: int, reach: int, order: float) -> float:
    pairs = [(law.pmf(k), law.pmf(k - moved)) for k in range(-reach, reach + 1)]
    logs = ((math.log(p), math.log(q)) for p, q in pairs if p > 0 and q > 0)
    powers = [math.exp(order * p + (1 - order) * q) for p, q in logs]
    return math.log(math.fsum(powers)) / (order - 1)


def selection(effort: Effort) -> Iterator[Finding]:
    """Choices: their laws on all small lists of scores and all neighbours, and what is chosen."""
    kinds: list[type[ExponentialMechanism] | type[PermuteAndFlip]] = [ExponentialMechanism, PermuteAndFlip]
    for kind, monotone in itertools.product(kinds, (False, True)):
        mechanism = kind(Fraction(1), 1, monotone)
        name = f"{kind.__name__}{', scores that move one way' if monotone else ''}"
        steps = (0, 1) if monotone else (-1, 0, 1)
        worst, worst_rho, wrong, tried = 0.0, 0.0, [], 0
        for scores in itertools.product(range(4), repeat=3):
            law = mechanism.probabilities(scores)
            tried += 1
            if max(abs(p - q) for p, q in zip(law, _by_definition(mechanism, scores), strict=True)) > 1e-12:
                wrong.append(f"scores {scores}")
            for moves in itertools.product(steps, repeat=3):
                other = mechanism.probabilities([score + move for score, move in zip(scores, moves, strict=True)])
                ratios = [math.log(p / q) for p, q in zip(law, other, strict=True)]
                worst = max(worst, *map(abs, ratios))
                second = math.log(math.fsum(p * p / q for p, q in zip(law, other, strict=True)))
                worst_rho = max(worst_rho, second / 2)
        yield all_of(f"{name}: its law", "that of the definition, coin by coin", wrong, tried)
        yield exact(f"{name}: 64 lists of scores and all neighbours", "ε = 1", f"ε = {worst:.6g}", "any excess above 1e-9", worst <= 1 + SLACK)
        yield exact(f"{name}: divergence of order 2", f"ρ = {float(mechanism.rho()):.6g}", f"ρ = {worst_rho:.6g}", "any excess above 1e-9", worst_rho <= mechanism.rho() + SLACK)
        size, scores = _draws(effort) // 20, [2, 0, 1, 2]
        for way, choose in (("", mechanism.choose), (", for many candidates", partial(many_candidates.choose, mechanism))):
            picked = np.bincount([choose(np.array(scores)) for _ in range(size)], minlength=4)
            yield fit(f"{name}: choices{way}", picked.tolist(), _by_definition(mechanism, scores))


def _by_definition(mechanism: Selection, scores: Sequence[int]) -> list[float]:
    """Weights exp(γ·score); or every order of the candidates, and every coin up to the first heads."""
    rate = float(mechanism.epsilon / mechanism.sensitivity) / (1 if mechanism.monotone else 2)
    biases = [math.exp(rate * (score - max(scores))) for score in scores]
    if isinstance(mechanism, ExponentialMechanism):
        return [bias / sum(biases) for bias in biases]
    chances = [0.0] * len(scores)
    orders = list(itertools.permutations(range(len(scores))))
    for order in orders:
        still = 1 / len(orders)
        for candidate in order:
            chances[candidate] += still * biases[candidate]
            still *= 1 - biases[candidate]
    return chances


def parity(effort: Effort) -> Iterator[Finding]:
    """The parity mechanism on all tables of two rows of one bit: every answer, every neighbour, from runs alone."""
    runs = 4000 if effort == "quick" else 60_000
    rows = [(x, y) for x in (0, 1) for y in (0, 1)]
    ways: list[tuple[Neighbours, list[int]]] = [("replace", [2]), ("add-remove", [1, 2])]
    for neighbours, sizes in ways:
        mechanism = ParityMechanism(Fraction(1), neighbours=neighbours)
        laws = {
            table: Counter(_said(mechanism, table) for _ in range(runs))
            for size in sizes
            for table in itertools.combinations_with_replacement(rows, size)
        }
        pairs = [(one, other) for one in laws for other in laws if _neighbours(one, other, neighbours)]
        alarm = ALARM / (2 * len(pairs) * 3)
        losses = {
            (said, one, other): loss_at_least(laws[one][said], laws[other][said], runs, 0.0, alarm)
            for one, other in pairs
            for said in ("⊥", "0", "1")
        }
        worst = max(losses, key=lambda each: losses[each])
        yield Finding(
            f"parity, {len(laws)} small tables and their neighbours ({neighbours})",
            f"ε = {float(mechanism.epsilon):g}",
            f"ε ≥ {max(0.0, losses[worst]):.3g} by the answer {worst[0]} for {worst[1]} and {worst[2]}",
            power_of(runs, 1.0, 0.0, 2 * alarm),
            losses[worst] <= mechanism.epsilon,
            1 - ALARM,
        )


def _said(mechanism: ParityMechanism, table: Sequence[tuple[int, int]]) -> str:
    columns = np.array(table, dtype=bool).reshape(-1, 2).T
    mask = mechanism.release(equations([columns[0]], columns[1]), 1)
    return "⊥" if mask is None else str(int(mask[0]))


def _neighbours(one: Sequence[Any], other: Sequence[Any], relation: Neighbours) -> bool:
    more, fewer = Counter(one) - Counter(other), Counter(other) - Counter(one)
    moved = more.total(), fewer.total()
    return moved == (1, 1) if relation == "replace" else moved in ((1, 0), (0, 1))


CHECKS = (
    Check("coins", "Coins and what is tossed with them", "Biases are worked out again by a series of fractions, to 200 bits; draws are compared with their laws.", coins, ("Coin",)),
    Check("noise", "The two laws of noise", "Every chance is enumerated up to a tail of 1e-30; losses and Rényi divergences of neighbouring sums, tails, radii, and draws.", noise, ("DiscreteLaplace", "DiscreteGaussian")),
    Check("selection", "Private choices", "The laws on all lists of three small scores and all neighbours, against every order and every coin; and choices.", selection, ("ExponentialMechanism", "PermuteAndFlip")),
    Check("parity", "The parity mechanism", "Runs on every table of one or two rows of one bit; every answer and every neighbour is tested.", parity, ("ParityMechanism",)),
)

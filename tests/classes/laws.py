"""What the tests of this folder share: exact laws on small tables, and tails of counts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence

Row = tuple[tuple[int, ...], int]
"""Some bits and a label."""
Law = dict[Hashable, float]

BOTTOM = "⊥"


def all_rows(bits: int) -> list[Row]:
    return [(x, y) for x in itertools.product((0, 1), repeat=bits) for y in (0, 1)]


def law_of_a(table: Sequence[Row], bits: int, p: float, q: float = 0.5) -> Law:
    """What A says of a table: by every subset S and every vector, with nothing of sulq in it."""
    law: Law = {BOTTOM: q}
    for chosen in itertools.product((0, 1), repeat=len(table)):
        chance = (1 - q) * math.prod(p if taken else 1 - p for taken in chosen)
        rows = [row for row, taken in zip(table, chosen, strict=True) if taken]
        solutions = [
            r
            for r in itertools.product((0, 1), repeat=bits)
            if all(sum(a * b for a, b in zip(x, r, strict=True)) % 2 == y for x, y in rows)
        ]
        for said in solutions or [BOTTOM]:
            law[said] = law.get(said, 0.0) + chance / max(1, len(solutions))
    return law


def law_of_attempts(table: Sequence[Row], bits: int, p: float, mean: float) -> Law:
    """What the first of Poisson(mean) attempts says: by their number, N by N, until nothing is left to add."""
    one = law_of_a(table, bits, p, 0.0)
    fails, weight = one[BOTTOM], math.exp(-mean)
    law: Law = dict.fromkeys(one, 0.0)
    for attempts in range(int(8 * mean) + 80):
        law[BOTTOM] += weight * fails**attempts
        tried = sum(fails**k for k in range(attempts))
        for said in one.keys() - {BOTTOM}:
            law[said] += weight * one[said] * tried
        weight *= mean / (attempts + 1)
    return law


def worst_ratio(one: Mapping[Hashable, float], other: Mapping[Hashable, float]) -> float:
    """How much likelier any outcome is on one of two tables."""
    worst = 1.0
    for outcome in one.keys() | other.keys():
        a, b = one.get(outcome, 0.0), other.get(outcome, 0.0)
        if a != b:
            worst = max(worst, math.inf if min(a, b) == 0 else max(a / b, b / a))
    return worst


def chance_of_at_least(count: int, trials: int, probability: float) -> float:
    """The probability of so many successes or more."""
    return math.fsum(
        math.comb(trials, k) * probability**k * (1 - probability) ** (trials - k)
        for k in range(count, trials + 1)
    )

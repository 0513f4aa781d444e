"""Private choices and parities: their laws on small scores and tables, enumerated, and what is chosen."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from sulq.audits.black_box import power_of
from sulq.audits.findings import ALARM, AuditFinding, Check, Effort, all_of, exact
from sulq.audits.laws import SLACK, draws
from sulq.audits.statistics import fit, loss_at_least
from sulq.privacy import many_candidates
from sulq.privacy.gf2 import equations
from sulq.privacy.parity import Attempts, ParityMechanism
from sulq.privacy.selection import ExponentialMechanism, PermuteAndFlip, Selection
from sulq.queries.query import Neighbours


def selection(effort: Effort) -> Iterator[AuditFinding]:
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
                other = mechanism.probabilities(
                    [score + move for score, move in zip(scores, moves, strict=True)]
                )
                ratios = [math.log(p / q) for p, q in zip(law, other, strict=True)]
                worst = max(worst, *map(abs, ratios))
                second = math.log(math.fsum(p * p / q for p, q in zip(law, other, strict=True)))
                worst_rho = max(worst_rho, second / 2)
        yield all_of(f"{name}: its law", "that of the definition, coin by coin", wrong, tried)
        yield exact(
            f"{name}: 64 lists of scores and all neighbours",
            "ε = 1",
            f"ε = {worst:.6g}",
            "any excess above 1e-9",
            worst <= 1 + SLACK,
        )
        yield exact(
            f"{name}: divergence of order 2",
            f"ρ = {float(mechanism.rho()):.6g}",
            f"ρ = {worst_rho:.6g}",
            "any excess above 1e-9",
            worst_rho <= mechanism.rho() + SLACK,
        )
        size, listed = draws(effort) // 20, [2, 0, 1, 2]
        for way, choose in (
            ("", mechanism.choose),
            (", for many candidates", partial(many_candidates.choose, mechanism)),
        ):
            picked = np.bincount([choose(np.array(listed)) for _ in range(size)], minlength=4)
            yield fit(f"{name}: choices{way}", picked.tolist(), _by_definition(mechanism, listed))


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


def parity(effort: Effort) -> Iterator[AuditFinding]:
    """The parity mechanism on all tables of two rows of one bit: every answer and neighbour, from runs."""
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
        yield AuditFinding(
            f"parity, {len(laws)} small tables and their neighbours ({neighbours})",
            f"ε = {float(mechanism.epsilon):g}",
            f"ε ≥ {max(0.0, losses[worst]):.3g} by the answer {worst[0]} for {worst[1]} and {worst[2]}",
            power_of(runs, 1.0, 0.0, 2 * alarm),
            losses[worst] <= mechanism.epsilon,
            1 - ALARM,
        )


Kinds = tuple[int, ...]
"""How many rows there are of each kind: a bit and a label, from (0, 0) to (1, 1)."""
ROWS = ((0, 0), (0, 1), (1, 0), (1, 1))


def attempts(effort: Effort) -> Iterator[AuditFinding]:
    """Several attempts that are charged jointly: their law on small tables of one bit, and on large ones."""
    most = 3 if effort == "quick" else 8
    small = [kinds for kinds in itertools.product(range(most + 1), repeat=4) if sum(kinds) <= most]
    # Where all rows but one agree, a parity gives more away than on any small table.
    large = [(0, 0, ones, many) for many in (30, 79, 80, 81) for ones in (0, 1)]
    ways: list[Neighbours] = ["replace", "add-remove"]
    for neighbours, epsilon, mean in itertools.product(
        ways, (Fraction(1, 2), Fraction(2)), (Fraction(3, 2), Fraction(6))
    ):
        mechanism = Attempts(epsilon, mean, neighbours)
        laws = {kinds: _law_of_attempts(kinds, float(mechanism.rate), float(mean)) for kinds in small + large}
        losses = [
            abs(math.log(p / q))
            for one, other in itertools.combinations(laws, 2)
            if _neighbours(_listed(one), _listed(other), neighbours)
            for p, q in zip(laws[one], laws[other], strict=True)
            if max(p, q) > 0
        ]
        yield exact(
            f"parity in {float(mean):g} attempts on average ({neighbours}), {len(laws)} tables",
            f"ε = {float(epsilon):g}",
            f"ε = {max(losses):.6g}",
            "any excess above 1e-9",
            max(losses) <= epsilon + SLACK,
        )
        table, runs = (0, 1, 1, 1), draws(effort) // 20
        said = Counter(_said(mechanism, _listed(table)) for _ in range(runs))
        law = _law_of_attempts(table, float(mechanism.rate), float(mean))
        yield fit(
            f"what {float(mean):g} attempts say ({neighbours}, ε = {epsilon})", [said[x] for x in "⊥01"], law
        )


def _listed(kinds: Kinds) -> list[tuple[int, int]]:
    return [row for row, many in zip(ROWS, kinds, strict=True) for _ in range(many)]


def _law_of_attempts(kinds: Kinds, p: float, mean: float) -> list[float]:
    """The chances of ⊥, 0 and 1: by every set of kinds that an attempt takes, and every number of them."""
    fails, says = 0.0, [0.0, 0.0]
    for chosen in itertools.product((False, True), repeat=4):
        taken = [
            1 - (1 - p) ** many if take else (1 - p) ** many for take, many in zip(chosen, kinds, strict=True)
        ]
        given = [row for row, take in zip(ROWS, chosen, strict=True) if take]
        solutions = [r for r in (0, 1) if all(x * r == y for x, y in given)]
        fails += 0.0 if solutions else math.prod(taken)
        for r in solutions:
            says[r] += math.prod(taken) / len(solutions)
    chance, bottom, tried = math.exp(-mean), 0.0, 0.0
    for number in range(int(8 * mean) + 80):
        bottom += chance * fails**number
        # An attempt is made if all before it failed.
        tried += chance * math.fsum(fails**before for before in range(number))
        chance *= mean / (number + 1)
    return [bottom, *(each * tried for each in says)]


def _said(mechanism: ParityMechanism | Attempts, table: Sequence[tuple[int, int]]) -> str:
    columns = np.array(table, dtype=bool).reshape(-1, 2).T
    mask = mechanism.release(equations([columns[0]], columns[1]), 1)
    return "⊥" if mask is None else str(int(mask[0]))


def _neighbours(one: Sequence[Any], other: Sequence[Any], relation: Neighbours) -> bool:
    more, fewer = Counter(one) - Counter(other), Counter(other) - Counter(one)
    moved = more.total(), fewer.total()
    return moved == (1, 1) if relation == "replace" else moved in ((1, 0), (0, 1))


CHECKS = (
    Check(
        "selection",
        "Private choices",
        "The laws on all lists of three small scores and all neighbours, against every order and every "
        "coin; and choices.",
        selection,
        ("ExponentialMechanism", "PermuteAndFlip"),
    ),
    Check(
        "parity",
        "The parity mechanism",
        "Runs on every table of one or two rows of one bit; every answer and every neighbour is tested.",
        parity,
        ("ParityMechanism",),
    ),
    Check(
        "parity-attempts",
        "Parities in several attempts, charged jointly",
        "The law on tables of one bit, by every set of rows and every number of attempts, for both "
        "relations; and what is said.",
        attempts,
        ("Attempts",),
    ),
)

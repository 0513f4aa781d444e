"""Local protocols by statistical queries: the law of the result is the protocol's own, but for β."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.local import simulation
from sulq.local.kary import KaryResponse
from sulq.local.response import RandomizedResponse
from sulq.local.simulation import Call, Calls, run_locally, simulated

RUNS = 1_500
BETA = 0.02
# Values 0, 1, 2 with these shares, far from what somebody with value 0 would report.
SHARES = [0.1, 0.3, 0.6]
VALUE, HIGH = sulq.col("value"), sulq.col("value") > 1


class Remembering:
    """An exact oracle about the distribution that looks up what it was asked before."""

    def __init__(self, bend: float = 0.0) -> None:
        rows = np.repeat([0, 1, 2], [1, 3, 6])
        self.oracle = sulq.open({"value": rows}, {"value": sulq.Integer(0, 2)}).exact()
        self.schema = self.oracle.schema
        self.bend = bend
        self.known: dict[str, list[Any]] = {}
        self.tolerances: set[float] = set()

    def ask(self, round_: sulq.Round, run: str = "main") -> list[Any]:
        answers = []
        for query in round_.queries:
            assert isinstance(query, sulq.Query) and query.tolerance is not None
            self.tolerances.add(float(query.tolerance))
            key = sulq.Round([query]).key
            if key not in self.known:
                self.known[key] = self.oracle.ask(sulq.Round([query]))
            [answer] = self.known[key]
            # As wrong as is allowed, this way for one report and that way for another.
            sign = 1 if int(key, 16) % 2 else -1
            answers.append(
                sulq.oracles.answers.Answer(
                    answer.value + sign * self.bend * float(query.tolerance), answer.radius
                )
            )
        return answers


def noninteractive() -> Calls[tuple[int, ...]]:
    """Two people, asked once each, at once."""
    first = Call(0, KaryResponse(3, epsilon=2), VALUE)
    second = Call(1, RandomizedResponse(2), HIGH)
    a, b = yield [first, second]
    return int(a), int(b)


def interactive() -> Calls[tuple[int, ...]]:
    """One person, asked a second question that depends on the first report: reports must be correlated."""
    [a] = yield [Call(0, KaryResponse(3, epsilon=1), VALUE)]
    [b] = yield [Call(0, RandomizedResponse(1), HIGH if a != 1 else sulq.col("value") > 0)]
    return int(a), int(b)


def twice() -> Calls[tuple[int, ...]]:
    """One person, asked the same again: the reports of a person agree more often than those of two."""
    [a] = yield [Call(0, RandomizedResponse("3/2"), HIGH)]
    [b] = yield [Call(0, RandomizedResponse("3/2"), HIGH)]
    return int(a), int(b)


def law(protocol: Callable[[], Calls[tuple[int, ...]]]) -> dict[tuple[int, ...], float]:
    """The exact law of the protocol's result for people drawn from the distribution, by enumeration."""
    found: Counter[tuple[int, ...]] = Counter()
    for values in itertools.product(range(3), repeat=2):
        chance = math.prod(SHARES[value] for value in values)

        def walk(replies: list[list[int]], so_far: float, values: tuple[int, ...] = values) -> None:
            running = protocol()
            try:
                calls = next(running)
                for reports in replies:
                    calls = running.send(reports)
            except StopIteration as done:
                found[done.value] += so_far
                return
            options = [range(3) if isinstance(c.randomizer, KaryResponse) else range(2) for c in calls]
            for reports in itertools.product(*options):
                probability = so_far
                for call, report in zip(calls, reports, strict=True):
                    own = values[call.person]
                    if isinstance(call.randomizer, RandomizedResponse):
                        probability *= float(call.randomizer.pmf(bool(report), _flag(call, own)))
                    else:
                        probability *= float(call.randomizer.pmf(report, own))
                walk([*replies, list(reports)], probability)

        walk([], chance)
    return dict(found)


def _flag(call: Call, value: int) -> bool:
    return value > (1 if call.value.key == HIGH.key else 0)


def distance(runs: list[tuple[int, ...]], true: dict[tuple[int, ...], float]) -> float:
    seen = Counter(runs)
    return sum(abs(seen[result] / len(runs) - chance) for result, chance in true.items()) / 2


# The distance of an empirical law on 6 results from its own is below √(6/4n) on average, and above that plus
# √(ln(10⁷)/2n) with probability 10⁻⁷ (McDiarmid): 0.11 for 1,500 runs.
STRAY = math.sqrt(6 / (4 * RUNS)) + math.sqrt(math.log(1e7) / (2 * RUNS))


@pytest.mark.parametrize("bend", [0.0, 1.0])
@pytest.mark.parametrize(("protocol", "rounds"), [(noninteractive, 1), (interactive, 2)])
def test_the_simulated_law_is_the_protocol_s(protocol: Any, rounds: int, bend: float) -> None:
    true = law(protocol)
    assert sum(true.values()) == pytest.approx(1)
    oracle = Remembering(bend)
    found = [simulated(protocol, oracle, epsilon=2, calls=2, beta=BETA) for _ in range(RUNS)]
    assert distance([run.result for run in found], true) <= BETA + STRAY
    assert {run.rounds for run in found} == {rounds}
    assert {run.distance for run in found} == {BETA}
    assert oracle.tolerances == {found[0].tolerance}
    assert max(run.queries for run in found) <= 60


@pytest.mark.parametrize("protocol", [noninteractive, interactive])
def test_the_protocol_itself_has_that_law(protocol: Any) -> None:
    true = law(protocol)
    rng = np.random.default_rng(0)
    runs = []
    for _ in range(RUNS // 4):
        people = sulq.open({"value": rng.choice(3, 2, p=SHARES)}, {"value": sulq.Integer(0, 2)})
        runs.append(run_locally(protocol, people, epsilon=2))
    assert distance(runs, true) <= 2 * STRAY


@pytest.mark.parametrize("protocol", [noninteractive, interactive])
def test_without_the_rejection_step_it_is_caught(protocol: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation._Simulator, "_kept", lambda self, draw, likely: draw.candidates[0])
    oracle = Remembering()
    found = [simulated(protocol, oracle, epsilon=2, calls=2, beta=BETA).result for _ in range(RUNS // 4)]
    assert distance(found, law(protocol)) > BETA + 3 * STRAY


def test_without_conditioning_on_what_was_said_it_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    original = simulation._Simulator.reports

    def forgetful(self: Any, calls: Any) -> Any:
        self._reports.clear()
        return original(self, calls)

    true, oracle = law(twice), Remembering()
    runs = [simulated(twice, oracle, epsilon=3, calls=2, beta=BETA).result for _ in range(RUNS // 3)]
    assert distance(runs, true) <= BETA + 2 * STRAY
    monkeypatch.setattr(simulation._Simulator, "reports", forgetful)
    runs = [simulated(twice, oracle, epsilon=3, calls=2, beta=BETA).result for _ in range(RUNS)]
    assert distance(runs, true) > BETA + STRAY


def test_a_person_called_twice_at_once_is_told_of_both() -> None:
    def at_once() -> Calls[int]:
        reports = yield [Call(0, RandomizedResponse(1), HIGH), Call(0, RandomizedResponse(1), HIGH)]
        return sum(map(int, reports))

    run = simulated(at_once, Remembering(), epsilon=2, calls=2, beta=BETA)
    assert run.rounds == 2 and run.result in (0, 1, 2)


def test_more_calls_than_announced_or_too_many_values_are_refused() -> None:
    with pytest.raises(sulq.QueryError, match="announced"):
        simulated(interactive, Remembering(), epsilon=2, calls=1, beta=BETA)
    wide = sulq.open({"value": np.arange(5_000)}, {"value": sulq.Integer(0, 4_999)})

    def one() -> Calls[int]:
        [report] = yield [Call(0, KaryResponse(5_000, epsilon=1), VALUE)]
        return int(report)

    with pytest.raises(sulq.QueryError, match="at most"):
        simulated(one, wide.exact(), epsilon=1, calls=1, beta=BETA)
    with pytest.raises(sulq.BudgetError):
        run_locally(interactive, wide, epsilon="1/2")

"""Local protocols by statistical queries: the law of the result is the protocol's own, but for β."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.local.cap import CapReport
from sulq.local.kary import KaryResponse
from sulq.local.response import RandomizedResponse
from sulq.theory import simulation
from sulq.theory.protocols import Call, Calls, run_locally
from sulq.theory.simulation import simulated
from tests.effort import either, long

RUNS = 1_500
BETA = 0.02
# Values 0, 1, 2 with these shares, far from what somebody with value 0 would report.
SHARES = [0.1, 0.3, 0.6]
VALUE, HIGH = sulq.col("value"), sulq.col("value") > 1


class Remembering:
    """An exact oracle about the distribution that looks up what it was asked before.

    `doubted`: the chances of all queries so far to miss their tolerance, added up.
    """

    def __init__(self, bend: float = 0.0, values: int = 3) -> None:
        rows = np.repeat([0, 1, 2], [1, 3, 6])
        self.oracle = sulq.open({"value": rows}, {"value": sulq.Integer(0, values - 1)}).exact()
        self.schema = self.oracle.schema
        self.bend = bend
        self.known: dict[str, list[Any]] = {}
        self.tolerances: set[float] = set()
        self.doubted = Fraction(0)

    def ask(self, round_: sulq.Round, run: str = "main") -> list[Any]:
        answers = []
        for query in round_.queries:
            assert isinstance(query, sulq.Query) and query.tolerance is not None and query.beta is not None
            self.tolerances.add(float(query.tolerance))
            self.doubted += query.beta
            key = sulq.Round([query]).key
            if key not in self.known:
                self.known[key] = self.oracle.ask(sulq.Round([query]))
            [answer] = self.known[key]
            # As wrong as is allowed, this way for one report and that way for another.
            sign = 1 if int(key, 16) % 2 else -1
            answers.append(sulq.Answer(answer.value + sign * self.bend * float(query.tolerance), answer.law))
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


def stray(runs: int) -> float:
    """How far an empirical law strays from its own.

    Their distance, on 6 results, is below √(6/4n) on average, and above that plus √(ln(10⁷)/2n) with probability
    10⁻⁷ (McDiarmid): 0.11 for 1,500 runs, and 0.18 for 500.
    """
    return math.sqrt(6 / (4 * runs)) + math.sqrt(math.log(1e7) / (2 * runs))


STRAY, FEWER = stray(RUNS), either(500, RUNS)


@pytest.mark.parametrize(("protocol", "rounds"), [(noninteractive, 1), (interactive, 2)])
def test_the_simulated_law_is_the_protocol_s(protocol: Any, rounds: int) -> None:
    true = law(protocol)
    assert sum(true.values()) == pytest.approx(1)
    oracle = Remembering(bend=1.0)
    found = [simulated(protocol, oracle, epsilon=2, calls=2, beta=BETA) for _ in range(FEWER)]
    assert distance([run.result for run in found], true) <= BETA + stray(FEWER)
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


@long
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


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2), Fraction(4)])
@pytest.mark.parametrize("calls", [1, 30])
def test_a_reports_law_is_within_its_part_of_beta_however_answers_err(epsilon: Fraction, calls: int) -> None:
    """All laws are worked out, for errors of every combination of signs: no chance is involved."""
    oracle = Remembering()
    simulator = simulation._Simulator(oracle, epsilon, calls, BETA, interactive=True)
    call = Call(0, KaryResponse(3, epsilon), VALUE)
    likelihoods = [simulator._likelihood([(call, report)]) for report in range(3)]
    means = [float(oracle.oracle.ask(sulq.Round([sulq.mean(own.node)]))[0].value) for own in likelihoods]
    base = np.array([float(call.randomizer.pmf(report, 0)) for report in range(3)])
    true = np.array(
        [sum(s * float(call.randomizer.pmf(w, v)) for v, s in enumerate(SHARES)) for w in range(3)]
    )
    for signs in itertools.product((-1, 0, 1), repeat=3):
        told = np.array(
            [
                own.probability(mean + sign * simulator.tolerance)
                for own, mean, sign in zip(likelihoods, means, signs, strict=True)
            ]
        )
        keep = told / (base * simulator._most)
        assert keep.max() <= 1
        kept, never = base * keep, (1 - base @ keep) ** simulator._candidates
        law = kept / kept.sum() * (1 - never) + never * base * (1 - keep) / (base @ (1 - keep))
        assert np.abs(law - true).sum() / 2 <= 2 * BETA / (3 * calls)


def wide() -> Calls[tuple[int, ...]]:
    """A randomizer of many reports: every different candidate is a query."""
    [a] = yield [Call(0, KaryResponse(60, epsilon=3), VALUE)]
    return (int(a),)


@pytest.mark.parametrize("protocol", [noninteractive, interactive, twice, wide])
def test_the_chance_that_an_answer_misses_is_part_of_the_distance(protocol: Any) -> None:
    for _ in range(5):
        oracle = Remembering(values=60)
        simulated(protocol, oracle, epsilon=3, calls=2, beta=BETA)
        assert 0 < oracle.doubted <= Fraction(str(BETA)) / 3


def test_a_protocol_that_asks_more_of_a_person_than_epsilon_is_refused() -> None:
    """Two calls of ε = 3 at a promise of 1 would be 0.22 from the protocol's law, and not 0.01."""

    def greedy() -> Calls[int]:
        [a] = yield [Call(0, RandomizedResponse(2), HIGH)]
        [b] = yield [Call(0, RandomizedResponse(2), HIGH)]
        return int(a) + int(b)

    oracle = Remembering()
    with pytest.raises(sulq.BudgetError, match="epsilon = 2 exceeds"):
        simulated(greedy, oracle, epsilon=1, calls=2, beta="0.01")
    assert not oracle.known, "nothing was asked"
    with pytest.raises(sulq.BudgetError):
        simulated(greedy, oracle, epsilon="3.999999999", calls=2, beta="0.01")
    assert simulated(greedy, Remembering(), epsilon=4, calls=2, beta="0.01").result in (0, 1, 2)
    at_once = [Call(0, RandomizedResponse(1), HIGH)] * 3

    def together() -> Calls[int]:
        reports = yield at_once
        return sum(map(int, reports))

    with pytest.raises(sulq.BudgetError):
        simulated(together, Remembering(), epsilon=2, calls=3, beta="0.01")


def test_a_person_with_several_rows_is_promised_epsilon_over_all_of_them() -> None:
    rows = {"who": np.repeat(np.arange(10), 4), "value": np.arange(40) % 3}
    schema = sulq.Schema({"value": sulq.Integer(0, 2)}, sulq.Unit("who", rows=4))
    people = sulq.open(rows, schema)

    def of(epsilon: str) -> Callable[[], Calls[int]]:
        def everyone() -> Calls[int]:
            reports = yield [Call(row, RandomizedResponse(epsilon), HIGH) for row in range(40)]
            return sum(map(int, reports))

        return everyone

    assert 0 <= run_locally(of("1/4"), people, epsilon=1) <= 40
    simulated(of("1/4"), people.exact(), epsilon=1, calls=40, beta="0.5")
    for too_much in ("1/3", "1", "0.2500001"):
        with pytest.raises(sulq.BudgetError):
            run_locally(of(too_much), people, epsilon=1)
        with pytest.raises(sulq.BudgetError):
            simulated(of(too_much), people.exact(), epsilon=1, calls=40, beta="0.5")


def test_a_value_that_a_randomizer_does_not_know_counts_alike_in_both() -> None:
    """Of three values a randomizer for two takes the third for the second: so must the simulation."""

    def coarse() -> Calls[int]:
        [report] = yield [Call(0, KaryResponse(2, epsilon=3), VALUE)]
        return int(report)

    own = float(KaryResponse(2, epsilon=3).pmf(1, 1))
    true = {(1,): own * 0.9 + (1 - own) * 0.1, (0,): own * 0.1 + (1 - own) * 0.9}
    oracle = Remembering()
    found = [simulated(coarse, oracle, epsilon=3, calls=1, beta=BETA).result for _ in range(FEWER)]
    assert distance([(report,) for report in found], true) <= BETA + stray(FEWER)


def test_what_could_not_be_simulated_is_refused_at_once() -> None:
    with pytest.raises(sulq.QueryError, match="candidates"):
        simulated(noninteractive, Remembering(), epsilon=15, calls=2, beta=BETA)
    with pytest.raises(sulq.QueryError, match="grid"):
        simulated(noninteractive, Remembering(), epsilon=4, calls=2, beta="1e-6")
    for calls in (0, 2.5, True):
        with pytest.raises(sulq.QueryError, match="calls"):
            simulated(noninteractive, Remembering(), epsilon=4, calls=calls, beta=BETA)  # type: ignore[arg-type]
    with pytest.raises(sulq.QueryError, match="beta"):
        simulated(noninteractive, Remembering(), epsilon=4, calls=2, beta=1)


def test_a_call_says_what_is_reported_of_whom_in_both_alike() -> None:
    """A value by its column's name is that column's, and no value is a vector."""
    people = sulq.open({"sick": [True, False]}, {"sick": sulq.Boolean()})

    def by_name() -> Calls[int]:
        [report] = yield [Call(0, RandomizedResponse(1), "sick")]
        return int(report)

    assert run_locally(by_name, people, epsilon=1) in (0, 1)
    assert simulated(by_name, people.exact(), epsilon=1, calls=1, beta=BETA).result in (0, 1)
    assert Call(0, RandomizedResponse(1), "sick").value.key == sulq.col("sick").key
    for randomizer in (CapReport(3, norm=1, epsilon=1), "response", None):
        with pytest.raises(sulq.QueryError):
            Call(0, randomizer, "sick")  # type: ignore[arg-type]
    with pytest.raises(sulq.QueryError, match="column's name"):
        Call(0, RandomizedResponse(1), 1)  # type: ignore[arg-type]


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

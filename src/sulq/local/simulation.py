"""Local protocols run against a statistical query oracle: the other half of the equivalence, Lemma 5.8.

A protocol calls people: applies a local randomizer to one person's value and sees the report. If people are
drawn from a distribution, reports can be drawn without any person, from statistical queries alone: draw a
report w as if from someone with value 0, ask how much more or less likely w is for people at large, and keep
w with a probability in proportion (rejection sampling, B_{R,ε} of the full paper).
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from sulq.errors import QueryError
from sulq.local.lr import LocalRandomness
from sulq.local.randomizer import Randomizer
from sulq.oracles.answers import Answer
from sulq.privacy.budget import Number, exact
from sulq.queries.codes import Cross, Lookup
from sulq.queries.expressions import Node
from sulq.queries.query import mean
from sulq.queries.rounds import Round
from sulq.queries.scope import Scope
from sulq.schema import Schema
from sulq.sources.source import Source

T = TypeVar("T")
MOST_VALUES = 2**12
"""A person's value is one of few: there is a probability to work out for each."""


@dataclass(frozen=True)
class Call:
    """A randomizer applied to a person's value, which is a choice among few: LR_z(i, R)."""

    person: int
    randomizer: Randomizer
    value: Node


Calls = Generator[Sequence[Call], list[Any], T]
"""A protocol: it yields the calls it makes at once, is sent their reports, and returns what it found out.

One that yields once is noninteractive.
"""


class Oracle(Protocol):
    @property
    def schema(self) -> Schema: ...
    def ask(self, round_: Round, run: str = "main") -> list[Answer]: ...


@dataclass(frozen=True)
class Simulation(Generic[T]):
    """What a simulated protocol found out, and what it took.

    `queries` and `rounds` of statistical queries, each within `tolerance`. The law of `result` is within
    `distance` (total variation) of the protocol's own with people drawn from the distribution, if they are.
    """

    result: T
    queries: int
    rounds: int
    tolerance: float
    distance: float


def run_locally(protocol: Callable[[], Calls[T]], people: Source, epsilon: Number) -> T:
    """The protocol itself, on people who are each promised ε over all calls made to them."""
    values: dict[str, Any] = {}
    oracle = LocalRandomness(range(people.rows), epsilon)

    def report(call: Call) -> Any:
        known = values.setdefault(call.value.key, people.values(Cross((call.value,))))
        return oracle.ask(call.person, call.randomizer, lambda row: int(known[row]))

    running = protocol()
    try:
        calls = next(running)
        while True:
            calls = running.send([report(call) for call in calls])
    except StopIteration as done:
        found: T = done.value
        return found


def simulated(
    protocol: Callable[[], Calls[T]], oracle: Oracle, *, epsilon: Number, calls: int, beta: Number
) -> Simulation[T]:
    """The protocol with reports drawn by statistical queries: Claims 5.9 and 5.10.

    `epsilon`: what is promised to each person over all calls. `calls`: how many the protocol makes, at most.
    `beta`: how far from the protocol's law the result's may be. Calls made at once to different people are
    one round of queries, so a noninteractive protocol is simulated by nonadaptive queries.

    >>> import sulq
    >>> from sulq.local.response import RandomizedResponse
    >>> sick = Call(0, RandomizedResponse(1), sulq.col("sick"))
    >>> def protocol():
    ...     [said] = yield [sick]
    ...     return bool(said)
    >>> people = sulq.open({"sick": [True, False]}, {"sick": sulq.Boolean()})
    >>> simulation = simulated(protocol, people.exact(), epsilon=1, calls=1, beta="0.01")
    >>> simulation.rounds, simulation.result in (True, False)
    (1, True)
    """
    simulator = _Simulator(oracle, float(exact("epsilon", epsilon)), calls, float(exact("beta", beta)))
    running = protocol()
    try:
        asked = next(running)
        while True:
            asked = running.send(simulator.reports(asked))
    except StopIteration as done:
        return Simulation(
            done.value, simulator.queries, simulator.rounds, simulator.tolerance, simulator.beta
        )


@dataclass
class _Simulator:
    oracle: Oracle
    epsilon: float
    calls: int
    beta: float
    queries: int = field(default=0, init=False)
    rounds: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if self.calls < 1 or not self.beta < 1:
            raise QueryError("a simulation needs a number of calls from 1, and beta below 1")
        self._scope = Scope(self.oracle.schema)
        self._reports: dict[int, list[tuple[Call, Any]]] = {}
        self._left = self.calls
        # Half of β for what the answers are off by, half for drawing only so many candidates. A ratio of two
        # estimates, each off by a factor 1 ± s, is off by 1 ± 3s = 1 ± φ, and what is kept by 1 ± 3φ.
        self._slack = self.beta / (18 * self.calls)
        self.tolerance = self._slack * math.exp(-2 * self.epsilon)
        keep = math.exp(-self.epsilon) * (1 - 3 * self._slack) / (1 + 3 * self._slack)
        self._candidates = math.ceil(math.log(2 * self.calls / self.beta) / -math.log1p(-keep))

    def reports(self, calls: Sequence[Call]) -> list[Any]:
        """A report for each call. Calls to different people are one round of queries."""
        self._left -= len(calls)
        if self._left < 0:
            raise QueryError(f"the protocol makes more than the {self.calls} calls that were announced")
        found: dict[int, Any] = {}
        waiting = list(enumerate(calls))
        while waiting:
            people: set[int] = set()
            now: list[tuple[int, Call]] = []
            later: list[tuple[int, Call]] = []
            for place, call in waiting:
                (later if call.person in people else now).append((place, call))
                people.add(call.person)
            for (place, call), report in zip(now, self._drawn([call for _, call in now]), strict=True):
                found[place] = report
                self._reports.setdefault(call.person, []).append((call, report))
            waiting = later
        return [found[place] for place in range(len(calls))]

    def _drawn(self, calls: Sequence[Call]) -> list[Any]:
        """A report for each call, of different people, from one round of queries."""
        draws = [self._draw(call) for call in calls]
        asked = {likelihood.node.key: likelihood for draw in draws for likelihood in draw.likelihoods}
        doubt = self.beta / (18 * self.calls)
        queries = [mean(own.node, tolerance=self.tolerance, beta=doubt) for own in asked.values()]
        answers = self.oracle.ask(Round(queries), f"round {self.rounds}")
        self.rounds += 1
        self.queries += len(queries)
        likely = {
            key: likelihood.probability(float(answer.value))
            for (key, likelihood), answer in zip(asked.items(), answers, strict=True)
        }
        return [self._kept(draw, likely) for draw in draws]

    def _draw(self, call: Call) -> _Draw:
        reports = call.randomizer.sample(np.zeros(self._candidates, dtype=np.int64))
        before = self._reports.get(call.person, [])
        different = {_name(report): report for report in reports}
        given = {name: self._likelihood([*before, (call, report)]) for name, report in different.items()}
        base = {name: float(call.randomizer.pmf(report, 0)) for name, report in different.items()}
        return _Draw(list(reports), given, base, self._likelihood(before) if before else None)

    def _kept(self, draw: _Draw, likely: Mapping[str, float]) -> Any:
        """The first candidate that is kept; the last, if none is, which is rare enough for half of β."""
        whole = 1.0 if draw.before is None else likely[draw.before.node.key]
        for candidate in draw.candidates:
            name = _name(candidate)
            probability = likely[draw.given[name].node.key] / whole
            most = draw.base[name] * (1 + 3 * self._slack) * math.exp(self.epsilon)
            if secrets.SystemRandom().random() < probability / most:
                return candidate
        return draw.candidates[-1]

    def _likelihood(self, said: Sequence[tuple[Call, Any]]) -> _Likelihood:
        """How likely these reports of one person are, as a function of the person's values."""
        values = {call.value.key: call.value for call, _ in said}
        sizes = [self._scope.code(value).size for value in values.values()]
        if math.prod(sizes) > MOST_VALUES:
            raise QueryError(f"a person's value must be one of at most {MOST_VALUES} in a simulation")
        place = {key: number for number, key in enumerate(values)}
        probabilities = [
            math.prod(
                float(call.randomizer.pmf(report, codes[place[call.value.key]])) for call, report in said
            )
            for codes in product(*map(range, sizes))
        ]
        base = probabilities[0]
        spread = math.exp(self.epsilon) - math.exp(-self.epsilon)
        # g of the paper, from −1 to 1: the queries' range does not depend on how likely a report is.
        table = tuple(((probability / base - 1) / spread,) for probability in probabilities)
        return _Likelihood(Lookup(Cross(tuple(values.values())), table), base, spread)


@dataclass(frozen=True)
class _Likelihood:
    node: Node
    base: float
    spread: float

    def probability(self, answer: float) -> float:
        """p̃ of the paper: how likely the reports are for people at large."""
        return self.base * (1 + answer * self.spread)


@dataclass(frozen=True)
class _Draw:
    """Candidates for a report, drawn as if from someone with value 0.

    By the report's name: `given`, how likely it is together with what the person said `before`, and `base`,
    how likely it was to be drawn.
    """

    candidates: list[Any]
    given: dict[bytes, _Likelihood]
    base: dict[bytes, float]
    before: _Likelihood | None

    @property
    def likelihoods(self) -> list[_Likelihood]:
        return [*self.given.values(), *([] if self.before is None else [self.before])]


def _name(report: Any) -> bytes:
    return np.asarray(report).tobytes()

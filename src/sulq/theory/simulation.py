"""Local protocols run against a statistical query oracle: the other half of the equivalence, Lemma 5.8.

A protocol calls people: applies a local randomizer to one person's value and sees the report. If people are
drawn from a distribution, reports can be drawn without any person, from statistical queries alone: draw a
report w as if from someone with value 0, ask how much more or less likely w is for people at large, and keep
w with a probability in proportion (rejection sampling, B_{R,ε} of the full paper).

**Why the result has nearly the protocol's law.** Let p be the law of the next report, given what the person
said before, q that of a candidate, and M = (1 + φ)·e^ε. A person's calls have a ratio of at most e^ε in all,
which is checked, so p ≤ e^ε·q. If a candidate w is kept with the chance p(w)/(q(w)·M), then what is kept has
the law p, and each candidate is kept with the chance 1/M. Instead of p there is an estimate within (1 ± φ)·p.
Both ways decide alike about a candidate, by the same draw, but for a chance of φ/M, so up to the first that
is kept they differ with a chance of at most φ, whatever the estimates of other candidates depend on. Only so
many candidates are drawn, and an answer may miss its tolerance. Each of these three gets a third of β.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any, Generic, TypeVar

import numpy as np

from sulq.errors import AdaptivityError, QueryError
from sulq.local.lr import NOTHING, Used, charged
from sulq.local.randomizer import MOST_EPSILON
from sulq.numbers import Numeric, rational, truth, whole
from sulq.oracles.sample import Sample
from sulq.queries.codes import Cross
from sulq.queries.lookups import TABLE_BITS, Lookup
from sulq.queries.query import mean
from sulq.queries.rounds import Round
from sulq.queries.scope import Scope
from sulq.talk.interaction import second_round
from sulq.talk.oracle import Oracle
from sulq.theory.candidates import Draw, Likelihood, name_of
from sulq.theory.protocols import Call, Calls, epsilon_a_row

T = TypeVar("T")
MOST_VALUES = 2**12
"""A person's value is one of few: there is a probability to work out for each."""
MOST_CANDIDATES = 2**20
MOST_CALLS = 2**30
GRID = 2.0 ** (2 - TABLE_BITS)
"""The values of a query, from −1 to 1, are on a lookup table's grid: at most this far from what is meant."""


REUSED = (
    "one sample for all questions keeps no tolerance where questions depend on answers, and this simulation "
    "takes a second round: use sample(fresh=True), or an oracle with a law for every round"
)


@dataclass(frozen=True)
class Simulation(Generic[T]):
    """What a simulated protocol returned, and what the simulation took.

    The law of `result` is within `distance` (total variation) of the protocol's with people drawn from the
    distribution that the oracle answers about: one row after another, each equally likely, or with
    `Source.sample` where the rows came from. That some answer misses its tolerance is counted in, at the
    chance that its query states.

    Args:
        result: what the protocol returned.
        queries: how many statistical queries it took.
        rounds: in how many rounds.
        tolerance: how close every answer had to be.
        distance: see above.

    >>> Simulation(result=True, queries=3, rounds=1, tolerance=0.01, distance=0.05).queries
    3
    """

    result: T
    queries: int
    rounds: int
    tolerance: float
    distance: float


def simulated(
    protocol: Callable[[], Calls[T]],
    oracle: Oracle,
    *,
    epsilon: Numeric,
    calls: int,
    beta: Numeric,
    interactive: bool = True,
) -> Simulation[T]:
    """The protocol with reports drawn by statistical queries: Claims 5.9 and 5.10.

    Calls made at once to different people are one round of queries, so a noninteractive protocol is simulated
    by nonadaptive queries. Oracles keep the tolerance of a query, or refuse it. The rows of
    `Source.sample(fresh=False)` keep it only as long as questions do not depend on earlier answers, so there
    a second round of queries is refused with AdaptivityError: the distance that is stated holds for whatever
    is returned.

    Args:
        protocol: makes the generator that calls people.
        oracle: whoever answers the queries.
        epsilon: what is promised to each person over all calls. As in `run_locally`, a row has an equal part
            of it where a person has several, and a protocol that asks for more is refused with BudgetError.
        calls: how many the protocol makes, at most.
        beta: how far from the protocol's law the result's may be.
        interactive: whether the protocol may call again once it has heard reports. False is Claim 5.9, and
            refuses that with AdaptivityError.

    >>> import sulq
    >>> from sulq.local.response import RandomizedResponse
    >>> sick = Call(0, RandomizedResponse(1), sulq.col("sick"))
    >>> def protocol():
    ...     [report] = yield [sick]
    ...     return bool(report)
    >>> people = sulq.open({"sick": [True, False]}, {"sick": sulq.Boolean()})
    >>> simulation = simulated(protocol, people.exact(), epsilon=1, calls=1, beta="0.01")
    >>> simulation.rounds, simulation.result in (True, False)
    (1, True)
    """
    epsilon, beta = epsilon_a_row(epsilon, oracle.schema), float(rational("beta", beta))
    simulator = _Simulator(oracle, epsilon, calls, beta, truth("interactive", interactive))
    running = protocol()
    try:
        at_once = next(running)
        while True:
            at_once = running.send(simulator.reports(at_once))
    except StopIteration as done:
        return Simulation(
            done.value, simulator.queries, simulator.rounds, simulator.tolerance, simulator.beta
        )


def keeps_tolerances(oracle: Any) -> bool:
    """Whether an oracle keeps the tolerances of questions that depend on its earlier answers.

    Args:
        oracle: whoever answers.

    >>> import sulq
    >>> people = sulq.randhie()
    >>> [keeps_tolerances(oracle) for oracle in (people.exact(), people.sample(), people.sample(fresh=False))]
    [True, True, False]
    """
    innermost = getattr(oracle, "innermost", oracle)
    return not isinstance(innermost, Sample) or innermost.fresh


@dataclass
class _Simulator:
    oracle: Oracle
    epsilon: Fraction
    calls: int
    beta: float
    interactive: bool
    queries: int = field(default=0, init=False)
    rounds: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._left = whole("the number of calls", self.calls, 1, MOST_CALLS)
        rational("beta", self.beta, below=1)
        self._scope = Scope(self.oracle.schema)
        self._reports: dict[int, list[tuple[Call, Any]]] = {}
        self._used: dict[int, Used] = {}
        # φ: a third of β for each call.
        off = self.beta / (3 * self.calls)
        power = math.exp(min(self.epsilon, MOST_EPSILON))
        self._most = (1 + off) * power
        self._candidates = math.ceil(math.log(1 / off) / -math.log1p(-1 / self._most))
        if self._candidates > MOST_CANDIDATES:
            raise QueryError(
                f"epsilon = {float(self.epsilon):g} takes {self._candidates} candidates for every report, "
                f"and at most {MOST_CANDIDATES} are drawn: simulate a protocol of a smaller epsilon"
            )
        # A call asks about every different candidate, and about what the person said before.
        self._doubt = off / (self._candidates + 1)
        self._spread = power - 1 / power
        # A mean of g that is off by τ makes a likelihood off by τ·(e^ε − e^−ε) times that of value 0, which
        # is at most e^ε times the likelihood. A ratio of two that are off by factors of 1 ± φ/3 is off
        # by one of 1 ± φ.
        self.tolerance = off / 3 / (power * self._spread) - GRID
        if self.tolerance < GRID:
            raise QueryError(
                f"{self.calls} calls at epsilon = {float(self.epsilon):g} and beta = {self.beta:g} take "
                "answers finer than a query's grid: allow fewer calls, a smaller epsilon or a larger beta"
            )

    def reports(self, calls: Sequence[Call]) -> list[Any]:
        """A report for each call. Calls to different people are one round of queries."""
        if self._reports and not self.interactive:
            raise second_round("protocol's simulation")
        self._left -= len(calls)
        if self._left < 0:
            raise QueryError(f"the protocol makes more than the {self.calls} calls that were announced")
        for call in calls:
            used = self._used.get(call.person, NOTHING)
            self._used[call.person] = charged(used, call.randomizer, self.epsilon)
        reports: dict[int, Any] = {}
        waiting = list(enumerate(calls))
        while waiting:
            people: set[int] = set()
            now: list[tuple[int, Call]] = []
            later: list[tuple[int, Call]] = []
            for place, call in waiting:
                (later if call.person in people else now).append((place, call))
                people.add(call.person)
            for (place, call), report in zip(now, self._drawn([call for _, call in now]), strict=True):
                reports[place] = report
                self._reports.setdefault(call.person, []).append((call, report))
            waiting = later
        return [reports[place] for place in range(len(calls))]

    def _drawn(self, calls: Sequence[Call]) -> list[Any]:
        """A report for each call, of different people, from one round of queries."""
        draws = [self._draw(call) for call in calls]
        likelihoods = {likelihood.node.key: likelihood for draw in draws for likelihood in draw.likelihoods}
        nodes = [likelihood.node for likelihood in likelihoods.values()]
        queries = [mean(node, tolerance=self.tolerance, beta=self._doubt) for node in nodes]
        if self.rounds and not keeps_tolerances(self.oracle):
            raise AdaptivityError(REUSED)
        answers = self.oracle.ask(Round(queries), f"round {self.rounds}")
        self.rounds += 1
        self.queries += len(queries)
        likely = {
            key: likelihood.probability(float(answer.value))
            for (key, likelihood), answer in zip(likelihoods.items(), answers, strict=True)
        }
        return [self._kept(draw, likely) for draw in draws]

    def _draw(self, call: Call) -> Draw:
        reports = call.randomizer.sample(np.zeros(self._candidates, dtype=np.int64))
        before = self._reports.get(call.person, [])
        different = {name_of(report): report for report in reports}
        given = {name: self._likelihood([*before, (call, report)]) for name, report in different.items()}
        base = {name: float(call.randomizer.pmf(report, 0)) for name, report in different.items()}
        return Draw(list(reports), given, base, self._likelihood(before) if before else None)

    def _kept(self, draw: Draw, likely: Mapping[str, float]) -> Any:
        """The first candidate that is kept; the last, if none is, which is rare enough for a third of β."""
        whole = 1.0 if draw.before is None else likely[draw.before.node.key]
        for candidate in draw.candidates:
            name = name_of(candidate)
            probability = likely[draw.given[name].node.key] / whole
            if secrets.SystemRandom().random() < probability / (draw.base[name] * self._most):
                return candidate
        return draw.candidates[-1]

    def _likelihood(self, reported: Sequence[tuple[Call, Any]]) -> Likelihood:
        """How likely these reports of one person are, as a function of the person's values."""
        values = {call.value.key: call.value for call, _ in reported}
        sizes = [self._scope.code(value).size for value in values.values()]
        if math.prod(sizes) > MOST_VALUES:
            raise QueryError(f"a person's value must be one of at most {MOST_VALUES} in a simulation")
        place = {key: number for number, key in enumerate(values)}
        probabilities = [
            math.prod(
                float(call.randomizer.pmf(report, codes[place[call.value.key]])) for call, report in reported
            )
            for codes in product(*map(range, sizes))
        ]
        base = probabilities[0]
        # g of the paper, from −1 to 1: the queries' range does not depend on how likely a report is.
        table = tuple(((probability / base - 1) / self._spread,) for probability in probabilities)
        return Likelihood(Lookup(Cross(tuple(values.values())), table), base, self._spread)

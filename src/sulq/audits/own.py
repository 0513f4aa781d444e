"""`sulq.audit`: is somebody else's mechanism as private as it claims?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

from sulq.audits.black_box import safely, told_apart
from sulq.audits.findings import ALARM, AuditFinding, exact
from sulq.audits.randomizers import examined
from sulq.audits.sensitivity import user_function
from sulq.audits.tables import Pair, pairs
from sulq.audits.transcripts import Recorded, losses
from sulq.errors import QueryError
from sulq.learners.learner import Learner
from sulq.ledger.ledger import Ledger
from sulq.numbers import Numeric, rational, several, whole
from sulq.oracles.curator import Curator
from sulq.oracles.remote import connect
from sulq.privacy.budget import ApproxDP, Budget, PureDP
from sulq.privacy.conversion import epsilon_of
from sulq.queries.node import Node
from sulq.queries.query import Neighbours
from sulq.queries.rounds import Round
from sulq.schema import Schema
from sulq.sources.opening import open as open_source

Rows: TypeAlias = Mapping[str, Sequence[Any]]
TRIAL = 0.05
"""The chance that is allowed for where nothing is decided yet: which pair of tables is worth more runs."""
FEWEST = 100
"""The runs on each of two tables with which a pair is tried at first."""
DELTA_OF_RHO = 0.01
"""The δ at which a promise in ρ is tested."""


@dataclass(frozen=True)
class Audit:
    """What an audit found.

    Args:
        findings: what was examined, claimed and found, and what could have been found.

    >>> print(Audit((exact("a coin", "fair", "fair", "any difference", True),)))
    holds: a coin: claimed fair; found fair; detectable any difference
    """

    findings: tuple[AuditFinding, ...]

    @property
    def holds(self) -> bool:
        """Whether every claim withstood."""
        return all(finding.holds for finding in self.findings)

    @property
    def violations(self) -> tuple[AuditFinding, ...]:
        """The findings in which a claim does not hold."""
        return tuple(finding for finding in self.findings if not finding.holds)

    def __str__(self) -> str:
        return "\n".join(map(str, self.findings))


def audit(
    subject: Any,
    claim: Numeric | Budget,
    data: Any = None,
    *,
    schema: Schema | Mapping[str, Any] | None = None,
    neighbours: Neighbours = "replace",
    runs: int = 2000,
    ask: Round | None = None,
    key: str | None = None,
    alarm: float = ALARM,
) -> Audit:
    """Try to show that something is less private than it claims.

    What is examined, and what `data` is for it:

    - a function that takes a table and says something, as a black box: a test table, an array of numbers with
      a row for each person, or a pair of one and of labels. Neighbouring tables are made of it, those are
      found that tell the most, and they are run anew. Or a list of two tables that are neighbours.
    - a learner of sulq: two neighbouring tables, as columns by name, with `schema`. Its rounds are examined.
    - a curator: the same, with the round to `ask`.
    - a randomizer: a list of values among which its extremes are.
    - a row expression or row function: nothing, with `schema`. Rows are hunted that break its bounds.
    - the address of a service: the names of two data sets there that are neighbours, with the round to `ask`
      and the `key`. Every run is charged.

    Args:
        subject: what is examined.
        claim: what it promises: ε as a number, or a budget. For a service, of one answer.
        data: see above.
        schema: what is public about the columns.
        neighbours: in what two tables differ: "replace" or "add-remove".
        runs: how often a black box is run on each of two tables, in the end.
        ask: the round that a curator or a service is asked.
        key: the key for a service.
        alarm: the chance of calling a violation where there is none.

    >>> import numpy as np, sulq
    >>> def careless(rows: np.ndarray) -> float:
    ...     return rows.sum() + np.random.default_rng().laplace(scale=0.5)
    >>> table = np.zeros((10, 1)); table[0] = 1
    >>> print(sulq.audit(careless, 1, table).holds)
    False
    >>> sulq.audit(sulq.local.RandomizedResponse(1), 1, [False, True]).holds
    True
    """
    promised = claim if isinstance(claim, Budget) else PureDP(rational("claim", claim))
    whole("runs", runs, 2)
    if isinstance(subject, str):
        return Audit(tuple(_service(subject, promised, data, key, ask, runs, alarm)))
    if isinstance(subject, Node):
        return Audit(
            tuple(
                user_function(
                    "the row function", subject, _schema(schema), "full" if runs > 10_000 else "quick"
                )
            )
        )
    if isinstance(subject, Learner | Curator):
        return Audit(tuple(_by_rounds(subject, promised, data, schema, neighbours, ask)))
    if hasattr(subject, "pmf") and hasattr(subject, "ratio"):
        if not isinstance(data, Sequence) or len(data) < 2:
            raise QueryError("a randomizer is audited on data: a list of values among which its extremes are")
        epsilon = _numbers(promised)[0]
        return Audit(tuple(examined(type(subject).__name__, subject, list(data), Fraction(epsilon), "quick")))
    if not callable(subject):
        raise QueryError(
            "audit takes a function of a table, a learner, a curator, a randomizer, a row expression or "
            "the address "
            f"of a service, not {type(subject).__name__}"
        )
    return Audit((black_box(subject, promised, data, neighbours, runs, alarm),))


def black_box(
    box: Callable[[Any], Any], promised: Budget, data: Any, neighbours: Neighbours, runs: int, alarm: float
) -> AuditFinding:
    """The pair of neighbouring tables that tells the most, found with some runs and tested with others."""
    if data is None:
        raise QueryError(
            "a function is audited on data: a test table, or a list of two tables that are neighbours"
        )
    epsilon, delta = _numbers(promised)
    name = getattr(box, "__name__", type(box).__name__)
    listed = (
        [("the two tables", data[0], data[1])] if isinstance(data, list) else list(pairs(data, neighbours))
    )
    words, one, other = _most_telling(box, listed, epsilon, delta, max(FEWEST, runs // 10))
    said = [[safely(box, table) for _ in range(runs)] for table in (one, other)]
    finding = told_apart(f"{name}: {words}", said[0], said[1], epsilon, delta, alarm)
    _check_that_it_ran(name, said, finding)
    return replace(finding, measured=f"{finding.measured} [{words}]")


def _check_that_it_ran(name: str, said: Sequence[Sequence[Any]], finding: AuditFinding) -> None:
    """Errors are answers, but of what fails always, and always alike, nothing was examined."""
    answers = [answer for each in said for answer in each]
    if finding.holds and all(isinstance(answer, Exception) for answer in answers):
        words = f"{type(answers[0]).__name__}: {answers[0]}"
        raise QueryError(f"every run of {name} failed, so nothing was examined: {words}") from answers[0]


def _most_telling(
    box: Callable[[Any], Any], listed: Sequence[Pair], epsilon: float, delta: float, runs: int
) -> Pair:
    """The pair that tells the most: few runs of all pairs, and more of the best half, until one is left."""

    def evidence(pair: Pair) -> float:
        said = [[safely(box, table) for _ in range(times)] for table in pair[1:]]
        return told_apart("", said[0], said[1], epsilon, delta, TRIAL).evidence

    left, times = list(listed), max(FEWEST, runs // len(listed))
    while len(left) > 1:
        left = sorted(left, key=evidence, reverse=True)[: (len(left) + 1) // 2]
        times = min(2 * times, runs)
    return left[0]


def _by_rounds(
    subject: Learner[Any] | Curator,
    promised: Budget,
    data: Any,
    schema: Any,
    neighbours: Neighbours,
    ask: Round | None,
) -> Iterator[AuditFinding]:
    if not isinstance(data, Sequence) or len(data) != 2:
        raise QueryError(
            "a learner or curator is audited on data: two neighbouring tables, as columns by name"
        )
    known = subject.schema if isinstance(subject, Curator) else _schema(schema)
    here, there = (open_source(table, known, threads=1) for table in data)
    if known.unit is None and all(isinstance(table, Mapping) for table in data):
        columns = [[table[name] for name in known] for table in data]
        related = subject.offer.neighbours if isinstance(subject, Curator) else neighbours
        _check_neighbours(columns[0], columns[1], related)
    if isinstance(subject, Curator):
        if ask is None:
            raise QueryError(
                "a curator is audited with the round to ask: audit(curator, claim, tables, ask=Round(…))"
            )
        offer = subject.offer
        curator = replace(
            subject, source=here, ledger=Ledger(None, offer.unit, offer.total, {}), held=None, account=None
        )
        rounds = [ask]
        name = "the curator"
    else:
        epsilon, delta, rho = (getattr(promised, each, None) for each in ("epsilon", "delta", "rho"))
        curator = here.curator(
            epsilon=epsilon, delta=delta, rho=rho, neighbours=neighbours, ledger=":memory:"
        )
        recorded = Recorded(curator)
        subject.learn(recorded)
        rounds, name = recorded.rounds, type(subject).__name__
    lost = losses(curator, here, there, rounds)
    total = sum(each.lost for each in lost)
    broken = [each for each in lost if each.lost > float(each.charged) * (1 + 1e-9)]
    yield exact(
        f"{name}, {several(len(lost), 'round', 'rounds')}",
        f"{promised.describe()}, and no round loses more than its charge",
        f"{total:.6g} lost in all, in {curator.offer.unit}; {len(broken)} rounds lose more than their charge",
        "any excess above 1e-9, in these tables",
        not broken and total <= float(promised.total) * (1 + 1e-9),
    )


def _check_neighbours(one: Sequence[Any], other: Sequence[Any], neighbours: Neighbours) -> None:
    """That two tables, as columns, differ in one row: that others are told apart breaks no promise."""
    here, there = (
        Counter(zip(*(map(_cell, column) for column in each), strict=True)) for each in (one, other)
    )
    gone, come = (here - there).total(), (there - here).total()
    if max(gone, come) > 1 or (gone != come) != (neighbours == "add-remove" and gone + come > 0):
        raise QueryError(
            f"the two tables are no neighbours ({neighbours}): {gone} rows of the first are not in the "
            f"second, and {come} of the second not in the first"
        )


def _cell(cell: Any) -> str:
    """The same for 1, 1.0 and True, and for NaN, which is not equal to itself."""
    try:
        return str(float(cell))
    except (TypeError, ValueError):
        return str(cell)


def _service(
    url: str, promised: Budget, data: Any, key: str | None, ask: Round | None, runs: int, alarm: float
) -> Iterator[AuditFinding]:
    if ask is None or not isinstance(data, Sequence) or len(data) != 2:
        raise QueryError(
            "a service is audited with two data sets that are neighbours, and a round: data=(A, B), "
            "ask=Round(…)"
        )
    remotes = [connect(url, key, name) for name in data]
    epsilon, delta = _numbers(promised)

    def answers(remote: Any, run: int) -> list[Any]:
        return [answer.value for answer in remote.ask(ask, f"audit {run}")]

    said = [[safely(partial(answers, remote), run) for run in range(runs)] for remote in remotes]
    finding = told_apart(f"{url}: {data[0]} and {data[1]}", said[0], said[1], epsilon, delta, alarm)
    _check_that_it_ran(url, said, finding)
    yield finding


def _numbers(promised: Budget) -> tuple[float, float]:
    """ε and δ, as a black box is held to them."""
    if isinstance(promised, PureDP):
        return float(promised.epsilon), 0.0
    if isinstance(promised, ApproxDP):
        return float(promised.epsilon), float(promised.delta)
    return epsilon_of(promised.rho, DELTA_OF_RHO), DELTA_OF_RHO


def _schema(schema: Any) -> Schema:
    if schema is None:
        raise QueryError("say what is public about the columns: audit(…, schema=…)")
    return Schema.of(schema)

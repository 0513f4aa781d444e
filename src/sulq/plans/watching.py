"""What a learner asked, round by round: in words, in numbers, at what cost, and how well it was answered."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np

from sulq.oracles.chunks import ChunkCurator
from sulq.oracles.curator import Curator
from sulq.oracles.sample import Sample
from sulq.oracles.surveys import Surveyor
from sulq.queries.choose import Choice
from sulq.queries.query import Query
from sulq.queries.rounds import Round
from sulq.queries.scope import Scope
from sulq.talk.answers import Answer
from sulq.talk.denoised import denoised
from sulq.talk.oracle import Oracle
from sulq.talk.wrapper import Wrapper

BETA = 0.05
"""The error of an answer is stated for 95 %."""


@dataclass(frozen=True)
class Question:
    """Queries of one kind within a round.

    `error`: how far off any number of an answer is, but for a chance of 5 %; None where that cannot be said.
    Its `unit`: "rows" of a count, "share" of a share of the rows, "best" for the rows by which a choice may
    miss the best candidate, "units" of whatever else is summed.
    """

    words: str
    numbers: int
    unit: Literal["rows", "share", "best", "units"]
    times: int = 1
    error: float | None = None

    def describe(self) -> str:
        """What is asked, for people."""
        return self.words if self.times == 1 else f"{self.times} × {self.words}"

    def precision(self) -> str:
        """The error, for people."""
        if self.error is None:
            return "unknown"
        if self.error == 0:
            return "none"
        if self.unit == "share":
            return f"± {100 * self.error:.2g} %"
        size = f"{self.error:,.0f}" if self.error >= 100 else f"{self.error:.3g}"
        return f"{size} rows below the best" if self.unit == "best" else f"± {size} {self.unit}"


@dataclass(frozen=True)
class AskedRound:
    """One round: its questions, its cost, and how much of that was charged for it this time.

    A round that is asked again in its run is answered from the ledger, and charged nothing.
    """

    number: int
    questions: tuple[Question, ...]
    cost: Fraction
    charged: Fraction = Fraction(0)
    seconds: float = 0.0

    @property
    def queries(self) -> int:
        return sum(question.times for question in self.questions)

    @property
    def numbers(self) -> int:
        """How many numbers the answers have in all."""
        return sum(question.times * question.numbers for question in self.questions)

    @property
    def stored(self) -> bool:
        return self.charged < self.cost

    def describe(self) -> str:
        """What is asked, for people."""
        return "; ".join(question.describe() for question in self.questions)

    def errors(self) -> str:
        """How far off the answers are at 95 %, for people."""
        return "; ".join(question.precision() for question in self.questions)


class Watched(Wrapper):
    """An oracle that passes every round on, and keeps what was asked.

    `tell` is called with every round twice: before it is asked, and once it is answered. It offers what the
    oracle inside does: `cost`, `error`, `influence`, `left`, `spent`, `remaining`, where that one has them.

    >>> import sulq
    >>> curator = Watched(sulq.randhie().curator(epsilon=1))
    >>> answers = curator.ask(sulq.Round([sulq.count(by="plan"), sulq.count(by="health")], share=0.1))
    >>> [asked] = curator.asked
    >>> asked.describe()
    'how many rows, in 5 groups; how many rows, in 4 groups'
    >>> asked.queries, asked.numbers, asked.cost, asked.questions[0].error
    (2, 9, Fraction(1, 10), 917.0)
    """

    def __init__(
        self, oracle: Oracle, tell: Callable[[AskedRound, bool], None] = lambda asked, done: None
    ) -> None:
        self.oracle = oracle
        self.asked: list[AskedRound] = []
        self._tell = tell
        self._scope = Scope(oracle.schema)

    denoised = denoised

    def error(self, round_: Round, beta: float) -> list[float | None]:
        """How far off each answer would be, but for a chance of `beta` each, as the oracle inside says."""
        errors: list[float | None] = self.oracle.error(round_, beta)
        return errors

    def influence(self, round_: Round) -> list[float]:
        """How far one made-up report can move each answer, where people report."""
        moved: list[float] = self.oracle.influence(round_)
        return moved

    def ask(self, round_: Round, run: str = "main") -> list[Answer]:
        """The answers of the oracle inside."""
        cost = self.cost(round_) if self._uses_up else Fraction(0)
        asked = AskedRound(len(self.asked) + 1, questions_of(round_, self._scope), cost)
        self._tell(asked, False)
        before, started = self._spent(run), time.perf_counter()
        answers: list[Answer] = self.oracle.ask(round_, run)
        asked = replace(
            asked,
            questions=questions_of(round_, self._scope, answers),
            charged=self._spent(run) - before,
            seconds=time.perf_counter() - started,
        )
        self.asked.append(asked)
        self._tell(asked, True)
        return answers

    @property
    def _uses_up(self) -> bool:
        """Whether answers are paid for: with a budget, or with people who are asked once."""
        inside = self.innermost
        return inside.fresh if isinstance(inside, Sample) else isinstance(inside, Curator | Surveyor)

    def _spent(self, run: str) -> Fraction:
        """What this run was charged so far: others may use the ledger at the same time."""
        inside = self.innermost
        if isinstance(inside, ChunkCurator):
            # Chunks are charged to a run of their own.
            return inside.spent
        if isinstance(inside, Curator):
            return sum((own.spent for own in inside.ledger.runs() if own.name == run), Fraction(0))
        return Fraction(-inside.left) if isinstance(inside, Surveyor) else Fraction(0)


def questions_of(
    round_: Round, scope: Scope, answers: Sequence[Answer] | None = None
) -> tuple[Question, ...]:
    """What a round asks, queries that would be told in the same words taken together."""
    found: dict[str, Question] = {}
    for number, query in enumerate(round_.by_sums):
        said = _question(query, scope)
        if answers is not None:
            said = replace(said, error=_radius(answers[number]))
        known = found.get(said.words)
        if known is not None:
            said = replace(said, times=known.times + 1, error=_larger(known.error, said.error))
        found[said.words] = said
    return tuple(found.values())


def _question(query: Query | Choice, scope: Scope) -> Question:
    shape = query.shape(scope)
    numbers = math.prod(shape)
    if isinstance(query, Choice):
        many = len(query.candidates)
        if query.label is None:
            return Question(f"which of {many:,} sums is the largest", numbers, "units")
        return Question(f"which of {many:,} candidates predicts best{_groups(shape)}", numbers, "best")
    where = _groups(shape[: len(query.by)])
    if query.statistic == "count":
        words = "how many rows" if query.where is None else "how many rows meet a condition"
        return Question(words + where, numbers, "rows")
    facts = scope.number(query.value)
    if query.statistic == "mean" and facts.flag:
        return Question(f"which share of the rows meets a condition{where}", numbers, "share")
    what = "the average" if query.statistic == "mean" else "the sum"
    of = "a number" if facts.width == 1 else f"{facts.width:,} numbers"
    return Question(f"{what} of {of}{where}", numbers, "units")


def _groups(shape: Sequence[int]) -> str:
    return f", in {math.prod(shape):,} groups" if math.prod(shape) > 1 else ""


def _radius(answer: Answer) -> float | None:
    radius = float(np.max(answer.radius(BETA)))
    return radius if math.isfinite(radius) else None


def _larger(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else max(one, other)

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
from sulq.oracles.remote import Remote
from sulq.oracles.sample import Sample
from sulq.oracles.surveyor import Surveyor
from sulq.queries.choose import Choice
from sulq.queries.query import Query
from sulq.queries.question import Question
from sulq.queries.rounds import Round
from sulq.queries.scope import Scope, scope_of
from sulq.talk.answers import Answer
from sulq.talk.denoised import denoised
from sulq.talk.oracle import Oracle
from sulq.talk.row_questions import PublicFacts, RowQuestion
from sulq.talk.wrapper import Wrapper

BETA = 0.05
"""The error of an answer is stated for 95 %."""


@dataclass(frozen=True)
class QuestionLine:
    """Queries of one kind within a round.

    Args:
        words: what is asked.
        numbers: how many numbers an answer has.
        unit: what the error is counted in. "rows": of a count. "share": a share of the rows. "best": the rows
            by which a choice may miss the best candidate. "units": whatever else is summed.
        times: how many such queries there are.
        error: how far off any number of an answer is, but for a chance of 5 %; None where that cannot be
            said.
        promise: what is promised instead about the population that the rows were drawn from.
    """

    words: str
    numbers: int
    unit: Literal["rows", "share", "best", "units"]
    times: int = 1
    error: float | None = None
    promise: str | None = None

    def describe(self) -> str:
        """What is asked, for people."""
        return self.words if self.times == 1 else f"{self.times} × {self.words}"

    def precision(self) -> str:
        """The error, for people."""
        if self.promise is not None:
            return self.promise
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
    """One round, with its questions and its cost.

    A round that is asked again in its run is answered from the ledger, and charged nothing.

    Args:
        number: which round of the run it is, from 1.
        questions: what was asked.
        cost: what the round costs, in the unit of the budget.
        charged: how much of that was charged this time.
        seconds: how long the answers took.
        left: what is left of the budget, where there is one.
    """

    number: int
    questions: tuple[QuestionLine, ...]
    cost: Fraction
    charged: Fraction = Fraction(0)
    seconds: float = 0.0
    left: Fraction | None = None

    @property
    def queries(self) -> int:
        """How many queries were asked."""
        return sum(question.times for question in self.questions)

    @property
    def numbers(self) -> int:
        """How many numbers the answers have in all."""
        return sum(question.times * question.numbers for question in self.questions)

    @property
    def stored(self) -> bool:
        """Whether the answers, or some of them, came from the ledger."""
        return self.charged < self.cost

    def describe(self) -> str:
        """What is asked, for people."""
        return "; ".join(question.describe() for question in self.questions)

    def errors(self) -> str:
        """How far off the answers are at 95 %, for people."""
        return "; ".join(question.precision() for question in self.questions)


class Watched(Wrapper):
    """An oracle that passes every round on to another oracle, and keeps what was asked.

    It has what the oracle inside has: `cost`, `error`, `influence`, `left`, `spent`, `remaining`.

    Args:
        oracle: the oracle inside, which answers.
        tell: called with every round twice: before it is asked, and once it is answered.

    >>> import sulq
    >>> curator = Watched(sulq.randhie().curator(epsilon=1))
    >>> answers = curator.ask(sulq.Round([sulq.count(by="plan"), sulq.count(by="health")], share=0.1))
    >>> [round_] = curator.asked
    >>> round_.describe()
    'how many rows, in 5 groups; how many rows, in 4 groups'
    >>> round_.queries, round_.numbers, round_.cost, round_.questions[0].error
    (2, 9, Fraction(1, 10), 917.0)
    """

    def __init__(
        self, oracle: Oracle, tell: Callable[[AskedRound, bool], None] = lambda round_, done: None
    ) -> None:
        self.oracle = oracle
        self.asked: list[AskedRound] = []
        self._tell = tell
        self._scope = scope_of(oracle.schema)

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
        promises = self._promises(round_)
        lines = questions_of(round_, self._scope, promises=promises)
        question = AskedRound(len(self.asked) + 1, lines, cost, left=self._left)
        self._tell(question, False)
        before, started = self._spent(run), time.perf_counter()
        answers: list[Answer] = self.oracle.ask(round_, run)
        answered = replace(
            question,
            questions=questions_of(round_, self._scope, answers, promises),
            charged=self._spent(run) - before,
            seconds=time.perf_counter() - started,
            left=self._left,
        )
        self.asked.append(answered)
        self._tell(answered, True)
        return answers

    @property
    def _left(self) -> Fraction | None:
        return self.remaining if isinstance(self.innermost, Curator | Remote) else None

    def _promises(self, round_: Round) -> Sequence[str | None]:
        inside = self.oracle
        known = type(inside) in (Curator, Remote)
        return inside.offer.promises(round_) if known else [None] * len(round_.queries)

    @property
    def _uses_up(self) -> bool:
        """Whether answers are paid for: with a budget, or with people who are asked once."""
        inside = self.innermost
        return inside.fresh if isinstance(inside, Sample) else isinstance(inside, Curator | Remote | Surveyor)

    def _spent(self, run: str) -> Fraction:
        """What this run was charged so far: others may use the ledger at the same time."""
        inside = self.innermost
        if isinstance(inside, ChunkCurator):
            # Chunks are charged to a run of their own.
            return inside.spent
        if isinstance(inside, Remote):
            return inside.spent_by(run)
        if isinstance(inside, Curator):
            return sum(
                (totals.spent for totals in inside.ledger.runs() if totals.name == run),
                Fraction(0),
            )
        return Fraction(-inside.left) if isinstance(inside, Surveyor) else Fraction(0)


def questions_of(
    round_: Round,
    scope: Scope,
    answers: Sequence[Answer] | None = None,
    promises: Sequence[str | None] | None = None,
    errors: Sequence[float | None] | None = None,
) -> tuple[QuestionLine, ...]:
    """What a round asks. Queries that would be described in the same words are one line.

    Args:
        round_: the round.
        scope: the schema it is asked of.
        answers: what it was answered, if it was.
        promises: what is promised about the population, for each query.
        errors: how far off each answer would be, if it was not asked.
    """
    lines: dict[str, QuestionLine] = {}
    for number, query in enumerate(round_.queries):
        line = _line(query, scope)
        if promises is not None:
            line = replace(line, promise=promises[number])
        if errors is not None:
            line = replace(line, error=errors[number])
        if answers is not None:
            line = replace(line, error=_radius(answers[number]))
        known = lines.get(line.words)
        if known is not None:
            line = replace(line, times=known.times + 1, error=_larger(known.error, line.error))
        lines[line.words] = line
    return tuple(lines.values())


def _line(query: Question, scope: Scope) -> QuestionLine:
    if isinstance(query, RowQuestion):
        return QuestionLine(query.words(PublicFacts(scope.schema)), query.numbers, query.measured_in)
    assert isinstance(query, Query | Choice)
    shape = query.shape(scope)
    numbers = math.prod(shape)
    if isinstance(query, Choice):
        many = len(query.candidates)
        if query.label is None:
            return QuestionLine(f"which of {many:,} sums is the largest", numbers, "units")
        return QuestionLine(f"which of {many:,} candidates predicts best{_groups(shape)}", numbers, "best")
    where = _groups(shape[: len(query.by)])
    if query.statistic == "count":
        words = "how many rows" if query.where is None else "how many rows meet a condition"
        return QuestionLine(words + where, numbers, "rows")
    facts = scope.number(query.value)
    if query.statistic == "mean" and facts.flag:
        return QuestionLine(f"which share of the rows meets a condition{where}", numbers, "share")
    what = "the average" if query.statistic == "mean" else "the sum"
    of = "a number" if facts.width == 1 else f"{facts.width:,} numbers"
    return QuestionLine(f"{what} of {of}{where}", numbers, "units")


def _groups(shape: Sequence[int]) -> str:
    return f", in {math.prod(shape):,} groups" if math.prod(shape) > 1 else ""


def _radius(answer: Answer) -> float | None:
    radius = float(np.max(answer.radius(BETA)))
    return radius if math.isfinite(radius) else None


def _larger(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else max(one, other)

"""Oracles that put each question to a cohort of its own: what the crowd and the sample have in common."""

from __future__ import annotations

import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, NoReturn

import numpy as np

from sulq.errors import QueryError, sheltered
from sulq.numbers import several
from sulq.oracles.cohorts import Cohorts
from sulq.oracles.surveys import Survey
from sulq.privacy.memory import refuse_copy
from sulq.privacy.ranges import chance
from sulq.queries.choose import Choice
from sulq.queries.node import Node
from sulq.queries.query import Query
from sulq.queries.question import Question
from sulq.queries.rounds import NOTHING_AHEAD, Ahead, Round, asked_of
from sulq.row_function_guard import refuse_row_functions
from sulq.schema import Schema
from sulq.sources.sums import Sums
from sulq.talk.answers import Answer
from sulq.talk.choice_laws import BestOf
from sulq.talk.denoised import denoised
from sulq.talk.interaction import check_single, second_round
from sulq.talk.laws import Exactly
from sulq.talk.statistics import KnownSum, chosen, statistic
from sulq.wire import check_run


@dataclass
class Surveyor(ABC):
    """An oracle that asks cohorts, of people who were not asked before.

    A round states its share of all people, or its queries state tolerances. The sizes of the cohorts follow
    from that. Within a share, cohorts are such that all answers get the same error, in units of one row's
    largest contribution, or a smaller one as their `weight` says.

    Args:
        source: the people's rows.
        interactive: whether there may be a second round. False is the noninteractive model.
    """

    source: Sums
    interactive: bool = field(default=True, kw_only=True)
    rounds: int = field(default=0, init=False)
    queries: int = field(default=0, init=False)
    _cohorts: Cohorts | None = field(default=None, kw_only=True, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self._cohorts is not None:  # by dataclasses.replace, with the people of the one that is replaced
            self.__reduce__()
        self._cohorts = self._dealt()
        self._answered: dict[tuple[str, str], list[Answer]] = {}
        self._turn = threading.Lock()

    who: ClassVar[str]
    denoised = denoised

    def __reduce__(self) -> NoReturn:
        """A copy would ask the same people a second time."""
        refuse_copy("a survey", "ask this one, or make another: what both promise adds up")

    @abstractmethod
    def _dealt(self) -> Cohorts | None:
        """The people, to be asked in cohorts, or a refusal; None if all are asked every time."""

    @abstractmethod
    def survey(self, part: Node) -> Survey:
        """How one part of a query would be asked."""

    def ask(self, round_: Round, run: str = "main") -> list[Answer]:
        """One answer for each query of the round, in order. The same round in the same run is answered alike.

        Raises BudgetError, with nobody asked, if too few people are left, and AdaptivityError at a second
        round if the oracle is not interactive.
        """
        check_run(run)
        refuse_row_functions()
        surveys = self.surveys(round_)
        # One asker at a time: the people who were counted are still there when they are asked.
        with self._turn:
            if (run, round_.key) not in self._answered:
                self._check_open()
                self._require(sum(survey.size for survey in surveys))
                self._answered[run, round_.key] = sheltered(lambda: self._answers(round_, surveys))
                self.rounds += 1
                self.queries += len(round_.queries)
            return self._answered[run, round_.key]

    def _answers(self, round_: Round, surveys: Sequence[Survey]) -> list[Answer]:
        return self._read(round_, [survey.known(self._cohorts) for survey in surveys])

    def _read(self, round_: Round, known: Iterable[KnownSum]) -> list[Answer]:
        """The answers to the queries of a round, from what is known of their parts, in order."""
        parts = iter(known)
        return [self._answer(query, [next(parts) for _ in query.parts]) for query in round_.by_sums]

    def afford(self, round_: Round, run: str = "main", ahead: Ahead = NOTHING_AHEAD) -> bool:
        """Refuse, with nobody asked, a run of too many people or rounds; see `Curator.afford`."""
        check_single(self.who, self.interactive, round_, ahead)
        people = self.cost(round_)
        if (run, round_.key) in self._answered:
            return False
        self._check_open()
        least = ahead.least()
        if least is not None and least * self.source.rows < 1:
            raise QueryError(
                f"{several(self.source.rows, 'person is', 'people are', 'd')} too few: this run takes "
                f"{math.ceil(1 / least)}, or some of its questions would be put to nobody"
            )
        if ahead.share is not None:
            people = max(people, math.floor(ahead.share * self.source.rows))
        self._require(people + sum(self.cost(other) for other in ahead.later) + math.ceil(ahead.reserve))
        return True

    def cost(self, round_: Round) -> int:
        """How many people a round would ask. Nobody is asked."""
        return sum(survey.size for survey in self.surveys(round_))

    def error(self, round_: Round, beta: float) -> list[float | None]:
        """How far off each answer would be, but for a chance of `beta` each. Nobody is asked.

        None for a mean among some rows only: its error depends on how many they are.
        """
        surveys, rare = iter(self.surveys(round_)), chance(beta)
        errors: list[float | None] = []
        for query in round_.by_sums:
            parts = [next(surveys).blank() for _ in query.parts]
            if isinstance(query, Query) and query.statistic == "mean":
                alone = isinstance(parts[1].law, Exactly) and len(parts[1].values) == 1
                errors.append(parts[0].law.radius(rare) / self.source.rows if alone else None)
            else:
                errors.append(float(self._answer(query, parts).radius(rare)))
        return errors

    @property
    def left(self) -> int:
        """How many people were not asked yet."""
        return self.source.rows if self._cohorts is None else self._cohorts.left

    @property
    def schema(self) -> Schema:
        return self.source.schema

    def _check_open(self) -> None:
        """Refuse a second round, if there may be one only."""
        if self.rounds and not self.interactive:
            raise second_round(self.who)

    def _require(self, people: int) -> None:
        if self._cohorts is not None:
            self._cohorts.require(people)

    def surveys(self, round_: Round) -> list[Survey]:
        """Whom to ask what, or a refusal: from public facts alone."""
        round_ = asked_of(round_, self.schema)
        if self.source.rows == 0:
            raise QueryError("there is nobody to ask: the table has no rows that count")
        drafts = [self.survey(part) for query in round_.by_sums for part in query.parts]
        owners = [query for query in round_.by_sums for _ in query.parts]
        stated = [isinstance(query, Query) and query.tolerance is not None for query in round_.by_sums]
        if any(stated):
            if not all(stated) or round_.share is not None:
                raise QueryError(
                    "a round is asked by tolerances or by a share: state a tolerance and beta for every "
                    "query (a choice cannot have one) and no share, or a share alone"
                )
            return [draft.within(query) for draft, query in zip(drafts, owners, strict=True)]
        if round_.share is None:
            raise QueryError("a round states its share of the people, or its queries their tolerances")
        return _divided(drafts, owners, math.floor(round_.share * self.source.rows))

    def _answer(self, query: Question, parts: Sequence[KnownSum]) -> Answer:
        scope = self.source.scope
        if isinstance(query, Query):
            return statistic(query, parts, scope)
        assert isinstance(query, Choice)
        if query.label is None:
            scores = np.stack([part.values for part in parts])
        else:
            scores = query.scores([part.values.astype(object) for part in parts], scope).astype(np.float64)
        best = chosen(query, scores.argmax(axis=0).tolist(), None, scope)
        cells = math.prod(query.shape(scope)) * (1 if query.label is None else scope.code(query.label).size)

        # The largest cell of each value can be off by the radius, by more where labels count for more. That
        # holds for the best candidate and for the chosen one.
        times = 2 * float(query.spread(scope))
        factors = tuple(times * len(part.values) / cells for part in parts)
        return replace(best, law=BestOf(tuple(part.law for part in parts), factors))


def _divided(drafts: Sequence[Survey], owners: Sequence[Question], people: int) -> list[Survey]:
    """Cohorts for the surveys of a round, so that their errors are inverse to their weights."""
    needs = [draft.need * float(query.weight) ** 2 for draft, query in zip(drafts, owners, strict=True)]
    asking = sum(map(bool, needs))
    if people < asking:
        raise QueryError(
            f"{several(people, 'person is', 'people are', 'd')} too few for "
            f"{several(asking, 'question', 'questions')}"
        )
    # Everything that is asked is put to somebody; the rest are divided.
    sizes = [1 + math.floor((people - asking) * need / sum(needs)) if need else 0 for need in needs]
    return [replace(draft, size=size) for draft, size in zip(drafts, sizes, strict=True)]

"""A learner drives a collector: each round is opened, a fresh cohort of devices answers it, and it closes.

It is a crowd (`sulq.oracles.crowd`) whose reports come from elsewhere: the same items, the same cohorts, the
same error bars. What is asked is in the collector's store before anybody is asked, and the tallies of a round
that is closed are the answer for good. So learner and collector may both be restarted at any time: the
learner is run again with the same name, is given the answers it had, and goes on.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from fractions import Fraction
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from sulq.errors import BudgetError, QueryError, SulqError
from sulq.local.tally import Tally
from sulq.oracles.cohorts import Cohorts
from sulq.oracles.crowd import Crowd
from sulq.queries.node import Node
from sulq.queries.rounds import NOTHING_AHEAD, Ahead, Round
from sulq.row_function_guard import refuse_row_functions
from sulq.schema import Schema
from sulq.sources.sums import Sums
from sulq.survey.collector import Collector
from sulq.survey.file import SurveyFile
from sulq.survey.kept import KeptRound
from sulq.survey.reading import read_survey
from sulq.talk.answers import Answer
from sulq.talk.interaction import second_round
from sulq.wire import check_run

LOOK = 0.5
"""Seconds between two looks at whether a round is closed."""


class StillOpenError(SulqError):
    """A round is still open: not everybody answered yet. Run the learner again later."""


class AbsentRows(Sums):
    """People elsewhere: how many there are is public, and nobody here has their rows.

    Args:
        schema: what is public about their answers.
        people: how many they are.

    >>> import sulq
    >>> AbsentRows(sulq.Schema({"sick": sulq.Boolean()}), 1000).rows
    1000
    """

    def __init__(self, schema: Schema, people: int) -> None:
        super().__init__(schema)
        self._people = people

    @property
    def rows(self) -> int:
        return self._people

    def sums(self, parts: Sequence[Node]) -> list[NDArray[np.object_]]:
        raise QueryError("these people answer from their own devices: nobody can add up their rows")


class _Awaited(Cohorts):
    """How many people were not asked yet, as the collector's store knows it."""

    def __init__(self, people: int, collector: Collector) -> None:
        self._people = people
        self._collector = collector

    @property
    def left(self) -> int:
        asked = 0
        for kept in self._collector.rounds():
            received = self._collector.received(kept.number)
            closed = kept.state == "closed"
            # Who came beyond the plan, because several looked at once, was not expected in any other round.
            asked += sum(
                min(received.get(key, 0), planned) if closed else planned
                for key, planned in kept.planned.items()
            )
        return max(0, self._people - asked)

    def require(self, size: int) -> None:
        if size > self.left:
            raise BudgetError("people", requested=Fraction(size), remaining=Fraction(self.left))


@dataclass
class Collected(Crowd):
    """A crowd of people with devices of their own, who answer over the wire.

    `sulq.survey.oracle.collected("survey.toml")` makes one. The collector (`sulq survey serve`) runs
    elsewhere, on the same store.

    Args:
        collector: where rounds are opened and reports come in.
        seconds: how long a round stays open at most, if every item has a report by then; None until every
            item has its people.
        wait: how many seconds to wait for a round before StillOpenError is raised; None for as long as it
            takes.

    >>> from dataclasses import replace
    >>> from tempfile import TemporaryDirectory
    >>> import sulq
    >>> from sulq.survey.reading import survey_of
    >>> about = {"title": "Health", "epsilon": 2, "people": 100, "divides": "rounds"}
    >>> form = {"survey": about, "questions": {"sick": {"kind": "yes-no", "text": "Were you sick?"}}}
    >>> with TemporaryDirectory() as folder:
    ...     survey = replace(survey_of(form), store=f"{folder}/health.reports")
    ...     oracle = collected(survey, wait=0)
    ...     oracle.ask(sulq.Round([sulq.mean("sick")], share="1/2"))
    Traceback (most recent call last):
    sulq.survey.oracle.StillOpenError: round 1 has 0 of 50 reports: let people answer, and run this again
    """

    collector: Collector = field(kw_only=True)
    seconds: float | None = field(default=None, kw_only=True)
    wait: float | None = field(default=None, kw_only=True)

    def ask(self, round_: Round, run: str = "main") -> list[Answer]:
        """One answer for each query of the round, in order, once its cohort has reported.

        The same round in the same run gets the same answers again, also after a restart, and nobody is asked
        for them.

        Args:
            round_: the queries.
            run: the name of the run that asks.
        """
        check_run(run)
        refuse_row_functions()
        questionnaire = self.questionnaire(round_)
        if not questionnaire.items:
            return self.answers(round_, [])
        with self._turn:
            kept = self._kept(run, round_.key)
            if kept is not None and not all(item.key in kept.items for item in questionnaire.items):
                # The round was begun when the printed reports were the best there were.
                self.method = "printed"
                questionnaire = self.questionnaire(round_)
            if kept is None:
                self._check_open()
                self._require(sum(questionnaire.people))
                ends = None
                if self.seconds is not None:
                    ends = self.collector.now() + timedelta(seconds=self.seconds)
                kept = self.collector.begin(run, round_.key, questionnaire, deadline=ends)
                self.rounds += 1
                self.queries += len(round_.queries)
        tallies = self._closed(kept)
        return self.answers(round_, [tallies[item.key] for item in questionnaire.items])

    def afford(self, round_: Round, run: str = "main", ahead: Ahead = NOTHING_AHEAD) -> bool:
        """Refuse, with nobody asked, a run of more people than are left; one that goes on is not refused."""
        if self.collector.found(run, round_.key) is not None:
            return False
        return super().afford(round_, run, ahead)

    def __reduce__(self) -> NoReturn:
        raise SulqError("a survey is not copied: open the same file again, where its store is")

    def _check_open(self) -> None:
        """Rounds that were opened before a restart count as well."""
        if not self.interactive and self.collector.rounds():
            raise second_round(self.who)

    def _dealt(self) -> Cohorts:
        return _Awaited(self.source.rows, self.collector)

    def _kept(self, run: str, question: str) -> KeptRound | None:
        return self.collector.found(run, question)

    def _closed(self, kept: KeptRound) -> dict[str, Tally]:
        """The tallies of a round once it is closed."""
        began = time.monotonic()
        while True:
            self.collector.close_due()
            now = self.collector.round(kept.number)
            assert now is not None
            if now.state == "closed":
                return {key: each.tally for key, each in self.collector.tallies(kept.number).items()}
            self._refuse_over(kept)
            if self.wait is not None and time.monotonic() - began >= self.wait:
                received = sum(self.collector.received(kept.number).values())
                raise StillOpenError(
                    f"round {kept.number} has {received} of {sum(kept.planned.values())} reports: let people "
                    "answer, and run this again"
                )
            time.sleep(LOOK if self.wait is None else min(LOOK, max(0.01, self.wait / 10)))

    def _refuse_over(self, kept: KeptRound) -> None:
        """Refuse to wait for people who cannot come any more."""
        closes = self.collector.survey.closes
        if closes is not None and closes <= self.collector.now():
            raise SulqError(
                f"the survey is closed, and round {kept.number} has not all reports that it needs: let the "
                "survey close later, and run this again"
            )


def collected(
    survey: SurveyFile | str, *, seconds: float | None = None, wait: float | None = None
) -> Collected:
    """The oracle of a survey that a learner asks, in rounds.

    Args:
        survey: the survey, or its TOML file.
        seconds: how long a round stays open at most; None until every item has its people.
        wait: how many seconds to wait for a round; None for as long as it takes.
    """
    survey = survey if isinstance(survey, SurveyFile) else read_survey(survey)
    if survey.divides != "rounds":
        raise SulqError('this survey asks its own questions: a learner needs one with divides = "rounds"')
    source = AbsentRows(survey.schema, survey.people)
    collector = Collector(survey)
    return Collected(
        source, survey.epsilon, collector.method, collector=collector, seconds=seconds, wait=wait
    )

"""The collector without HTTP: which round is open, what is accepted, and what is kept of it.

A batch of what people sent is one transaction, and nobody hears "accepted" before it is committed. An
invitation is marked as used in the same transaction, so a report is counted once or not at all, whatever
happens.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from sulq.errors import SulqError
from sulq.local.best import Method
from sulq.local.directions import DirectionReport
from sulq.local.item import Item
from sulq.local.questionnaire import Questionnaire
from sulq.survey.accepting import Accepting, SentOutcome, closed, count_refusals
from sulq.survey.asking import SurveyItem, items_of
from sulq.survey.database import SurveyDatabase, database_at
from sulq.survey.devices import refuse_unknown
from sulq.survey.file import SurveyFile
from sulq.survey.kept import KeptRound, KeptTally, Sent, token_hash
from sulq.survey.tables import make_tables
from sulq.wire import of_json

MOST_COORDINATES = 10_000
RUN = "survey"
"""The name under which the one round of a survey without a learner is kept."""


class Collector:
    """A survey's collector.

    Args:
        survey: the survey.
        clock: says the time.

    >>> from tempfile import TemporaryDirectory
    >>> from dataclasses import replace
    >>> from sulq.survey.reading import survey_of
    >>> paid = {"kind": "yes-no", "text": "Did you ever pay a bribe?"}
    >>> about = {"title": "Bribes", "epsilon": 2, "people": 100}
    >>> survey = survey_of({"survey": about, "questions": {"paid": paid}})
    >>> with TemporaryDirectory() as folder:
    ...     collector = Collector(replace(survey, store=f"{folder}/bribes.reports"))
    ...     [link] = collector.invite(1)
    ...     [item] = collector.open_round().items
    ...     sent = Sent(1, token_hash(link), ((item, 1),))
    ...     print(collector.accept([sent]), collector.accept([sent]), collector.received(1)[item])
    ...     collector.close()
    ['accepted'] ['used'] 1
    """

    def __init__(self, survey: SurveyFile, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.survey = survey
        self._clock = clock
        self._database: SurveyDatabase = database_at(survey.store)
        self._rounds: dict[int, KeptRound] = {}
        self.changes = 0
        """How often something was counted here: what was read before may have changed since."""
        try:
            make_tables(self._database, survey.id)
            if self.asked:
                items, people = zip(*((each.item, each.people) for each in self.asked), strict=True)
                self.begin(RUN, RUN, Questionnaire(items, people), fills=False)
        except BaseException:
            self._database.close()
            raise

    @property
    def method(self) -> Method:
        """How devices report: where a round was begun with printed reports, so do those after it."""
        items = (item for kept in self.rounds() for item in kept.questionnaire.items)
        return "printed" if any(item.method == "printed" for item in items) else "best"

    @cached_property
    def asked(self) -> tuple[SurveyItem, ...]:
        """The survey's own questions, as devices are asked them."""
        return items_of(self.survey, self.method)

    def close(self) -> None:
        """Let go of the store."""
        self._database.close()

    def __enter__(self) -> Collector:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def now(self) -> datetime:
        """The time."""
        return self._clock()

    def invite(self, people: int) -> list[str]:
        """Make single-use invitations. Only their hashes are kept, so they cannot be had again.

        Args:
            people: how many.
        """
        tokens = [secrets.token_urlsafe(24) for _ in range(people)]
        with self._database.transaction(write=True) as database:
            # In the order of their hashes, not in that of the links that are sent out.
            hashes = sorted(map(token_hash, tokens))
            database.many("INSERT INTO invitations VALUES (?)", ((each,) for each in hashes))
        return tokens

    def begin(
        self,
        run: str,
        question: str,
        asked: Questionnaire,
        fills: bool = True,
        deadline: datetime | None = None,
    ) -> KeptRound:
        """Open a round, or find it if it was opened before: it is kept before anybody is asked.

        Args:
            run: the name of the run.
            question: names the round within the run.
            asked: what is asked.
            fills: whether the round closes once every item has its people.
            deadline: when it closes.
        """
        for item in asked.items:
            refuse_unknown(item)
            _refuse_long(item)
        ends = None if deadline is None else deadline.isoformat()
        with self._database.transaction(write=True) as database:
            there = database.all("SELECT * FROM rounds WHERE run = ? AND question = ?", (run, question))
            if not there:
                [(last,)] = database.all("SELECT COALESCE(MAX(number), 0) FROM rounds")
                row = (last + 1, run, question, asked.to_json(), "open", int(fills), ends)
                database.run("INSERT INTO rounds VALUES (?, ?, ?, ?, ?, ?, ?)", row)
                there = [row]
        return KeptRound.of(there[0])

    def round(self, number: int) -> KeptRound | None:
        """The round with a number, None if there is none."""
        rows = self._database.all("SELECT * FROM rounds WHERE number = ?", (number,))
        return KeptRound.of(rows[0]) if rows else None

    def found(self, run: str, question: str) -> KeptRound | None:
        """The round that a run opened before, None if it did not.

        Args:
            run: the name of the run.
            question: names the round within the run.
        """
        rows = self._database.all("SELECT * FROM rounds WHERE run = ? AND question = ?", (run, question))
        return KeptRound.of(rows[0]) if rows else None

    def rounds(self) -> list[KeptRound]:
        """All rounds there were, in order."""
        return [KeptRound.of(row) for row in self._database.all("SELECT * FROM rounds ORDER BY number")]

    def open_round(self) -> KeptRound | None:
        """The round that people are asked now: of those that are open, the first."""
        rows = self._database.all("SELECT * FROM rounds WHERE state = 'open' ORDER BY number LIMIT 1")
        return KeptRound.of(rows[0]) if rows else None

    def tallies(self, number: int) -> dict[str, KeptTally]:
        """What is kept of a round, by the names of its items. An item without reports has nothing."""
        rows = self._database.all(
            "SELECT item, reports, sums, impossible, profile FROM tallies WHERE round = ?", (number,)
        )
        return {row[0]: KeptTally.of(*row) for row in rows}

    def received(self, number: int) -> dict[str, int]:
        """How many reports there are on each item of a round."""
        return dict(self._database.all("SELECT item, reports FROM tallies WHERE round = ?", (number,)))

    def reports(self, number: int, item: str) -> list[Any]:
        """The single reports on an item, in an order drawn by lot; none if only tallies are kept."""
        rows = self._database.all("SELECT numbers FROM reports WHERE round = ? AND item = ?", (number, item))
        return [of_json(text, "a report") for (text,) in rows]

    def arrivals(self, number: int) -> dict[int, int]:
        """How many people came in each ten minutes."""
        return dict(self._database.all("SELECT slot, people FROM arrivals WHERE round = ?", (number,)))

    def refused(self) -> dict[str, int]:
        """How often what was sent was refused, and for what."""
        return dict(self._database.all("SELECT kind, times FROM refusals"))

    def end(self, number: int) -> None:
        """Close a round.

        Args:
            number: which.
        """
        with self._database.transaction(write=True) as database:
            database.run("UPDATE rounds SET state = 'closed' WHERE number = ?", (number,))

    def close_due(self) -> None:
        """Close the rounds whose time is over, or the survey's, if all they ask has a report."""
        now, closes = self._clock(), self.survey.closes
        for kept in self.rounds():
            if kept.state == "open" and kept.is_due(self.received(kept.number), now, closes):
                self.end(kept.number)

    def accept(self, sent: Sequence[Sent]) -> list[SentOutcome]:
        """Count what people sent, in one transaction; it is on the disk when this returns.

        Args:
            sent: what each person's device sent.
        """
        outcomes: list[SentOutcome] = ["malformed"] * len(sent)
        by_round: dict[int, list[int]] = defaultdict(list)
        for place, each in enumerate(sent):
            by_round[each.round].append(place)
        with self._database.transaction(write=True) as database:
            for number, places in sorted(by_round.items()):
                kept = self._open(database, number)
                told = (
                    closed(places) if kept is None else self._accepting(kept).accept(database, sent, places)
                )
                for place, outcome in told.items():
                    outcomes[place] = outcome
            count_refusals(database, outcomes)
        self.changes += 1
        return outcomes

    def remembered(self, kept: KeptRound) -> KeptRound:
        """A round with what was worked out about its questions. Its state is that of an earlier time.

        Args:
            kept: the round.
        """
        return self._rounds.setdefault(kept.number, kept)

    def _open(self, database: SurveyDatabase, number: int) -> KeptRound | None:
        """A round that is open, until the transaction ends; None if it is closed, or not there."""
        state = database.all("SELECT state FROM rounds WHERE number = ?", (number,))
        if not state or state[0][0] != "open" or not self.survey.is_open(self._clock()):
            return None
        kept = self._rounds.get(number) or self.round(number)
        assert kept is not None
        return self.remembered(kept)

    def _accepting(self, kept: KeptRound) -> Accepting:
        return Accepting(self.survey, kept, self._clock())


def _refuse_long(item: Item) -> None:
    """Refuse what devices could not send: a vector of very many numbers, as a direction."""
    if isinstance(item.randomizer, DirectionReport) and item.randomizer.d > MOST_COORDINATES:
        raise SulqError(
            f"a report of {item.randomizer.d} numbers is too long to be sent, {MOST_COORDINATES} are the "
            "most: ask for fewer numbers in one query"
        )

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
from typing import Any, Literal

from sulq.local.questionnaire import Questionnaire
from sulq.survey.asking import items_of
from sulq.survey.database import SurveyDatabase, database_at
from sulq.survey.devices import refuse_unknown
from sulq.survey.file import SurveyFile
from sulq.survey.kept import KeptRound, KeptTally, Sent, add_reports, token_hash
from sulq.survey.tables import make_tables
from sulq.wire import canonical, of_json

SentOutcome = Literal["accepted", "used", "unknown", "closed", "malformed"]
SLOT = 600
"""Seconds in which arrivals are counted together."""
WHOLE_SURVEY = 0
"""Where an invitation is for one round of all, it is marked as used under this number."""
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
            asked = items_of(survey)
            if asked:
                items, people = tuple(each.item for each in asked), tuple(each.people for each in asked)
                self.begin(RUN, RUN, Questionnaire(items, people), fills=False)
        except BaseException:
            self._database.close()
            raise

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
        """Close the rounds whose time is over."""
        for kept in self.rounds():
            if kept.state == "open" and kept.is_due(self.received(kept.number), self._clock()):
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
            for number in sorted(by_round):
                self._accept_round(database, number, by_round[number], sent, outcomes)
            self._count_refusals(database, outcomes)
        self.changes += 1
        return outcomes

    def _accept_round(
        self,
        database: SurveyDatabase,
        number: int,
        places: list[int],
        sent: Sequence[Sent],
        outcomes: list[SentOutcome],
    ) -> None:
        state = database.all(f"SELECT state FROM rounds WHERE number = ?{database.locking}", (number,))
        if not state or state[0][0] != "open" or not self.survey.is_open(self._clock()):
            for place in places:
                outcomes[place] = "closed"
            return
        there = self.round(number) if number not in self._rounds else self._rounds[number]
        assert there is not None
        kept = self.remembered(there)
        items = kept.items
        wellformed = [place for place in places if self._fits(sent[place], kept)]
        for place, outcome in self._claimed(database, number, wellformed, sent).items():
            outcomes[place] = outcome
        accepted = [place for place in wellformed if outcomes[place] == "accepted"]
        if not accepted:
            return
        by_item: dict[str, list[Any]] = defaultdict(list)
        for place in accepted:
            for item, report in sent[place].reports:
                by_item[item].append(report)
        for key in sorted(by_item):
            add_reports(database, number, items[key], by_item[key])
        if self.survey.keeps == "reports":
            self._keep(database, number, by_item)
        slot = int(self._clock().timestamp()) // SLOT
        database.run(
            "INSERT INTO arrivals VALUES (?, ?, ?) ON CONFLICT (round, slot) DO UPDATE SET "
            "people = arrivals.people + excluded.people",
            (number, slot, len(accepted)),
        )
        if kept.fills:
            counts = dict(database.all("SELECT item, reports FROM tallies WHERE round = ?", (number,)))
            if kept.is_full(counts):
                database.run("UPDATE rounds SET state = 'closed' WHERE number = ?", (number,))

    def remembered(self, kept: KeptRound) -> KeptRound:
        """A round with what was worked out about its questions. Its state is that of an earlier time.

        Args:
            kept: the round.
        """
        return self._rounds.setdefault(kept.number, kept)

    def _fits(self, sent: Sent, kept: KeptRound) -> bool:
        """Whether each item that should be reported on is, once, and nothing else."""
        names = [item for item, _ in sent.reports]
        if self.survey.divides == "epsilon":
            return sorted(names) == sorted(kept.items)
        return len(names) == 1 and names[0] in kept.items

    def _claimed(
        self, database: SurveyDatabase, number: int, places: list[int], sent: Sequence[Sent]
    ) -> dict[int, SentOutcome]:
        """Mark invitations as used, and say of which that is news."""
        under = WHOLE_SURVEY if self.survey.divides == "rounds" else number
        outcomes: dict[int, SentOutcome] = {}
        for place in places:
            token = sent[place].token
            if token is None:
                outcomes[place] = "unknown" if self.survey.invited else "accepted"
            elif self.survey.invited and not database.all(
                "SELECT 1 FROM invitations WHERE hash = ?", (token,)
            ):
                outcomes[place] = "unknown"
            else:
                claim = "INSERT INTO used VALUES (?, ?) ON CONFLICT DO NOTHING"
                outcomes[place] = "accepted" if database.run(claim, (under, token)) else "used"
        return outcomes

    def _keep(self, database: SurveyDatabase, number: int, by_item: dict[str, list[Any]]) -> None:
        day = f"{self._clock():%Y-%m-%d}"
        rows = [
            (secrets.token_hex(16), number, item, day, canonical(report))
            for item, reports in by_item.items()
            for report in reports
        ]
        database.many("INSERT INTO reports VALUES (?, ?, ?, ?, ?)", sorted(rows))

    @staticmethod
    def _count_refusals(database: SurveyDatabase, outcomes: Sequence[SentOutcome]) -> None:
        for kind in sorted({each for each in outcomes if each != "accepted"}):
            database.run(
                "INSERT INTO refusals VALUES (?, ?) ON CONFLICT (kind) DO UPDATE SET "
                "times = refusals.times + excluded.times",
                (kind, outcomes.count(kind)),
            )

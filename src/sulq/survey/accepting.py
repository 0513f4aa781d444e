"""What a collector does with what people sent, within one transaction: claim, count, keep, close the full."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sulq.survey.database import SurveyDatabase
from sulq.survey.file import SurveyFile
from sulq.survey.kept import KeptRound, Sent, add_reports
from sulq.wire import canonical

SentOutcome = Literal["accepted", "used", "unknown", "closed", "malformed"]
SLOT = 600
"""Seconds in which arrivals are counted together."""
WHOLE_SURVEY = 0
"""Where an invitation is for one round of all, it is marked as used under this number."""


@dataclass(frozen=True)
class Accepting:
    """How what people sent to one round is counted.

    Args:
        survey: the survey.
        kept: the round, which is open.
        now: the time.
    """

    survey: SurveyFile
    kept: KeptRound
    now: datetime

    def accept(
        self, database: SurveyDatabase, sent: Sequence[Sent], places: Iterable[int]
    ) -> dict[int, SentOutcome]:
        """Count what was sent at some places of a batch, and say what became of each.

        Args:
            database: the store, within a transaction that writes.
            sent: the batch.
            places: which of it is for this round.
        """
        outcomes = {
            place: self._claimed(database, sent[place].token) if self._fits(sent[place]) else "malformed"
            for place in places
        }
        accepted = [place for place, outcome in outcomes.items() if outcome == "accepted"]
        if not accepted:
            return outcomes
        by_item: dict[str, list[Any]] = defaultdict(list)
        for place in accepted:
            for item, report in sent[place].reports:
                by_item[item].append(report)
        for key in sorted(by_item):
            add_reports(database, self.kept.number, self.kept.items[key], by_item[key])
        if self.survey.keeps == "reports":
            self._keep(database, by_item)
        self._count_arrivals(database, len(accepted))
        self._close_if_full(database)
        return outcomes

    def _fits(self, sent: Sent) -> bool:
        """Whether each item that should be reported on is, once, and nothing else."""
        names = [item for item, _ in sent.reports]
        if self.survey.divides == "epsilon":
            return sorted(names) == sorted(self.kept.items)
        return len(names) == 1 and names[0] in self.kept.items

    def _claimed(self, database: SurveyDatabase, token: str | None) -> SentOutcome:
        """Mark an invitation as used, and say whether that is news."""
        if token is None:
            return "unknown" if self.survey.invited else "accepted"
        known = "SELECT 1 FROM invitations WHERE hash = ?"
        if self.survey.invited and not database.all(known, (token,)):
            return "unknown"
        under = WHOLE_SURVEY if self.survey.divides == "rounds" else self.kept.number
        claim = "INSERT INTO used VALUES (?, ?) ON CONFLICT DO NOTHING"
        return "accepted" if database.run(claim, (under, token)) else "used"

    def _keep(self, database: SurveyDatabase, by_item: dict[str, list[Any]]) -> None:
        rows = [
            (secrets.token_hex(16), self.kept.number, item, f"{self.now:%Y-%m-%d}", canonical(report))
            for item, reports in by_item.items()
            for report in reports
        ]
        database.many("INSERT INTO reports VALUES (?, ?, ?, ?, ?)", sorted(rows))

    def _count_arrivals(self, database: SurveyDatabase, people: int) -> None:
        database.run(
            "INSERT INTO arrivals VALUES (?, ?, ?) ON CONFLICT (round, slot) DO UPDATE SET "
            "people = arrivals.people + excluded.people",
            (self.kept.number, int(self.now.timestamp()) // SLOT, people),
        )

    def _close_if_full(self, database: SurveyDatabase) -> None:
        number = self.kept.number
        if not self.kept.fills:
            return
        received = dict(database.all("SELECT item, reports FROM tallies WHERE round = ?", (number,)))
        if self.kept.is_full(received):
            database.run("UPDATE rounds SET state = 'closed' WHERE number = ?", (number,))


def closed(places: Iterable[int]) -> dict[int, SentOutcome]:
    """What becomes of what is sent to a round that is not open.

    Args:
        places: its places in the batch.
    """
    return dict.fromkeys(places, "closed")


def count_refusals(database: SurveyDatabase, outcomes: Sequence[SentOutcome]) -> None:
    """Count what was refused, and for what.

    Args:
        database: the store, within a transaction.
        outcomes: what became of a batch.
    """
    for kind in sorted({each for each in outcomes if each != "accepted"}):
        database.run(
            "INSERT INTO refusals VALUES (?, ?) ON CONFLICT (kind) DO UPDATE SET "
            "times = refusals.times + excluded.times",
            (kind, outcomes.count(kind)),
        )

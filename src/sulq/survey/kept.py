"""What a collector is sent, and what it keeps of it: rounds and tallies, as rows of its tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.local.item import Item
from sulq.local.questionnaire import Questionnaire
from sulq.local.tally import Tally
from sulq.survey.database import SurveyDatabase
from sulq.survey.law import class_counts, impossible_among
from sulq.wire import canonical, digest, of_json


@dataclass(frozen=True)
class Sent:
    """What one person's device sent.

    Args:
        round: the number of the round.
        token: the hash of the invitation, or of what the device drew so as to be counted once; or None.
        reports: for each item that is reported on, its name and the report.
    """

    round: int
    token: str | None
    reports: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class KeptRound:
    """A round as it is kept.

    Args:
        number: its number, from 1.
        run: the name of the learner's run.
        questionnaire: what is asked, and how many people each item is put to.
        state: "open" or "closed".
        fills: whether it closes once every item has its people.
        deadline: when it closes, if every item has at least one report by then.
    """

    number: int
    run: str
    questionnaire: Questionnaire
    state: str
    fills: bool
    deadline: datetime | None

    @classmethod
    def of(cls, row: Sequence[Any]) -> KeptRound:
        """The round that a row of the table holds."""
        number, run, _, asked, state, fills, deadline = row
        ends = None if deadline is None else datetime.fromisoformat(deadline)
        return cls(number, run, Questionnaire.from_json(asked), state, bool(fills), ends)

    @cached_property
    def items(self) -> dict[str, Item]:
        """What is asked, by the names of the items."""
        return {item.key: item for item in self.questionnaire.items}

    @cached_property
    def planned(self) -> dict[str, int]:
        """How many people each item is put to; what is asked twice has the people of both."""
        planned = dict.fromkeys(self.items, 0)
        for item, people in zip(self.questionnaire.items, self.questionnaire.people, strict=True):
            planned[item.key] += people
        return planned

    @cached_property
    def forms(self) -> dict[str, dict[str, Any]]:
        """The items as devices read them."""
        return {
            key: {"item": item.form(), "randomizer": item.randomizer.form} for key, item in self.items.items()
        }

    def is_full(self, received: dict[str, int]) -> bool:
        """Whether every item has its people."""
        return all(received.get(key, 0) >= people for key, people in self.planned.items())

    def is_due(self, received: dict[str, int], now: datetime, closes: datetime | None) -> bool:
        """Whether its time is over, or the survey's, and every item has a report to make an estimate of."""
        over = any(end is not None and end <= now for end in (self.deadline, closes))
        return over and all(map(received.get, self.items))


@dataclass(frozen=True)
class KeptTally:
    """What is kept of all reports on an item.

    Args:
        tally: the sums.
        impossible: how many reports no device could have drawn.
        profile: how many reports are in each class, see `sulq.survey.law`.
    """

    tally: Tally
    impossible: int
    profile: NDArray[np.int64]

    @classmethod
    def of(cls, item: str, reports: int, sums: str, impossible: int, profile: str) -> KeptTally:
        """The tally that a row of the table holds."""
        whole = np.array(of_json(sums, "sums"), dtype=object)
        classes = np.array(of_json(profile, "a profile"), dtype=np.int64)
        return cls(Tally(item, reports, whole), impossible, classes)

    @classmethod
    def made_of(cls, item: Item, reports: list[Any]) -> KeptTally:
        """What is kept of these reports on an item."""
        randomizer = item.randomizer
        impossible = impossible_among(randomizer, reports)
        # Possible reports have one shape; among others, lists of the same length would look like a table.
        received = _apart(reports) if impossible else reports
        profile = class_counts(randomizer, received)
        return cls(randomizer.tally(received, item.key), impossible, profile)

    def __add__(self, other: KeptTally) -> KeptTally:
        return KeptTally(
            self.tally + other.tally, self.impossible + other.impossible, self.profile + other.profile
        )

    @property
    def row(self) -> tuple[Any, ...]:
        """The numbers of its row."""
        sums, profile = canonical(self.tally.sums.tolist()), canonical(self.profile.tolist())
        return self.tally.reports, sums, self.impossible, profile


def _apart(reports: list[Any]) -> NDArray[Any]:
    """Reports as an array of what each person sent, whatever its shape is."""
    received = np.empty(len(reports), dtype=object)
    for place, report in enumerate(reports):
        received[place] = report
    return received


def add_reports(database: SurveyDatabase, number: int, item: Item, reports: list[Any]) -> None:
    """Add reports to what is kept of an item, within a transaction that writes: nobody else does meanwhile.

    Args:
        database: the store, within a transaction.
        number: the number of the round.
        item: what was reported on.
        reports: the reports, as they were sent.
    """
    added = KeptTally.made_of(item, reports)
    columns = "reports, sums, impossible, profile"
    rows = database.all(f"SELECT {columns} FROM tallies WHERE round = ? AND item = ?", (number, item.key))
    if not rows:
        insert = f"INSERT INTO tallies (round, item, {columns}) VALUES (?, ?, ?, ?, ?, ?)"
        database.run(insert, (number, item.key, *added.row))
        return
    after = KeptTally.of(item.key, *rows[0]) + added
    database.run(
        "UPDATE tallies SET reports = ?, sums = ?, impossible = ?, profile = ? WHERE round = ? AND item = ?",
        (*after.row, number, item.key),
    )


def token_hash(token: str) -> str:
    """What is kept of an invitation.

    >>> len(token_hash("a link"))
    64
    """
    return digest(f"sulq invitation {token}")

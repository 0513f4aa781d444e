"""What one person's device has spent and reported, for as long as the person has the device.

A report and its cost are committed together, and on the disk, before anything is sent. So whoever stops the
device at whatever moment finds it either without the report or with both.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from sulq.errors import BudgetError, LedgerError
from sulq.local.item import Item
from sulq.local.report import Report
from sulq.numbers import make_rational

FORMAT = 1
_TABLES = """
CREATE TABLE ceilings (survey TEXT PRIMARY KEY, epsilon TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE reports (
    survey TEXT, item TEXT, epsilon TEXT NOT NULL, report TEXT NOT NULL, PRIMARY KEY (survey, item)
) WITHOUT ROWID;
CREATE TABLE lots (survey TEXT, round INTEGER, item TEXT NOT NULL, PRIMARY KEY (survey, round)) WITHOUT ROWID;
"""
_PATIENCE = 60


@dataclass(frozen=True)
class Lifetime:
    """A person's ε for one survey and the reports that were paid from it, in a file.

    The ε that the file met first stays the ceiling, whatever a survey says later. An item that was reported
    on is answered with the same report for ever, at no further cost.

    Args:
        path: the file; it is made if there is none. Several surveys may share it.
        survey: the name of the survey.
        epsilon: what all reports of this person in this survey may cost.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     first = Lifetime(Path(folder) / "mine.db", "health", epsilon=1)
    ...     later = Lifetime(Path(folder) / "mine.db", "health", epsilon=50)
    ...     first.left, later.left
    (Fraction(1, 1), Fraction(1, 1))
    """

    path: Path
    survey: str
    epsilon: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path))
        make_rational(self, "epsilon")
        with self._transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO ceilings VALUES (?, ?)", (self.survey, str(self.epsilon))
            )

    @property
    def left(self) -> Fraction:
        """What may still be spent."""
        with self._transaction() as connection:
            return self._left(connection)

    def reports(self, items: Sequence[Item], draw: Callable[[Item], Report]) -> list[Report]:
        """The report on each item: as it was kept, or else drawn, paid for and kept now; all or none.

        Raises BudgetError, and draws nothing, if what is left does not pay for all items that are new.

        Args:
            items: what is asked.
            draw: what makes the report on an item that was not reported on before.
        """
        with self._transaction() as connection:
            new = {item.key: item for item in items if self._kept(connection, item) is None}
            cost, left = sum((cost_of(item) for item in new.values()), Fraction(0)), self._left(connection)
            if cost > left:
                raise BudgetError("epsilon", cost, left)
            for item in new.values():
                # Paid for before it is drawn; who draws and fails undoes both.
                entry = self.survey, item.key, str(cost_of(item))
                connection.execute("INSERT INTO reports VALUES (?, ?, ?, '')", entry)
                kept = draw(item).to_json(), self.survey, item.key
                connection.execute("UPDATE reports SET report = ? WHERE survey = ? AND item = ?", kept)
            texts = [self._kept(connection, item) for item in items]
        return [Report.from_json(text) for text in texts if text is not None]

    def lot(self, number: int, items: Sequence[Item], draw: Callable[[], int]) -> Item:
        """The one item of a round that this person reports on: drawn once, and then the same.

        Args:
            number: the number of the round.
            items: what is asked.
            draw: what draws the place of an item.
        """
        with self._transaction() as connection:
            query = "SELECT item FROM lots WHERE survey = ? AND round = ?"
            row = connection.execute(query, (self.survey, number)).fetchone()
            for item in items:
                if row is not None and item.key == row[0]:
                    return item
            item = items[draw()]
            connection.execute(
                "INSERT OR REPLACE INTO lots VALUES (?, ?, ?)", (self.survey, number, item.key)
            )
            return item

    def _kept(self, connection: sqlite3.Connection, item: Item) -> str | None:
        query = "SELECT report FROM reports WHERE survey = ? AND item = ?"
        row = connection.execute(query, (self.survey, item.key)).fetchone()
        return None if row is None else str(row[0])

    def _left(self, connection: sqlite3.Connection) -> Fraction:
        query = "SELECT epsilon FROM {} WHERE survey = ?"
        [ceiling] = connection.execute(query.format("ceilings"), (self.survey,)).fetchone()
        paid = connection.execute(query.format("reports"), (self.survey,)).fetchall()
        return Fraction(ceiling) - sum((Fraction(cost) for (cost,) in paid), Fraction(0))

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """One at a time, across all processes; on the disk when it ends, and undone if it fails."""
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))  # for this person's eyes only
            with closing(sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)) as connection:
                connection.execute("PRAGMA synchronous = EXTRA")
                connection.execute("BEGIN IMMEDIATE")
                self._prepare(connection)
                yield connection
                connection.execute("COMMIT")
        except (OSError, sqlite3.Error) as error:
            raise LedgerError(
                f"cannot use {str(self.path)!r}, which keeps a person's reports: {error}"
            ) from None

    def _prepare(self, connection: sqlite3.Connection) -> None:
        [version] = connection.execute("PRAGMA user_version").fetchone()
        if version == 0 and not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            for statement in filter(str.strip, _TABLES.split(";")):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {FORMAT}")
        elif version != FORMAT:
            raise LedgerError(f"{str(self.path)!r} is no file of a person's reports of format {FORMAT}")


def cost_of(item: Item) -> Fraction:
    """What the report of a person on an item costs.

    Args:
        item: what is asked.
    """
    return item.epsilon * item.rows

"""Where results of runs are shown: kept in a file, so that they are found again after a restart.

A ledger keeps questions and answers, but not what an analyst clicked to get them. That is an address, and it
is kept here. What is shown there is made of stored answers each time, at no cost.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sulq.errors import SulqError
from sulq.serve.config import account_of
from sulq.serve.keys import AccessKey

MOST = 1_000
"""How many results of an analyst are kept; then the oldest are forgotten."""
LONGEST = 8_000
"""An address that is longer is not kept: browsers would not take it."""
PATIENCE = 10  # seconds
TABLE = """CREATE TABLE IF NOT EXISTS results (
    name TEXT NOT NULL, dataset TEXT NOT NULL, run TEXT NOT NULL, place TEXT NOT NULL, time TEXT NOT NULL,
    number INTEGER PRIMARY KEY, UNIQUE (name, dataset, run)
)"""
OLDEST = """DELETE FROM results WHERE name = :name AND number <= (
    SELECT number FROM results WHERE name = :name ORDER BY number DESC LIMIT 1 OFFSET :most)"""


@dataclass(frozen=True)
class Result:
    """Where the result of a run is shown.

    Args:
        run: the run, as its analyst calls it.
        place: the address, below that of the console.
        time: when it was last asked for.
    """

    run: str
    place: str
    time: str


class Results:
    """The results of all analysts, in the file of the keys, which nobody else may read.

    Args:
        path: the file.

    >>> from sulq.serve.keys import Keys
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, Keys(f"{folder}/curator.keys") as keys:
    ...     ada = keys.of(keys.add("ada"))
    ...     Results(keys.path).keep(ada, "people", "mine", "/d/people/table/result?by=plan")
    ...     Results(keys.path).places(ada, "people", ["mine", "yours"])
    {'mine': '/d/people/table/result?by=plan'}
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)

    def keep(self, key: AccessKey, dataset: str, run: str, place: str) -> None:
        """Remember where a result is shown; of a run, the last one.

        Args:
            key: whose it is.
            dataset: the data set.
            run: the run, as whoever has the key calls it.
            place: the address, below that of the console.
        """
        if len(place) > LONGEST:
            return
        name, time = _name(key), datetime.now(UTC).isoformat(timespec="seconds")
        with self._opened() as connection, connection:
            connection.execute(
                "INSERT OR REPLACE INTO results (name, dataset, run, place, time) VALUES (?, ?, ?, ?, ?)",
                (name, dataset, run, place, time),
            )
            connection.execute(OLDEST, {"name": name, "most": MOST})

    def newest(self, key: AccessKey, dataset: str, most: int) -> list[Result]:
        """The last results, the newest first.

        Args:
            key: whose they are.
            dataset: the data set.
            most: how many at most.
        """
        which = "WHERE name = ? AND dataset = ? ORDER BY number DESC LIMIT ?"
        with self._opened() as connection:
            rows = connection.execute(
                f"SELECT run, place, time FROM results {which}", (_name(key), dataset, most)
            )
            return [Result(*row) for row in rows]

    def places(self, key: AccessKey, dataset: str, runs: Sequence[str]) -> dict[str, str]:
        """Where the results of runs are shown, as far as that is known.

        Args:
            key: whose they are.
            dataset: the data set.
            runs: the runs, as whoever has the key calls them.
        """
        which = f"WHERE name = ? AND dataset = ? AND run IN ({', '.join('?' * len(runs))})"
        with self._opened() as connection:
            rows = connection.execute(f"SELECT run, place FROM results {which}", (_name(key), dataset, *runs))
            return dict(rows.fetchall())

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self._path, timeout=PATIENCE)) as connection:
                connection.execute(TABLE)
                yield connection
        except sqlite3.Error as error:
            raise SulqError(f"cannot use the results in {self._path}: {error}") from None


def _name(key: AccessKey) -> str:
    """Under which name results are kept: owners share runs, and an analyst may be called as one of them."""
    return "owner" if key.owner else account_of(key.name)

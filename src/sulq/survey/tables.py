"""The tables that a collector keeps.

Nothing in them links a report to an invitation: a report has a random id, which is also its place, and the
day; an invitation that was used has its hash alone. No row has a number that counts up, and no time is kept
but how many people came in each ten minutes.
"""

from __future__ import annotations

from sulq.errors import SulqError
from sulq.survey.database import SqliteDatabase, SurveyDatabase

FORMAT = "1"
TABLES = (
    "meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "rounds (number INTEGER PRIMARY KEY, run TEXT NOT NULL, question TEXT NOT NULL, asked TEXT NOT NULL, "
    "state TEXT NOT NULL, fills INTEGER NOT NULL, deadline TEXT, UNIQUE (run, question))",
    "tallies (round INTEGER NOT NULL, item TEXT NOT NULL, reports BIGINT NOT NULL, sums TEXT NOT NULL, "
    "impossible BIGINT NOT NULL, profile TEXT NOT NULL, PRIMARY KEY (round, item))",
    "invitations (hash TEXT PRIMARY KEY)",
    "used (round INTEGER NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (round, hash))",
    "reports (id TEXT PRIMARY KEY, round INTEGER NOT NULL, item TEXT NOT NULL, day TEXT NOT NULL, "
    "numbers TEXT NOT NULL)",
    "arrivals (round INTEGER NOT NULL, slot BIGINT NOT NULL, people BIGINT NOT NULL, "
    "PRIMARY KEY (round, slot))",
    "refusals (kind TEXT PRIMARY KEY, times BIGINT NOT NULL)",
)


def make_tables(database: SurveyDatabase, survey: str) -> None:
    """Make the tables if they are not there, and refuse those of another survey.

    Args:
        database: where.
        survey: the id of the survey.
    """
    # A table without row numbers lies in the order of its key, which here is random.
    ending = " WITHOUT ROWID" if isinstance(database, SqliteDatabase) else ""
    with database.transaction(write=True):
        for table in TABLES:
            database.run(f"CREATE TABLE IF NOT EXISTS {table}{ending}")
        insert = "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO NOTHING"
        database.run(insert, ("format", FORMAT))
        database.run(insert, ("survey", survey))
        kept = dict(database.all("SELECT key, value FROM meta"))
    if kept["format"] != FORMAT:
        raise SulqError(f"the store has format {kept['format']}, and {FORMAT} is the one that is known here")
    if kept["survey"] != survey:
        raise SulqError(
            "the store is that of another survey, or questions, weights, epsilon or the title were changed "
            "since it was made: take these changes back, or name another store"
        )

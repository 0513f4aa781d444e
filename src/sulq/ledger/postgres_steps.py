"""The tables of a ledger in Postgres, and how they are made, format by format.

Whatever people write (names of runs and accounts, questions, answers) is kept as the bytes of its UTF-8. A
text of Postgres cannot have the character NUL, follows the encoding of its database, and is put in order by
rules that change with the operating system. Bytes have no such trouble. Amounts are exact fractions as texts.
"""

from __future__ import annotations

TABLES = ("accounts", "entries", "format", "meta", "turns")
PREFIX = 512
"""How many bytes of a name an index puts in order: a page of an index has no room for long ones."""

STEPS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE {0}.format (version integer NOT NULL, ledger text NOT NULL)",
        "CREATE TABLE {0}.turns ()",
        "CREATE TABLE {0}.meta (key bytea PRIMARY KEY, value bytea NOT NULL)",
        """CREATE TABLE {0}.entries (
            number bigint PRIMARY KEY,
            kind text NOT NULL CHECK (kind = 'charge' OR kind = 'answer' OR kind = 'cap'),
            run bytea NOT NULL,
            question bytea NOT NULL,
            cost text NOT NULL,
            answer bytea CHECK ((answer IS NULL) = (kind <> 'answer')),
            spent text NOT NULL,
            time text NOT NULL,
            previous text NOT NULL,
            hash text NOT NULL,
            question_hash text NOT NULL,
            account bytea,
            cap text CHECK ((cap IS NULL) = (kind <> 'cap'))
        )""",
        "CREATE UNIQUE INDEX once ON {0}.entries (sha256(run), question_hash, kind) WHERE kind <> 'cap'",
        f"CREATE INDEX by_run ON {{0}}.entries (substring(run FOR {PREFIX})) WHERE kind <> 'cap'",
        "CREATE TABLE {0}.accounts (name bytea NOT NULL, spent text NOT NULL, cap text, hash text NOT NULL)",
        "CREATE UNIQUE INDEX account ON {0}.accounts (sha256(name))",
        f"CREATE INDEX by_name ON {{0}}.accounts (substring(name FOR {PREFIX}))",
        """CREATE FUNCTION {0}.refuse() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS
            $$ BEGIN RAISE EXCEPTION 'entries never change and never go'; END $$""",
        """CREATE TRIGGER no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON {0}.entries
            FOR EACH STATEMENT EXECUTE FUNCTION {0}.refuse()""",
    ),
)
"""What makes the tables of each format out of those of the format before; the first makes all of them."""

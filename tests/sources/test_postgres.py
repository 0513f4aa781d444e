"""Rows in Postgres: the same integers as from anywhere else, in one snapshot, and no message about a row."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sulq
from sulq.errors import LedgerError, SchemaError
from sulq.sources import postgres as module
from tests.postgres import PostgresServer
from tests.sources.fixed_table import SCHEMA
from tests.sources.test_same_sums import table, totals

pytest.importorskip("adbc_driver_postgresql", reason="needs pip install 'sulq[postgres]'")
TYPES = {
    "x": "double precision",
    "y": "double precision",
    "age": "bigint",
    "serial": "bigint",
    "smokes": "boolean",
    "plan": "text",
    "grade": "smallint",
    "person": "text",
}
numbers = itertools.count()


def address(server: PostgresServer, user: str = "postgres") -> str:
    return f"postgresql://{user}@/postgres?host={server.folder}"


def put(server: PostgresServer, frame: pd.DataFrame) -> str:
    """The name of a new table with these rows."""
    name, columns = f"people_{next(numbers)}", [each for each in frame if each in TYPES]
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {name} ({', '.join(f'{each} {TYPES[each]}' for each in columns)})")
        with cursor.copy(f"COPY {name} FROM STDIN") as copy:
            for row in frame[columns].astype(object).itertuples(index=False):
                copy.write_row([None if each is pd.NA else each for each in row])
    return name


def run(server: PostgresServer, statement: str) -> list[tuple[Any, ...]]:
    with server.connect() as connection:
        done = connection.execute(statement)
        return list(done.fetchall()) if done.description else []


@pytest.mark.parametrize("rows", [0, 1, 3000])
def test_a_table_and_a_query_give_the_integers_of_a_frame(postgres: PostgresServer, rows: int) -> None:
    frame = table(max(rows, 1))[:rows]
    name, truth = put(postgres, frame), totals(sulq.open(frame, SCHEMA))
    assert totals(sulq.open(address(postgres), SCHEMA, table=name)) == truth
    assert totals(sulq.open(address(postgres), SCHEMA, table=f"public.{name}", memory=0)) == truth
    query = f"SELECT * FROM {name} ORDER BY random(); -- in any order"
    query = query.replace(";", "")
    assert totals(sulq.open(address(postgres), SCHEMA, query=query)) == truth


def test_people_with_several_rows_are_counted_as_from_a_frame(postgres: PostgresServer) -> None:
    frame = table(2000)
    drawn = np.random.default_rng(1).integers(0, 700, len(frame))
    frame["person"] = [f"{each}.0" if each % 2 else str(each) for each in drawn]
    schema = sulq.Schema(SCHEMA, unit=sulq.Unit("person", rows=2))
    source = sulq.open(address(postgres), schema, table=put(postgres, frame))
    assert totals(source) == totals(sulq.open(frame, schema))


def test_every_type_of_column_is_read_as_people_mean_it(postgres: PostgresServer) -> None:
    run(postgres, "CREATE TYPE mood AS ENUM ('sad', 'glad')")
    run(postgres, "CREATE DOMAIN years AS integer CHECK (VALUE < 200)")
    run(
        postgres,
        "CREATE TABLE kinds (price numeric, paid money, code char(6), feels mood, age years, day date, "
        "at timestamp, there timestamptz, id uuid)",
    )
    run(
        postgres,
        "INSERT INTO kinds VALUES (12.50, 7.25, 'ab', 'glad', 31, '2020-01-11', '2020-01-12 23:00', "
        "'2020-01-13 01:00+02', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'), ('NaN', NULL, NULL, NULL, NULL, "
        "'infinity', '-infinity', 'infinity', NULL), (1e300::numeric, 1, 'cd', 'sad', 1, '0044-01-01 BC', "
        "'2020-01-01', '2020-01-01 12:00Z', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11')",
    )
    since = sulq.Date("2020-01-01", "2020-12-31", missing="2020-01-06")
    schema = {
        "price": sulq.Real(0, 100, missing=50),
        "paid": sulq.Real(0, 100, missing=50),
        "code": sulq.Category(["ab", "cd"]),
        "feels": sulq.Category(["sad", "glad"]),
        "age": sulq.Integer(0, 120, missing=60),
        "day": since,
        "at": since,
        "there": since,
        "id": sulq.Category(["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"]),
    }
    source = sulq.open(address(postgres), schema, table="kinds")
    values = {name: source.values(sulq.col(name)).tolist() for name in schema}
    assert values == {
        "price": [12.5, 50, 100],
        "paid": [7.25, 50, 1],
        "code": [0, 2, 1],
        "feels": [1, 2, 0],
        "age": [31, 60, 1],
        "day": [10, 5, 0],
        "at": [11, 5, 0],
        "there": [11, 5, 0],
        "id": [0, 1, 0],
    }


def test_the_number_of_rows_and_all_columns_are_of_one_moment(postgres: PostgresServer) -> None:
    name = put(postgres, table(50))
    source = sulq.open(address(postgres), SCHEMA, table=name)
    assert source.rows == 50
    run(postgres, f"DELETE FROM {name} WHERE smokes")
    assert totals(source) == totals(sulq.open(table(50), SCHEMA))
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'"
    assert run(postgres, waiting) == [(0,)], "the connection is closed once all is read"
    run(postgres, f"DROP TABLE {name}")
    assert totals(source) == totals(sulq.open(table(50), SCHEMA))


def test_a_source_that_is_closed_or_forgotten_keeps_no_connection(postgres: PostgresServer) -> None:
    name = put(postgres, table(5))
    sulq.open(address(postgres), SCHEMA, table=name).close()
    sulq.open(address(postgres), SCHEMA, table=name)
    with pytest.raises(SchemaError):
        sulq.open(address(postgres), {"shoe": sulq.Boolean()}, table=name)
    readers = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%people_%' AND pid <> pg_backend_pid()"
    assert run(postgres, readers) == [(0,)]


def test_a_role_that_may_select_from_one_view_is_enough(postgres: PostgresServer) -> None:
    name = put(postgres, table(100))
    run(postgres, f"CREATE VIEW seen AS SELECT * FROM {name}")
    run(postgres, "CREATE ROLE analyst LOGIN")
    run(postgres, "GRANT SELECT ON seen TO analyst")
    own = address(postgres, "analyst")
    assert totals(sulq.open(own, SCHEMA, table="seen")) == totals(sulq.open(table(100), SCHEMA))
    with pytest.raises(SchemaError, match="does not let this role read"):
        sulq.open(own, SCHEMA, table=name)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "say what to open"),
        ({"table": "t", "query": "SELECT 1"}, "say what to open"),
        ({"table": "nothing"}, 'relation "nothing" does not exist'),
        ({"table": 'quoted" FROM secrets --'}, "does not exist"),
        ({"table": ""}, "not the name of a table"),
        ({"query": "SELECT FROM WHERE"}, "syntax error"),
        ({"query": "SELECT 1 AS age; DROP TABLE t"}, "syntax error"),
        ({"query": "DELETE FROM t RETURNING age"}, "syntax error"),
        ({"query": "SELECT 1 AS shoe"}, "no column 'age'"),
        ({"query": 'SELECT 1 AS "two\nlines"'}, r"no column 'age'; it has 'two\\nlines'"),
        ({"query": "SELECT 1 AS age, 2 AS age"}, "several columns 'age': give them names of their own"),
        ({"query": "SELECT '{1}'::int[] AS age"}, "declared integer but holds list"),
        ({"table": "t", "encoding": "latin-1"}, "about CSV files"),
        ({"table": "t", "quoted_newlines": True}, "about CSV files"),
    ],
)
def test_what_cannot_be_opened_is_refused_in_one_line(
    postgres: PostgresServer, given: dict[str, Any], says: str
) -> None:
    run(postgres, "CREATE TABLE IF NOT EXISTS t (age integer)")
    with pytest.raises(sulq.SulqError, match=says) as refused:
        sulq.open(address(postgres), {"age": sulq.Integer(0, 120)}, **given)
    assert "\n" not in str(refused.value)
    assert str(postgres.folder) not in str(refused.value)


def test_an_address_with_a_password_is_refused_and_not_repeated() -> None:
    hidden = (
        "me:hunter2@db/x",
        "me:?hunter2@db/x",
        "me:#hunter2@db/x",
        "me:/hunter2@db/x",
        "me:hunter2@a,b/x",
    )
    settings = ("password", "pass%77ord", "sslpassword", "scram_client_key", "oauth_client_secret")
    named = [f"db/x{before}?{name}=hunter2" for name in settings for before in ("", "#")]
    for given in (f"postgresql://{each}" for each in [*hidden, *named, "me@db/x?password=hunter2"]):
        with pytest.raises(SchemaError, match="PGPASSWORD") as refused:
            sulq.open(given, SCHEMA, table="people")
        assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    "given",
    ["me@db:5432/x", "db:5432/x?user=me@there", "/x?host=/tmp&service=s", "me:@[::1]:5432/x?options=-ca=b"],
)
def test_an_address_without_a_password_is_taken(given: str) -> None:
    module._check_address(f"postgresql://{given}")


def test_what_libpq_says_of_an_address_is_said_without_its_prefixes() -> None:
    with pytest.raises(
        SchemaError, match=r'^Postgres cannot be reached: invalid URI query parameter: "bogus"$'
    ):
        sulq.open("postgresql://h/x?bogus=1", SCHEMA, table="people")


def test_functions_and_types_are_those_of_postgres_whatever_the_search_path(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(postgres, "CREATE SCHEMA other")
    run(postgres, "CREATE FUNCTION other.isfinite(date) RETURNS bool LANGUAGE sql AS 'SELECT false'")
    run(postgres, "CREATE DOMAIN other.text AS varchar(1)")
    monkeypatch.setenv("PGOPTIONS", "-c search_path=other,pg_catalog")
    schema = {"day": sulq.Date("2020-01-01", "2020-12-31"), "code": sulq.Category(["ab"])}
    query = "SELECT '2020-01-03'::date AS day, 'ab'::pg_catalog.bpchar AS code"
    source = sulq.open(address(postgres), schema, query=query)
    assert [source.values(sulq.col(name)).tolist() for name in schema] == [[2], [0]]


@pytest.mark.parametrize(
    "name", ['a"b', "Upper", "ünï", "per%cent", "two\nlines", "rows", "$1", "';--", "x" * 63]
)
def test_every_name_of_a_column_is_read(postgres: PostgresServer, name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    source = sulq.open(
        address(postgres), {name: sulq.Integer(0, 9)}, query=f"SELECT 7 AS {quoted}, 1 AS rest"
    )
    assert source.values(sulq.col(name)).tolist() == [7]


def test_a_connection_that_is_ended_while_rows_are_read_says_so_and_no_more(postgres: PostgresServer) -> None:
    ends = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
        "AND backend_type = 'client backend'"
    )
    source = sulq.open(address(postgres), SCHEMA, table=put(postgres, table(50)))
    assert source.rows == 50
    run(postgres, ends)
    with pytest.raises(sulq.SulqError) as failed:
        source.sums([sulq.col("age")])
    assert (str(failed.value), failed.value.__context__) == (module.READING_FAILS, None)


def test_a_server_that_is_not_there_is_named_as_such() -> None:
    with pytest.raises(SchemaError, match="Postgres cannot be reached"):
        sulq.open("postgresql://localhost:1/nothing?connect_timeout=2", SCHEMA, table="people")


def test_a_query_that_writes_or_fails_on_a_row_says_nothing_of_the_row(postgres: PostgresServer) -> None:
    run(postgres, "CREATE TABLE texts AS SELECT unnest(ARRAY['1', 'my secret']) AS said")
    run(
        postgres,
        "CREATE FUNCTION writes() RETURNS int VOLATILE LANGUAGE sql AS 'DELETE FROM texts RETURNING 1'",
    )
    for query in ("SELECT said::integer AS age FROM texts", "SELECT writes() AS age"):
        source = sulq.open(address(postgres), {"age": sulq.Integer(0, 120)}, query=query)
        with pytest.raises(sulq.SulqError, match="cannot read this to its end") as failed:
            source.sums([sulq.col("age")])
        assert str(failed.value) == module.READING_FAILS
        assert failed.value.__context__ is None
        assert failed.value.__cause__ is None
    assert run(postgres, "SELECT count(*) FROM texts") == [(2,)]


def test_a_ledger_must_be_named(postgres: PostgresServer, tmp_path: Any) -> None:
    source = sulq.open(address(postgres), SCHEMA, table=put(postgres, table(10)))
    with pytest.raises(LedgerError, match="no ledger beside them"):
        source.curator(1)
    with source.curator(1, ledger=tmp_path / "spent.ledger").ledger as ledger:
        assert ledger.facts["table"].startswith("people_")


def test_a_learner_runs_on_rows_in_postgres(postgres: PostgresServer) -> None:
    frame = table(2000)
    source = sulq.open(address(postgres), SCHEMA, table=put(postgres, frame))
    learner = sulq.ID3("smokes", depth=2)
    assert learner.learn(source.exact()) == learner.learn(sulq.open(frame, SCHEMA).exact())
    assert isinstance(
        sulq.Select(sulq.Thresholds("x", [-1.0, 0.0, 1.0]), "smokes").learn(
            source.curator(50, ledger=":memory:")
        ),
        sulq.Hypothesis,
    )
    assert pa.types.is_int16(
        module.PostgresRows(address(postgres), None, "SELECT 1::smallint AS a", ["a"]).types["a"]
    )

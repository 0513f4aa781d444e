"""What is particular about a ledger in Postgres; what it shares with files is tested with them."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sulq
from sulq.cli import main
from sulq.errors import LedgerError
from sulq.ledger import postgres as store_module
from sulq.ledger import postgres_steps
from sulq.ledger.carrying import carry
from sulq.ledger.ledger import Ledger
from sulq.ledger.places import Address
from sulq.ledger.stores import is_there, store_at
from tests.ledger.homes import edit, raw
from tests.ledger.ledgers import ADA, COST, FACTS, charged, never, opened, stored, token
from tests.postgres import PostgresServer
from tests.serve.services import write_people


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    return postgres.url()


@pytest.fixture
def role(postgres: PostgresServer) -> Iterator[str]:
    """A role that may do nothing yet."""
    name = f"r{secrets.token_hex(4)}"
    with postgres.connect() as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN")
        yield name
        connection.execute(f"DROP OWNED BY {name}")
        connection.execute(f"DROP ROLE {name}")


def as_role(url: str, role: str, schema: str | None = None) -> str:
    return url.replace("postgres@", f"{role}@").replace(
        Address.of(url).schema, schema or Address.of(url).schema
    )


def ended(url: str, question: str = "q") -> None:
    with opened(url) as ledger:
        ledger.release("run", question, COST, lambda: "42")


def test_a_ledger_that_is_not_there_cannot_be_read_and_is_not_made(url: str) -> None:
    with pytest.raises(LedgerError, match="see that it exists"):
        Ledger.read(url)
    assert not is_there(url)
    ended(url)
    assert is_there(url)


def test_a_schema_with_other_tables_is_refused_and_left_alone(url: str, postgres: PostgresServer) -> None:
    schema = Address.of(url).schema
    with postgres.connect() as connection:
        connection.execute(f"CREATE SCHEMA {schema}; CREATE TABLE {schema}.precious (data text)")
        for way in (opened, is_there):
            with pytest.raises(LedgerError, match="is not a ledger: there are other tables"):
                way(url)
        tables = "SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace"
        assert [name for (name,) in connection.execute(tables, (schema,))] == ["precious"]


def test_a_ledger_of_a_later_format_is_refused(url: str) -> None:
    ended(url)
    edit(url, "UPDATE format SET version = 2")
    for way in (opened, Ledger.read):
        with pytest.raises(LedgerError, match="format 2, and format 1 was expected"):
            way(url)


def test_a_ledger_of_an_earlier_format_is_upgraded_as_a_whole_or_not_at_all(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended(url)
    steps = postgres_steps.STEPS
    added = "ALTER TABLE {0}.entries ADD COLUMN later text"
    monkeypatch.setattr(postgres_steps, "STEPS", (*steps, (added, "SELECT 1 / 0")))
    with pytest.raises(LedgerError):
        opened(url)
    monkeypatch.setattr(postgres_steps, "STEPS", steps)
    old = opened(url)
    monkeypatch.setattr(postgres_steps, "STEPS", (*steps, (added,)))
    with pytest.raises(LedgerError, match="of another format"):
        Ledger.read(url)
    for _ in range(2):
        with opened(url) as ledger:
            assert (stored(ledger), ledger.verify()) == ({"q": "42"}, [])
            ledger.set_cap("run:later", COST)
    monkeypatch.setattr(postgres_steps, "STEPS", steps)
    with pytest.raises(LedgerError, match="of another format"):
        old.release("run", "another", COST, never)


def test_a_ledger_that_is_removed_or_made_anew_gives_nothing_away(url: str, postgres: PostgresServer) -> None:
    with opened(url) as ledger, postgres.connect() as connection:
        ledger.release("run", "q", COST, token)
        connection.execute(f"DROP SCHEMA {Address.of(url).schema} CASCADE")
        with pytest.raises(LedgerError, match="see that it exists"):
            ledger.release("run", "q", COST, never)
        ended(url)
        for question in ("q", "another"):
            with pytest.raises(LedgerError, match=r"no longer the one that was opened.*nothing was released"):
                ledger.release("run", question, COST, never)


def test_an_older_state_that_was_brought_back_is_noticed(url: str) -> None:
    """As after a switch to a replica that had not received everything."""
    with opened(url) as ledger:
        ledger.release("run", "q0", COST, token)
        seal = ledger.seal
        ledger.release("run", "q1", COST, token)
        edit(
            url,
            "DELETE FROM entries WHERE number > 2",
            f"UPDATE meta SET value = '2 {seal}' WHERE key = 'head'",
        )
        with pytest.raises(LedgerError, match=r"no longer has entry 4.*nothing was released"):
            ledger.release("run", "q1", COST, never)
        seal = ledger._record._seen[1]
    with Ledger.read(url) as later:
        assert later.verify() == [] and len(later.verify(seal)) == 1


def test_a_look_that_began_before_a_release_is_not_taken_for_an_older_copy(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look shows the moment of its beginning, and other threads go on writing."""
    with opened(url) as ledger:
        ledger.release("run", "q", COST, token)
        begun = type(ledger._store).transaction

        @contextmanager
        def slowly(store: Any, write: bool) -> Iterator[Any]:
            with begun(store, write) as transaction:
                if not write:
                    with ThreadPoolExecutor(1) as others:
                        others.submit(ledger.release, "run", secrets.token_hex(4), COST, token).result()
                yield transaction

        monkeypatch.setattr(type(ledger._store), "transaction", slowly)
        assert ledger.charged("run", "q")
        monkeypatch.undo()
        assert ledger.spent == 2 * COST


def test_tables_that_a_crash_would_empty_are_refused(url: str) -> None:
    ended(url)
    edit(url, "ALTER TABLE entries SET UNLOGGED")
    with pytest.raises(LedgerError, match="table entries is unlogged"):
        opened(url)


def test_a_server_that_does_not_wait_for_its_disk_is_refused(postgres: PostgresServer, url: str) -> None:
    def set_to(state: str) -> None:
        with postgres.connect() as connection:
            connection.execute(f"ALTER SYSTEM SET fsync = {state}")
            connection.execute("SELECT pg_reload_conf()")
        while postgres.connect().execute("SHOW fsync").fetchone() != (state,):
            pass

    set_to("off")
    try:
        with pytest.raises(LedgerError, match="fsync switched off"):
            opened(url)
    finally:
        set_to("on")
    ended(url)


@pytest.mark.parametrize(
    ("setting", "held"), [("off", "on"), ("local", "on"), ("remote_apply", "remote_apply")]
)
def test_a_commit_waits_for_the_disk_whatever_the_role_is_set_to(
    url: str, role: str, postgres: PostgresServer, setting: str, held: str
) -> None:
    with postgres.connect() as connection:
        connection.execute(f"ALTER ROLE {role} SET synchronous_commit = {setting}")
        connection.execute(f"ALTER ROLE {role} SET default_transaction_isolation = serializable")
        connection.execute(f"ALTER ROLE {role} SET statement_timeout = 60000")
        connection.execute(f"GRANT CREATE ON DATABASE postgres TO {role}")
    with opened(as_role(url, role)) as ledger:
        ledger.release("run", "q", COST, token)
        with ledger._store.transaction(write=True) as transaction:
            execute = transaction._execute  # type: ignore[attr-defined]
            shown = [
                execute(f"SHOW {name}").fetchone()[0] for name in ("synchronous_commit", "statement_timeout")
            ]
        assert shown == [held, "0"]


def grants(url: str, role: str) -> str:
    """What the page on the curator says that a role needs."""
    page = (Path(__file__).parents[2] / "docs" / "curator.md").read_text(encoding="utf-8")
    written = page.partition("```sql\n")[2].partition("```")[0]
    assert written.count("GRANT") == 5
    return written.replace("people", Address.of(url).schema).replace("curator", role)


def test_a_role_needs_no_more_than_the_page_says(url: str, role: str, postgres: PostgresServer) -> None:
    ended(url)
    with postgres.connect() as connection:
        connection.execute(grants(url, role))
    with opened(as_role(url, role)) as ledger:
        ledger.set_cap(ADA, Fraction(1, 2))
        ledger.release("run", "another", COST, token, account=ADA)
        ledger.release("run", "third", COST, token, account=ADA)
        assert (ledger.spent, ledger.verify()) == (3 * COST, [])
    with raw(as_role(url, role)) as connection:
        for forbidden in ("DELETE FROM entries", "UPDATE entries SET cost = '0/1'", "DROP TABLE entries"):
            with pytest.raises(connection.DatabaseError, match=r"permission denied|must be owner"):
                connection.execute(forbidden)


def test_a_role_that_may_only_read_reads_and_is_told_so(
    url: str, role: str, postgres: PostgresServer
) -> None:
    ended(url)
    schema = Address.of(url).schema
    with postgres.connect() as connection:
        with pytest.raises(LedgerError, match=r"permission denied for schema .*grant the role"):
            Ledger.read(as_role(url, role))
        connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO {role}")
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}")
    with Ledger.read(as_role(url, role)) as reader:
        assert (stored(reader), reader.verify()) == ({"q": "42"}, [])
    with (
        opened(as_role(url, role)) as ledger,
        pytest.raises(LedgerError, match="permission denied") as refused,
    ):
        ledger.release("run", "another", COST, never)
    assert "\n" not in str(refused.value)
    with pytest.raises(LedgerError, match="permission denied for database"):
        opened(as_role(url, role, "elsewhere"))


def test_a_server_that_only_reads_is_told_from_one_that_writes(
    url: str, role: str, postgres: PostgresServer
) -> None:
    """As a replica answers, or a role that is set so."""
    ended(url)
    with postgres.connect() as connection:
        connection.execute(grants(url, role))
        connection.execute(f"ALTER ROLE {role} SET default_transaction_read_only = on")
    with opened(as_role(url, role)) as ledger, pytest.raises(LedgerError, match="name the primary server"):
        ledger.release("run", "another", COST, never)


def test_names_that_somebody_put_in_the_way_are_not_used(url: str, postgres: PostgresServer) -> None:
    ended(url)
    with postgres.connect() as connection:
        connection.execute(
            """CREATE SCHEMA IF NOT EXISTS trap;
            CREATE OR REPLACE FUNCTION trap.sha256(bytea) RETURNS bytea LANGUAGE sql AS $$SELECT 'x'::bytea$$;
            CREATE OR REPLACE FUNCTION trap.equal(bytea, bytea) RETURNS boolean LANGUAGE sql AS $$SELECT false$$;
            DROP OPERATOR IF EXISTS trap.= (bytea, bytea);
            CREATE OPERATOR trap.= (FUNCTION = trap.equal, LEFTARG = bytea, RIGHTARG = bytea);
            DROP TABLE IF EXISTS trap.entries; CREATE TABLE trap.entries (number bigint)"""
        )
    trapped = f"{url}&options=-csearch_path%3Dtrap,pg_catalog"
    with opened(trapped) as ledger:
        assert ledger.release("run", "q", COST, never) == "42"
        ledger.release("run", "another", COST, token, account=ADA)
        assert (ledger.spent, ledger.verify()) == (2 * COST, [])


def test_names_of_any_length_and_letters_are_kept_and_put_in_order(url: str) -> None:
    long = "ä" * 256
    names = [
        "",
        "a",
        "a\0",
        long[:-1],
        long,
        f"{long}a",
        f"{long}\0",
        f"{long}b" * 20,
        secrets.token_hex(5000),
        "z",
    ]
    with opened(url) as ledger:
        for name in names:
            for question in ("q", "r"):
                ledger.release(name, question, Fraction(1, 100), token, account=f"analyst:{name}x")
        ledger.set_cap("run:*", Fraction(1, 2))
        in_order = sorted(names, key=str.encode)
        for most in (1, 3, None):
            runs: list[str] = []
            while page := ledger.pages.runs("", runs[-1] if runs else None, most):
                runs += [run.name for run in page]
            assert runs == in_order
        assert [run.name for run in ledger.pages.runs(long)] == [n for n in in_order if n.startswith(long)]
        assert {entry.run for entry in ledger.entries(long, begins=True)} == {
            n for n in names if n.startswith(long)
        }
        analysts = [
            account.name for account in ledger.pages.accounts() if account.name.startswith("analyst:")
        ]
        assert analysts == [
            f"analyst:{name}x" for name in sorted(names, key=lambda name: f"{name}x".encode())
        ]
        assert ledger.verify() == []


def test_a_ledger_that_others_keep_locked_releases_nothing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(url) as ledger, raw(url) as other:
        other.execute("BEGIN; LOCK TABLE turns IN EXCLUSIVE MODE")
        with monkeypatch.context() as impatient:
            impatient.setattr(store_module, "PATIENCE", 0.05)
            with pytest.raises(LedgerError, match="others have kept it locked"):
                ledger.release("run", "q", COST, never)
        assert ledger.spent == 0  # who reads does not wait
        other.execute("ROLLBACK")
        ledger.release("run", "q", COST, token)  # as patient as ever: the machine may be busy


def test_what_the_server_refuses_to_write_is_not_repeated(url: str) -> None:
    ended(url, "secret question")
    store = store_at(url)
    store.declared()
    with store.transaction(write=False) as reading:
        row = list(next(iter(reading.rows())))
    for number, kind in ((row[0], row[1]), (99, "odd")):
        with pytest.raises(LedgerError) as refused, store.transaction(write=True) as transaction:
            transaction.append([number, kind, *row[2:]])
        assert "secret" not in str(refused.value) and refused.value.__cause__ is None
    store.close()


def test_what_guards_the_entries_is_missed(url: str) -> None:
    ended(url)
    edit(url, "DROP INDEX once", "ALTER TABLE entries DISABLE TRIGGER no_change")
    with Ledger.read(url) as ledger:
        assert [line.partition(": ")[0] for line in ledger.verify()] == ["the file is damaged"] * 2


def test_the_commands_take_an_address(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    schema = sulq.Schema({"ward": sulq.Category(["a", "b"])})
    people: dict[str, Any] = {"ward": ["a", "b", "a"]}
    curator = sulq.open(people, schema).curator(epsilon=1, ledger=url)
    curator.ask(sulq.Round([sulq.count(by="ward")], share="1/4"))
    curator.ledger.close()
    assert main(["ledger", "show", url, "--entries"]) == 0
    assert main(["ledger", "verify", url]) == 0
    printed = capsys.readouterr().out
    assert f"{url} is sound: 2 entries" in printed
    seal = printed.rpartition("seal: ")[2].strip()
    assert main(["ledger", "verify", url, "--seal", seal]) == 0
    wider = sulq.Schema({"ward": sulq.Category(["a", "b"], trim=True)})
    assert carry(url, wider).words == ("column 'ward': trim was not given, is True",)
    again = sulq.open(people, wider).curator(epsilon=1, ledger=url)
    assert (again.spent, again.ledger.verify()) == (Fraction(1, 4), [])
    again.ledger.close()


def test_learning_and_serving_take_an_address(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = write_people(tmp_path)
    about = [str(data), "--schema", str(tmp_path / "people.toml"), "--epsilon", "1", "--ledger", url]
    learn = ["learn", "tree", *about, "--label", "sick", "--depth", "1", "--share", "1/4"]
    assert main([*learn, "--dry-run"]) == 0
    assert "is not there yet" in capsys.readouterr().out and not is_there(url)
    for _ in range(2):
        assert main([*learn, "--report", str(tmp_path / "report.html")]) == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"schema={Address.of(url).schema}" in page and "/sulq-pg-" not in page
    assert main(["serve", *about, "--workers", "2", "--check"]) == 0
    assert main(["serve", *about[:-3], "2", "--ledger", url, "--check"]) == 2
    assert "was made for something else" in capsys.readouterr().err
    with Ledger.read(url) as ledger:
        assert (ledger.spent, ledger.verify()) == (Fraction(1, 4), [])
    assert not list(tmp_path.glob("*.ledger"))


def test_a_ledger_is_the_same_in_both_stores(url: str, tmp_path: Any) -> None:
    """The chain begins with the same hash, and an entry of the same time would have the same."""
    beginnings = set()
    for place in (url, tmp_path / "ledger"):
        with Ledger(place, "epsilon", Fraction(1), FACTS) as ledger:
            beginnings.add(ledger.seal)
            ledger.release("run", "q", Fraction(1, 3), lambda: '{"x":1.0,"x":1.00}')
            assert stored(ledger) == {"q": '{"x":1.0,"x":1.00}'}
            assert charged(ledger) == ["q"] and ledger.spent == Fraction(1, 3)
    assert len(beginnings) == 1

"""Data is known by its real files: another name for it is neither other rows nor another budget."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sulq
from sulq.cli import main
from sulq.ledger.ledger import Ledger

SCHEMA = {"sick": sulq.Boolean()}
ROUND = sulq.Round([sulq.count(where=sulq.col("sick"))], share=0.75)


@pytest.fixture(params=["csv", "parquet"])
def people(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A file of four people, two of them sick."""
    return written(tmp_path / f"people.{request.param}", [True, True, False, False])


def written(path: Path, sick: list[bool]) -> Path:
    path.parent.mkdir(exist_ok=True)
    if path.suffix == ".parquet":
        pq.write_table(pa.table({"sick": sick}), path)
    else:
        path.write_text("\n".join(["sick", *map(str, sick), ""]))
    return path


def sick(data: str | Path) -> float:
    [answer] = sulq.open(data, SCHEMA).exact().ask(sulq.Round([sulq.count(where=sulq.col("sick"))]))
    return float(answer.value)


def spend(data: str | Path) -> Path:
    """Spend most of the budget of this data, so that nobody can do it twice."""
    curator = sulq.open(data, SCHEMA).curator(epsilon=1)
    with curator.ledger as ledger:
        curator.ask(ROUND, run=str(data))
        assert ledger.path is not None
        return ledger.path


def test_other_names_of_a_file_have_the_same_budget(
    people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = people.suffix
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / f"link{kind}").symlink_to(people)
    (tmp_path / "folder").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "indirect").symlink_to(tmp_path / "elsewhere")
    ledger = spend(people)
    assert ledger == Path(f"{people}.ledger")
    monkeypatch.chdir(tmp_path / "elsewhere")
    for name in (
        tmp_path / "elsewhere" / f"link{kind}",
        tmp_path / "folder" / people.name,
        tmp_path / "indirect" / f"link{kind}",
        tmp_path / f"peopl?{kind}",
        tmp_path / f"people*{kind}",
        tmp_path / f"peopl[e]{kind}",
        f"../people{kind}",
        f"link{kind}",
        f"*{kind}",
    ):
        with pytest.raises(sulq.BudgetError):
            spend(name)
    assert [path.name for path in tmp_path.rglob("*.ledger")] == [ledger.name]


def test_a_change_of_directory_leaves_the_budget_where_it_is(
    people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = sulq.open(people.name, SCHEMA)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert source.curator(epsilon=1).ledger.path == Path(f"{people}.ledger")
    assert source.rows == 4


def test_a_link_that_is_turned_after_opening_changes_neither_rows_nor_budget(
    people: Path, tmp_path: Path
) -> None:
    link = tmp_path / f"link{people.suffix}"
    link.symlink_to(people)
    source = sulq.open(link, SCHEMA)
    link.unlink()
    link.symlink_to(written(tmp_path / f"other{people.suffix}", [True] * 4))
    assert source.curator(epsilon=1).ledger.path == Path(f"{people}.ledger")
    assert source.exact().ask(ROUND)[0].value == 2


def test_a_file_of_exactly_this_name_is_no_pattern(people: Path, tmp_path: Path) -> None:
    odd = written(tmp_path / f"p[1]*{people.suffix}", [True, False, False, False])
    written(tmp_path / f"p1{people.suffix}", [False] * 3)
    assert sick(odd) == 1
    assert spend(odd) == Path(f"{odd}.ledger")


def test_a_folders_name_is_no_column(people: Path, tmp_path: Path) -> None:
    kind = people.suffix
    one = written(tmp_path / "sick=true" / f"a{kind}", [False, False])
    written(tmp_path / "sick=false" / f"b{kind}", [True, False])
    assert sick(one) == 0
    assert sick(tmp_path / "sick=*" / f"*{kind}") == 1


def test_a_file_with_two_names_is_read_once_and_needs_a_ledger_that_is_named(
    people: Path, tmp_path: Path
) -> None:
    other = tmp_path / f"peoples{people.suffix}"
    os.link(people, other)
    assert sick(tmp_path / f"people*{people.suffix}") == 2
    for name in (people, other):
        with pytest.raises(sulq.errors.LedgerError, match="hard link"):
            spend(name)
    sulq.open(other, SCHEMA).curator(epsilon=1, ledger=tmp_path / "named").ledger.close()
    other.unlink()
    spend(people)


def test_several_files_need_a_ledger_that_is_named(people: Path, tmp_path: Path) -> None:
    (tmp_path / f"link{people.suffix}").symlink_to(people)
    pattern = tmp_path / f"*{people.suffix}"
    assert sick(pattern) == 2, "the link is the same file"
    written(tmp_path / f"more{people.suffix}", [True])
    assert sick(pattern) == 3
    with pytest.raises(sulq.errors.LedgerError, match="the data is 2 files"):
        spend(pattern)
    assert not list(tmp_path.glob("*ledger*"))
    curator = sulq.open(pattern, SCHEMA).curator(epsilon=1, ledger=tmp_path / "named")
    curator.ask(ROUND)
    written(tmp_path / f"new{people.suffix}", [True])
    with pytest.raises(sulq.errors.LedgerError, match="rows"):
        sulq.open(pattern, SCHEMA).curator(epsilon=1, ledger=tmp_path / "named")


def test_a_ledger_from_before_names_were_resolved_is_not_forgotten(people: Path, tmp_path: Path) -> None:
    """It used to lie beside the name that was given, with stars written as underscores."""
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / f"link{people.suffix}"
    link.symlink_to(people)
    for name, older in (
        (link, f"{link}.ledger"),
        (tmp_path / f"peo*{people.suffix}", f"peo_{people.suffix}.ledger"),
    ):
        kept = tmp_path / older
        sulq.open(people, SCHEMA).curator(epsilon=1, ledger=kept).ledger.close()
        with pytest.raises(sulq.errors.LedgerError, match="move it to"):
            spend(name)
        kept.rename(f"{people}.ledger")
        spend(name)
        Path(f"{people}.ledger").unlink()


def test_tables_of_one_database_do_not_answer_for_each_other(tmp_path: Path) -> None:
    path = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE one AS SELECT true AS sick FROM range(9)")
        connection.execute("CREATE VIEW other AS SELECT NOT sick AS sick FROM one")
    first = sulq.open(path, SCHEMA, table="one").curator(epsilon=1)
    first.ask(ROUND)
    assert first.ledger.path == Path(f"{path}.ledger")
    first.ledger.close()
    with pytest.raises(sulq.errors.LedgerError, match="table"):
        sulq.open(path, SCHEMA, table="other").curator(epsilon=1)


def test_a_ledger_that_does_not_say_for_which_table_it_is_still_is_the_databases(tmp_path: Path) -> None:
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as database:
        database.execute("CREATE TABLE one AS SELECT 3 AS age, true AS sick FROM range(10)")
    source = sulq.open(path, {"age": sulq.Integer(0, 9), "sick": sulq.Boolean()}, table="one")
    facts = {"schema": source.schema.hash, "neighbours": "replace", "promise": "ε = 1 (pure)", "rows": 10}
    Ledger(f"{path}.ledger", "epsilon", Fraction(1), facts).close()
    source.curator(epsilon=1).ask(sulq.Round([sulq.count(where=sulq.col("sick"))], share=1))
    with Ledger.read(f"{path}.ledger") as ledger:
        assert ledger.spent == 1


def test_one_database_at_a_time_and_a_readable_one(tmp_path: Path) -> None:
    for name in ("a", "b"):
        with duckdb.connect(str(tmp_path / f"{name}.duckdb")) as connection:
            connection.execute("CREATE TABLE t AS SELECT true AS sick")
    with pytest.raises(sulq.errors.SchemaError, match="matches 2 databases"):
        sulq.open(tmp_path / "*.duckdb", SCHEMA, table="t")
    (tmp_path / "c.duckdb").write_bytes(b"nothing of the kind")
    with pytest.raises(sulq.errors.SchemaError, match="not a DuckDB database"):
        sulq.open(tmp_path / "c.duckdb", SCHEMA, table="t")


def test_the_command_line_goes_by_real_files_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path / "people.csv", [True, False] * 50)
    (tmp_path / "link.csv").symlink_to(tmp_path / "people.csv")
    (tmp_path / "people.toml").write_text(
        '[columns.sick]\ntype = "boolean"\n[columns.old]\ntype = "boolean"\n'
    )
    (tmp_path / "people.csv").write_text("sick,old\n" + "true,false\nfalse,true\n" * 50)
    monkeypatch.chdir(tmp_path)
    rest = ["--schema", "people.toml", "--label", "sick"]
    private = [*rest, "--epsilon", "1", "--share", "0.75"]
    assert main(["learn", "tree", "link.csv", *private]) == 0
    assert "people.csv.ledger" in capsys.readouterr().out
    assert main(["learn", "tree", "peopl?.csv", *private, "--run", "another"]) == 2
    assert "left in people.csv.ledger" in capsys.readouterr().err
    (tmp_path / "people2.csv").write_text("sick,old\n")
    assert main(["learn", "tree", "people*.csv", *private]) == 2
    assert "the data is 2 files" in capsys.readouterr().err
    assert main(["learn", "tree", "people*.csv", *rest, "--exact"]) == 0

from __future__ import annotations

import re
import shutil
import sqlite3
import tomllib
from fractions import Fraction
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import sulq
from sulq.cli import main
from sulq.drafts import draft
from sulq.ledger.ledger import Ledger
from sulq.schema import Schema


def test_the_demo_shows_the_schema_a_private_tree_an_exact_one_and_what_is_next(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["demo"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for words in ("doctor_visits", "error at 95 %", "Not to be published", "right about", "Left: ε = 0."):
        assert words in shown
    assert "sulq schema draft people.csv > people.toml" in shown


def test_a_draft_of_csv_has_names_and_holes_and_once_filled_is_a_schema(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "people.csv"
    data.write_text('age,"first name",sick\n31,Ann,true\n64,Bob,false\n,Cy,TRUE\n')
    assert main(["schema", "draft", str(data)]) == 0
    drafted = capsys.readouterr().out
    assert "Ann" not in drafted
    assert "64" not in drafted
    path = tmp_path / "people.toml"
    path.write_text(drafted)
    with pytest.raises(sulq.errors.SchemaError, match="holes"):
        Schema.of(path)
    hole = r'type = "___".*\nlow = ___.*\nhigh = ___.*\nvalues = ___.*'
    types = iter(
        ['type = "integer"\nlow = 0\nhigh = 120', 'type = "category"\nvalues = ["Ann"]', 'type = "boolean"']
    )
    path.write_text(re.sub(hole, lambda _: next(types), drafted))
    kinds = {name: kind["type"] for name, kind in tomllib.loads(path.read_text())["columns"].items()}
    assert kinds == {"age": "integer", "first name": "category", "sick": "boolean"}
    assert main(["schema", "show", str(path), "--data", str(data)]) == 0
    shown = capsys.readouterr().out
    assert "first name" in shown
    assert "has these columns" in shown


def test_a_draft_is_the_same_whatever_the_cells_hold(tmp_path: Path) -> None:
    drafts = set()
    for number, cells in enumerate((["1", "2", "3"], ["1", "word", "3"], [], ["true", "false"], ["1.5"])):
        path = tmp_path / f"{number}.csv"
        path.write_text("\n".join(["x", *cells, ""]))
        database = tmp_path / f"{number}.duckdb"
        with duckdb.connect(str(database)) as connection:
            connection.execute("CREATE TABLE t (x VARCHAR)")
            for cell in cells:
                connection.execute("INSERT INTO t VALUES (?)", [cell])
        drafts.add((draft(path), draft(database, "t")))
    assert len(drafts) == 1


def test_a_draft_proposes_rules_by_names_and_types_alone(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for cells in ("1,2,3", "x,1.234,y"):
        path.write_text(f"birth_date,cost,update\n{cells}\n")
        drafted = draft(path)
        born, cost, update = drafted.split("[columns.")[1:]
        assert 'type = "date"' in born and 'format = "%d.%m.%Y"' in born
        assert 'type = "real"' in cost and 'thousands = ","' in cost
        assert 'type = "___"' in update, "an update is no date"
        assert 'aliases = { "F" = "female" }' in drafted
    typed = draft(pa.table({"seen": pa.array([0], pa.timestamp("s")), "n": [1]}))
    assert 'type = "date"' in typed.split("[columns.")[1] and "aliases" not in typed
    filled = drafted.replace("first = ___", "first = 1900-01-01").replace("last = ___", "last = 2024-01-01")
    filled = filled.split("[columns.cost]")[0]
    (tmp_path / "t.toml").write_text(filled)
    assert isinstance(sulq.Schema.of(tmp_path / "t.toml")["birth_date"], sulq.Date)


def test_a_draft_guesses_by_names_who_is_meant_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("ward,patient,sex\nA,7,F\n")
    drafted = draft(path)
    ward, patient, sex = drafted.split("[columns.")[1:]
    assert '# column = "patient"\n# rows = ___' in drafted
    assert "By its name this may say whose row it is" in patient
    assert "By its name" not in ward
    assert 'type = "category"' in sex and 'aliases = { "F" = "female", "M" = "male" }' in sex
    assert 'missing = "drop"' in drafted
    texts = draft(pa.table({"cost": ["1,000"], "ward": ["A"], "costs": [1.0]}))
    cost, ward, costs = texts.split("[columns.")[1:]
    assert 'type = "real"' in cost and 'thousands = ","' in cost, "a text of this name may be a number"
    assert 'type = "category"' in ward and "By its name" not in costs


def test_a_draft_names_types_that_cannot_be_read() -> None:
    drafted = draft(
        pa.table({"when": pa.array([0], pa.time32("s")), "who": pa.array([b"a"]).dictionary_encode()})
    )
    assert drafted.count("convert it to numbers, booleans or text") == 2


def test_a_draft_of_parquet_takes_its_types_from_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    sample = Path(sulq.__file__).parent / "samples" / "randhie.parquet"
    assert main(["schema", "draft", str(sample)]) == 0
    drafted = capsys.readouterr().out
    assert '[columns.limited]\ntype = "boolean"' in drafted
    assert '[columns.plan]\ntype = "category"' in drafted
    assert '[columns.income]\ntype = "real"' in drafted


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["schema", "draft", "nowhere.csv"], "sulq: no file 'nowhere.csv'"),
        (["schema", "show", "nowhere.toml"], "sulq: cannot read the schema 'nowhere.toml'"),
        (["forget"], "sulq: argument COMMAND: invalid choice: 'forget'"),
        ([], "sulq: the following arguments are required: COMMAND"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert said.startswith(complaint)
    assert said.count("\n") == 1


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "sulq demo" in capsys.readouterr().out


def test_a_seal_tells_an_old_copy_of_a_ledger(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, old = tmp_path / "people.ledger", tmp_path / "old.ledger"

    def sealed() -> str:
        assert main(["ledger", "verify", str(path)]) == 0
        return capsys.readouterr().out.split()[-1]

    def spend(run: str) -> None:
        curator = sulq.randhie().curator(epsilon=1, ledger=path)
        curator.ask(sulq.Round([sulq.count()], share=0.25), run=run)
        curator.ledger.close()

    sulq.randhie().curator(epsilon=1, ledger=path).ledger.close()
    seals = [sealed()]
    spend("one")
    seals.append(sealed())
    shutil.copy(path, old)
    spend("two")
    seals.append(sealed())
    assert len(set(seals)) == 3
    for seal in seals:
        assert main(["ledger", "verify", str(path), "--seal", seal]) == 0
    assert main(["ledger", "verify", str(old), "--seal", seals[1]]) == 0
    capsys.readouterr()
    assert main(["ledger", "verify", str(old), "--seal", seals[2]]) == 1
    assert "an older copy" in capsys.readouterr().out


def test_accounts_and_caps_of_a_ledger_are_shown_where_there_are_any(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "people.ledger"
    with Ledger(path, "epsilon", Fraction(1), {}) as ledger:
        ledger.release("tree", "q", Fraction(1, 10), lambda: "1")
        assert main(["ledger", "show", str(path), "--entries"]) == 0
        assert "account" not in capsys.readouterr().out
        ledger.set_cap("analyst:*", Fraction(1, 4))
        ledger.set_cap("analyst:ada", Fraction(1, 2))
        ledger.release("tree", "r", Fraction(1, 5), lambda: "1", account="analyst:ada")
        ledger.release("tree", "s", Fraction(1, 5), lambda: "1", account="analyst:bob")
    assert main(["ledger", "show", str(path), "--entries"]) == 0
    lines = [re.split(r"\s*[│┃]\s*", line)[1:-1] for line in capsys.readouterr().out.splitlines()]
    assert ["account", "spent", "cap", "left"] in lines
    assert ["analyst:* (each)", "", "0.25", ""] in lines
    assert ["analyst:ada", "0.2", "0.5", "0.3"] in lines
    assert ["analyst:bob", "0.2", "0.25", "0.05"] in lines
    assert [line[1:6] for line in lines if line[:2] == ["4", "cap"]] == [
        ["cap", "", "analyst:ada", "", "0.1"]
    ]
    assert any(line[:5] == ["5", "charge", "tree", "analyst:ada", "0.2"] for line in lines)
    assert main(["ledger", "verify", str(path)]) == 0
    assert "is sound: 8 entries" in capsys.readouterr().out


def test_a_ledger_is_shown_and_verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "people.ledger"
    curator = sulq.randhie().curator(epsilon=1, ledger=path)
    curator.ask(sulq.Round([sulq.count(by="plan")], share="1/3"), run="plans")
    curator.ask(sulq.Round([sulq.choose(["sex", "plan"], label="bought_drugs")], share=0.25), run="tree")
    curator.ledger.close()
    assert main(["ledger", "show", str(path)]) == 0
    shown = capsys.readouterr().out
    for words in ("1 epsilon", "≈ 0.583333 (58.3%)", "plans", "tree", "0.25", "replace"):
        assert words in shown
    assert main(["ledger", "show", str(path), "--entries"]) == 0
    shown = capsys.readouterr().out
    assert "candidates" in shown, "a choice, in words"
    assert "answer" in shown
    assert main(["ledger", "verify", str(path)]) == 0
    assert "is sound: 4 entries" in capsys.readouterr().out
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TRIGGER no_change")
        connection.execute("UPDATE entries SET cost = '0/1' WHERE number = 1")
    assert main(["ledger", "verify", str(path)]) == 1
    assert "entry 1 was changed" in capsys.readouterr().out
    assert main(["ledger", "show", str(path)]) == 2
    assert main(["ledger", "show", str(tmp_path / "none.ledger")]) == 2
    (tmp_path / "junk").write_bytes(b"junk" * 1000)
    assert main(["ledger", "verify", str(tmp_path / "junk")]) == 2

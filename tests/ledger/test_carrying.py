"""A ledger is carried over to a changed schema only where no promise and no stored answer is touched."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sulq
from sulq.cli import main
from sulq.errors import LedgerError
from sulq.ledger.carried import RUN, Carry, carried_in
from sulq.ledger.carrying import carry
from sulq.ledger.ledger import Ledger

WARD = sulq.Category(["a", "b"], aliases={"A": "a"})
COLUMNS: dict[str, Any] = {
    "ward": WARD,
    "cost": sulq.Real(0, 100, missing=0),
    "day": sulq.Date("2000-01-01", "2001-01-01"),
    "person": sulq.Integer(0, 9),
}
WIDER = sulq.Category(["a", "b"], aliases={"A": "a", "B": "b"}, trim=True, fold_case=True)
ROWS = {
    "ward": ["a", "B", "b"],
    "cost": ["1,000", "2", "3"],
    "day": [""] * 3,
    "person": [1, 2, 3],
    "new": [1] * 3,
}
COUNT = sulq.Round([sulq.count(by="ward")], share=Fraction(1, 10))
TOTAL = sulq.Round([sulq.total("cost")], share=Fraction(1, 10))


def schema(unit: sulq.Unit | None = None, csv: sulq.Csv | None = None, **changed: Any) -> sulq.Schema:
    return sulq.Schema({name: kind for name, kind in (COLUMNS | changed).items() if kind}, unit, csv)


def curator(path: Path, of: sulq.Schema, **settings: Any) -> Any:
    return sulq.open(ROWS, of).curator(**({"epsilon": 1} | settings), ledger=path)


def asked(path: Path, of: sulq.Schema, *rounds: sulq.Round, **settings: Any) -> tuple[list[Any], Fraction]:
    """The answers to some rounds, and what the ledger has spent then."""
    opened = curator(path, of, **settings)
    try:
        return [opened.ask(round_)[0].value for round_ in rounds], opened.spent
    finally:
        opened.ledger.close()


def test_a_wider_reading_is_carried_over_and_only_what_it_touches_is_asked_anew(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    (_, total), spent = asked(path, schema(), COUNT, TOTAL)
    assert spent == Fraction(2, 10)
    after = schema(ward=WIDER, new=sulq.Boolean())
    with pytest.raises(
        LedgerError, match="the ledger can be carried over to the new schema: see `sulq ledger"
    ):
        curator(path, after)
    change = carry(path, after)
    assert change.words == (
        "column 'ward': 'B' is new among its aliases",
        "column 'ward': trim was not given, is True",
        "column 'ward': fold_case was not given, is True",
        "column 'new' is new",
    )
    (stored,), spent = asked(path, after, TOTAL)
    assert (stored, spent) == (total, Fraction(2, 10)), "a question about other columns is answered as before"
    _, spent = asked(path, after, COUNT)
    assert spent == Fraction(3, 10), "wards may be read otherwise since: it is a new question"
    _, spent = asked(path, after, COUNT, TOTAL)
    assert spent == Fraction(3, 10), "and asked again it is free"
    with pytest.raises(LedgerError, match="column 'new' is gone"):
        curator(path, schema())
    with Ledger.read(path) as ledger:
        assert ledger.verify() == []
        assert sulq.Schema.of(ledger.schema) == after
        assert [entry.cost for entry in ledger.entries() if entry.run == RUN] == [0, 0]


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        (
            schema(cost=sulq.Real(0, 200, missing=0)),
            "column 'cost': high was 100.0, is 200.0: stored answers",
        ),
        (schema(cost=sulq.Real(0, 100, missing=1)), "column 'cost': missing was 0.0, is 1.0: it says what"),
        (schema(cost=sulq.Real(0, 100, missing=0, drop_missing=True)), "drop_missing was not given, is True"),
        (schema(cost=sulq.Integer(0, 100, missing=0)), "column 'cost' was real, is integer: stored answers"),
        (schema(cost=sulq.Real(0, 100, missing=0, decimal=",")), "decimal was not given, is ','"),
        (schema(cost=None), "column 'cost' is gone: stored answers are about it"),
        (schema(ward=sulq.Category(["a", "b", "c"], aliases={"A": "a"})), "'c' is new among its values"),
        (schema(ward=sulq.Category(["b", "a"], aliases={"A": "a"})), "its values are in another order"),
        (schema(ward=sulq.Category(["a", "b"], missing="a", aliases={"A": "a"})), "missing was not given"),
        (schema(ward=sulq.Category(["a", "b"])), "'A' is gone from its aliases: cells that were understood"),
        (schema(ward=sulq.Category(["a", "b"], aliases={"A": "b"})), "the alias 'A' was 'a', is 'b'"),
        (schema(day=sulq.Date("2000-01-01", "2002-01-01")), "last was '2001-01-01', is '2002-01-01'"),
        (schema(day=sulq.Date("2000-01-01", "2001-01-01", format="%d.%m.%Y")), "format was not given"),
        (schema(sulq.Unit("person", 2)), "the unit is new: it says who is protected"),
        (schema(csv=sulq.Csv("latin-1")), "what is said of CSV files is new: it says which rows and cells"),
        (schema(), "the ledger has this schema already"),
    ],
)
def test_what_could_touch_a_promise_or_an_answer_is_refused_with_its_reason(
    after: sulq.Schema, reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "ledger"
    asked(path, schema(), TOTAL)
    before = path.read_bytes()
    for dry_run in (True, False):
        with pytest.raises(LedgerError) as refusal:
            carry(path, after, dry_run=dry_run)
        assert reason in str(refusal.value)
        assert "\n" not in str(refusal.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "cost",
    [
        sulq.Real(0, 100, missing=0, thousands=","),
        sulq.Real(0, 100, missing=0, strip="€"),
        sulq.Real(0, 100, missing=0, thousands=",", strip="€$"),
    ],
)
def test_rules_for_more_numbers_are_carried_over(cost: sulq.Real, tmp_path: Path) -> None:
    asked(tmp_path / "ledger", schema(), TOTAL)
    assert carry(tmp_path / "ledger", schema(cost=cost)).columns == ("cost",)
    _, spent = asked(tmp_path / "ledger", schema(cost=cost), TOTAL)
    assert spent == Fraction(2, 10)


def test_with_a_unit_every_stored_answer_is_asked_anew(tmp_path: Path) -> None:
    """Which of a person's rows count is decided by a hash of all their columns."""
    unit = sulq.Unit("person", 1)
    asked(tmp_path / "ledger", schema(unit), TOTAL)
    assert carry(tmp_path / "ledger", schema(unit, new=sulq.Boolean())).columns is None
    _, spent = asked(tmp_path / "ledger", schema(unit, new=sulq.Boolean()), TOTAL)
    assert spent == Fraction(2, 10)


def test_a_question_that_needs_the_rows_themselves_is_asked_anew(tmp_path: Path) -> None:
    columns = {"x": sulq.Boolean(), "y": sulq.Boolean(), "ward": WARD}
    rows = {"x": [True, False] * 50, "y": [True, False] * 50, "ward": ["a"] * 100}
    path, after = tmp_path / "ledger", sulq.Schema(columns | {"ward": WIDER})
    learner = sulq.Select([sulq.col("x"), ~sulq.col("x")], "y", share=Fraction(1, 10))

    def spent(of: sulq.Schema) -> Fraction:
        opened = sulq.open(rows, of).curator(epsilon=1, ledger=path)
        learner.learn(opened)
        opened.ledger.close()
        return Fraction(opened.offer.total - _left(path))

    assert spent(sulq.Schema(columns)) == Fraction(1, 10)
    carry(path, after)
    assert spent(after) == Fraction(2, 10)


def _left(path: Path) -> Fraction:
    with Ledger.read(path) as ledger:
        return ledger.remaining


def test_several_changes_follow_each_other(tmp_path: Path) -> None:
    path, steps = tmp_path / "ledger", [schema(new=sulq.Boolean()), schema(ward=WIDER, new=sulq.Boolean())]
    asked(path, schema(), COUNT)
    for step in steps:
        carry(path, step)
    assert len(asked(path, steps[-1], COUNT, TOTAL)[0]) == 2
    with Ledger.read(path) as ledger:
        assert (len(ledger.carried), ledger.verify()) == (2, [])


def test_a_ledger_of_chunks_and_one_that_has_only_a_hash_stay_with_their_schema(tmp_path: Path) -> None:
    curator(tmp_path / "chunks", schema(), answering="chunks", queries=2).ledger.close()
    with pytest.raises(LedgerError, match="a ledger of chunks is for its schema alone"):
        carry(tmp_path / "chunks", schema(new=sulq.Boolean()))
    curator(tmp_path / "old", schema()).ledger.close()
    with closing(sqlite3.connect(tmp_path / "old")) as connection:
        connection.execute("DELETE FROM meta WHERE key = 'schema'")
        connection.commit()
    with pytest.raises(LedgerError, match="kept only a hash of its schema"):
        carry(tmp_path / "old", schema(new=sulq.Boolean()))


def test_verify_finds_a_change_that_could_not_be_carried_over(tmp_path: Path) -> None:
    """Somebody who writes entries by hand, with hashes that fit."""
    path, wide = tmp_path / "ledger", schema(cost=sulq.Real(0, 200, missing=0))
    opened = curator(path, schema())
    forged = Carry(json.dumps(wide.form()), ("nothing",), ())
    opened.ledger.release(RUN, '{"carry":1}', Fraction(0), lambda: forged.text)
    opened.ledger.close()
    with Ledger.read(path) as ledger:
        assert ledger.verify() == ["change 1 of the schema is none that can be carried over"]


def test_a_change_of_a_later_version_is_refused(tmp_path: Path) -> None:
    opened = curator(tmp_path / "ledger", schema())
    opened.ledger.release(RUN, '{"carry":1}', Fraction(0), lambda: '{"carry": 2}')
    opened.ledger.close()
    with pytest.raises(LedgerError, match="a change of its schema that cannot be read"):
        Ledger.read(tmp_path / "ledger")


def test_the_command_says_what_it_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, toml = tmp_path / "ledger", tmp_path / "new.toml"
    before = sulq.Schema({"ward": sulq.Category(["a"])})
    sulq.open({"ward": ["a"]}, before).curator(epsilon=1, ledger=path).ledger.close()
    toml.write_text('[columns.ward]\ntype = "category"\nvalues = ["a"]\naliases = { "A" = "a" }\n')
    assert main(["ledger", "carry", str(path), "--schema", str(toml), "--dry-run"]) == 0
    assert capsys.readouterr().out == (
        "column 'ward': 'A' is new among its aliases\nStored answers about ward are not given again.\n"
        "Nothing was changed.\n"
    )
    assert main(["ledger", "carry", str(path), "--schema", str(toml)]) == 0
    assert "This was recorded; what was spent stays spent." in capsys.readouterr().out
    assert main(["ledger", "carry", str(path), "--schema", str(toml)]) == 2
    assert "the ledger has this schema already" in capsys.readouterr().err
    assert main(["ledger", "show", str(path), "--entries"]) == 0
    assert "'A' is new among its aliases" in capsys.readouterr().out
    assert main(["ledger", "verify", str(path)]) == 0
    with Ledger.read(path) as ledger:
        assert len(carried_in(ledger._store)) == 1
        assert "the schema was changed: column &#x27;ward&#x27;: &#x27;A&#x27; is new" in ledger._repr_html_()


def test_a_run_that_is_called_like_the_record_of_changes_is_a_run_like_others(tmp_path: Path) -> None:
    path = tmp_path / "people.ledger"
    curator = sulq.open(ROWS, schema()).curator(epsilon=1, ledger=path)
    curator.ask(COUNT, RUN)
    assert "how many rows by ward" in curator.ledger._repr_html_() and not curator.ledger.verify()
    curator.ledger.close()
    assert main(["ledger", "show", str(path), "--entries"]) == 0
    assert carry(path, schema(ward=WIDER)).columns == ("ward",)
    with Ledger.read(path) as ledger:
        assert len(ledger.carried) == 1 and ledger.spent == Fraction(1, 10) and not ledger.verify()
        assert "the schema was changed" in ledger._repr_html_()

"""Columns of dates: read from texts, dates and timestamps, and asked about like the numbers they are."""

from __future__ import annotations

import datetime
import pickle
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

import sulq
from sulq.cli import main
from sulq.dates import WEEKDAYS, Date
from sulq.errors import QueryError, SchemaError
from tests.effort import examples

BORN = Date("2000-01-01", "2003-12-31", missing="2000-01-02")
DAYS = [
    datetime.date(2000, 2, 29),
    datetime.date(2003, 12, 31),
    None,
    datetime.date(1990, 1, 1),
    datetime.date(2030, 1, 1),
]
born = sulq.col("born")


def ask(data: Any, *queries: sulq.Query, kind: Date = BORN) -> list[Any]:
    answers = sulq.open(data, {"born": kind}).exact().ask(sulq.Round(list(queries)))
    return [np.asarray(answer.value).tolist() for answer in answers]


@pytest.mark.parametrize(
    "way", ["text", "csv", "date32", "date64", "timestamp", "zone", "parquet", "pandas", "objects", "polars"]
)
def test_dates_are_the_same_from_every_source(way: str, tmp_path: Path) -> None:
    texts = [None if day is None else day.isoformat() for day in DAYS]
    table = pa.table({"born": DAYS})
    stamps = [None if day is None else datetime.datetime.combine(day, datetime.time(23, 59)) for day in DAYS]
    in_zone = pd.Series(stamps).dt.tz_localize("Asia/Tokyo")
    data: Any = {
        "text": {"born": texts},
        "date32": table,
        "date64": table.cast(pa.schema([("born", pa.date64())])),
        "timestamp": pa.table({"born": stamps}),
        "zone": pd.DataFrame({"born": in_zone}),
        "pandas": pd.DataFrame({"born": pd.to_datetime(texts)}),
        "objects": pd.DataFrame({"born": DAYS}),
        "polars": pl.DataFrame({"born": DAYS}),
    }.get(way, tmp_path / f"t.{way}")
    if way == "csv":
        data.write_text("born,x\n" + "".join(f"{text or ''},1\n" for text in texts))
    elif way == "parquet":
        pq.write_table(table, data)
    one_each = sulq.count(by="born")
    [counts] = ask(data, one_each)
    expected = [
        BORN.day(day) for day in ("2000-02-29", "2003-12-31", "2000-01-02", "2000-01-01", "2003-12-31")
    ]
    assert counts == np.bincount(expected, minlength=BORN.high + 1).tolist()


def test_a_format_is_declared_and_never_guessed() -> None:
    kind = Date("2000-01-01", "2003-12-31", missing="2000-01-01", format="%d.%m.%Y")
    cells = {"born": ["02.01.2000", " 3.1.2000 ", "2000-01-05", "31.02.2000", "x", "", None]}
    assert ask(cells, sulq.total("born"), kind=kind) == [1 + 2]
    assert ask(cells, sulq.total("born"), kind=Date("2000-01-01", "2003-12-31", "2000-01-01")) == [4]


@settings(max_examples=examples(60))
@given(st.dates(datetime.date(1999, 6, 1), datetime.date(2004, 6, 1)), st.dates(datetime.date(1990, 1, 1)))
def test_years_months_weekdays_and_ages_are_those_of_the_calendar(
    day: datetime.date, at: datetime.date
) -> None:
    clamped = min(max(day, BORN.first), BORN.last)
    round_ = [
        sulq.total(born.year()),
        sulq.total(born.month()),
        sulq.count(by=born.weekday()),
        sulq.total(born.years_at(at)),
        sulq.count(where=born >= at.isoformat()),
        sulq.count(where=born.weekday() == "Monday"),
    ]
    year, month, weekday, age, since, monday = ask({"born": [day]}, *round_)
    assert (year, month, weekday.index(1)) == (clamped.year, clamped.month, clamped.weekday())
    assert age == at.year - clamped.year - ((at.month, at.day) < (clamped.month, clamped.day))
    assert (since, monday) == (clamped >= at, clamped.weekday() == 0)


def test_answers_in_groups_name_years_weekdays_and_dates() -> None:
    source = sulq.open({"born": DAYS}, {"born": Date("2000-01-01", "2000-01-03")})
    answers = source.exact().ask(
        sulq.Round([sulq.count(by=by) for by in (born, born.year(), born.weekday())])
    )
    labels = [answer.axes[0].labels for answer in answers]
    assert labels == [("2000-01-01", "2000-01-02", "2000-01-03"), ("2000",), WEEKDAYS]


def test_means_and_bins_of_dates_are_in_days_that_the_kind_turns_into_dates() -> None:
    cells = {"born": ["2000-01-01", "2000-01-03", "2001-01-01"]}
    halves = sulq.bins("born", [BORN.day("2000-06-01")])
    mean, counts = ask(cells, sulq.mean("born", where=born < "2000-02-01"), sulq.count(by=halves))
    assert BORN.date(mean) == datetime.date(2000, 1, 2)
    assert counts == [2, 1]


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_dates_cost_what_their_public_range_says(neighbours: Any) -> None:
    schema = sulq.Schema({"born": BORN})
    sizes = {
        name: sulq.Round([sulq.total(value)]).sensitivity(schema, order=1, neighbours=neighbours)
        for name, value in {"days": born, "year": born.year(), "age": born.years_at("2020-01-01")}.items()
    }
    whole = neighbours == "add-remove"
    assert sizes == {"days": 1460, "year": 2003 if whole else 3, "age": 20 if whole else 4}


def test_a_curator_a_plan_and_a_tree_take_dates() -> None:
    rng = np.random.default_rng(0)
    days = np.datetime64("2000-01-01") + rng.integers(0, 1461, 2_000)
    schema = sulq.Schema({"born": BORN, "late": sulq.Boolean()})
    source = sulq.open({"born": days, "late": days > np.datetime64("2001-12-31")}, schema)
    learner = sulq.ID3("late", depth=1, bins={"born": [BORN.day("2002-01-01")]})
    tree = learner.learn(source.curator(epsilon=50, ledger=":memory:"))
    assert list(tree.predict({"born": [datetime.date(2000, 5, 1), datetime.date(2003, 5, 1)]})) == [
        False,
        True,
    ]
    assert sulq.plan(learner, schema, rows=2_000, epsilon=1) is not None


def test_a_schema_of_dates_survives_forms_toml_and_pickles(tmp_path: Path) -> None:
    schema = sulq.Schema({"born": Date("2000-01-01", datetime.date(2003, 12, 31), format="%d.%m.%Y")})
    assert sulq.Schema.of(schema.form()) == schema
    assert pickle.loads(pickle.dumps(schema["born"])) == schema["born"]
    path = tmp_path / "s.toml"
    path.write_text(
        '[columns.born]\ntype = "date"\nfirst = 2000-01-01\nlast = "2003-12-31"\nformat = "%d.%m.%Y"\n'
    )
    assert sulq.Schema.of(path).hash == schema.hash


@pytest.mark.parametrize(
    ("settings_", "complaint"),
    [
        ({}, "column 'born' needs first and last"),
        ({"first": "x", "last": "2000-01-01"}, "first = 'x' must be a date, as 2024-01-31"),
        ({"first": "2001-01-01", "last": "2000-01-01"}, "first = 2001-01-01 must not be after"),
        (
            {"first": "2000-01-01", "last": "2000-01-02", "missing": "1999-01-01"},
            "missing = 1999-01-01 must lie",
        ),
        (
            {"first": "2000-01-01", "last": "2000-01-02", "format": "%d.%m"},
            "must have a day, a month and a year",
        ),
        ({"first": "2000-01-01", "last": "2000-01-02", "format": "%d.%m.%Y%Q"}, "known are %d %m"),
        (
            {"first": "2000-01-01", "last": "2000-01-02", "low": 3},
            "unknown setting 'low'; it takes first, last",
        ),
    ],
)
def test_dates_that_make_no_sense_are_refused(settings_: dict[str, Any], complaint: str) -> None:
    with pytest.raises(SchemaError, match=complaint):
        sulq.Schema.of({"columns": {"born": {"type": "date", **settings_}}})


def test_questions_about_dates_are_refused_where_there_is_no_date() -> None:
    source = sulq.open({"born": [], "x": []}, {"born": BORN, "x": sulq.Integer(0, 9)}).exact()
    for query, complaint in (
        (lambda: sulq.total(sulq.col("x").year()), "column 'x' is not a column of dates"),
        (lambda: sulq.count(where=born >= "soon"), "'soon' must be a date"),
        (lambda: sulq.total(born.years_at("soon")), "'soon' is not a day"),
        (lambda: sulq.total(born.weekday()), "the weekday of column 'born' is a category"),
    ):
        with pytest.raises(QueryError, match=complaint):
            source.ask(sulq.Round([query()]))
    with pytest.raises(SchemaError, match="declared date but holds int64"):
        sulq.open({"born": np.array([1])}, {"born": BORN})


def test_the_command_line_compares_dates_and_shows_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text("born,sick\n" + "2001-05-05,true\n2000-01-01,false\nsoon,true\n" * 100)
    schema = '[columns.born]\ntype = "date"\nfirst = 2000-01-01\nlast = 2003-12-31\n[columns.sick]\ntype = "boolean"\n'
    (tmp_path / "s.toml").write_text(schema)
    data = [str(tmp_path / "t.csv"), "--schema", str(tmp_path / "s.toml")]
    assert main(["schema", "show", str(tmp_path / "s.toml")]) == 0
    assert "2000-01-01 to 2003-12-31" in capsys.readouterr().out
    tree = ["learn", "tree", *data, "--label", "born>=2001-01-01", "--features", "sick", "--exact"]
    assert main(tree) == 0
    capsys.readouterr()
    tree[tree.index("born>=2001-01-01")] = "born>=2010-01-01"
    assert main(tree) == 2
    assert "lies between 2000-01-01 and 2003-12-31" in capsys.readouterr().err


def test_a_cell_that_is_not_in_utf_8_is_no_date_and_stops_nothing(tmp_path: Path) -> None:
    """DuckDB's trim fails on such a cell, and from then on all that it is asked for."""
    cells = [b"31.12.1999", b"\xff1.12.1999", b"F\xe9vrier", b" 01.01.2000 "]
    (tmp_path / "born.csv").write_bytes(b"\n".join([b"born,x", *(cell + b",1" for cell in cells), b""]))
    _, ends, letters = pa.array(cells, pa.binary()).buffers()
    texts = pa.StringArray.from_buffers(len(cells), ends, letters)
    pq.write_table(pa.table({"born": texts}), tmp_path / "born.parquet")
    kind = Date("1900-01-01", "2020-01-01", missing="1900-01-01", format="%d.%m.%Y")
    for rows in (tmp_path / "born.csv", tmp_path / "born.parquet", pa.table({"born": texts})):
        values = sulq.open(rows, {"born": kind}).values(born)
        assert values.tolist() == [kind.day("1999-12-31"), 0, 0, kind.day("2000-01-01")]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_far_off_are_clamped_to_their_own_end(unit: str) -> None:
    ends = pa.array([-(2**63) + 1, 2**63 - 1, -1, 0, None], pa.int64())
    days = Date("1950-01-01", "2000-01-01", missing="1999-01-01")
    right = [0, days.high, days.day("1969-12-31"), days.day("1970-01-01"), days.day("1999-01-01")]
    for type_ in (pa.timestamp(unit), pa.timestamp(unit, "UTC"), pa.date64()):
        cells = pa.table({"x": ends.cast(type_)})
        assert sulq.open(cells, {"x": days}).values(sulq.col("x")).tolist() == right

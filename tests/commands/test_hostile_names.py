"""Names in a schema and spellings in rows are others' words: no terminal, page or spreadsheet obeys them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import sulq
from sulq.cli import main

NAME = "=ward\x1b[2J<b>"
VALUES = [
    "=cmd|' /C calc'!A0",
    "@SUM(1)",
    "+1+1",
    "-5",
    "\x1b[31mred",
    "<script>alert(1)</script>",
    "two\tparts",
]
SCHEMA = sulq.Schema({NAME: sulq.Category(VALUES, missing="-5"), "cost": sulq.Real(0, 10)})


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    with (tmp_path / "people.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([NAME, "cost"])
        writer.writerows(
            [[value, "\x1b]0;title\x07" if place == 3 else place] for place, value in enumerate(VALUES)]
        )
        writer.writerows([["\x1b[8mhidden", 1]] * 3)
    lines = []
    for name, kind in SCHEMA.items():
        lines.append(f"[columns.{json.dumps(name)}]\ntype = {json.dumps(kind.type)}\n")
        lines += [f"{setting} = {json.dumps(value)}\n" for setting, value in kind.settings().items()]
    (tmp_path / "people.toml").write_text("".join(lines))
    return str(tmp_path / "people.csv"), str(tmp_path / "people.toml")


@pytest.mark.parametrize(
    "command",
    ["check", "schema show", "table", "dry run", "sql", "explain", "no such value", "no such column"],
)
def test_no_command_prints_what_a_terminal_would_obey(
    command: str, files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    data, schema = files
    table = ["table", data, "--schema", schema, "--by", NAME, "--median", "cost", "--epsilon", "1"]
    equal = f"\"{NAME}\" = '{VALUES[4]}'"
    select = f'SELECT "{NAME}", count(*) AS "n\x1b[2J\nof" FROM p WHERE {equal} GROUP BY 1'
    sql = ["sql", data, "--schema", schema, "--epsilon", "1"]
    words = {
        "check": ["check", data, "--schema", schema],
        "schema show": ["schema", "show", schema],
        "table": table,
        "dry run": [*table, "--dry-run"],
        "sql": [*sql, select],
        "explain": [*sql, f"EXPLAIN SELECT count(*) FILTER (WHERE {equal}) FROM p"],
        "no such value": [*sql, select.replace("red", "green")],
        "no such column": [*sql, "SELECT avg(nothing) FROM p"],
    }[command]
    main(words)
    printed = "".join(capsys.readouterr())
    assert printed and not {"\x1b", "\x07"} & set(printed)
    assert "no such" not in command or printed.count("\n") == 1


def test_names_in_a_csv_file_are_no_formulas_and_those_on_a_page_no_tags() -> None:
    rows = {NAME: VALUES, "cost": [1.0] * len(VALUES)}
    table = sulq.Table([NAME], means=["cost"]).learn(sulq.open(rows, SCHEMA).exact())
    text = table.to_csv(margins=True)
    assert text is not None
    read = list(csv.reader(text.splitlines()))
    assert [line[0] for line in read[1:5]] == ["'" + VALUES[0], "'@SUM(1)", "'+1+1", "-5"]
    assert read[0][0] == "'" + NAME
    assert "<script" not in table._repr_html_() + table.picture()
    assert "\x1b" not in table.describe()

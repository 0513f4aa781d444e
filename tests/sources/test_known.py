"""Which cells held a number is kept where the schema says so, by every source and for every oracle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sulq

CELLS = {"cost": ["10", None, "", "x", "30", "99999"], "n": [1, None, 3, 4, 5, 6]}
SCHEMA = {"cost": sulq.Real(0, 100, drop_missing=True), "n": sulq.Integer(0, 9, drop_missing=True)}
COST, N = sulq.known("cost"), sulq.known("n")
ROUND = sulq.Round(
    [
        sulq.mean("cost", where=COST),
        sulq.count(where=N),
        sulq.count(by=[COST, N]),
        sulq.mean("n", where=COST & N),
    ]
)
EXPECTED = [(10 + 30 + 100) / 3, 5, [[1, 2], [0, 3]], 4]


def answers(oracle: Any) -> list[Any]:
    return [np.asarray(answer.value).tolist() for answer in oracle.ask(ROUND)]


@pytest.mark.parametrize("way", ["csv", "parquet", "pandas", "arrow", "duckdb"])
def test_every_source_knows_which_cells_held_a_number(way: str, tmp_path: Path) -> None:
    table = pa.table({"cost": CELLS["cost"], "n": CELLS["n"]})
    data: Any = table
    if way == "csv":
        data = tmp_path / "t.csv"
        pd.DataFrame(CELLS).to_csv(data, index=False)
    elif way == "parquet":
        data = tmp_path / "t.parquet"
        pq.write_table(table, data)
    elif way == "pandas":
        data = pd.DataFrame(CELLS)
    elif way == "duckdb":
        data = duckdb.connect().from_arrow(table)
    source = sulq.open(data, SCHEMA)
    source.exact().ask(sulq.Round([sulq.total("cost")]))
    assert answers(source.exact()) == EXPECTED, "also after other columns were read"


def test_with_a_unit_the_rows_that_count_are_the_same() -> None:
    schema = sulq.Schema(SCHEMA, sulq.Unit("person", 1))
    source = sulq.open({**CELLS, "person": [1, 2, 3, 4, 5, 6]}, schema)
    assert answers(source.exact()) == EXPECTED
    twice = {name: [*cells, *cells] for name, cells in {**CELLS, "person": [1, 2, 3, 4, 5, 6]}.items()}
    assert answers(sulq.open(twice, schema).exact()) == EXPECTED


def test_a_mean_of_known_cells_has_the_error_bar_of_both_its_sums() -> None:
    rng = np.random.default_rng(3)
    cost = np.where(rng.random(20_000) < 0.3, np.nan, rng.uniform(0, 50, 20_000))
    source = sulq.open({"cost": cost}, {"cost": sulq.Real(0, 100, drop_missing=True)})
    truth = np.nanmean(cost)
    answer = source.curator(epsilon=1, ledger=":memory:").ask(
        sulq.Round([sulq.mean("cost", where=COST)], share=1)
    )[0]
    # A false alarm happens once in a million runs; cells that became 50 would be 7.5 off.
    radius = float(np.max(answer.radius(1e-6)))
    assert radius < 1
    assert abs(answer.value - truth) <= radius


def test_nobody_known_is_answered_like_any_other_selection() -> None:
    source = sulq.open({"cost": ["x", None]}, {"cost": sulq.Real(0, 100, drop_missing=True)})
    curator = source.curator(epsilon=1, ledger=":memory:")
    assert np.ndim(curator.ask(sulq.Round([sulq.mean("cost", where=COST)], share=1))[0].value) == 0
    empty = sulq.open({"cost": []}, {"cost": sulq.Real(0, 100, drop_missing=True)})
    assert empty.exact().ask(sulq.Round([sulq.count(where=COST)]))[0].value == 0


def test_devices_answer_whether_their_own_cell_is_known() -> None:
    source = sulq.open({"cost": [1.0, None] * 500}, {"cost": sulq.Real(0, 100, drop_missing=True)})
    [share] = source.crowd(epsilon=8).ask(sulq.Round([sulq.mean(COST)], share=1))
    assert abs(share.value - 0.5) <= np.max(share.radius(1e-6))


def test_columns_that_do_not_keep_it_are_refused() -> None:
    source = sulq.open({"x": [], "c": []}, {"x": sulq.Real(0, 1), "c": sulq.Category(["a"])})
    for name in "xc":
        with pytest.raises(sulq.QueryError, match=f"column '{name}' does not keep which cells are missing"):
            source.exact().ask(sulq.Round([sulq.count(where=sulq.known(name))]))


def test_drop_is_declared_in_toml_and_part_of_the_form(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(
        '[columns.cost]\ntype = "real"\nlow = 0\nhigh = 100\nmissing = "drop"\n'
        '[columns.day]\ntype = "date"\nfirst = 2000-01-01\nlast = 2001-01-01\nmissing = "drop"\n'
    )
    day = sulq.Date("2000-01-01", "2001-01-01", drop_missing=True)
    schema = sulq.Schema({"cost": sulq.Real(0, 100, drop_missing=True), "day": day})
    assert sulq.Schema.of(path) == schema == sulq.Schema.of(schema.form())
    assert (
        schema.hash
        != sulq.Schema({"cost": sulq.Real(0, 100), "day": sulq.Date("2000-01-01", "2001-01-01")}).hash
    )
    with pytest.raises(sulq.errors.SchemaError, match="missing = 'drop' must be one of the values"):
        sulq.Schema.of({"columns": {"c": {"type": "category", "values": ["a"], "missing": "drop"}}})

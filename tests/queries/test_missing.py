"""Where the schema drops missing cells, sums and means leave their rows out, at the stated sensitivity."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any, Literal, get_args

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sulq
from sulq.queries.query import Neighbours
from sulq.queries.rounds import asked_of
from sulq.queries.scope import scope_of

col, known = sulq.col, sulq.known
CELLS: dict[str, list[Any]] = {
    "cost": ["10", None, "", "x", "30", "99999"],
    "sick": ["true", "false", "", "?", "true", "false"],
    "day": ["2000-01-03", "", "2000-01-05", "2000-01-01", "soon", "2000-01-09"],
    "ward": ["a", "a", "b", "b", "b", "a"],
}
SCHEMA = {
    "cost": sulq.Real(0, 100, drop_missing=True),
    "sick": sulq.Boolean(drop_missing=True),
    "day": sulq.Date("2000-01-01", "2000-12-31", drop_missing=True),
    "ward": sulq.Category(["a", "b"], missing="a"),
}
ROUND = sulq.Round(
    [
        sulq.mean("cost"),
        sulq.total("cost"),
        sulq.mean("sick"),
        sulq.mean("day"),
        sulq.mean("cost", by="ward"),
        sulq.mean("cost", where=known("sick")),
        sulq.mean(col("cost") + col("day")),
        sulq.mean(col("day").month()),
    ]
)
COST, MONTH = (10 + 30 + 100) / 3, 1.0
TRUTH = [COST, 140, 0.5, (2 + 4 + 0 + 8) / 4, (10 + 100) / 2, 30, COST, (12 + 108) / 2, MONTH]
READS_THE_CONSTANT = sulq.Round(
    [
        sulq.count(),
        sulq.count(where=col("cost") > 40),
        sulq.mean(col("cost") > 40),
        sulq.mean(sulq.where(known("cost"), col("cost"), 0)),
        sulq.total(sulq.features("cost")),
        sulq.total(sulq.one_hot("sick")),
        sulq.total(sulq.where("sick", 5, 7)),
        sulq.total(sulq.lookup("sick", [5, 7])),
    ]
)


def answers(oracle: Any, round_: sulq.Round = ROUND) -> list[Any]:
    return [number for answer in oracle.ask(round_) for number in np.ravel(answer.value).tolist()]


@pytest.mark.parametrize("way", ["csv", "parquet", "pandas", "arrow", "duckdb", "toml"])
def test_every_source_leaves_out_what_the_schema_drops(way: str, tmp_path: Path) -> None:
    table, schema = pa.table(CELLS), sulq.Schema(SCHEMA)
    data: Any = table
    if way in ("csv", "toml"):
        data = tmp_path / "t.csv"
        pd.DataFrame(CELLS).to_csv(data, index=False)
    elif way == "parquet":
        data = tmp_path / "t.parquet"
        pq.write_table(table, data)
    elif way == "pandas":
        data = pd.DataFrame(CELLS)
    elif way == "duckdb":
        data = duckdb.connect().from_arrow(table)
    if way == "toml":
        drop = {"missing": "drop"}
        days = {"type": "date", "first": "2000-01-01", "last": "2000-12-31"}
        columns = {
            "cost": {"type": "real", "low": 0, "high": 100} | drop,
            "sick": {"type": "boolean"} | drop,
            "day": days | drop,
            "ward": SCHEMA["ward"],
        }
        schema = sulq.Schema.of({"columns": columns})
        assert schema == sulq.Schema(SCHEMA)
    assert answers(sulq.open(data, schema).exact()) == pytest.approx(TRUTH, abs=1e-6)


def test_conditions_groups_and_features_read_the_public_constant() -> None:
    source = sulq.open(CELLS, SCHEMA)
    expected = [6, 4, 4 / 6, 140 / 6, -0.8 - 0.4 + 1, 4, 2, 38, 34]
    assert answers(source.exact(), READS_THE_CONSTANT) == pytest.approx(expected, abs=1e-3)


def test_a_schema_without_the_rule_asks_what_it_asked_before() -> None:
    plain = sulq.Schema({"cost": sulq.Real(0, 100), "sick": sulq.Boolean()})
    round_ = sulq.Round([sulq.mean("cost"), sulq.total("cost", where="sick")])
    assert asked_of(round_, plain) is round_
    assert asked_of(READS_THE_CONSTANT, sulq.Schema(SCHEMA)) is READS_THE_CONSTANT
    stated = sulq.Round(
        [sulq.mean("cost", where=known("cost")), sulq.mean("day", where=known("day") & col("ward").isin("a"))]
    )
    assert asked_of(stated, sulq.Schema(SCHEMA)) is stated, "what is stated is not stated twice"
    once = asked_of(ROUND, sulq.Schema(SCHEMA))
    assert asked_of(once, sulq.Schema(SCHEMA)) is once


@pytest.mark.parametrize("neighbours", get_args(Neighbours))
@pytest.mark.parametrize("per_person", [None, 1, 2])
@pytest.mark.parametrize("order", [1, 2])
def test_no_neighbour_moves_the_sums_further_than_stated(
    neighbours: Neighbours, per_person: int | None, order: Literal[1, 2]
) -> None:
    """All tables of two rows of extreme or missing cells, and all their neighbours: nothing is left to chance."""
    columns = {
        "x": sulq.Integer(-3, 1, drop_missing=True),
        "sick": sulq.Boolean(drop_missing=True),
        "person": sulq.Integer(0, 9),
    }
    schema = sulq.Schema(columns, None if per_person is None else sulq.Unit("person", per_person))
    round_ = sulq.Round(
        [
            sulq.mean("x"),
            sulq.total("x", by="sick"),
            sulq.mean("sick"),
            sulq.total(col("x") * 2, where="sick"),
        ]
    )
    parts = [part for query in asked_of(round_, schema).queries for part in query.parts]
    rows = list(product([-3, 1, None], [True, False, None]))

    def sums(table: list[tuple[Any, ...]]) -> np.ndarray:
        cells = {name: [row[place] for row in table] for place, name in enumerate(columns)}
        typed = pa.table(
            {
                name: pa.array(each, pa.int64() if name != "sick" else pa.bool_())
                for name, each in cells.items()
            }
        )
        found = sulq.open(typed, schema).sums(parts)
        units = [float(scope_of(schema).number(part).unit) for part in parts]
        return np.concatenate(
            [np.array(each, dtype=float) * unit for each, unit in zip(found, units, strict=True)]
        )

    many = per_person or 1
    of_row = {row: sums([(*row, 1)]) for row in rows}
    persons = [sum(map(of_row.__getitem__, each)) for each in product(rows, repeat=many)]
    furthest = max(
        np.linalg.norm(one - other, order)
        for one in persons
        for other in (persons if neighbours == "replace" else [np.zeros_like(persons[0])])
    )
    stated = float(round_.sensitivity(schema, order, neighbours))
    assert furthest <= stated * (1 + 1e-12)
    # Without the rows that are left out, another value would be the furthest: the bound is about these sums.
    assert stated <= 3 * furthest


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("neighbours", get_args(Neighbours))
def test_a_noisy_mean_of_known_cells_is_within_its_error_bar(unit: bool, neighbours: Neighbours) -> None:
    rng = np.random.default_rng(3)
    cost = np.where(rng.random(20_000) < 0.3, np.nan, rng.uniform(0, 50, 20_000))
    columns = {"cost": sulq.Real(0, 100, drop_missing=True), "person": sulq.Integer(0, 20_000)}
    schema = sulq.Schema(columns, sulq.Unit("person", 1) if unit else None)
    source = sulq.open({"cost": cost, "person": np.arange(20_000)}, schema)
    curator = source.curator(epsilon=1, neighbours=neighbours, ledger=":memory:")
    [answer] = curator.ask(sulq.Round([sulq.mean("cost")], share=1))
    # A false alarm happens once in a million runs; cells that became 50 would be 7.5 off.
    radius = float(np.max(answer.radius(1e-6)))
    assert radius < 1
    assert abs(answer.value - np.nanmean(cost)) <= radius


def test_the_ledger_keeps_which_rows_were_left_out() -> None:
    curator = sulq.open(CELLS, SCHEMA).curator(epsilon=100, ledger=":memory:")
    first = curator.ask(sulq.Round([sulq.mean("cost")], share=0.5))
    stated = curator.ask(sulq.Round([sulq.mean("cost", where=known("cost"))], share=0.5))
    assert first[0].value == stated[0].value, "it is the same question, and paid for once"
    assert curator.spent == curator.offer.total / 2
    assert '"node":"known"' in next(curator.ledger.entries()).question


def test_crowds_samples_chunks_and_denoised_labels_leave_out_the_same_rows() -> None:
    rng = np.random.default_rng(4)
    many = 40_000
    cost = np.where(rng.random(many) < 0.5, np.nan, rng.uniform(0, 20, many))
    label = rng.random(many) < 0.3
    columns = {"cost": sulq.Real(0, 100, drop_missing=True), "label": sulq.Boolean()}
    source = sulq.open({"cost": cost, "label": label}, columns)
    truth = np.nanmean(cost)  # where missing cells became 50, it would be 30
    oracles: list[Any] = [
        source.crowd(epsilon=8),
        source.sample(),
        source.curator(epsilon=8, answering="chunks", queries=2, ledger=":memory:"),
        source.exact().denoised("label", 0),
    ]
    for oracle in oracles:
        [answer] = oracle.ask(sulq.Round([sulq.mean("cost")], share=1))
        # A chunk's error bar is about the chunk, whose mean is off by 0.06 or so.
        assert abs(answer.value - truth) <= max(float(np.max(answer.radius(1e-6))), 0.6)
        assert abs(answer.value - truth) < 5
    among = sulq.Round([sulq.mean("cost", where="label")])
    [answer] = source.exact().denoised("label", 0).ask(among)
    assert answer.value == pytest.approx(np.nanmean(cost[label]), abs=1e-6)


def test_a_noisy_label_that_may_be_missing_is_denoised_like_any_other() -> None:
    rng = np.random.default_rng(5)
    missing, true = rng.random((2, 500)) < 0.4
    label = [None if each else bool(value) for each, value in zip(missing, true, strict=True)]
    cells = {"y": label, "x": [None if each < 0.2 else each for each in rng.random(500)]}
    schema = {"y": sulq.Boolean(drop_missing=True), "x": sulq.Real(0, 1, drop_missing=True)}
    exact = sulq.open(cells, schema).exact()
    round_ = sulq.Round(
        [
            sulq.mean("y"),
            sulq.mean("x", where="y"),
            sulq.mean("x", by="y"),
            sulq.total("x", by="y"),
            sulq.count(by="y"),
        ]
    )
    assert answers(exact.denoised("y", 0), round_) == pytest.approx(answers(exact, round_), abs=1e-6)


def test_nobody_known_is_answered_like_any_other_selection() -> None:
    source = sulq.open({"cost": ["x", None]}, {"cost": SCHEMA["cost"]})
    [answer] = source.curator(epsilon=1, ledger=":memory:").ask(sulq.Round([sulq.mean("cost")], share=1))
    assert np.ndim(answer.value) == 0
    empty = sulq.open({"cost": []}, {"cost": SCHEMA["cost"]})
    assert empty.exact().ask(sulq.Round([sulq.total("cost")]))[0].value == 0

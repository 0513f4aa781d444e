"""What every source keeps to: the ways in, some rows of a table, and an engine written for this test alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

import sulq
from sulq.errors import SchemaError
from sulq.plans.rehearsal import made_up
from sulq.queries.node import Leaf, Node
from sulq.schema import Schema
from sulq.sources.encoding import check_type, encoded
from sulq.sources.rows import Rows
from sulq.sources.sums import Block, sums_of_blocks
from tests.sources.fixed_table import EXPRESSIONS, ROWS, SCHEMA, canonical_sums, table


class Batches(sulq.Source):
    """Record batches from anywhere, read again for every question: an engine of its own in a few lines."""

    def __init__(
        self, schema: Any, types: pa.Schema, rows: int, batches: Callable[[], Iterator[Any]]
    ) -> None:
        super().__init__(schema)
        for name, kind in self.schema.items():
            if name not in types.names:
                raise SchemaError(f"the batches have no column {name!r}; they have {', '.join(types.names)}")
            check_type(name, kind, types.field(name).type)
        self._rows, self._batches = rows, batches

    @property
    def rows(self) -> int:
        return self._rows

    def sums(self, parts: Sequence[Node]) -> list[NDArray[np.object_]]:
        return sums_of_blocks(parts, self.scope, self.rows, self._blocks)

    def _blocks(self, leaves: Mapping[str, Leaf]) -> Iterator[Block]:
        for batch in self._batches():
            columns = {key: encoded(batch[leaf.name], leaf, self.scope) for key, leaf in leaves.items()}
            yield batch.num_rows, columns


def as_csv(rows: pa.Table, folder: Path, schema: Any) -> sulq.Source:
    pyarrow.csv.write_csv(rows, folder / "people.csv")
    return sulq.open(folder / "people.csv", schema)


def as_parquet(rows: pa.Table, folder: Path, schema: Any) -> sulq.Source:
    pq.write_table(rows, folder / "people.parquet", row_group_size=100)
    return sulq.open(folder / "people.parquet", schema)


def as_duckdb(rows: pa.Table, folder: Path, schema: Any) -> sulq.Source:
    with duckdb.connect(str(folder / "people.duckdb")) as connection:
        connection.register("given", rows)
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    return sulq.open(folder / "people.duckdb", schema, table="people")


def as_subset(rows: pa.Table, folder: Path, schema: Any) -> sulq.Source:
    """All rows, backwards, of a table that has them twice."""
    at = np.arange(2 * rows.num_rows)[: rows.num_rows][::-1]
    return sulq.open(pa.concat_tables([rows, rows]), schema).only(at)


def as_batches(rows: pa.Table, folder: Path, schema: Any) -> sulq.Source:
    pieces = rows.to_batches(max_chunksize=100)
    return Batches(schema, rows.schema, rows.num_rows, lambda: iter(pieces))


WAYS: dict[str, Callable[[pa.Table, Path, Any], sulq.Source]] = {
    "csv": as_csv,
    "parquet": as_parquet,
    "duckdb": as_duckdb,
    "pandas": lambda rows, _, schema: sulq.open(rows.to_pandas(), schema),
    "polars": lambda rows, _, schema: sulq.open(pl.from_arrow(rows), schema),
    "arrow": lambda rows, _, schema: sulq.open(rows, schema),
    "arrays": lambda rows, _, schema: sulq.open(
        {name: rows[name].to_numpy(zero_copy_only=False) for name in rows.column_names}, schema
    ),
    "subset": as_subset,
    "batches": as_batches,
}
SHOWING = sorted(set(WAYS) - {"batches"})
"""The ways that show single rows too."""


@pytest.fixture(scope="module")
def truth() -> list[list[int]]:
    return canonical_sums(sulq.open(table(), SCHEMA, threads=1))


@pytest.mark.parametrize("way", WAYS)
def test_the_sums_are_the_same_bit_for_bit_every_time(
    way: str, truth: list[list[int]], tmp_path: Path
) -> None:
    source = WAYS[way](table(), tmp_path, SCHEMA)
    assert isinstance(source, sulq.Source)
    assert source.rows == ROWS
    assert canonical_sums(source) == truth
    assert canonical_sums(source) == truth
    source.close()


@pytest.mark.parametrize("way", WAYS)
def test_expressions_may_be_asked_alone_repeated_and_in_any_order(
    way: str, truth: list[list[int]], tmp_path: Path
) -> None:
    source = WAYS[way](table(), tmp_path, SCHEMA)
    places = [34, 0, 18, 34, 3, 0]
    assert [list(sums) for sums in source.sums([EXPRESSIONS[place] for place in places])] == [
        truth[place] for place in places
    ]
    for place in (20, 24):
        [alone] = source.sums([EXPRESSIONS[place]])
        assert alone.dtype == object
        assert alone.tolist() == truth[place]
    [count] = source.sums(sulq.count().parts)
    assert count.tolist() == [ROWS], "and one that looks at no column counts the rows"


@pytest.mark.parametrize("way", WAYS)
def test_a_table_without_rows_has_sums_of_zero(way: str, tmp_path: Path) -> None:
    source = WAYS[way](table(0), tmp_path, SCHEMA)
    assert source.rows == 0
    widths = [source.scope.number(expression).width for expression in EXPRESSIONS]
    assert canonical_sums(source) == [[0] * width for width in widths]


@pytest.mark.parametrize("way", WAYS)
def test_what_an_oracle_says_is_the_same(way: str, tmp_path: Path) -> None:
    asked = sulq.Round([sulq.count(by="plan"), sulq.mean(sulq.col("age"), where=sulq.col("smokes"))], 1)
    source = WAYS[way](table(), tmp_path, SCHEMA)
    plans, age = source.exact().ask(asked)
    expected_plans, expected_age = sulq.open(table(), SCHEMA).exact().ask(asked)
    assert plans.value.tolist() == expected_plans.value.tolist()
    assert age.value == expected_age.value
    [noisy, _] = source.curator(sulq.PureDP(100), ledger=":memory:").ask(asked)
    assert np.abs(noisy.value - plans.value).max() <= noisy.radius(1e-12)


@pytest.mark.parametrize("way", WAYS)
def test_a_column_that_is_not_there_is_refused_when_the_source_is_made(way: str, tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="no column 'height'"):
        WAYS[way](table(), tmp_path, {"height": sulq.Real(0, 3)})


@pytest.mark.parametrize("way", sorted(set(WAYS) - {"csv"}))  # in a CSV file everything is text
def test_a_column_of_another_type_is_refused_when_the_source_is_made(way: str, tmp_path: Path) -> None:
    times = pa.array(np.arange(ROWS), pa.timestamp("ns"))
    with pytest.raises(SchemaError, match="declared integer but holds"):
        WAYS[way](table().append_column("when", times), tmp_path, {"when": sulq.Integer(0, 9)})


@pytest.mark.parametrize("way", WAYS)
def test_an_expression_that_does_not_fit_is_refused(way: str, tmp_path: Path) -> None:
    source = WAYS[way](table(), tmp_path, SCHEMA)
    for expression, complaint in (
        (sulq.col("height"), "no column 'height'"),
        (sulq.col("plan"), "is a category"),
    ):
        with pytest.raises(sulq.SulqError, match=complaint):
            source.sums([expression])


@pytest.mark.parametrize("way", SHOWING)
def test_single_rows_are_those_of_the_table(way: str, tmp_path: Path) -> None:
    source = WAYS[way](table(), tmp_path, SCHEMA)
    assert isinstance(source, Rows)
    expected = sulq.open(table(), SCHEMA).values(sulq.col("age"))
    step = -1 if way == "subset" else 1
    if source.ordered:
        assert source.values(sulq.col("age")).tolist() == expected[::step].tolist()
    else:
        assert sorted(source.values(sulq.col("age"))) == sorted(expected)
    assert source.values("age").tolist() == source.values(sulq.col("age")).tolist()
    some = source.only(np.array([5, 0, 3]))
    assert some.rows == 3
    whole = source.values(sulq.features("x", "y"))
    assert some.values(sulq.features("x", "y")).tolist() == whole[[5, 0, 3]].tolist()
    [total] = some.sums([sulq.col("age")])
    assert total.tolist() == [sum(some.values(sulq.col("age")))]


def test_no_row_is_read_before_the_first_sums() -> None:
    read = 0

    def batches() -> Iterator[Any]:
        nonlocal read
        for batch in table().to_batches(max_chunksize=100):
            read += 1
            yield batch

    source = Batches(SCHEMA, table().schema, ROWS, batches)
    curator = source.curator(epsilon=1)
    asked = sulq.Round([sulq.mean(sulq.col("age"))], share=0.5)
    assert curator.cost(asked) > 0
    assert curator.error(asked, 0.05)[0] is not None
    assert (source.rows, repr(source), read) == (ROWS, repr(sulq.open(table(), SCHEMA)), 0)
    curator.ask(asked)
    assert read == 10


@pytest.mark.parametrize("said", [ROWS - 1, ROWS + 1])
def test_blocks_of_more_or_fewer_rows_than_were_said_are_refused(said: int) -> None:
    source = Batches(SCHEMA, table().schema, said, lambda: iter(table().to_batches()))
    with pytest.raises(sulq.SulqError, match="as many rows as it says"):
        source.sums([sulq.col("age")])


@pytest.mark.parametrize("most", [1, 7, 50, 10**6])
def test_blocks_may_have_any_size(most: int) -> None:
    rows = table(60)
    source = Batches(SCHEMA, rows.schema, 60, lambda: iter(rows.to_batches(max_chunksize=most)))
    assert canonical_sums(source) == canonical_sums(sulq.open(rows, SCHEMA))


def test_a_source_that_knows_nothing_of_people_refuses_a_unit() -> None:
    """Else a person with many rows would count as often, and the promise would be about one of them."""
    schema = Schema({"age": sulq.Integer(0, 120)}, sulq.Unit("serial", rows=2))
    with pytest.raises(SchemaError, match="a Batches does not know people with several rows"):
        Batches(schema, table().schema, ROWS, lambda: iter([]))
    assert made_up(schema, 10).rows == 10, "and one that knows them takes it"

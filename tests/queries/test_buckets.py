"""Buckets and signs by identifier: the same for the same person in every table, and nothing else."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import sulq
from sulq.queries.buckets import NOBODY, Identifier
from sulq.queries.query import moves
from sulq.queries.scope import scope_of
from sulq.sources.people import identities

SAME = [
    pa.array([7, 10**17, 0, -3, None]),
    pa.array([7.0, 1e17, -0.0, -3.0, None]),
    pa.array(["007", "1e17", "-0", "-3.0", ""]),
    pa.array([b"7.0", b"100000000000000000", b"0", b"-3", b"nan"]),
    pa.array(["7", "100000000000000000", "0", "-3", None]).dictionary_encode(),
    pa.array([Decimal("7.00"), Decimal(10**17), Decimal(0), Decimal("-3"), None], pa.decimal128(38, 2)),
]


@pytest.mark.parametrize("cells", SAME, ids=lambda cells: str(cells.type))
def test_a_person_is_the_same_however_the_identifier_is_written(cells: pa.Array) -> None:
    hashes = identities(cells)
    assert hashes.tolist() == identities(SAME[0]).tolist()
    assert hashes[-1] == NOBODY and len(set(hashes.tolist())) == 5


def test_texts_and_dates_that_are_no_numbers_are_told_apart() -> None:
    texts = identities(pa.array(["a", "A", " a", "a", "2020-01-01", "12345678901234567890"]))
    assert texts[0] == texts[3] and len(set(texts.tolist())) == 5
    assert identities(pa.array([datetime.date(2020, 1, 1)]))[0] == texts[4]
    assert identities(pa.array([12345678901234567890], pa.uint64()))[0] == texts[5]
    assert identities(pa.array([1.5]))[0] == identities(pa.array(["1.50"]))[0]
    assert identities(pa.array([None, None])).tolist() == [NOBODY] * 2
    assert (
        identities(pa.array([], pa.int64())).tolist() == identities(pa.array([], pa.string())).tolist() == []
    )


def opened(rows: dict[str, Any], unit: sulq.Unit | None = None) -> sulq.Source:
    columns = {"id": sulq.Integer(0, 10**6), "x": sulq.Real(0, 1)}
    return sulq.open(rows, sulq.Schema(columns, unit))


def test_buckets_are_even_and_nested_and_another_salt_deals_otherwise() -> None:
    people = opened({"id": range(20_000), "x": [0.5] * 20_000})
    fine, coarse = (people.values(sulq.bucket("id", many)) for many in (64, 16))
    assert np.array_equal(fine >> 2, coarse)
    # 312.5 people a bucket, 18 apart at one deviation: seven of them in 64 buckets happen once in 10^9.
    assert np.abs(np.bincount(fine, minlength=65)[:64] - 312.5).max() < 7 * 17.7
    assert np.mean(people.values(sulq.bucket("id", 64, "other")) == fine) < 0.1


def test_signs_are_hadamards_of_the_buckets_so_all_sums_with_signs_follow() -> None:
    rng = np.random.default_rng(3)
    people = opened({"id": [*range(499), None], "x": rng.random(500)})
    by_bucket = people.exact().ask(sulq.Round([sulq.total("x", by=sulq.bucket("id", 8))]))[0].value
    hadamard = np.array([[(-1) ** (i & j).bit_count() for j in range(8)] for i in range(8)])
    signed = [sulq.total(sulq.sign("id", t, 8) * sulq.col("x")) for t in range(1, 8)]
    answers = people.exact().ask(sulq.Round(signed))
    assert [answer.value for answer in answers] == pytest.approx((hadamard @ by_bucket[:8])[1:], abs=1e-5)
    assert people.values(sulq.sign("id", 1, 8))[-1] == 0  # who names nobody


def test_a_row_touches_one_bucket_so_buckets_cost_no_more_than_one_sum() -> None:
    scope = scope_of(sulq.Schema({"id": sulq.Integer(0, 9), "x": sulq.Real(-1, 1)}))
    for many in (2, 2**14):
        by_bucket = sulq.total("x", by=sulq.bucket("id", many)).parts[0]
        assert moves(scope, by_bucket, 1, "add-remove") == moves(scope, sulq.col("x"), 1, "add-remove")
        assert moves(scope, by_bucket, 2, "replace") == moves(scope, sulq.col("x"), 2, "replace") == 4


def test_whoever_names_people_need_not_be_in_the_schema() -> None:
    schema = sulq.Schema({"x": sulq.Real(0, 1)}, sulq.Unit("id", rows=1))
    people = sulq.open({"id": [3, 3, 4, None], "x": [1, 1, 1, 1]}, schema)
    [answer] = people.exact().ask(sulq.Round([sulq.count(by=sulq.bucket("id", 2**10))]))
    assert answer.value.sum() == 2 and answer.value.max() == 1
    with pytest.raises(sulq.SulqError, match="no column 'name'"):
        people.values(sulq.bucket("name", 8))


@pytest.mark.parametrize("unit", [None, sulq.Unit("id", rows=2)])
@pytest.mark.parametrize("asked_before", [False, True])
def test_identifiers_can_be_asked_for_first_or_last(
    tmp_path: Path, unit: sulq.Unit | None, asked_before: bool
) -> None:
    rng = np.random.default_rng(5)
    table = pa.table({"id": rng.integers(0, 300, 1000), "x": rng.random(1000)})
    path = tmp_path / "people.csv"
    pyarrow.csv.write_csv(table, path)
    asked = sulq.Round([sulq.total("x", by=sulq.bucket("id", 16)), sulq.total("x")])
    [expected, whole] = opened(table.to_pydict(), unit).exact().ask(asked)
    assert expected.value.sum() == pytest.approx(whole.value)
    schema = sulq.Schema({"id": sulq.Integer(0, 10**6), "x": sulq.Real(0, 1)}, unit)
    people = sulq.open(path, schema)
    if asked_before:
        assert people.exact().ask(sulq.Round([sulq.total("x")]))[0].value == whole.value
    assert people.exact().ask(asked)[0].value.tolist() == expected.value.tolist()


@pytest.mark.parametrize("unit", [None, sulq.Unit("id", rows=2)])
def test_rows_in_no_fixed_order_are_asked_for_identifiers_first_or_refused_before_a_charge(
    unit: sulq.Unit | None,
) -> None:
    rows = pa.table({"id": range(100), "x": [0.5] * 100})
    schema = sulq.Schema({"id": sulq.Integer(0, 10**6), "x": sulq.Real(0, 1)}, unit)
    asked = sulq.Round([sulq.count(by=sulq.bucket("id", 16))], share="1/4")
    first = sulq.open(duckdb.from_arrow(rows), schema)
    counts = sulq.open(rows, schema).exact().ask(asked)[0].value
    assert first.exact().ask(asked)[0].value.tolist() == counts.tolist()
    later = sulq.open(duckdb.from_arrow(rows), schema).curator(epsilon=4, ledger=":memory:")
    later.ask(sulq.Round([sulq.total("x")], share="1/4"))
    if unit is not None:
        assert later.ask(asked)[0].value.shape == (17,)
        return
    with pytest.raises(sulq.QueryError, match="asked for their identifiers first"):
        later.ask(asked)
    assert later.spent == 1


def test_an_identifier_can_be_larger_than_the_schema_says() -> None:
    people = sulq.open({"id": [1, 5, 9]}, {"id": sulq.Integer(0, 1)})
    assert len(set(people.values(sulq.bucket("id", 2**20)).tolist())) == 3


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: sulq.bucket("id", 12), "power of two from 2 to 2.20, not 12"),
        (lambda: sulq.bucket("id", 2**21), "power of two"),
        (lambda: sulq.bucket("id", 8, "\ud83d"), "whole letters"),
        (lambda: sulq.bucket(sulq.col("id"), 8), "name of a column"),  # type: ignore[arg-type]
        (lambda: sulq.sign("id", 0, 8), "number 1 to 7, not 0"),
        (lambda: sulq.sign("id", 8, 8), "number 1 to 7, not 8"),
        (lambda: scope_of(sulq.Schema({"x": sulq.Real(0, 1)})).facts(sulq.bucket("id", 8)), "no column 'id'"),
        (lambda: scope_of(sulq.Schema({"id": sulq.Real(0, 1)})).facts(Identifier("id")), "into buckets"),
    ],
)
def test_what_makes_no_sense_is_refused(make: Any, says: str) -> None:
    with pytest.raises(sulq.SulqError, match=says):
        make()

"""Rules of a schema: the same for every row and from every source, and none that is not declared."""

from __future__ import annotations

import math
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
from sulq.kinds import Integer, Kind, Real
from sulq.queries.scope import Scope
from sulq.sources.cells import numbers
from sulq.sources.encoding import encoded
from tests.effort import examples

SEX = sulq.Category(["female", "male"], trim=True, fold_case=True, aliases={"f": "female", "1": "male"})
FROZEN = "ac4fd404e3dad20e52c18c87c611e7b545c211d5a7945d72311bb99ba2b07a11"
"""The hash of a schema without rules, from before there were rules. Ledgers are tied to it."""


def test_a_schema_without_rules_keeps_the_hash_that_ledgers_know() -> None:
    kinds = {"a": Real(0, 1), "b": Integer(0, 9), "c": sulq.Category(["x", "y"]), "d": sulq.Boolean()}
    assert sulq.Schema(kinds, sulq.Unit("p", 3)).hash == FROZEN
    given_as_default = kinds | {
        "a": Real(0, 1, thousands=None, decimal=".", strip=""),
        "c": sulq.Category(["x", "y"], trim=False, aliases={}),
    }
    assert sulq.Schema(given_as_default, sulq.Unit("p", 3)).hash == FROZEN
    assert repr(kinds["a"]) == "Real(low=0.0, high=1.0, missing=0.5)"


@pytest.mark.parametrize(
    "kind",
    [
        SEX,
        Real(0, 9, thousands=".", decimal=","),
        Integer(0, 9, strip="€"),
        sulq.Category(["a"], trim=True),
    ],
)
def test_rules_are_part_of_the_form_and_of_the_hash(kind: Kind) -> None:
    schema = sulq.Schema({"x": kind})
    assert sulq.Schema.of(schema.form()) == schema
    assert hash(kind) == hash(sulq.Schema.of(schema.form())["x"])
    plain: Kind = Real(0, 9) if isinstance(kind, Real) else Integer(0, 9)
    if isinstance(kind, sulq.Category):
        plain = sulq.Category(kind.values)
    assert schema.hash != sulq.Schema({"x": plain}).hash


def test_rules_can_be_declared_in_toml(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(
        '[columns.sex]\ntype = "category"\nvalues = ["female", "male"]\ntrim = true\nfold_case = true\n'
        'aliases = { f = "female", 1 = "male" }\n'
        '[columns.cost]\ntype = "real"\nlow = 0\nhigh = 9000\nthousands = "."\ndecimal = ","\nstrip = "€"\n'
    )
    cost = Real(0, 9000, thousands=".", decimal=",", strip="€")
    assert sulq.Schema.of(path) == sulq.Schema({"sex": SEX, "cost": cost})


@pytest.mark.parametrize(
    ("kind", "cells"),
    [
        (
            Real(0, 1, thousands=","),
            {"1,234.56": 1234.56, "12": 12, "-1,234,567": -1234567, "1,23,456": 123456, " 1,234 ": 1234}
            | dict.fromkeys(["1,5", "1,", ",123", "1,,234", "1234,567", "1,234,56", "x"], math.nan),
        ),
        (
            Real(0, 1, thousands=".", decimal=","),
            {"1.234,56": 1234.56, "1,5": 1.5, "1.234.567": 1234567, ",5": 0.5, "-3": -3}
            | dict.fromkeys(["1.5", "3.14159", "1,5,5", ".5", "1,234.5"], math.nan),
        ),
        (Real(0, 1, decimal=","), {"1,5": 1.5, "2": 2, "1.5": math.nan}),
        (
            Real(0, 1, thousands=" ", decimal=","),
            {"1 234,5": 1234.5, "1\u00a0234": 1234, "1\u202f234": 1234, " 12 ": 12, "12 3": math.nan},
        ),
        (Real(0, 1, thousands="’"), {"1’234.5": 1234.5, "1'234": math.nan}),
        (
            Real(0, 1, strip="€$%"),
            {"€ 5": 5, "-$5.00": -5, "$-3": -3, "5 €": 5, "12%": 12, "€": math.nan, "5 kg": math.nan},
        ),
        (Integer(0, 1, thousands=",", strip="$"), {"$1,234": 1234, "1,234.9": 1234.9}),
    ],
)
def test_numbers_are_read_as_the_rules_say_and_else_not_at_all(
    kind: Real | Integer, cells: dict[str, float]
) -> None:
    texts = pa.array([*cells, None])
    expected = [*cells.values(), math.nan]
    for array in (texts, texts.dictionary_encode(), texts.cast(pa.large_string()), texts.slice(1)):
        np.testing.assert_array_equal(numbers(kind, array), expected[-len(array) :])


def test_numbers_that_are_no_texts_need_no_rule() -> None:
    kind = Real(0, 9000, thousands=".", decimal=",")
    np.testing.assert_array_equal(numbers(kind, pa.array([1.234, 5.0])), [1.234, 5.0])


def test_a_category_knows_its_values_in_the_spellings_that_were_declared() -> None:
    cells = ["female", "F", " Male ", "FEMALE\u00a0", "1", "femal", "", None]
    expected = [0, 0, 1, 0, 1, 2, 2, 2]
    scope = Scope(sulq.Schema({"x": SEX}))
    for array in (pa.array(cells), pa.array(cells).dictionary_encode(), pa.array(cells, pa.string_view())):
        assert encoded(array, sulq.col("x"), scope).tolist() == expected
    assert encoded(pa.array([1, 2, None]), sulq.col("x"), scope).tolist() == [1, 2, 2]


def test_a_category_of_numbers_can_have_aliases() -> None:
    kind = sulq.Category([1, 2], missing=2, aliases={"one": 1, "99": 2})
    found = encoded(pa.array(["1.0", "one", "99", "3", "2"]), sulq.col("x"), Scope(sulq.Schema({"x": kind})))
    assert found.tolist() == [0, 0, 1, 1, 1]


@pytest.mark.parametrize("suffix", ["csv", "parquet", "pandas", "polars", "dict"])
def test_rules_hold_for_every_source_alike(suffix: str, tmp_path: Path) -> None:
    cells = {"sex": ["F", " male", "Female", "x"] * 50, "cost": ["1.234,5", "€ 2", "3.5", "0,25 €"] * 50}
    schema = {"sex": SEX, "cost": Real(0, 9000, missing=0, thousands=".", decimal=",", strip="€")}
    data: Any = cells
    if suffix == "csv":
        data = tmp_path / "t.csv"
        pd.DataFrame(cells).to_csv(data, index=False, sep=";")
    elif suffix == "parquet":
        data = tmp_path / "t.parquet"
        pq.write_table(pa.table(cells), data)
    elif suffix in ("pandas", "polars"):
        data = pd.DataFrame(cells) if suffix == "pandas" else pl.DataFrame(cells)
    round_ = sulq.Round(
        [sulq.count(by="sex"), sulq.total("cost"), sulq.total(sulq.features("cost"), by="sex")]
    )
    by_sex, cost, scaled = sulq.open(data, schema).exact().ask(round_)
    assert by_sex.value.tolist() == [100, 50, 50]
    assert cost.value == pytest.approx(50 * (1234.5 + 2 + 0.25), rel=1e-6)
    assert scaled.value[1] == pytest.approx(50 * (2 / 4500 - 1), abs=50 * 2**-13)


@settings(max_examples=examples(50))
@given(st.lists(st.one_of(st.none(), st.binary(max_size=8), st.text(max_size=8).map(str.encode))))
def test_no_bytes_make_a_rule_fail(cells: list[bytes | None]) -> None:
    raw = pa.array(cells, pa.large_binary())
    array = pa.LargeStringArray.from_buffers(len(raw), *raw.buffers()[1:], raw.buffers()[0])
    for kind in (SEX, Real(0, 9, thousands=".", decimal=",", strip="€"), Integer(0, 9, thousands=" ")):
        scope = Scope(sulq.Schema({"x": kind}))
        whole = encoded(array, sulq.col("x"), scope).tolist()
        one_by_one = [encoded(array.slice(i, 1), sulq.col("x"), scope)[0] for i in range(len(array))]
        assert whole == one_by_one, "a cell's outcome depends on that cell alone"


@pytest.mark.parametrize(
    ("settings_", "complaint"),
    [
        ({"thousands": "."}, "thousands and decimal are both '.'"),
        ({"thousands": ";"}, "thousands = ';' must be one of"),
        ({"decimal": "x"}, "decimal = 'x' must be '.' or ','"),
        ({"strip": "5"}, "strip = '5' must be a text of signs that are no part of a number"),
        (
            {"decimals": ","},
            "unknown setting 'decimals'; it takes low, high, missing, thousands, decimal, strip",
        ),
    ],
)
def test_rules_for_numbers_that_make_no_sense_are_refused(settings_: dict[str, Any], complaint: str) -> None:
    column = {"type": "real", "low": 0, "high": 1, **settings_}
    with pytest.raises(sulq.errors.SchemaError, match=complaint):
        sulq.Schema.of({"columns": {"x": column}})


@pytest.mark.parametrize(
    ("settings_", "complaint"),
    [
        ({"aliases": {"f": "woman"}}, "the alias 'f' stands for 'woman', which is none of the values"),
        ({"aliases": {"b": "a"}}, "by its rules 'b' would stand for both 'b' and 'a'"),
        ({"aliases": {"A": "b"}, "fold_case": True}, "'A' would stand for both 'a' and 'b'"),
        ({"aliases": ["f"]}, "must name the value of each spelling"),
        ({"trim": "yes"}, "trim = 'yes' must be true or false"),
    ],
)
def test_rules_for_categories_that_make_no_sense_are_refused(
    settings_: dict[str, Any], complaint: str
) -> None:
    column = {"type": "category", "values": ["a", "b"], **settings_}
    with pytest.raises(sulq.errors.SchemaError, match=complaint):
        sulq.Schema.of({"columns": {"x": column}})


def test_values_that_fold_into_each_other_are_refused() -> None:
    with pytest.raises(sulq.errors.SchemaError, match="by its rules 'A' would stand for both 'a' and 'A'"):
        sulq.Category(["a", "A"], fold_case=True)


@pytest.mark.parametrize("spelling", ["1.0", "01", "1e0"])
def test_an_alias_that_is_another_value_as_a_number_is_refused(spelling: str) -> None:
    """Numbers are compared as numbers: such an alias was ignored without a word."""
    with pytest.raises(sulq.errors.SchemaError, match="would stand for both '1' and '2'"):
        sulq.Category([1, 2], aliases={spelling: "2"})
    assert sulq.Category([1, 2], aliases={"3.0": "2", spelling: "1"}).meant("3.0") == "2"
    assert sulq.Category(["1", "b"], aliases={spelling: "b"}).meant(spelling) == "b"
    assert sulq.Category(["1", spelling]).values == ("1", spelling), "without aliases nothing changes"

"""Whatever a cell holds, it has an outcome and never an error."""

from __future__ import annotations

import datetime
import decimal
import math
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

import sulq
from sulq.queries.scope import Scope
from sulq.schema import Kind
from sulq.sources.encoding import Encoder, dtype_of
from tests.effort import examples

KINDS: list[Kind] = [
    sulq.Real(-1, 1),
    sulq.Real(0, 1e200),
    sulq.Integer(-3, 3),
    sulq.Integer(-(2**62), 2**62),
    sulq.Boolean(),
    sulq.Category(["a", "1"]),
    sulq.Category([0, 1, 2.5], missing=1),
]
ARRAYS: list[st.SearchStrategy[pa.Array]] = [
    st.lists(st.one_of(st.none(), st.floats())).map(lambda v: pa.array(v, pa.float64())),
    st.lists(st.one_of(st.none(), st.floats(width=32))).map(lambda v: pa.array(v, pa.float32())),
    st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1))).map(lambda v: pa.array(v, pa.int64())),
    st.lists(st.one_of(st.none(), st.integers(0, 2**64 - 1))).map(lambda v: pa.array(v, pa.uint64())),
    st.lists(st.one_of(st.none(), st.integers(-128, 127))).map(lambda v: pa.array(v, pa.int8())),
    st.lists(st.one_of(st.none(), st.booleans())).map(lambda v: pa.array(v, pa.bool_())),
    st.lists(
        st.one_of(
            st.none(),
            st.text(),
            st.floats().map(str),
            st.integers().map(str),
            st.sampled_from(
                ["nan", "inf", "-Infinity", "true", " 3 ", "1e400", "0x10", "1_000", "2.5", "9" * 400]
            ),
        )
    ).map(
        lambda v: pa.array(
            [None if t is None else t.encode("utf-8", "replace").decode() for t in v], pa.string()
        )
    ),
    st.lists(st.none()).map(lambda v: pa.array(v, pa.null())),
]


def encoded(kind: Kind, array: pa.Array) -> np.ndarray[Any, Any]:
    encoder = Encoder(sulq.col("x"), Scope(sulq.Schema({"x": kind})))
    clean, again = np.empty((2, len(array)), dtype=dtype_of(kind))
    encoder(array, clean)
    encoder(array, again)
    assert (clean == again).all(), "it remembers dictionaries as they are"
    return clean


@settings(max_examples=examples(400))
@given(st.sampled_from(KINDS), st.one_of(*ARRAYS), st.booleans())
def test_every_cell_becomes_a_clean_value(kind: Kind, array: pa.Array, as_dictionary: bool) -> None:
    if as_dictionary and not pa.types.is_null(array.type):
        array = array.dictionary_encode()
    clean = encoded(kind, array)
    scope = Scope(sulq.Schema({"x": kind}))
    facts = scope.facts(sulq.col("x"))
    if isinstance(facts, sulq.queries.facts.Code):
        assert all(0 <= code < facts.size for code in clean)
    else:
        assert all(facts.low[0] <= value <= facts.high[0] for value in clean)


def answers(kind: Kind, cells: Any) -> list[float]:
    """What each cell counts as: its own total in a table of one row."""
    column = sulq.col("x") if not isinstance(kind, sulq.Category) else sulq.one_hot(sulq.col("x"))
    found = []
    for cell in cells:
        source = sulq.open({"x": np.array([cell], dtype=object)}, {"x": kind})
        found.append(source.exact().ask(sulq.Round([sulq.total(column)]))[0].value)
    return found


def test_reals_are_clamped_and_missing_ones_become_the_public_constant() -> None:
    cells = [0.5, 7, -7, math.inf, -math.inf, math.nan, None, "0.25", "much", "", -0.0, object(), 10**400]
    assert answers(sulq.Real(-1, 1, missing=0.125), cells) == [
        0.5, 1, -1, 1, -1, 0.125, 0.125, 0.25, 0.125, 0.125, 0, 0.125, 1,
    ]  # fmt: skip


def test_integers_beyond_what_a_float_holds_stay_exact() -> None:
    low, high = 2**36 - 10, 2**36 - 1
    kind = sulq.Integer(low, high)
    assert answers(kind, [2**36 - 2, 2**53 + 1, -(2**63), 2**63 - 1, str(2**36 - 3)]) == [
        2**36 - 2, high, low, high, 2**36 - 3,
    ]  # fmt: skip
    wide = sulq.Integer(0, 2**62)
    # 62 bits do not fit 36: the lowest 27 are dropped, towards zero, wherever the value comes from.
    step = 2**27
    for value in (2**60 - 1, 2**53 + 1, 2**62 + 5):
        expected = min(value, 2**62) // step * step
        assert answers(wide, [value]) == [expected]
        assert answers(wide, [str(value)]) == [expected]


def test_fractions_in_an_integer_column_are_truncated_the_same_from_text_and_number() -> None:
    kind = sulq.Integer(-9, 9)
    assert answers(kind, [3.7, "3.7", -3.7, "-3.7", "3.0", "1e0", "nan"]) == [3, 3, -3, -3, 3, 1, 0]


def test_unknown_categories_have_a_level_of_their_own_or_a_public_value() -> None:
    own = answers(sulq.Category(["a", "b"]), ["a", "b", "c", None, "", 5, math.nan])
    assert [list(one).index(1) for one in own] == [0, 1, 2, 2, 2, 2, 2]
    replaced = answers(sulq.Category(["a", "b"], missing="b"), ["a", "c", None])
    assert [list(one).index(1) for one in replaced] == [0, 1, 1]


def test_a_category_of_numbers_knows_them_in_every_dress() -> None:
    found = answers(sulq.Category([1, 2.5]), [1, 1.0, "1", "1.0", 2.5, "2.50", -0.0, True])
    assert [list(one).index(1) for one in found] == [0, 0, 0, 0, 1, 1, 2, 2]


def test_booleans_are_read_from_truth_values_numbers_and_words() -> None:
    cells = [True, False, 1, 0, "true", "False", "t", "0", "2", -1.5, None, "nan", "maybe", math.nan]
    assert answers(sulq.Boolean(missing=True), cells) == [1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("frame_type", ["pandas", "arrow"])
def test_a_type_that_cannot_be_read_is_refused_before_any_row(frame_type: str) -> None:
    frame: Any = pd.DataFrame({"x": [datetime.datetime(2020, 1, 1)]})
    if frame_type == "arrow":
        frame = pa.table({"x": [[1, 2]]})
    with pytest.raises(sulq.errors.SchemaError, match="column 'x' is declared real but holds"):
        sulq.open(frame, {"x": sulq.Real(0, 1)})


def test_decimals_halves_and_dictionaries_are_numbers_too() -> None:
    for array in (
        pa.array([decimal.Decimal("0.5")]),
        pa.array(np.array([0.5], np.float16)),
        pa.array(["0.5"]).dictionary_encode(),
        pa.array([0.5]).dictionary_encode(),
        pa.array(["0.5"], pa.string_view()),
    ):
        source = sulq.open(pa.table({"x": array}), {"x": sulq.Real(0, 1)})
        assert source.exact().ask(sulq.Round([sulq.total(sulq.col("x"))]))[0].value == 0.5


def test_broken_lines_of_a_csv_are_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b'x,plan\n1,a\n2\n3,b,too,many\n0.5,\xff\xfe\n,\n"4","a\nb"\n2,a\n')
    source = sulq.open(path, {"x": sulq.Real(0, 10, missing=0), "plan": sulq.Category(["a", "b"])})
    x, plan = source.exact().ask(sulq.Round([sulq.total(sulq.col("x")), sulq.count(by="plan")]))
    assert plan.value[0] >= 2
    assert np.isfinite(x.value)


def test_delimiters_and_byte_order_marks_are_read_off_the_header(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("\ufeffx;plan\n1,5;a\n2;b\n", encoding="utf-8")
    source = sulq.open(path, {"x": sulq.Real(0, 10, missing=0), "plan": sulq.Category(["a", "b"])})
    x, plan = source.exact().ask(sulq.Round([sulq.total(sulq.col("x")), sulq.count(by="plan")]))
    assert (x.value, list(plan.value)) == (2.0, [1, 1, 0])


def test_text_that_is_not_valid_unicode_is_unknown_and_raises_nothing(tmp_path: Path) -> None:
    raw = pa.array([b"\xff\xfe", b"3", b"a"], pa.binary())
    invalid = pa.StringArray.from_buffers(3, raw.buffers()[1], raw.buffers()[2])
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": invalid}), path)
    for data in (pa.table({"x": invalid}), pa.table({"x": invalid.dictionary_encode()}), path):
        for kind, expected in (
            (sulq.Real(0, 10, missing=1), 5),
            (sulq.Integer(0, 10, missing=1), 5),
            (sulq.Boolean(missing=True), 3),
        ):
            source = sulq.open(data, {"x": kind})
            assert source.exact().ask(sulq.Round([sulq.total(sulq.col("x"))]))[0].value == expected
        for values, counts in ((["a", "3"], [1, 1, 1]), ([3, 4], [1, 0, 2])):
            source = sulq.open(data, {"x": sulq.Category(values)})
            assert source.exact().ask(sulq.Round([sulq.count(by="x")]))[0].value.tolist() == counts


@pytest.mark.parametrize("zeros", [(0.0, -0.0), (-0.0, 0.0)])
def test_a_dictionary_that_was_met_says_nothing_of_one_like_it(zeros: tuple[float, float]) -> None:
    """As numbers the zeros are equal, as text they are not."""
    both = [pa.DictionaryArray.from_arrays(pa.array([0, 0]), pa.array([zero])) for zero in zeros]
    levels = {"x": sulq.Category(["0", "other"])}
    counts = [
        sulq.open(data, levels).exact().ask(sulq.Round([sulq.count(by="x")]))[0].value.tolist()
        for data in (pa.table({"x": pa.chunked_array(both)}), pa.table({"x": [zeros[0], zeros[1]] * 2}))
    ]
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    ("type_", "entries"), [(pa.int8(), 128), (pa.uint8(), 256), (pa.int16(), 300), (pa.int64(), 3)]
)
def test_a_missing_value_has_a_code_beside_a_dictionary_that_fills_its_type(
    type_: pa.DataType, entries: int
) -> None:
    values = [f"v{i}" for i in range(entries)]
    kind = sulq.Category(values, missing="v1")
    for rows in ([0, entries - 1, None], [0, entries - 1, 2]):
        array = pa.DictionaryArray.from_arrays(pa.array(rows, type_), pa.array(values))
        assert encoded(kind, array).tolist() == [1 if row is None else row for row in rows]

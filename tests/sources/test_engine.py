"""Blocks and partial sums, as machines of an engine make them: bit for bit the sums of one process."""

from __future__ import annotations

import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sulq
from sulq.queries import kernel
from sulq.queries.kernel import Kernel, Totals
from sulq.queries.scope import scope_of
from sulq.sources.engine import (
    OTHER_CODE,
    Adding,
    BlockLayout,
    blocks_of,
    code_digest,
)
from sulq.sources.people import people_of, person_keys
from tests.effort import examples
from tests.sources.fixed_table import SCHEMA
from tests.sources.test_same_sums import PARTS, table

FRAME = pa.Table.from_pandas(table(3000), preserve_index=False)
LAYOUT = BlockLayout.of(sulq.Schema.of(SCHEMA))
DIFFERENT = tuple({part.key: part for part in PARTS}.values())


def whole(rows: pa.Table, schema: Any = SCHEMA) -> list[list[int]]:
    return [list(each) for each in sulq.open(rows, schema).sums(DIFFERENT)]


def shared_out(rows: pa.Table, cuts: list[int], layout: BlockLayout = LAYOUT) -> tuple[int, list[list[int]]]:
    """The sums, if every piece between two cuts is a task's, and two tasks merge what the others have."""
    pieces = [rows.slice(a, b - a) for a, b in pairwise(sorted({0, *cuts, rows.num_rows}))] or [rows]
    adding = Adding(layout, DIFFERENT, rows.num_rows)
    sent = pickle.loads(pickle.dumps((layout, adding)))
    blocks = [list(blocks_of(sent[0], piece.to_batches(701))) for piece in pieces]
    partials = [sent[1].partial(each) for each in blocks]
    merged = [sent[1].merged(partials[:2]), sent[1].merged(partials[2:])]
    seen, totals = adding.totals(merged)
    return seen, [list(each) for each in totals]


@given(st.lists(st.integers(0, 3000), max_size=6), st.integers(0, 3000))
@settings(max_examples=examples(10), deadline=None)
def test_any_division_among_machines_gives_the_same_integers(cuts: list[int], rows: int) -> None:
    some = FRAME.slice(0, rows)
    assert shared_out(some, [cut for cut in cuts if cut <= rows]) == (rows, whole(some))


def test_totals_that_were_folded_cross_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "BLOCKS_PER_FOLD", 2)
    monkeypatch.setattr(kernel, "WORKING_SET", 2**10)
    monkeypatch.setattr(kernel, "BLOCK", 2**8)
    assert shared_out(FRAME, [100, 2000]) == (3000, whole(FRAME))


@pytest.mark.parametrize("names", [["a", "b", "c"], [1.0, 2.0, np.nan], [1, 2, 3], ["1", "01", "1e0"]])
def test_people_who_are_on_several_machines_come_together_by_their_keys(names: list[Any]) -> None:
    """Texts that are the same number are one person, and nobody is nobody."""
    drawn = np.random.default_rng(0).integers(0, 3, 500)
    column = pa.chunked_array([pa.array([*(names[i] for i in drawn), None])])
    keys = np.array(
        [key if key is None else bytes(key) for key in person_keys(column).to_pylist()], dtype=object
    )
    numbers = people_of(column)
    for number in set(numbers):
        assert len(set(keys[numbers == number])) == 1
    assert len(set(keys)) == len(set(numbers))


def test_rows_of_people_are_counted_as_in_one_process() -> None:
    rng = np.random.default_rng(5)
    rows = FRAME.append_column("person", pa.array(rng.integers(0, 900, FRAME.num_rows)))
    schema = sulq.Schema(SCHEMA, unit=sulq.Unit("person", rows=2))
    layout = BlockLayout.of(schema)
    machine = np.asarray(rows.column("person")) % 3
    blocks = [
        list(blocks_of(layout, rows.filter(pa.array(machine == each)).to_batches(173))) for each in range(3)
    ]
    opened = sulq.open(rows, schema)
    parts = (*DIFFERENT, sulq.one_hot(sulq.bucket("person", 16)))
    adding = Adding(layout, parts, opened.rows)
    seen, totals = adding.totals([adding.partial(each) for each in blocks])
    assert seen == opened.rows
    assert [list(each) for each in totals] == [list(each) for each in opened.sums(parts)]


def test_machines_keep_identifiers_of_the_unit_only() -> None:
    name = next(iter(SCHEMA))
    with pytest.raises(sulq.QueryError, match="declare it as the unit"):
        Adding(LAYOUT, (sulq.one_hot(sulq.bucket(name, 16)),), 3).cells()


def test_a_machine_with_other_code_refuses_to_work() -> None:
    skewed = BlockLayout(LAYOUT.schema, "0" * 64)
    with pytest.raises(sulq.SulqError, match=OTHER_CODE):
        list(blocks_of(skewed, FRAME.to_batches()))
    with pytest.raises(sulq.SulqError, match=OTHER_CODE):
        Adding(skewed, DIFFERENT, 3000).partial([])
    assert len(code_digest()) == 64


def test_packed_totals_add_up_beyond_64_bits_and_of_the_right_size_only() -> None:
    """512 blocks of the largest sums are one step from the end of 64 bits."""
    totals = Totals([np.zeros(2, np.int64), np.zeros(1, np.int64)])
    totals.add([np.array([2**62, -(2**62)]), np.array([5])], blocks=512)
    for _ in range(5):
        twice = Totals([np.zeros(2, np.int64), np.zeros(1, np.int64)])
        for _ in range(2):
            twice.merge_packed(*totals.packed())
        totals = twice
    assert [each.tolist() for each in totals.result()] == [[2**67, -(2**67)], [160]]
    for blocks, size in ((1, 8), (1, 16), (1, 32), (-1, 24), (513, 24)):
        with pytest.raises(sulq.QueryError, match="does not have the numbers that were asked for"):
            totals.merge_packed(blocks, b"\1" * size, "null")
    assert [each.tolist() for each in totals.result()] == [[2**67, -(2**67)], [160]]


def test_sums_that_are_nothing_whatever_the_rows_are_added_up_too() -> None:
    none = Kernel(sulq.total(sulq.col("x") * 0).parts, scope_of(sulq.Schema({"x": sulq.Real(0, 1)})), 10)
    totals = none.nothing()
    assert len(totals.result()) == 0
    totals.merge_packed(*none.nothing().packed())
    assert [list(each) for each in none.totals(totals)] == [[0]]

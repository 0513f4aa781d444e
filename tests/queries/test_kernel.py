"""Running totals of any number of blocks, and tables counted together."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import sulq
from sulq.queries import kernel
from sulq.queries.facts import EXACT
from sulq.queries.kernel import Kernel, Totals
from sulq.queries.scope import Scope


@pytest.mark.parametrize("blocks", [1, 511, 512, 513, 2000])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_no_number_of_blocks_overflows(blocks: int, threads: int) -> None:
    largest = np.array([EXACT, -EXACT, 1, 0])
    workers = [Totals([np.zeros(4, dtype=np.int64), np.zeros(1, dtype=np.int64)]) for _ in range(threads)]
    for block in range(blocks):
        workers[block % threads].add([largest, np.array([3])])
    first, *others = workers
    for other in others:
        first.merge(other)
    many, one = (total.tolist() for total in first.result())
    assert many == [blocks * EXACT, -blocks * EXACT, blocks, 0]
    assert one == [3 * blocks]


def test_tables_are_the_same_however_many_are_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    sizes = {f"c{i}": 3 + i for i in range(8)}
    schema = sulq.Schema({name: sulq.Category([f"v{j}" for j in range(n)]) for name, n in sizes.items()})
    rows = {name: [f"v{j}" for j in rng.integers(0, n, 500)] for name, n in sizes.items()}
    tables = [sulq.count(by=list(pair)) for pair in itertools.combinations(sizes, 2)]
    found, joints = [], []
    for cells in (1, 2**8, 2**12, 2**16):
        monkeypatch.setattr(kernel, "JOINT_CELLS", cells)
        parts = [part for table in tables for part in table.parts]
        joints.append(len(Kernel(parts, Scope(schema), 500)._joint))
        answers = sulq.open(rows, schema).exact().ask(sulq.Round(tables))
        found.append([np.asarray(answer.value).tolist() for answer in answers])
    assert joints == sorted(joints, reverse=True)
    assert joints[0] > joints[-1]
    assert found.count(found[0]) == len(found)


def test_one_number_summed_over_several_sets_of_rows_is_computed_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = {"x": [0.5, -2.0, 7.0, 1.0], "y": [True, False, True, False]}
    people = sulq.open(rows, {"x": sulq.Real(-8, 8), "y": sulq.Boolean()})
    side, computed = sulq.dot(sulq.features("x"), [2.0]), []
    whole = people.values(side)
    value = type(side).value
    monkeypatch.setattr(
        type(side), "value", lambda self, batch: (computed.append(batch.rows), value(self, batch))[1]
    )
    signs = np.where(rows["y"], 1, -1)
    [answer] = people.exact().ask(sulq.Round([sulq.total(sulq.where("y", side, -side))]))
    assert answer.value == (signs * whole).sum()
    assert computed == [4]


def test_the_more_rows_the_more_is_counted_together() -> None:
    schema = sulq.Schema({f"c{i}": sulq.Category([f"v{j}" for j in range(8)]) for i in range(12)})
    parts = [part for name in schema for part in sulq.count(by=name).parts]
    few, many = (Kernel(parts, Scope(schema), rows)._joint for rows in (10**4, 10**7))
    assert len(many) < len(few)

"""Whose rows meet whose, where columns are in different hands."""

from __future__ import annotations

from typing import Any

import numpy as np

import sulq
from tests.oracles.test_parties import SURE, col, table
from tests.postgres import PostgresServer


def cross_count(one: sulq.Source, other: sulq.Source, **settings: Any) -> sulq.Answer:
    asked = sulq.parties([one.exact(), other.exact()], "id", **settings)
    return asked.ask(sulq.Round([sulq.total(col("p") * col("q"))]))[0]


def hand(name: str, ids: Any, values: Any = 1, unit: sulq.Unit | None = None) -> sulq.Source:
    values = [values] * len(ids) if isinstance(values, int) else values
    return table({"id": ids, name: values}, {name: sulq.Integer(0, 4)}, unit)


def test_who_is_in_one_table_only_adds_nothing() -> None:
    for there, true in ((range(500, 1000), 0), (range(400, 900), 100), (range(500), 500)):
        answer = cross_count(hand("p", range(500)), hand("q", there))
        assert abs(answer.value - true) <= answer.radius(SURE) < 100


def test_rows_of_one_person_meet_all_rows_of_the_same_person_elsewhere() -> None:
    """As a join does: each pair of rows counts. With a unit, no more rows count than it allows."""
    twice, thrice = [i % 300 for i in range(600)], [i % 300 for i in range(900)]
    answer = cross_count(hand("p", twice), hand("q", thrice))
    assert abs(answer.value - 300 * 6) <= answer.radius(SURE)
    answer = cross_count(
        hand("p", twice, unit=sulq.Unit("id", 1)), hand("q", thrice, unit=sulq.Unit("id", 2))
    )
    assert abs(answer.value - 300 * 2) <= answer.radius(SURE)


def test_rows_that_name_nobody_meet_nobody() -> None:
    answer = cross_count(hand("p", [None] * 500), hand("q", [None] * 500))
    assert answer.value == 0 and answer.radius(SURE) == 0


def test_where_there_are_no_rows_answers_are_about_nothing() -> None:
    empty, full = hand("p", [], []), hand("q", range(100))
    assert cross_count(empty, full).value == 0
    private = sulq.parties([empty.curator(epsilon=1), full.curator(epsilon=1)], "id", people=100)
    [answer] = private.ask(sulq.Round([sulq.mean("q", where=col("p") > 0)], share=1))
    assert np.isfinite(answer.value) or np.isnan(answer.value)


def test_missing_cells_are_left_out_on_both_sides() -> None:
    drop = sulq.Real(0, 4, drop_missing=True)
    rows = np.arange(600)
    here = table({"id": rows, "p": np.where(rows % 2, 1.0, np.nan)}, {"p": drop})
    there = table({"id": rows, "q": np.where(rows % 3, 2.0, np.nan)}, {"q": drop})
    asked = sulq.parties([here.exact(), there.exact()], "id")
    round_ = sulq.Round([sulq.total(col("p") * col("q")), sulq.mean(col("p") * col("q"))])
    total, mean = asked.ask(round_)
    assert abs(total.value - 400) <= total.radius(SURE) and abs(mean.value - 2) <= mean.radius(SURE)


def test_missing_cells_are_false_in_conditions_and_groups_on_both_sides() -> None:
    drop = sulq.Boolean(drop_missing=True)
    rows = np.arange(600)
    here = table({"id": rows, "p": [None if row % 2 else True for row in rows]}, {"p": drop})
    there = table({"id": rows, "q": [None if row % 3 else True for row in rows]}, {"q": drop})
    asked = sulq.parties([here.exact(), there.exact()], "id")
    [counts, both] = asked.ask(
        sulq.Round([sulq.count(by=["p", "q"]), sulq.count(where=~(col("p") & col("q")))])
    )
    assert (np.abs(counts.value - [[200, 100], [200, 100]]) <= counts.radius(SURE)).all()
    assert abs(both.value - 500) <= both.radius(SURE)


def test_identifiers_have_other_names_and_types_at_other_parties() -> None:
    here = sulq.open(
        {"person": [f"{i:05}" for i in range(400)], "p": [1] * 400},
        {"person": sulq.Category(["00001"]), "p": sulq.Integer(0, 1)},
    )
    schema = sulq.Schema({"q": sulq.Integer(0, 1)}, sulq.Unit("number", rows=1))
    there = sulq.open({"number": np.arange(400.0), "q": [1] * 400}, schema)
    asked = sulq.parties([here.exact(), there.exact()], ["person", "number"])
    [answer] = asked.ask(sulq.Round([sulq.total(col("p") * col("q"))]))
    assert abs(answer.value - 400) <= answer.radius(SURE) < 100
    assert set(asked.schema) == {"p", "q"}


def test_a_party_whose_rows_are_in_postgres_meets_one_whose_rows_are_in_memory(
    postgres: PostgresServer,
) -> None:
    ids = np.random.default_rng(5).permutation(400)
    with postgres.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE met (id text, p integer)")
        with cursor.copy("COPY met FROM STDIN") as copy:
            for each in range(400):
                copy.write_row([f"{each:05}" if each % 4 else None, each % 2])
    kinds = {"id": sulq.Category(["1"]), "p": sulq.Integer(0, 4)}
    here = sulq.open(
        f"postgresql://postgres@/postgres?host={postgres.folder}",
        sulq.Schema(kinds, sulq.Unit("id", 1)),
        table="met",
    )
    asked = sulq.parties([here.exact(), hand("q", ids).exact()], "id", people=400)
    [answer] = asked.ask(sulq.Round([sulq.total(col("p") * col("q"))]))
    assert abs(answer.value - 200) <= answer.radius(SURE) < 100

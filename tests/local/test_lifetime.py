"""A person's own device: it keeps to the person's ε for life, and says the same about the same for ever."""

from __future__ import annotations

import random
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sulq
from sulq.errors import BudgetError, LedgerError, QueryError
from sulq.local import Interval, Item, Lifetime, PersonalDevice, Questionnaire, RandomizedResponse, item_of
from sulq.queries.scope import Scope
from tests.local.test_device import Unseen

SCHEMA = sulq.Schema({"sick": sulq.Boolean(), "age": sulq.Integer(0, 120), "town": sulq.Category(["a", "b"])})
SCOPE = Scope(SCHEMA)
PERSON = sulq.open({"sick": [True], "age": [44], "town": ["b"]}, SCHEMA)


def thresholds(count: int, epsilon: Fraction = Fraction(1)) -> list[Item]:
    return [item_of(sulq.col("age") >= 1 + i, SCOPE, epsilon) for i in range(count)]


def device(folder: Path, epsilon: Any = 2, survey: str = "health", rows: Any = PERSON) -> PersonalDevice:
    return PersonalDevice(rows, Lifetime(folder / "mine.db", survey, epsilon))


def test_the_same_item_has_the_same_report_for_ever_and_costs_once(tmp_path: Path) -> None:
    items = thresholds(30, Fraction(1, 10))
    first = device(tmp_path, 3).reports(items)
    for _ in range(3):
        assert device(tmp_path, 3).reports(items) == first
    assert device(tmp_path, 3).keeps.left == 0


def test_a_device_refuses_beyond_its_epsilon_without_a_look(tmp_path: Path) -> None:
    items = thresholds(3)
    device(tmp_path).reports(items[:2])
    blind = device(tmp_path, rows=Unseen(SCHEMA))
    assert len(blind.reports(items[:2])) == 2
    with pytest.raises(BudgetError):
        blind.report(items[2])


def test_all_items_are_paid_for_or_none(tmp_path: Path) -> None:
    blind = device(tmp_path, rows=Unseen(SCHEMA))
    with pytest.raises(BudgetError):
        blind.reports(thresholds(3))
    assert blind.keeps.left == 2


def test_an_item_that_is_asked_twice_at_once_is_paid_for_once(tmp_path: Path) -> None:
    [item] = thresholds(1)
    first, second = device(tmp_path, 1).reports([item, item])
    assert first == second


def test_the_epsilon_that_was_met_first_stays(tmp_path: Path) -> None:
    assert device(tmp_path, 1).keeps.left == 1
    assert device(tmp_path, 100).keeps.left == 1
    assert device(tmp_path, 100, survey="another").keeps.left == 100


def test_what_fails_while_it_is_drawn_costs_nothing(tmp_path: Path) -> None:
    blind = device(tmp_path, rows=Unseen(SCHEMA))
    with pytest.raises(AssertionError, match="looked at"):
        blind.report(thresholds(1)[0])
    assert blind.keeps.left == 2


def forged(item: Item, lies: int) -> Item:
    """An item whose randomizer has other numbers than its ε asks for."""
    response = RandomizedResponse(1)
    object.__setattr__(response, "lies", lies)
    other = replace(item)
    other.__dict__["randomizer"] = response
    return other


@pytest.mark.parametrize(
    "item",
    [
        replace(thresholds(1)[0], schema="0" * 64),
        replace(thresholds(1)[0], rows=2),
        replace(item_of(sulq.col("age"), SCOPE, Fraction(1)), shape=Interval(0.0, 60.0)),
        replace(thresholds(1)[0], value=sulq.col("name")),
        forged(thresholds(1)[0], 1),
        forged(thresholds(1)[0], int(thresholds(1)[0].form()["randomizer"]["lies"]) - 1),
    ],
    ids=["schema", "rows", "shape", "column", "no lies", "one step"],
)
def test_what_cannot_be_verified_is_refused_without_a_look(item: Item, tmp_path: Path) -> None:
    blind = device(tmp_path, 100, rows=Unseen(SCHEMA))
    with pytest.raises(sulq.SulqError) as refused:
        blind.report(item)
    assert not isinstance(refused.value, BudgetError)
    assert blind.keeps.left == 100


def test_two_people_on_one_device_are_refused(tmp_path: Path) -> None:
    two = sulq.open({"sick": [True, False], "age": [44, 5], "town": ["b", "a"]}, SCHEMA)
    both = device(tmp_path, rows=two)
    with pytest.raises(QueryError, match="one person"):
        both.report(thresholds(1)[0])
    assert both.keeps.left == 2


@pytest.mark.parametrize(
    ("number", "people"),
    [(1, []), (1, [2**60] * 20), (1, [2**31 - 1, 1]), (2**70, [1]), (-1, [1]), (True, [1])],
)
def test_a_lot_that_cannot_be_drawn_is_refused_and_costs_nothing(
    tmp_path: Path, number: int, people: list[int]
) -> None:
    mine = device(tmp_path, rows=Unseen(PERSON.scope.schema))
    with pytest.raises(QueryError, match="must be a whole number"):
        mine.answer(number, Questionnaire(tuple(thresholds(len(people))), tuple(people)), "one")
    assert mine.keeps.left == 2


def test_a_lot_is_drawn_once_for_each_round_in_the_proportion_of_the_people(tmp_path: Path) -> None:
    """Of 60 lots, 45 are expected of the second; all, or at most 15, come with a chance below 10^-7."""
    asked = Questionnaire(tuple(thresholds(2, Fraction(1, 100))), (1, 3))
    mine = device(tmp_path)
    drawn = [mine.answer(number, asked, "one") for number in range(60)]
    assert all(len(reports) == 1 for reports in drawn)
    assert [mine.answer(number, asked, "one") for number in range(20)] == drawn[:20]
    assert 15 < sum(reports[0].item == asked.items[1].key for reports in drawn) < 60
    assert len(mine.answer(401, asked)) == 2


def test_a_round_that_asks_neither_all_nor_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="all or one"):
        device(tmp_path).answer(1, Questionnaire(tuple(thresholds(1)), (5,)), "some")  # type: ignore[arg-type]


def test_many_threads_cannot_spend_twice(tmp_path: Path) -> None:
    items = thresholds(24, Fraction(1, 4))

    def ask(item: Item) -> bool:
        try:
            device(tmp_path).report(item)
        except BudgetError:
            return False
        return True

    device(tmp_path)
    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(ask, items)) == 8


KILLED = """
import os, sys
from pathlib import Path
from tests.local.test_lifetime import device, thresholds
mine = device(Path(sys.argv[1]), 1000)
for item in thresholds(100):
    print(mine.report(item).to_json(), flush=True)
"""


def test_a_device_that_is_killed_keeps_every_report_that_it_handed_out(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    seen = [process.stdout.readline().strip() for _ in range(random.randint(1, 20))]
    process.kill()
    process.wait()
    process.stdout.close()
    again = [report.to_json() for report in device(tmp_path, 1000).reports(thresholds(len(seen)))]
    assert again == seen


def test_the_file_is_for_its_person_alone(tmp_path: Path) -> None:
    device(tmp_path)
    assert stat.S_IMODE((tmp_path / "mine.db").stat().st_mode) == 0o600


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.db").write_bytes(np.random.default_rng(0).bytes(5000))
    with pytest.raises(LedgerError, match="keep"):
        device(tmp_path)
    sqlite3.connect(tmp_path / "other.db").execute("CREATE TABLE t (x)").connection.close()
    with pytest.raises(LedgerError, match="format"):
        Lifetime(tmp_path / "other.db", "health", Fraction(1))
    with pytest.raises(LedgerError, match="cannot use"):
        Lifetime(tmp_path / "nowhere" / "mine.db", "health", Fraction(1))

"""Plans across parties, before there are any rows."""

from __future__ import annotations

from dataclasses import replace

import pytest

import sulq
from sulq.plans.parties import PartiesPlan, plan_parties


def three(people: int, within: str) -> PartiesPlan:
    """A plan of three parties' counts: beyond some people, who then share buckets, their average gets worse."""
    tables = {name: sulq.Schema({"id": sulq.Integer(0, 10**6), name: sulq.Boolean()}) for name in "abc"}
    asked = sulq.Round([sulq.count(by=["a", "b", "c"])], share=1)
    return plan_parties(tables, "id", asked, people=people, epsilon=1, within=within)


def test_people_are_enough_where_more_of_them_are_not() -> None:
    assert three(2**40, "0.03").average > 0.03
    needed = three(1, "0.03").needed
    assert needed is not None
    assert three(needed, "0.03").average <= 0.03 < three(needed * 99 // 100, "0.03").average


@pytest.mark.parametrize("within", ["1e-6", "1e-9"])
def test_where_no_number_of_people_is_enough_the_plan_says_so(within: str) -> None:
    planned = three(20_000, within)
    assert planned.needed is None and "no number of people is enough" in planned.describe()


def test_one_person_is_no_people() -> None:
    planned = three(1, "0.5")
    assert "for about 1 person." in planned.describe()
    assert "it takes 1 person." in replace(planned, needed=1).describe()

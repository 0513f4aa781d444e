"""Tallies: reports added up exactly, so that it does not matter who adds up which of them, and when."""

from __future__ import annotations

import itertools
import json
import pickle
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sulq.errors import QueryError
from sulq.local import KaryResponse, LaplaceReport, PaperReport, RandomizedResponse, SphereReport, Tally
from sulq.local.shapes import Box
from sulq.local.tally import exact_sum, exact_sums
from tests.effort import examples
from tests.local.cases import CASES, Case
from tests.local.test_randomizers import STRANGE

MANY = 60
SAMPLES = {case.name: case.make(2).sample(case.cohort([*case.values] * MANY)) for case in CASES}


def tallied(case: Case, reports: Any) -> Tally:
    return case.make(2).tally(reports, item="x")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@settings(max_examples=examples(15))
@given(data=st.data())
def test_tallies_of_any_parts_in_any_order_are_the_tally_of_all_bit_for_bit(
    case: Case, data: st.DataObject
) -> None:
    reports = SAMPLES[case.name]
    order = np.array(data.draw(st.permutations(range(len(reports)))))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(reports) - 1), min_size=1, max_size=20)))
    parts = [tallied(case, part) for part in np.split(reports[order], cuts)]
    whole = tallied(case, reports)
    leftmost, rightmost = reduce(add, parts), reduce(lambda a, b: b + a, parts[::-1])
    for merged in (leftmost, rightmost):
        assert merged == whole and merged.to_json() == whole.to_json()
        assert merged.sums.dtype == whole.sums.dtype
        assert np.array_equal(case.make(2).estimate_of(merged), case.make(2).estimate(reports))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_reports_tallied_one_by_one_are_the_tally_of_all_bit_for_bit(case: Case) -> None:
    reports = SAMPLES[case.name]
    assert reduce(add, (tallied(case, reports[i : i + 1]) for i in range(len(reports)))) == tallied(
        case, reports
    )


def test_a_long_vector_is_tallied_alike_alone_and_among_others() -> None:
    """The length of a vector is a sum of many squares, whose last bit must not depend on the others."""
    report = SphereReport(300, 1, epsilon=1)
    longer = report.sample(np.ones((200, 300))) * 1.7
    alone = reduce(add, (report.tally(longer[i : i + 1]) for i in range(200)))
    assert alone == report.tally(longer)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_tally_is_the_same_after_json_and_after_pickling(case: Case) -> None:
    tally = tallied(case, SAMPLES[case.name])
    for again in (
        Tally.from_json(tally.to_json()),
        pickle.loads(pickle.dumps(tally)),
        Tally.of(tally.form()),
    ):
        assert again == tally and hash(again) == hash(tally)
        assert np.array_equal(case.make(2).estimate_of(again), case.make(2).estimate_of(tally))
        with pytest.raises(ValueError, match="read-only"):
            again.sums[0] = 1


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_made_up_report_in_a_tally_of_its_own_moves_the_estimate_by_at_most_its_influence(
    case: Case,
) -> None:
    randomizer = case.make(2)
    honest = SAMPLES[case.name][:50]
    rest = tallied(case, honest[1:])
    valid = [randomizer.estimate_of(rest + tallied(case, honest[i : i + 1])) for i in range(20)]
    for thing in STRANGE:
        sent = np.empty(1, dtype=object)
        sent[0] = thing if honest.ndim == 1 else [thing] * honest.shape[1]
        estimate = randomizer.estimate_of(rest + tallied(case, sent))
        apart = max(float(np.abs(estimate - other).max()) for other in valid)
        assert apart <= randomizer.influence(50) * (1 + 1e-9)


def test_tallies_of_different_items_do_not_add_up() -> None:
    kary = KaryResponse(3, 1)
    for other in (kary.tally([0, 1], "another"), KaryResponse(4, 1).tally([0], "x")):
        with pytest.raises(QueryError, match="only tallies of the same item add up"):
            kary.tally([0, 1], "x") + other
    with pytest.raises(TypeError):
        kary.tally([0], "x") + 1  # type: ignore[operator]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_tally_of_other_reports_is_refused(case: Case) -> None:
    wrong = Tally("x", 3, np.zeros(97, dtype=np.int64))
    with pytest.raises(QueryError, match="take its own item"):
        case.make(2).estimate_of(wrong)


def test_counts_that_no_reports_can_have_are_refused() -> None:
    for counts in ([4], [-1], [2**70]):
        with pytest.raises(QueryError, match="is not one that"):
            RandomizedResponse(1).estimate_of(Tally("x", 3, np.array(counts)))


def test_sums_beyond_64_bits_are_exact() -> None:
    """At the least ε a report with Laplace noise may be 2^48 steps away, and a tally may be of many."""
    laplace = LaplaceReport(0, 1, Fraction(1, 2**30))
    paper = PaperReport(Box((0.0, 0.0), (1.0, 1.0)), Fraction(1, 2**30))
    far = [10**18] * 40_000
    assert int(laplace.tally(far).sums[0]) == 40_000 * int(laplace.within([10**18])[0])
    assert int(laplace.tally(far).sums[0]) > 2**63
    tally = paper.tally(list(zip(itertools.cycle([0, 1]), far, strict=False)))
    assert tally.sums.tolist() == [20_000 * (2 * int(laplace.within([10**18])[0]) - 4096)] * 2
    large = Tally("x", 1, np.array([2**62, -(2**63)]))
    assert (large + large).sums.tolist() == [2**63, -(2**64)]
    assert Tally.from_json((large + large).to_json()) == large + large


@given(steps=st.lists(st.integers(-(2**62), 2**62), max_size=50), size=st.integers(1, 5))
def test_exact_sums_are_those_of_python(steps: list[int], size: int) -> None:
    places = np.arange(len(steps)) % size
    expected = [
        sum(step for place, step in zip(places, steps, strict=True) if place == i) for i in range(size)
    ]
    assert exact_sums(places, np.array(steps, dtype=np.int64), size).tolist() == expected
    assert exact_sum(np.array(steps, dtype=np.int64)) == sum(steps)


def test_no_reports_are_a_tally_but_no_estimate() -> None:
    kary = KaryResponse(3, 1)
    nobody = kary.tally(np.array([], dtype=np.int64), "x")
    some = kary.tally([0, 1], "x")
    assert nobody + some == some
    with pytest.raises(QueryError, match="at least one report"):
        kary.estimate_of(nobody)


FORM = {"tally": 1, "item": "x", "reports": 3, "sums": [1, 2]}
WRONG: Sequence[tuple[Any, str]] = [
    (FORM | {"tally": 2}, "version"),
    (FORM | {"tally": True}, "version"),
    ({"report": 1}, "version"),
    ([], "version"),
    (FORM | {"more": 1}, "a tally has"),
    ({"tally": 1, "item": "x"}, "a tally has"),
    (FORM | {"reports": -1}, "the number of reports of a tally must be a whole number"),
    (FORM | {"reports": True}, "the number of reports of a tally must be a whole number"),
    (FORM | {"reports": 1.5}, "the number of reports of a tally must be a whole number"),
    (FORM | {"item": 5}, "the name of its item"),
    (FORM | {"sums": "12"}, "the name of its item"),
    (FORM | {"sums": [1.0]}, "whole numbers"),
    (FORM | {"sums": [True]}, "whole numbers"),
    (FORM | {"sums": [[1]]}, "whole numbers"),
]


@pytest.mark.parametrize(("form", "refusal"), WRONG, ids=lambda value: str(value)[:40])
def test_what_is_no_tally_is_refused_in_one_line(form: Any, refusal: str) -> None:
    with pytest.raises(QueryError, match=refusal):
        Tally.from_json(json.dumps(form))
    with pytest.raises(QueryError, match="not the JSON of a tally"):
        Tally.from_json("{")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_made_up_tally_counts_for_no_more_than_as_many_made_up_reports(case: Case) -> None:
    randomizer = case.make(2)
    honest = tallied(case, SAMPLES[case.name][:3])
    before = randomizer.estimate_of(honest)
    for made_up in (10**30, 10**6, 3, 1, 0, -1, -(10**30)):
        sums = np.full(len(honest.sums), made_up, dtype=object)
        try:
            moved = np.abs(randomizer.estimate_of(Tally("x", honest.reports, sums)) - before).max()
        except QueryError:
            continue
        assert moved <= honest.reports * randomizer.influence(honest.reports) * (1 + 1e-6)


def test_a_tally_of_more_reports_than_there_can_be_is_refused() -> None:
    with pytest.raises(QueryError, match="the number of reports of a tally must be a whole number"):
        Tally("x", 10**400, np.array([0]))

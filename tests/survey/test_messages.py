"""What devices may send: anything at all, of which only reports are counted, and nothing stops the collector."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sulq.errors import QueryError
from sulq.survey.asking import items_of
from sulq.survey.collector import Collector
from sulq.survey.messages import gathered_of, sent_of
from sulq.wire import of_json
from tests.effort import examples
from tests.survey.surveys import EVERY_KIND, survey

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
NUMBERS = st.integers(-(2**53), 2**53) | st.floats(-1e15, 1e15) | st.booleans()
REPORTS = NUMBERS | st.lists(NUMBERS, max_size=9)
LONG = {"kind": "one-of", "text": "Which?", "choices": [str(number) for number in range(500)]}


@settings(max_examples=examples(300), deadline=None)
@given(form=PLAIN)
def test_whatever_is_sent_is_read_or_refused_in_one_line(form: Any) -> None:
    for read in (sent_of, gathered_of):
        for sent in (
            form,
            {"reports-sent": 1, "survey": "s", "round": 1, "invitation": None, "reports": form},
        ):
            with pytest.raises(QueryError) as refused:
                read(of_json(json.dumps(sent), "what is sent"), "s")
                raise QueryError("it can be read")
            assert "\n" not in str(refused.value)


def test_a_token_of_half_a_letter_is_refused() -> None:
    form = {"reports-sent": 1, "survey": "s", "round": 1, "invitation": "\ud800", "reports": []}
    with pytest.raises(QueryError, match="an invitation is a text"):
        sent_of(form, "s")


@pytest.mark.parametrize("report", [None, "1", {}, [[1]], [None], 2**54, 10**400, ["x"]], ids=str)
def test_a_report_that_is_no_number_is_refused(report: Any) -> None:
    reports = [{"report": 1, "item": "x", "numbers": [report]}]
    form = {"reports-sent": 1, "survey": "s", "round": 1, "invitation": None, "reports": reports}
    with pytest.raises(QueryError, match="is a number, or a list of numbers"):
        sent_of(form, "s")


@settings(max_examples=examples(60), deadline=None)
@given(data=st.data())
def test_whatever_the_numbers_are_they_are_counted_and_move_no_more_than_their_influence(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder: Path = tmp_path_factory.mktemp("survey")
    made = survey(folder, EVERY_KIND | {"which": LONG}, invited=False, epsilon=20, keeps="reports")
    with Collector(made) as collector:
        asked = items_of(made)
        people = data.draw(st.lists(st.tuples(*[REPORTS] * len(asked)), min_size=1, max_size=4))
        for reports in people:
            sent = [
                {"report": 1, "item": each.item.key, "numbers": [report]}
                for each, report in zip(asked, reports, strict=True)
            ]
            form = {"reports-sent": 1, "survey": made.id, "round": 1, "invitation": None, "reports": sent}
            assert collector.accept([sent_of(of_json(json.dumps(form), "sent"), made.id)]) == ["accepted"]
        for each in asked:
            kept = collector.tallies(1)[each.item.key]
            assert kept.tally.reports == len(people)
            values, randomizer = each.item.estimate(kept.tally), each.item.randomizer
            assert values.max() - values.min() <= 2 * randomizer.influence(1) + each.span

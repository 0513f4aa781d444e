"""What every reader of JSON refuses, whatever it reads."""

from __future__ import annotations

import pytest

import sulq
from sulq.errors import QueryError
from sulq.wire import of_json, versioned


@pytest.mark.parametrize("text", ['{"rows": 5, "rows": 1000}', '[{"a": {"b": 1, "c": 2, "b": 1}}]'])
def test_a_text_that_says_something_twice_is_refused(text: str) -> None:
    with pytest.raises(sulq.QueryError, match="this is not the JSON of an offer"):
        of_json(text, "an offer")


def test_a_form_may_be_called_otherwise_than_its_kind() -> None:
    with pytest.raises(QueryError, match="this is not the form of a set of sketches: it does not say 's"):
        versioned({}, "sketches", 1, "a set of sketches")
    with pytest.raises(QueryError, match="this is a set of sketches of version 2"):
        versioned({"sketches": 2}, "sketches", 1, "a set of sketches")
    with pytest.raises(QueryError, match="this is not the form of an answer: it does not say 'a"):
        versioned({}, "answer")

"""What every reader of JSON refuses, whatever it reads."""

from __future__ import annotations

import pytest

import sulq
from sulq.wire import of_json


@pytest.mark.parametrize("text", ['{"rows": 5, "rows": 1000}', '[{"a": {"b": 1, "c": 2, "b": 1}}]'])
def test_a_text_that_says_something_twice_is_refused(text: str) -> None:
    with pytest.raises(sulq.QueryError, match="this is not the JSON of an offer"):
        of_json(text, "an offer")

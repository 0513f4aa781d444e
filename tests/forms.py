"""Plain data for tests of readers: random JSON, and forms that were tampered with."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import pytest

import sulq

leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.integers(),
    st.just(10**400),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.sampled_from(["column", "Column", "count", "1", "1/0", "1e999999", "-1", "age", "b", "r", "nan", ""]),
)
json_values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["node", "is", "query"]), inner)
    ),
    max_leaves=6,
)


@st.composite
def tampered(draw: st.DrawFn, forms: st.SearchStrategy[Any]) -> Any:
    """A form with one place changed: a value replaced, a key or an element left out, added or renamed."""
    form = copy.deepcopy(draw(forms))
    inside = [place for place in _places(form) if place]
    holder: Any = draw(st.sampled_from(inside))
    key = draw(st.sampled_from(sorted(holder) if isinstance(holder, dict) else range(len(holder))))
    match draw(st.integers(0, 3)):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[draw(st.sampled_from(["more", "node", "inner", "is"]))] = draw(json_values)
        case 2:
            holder[key] = copy.deepcopy(draw(st.sampled_from(inside)))
        case _:
            holder[key] = draw(json_values)
    return form


def _places(form: Any) -> list[Any]:
    below = form.values() if isinstance(form, dict) else form if isinstance(form, list) else ()
    return [*([form] if isinstance(form, dict | list) else []), *(p for each in below for p in _places(each))]


def plain(value: Any) -> bool:
    """Whether something is plain JSON: finite numbers, texts, truth values, None, lists and objects."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and plain(each) for key, each in value.items())
    if isinstance(value, list):
        return all(map(plain, value))
    return value is None or type(value) in (str, bool, int) or (type(value) is float and math.isfinite(value))


def check_reader(read: Callable[[str], Any], form_of: Callable[[Any], Any], form: Any) -> None:
    """A reader refuses a form in one line, or reads it as something whose form it reads as the same again."""
    try:
        found = read(json.dumps(form))
    except sulq.QueryError as refusal:
        assert "\n" not in str(refusal) and 0 < len(str(refusal)) < 1000
    else:
        written = form_of(found)
        assert plain(written)
        assert form_of(read(json.dumps(written))) == written


def refusal(read: Callable[[Any], Any], form: Any) -> str:
    """The line with which a form is refused."""
    with pytest.raises(sulq.QueryError) as refused:
        read(form)
    assert "\n" not in str(refused.value)
    return str(refused.value)

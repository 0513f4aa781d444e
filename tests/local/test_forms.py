"""Randomizers cross to devices as plain data, with their exact chances."""

from __future__ import annotations

import copy
import json
import pickle
from fractions import Fraction
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from sulq.local import (
    Ball,
    Box,
    Flag,
    Interval,
    Keyed,
    OneOf,
    Randomizer,
    best_randomizer,
    randomizer_of,
    shape_of,
)
from sulq.local import randomizer_from_json as from_json
from sulq.local.reading import RANDOMIZERS, SHAPES
from sulq.local.response import RandomizedResponse
from sulq.local.unary import UnaryResponse
from tests.effort import examples
from tests.forms import check_reader, json_values, plain, refusal, tampered
from tests.local.cases import CASES, EPSILONS, Case

SHAPED = [Flag(), OneOf(3), Interval(-1.0, 2.5), Box((0.0, -1.0), (1.0, 3.0)), Ball(2, 3.0)]
SHAPED += [Keyed(3, Box((0.0,), (4.0,)))]
EVERY = [case.make(epsilon) for case in CASES for epsilon in EPSILONS]
WIRE = {
    "CapReport": "cap",
    "CoordinateReport": "coordinates",
    "DesignResponse": "design",
    "HadamardResponse": "hadamard",
    "KaryResponse": "kary",
    "KeyedReport": "keyed",
    "LaplaceReport": "laplace",
    "OneBitReport": "one bit",
    "PaperReport": "paper",
    "PiecewiseReport": "piecewise",
    "RandomizedResponse": "response",
    "SphereReport": "sphere",
    "UnaryResponse": "unary",
    "WindowReport": "window",
}
"""What is on the wire in version 1: devices of others know these names."""


def test_the_names_on_the_wire_are_those_of_version_1() -> None:
    assert {type(randomizer).__name__: randomizer.form["is"] for randomizer in EVERY} == WIRE
    assert set(RANDOMIZERS) == set(WIRE.values())
    assert [shape.form["is"] for shape in SHAPED] == ["flag", "one of", "interval", "box", "ball", "keyed"]
    assert {shape.form["is"] for shape in SHAPED} == set(SHAPES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_randomizer_survives_the_wire(case: Case) -> None:
    for epsilon in EPSILONS:
        randomizer = case.make(epsilon)
        form = randomizer.form
        assert list(form)[:2] == ["randomizer", "is"] and form["randomizer"] == 1 and plain(form)
        for again in (
            randomizer_of(form),
            from_json(randomizer.to_json()),
            from_json(json.dumps(form)),
            pickle.loads(pickle.dumps(randomizer)),
        ):
            assert again == randomizer and type(again) is type(randomizer) and again.form == form
            assert (again.ratio, again.exponent) == (randomizer.ratio, randomizer.exponent)
            assert again.radius(1000, 0.05) == randomizer.radius(1000, 0.05)


@settings(max_examples=examples(60))
@given(st.sampled_from(SHAPED), st.fractions(Fraction(1, 10), 10))
def test_the_randomizer_that_a_crowd_would_use_survives_the_wire(shape: Any, epsilon: Fraction) -> None:
    randomizer = best_randomizer(shape, epsilon)
    assert randomizer_of(json.loads(json.dumps(randomizer.form))) == randomizer


@pytest.mark.parametrize("shape", SHAPED)
def test_every_shape_survives_the_wire(shape: Any) -> None:
    assert plain(shape.form)
    assert shape_of(json.loads(json.dumps(shape.form))) == shape == pickle.loads(pickle.dumps(shape))


RESPONSE = RandomizedResponse(1).form
UNARY = UnaryResponse(6, 1).form


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ([], "does not say 'randomizer' and the version, 1"),
        (
            RESPONSE | {"randomizer": 2},
            "a randomizer of version 2, and version 1 is the one that is known here",
        ),
        (RESPONSE | {"is": "dice"}, "'dice' is not a known randomizer; known are cap, coordinates,"),
        (RESPONSE | {"more": 1}, "the randomizer 'response' has is, lies: 'more' is not known"),
        ({"randomizer": 1, "is": "response"}, "the randomizer 'response' has is, lies: lies is missing"),
        (RESPONSE | {"lies": 5}, 'is an exact number as a text, like "1/3", not 5'),
        (RESPONSE | {"lies": "0"}, "lies is a whole number of steps of 2^-64, from 1 to 2^64 - 1, not '0'"),
        (RESPONSE | {"lies": "1/3"}, "lies is a whole number of steps"),
        (RESPONSE | {"lies": str(2**63)}, "lies must be less than one half"),
        (UNARY | {"k": 1}, "the number of possibilities must be a whole number from 2 to"),
        (UNARY | {"optimised": 1}, "optimised is true or false, not 1"),
        (UNARY | {"own": UNARY["other"]}, "one's own bit is a fair coin in an optimised unary report"),
        (
            UNARY | {"own": UNARY["other"], "other": UNARY["own"]},
            "say nothing of a value, or the opposite of it",
        ),
    ],
)
def test_what_is_no_randomizer_is_refused_in_one_line(form: Any, said: str) -> None:
    assert said in refusal(randomizer_of, form)


@settings(max_examples=examples(150), suppress_health_check=list(HealthCheck))
@given(st.one_of(json_values, tampered(st.sampled_from([each.form for each in EVERY]))))
def test_whatever_comes_as_a_randomizer_is_read_or_refused(form: Any) -> None:
    check_reader(from_json, lambda randomizer: randomizer.form, form)


@settings(max_examples=examples(150), suppress_health_check=list(HealthCheck))
@given(tampered(st.sampled_from([each.form for each in EVERY])))
def test_whatever_is_read_can_be_used(form: Any) -> None:
    """No chance that somebody sent makes a randomizer that fails, or estimates nothing."""
    try:
        read: Randomizer = randomizer_of(copy.deepcopy(form))
    except Exception as refused:
        assert type(refused).__name__ == "QueryError"
        return
    assert read.ratio > 1 and read.epsilon > 0 and read.variance(1) >= 0 and read.radius(100, 0.05) >= 0


@settings(max_examples=examples(150), suppress_health_check=list(HealthCheck))
@given(st.one_of(json_values, tampered(st.sampled_from([shape.form for shape in SHAPED]))))
def test_whatever_comes_as_a_shape_is_read_or_refused(form: Any) -> None:
    check_reader(lambda text: shape_of(json.loads(text)), lambda shape: shape.form, form)

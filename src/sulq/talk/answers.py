"""Answers: a value, the names of its parts, and the law of its error. All of it is plain data."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sulq.errors import QueryError
from sulq.talk.law_forms import Law, law_form, law_of
from sulq.talk.laws import Exactly, Value
from sulq.wire import listed, members, of_json, reading, versioned

EXACTLY = Exactly()
VERSION = 1
"""Of the JSON form of an answer."""


@dataclass(frozen=True)
class Axis:
    """One axis of an answer.

    Args:
        name: what the axis stands for.
        labels: what its places are called. None where there are too many to name; they are numbered from 0.
    """

    name: str
    labels: tuple[str, ...] | None


@dataclass(frozen=True, eq=False)
class Answer:
    """What an oracle says to one query.

    Args:
        value: a number, or an array with one axis for each `by`; for a choice, the number of a candidate.
        law: how far the value may be from the truth.
        axes: what the axes of an array stand for, if that is known.

    >>> from fractions import Fraction
    >>> from sulq.talk.laws import Noise
    >>> answer = Answer(np.array([40.0, 2.0]), Noise("laplace", Fraction(1), Fraction(1), numbers=2))
    >>> answer.radius(0.05), round(answer.deviation, 2)
    (4.0, 1.36)
    >>> low, high = answer.interval(0.05)
    >>> low.tolist(), high.tolist()
    ([36.0, -2.0], [44.0, 6.0])
    """

    value: Value
    law: Law = EXACTLY
    axes: tuple[Axis, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.value, np.ndarray):
            # An answer may be in a store from which it is given again: nobody writes to it.
            self.value.flags.writeable = False

    def radius(self, beta: float) -> Value:
        """How far the value is from the answer over the rows themselves, but for a chance of `beta`.

        Of an array, all numbers at once are that close. A mean's radius is an array like the mean; where
        its count may be zero, it is infinite. Of a choice it is how far the chosen score may be from the
        best. Rows being only a sample of something larger is not part of it, unless the law says so.
        """
        return self.law.radius(beta)

    def interval(self, beta: float) -> tuple[Value, Value]:
        """Between these two the truth lies, but for a chance of `beta`: of an array, all of it at once."""
        radius = self.radius(beta)
        return self.value - radius, self.value + radius

    @property
    def deviation(self) -> Value:
        """One standard deviation of the error of a number, or a bound on it."""
        return self.law.deviation

    def form(self) -> dict[str, Any]:
        """The answer as plain data; `Answer.of` reads it back."""
        axes = [
            {"name": axis.name, "labels": None if axis.labels is None else list(axis.labels)}
            for axis in self.axes
        ]
        return {"answer": VERSION, "value": _plain(self.value), "axes": axes, "law": law_form(self.law)}

    @classmethod
    def of(cls, form: Mapping[str, Any]) -> Answer:
        """The answer with this form. A version that is not known is refused."""
        with reading("an answer"):
            names = ["answer", "value", "axes", "law"]
            given = members(versioned(form, "answer", VERSION), "an answer", names)
            axes = tuple(_axis(axis) for axis in listed(given["axes"], "the axes of an answer"))
            return cls(_read(given["value"]), law_of(given["law"]), axes)

    def to_json(self) -> str:
        """The answer as JSON, for `from_json`.

        >>> Answer.from_json(Answer(3.0).to_json()).value
        3.0
        """
        return json.dumps(self.form(), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Answer:
        """The answer that `to_json` wrote."""
        return cls.of(of_json(text, "an answer"))


def _axis(form: Any) -> Axis:
    given = members(form, "an axis of an answer", ["name", "labels"])
    labels = given["labels"]
    named = None if labels is None else tuple(listed(labels, "the labels of an axis"))
    if not all(isinstance(word, str) for word in (given["name"], *(named or ()))):
        raise QueryError("the name and the labels of an axis are texts")
    return Axis(given["name"], named)


def _plain(value: Value) -> Any:
    if isinstance(value, np.ndarray):
        return {"shape": list(value.shape), "numbers": [_plain(number) for number in value.ravel().tolist()]}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no word for it
    return value


def _read(value: Any) -> Value:
    if isinstance(value, Mapping):
        members(value, "an array", ["shape", "numbers"])
        numbers = [_read(number) for number in listed(value["numbers"], "the numbers of an array")]
        whole = all(isinstance(number, int) for number in numbers)
        return np.array(numbers, dtype=np.int64 if whole else np.float64).reshape(value["shape"])
    if isinstance(value, str):
        if value not in ("nan", "inf", "-inf"):
            raise ValueError
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    return value

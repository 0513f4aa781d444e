"""Answers: a value, the names of its parts, and the law of its error. All of it is plain data."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from sulq.errors import QueryError
from sulq.privacy.ranges import chance
from sulq.talk.columns import Library, csv_text, distinct, frame, html_table, plain_table, with_error, written
from sulq.talk.law_forms import Law, law_form, law_of
from sulq.talk.laws import Exactly, Value
from sulq.wire import listed, members, of_json, reading, versioned

EXACTLY = Exactly()
VERSION = 1
"""Of the JSON form of an answer."""
BETA = 0.05
"""Errors are stated for 95 %, if nothing else is said."""
IN_A_LINE, IN_A_TEXT = 6, 40
"""How many numbers of an answer are shown on one line, and in a table on a terminal."""


@dataclass(frozen=True)
class Axis:
    """One axis of an answer.

    Args:
        name: what the axis stands for.
        labels: what its places are called. None where there are too many to name; they are numbered from 0.
    """

    name: str
    labels: tuple[str, ...] | None

    @property
    def heading(self) -> str:
        """The name without what only a message needs.

        >>> Axis("column 'age'", None).heading, Axis("this bins", None).heading
        ('age', 'bins')
        """
        column = re.fullmatch(r"column (['\"])(.*)\1", self.name, re.DOTALL)
        return column.group(2) if column else self.name.removeprefix("this ")


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
        return self.law.radius(chance(beta))

    def interval(self, beta: float) -> tuple[Value, Value]:
        """Between these two the truth lies, but for a chance of `beta`: of an array, all of it at once."""
        radius = self.radius(beta)
        return self.value - radius, self.value + radius

    @property
    def deviation(self) -> Value:
        """One standard deviation of the error of a number, or a bound on it."""
        return self.law.deviation

    @property
    def cells(self) -> list[tuple[str, ...]]:
        """What each number of the answer is about: a label for each axis. Places without labels are numbered.

        >>> Answer(np.array([5.0, 6.0]), axes=(Axis("column 'sick'", ("false", "true")),)).cells
        [('false',), ('true',)]
        """
        return list(product(*self._labels))

    def columns(self, beta: float = BETA) -> dict[str, list[Any]]:
        """The answer as columns, with a row for each number: its labels, its value and its error.

        Args:
            beta: the chance that one of the numbers is further off than its `radius`, and so outside of `low`
                and `high`.
        """
        names = distinct([*self._headings, "value", "radius", "low", "high"])
        values, radius = np.ravel(self.value), np.ravel(np.broadcast_to(self.radius(beta), self._shape))
        numbers = [values.tolist(), radius.tolist()]
        if not self._choice:  # what was chosen has no interval around it: its number is a name
            numbers += [(values - radius).tolist(), (values + radius).tolist()]
        labels = [list(labels) for labels in zip(*self.cells, strict=True)] if self._shape else []
        return dict(zip(names, [*labels, *numbers], strict=False))

    def to_frame(self, library: Library | None = None, beta: float = BETA) -> Any:
        """The answer as a data frame, with a row for each number.

        There is a column for each axis, then `value`, `radius`, `low` and `high`. Of a choice, `value` is the
        number of the candidate, and `radius` is how far its score may be from the best.

        Args:
            library: "pandas" or "polars"; None for the first of them that is installed.
            beta: the chance that one of the numbers is further off than its `radius`.

        >>> import sulq
        >>> [answer] = sulq.randhie().exact().ask(sulq.Round([sulq.count(by="sex")]))
        >>> answer.to_frame("polars").rows()
        [('female', 10439.0, 0.0, 10439.0, 10439.0), ('male', 9751.0, 0.0, 9751.0, 9751.0)]
        """
        return frame(self.columns(beta), library)

    def to_csv(self, path: str | Path | None = None, beta: float = BETA) -> str | None:
        """The columns of `to_frame` as CSV. Cells are empty where a radius is infinite.

        Args:
            path: the file to write; None returns the text.
            beta: the chance that one of the numbers is further off than its `radius`.

        >>> print(Answer(3.0).to_csv(), end="")
        value,radius,low,high
        3.0,0.0,3.0,3.0
        """
        return written(csv_text(self.columns(beta)), path)

    def within_noise(self, beta: float = BETA) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Of each number, whether its error may be as large as itself.

        Args:
            beta: the chance that one of the numbers is further off than its radius.

        >>> from fractions import Fraction
        >>> from sulq.talk.laws import Noise
        >>> law = Noise("laplace", Fraction(1), Fraction(1), numbers=2)
        >>> Answer(np.array([40.0, 2.0]), law).within_noise()
        array([False,  True])
        """
        if self._choice:
            return np.zeros(self._shape, dtype=bool)
        radius = np.broadcast_to(self.radius(beta), self._shape)
        return np.asarray(~(np.abs(self.value) > radius) & (radius > 0))

    def __str__(self) -> str:
        """The answer as a table, with errors at 95 %."""
        labels, many = len(self._shape), np.size(self.value)
        if not labels:
            return self._lines(1)[0][0]
        more = f"\n… and {many - IN_A_TEXT:,} more" if many > IN_A_TEXT else ""
        return plain_table([*self._headings, "value"], self._lines(IN_A_TEXT), labels) + more

    def __repr__(self) -> str:
        lines = self._lines(IN_A_LINE)
        shown = [f"{', '.join(line[:-1])} {line[-1]}".strip() for line in lines]
        rest = np.size(self.value) - len(shown)
        return f"Answer({'; '.join([*shown, *([f'… {rest:,} more'] if rest else [])])})"

    def _repr_html_(self) -> str:
        labels = len(self._shape)
        noise = self.within_noise().ravel().tolist()
        quiet = "Numbers in grey are within the noise: they may be 0." if any(noise) else ""
        exact = isinstance(self.law, Exactly) or self._choice
        caption = "" if exact else f"± holds for all numbers at once, at 95 %. {quiet}".strip()
        rows, grey = self._lines(len(noise)), [[False] * labels + [each] for each in noise]
        return html_table([*self._headings, "value"], rows, grey, labels, caption)

    def _lines(self, most: int) -> list[list[str]]:
        """The first numbers for people: the labels of each, and its value with its error at 95 %."""
        values = np.ravel(self.value)[:most].tolist()
        radii = np.ravel(np.broadcast_to(self.radius(BETA), self._shape))[:most].tolist()
        shown = map(str, values) if self._choice else map(with_error, values, radii)
        return [[*cell, number] for cell, number in zip(product(*self._labels), shown, strict=False)]

    @property
    def _headings(self) -> list[str]:
        """A name for each axis."""
        unnamed = [f"axis {place}" for place in range(len(self.axes), len(self._shape))]
        return distinct([*(axis.heading for axis in self.axes), *unnamed])

    @property
    def _labels(self) -> list[tuple[str, ...]]:
        """The labels of each axis: numbers where it has none of its own."""
        given = [*(axis.labels for axis in self.axes), *[None] * len(self._shape)]
        return [
            labels if labels is not None else tuple(map(str, range(size)))
            for labels, size in zip(given, self._shape, strict=False)
        ]

    @property
    def _shape(self) -> tuple[int, ...]:
        return np.shape(self.value)

    @property
    def _choice(self) -> bool:
        """Whether the value is the number of a candidate, or of several."""
        return np.asarray(self.value).dtype.kind in "iub"

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


def errors_of(laws: Iterable[Law | None], beta: float) -> list[float | None]:
    """How far off answers of these laws are, but for a chance of `beta` each; None where there is no law."""
    rare = chance(beta)
    return [None if law is None else float(np.max(law.radius(rare))) for law in laws]

"""One question of a survey: what people read, what they may answer, and the columns that it stands for."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

from sulq.errors import SulqError
from sulq.schema import Boolean, Category, Integer, Kind, Real

QuestionKind = Literal["yes-no", "one-of", "several-of", "number", "scale"]
KINDS: tuple[QuestionKind, ...] = get_args(QuestionKind)
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
"""What a question may be called: it is the name of a column."""
MOST_CHOICES = 1000

Words = Mapping[str, str]
"""A text in each language, by the language's short name."""


@dataclass(frozen=True)
class SurveyChoice:
    """One of the answers that a question offers.

    Args:
        value: what the device keeps of it.
        text: what people read.

    >>> SurveyChoice("never", {"en": "Never"}).form()
    {'value': 'never', 'text': {'en': 'Never'}}
    """

    value: str
    text: Words

    def form(self) -> dict[str, Any]:
        """The choice as the page reads it."""
        return {"value": self.value, "text": dict(self.text)}


@dataclass(frozen=True)
class SurveyQuestion:
    """One question.

    Args:
        name: its name: that of its column.
        kind: "yes-no", "one-of" (one of some choices), "several-of" (any of them), "number" (in a range) or
            "scale" (steps in order, as from "never" to "always").
        text: what people read.
        help: what people read below it, if anything.
        choices: what "one-of", "several-of" and "scale" offer.
        low: the least number.
        high: the largest number.
        step: numbers are multiples of this above `low`; None for any number.
        unit: what stands behind a number, as "hours".
        weight: how much precision it is worth, beside the other questions.
        by: the name of another question, whose answers are the groups that are compared.
        alone: whether it is asked by itself; False for one that only says to which group a person belongs.
        precision: the error that is wanted: a share, or for a number in its own unit. None for the survey's.

    >>> question = SurveyQuestion("paid", "yes-no", {"en": "Did you ever pay a bribe?"})
    >>> question.columns
    {'paid': Boolean(missing=False)}
    """

    name: str
    kind: QuestionKind
    text: Words
    help: Words | None = None
    choices: tuple[SurveyChoice, ...] = ()
    low: float | None = None
    high: float | None = None
    step: float | None = None
    unit: str | None = None
    weight: Fraction = Fraction(1)
    by: str | None = None
    alone: bool = True
    precision: float | None = None

    def __post_init__(self) -> None:
        here = f"question {self.name!r}"
        if not NAME.fullmatch(self.name):
            raise SulqError(
                f"a question is named by 1 to 64 letters, digits or _, first a letter, not {self.name!r}"
            )
        if self.kind not in KINDS:
            raise SulqError(f"{here} is of kind {self.kind!r}; known are {', '.join(KINDS)}")
        chooses = self.kind in ("one-of", "several-of", "scale")
        if chooses and not 2 <= len(self.choices) <= MOST_CHOICES:
            raise SulqError(f"{here} needs 2 to {MOST_CHOICES} choices, not {len(self.choices)}")
        if not chooses and self.choices:
            raise SulqError(f"{here} has choices, and only one-of, several-of and scale questions do")
        values = [choice.value for choice in self.choices]
        if not all(map(str.strip, values)):
            raise SulqError(f"{here} has a choice without a text")
        if len(set(map(_as_number, values))) < len(values):
            raise SulqError(f"{here} has a choice twice: texts that read as the same number are one choice")
        ranged = self.low is not None or self.high is not None
        if (self.kind == "number") != ranged:
            raise SulqError(f"{here}: low and high are what a number question has, and no other")
        if self.kind == "number" and not (
            self.low is not None and self.high is not None and -math.inf < self.low < self.high < math.inf
        ):
            raise SulqError(f"{here} needs low and high, and low must be less than high")
        span = None if self.low is None or self.high is None else self.high - self.low
        if self.step is not None and span is not None and not 0 < self.step <= span:
            raise SulqError(f"{here}: step is more than 0, and at most from low to high, not {self.step}")
        if (self.step is not None or self.unit is not None) and self.kind != "number":
            raise SulqError(f"{here}: step and unit are for numbers")
        if self.weight <= 0:
            raise SulqError(f"{here} has the weight {self.weight}, and a weight is more than 0")
        if self.precision is not None and not self.precision > 0:
            raise SulqError(f"{here} wants the precision {self.precision}, and that is more than 0")

    @property
    def columns(self) -> dict[str, Kind]:
        """The columns that the device keeps the answer in."""
        match self.kind:
            case "yes-no":
                return {self.name: Boolean()}
            case "several-of":
                return {column: Boolean() for column in self.flags}
            case "number":
                assert self.low is not None and self.high is not None
                whole = all(edge == int(edge) for edge in (self.low, self.high, self.step or 0.5))
                if whole:
                    return {self.name: Integer(int(self.low), int(self.high))}
                return {self.name: Real(self.low, self.high)}
            case _:
                values = tuple(choice.value for choice in self.choices)
                # Whoever takes part answers everything, so there is no level for those who did not.
                return {self.name: Category(values, missing=values[-1])}

    @property
    def flags(self) -> tuple[str, ...]:
        """Of several choices, the column of each."""
        return tuple(f"{self.name}.{choice.value}" for choice in self.choices)

    @property
    def levels(self) -> tuple[str, ...]:
        """What its answers are called, where they can be counted."""
        return ("no", "yes") if self.kind == "yes-no" else tuple(choice.value for choice in self.choices)

    def words(self, language: str) -> str:
        """What people read, in a language or else in the first one there is."""
        return self.text.get(language, next(iter(self.text.values())))

    def form(self) -> dict[str, Any]:
        """The question as the page reads it."""
        return {
            "name": self.name,
            "kind": self.kind,
            "text": dict(self.text),
            "help": None if self.help is None else dict(self.help),
            "choices": [choice.form() for choice in self.choices],
            "low": self.low,
            "high": self.high,
            "step": self.step,
            "unit": self.unit,
        }


def _as_number(text: str) -> float | str:
    """A text by what a schema compares it by: "1", "1.0" and "01" are one level."""
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text

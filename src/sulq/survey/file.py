"""A survey as its file describes it: the questions, the promise to every person, and how it is held."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, get_args

from sulq.errors import SulqError
from sulq.numbers import whole
from sulq.schema import Schema
from sulq.survey.questions import SurveyQuestion, Words
from sulq.wire import canonical, digest

Divides = Literal["epsilon", "people", "rounds"]
DIVIDES: tuple[Divides, ...] = get_args(Divides)
Keeps = Literal["reports", "tallies"]
KEEPS: tuple[Keeps, ...] = get_args(Keeps)
VERSION = 1
MOST_PEOPLE = 2**31 - 1
"""A device draws which question it answers with these numbers as weights, in 32 bits."""


@dataclass(frozen=True)
class SurveyFile:
    """A survey.

    Args:
        title: what it is called.
        about: what people are told about it.
        languages: in which languages it is held; every text has each of them.
        epsilon: what a person is promised, for the whole survey and for ever.
        divides: what is divided between the questions. "epsilon": everyone answers all of them. "people":
            everyone answers one, drawn by lot. "rounds": a learner asks, in rounds, and everyone answers one
            question of one round.
        people: how many people are expected.
        questions: the questions, in order.
        precision: the error that is wanted, as a share.
        confidence: how sure an error bar is.
        invited: whether only those with a link may answer, each once.
        keeps: whether the collector keeps single "reports", or only "tallies".
        opens: when it opens; None for at once.
        closes: when it closes; None for never.
        busiest: how many people may come in ten minutes, at most, if all is well. None if nobody knows.
        store: where the collector keeps it: a file, or the address of a Postgres schema.

    >>> paid = SurveyQuestion("paid", "yes-no", {"en": "Did you ever pay a bribe?"})
    >>> survey = SurveyFile({"en": "Bribes"}, ("en",), Fraction(2), "epsilon", 2000, (paid,))
    >>> survey.schema
    Schema({'paid': Boolean(missing=False)})
    >>> len(survey.id)
    64
    """

    title: Words
    languages: tuple[str, ...]
    epsilon: Fraction
    divides: Divides
    people: int
    questions: tuple[SurveyQuestion, ...]
    about: Words | None = None
    precision: float = 0.05
    confidence: float = 0.95
    invited: bool = True
    keeps: Keeps = "tallies"
    opens: datetime | None = None
    closes: datetime | None = None
    busiest: int | None = None
    store: str = "survey.reports"

    def __post_init__(self) -> None:
        if self.epsilon <= 0:
            raise SulqError(f"epsilon is what a person is promised, more than 0, not {self.epsilon}")
        if self.divides not in DIVIDES:
            raise SulqError(f"divides is one of {', '.join(DIVIDES)}, not {self.divides!r}")
        if self.keeps not in KEEPS:
            raise SulqError(f"keeps is one of {', '.join(KEEPS)}, not {self.keeps!r}")
        whole("people", self.people, 1, MOST_PEOPLE)
        if self.busiest is not None:
            whole("busiest", self.busiest, 1, MOST_PEOPLE)
        if not 0 < self.precision < 1:
            raise SulqError(f"precision is a share between 0 and 1, as 0.05, not {self.precision}")
        if not 0.5 <= self.confidence < 1:
            raise SulqError(f"confidence is at least 0.5 and below 1, as 0.95, not {self.confidence}")
        if self.opens is not None and self.closes is not None and not self.opens < self.closes:
            raise SulqError("the survey closes before it opens")
        if not self.questions:
            raise SulqError("a survey has at least one question: [questions.NAME]")
        if self.divides != "rounds" and not any(question.alone for question in self.questions):
            raise SulqError("every question has alone = false, so nothing would be asked")
        for question in self.questions:
            self._check_groups(question)

    def _check_groups(self, question: SurveyQuestion) -> None:
        here = f"question {question.name!r}"
        if question.by is None:
            return
        if self.divides == "rounds":
            raise SulqError(f"{here}: by is for surveys without a learner, which asks by group itself")
        group = self.question(question.by, here)
        if group.name == question.name:
            raise SulqError(f"{here} cannot be compared by itself")
        if question.kind in ("several-of", "number"):
            raise SulqError(
                f"{here} is of kind {question.kind}, and groups are compared by yes-no, one-of and scale "
                "questions: ask for one of a few ranges, or one choice at a time"
            )
        if group.kind in ("several-of", "number"):
            raise SulqError(f"{here} is compared by {group.name!r}, which must be yes-no, one-of or scale")
        if not question.alone:
            raise SulqError(f"{here} only says to which group a person belongs, and so has no groups itself")

    def question(self, name: str, who: str = "this") -> SurveyQuestion:
        """The question with a name, or a refusal that lists all there are."""
        for question in self.questions:
            if question.name == name:
                return question
        names = ", ".join(question.name for question in self.questions)
        raise SulqError(f"{who} names question {name!r}, which is not there; there are {names}")

    @cached_property
    def schema(self) -> Schema:
        """What is public about a person's answers."""
        return Schema({name: kind for question in self.questions for name, kind in question.columns.items()})

    @cached_property
    def id(self) -> str:
        """Names the survey by what must not change while it is held: texts and times may."""
        fixed = [
            [question.name, question.kind, str(question.weight), question.by, question.alone]
            for question in self.questions
        ]
        plain = [VERSION, self.schema.form(), str(self.epsilon), self.divides, self.invited, self.keeps]
        return digest(canonical([*plain, sorted(self.title.items()), fixed]))

    @property
    def beta(self) -> float:
        """The chance that an error bar fails."""
        return 1 - self.confidence

    def is_open(self, at: datetime) -> bool:
        """Whether people may answer at a time."""
        return (self.opens is None or self.opens <= at) and (self.closes is None or at < self.closes)

    def form(self) -> dict[str, Any]:
        """What the page reads: public, and the same for everybody."""
        return {
            "survey": VERSION,
            "id": self.id,
            "title": dict(self.title),
            "about": {} if self.about is None else dict(self.about),
            "languages": list(self.languages),
            "epsilon": str(self.epsilon),
            "keeps": self.keeps,
            "invited": self.invited,
            "opens": _iso(self.opens),
            "closes": _iso(self.closes),
            "schema": self.schema.form(),
            "questions": [question.form() for question in self.questions],
        }


def _iso(at: datetime | None) -> str | None:
    return None if at is None else at.astimezone(UTC).isoformat()

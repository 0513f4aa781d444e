"""How many people a survey needs for the precision that is wanted, question by question."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from sulq.errors import SulqError
from sulq.numbers import several
from sulq.pictures import lines, svg
from sulq.survey.asking import SurveyItem, items_of
from sulq.survey.file import Divides, SurveyFile

POINTS = 24


@dataclass(frozen=True)
class QuestionPlan:
    """What one question needs.

    Args:
        asked: the question as devices are asked it.
        people: how many people are expected to report on it.
        needed: how many keep the wanted precision.
        radius: the error with the people that are expected.
        precision: the error that is wanted.
    """

    asked: SurveyItem
    people: int
    needed: int
    radius: float
    precision: float

    @property
    def enough(self) -> bool:
        """Whether the people that are expected are enough."""
        return self.people >= self.needed


@dataclass(frozen=True)
class SurveyPlan:
    """What a survey needs.

    Args:
        survey: the survey.
        questions: what each question needs.

    >>> from sulq.survey.reading import survey_of
    >>> paid = {"kind": "yes-no", "text": "Did you ever pay a bribe?"}
    >>> about = {"title": "Bribes", "epsilon": 2, "people": 2000}
    >>> plan = plan_of(survey_of({"survey": about, "questions": {"paid": paid}}))
    >>> plan.questions[0].needed, plan.enough
    (289, True)
    """

    survey: SurveyFile
    questions: tuple[QuestionPlan, ...]

    @property
    def enough(self) -> bool:
        """Whether the people that are expected are enough for every question."""
        return all(question.enough for question in self.questions)

    @property
    def needed(self) -> int:
        """How many people all questions need together, as the survey divides them."""
        if self.survey.divides == "epsilon":
            return max(question.needed for question in self.questions)
        shares = [question.asked.question.weight for question in self.questions]
        total = sum(shares)
        return max(
            math.ceil(question.needed * total / share)
            for question, share in zip(self.questions, shares, strict=True)
        )

    @property
    def advice(self) -> str:
        """What to change if too few people are expected; empty if they are enough."""
        if self.enough:
            return ""
        ways = [f"expect {_people(self.needed)}", "want less precision", "give a larger epsilon"]
        if len(self.questions) > 1:
            other: Divides = "people" if self.survey.divides == "epsilon" else "epsilon"
            otherwise = plan_of(replace(self.survey, divides=other))
            ways += [f'divide otherwise (divides = "{other}" needs {_people(otherwise.needed)})', "ask less"]
        few = several(self.survey.people, "person is", "people are")
        return f"{few} too few: {', '.join(ways[:-1])}, or {ways[-1]}"

    def table(self) -> RenderableType:
        """The plan for a terminal."""
        table = Table(
            "question", "reported by", "epsilon", "wanted", "people needed", "expected", "error then",
            box=None, padding=(0, 2, 0, 0),
        )  # fmt: skip
        for question in self.questions:
            cells = (
                question.asked.name,
                question.asked.item.described,
                f"{float(question.asked.item.epsilon):.3g}",
                f"± {_measure(question.precision, question.asked)}",
                f"{question.needed:,}",
                f"{question.people:,}",
                f"± {_measure(question.radius, question.asked)}",
            )
            style = "" if question.enough else "red"
            table.add_row(*(Text(svg.clean(cell), style) for cell in cells))
        promise = (
            f"Every person is promised ε = {float(self.survey.epsilon):g} for the whole survey; errors hold "
            f"at {100 * self.survey.confidence:g} %."
        )
        return Group(table, Text(promise, "dim"), lines.drawing(*self._drawn))

    def picture(self) -> str:
        """How errors shrink with the number of people, as SVG."""
        across, up, drawn = self._drawn
        note = (
            f"ε = {float(self.survey.epsilon):g} a person; errors hold at {100 * self.survey.confidence:g} %"
        )
        title = next(iter(self.survey.title.values()))
        return lines.picture(f"What precision takes: {title}", across, up, drawn, note)

    @property
    def _drawn(self) -> tuple[lines.Scale, lines.Scale, list[lines.Line]]:
        most = 2 * max(
            *(each.needed for each in self.questions), *(each.people for each in self.questions), 100
        )
        people = [
            max(10, round(most ** (i / POINTS) * 10 ** (1 - i / POINTS))) for i in range(0, POINTS + 1, 3)
        ]
        drawn = []
        for question in self.questions:
            tails, span = question.asked.tails, question.asked.span
            points = tuple(
                (float(n), min(1.0, tails.radius(n, self.survey.beta) / span)) for n in dict.fromkeys(people)
            )
            drawn.append(lines.Line(question.asked.name, points))
        across = lines.spanning("people who report", [float(n) for n in people], powers=True)
        heights = [height for line in drawn for _, height in line.points]
        return across, lines.Scale("error, as part of the range", min(heights), 1.0, powers=True), drawn


def plan_of(survey: SurveyFile) -> SurveyPlan:
    """What a survey needs; what cannot work is refused, with the reason.

    Args:
        survey: the survey.
    """
    asked = items_of(survey)
    if not asked:
        raise SulqError(
            "this survey is asked by a learner, in rounds: `oracle.error(round)` says what a round can tell"
        )
    questions = tuple(
        QuestionPlan(
            each,
            each.people,
            each.needs(survey),
            each.tails.radius(each.people, survey.beta),
            each.precision(survey),
        )
        for each in asked
    )
    return SurveyPlan(survey, questions)


def _measure(error: float, asked: SurveyItem) -> str:
    if asked.question.kind != "number":
        return f"{100 * error:.2g} points"
    return f"{error:.2g} {asked.question.unit}" if asked.question.unit else f"{error:.2g}"


def _people(many: int) -> str:
    return several(many, "person", "people")

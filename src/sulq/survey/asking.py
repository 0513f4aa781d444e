"""What devices are asked in a survey without a learner: an item for each question and comparison."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from sulq.errors import SulqError
from sulq.local.best import Method
from sulq.local.central import Tails
from sulq.local.frequencies import FrequencyReport
from sulq.local.item import Item, item_of
from sulq.local.randomizer import LEAST_EPSILON
from sulq.local.shapes import Box
from sulq.local.tails import Bounded, by_frequency
from sulq.local.window import WindowReport
from sulq.queries.codes import one_hot
from sulq.queries.expressions import col
from sulq.queries.query import count
from sulq.queries.scope import Scope
from sulq.queries.vectors import vector
from sulq.survey.file import SurveyFile
from sulq.survey.questions import SurveyQuestion


@dataclass(frozen=True)
class SurveyItem:
    """A question as devices are asked it.

    Args:
        question: the question.
        group: the question whose answers are the groups, if it is asked by group.
        item: what the device reports, and by which randomizer.
        people: how many people are expected to report on it.
        drawn: whether those people are drawn by lot from all who take part.
    """

    question: SurveyQuestion
    group: SurveyQuestion | None
    item: Item
    people: int
    drawn: bool

    @property
    def name(self) -> str:
        """What it is called in results."""
        return self.question.name if self.group is None else f"{self.question.name} by {self.group.name}"

    @property
    def labels(self) -> tuple[str, ...]:
        """What each number of the estimate is about."""
        if self.question.kind == "number":
            return ("mean",)
        if self.group is not None:
            return tuple(f"{group}: {level}" for group in self.group.levels for level in self.question.levels)
        return ("yes",) if self.question.kind == "yes-no" else self.question.levels

    @property
    def span(self) -> float:
        """How far apart the least and the largest possible answer are."""
        if self.question.kind != "number":
            return 1.0
        assert self.question.low is not None and self.question.high is not None
        return self.question.high - self.question.low

    @property
    def tails(self) -> Tails:
        """How far the estimate strays from the mean over all who take part.

        If all of them report, that is the randomness of reports alone. If some do, drawn by lot, who was
        drawn counts too: as in `sulq.oracles.surveys.Survey.tails`.
        """
        randomizer = self.item.randomizer
        if not self.drawn:
            return randomizer.tails
        span = randomizer.influence(1)
        if isinstance(randomizer, FrequencyReport):
            absent, present = randomizer.support.variance(1, 0), randomizer.support.variance(1, 1) + 1
            variances, copies = by_frequency(randomizer.k, absent, present)
            return Bounded(variances, copies, span, span, span)
        variance = randomizer.variance(1) + self.span**2 / 4
        bounded = Bounded((variance,), (self.item.width,), span, span, span)
        if isinstance(randomizer, WindowReport):
            return replace(randomizer.tails, bounded=bounded, width=self.span)
        return bounded

    def precision(self, survey: SurveyFile) -> float:
        """The error that is wanted, in the unit of the answer."""
        stated = self.question.precision
        return survey.precision * self.span if stated is None else stated

    def needs(self, survey: SurveyFile) -> int:
        """How many reports keep the wanted error: the fewest, as seen from those that are expected.

        Counts have steps, so that one report more may have a slightly larger error. The search begins at the
        people who are expected: they are enough if and only if their error is small enough.
        """
        precision = self.precision(survey)

        def keep(reports: int) -> bool:
            return self.tails.radius(reports, survey.beta) <= precision

        low, high = 0, self.people
        while not keep(high):
            low, high = high, 2 * high
            if high > 2**50:
                raise SulqError(
                    f"no number of people gives {self.name!r} a precision of {precision:g}: want a larger one"
                )
        while low == 0 and high > 1:
            low, high = (0, high // 2) if keep(high // 2) else (high // 2, high)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if keep(middle) else (middle, high)
        return high


def items_of(survey: SurveyFile, method: Method = "best") -> tuple[SurveyItem, ...]:
    """The items of a survey without a learner.

    Args:
        survey: the survey.
        method: how devices report; a survey goes on as it began, see `Collector.method`.

    >>> from sulq.survey.reading import survey_of
    >>> paid = {"kind": "yes-no", "text": "Did you ever pay a bribe?"}
    >>> about = {"title": "Bribes", "epsilon": 2, "people": 100}
    >>> survey = survey_of({"survey": about, "questions": {"paid": paid}})
    >>> [(each.name, each.item.described, each.people) for each in items_of(survey)]
    [('paid', 'randomized response', 100)]
    """
    if survey.divides == "rounds":
        return ()
    pairs = [
        (question, None if question.by is None else survey.question(question.by))
        for question in survey.questions
        if question.alone
    ]
    weights = [question.weight for question, _ in pairs]
    shares = [weight / sum(weights) for weight in weights]
    scope = Scope(survey.schema)
    made = []
    for (question, group), share in zip(pairs, shares, strict=True):
        divided = survey.divides == "people"
        epsilon = survey.epsilon if divided else survey.epsilon * share
        people = math.floor(survey.people * share) if divided else survey.people
        if epsilon < LEAST_EPSILON:
            raise SulqError(
                f"question {question.name!r} would have an epsilon of {float(epsilon):.2g}, which says "
                'nothing: give it a larger weight, ask less, or let people be divided (divides = "people")'
            )
        if people < 1:
            raise SulqError(
                f"question {question.name!r} would be put to nobody: expect more people, or give it more "
                "weight"
            )
        item = _item(question, group, scope, epsilon, method)
        made.append(SurveyItem(question, group, item, people, divided and len(pairs) > 1))
    return tuple(made)


def _item(
    question: SurveyQuestion,
    group: SurveyQuestion | None,
    scope: Scope,
    epsilon: Fraction,
    method: Method,
) -> Item:
    if group is not None:
        [part] = count(by=[group.name, question.name]).parts
        return item_of(part, scope, epsilon)
    match question.kind:
        case "yes-no" | "number":
            return item_of(col(question.name), scope, epsilon, method=method)
        case "several-of":
            flags = vector(*(col(flag) for flag in question.flags))
            ones = (1.0,) * len(question.flags)
            box = Box((0.0,) * len(ones), ones)
            return Item(scope.schema.hash, box, epsilon, flags)
        case _:
            return item_of(one_hot(question.name), scope, epsilon)

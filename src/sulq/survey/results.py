"""What a survey tells: estimates with error bars, how many people are still needed, and groups compared."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.errors import SulqError
from sulq.local.frequencies import FrequencyReport
from sulq.survey.asking import SurveyItem
from sulq.survey.collector import Collector
from sulq.survey.comparing import JointShares, joint_shares
from sulq.survey.file import SurveyFile
from sulq.survey.kept import KeptTally
from sulq.wire import canonical

MEANINGFUL = 1 / 4
"""An estimate means something once its error is at most this part of the range of possible answers."""
VERSION = 1


@dataclass(frozen=True)
class QuestionResult:
    """What is known of one question.

    Args:
        asked: the question as devices are asked it.
        survey: the survey.
        kept: what the collector keeps of the reports; None if there are none.
    """

    asked: SurveyItem
    survey: SurveyFile
    kept: KeptTally | None

    @property
    def reports(self) -> int:
        """How many people reported."""
        return 0 if self.kept is None else self.kept.tally.reports

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The estimates, without bias: a share may be negative, or above 1."""
        if self.kept is None:
            return np.full(len(self.asked.labels), np.nan)
        return self.asked.item.estimate(self.kept.tally)

    @property
    def possible(self) -> NDArray[np.float64]:
        """The estimates brought into the range of possible answers: for display only."""
        low, high = (0.0, 1.0)
        if self.asked.question.kind == "number":
            low, high = float(self.asked.question.low or 0), float(self.asked.question.high or 0)
        return np.clip(self.values, low, high)

    @property
    def clipped(self) -> bool:
        """Whether the display differs from the estimate."""
        return bool(self.reports and (self.possible != self.values).any())

    @cached_property
    def radius(self) -> float:
        """No number is further off, but for the chance that the survey's confidence leaves."""
        if not self.reports:
            return float("inf")
        return self.asked.tails.radius(self.reports, self.survey.beta)

    @property
    def meaningful(self) -> bool:
        """Whether the error bar leaves anything to be read off."""
        return self.radius <= MEANINGFUL * self.asked.span

    @cached_property
    def needed(self) -> int:
        """How many people the wanted precision takes in all."""
        return self.asked.needs(self.survey)

    @property
    def still(self) -> int:
        """How many people are still needed for it."""
        return max(0, self.needed - self.reports)

    @cached_property
    def joint(self) -> JointShares | None:
        """Groups and answers together, where the question is asked by group."""
        randomizer = self.asked.item.randomizer
        if self.asked.group is None or self.kept is None or not isinstance(randomizer, FrequencyReport):
            return None
        groups, answers = self.asked.group.levels, self.asked.question.levels
        return joint_shares(randomizer, self.kept.tally, groups, answers)

    def form(self) -> dict[str, Any]:
        """The result as plain data."""
        known = self.reports > 0
        beta = self.survey.beta
        return {
            "question": self.asked.name,
            "text": dict(self.asked.question.text),
            "kind": self.asked.question.kind,
            "unit": self.asked.question.unit,
            "reports": self.reports,
            "answers": list(self.asked.labels),
            "estimates": self.values.tolist() if known else None,
            "shown": self.possible.tolist() if known else None,
            "radius": self.radius if known else None,
            "confidence": self.survey.confidence,
            "meaningful": self.meaningful,
            "precision": self.asked.precision(self.survey),
            "needed": self.needed,
            "still": self.still,
            "shares": [] if self.joint is None else [vars(each) for each in self.joint.within(beta)],
            "differences": []
            if self.joint is None
            else [vars(each) for each in self.joint.differences(beta)],
        }


@dataclass(frozen=True)
class SurveyResults:
    """The results of a survey, question by question.

    Args:
        survey: the survey.
        questions: what is known of each question.
    """

    survey: SurveyFile
    questions: tuple[QuestionResult, ...]

    def to_json(self) -> str:
        """All results as JSON."""
        form = {"survey-results": VERSION, "survey": self.survey.id, "title": dict(self.survey.title)}
        return canonical(form | {"questions": [question.form() for question in self.questions]})

    def to_csv(self) -> str:
        """A line for each number: question, answer, estimate, its error, how many reported."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["question", "answer", "estimate", "radius", "confidence", "reports", "still_needed"])
        for question in self.questions:
            for label, value in zip(question.asked.labels, question.values.tolist(), strict=True):
                numbers = (value, question.radius) if question.reports else ("", "")
                row = [question.asked.name, label, *numbers, self.survey.confidence]
                writer.writerow([*row, question.reports, question.still])
        return out.getvalue()


def results_of(collector: Collector) -> SurveyResults:
    """The results of a survey as they are now.

    Args:
        collector: whoever collects it.
    """
    asked = collector.asked
    if not asked:
        raise SulqError("this survey is asked by a learner, in rounds: its answers are the learner's")
    kept = collector.tallies(1)
    questions = tuple(QuestionResult(each, collector.survey, kept.get(each.item.key)) for each in asked)
    return SurveyResults(collector.survey, questions)

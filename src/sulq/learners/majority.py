"""Whether a model tells more than its label's most frequent class, where noise may have made it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sulq.effects.layout import Floats
from sulq.hypotheses.hypothesis import Hypothesis
from sulq.hypotheses.target import Target
from sulq.learners.coordinates import value
from sulq.queries.query import count
from sulq.queries.rounds import Round
from sulq.talk.answers import Answer
from sulq.talk.oracle import Rounds

CHECK = Fraction(1, 10)
"""The part of the budget for a check."""
DOUBTFUL = 300.0
"""A check is worth it if rows are fewer than so many times the noise in a count that got the whole budget."""
BETTER = 0.5
"""A model is better if it is right about more rows, by so many standard deviations of noise."""


@dataclass(frozen=True)
class MajorityCheck:
    """What was counted of a model.

    Args:
        better: whether the model was seen to be right more often than the most frequent class.
        classes: how many rows have each class, noise and all.
        noise: one standard deviation of the noise in a count of rows that have a class.
    """

    better: bool
    classes: Floats
    noise: float


def part_for_check(rows: float, answer: Answer, share: Fraction, questions: int) -> Fraction:
    """The part of the budget to keep for a check: none where rows are so many that none is needed.

    Args:
        rows: how many rows there are, as far as it is known.
        answer: counts of rows.
        share: the part of the budget that the round of this answer got.
        questions: how many questions shared it.
    """
    power = float(answer.law.power)
    least = float(np.max(answer.deviation)) * float(share / questions) ** power
    return CHECK if rows < DOUBTFUL * least else Fraction(0)


def checked(model: Hypothesis, target: Target, share: Fraction) -> Rounds[MajorityCheck]:
    """Count how often a model is right about each class, and how frequent classes are.

    Args:
        model: the model.
        target: the label.
        share: the part of the budget to spend.
    """
    [answer] = yield Round([count(by=[target.label, model.expression])], share)
    table = value(answer)[: len(target.classes or ())]
    usual = int(table.sum(axis=1).argmax())
    off = float(np.max(answer.deviation))
    gain = float(np.diagonal(table).sum() - table[usual].sum())
    # Rows about which both are right or both are wrong count for neither.
    apart = 2 * (table.shape[1] - 1)
    return MajorityCheck(gain > BETTER * off * apart**0.5, table.sum(axis=1), off * table.shape[1] ** 0.5)

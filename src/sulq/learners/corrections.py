"""Corrections of a halfspace's weights: how noisy they are, how many are worth it, and mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sulq.talk.answers import BETA, Answer
from sulq.talk.combined import Term, combined
from sulq.talk.laws import PlainLaw

FIRST = Fraction(1, 5)
"""The part of what is then left for the first correction, where noise decides how many there are."""
MOST, DROWNED = 15, 0.2
"""At most so many further corrections. The length of the noise in one is at most this part of its length, if
as many rows of length 1 are on the wrong side as there are of the rarer label."""


@dataclass(frozen=True)
class Correction:
    """What was added to the weights.

    Args:
        sums: the sum of the rows on the wrong side.
        scale: what it was multiplied by.
    """

    sums: Answer
    scale: float


def noise(corrections: Sequence[Correction], width: int) -> float:
    """How much of a weight may be noise, at 95 % for all of them: that of every correction adds up.

    Args:
        corrections: what was added to the weights.
        width: how many weights there are.
    """
    terms = []
    for each in corrections:
        assert isinstance(each.sums.law, PlainLaw)  # as that of every sum
        terms.append(Term(each.sums.law, each.scale**2, each.scale, each.scale))
    return combined(terms, BETA, width) if corrections else 0.0


def worthwhile(sums: Answer, rare: float, norm: float) -> int:
    """How many further corrections are worth asking for, if the first had the part `FIRST` of the budget.

    Args:
        sums: the first correction.
        rare: about how many rows have the rarer label.
        norm: how long a row is at most.
    """
    length = float(np.sqrt(np.sum(np.broadcast_to(sums.deviation, np.shape(sums.value)) ** 2)))
    if length == 0:
        return MOST
    ratio = max(0.0, DROWNED * norm * rare) / length
    many = float((1 - FIRST) / FIRST) * ratio ** (1 / float(sums.law.power))
    return max(1, min(MOST, int(many)))


def rarer(classes: Answer) -> float:
    """About how many rows have the rarer of two labels, which is how often the other label is wrong.

    Args:
        classes: how many rows have each label.
    """
    return float(np.min(np.asarray(classes.value)[:2]))


def no_better(classes: Answer, mistaken: Sequence[Answer], place: int | None) -> bool:
    """Whether the more frequent label seems to make no more mistakes than the weights at a place.

    Args:
        classes: how many rows have each label.
        mistaken: how many mistakes the answers counted in each round.
        place: the round whose weights are meant; None where no single one is.
    """
    if place is None or place >= len(mistaken):
        return True
    least = float(mistaken[place].value) + float(np.max(mistaken[place].deviation))
    return least >= rarer(classes)


def mistakes_of(mistaken: Sequence[Answer], place: int) -> tuple[float, float]:
    """How many mistakes the weights at a place make, and how far off that is: they may be picked by it.

    Args:
        mistaken: how many mistakes the answers counted in each round.
        place: the round whose weights are meant.
    """
    radius = float(mistaken[place].radius(BETA / len(mistaken)))
    return max(0.0, float(mistaken[place].value)), radius

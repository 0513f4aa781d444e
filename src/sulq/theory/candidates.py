"""Candidates for a report of a simulated protocol, and how likely they are for people at large."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sulq.queries.node import Node


@dataclass(frozen=True)
class Likelihood:
    """How likely reports of one person are, as a statistical query.

    Args:
        node: g of the paper, from −1 to 1: its mean over people is what is asked for.
        base: how likely the reports are for someone with value 0.
        spread: e^ε − e^−ε.
    """

    node: Node
    base: float
    spread: float

    def probability(self, answer: float) -> float:
        """p̃ of the paper: how likely the reports are for people at large, by the mean of `node`."""
        return self.base * (1 + answer * self.spread)


@dataclass(frozen=True)
class Draw:
    """Candidates for a report, drawn as if from someone with value 0.

    Args:
        candidates: the candidates, in the order in which they were drawn.
        given: by a candidate's name, how likely it is together with what the person reported before.
        base: by a candidate's name, how likely it was to be drawn.
        before: how likely the reports before are, if there are any.
    """

    candidates: list[Any]
    given: dict[bytes, Likelihood]
    base: dict[bytes, float]
    before: Likelihood | None

    @property
    def likelihoods(self) -> list[Likelihood]:
        """All that must be asked about."""
        return [*self.given.values(), *([] if self.before is None else [self.before])]


def name_of(report: Any) -> bytes:
    """What a report is known by: equal for equal reports.

    >>> name_of(1) == name_of(np.int64(1))
    True
    """
    return np.asarray(report).tobytes()

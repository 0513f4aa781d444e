"""Learners that ask a curator for one release instead of rounds: what that will be, and how it is watched."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from sulq.classes.boolean import Setting
from sulq.classes.sizes import occam_rows
from sulq.learners.door import pure
from sulq.learners.parity import Parity
from sulq.learners.select import Select
from sulq.numbers import Numeric, rational
from sulq.oracles.curator import Curator
from sulq.plans.watching import BETA, AskedRound, Question
from sulq.queries.attributes import condition


@dataclass(frozen=True)
class Promised(Question):
    """A question whose answer is promised something about the population that the rows were drawn from."""

    promise: str = ""

    def precision(self) -> str:
        return self.promise


@dataclass(frozen=True)
class Release:
    """What one release asks and costs, and how many rows its promise needs; none if it promises nothing.

    `otherwise`: what to say if the learner finds nothing.
    """

    question: Question
    cost: Fraction
    needed: int | None
    otherwise: str = ""


def release_of(learner: Parity | Select, curator: Curator) -> Release:
    """What a learner would ask of a curator; refused if the learner would be. No row is looked at.

    >>> import sulq
    >>> learner = sulq.Select(sulq.classes.Stumps(), "bought_drugs", error="0.05")
    >>> release = release_of(learner, sulq.randhie().curator(epsilon=1))
    >>> release.question.describe(), release.needed
    ('which of 206 hypotheses is wrong least often', 6647)
    """
    try:
        learner.learn(_Rehearsing(**_settings(curator)))
    except _Reached as reached:
        if isinstance(learner, Parity):
            return _of_parity(learner, curator, reached)
        return _of_choice(learner, curator, reached)
    raise AssertionError("a learner that asked for nothing")


class Releasing(Curator):
    """A curator that keeps what was released, and tells of it as `Watched` does."""

    def __init__(
        self, curator: Curator, question: Question, tell: Callable[[AskedRound, bool], None]
    ) -> None:
        super().__init__(**_settings(curator))
        self.asked: list[AskedRound] = []
        self._question = question
        self._tell = tell

    def release(
        self, form: dict[str, Any], cost: Fraction, look: Callable[[], Any], run: str = "main"
    ) -> Any:
        self._tell(AskedRound(1, (self._question,), cost), False)
        before, started = self._charged(run), time.perf_counter()
        answer = super().release(form, cost, look, run)
        charged, seconds = self._charged(run) - before, time.perf_counter() - started
        self.asked.append(AskedRound(1, (self._question,), cost, charged, seconds))
        self._tell(self.asked[-1], True)
        return answer

    def _charged(self, run: str) -> Fraction:
        """What this run was charged so far: others may use the ledger at the same time."""
        return sum((own.spent for own in self.ledger.runs() if own.name == run), Fraction(0))


class _Reached(Exception):  # noqa: N818, it is no error
    """A learner got as far as asking for its release."""

    def __init__(self, form: dict[str, Any], cost: Fraction) -> None:
        super().__init__()
        self.form = form
        self.cost = cost


class _Rehearsing(Curator):
    """A curator that refuses what any would refuse, and stops where another would look at the rows."""

    def release(
        self, form: dict[str, Any], cost: Fraction, look: Callable[[], Any], run: str = "main"
    ) -> Any:
        raise _Reached(form, cost)


def _settings(curator: Curator) -> dict[str, Any]:
    return {own.name: getattr(curator, own.name) for own in fields(curator) if own.init}


def _of_parity(learner: Parity, curator: Curator, reached: _Reached) -> Release:
    features = len(reached.form["parity"])
    epsilon = pure(curator, reached.cost) / curator.schema.rows_per_unit
    needed = learner.plan(features, epsilon, curator.neighbours).rows
    question = Promised(
        f"which parity of {features:,} features fits the rows",
        features,
        "share",
        promise=f"if the label is one, wrong on at most {_percent(learner.error)} of the population, "
        f"{_sure(learner, needed)}",
    )
    rare = _percent(1 - rational("confidence", learner.confidence))
    otherwise = (
        "No parity was found (⊥). If the label were a parity of these features for every row, the chance of "
        f"that would be at most {rare}; if it is none, that is what to expect."
    )
    return Release(question, reached.cost, needed, otherwise)


def _of_choice(learner: Select, curator: Curator, reached: _Reached) -> Release:
    listed, selection = learner.hypotheses, learner.selection(curator, reached.cost)
    assert not isinstance(listed, Sequence)
    size = listed.size(Setting(curator.schema, condition(learner.label, curator.schema)))
    words = f"which of {size:,} hypotheses is wrong least often"
    if learner.error is None:
        gap = float(selection.radius(Fraction(str(BETA)), size))
        return Release(Question(words, 1, "best", error=gap), reached.cost, None)
    error, sure = rational("error", learner.error), rational("confidence", learner.confidence)
    epsilon = float(selection.epsilon / selection.sensitivity)
    needed = occam_rows(size, float(error), float(1 - sure), epsilon, neighbours=curator.neighbours)
    promise = f"at most {_percent(error)} of the population beyond the best, {_sure(learner, needed)}"
    return Release(Promised(words, 1, "best", promise=promise), reached.cost, needed)


def _sure(learner: Parity | Select, needed: int) -> str:
    return f"{_percent(learner.confidence)} sure, from {needed:,} rows on"


def _percent(share: Numeric) -> str:
    return f"{float(100 * rational('share', share)):.4g} %"

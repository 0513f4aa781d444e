"""What a plan contains."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sulq.plans.bounds import Both
from sulq.plans.models import Model
from sulq.plans.rehearsal import Rehearsal


@dataclass(frozen=True)
class Plan:
    """What a learner needs, and what comes of it. `sulq.plan` makes one.

    A number that was given stands in a plan twice; one that was worked out stands there as the papers have
    it, and as small as it can be proved.

    Args:
        learner: what to run.
        model: who answers: "exact", "sample", "curator" or "crowd".
        oracle: which oracle of a source to run it on, for the promise to hold.
        rows: how many rows there are, or are needed.
        error: on which part of the rows the hypothesis may be wrong.
        confidence: how sure that is.
        epsilon: what is promised to each person.
        noise_rate: how often labels are wrong.
        rounds: how many rounds the learner asks.
        queries: how many queries it asks.
        tolerances: the tolerances of the queries, by the theorem.
        theorem: which theorem the plan follows.
        covered: whether the promise is about the distribution of the rows although the same rows answer
            several questions.
        reuse: why it is covered, or not.
        estimate: whether the plan comes from a rehearsal, and promises nothing.
        rehearsal: what was rehearsed, if it was.
        variance: the variance of an answer in [0, 1] under the SuLQ paper's calibrations: R of the paper, and
            what ρ accounting needs for as many queries. None under others.

    >>> import sulq
    >>> schema = sulq.Schema({name: sulq.Boolean() for name in ("cough", "fever", "flu")})
    >>> planned = sulq.plan(sulq.Conjunction("flu", error=0.05), schema, rows=10_000, epsilon=1)
    >>> planned.oracle, planned.rounds
    ('source.curator(epsilon=1)', 1)
    """

    learner: Any
    model: Model
    oracle: str
    rows: Both
    error: Both
    confidence: Both
    epsilon: Both
    noise_rate: Fraction
    rounds: int
    queries: int
    tolerances: tuple[float, ...]
    theorem: str
    covered: bool
    reuse: str
    estimate: bool = False
    rehearsal: Rehearsal | None = None
    variance: Both | None = None

"""Functions by their caller's promise: what is rounded, clipped or no number is paid for."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from sulq.audits.findings import AuditFinding, Check, Effort, all_of, exact
from sulq.audits.laws import draws
from sulq.audits.statistics import fit
from sulq.classes.promised import promised, promised_choice
from sulq.privacy.noise import DiscreteLaplace
from sulq.queries.rounds import Round
from sulq.schema import Real
from sulq.sources.opening import open as open_source
from sulq.sources.rows import rows_of
from sulq.talk.laws import Noise

STRANGE: tuple[Any, ...] = (math.nan, math.inf, -math.inf, None, "x", [], 10**400, -(10**400), 1j)
LOW, HIGH = -5, 1000
EPSILON = Fraction(1, 2)


def functions(effort: Effort) -> Iterator[AuditFinding]:
    """Pairs of values that are as far apart as is promised: after rounding, noise covers their distance."""
    source, dice = open_source({"x": [0.0]}, {"x": Real(0, 1)}, threads=1), random.Random(8)
    rows, curator = rows_of(source, "an audit"), source.curator(epsilon=EPSILON, ledger=":memory:")
    public, failures, furthest = curator.offer.public, [], 0.0
    tried = 60 if effort == "quick" else 4000
    for _ in range(tried):
        delta = dice.choice([Fraction(1), Fraction(3), Fraction(1, 3), Fraction(dice.uniform(1e-3, 50))])
        value = dice.choice([LOW, HIGH, dice.uniform(LOW, HIGH), dice.randint(LOW, HIGH) + 0.5])
        pair = [
            value,
            float(value + delta * dice.choice([Fraction(1), Fraction(-1), Fraction(dice.random())])),
        ]
        # Rounding to a float may have moved the second further than was promised.
        delta = max(delta, abs(Fraction(pair[1]) - Fraction(pair[0])))
        steps = []
        for each in pair:
            question = promised(_returns(each), ["x"], sensitivity=delta, low=LOW, high=HIGH)
            steps.append(question.look(rows, public, None))
        round_ = Round([question], share=1)
        terms = curator.offer.terms(round_)
        law = question.law(public, terms.selections[0])
        assert isinstance(law, Noise) and isinstance(law.distribution, DiscreteLaplace)
        lost = abs(steps[0] - steps[1]) / law.distribution.scale
        furthest = max(furthest, float(lost / terms.cost))
        if lost > terms.cost or terms.cost != EPSILON:
            failures.append(f"{pair[0]} and {pair[1]}, promised to be {float(delta):g} apart at most")
    subject = f"values that are as far apart as is promised (furthest: {furthest:.6f} of ε)"
    yield all_of(subject, "no pair loses more than its charge", failures, tried)
    wrong = []
    for strange in STRANGE:
        question = promised(_returns(strange), ["x"], sensitivity=1, low=LOW, high=HIGH)
        value = question.answer(question.look(rows, public, None), public, None).value
        if not LOW <= value <= HIGH:
            wrong.append(f"{strange!r} becomes {value}")
    yield all_of("what is no number, or out of range", "a value within the range", wrong, len(STRANGE))
    yield from _choices(effort)


def _choices(effort: Effort) -> Iterator[AuditFinding]:
    source = open_source({"x": [0.0]}, {"x": Real(0, 1)}, threads=1)
    scores, delta = [0.0, 3.0, math.nan, 4.5, math.inf], Fraction(2)
    question = promised_choice(
        _returns(scores), ["x"], candidates=len(scores), sensitivity=delta, low=0, high=5, name="score"
    )
    # What is no number counts as the lowest, and what is too large as the highest.
    weights = [math.exp(float(EPSILON) * score / (2 * delta)) for score in (0, 3, 0, 4.5, 5)]
    rows = rows_of(source, "an audit")
    curator = source.curator(epsilon=EPSILON, ledger=":memory:")
    terms = curator.offer.terms(Round([question], share=1))
    size = draws(effort) // 30
    picked = [question.look(rows, curator.offer.public, terms.selections[0]) for _ in range(size)]
    yield fit(
        "choices by promised scores",
        np.bincount(picked, minlength=len(scores)).tolist(),
        [weight / sum(weights) for weight in weights],
    )
    marked = question.caller_promises in question.words(curator.offer.public)
    yield exact(
        "a question by promise",
        "says so, in the ledger and in words",
        "it does" if marked else "it does not",
        "any without the promise",
        marked and question.form["promise"] == "the caller's",
    )


def _returns(value: Any) -> Any:
    return lambda table: value


CHECKS = (
    Check(
        "promised",
        "Functions by their caller's promise",
        "Values that are exactly as far apart as is promised, on and off the grid and at the ends of the "
        "range; values that are no numbers; and choices against their law.",
        functions,
    ),
)

"""Wrong labels where nobody knows how many: learn for several rates, and let one more question decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar

from sulq.errors import QueryError
from sulq.hypotheses.hypothesis import Hypothesis
from sulq.learners.learner import Learner
from sulq.numbers import Numeric, rational
from sulq.queries.choose import choose
from sulq.queries.expressions import col
from sulq.queries.query import count
from sulq.queries.rounds import Round
from sulq.talk.denoised import Denoised
from sulq.talk.oracle import Oracle
from sulq.wire import check_run

H = TypeVar("H", bound=Hypothesis)


def learn_at_unknown_rate(
    learner: Learner[H],
    oracle: Oracle,
    label: str,
    rates: Sequence[Numeric],
    *,
    share: Numeric = Fraction(1, 5),
    run: str = "main",
) -> tuple[H, Fraction]:
    """What a learner makes of labels that are wrong at an unknown rate, and the rate it was learned at.

    The rate is the first of them, where several teach the same: it is no estimate of the rate.

    The learner runs once for each of the `rates`, each time as if that were the right one. A hypothesis that
    errs on a part e of the rows disagrees with labels that are wrong at the rate η on η + (1 − 2η)·e of them,
    so the one that agrees with the most labels is the best, whatever η is. One more round asks which one
    that is: about the labels as they are.

    Args:
        learner: what runs for every rate. Its share is divided equally among the rates; a learner that asks
            by tolerances is run as it is, and pays for every rate.
        oracle: whoever answers, about labels as they are.
        label: the boolean column that is wrong in part.
        rates: the rates to try. They should be so close that the learner stands being wrong about the rate by
            half a step: a conjunction with tolerance τ does if that is below τ·(1 − 2η).
        share: what the last round may cost, as a part of the budget or the people.
        run: the name of the run.

    >>> import numpy as np, sulq
    >>> rng = np.random.default_rng(0)
    >>> bits = rng.random((3, 20_000)) < 0.7
    >>> rows = {"a": bits[0], "b": bits[1], "c": bits[2]}
    >>> rows["y"] = (bits[0] & bits[1]) ^ (rng.random(20_000) < 0.2)
    >>> people = sulq.open(rows, {name: sulq.Boolean() for name in rows})
    >>> rule, rate = learn_at_unknown_rate(sulq.Conjunction("y"), people.exact(), "y", [0, 0.1, 0.2, 0.3])
    >>> rule.describe(), rate
    ('a and b', Fraction(1, 5))
    """
    check_run(run)
    if not rates:
        raise QueryError("name at least one rate that labels may be wrong at")
    oracles = [Denoised(oracle, label, rate) for rate in rates]
    last = rational("share", share, most=1)
    part: Any = learner
    if learner.stake is not None:
        if last == 1:
            raise QueryError("share must be less than 1: the learner needs the rest")
        part = replace(learner, share=learner.stake * (1 - last) / len(rates))  # type: ignore[type-var]
    different: dict[H, tuple[H, Fraction]] = {}
    for place, denoised in enumerate(oracles):
        assert isinstance(denoised.rate, Fraction)
        after = _after(part, oracles[place:], last)
        hypothesis: H = part.learn_before(denoised, f"{run}, rate {denoised.rate}", *after)
        # Where it came from is not what it says: two that say the same are one.
        different.setdefault(replace(hypothesis, origin=None), (hypothesis, denoised.rate))
    best = 0
    if len(different) > 1:
        right = [count(where=~hypothesis.wrong(col(label))) for hypothesis in different]
        [answer] = oracle.ask(Round([choose(right)], last), run)
        best = int(answer.value)
    return list(different.values())[best]


def _after(learner: Learner[Any], oracles: Sequence[Denoised], last: Fraction) -> tuple[Fraction, Fraction]:
    """What is still to be paid once the first of these oracles has answered: as a share, and as a cost."""
    first, *others = oracles
    cost = getattr(first.oracle, "cost", None)
    if learner.stake is not None or cost is None:
        return (learner.stake or Fraction(0)) * len(others) + last, Fraction(0)
    rounds = [next(learner.rounds(first.schema)), *learner.later(first.schema)]
    # What is chosen among in the end does not matter for the price.
    label = col(first.label)
    deciding = Round([choose([count(where=label), count(where=~label)])], last)
    later = [*(other.inside(round_) for other in others for round_ in rounds), deciding]
    return Fraction(0), sum((Fraction(cost(round_)) for round_ in later), Fraction(0))

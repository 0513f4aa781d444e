"""Bounds on chances from counts, with nothing approximated: Clopper and Pearson's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.audits.findings import ALARM, AuditFinding

ROUNDING = 1e-12
"""What floating point may have added to a chance of a law that is added up."""
STEPS = 45
"""Of bisection: a chance is known to 2^-45, and rounded to the safe side."""


@lru_cache(maxsize=64)
def _log_ways(tries: int) -> NDArray[np.float64]:
    """The logarithms of the binomial coefficients."""
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, tries + 1)))])
    ways: NDArray[np.float64] = logs[-1] - logs - logs[::-1]
    return ways


def tail(hits: int, tries: int, chance: float) -> float:
    """The chance of so many hits or more.

    >>> round(tail(1, 2, 0.5), 12), tail(0, 5, 0.1)
    (0.75, 1.0)
    """
    if hits <= 0:
        return 1.0
    if chance <= 0 or chance >= 1 or hits > tries:
        return float(chance >= 1 and hits <= tries)
    if hits <= chance * tries:
        return 1 - tail(tries - hits + 1, tries, 1 - chance)
    # Above the mean terms fall; more than 14 deviations further on, they are below e^-90 of the first.
    last = min(tries, hits + 100 + 14 * math.isqrt(tries))
    k = np.arange(hits, last + 1)
    terms = _log_ways(tries)[hits : last + 1] + k * math.log(chance) + (tries - k) * math.log1p(-chance)
    top = terms.max()
    return float(min(1.0, math.exp(top) * np.exp(terms - top).sum()))


@lru_cache(maxsize=2**12)
def at_least(hits: int, tries: int, alarm: float = ALARM) -> float:
    """A lower bound on a chance: it is too high with a chance of `alarm` at most (Clopper and Pearson, 1934).

    >>> round(at_least(50, 100, 0.025), 4)
    0.3983
    """
    if hits == 0:
        return 0.0
    low, high = 0.0, hits / tries
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(hits, tries, middle) <= alarm else (low, middle)
    return low


def at_most(hits: int, tries: int, alarm: float = ALARM) -> float:
    """An upper bound on a chance, as `at_least`.

    >>> round(at_most(50, 100, 0.025), 4)
    0.6017
    """
    return 1 - at_least(tries - hits, tries, alarm)


def rough_loss(
    often: NDArray[Any], seldom: NDArray[Any], tries: int, delta: float, alarm: float
) -> NDArray[Any]:
    """What events lose at least, many at once: as `loss_at_least`, by Chernoff's looser bounds.

    >>> rough_loss(np.array([900, 0]), np.array([100, 0]), 1000, 0.0, ALARM).round(2).tolist()
    [1.56, -inf]
    """
    p = _chernoff(often, tries, alarm / 2) - delta
    q = 1 - _chernoff(tries - seldom, tries, alarm / 2)
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(p > 0, np.log(np.maximum(p, 0)) - np.log(q), -math.inf))


def _chernoff(hits: NDArray[Any], tries: int, alarm: float) -> NDArray[Any]:
    """Lower bounds on chances: no chance below is likely to bring so many hits, as e^(-n KL) tells."""
    share = hits / tries
    low, high = np.zeros(len(share)), share.copy()
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(STEPS):
            middle = (low + high) / 2
            more = np.where(share > 0, share * np.log(share / middle), 0.0)
            less = np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - middle)), 0.0)
            unlikely = tries * (more + less) >= -math.log(alarm)
            low, high = np.where(unlikely, middle, low), np.where(unlikely, high, middle)
    return low


def loss_at_least(often: int, seldom: int, tries: int, delta: float = 0.0, alarm: float = ALARM) -> float:
    """What is lost at least by an event: ln((p − δ)/q), with bounds that miss by `alarm` in all.

    Args:
        often: how often the event came of one table.
        seldom: how often it came of its neighbour.
        tries: how often each was tried.
        delta: the δ of the claim.
        alarm: the chance with which the result is too high.

    >>> round(loss_at_least(900, 100, 1000), 2), loss_at_least(0, 0, 1000)
    (1.6, -inf)
    """
    p, q = at_least(often, tries, alarm / 2) - delta, at_most(seldom, tries, alarm / 2)
    return math.log(p / q) if p > 0 else -math.inf


def detectable_loss(
    seldom: int, tries: int, claimed: float, delta: float = 0.0, alarm: float = ALARM
) -> float:
    """The smallest loss in an event as rare as this on one table that would have been found with even odds.

    >>> round(detectable_loss(100, 1000, claimed=1), 2)
    1.71
    >>> detectable_loss(900, 1000, claimed=1)
    inf
    """
    low, high = seldom, tries
    if loss_at_least(high, seldom, tries, delta, alarm) <= claimed:
        return math.inf
    while high - low > 1:
        middle = (low + high) // 2
        if loss_at_least(middle, seldom, tries, delta, alarm) > claimed:
            high = middle
        else:
            low = middle
    return math.log(max(high / tries - delta, 1e-300) / max(seldom / tries, 1 / tries))


def fit(subject: str, counts: Sequence[int], chances: Sequence[float], alarm: float = ALARM) -> AuditFinding:
    """Whether counts are as frequent as a law says: every outcome, and every beginning of their list.

    Bounds of Clopper and Pearson on each frequency, all of which hold at once but for a chance of `alarm`.

    Args:
        subject: what was drawn.
        counts: how often each outcome came.
        chances: how often it should.
        alarm: the chance of calling a misfit where there is none.

    >>> fit("a fair coin", [5012, 4988], [0.5, 0.5]).holds, fit("a fair coin", [6000, 4000], [0.5, 0.5]).holds
    (True, False)
    """
    tries = int(sum(counts))
    beginnings = [*counts, *np.cumsum(counts)[:-1].tolist()]
    expected = [*chances, *np.cumsum(chances)[:-1].tolist()]
    each = alarm / (2 * len(expected))
    # A bound lies beyond a chance just where that chance makes so many hits, or so few, unlikely.
    off = [
        abs(hits / tries - chance)
        for hits, chance in zip(beginnings, expected, strict=True)
        if min(tail(hits, tries, chance - ROUNDING), tail(tries - hits, tries, 1 - chance - ROUNDING)) <= each
    ]
    width = at_most(tries // 2, tries, each) - 0.5
    return AuditFinding(
        subject,
        "the law that is stated",
        f"{tries:,} draws follow it" if not off else f"{len(off)} frequencies do not, one by {max(off):.2g}",
        f"a chance that is off by {width:.1g}",
        not off,
        1 - alarm,
    )

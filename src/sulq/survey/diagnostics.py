"""Signs that reports were made up, each with a stated rate of false alarms; and what no test can show.

Whatever honest people's values are, their reports follow a law, and what deviates from every such law was not
drawn by the randomizer. All tests use bounds that hold for finite numbers: Chernoff's for counts, Markov's
for coincidences, Poisson's for arrivals. The rate is that of a whole round: it is divided among the tests.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sulq.local.draws import ONE
from sulq.local.frequencies import FrequencyReport
from sulq.local.item import Item
from sulq.local.laplace import LaplaceReport
from sulq.local.piecewise import PiecewiseReport
from sulq.local.shapes import Ball, Box, Interval
from sulq.local.unary import UnaryResponse
from sulq.local.window import WindowReport
from sulq.survey.accepting import SLOT
from sulq.survey.collector import Collector
from sulq.survey.kept import KeptRound, KeptTally
from sulq.survey.law import classes_of
from sulq.wire import canonical

RATE = 0.001
LIMITS = (
    "What no test can show: somebody who lies about their value, and lets the device draw the report, looks "
    "like an honest person with that value. So do several, and so does one person with several links.",
    "What holds all the same: one report moves an answer by no more than the bound that is stated for it, "
    "whatever it says and whoever sends it.",
)


@dataclass(frozen=True)
class SurveyCheck:
    """One test.

    Args:
        name: what is tested.
        item: the name of the item, None for the whole round.
        alarm: whether honest reports would look like this as rarely as the rate says, or never.
        words: what was seen.
    """

    name: str
    item: str | None
    alarm: bool
    words: str


def diagnose(collector: Collector, number: int = 1, rate: float = RATE) -> list[SurveyCheck]:
    """Test the reports of a round.

    Args:
        collector: whoever collects it.
        number: the number of the round.
        rate: the chance that honest reports raise any alarm at all.
    """
    kept = collector.round(number)
    if kept is None:
        return []
    tallies = collector.tallies(number)
    each = rate / (3 * len(kept.items) + 1)
    checks = [_bursts(collector, number, each), _used(collector)]
    for key, tally in tallies.items():
        item = kept.items[key]
        checks.append(_impossible(key, tally))
        checks += _fit(item, tally, each)
        checks.append(_range(item, tally, each))
        if collector.survey.keeps == "reports":
            checks.append(_duplicates(collector, kept, item, each))
    return checks


def _impossible(key: str, kept: KeptTally) -> SurveyCheck:
    words = f"{kept.impossible} of {kept.tally.reports} reports are none that the randomizer can draw"
    return SurveyCheck("impossible reports", key, kept.impossible > 0, words)


def _fit(item: Item, kept: KeptTally, rate: float) -> Iterator[SurveyCheck]:
    """Whether every class of reports is as frequent as the law lets it be, for some mix of values."""
    classes = classes_of(item.randomizer)
    if classes is None:
        yield SurveyCheck("fit to the law", item.key, False, "nothing about these reports can be tested")
        return
    evidence = np.maximum(
        divergence(kept.profile, classes.low, below=True), divergence(kept.profile, classes.high, below=False)
    )
    place = int(evidence.argmax())
    alarm = bool(evidence[place] > math.log(2 * len(evidence) / rate))
    share, n = kept.profile[place] / kept.tally.reports, kept.tally.reports
    words = (
        f"{classes.about}: class {place} has {100 * share:.1f} % of {n} reports, and the law says between "
        f"{100 * classes.low[place]:.1f} % and {100 * classes.high[place]:.1f} %"
    )
    yield SurveyCheck("fit to the law", item.key, alarm, words)


def divergence(counts: NDArray[np.int64], chances: NDArray[np.float64], below: bool) -> NDArray[np.float64]:
    """n·KL(count/n ‖ chance) where counts are on the wrong side: e to minus that bounds the tail (Chernoff).

    Args:
        counts: how many of n, class by class; they add up to n.
        chances: a bound on the chance of each class.
        below: whether fewer are on the wrong side, else more.

    >>> divergence(np.array([10, 90]), np.array([0.4, 0.4]), below=True).round(1).tolist()
    [22.6, 0.0]
    """
    n = int(counts.sum())
    if not n:
        return np.zeros(len(counts))
    shares, p = counts / n, np.clip(chances, 1e-300, 1 - 1e-16)
    with np.errstate(divide="ignore", invalid="ignore"):
        up = np.where(shares > 0, shares * np.log(shares / p), 0.0)
        down = np.where(shares < 1, (1 - shares) * (np.log1p(-shares) - np.log1p(-p)), 0.0)
    wrong = shares < chances if below else shares > chances
    return np.where(wrong, n * (up + down), 0.0)


def _range(item: Item, kept: KeptTally, rate: float) -> SurveyCheck:
    """Whether the estimate is one that some values have, but for the noise of reports."""
    values = item.estimate(kept.tally)
    radius = item.randomizer.radius(kept.tally.reports, rate)
    low, high = 0.0, 1.0
    match item.shape:
        case Interval(low_, high_):
            low, high = low_, high_
        case Box(lows, highs):
            low, high = min(lows), max(highs)
        case Ball(_, norm):
            low, high = -norm, norm
    if item.value is not None and item.group is not None:
        low, high = -math.inf, math.inf
    off = float(max(low - values.min(), values.max() - high))
    words = f"estimates go from {values.min():.3g} to {values.max():.3g}, with noise of up to {radius:.3g}"
    return SurveyCheck("possible estimates", item.key, off > radius, words)


def _duplicates(collector: Collector, kept: KeptRound, item: Item, rate: float) -> SurveyCheck:
    """Whether a report came too often: a device that answers twice sends the same report again.

    That some c of n reports coincide has a chance of at most (n over c)·p^(c − 1), if no single report is
    likelier than p for anybody. Below the first c for which that is within the rate, nothing is told.
    """
    reports = collector.reports(kept.number, item.key)
    n, likeliest = len(reports), _likeliest(item)
    often = max(Counter(map(canonical, reports)).values(), default=0)
    limit = next((c for c in range(2, n + 1) if _coincide(n, c, likeliest) <= math.log(rate)), n + 1)
    words = f"of {n} reports, {often} are the same; {limit} would be too many to have been drawn"
    if limit > n:
        words = "reports this short coincide by chance, which tells nothing"
    return SurveyCheck("equal reports", item.key, often >= limit, words)


def _coincide(n: int, c: int, p: float) -> float:
    """The logarithm of (n over c)·p^(c − 1)."""
    return math.lgamma(n + 1) - math.lgamma(c + 1) - math.lgamma(n - c + 1) + (c - 1) * math.log(p)


def _likeliest(item: Item) -> float:
    """The chance of the likeliest report, whatever the value is; at most."""
    match item.randomizer:
        case UnaryResponse() as unary:
            own, other = unary.own / ONE, unary.other / ONE
            return float(max(own, 1 - own) * max(other, 1 - other) ** (unary.k - 1))
        case PiecewiseReport() as piecewise:
            return float(piecewise._each[0])
        case WindowReport() as window:
            return float(window.each[0])
        case LaplaceReport() as laplace:
            return 1 - math.exp(-1 / float(laplace.noise.scale))
        case FrequencyReport() as report:
            return max(float(report.pmf(0, value)) for value in range(report.k))
        case _:
            return 1.0


def _bursts(collector: Collector, number: int, rate: float) -> SurveyCheck:
    """Whether more people came in ten minutes than are expected at the busiest time."""
    arrivals, busiest = collector.arrivals(number), collector.survey.busiest
    most = max(arrivals.values(), default=0)
    words = f"at most {most} people came within {SLOT // 60} minutes"
    if busiest is None:
        words += "; the survey does not say how many may (busiest = N), so nothing is tested"
        return SurveyCheck("bursts", None, False, words)
    excess = most * math.log(most / busiest) - most + busiest if most > busiest else 0.0
    alarm = excess > math.log(max(1, len(arrivals)) / rate)
    return SurveyCheck("bursts", None, alarm, f"{words}, and {busiest} are expected at the busiest time")


def _used(collector: Collector) -> SurveyCheck:
    """Links that were tried again: a hint, because a device that heard no answer sends again."""
    times = collector.refused().get("used", 0)
    return SurveyCheck("links tried again", None, False, f"{times} times a link came that was used before")

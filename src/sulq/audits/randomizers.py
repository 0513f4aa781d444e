"""What devices report by: the ratio of every report for every two values, and whether reports follow it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sulq.audits.black_box import told_apart
from sulq.audits.findings import AuditFinding, Check, Effort, all_of, exact
from sulq.audits.statistics import fit
from sulq.local.blocks import DesignResponse
from sulq.local.cap import CapReport
from sulq.local.coordinates import CoordinateReport
from sulq.local.hadamard import HadamardResponse
from sulq.local.kary import KaryResponse
from sulq.local.keyed import KeyedReport
from sulq.local.laplace import LaplaceReport
from sulq.local.onebit import OneBitReport
from sulq.local.paper import PaperReport
from sulq.local.piecewise import PiecewiseReport
from sulq.local.randomizer import Randomizer
from sulq.local.report import Report
from sulq.local.response import RandomizedResponse
from sulq.local.shapes import Box, OneOf
from sulq.local.sphere import SphereReport
from sulq.local.unary import UnaryResponse
from sulq.local.window import WindowReport

DIGITS = Fraction(1, 10**40)
"""How far a ratio that is not rational may be rounded."""
STRANGE: tuple[Any, ...] = (math.nan, math.inf, -1e300, 2**70, None, "", "x", [], {}, b"\xff", 1j)


@dataclass(frozen=True)
class RandomizerCase:
    """A randomizer, and values among which its extremes are."""

    make: Callable[[Fraction], Randomizer]
    values: Sequence[Any]

    def cohort(self, value: Any, size: int) -> Any:
        """So many people who all have this value, as `sample` takes them."""
        if isinstance(value, tuple) and isinstance(value[1], tuple):
            return np.full(size, value[0]), np.tile(value[1], (size, 1))
        return np.array([value] * size)


CASES = {
    "RandomizedResponse": RandomizerCase(lambda epsilon: RandomizedResponse(epsilon), [False, True]),
    "KaryResponse": RandomizerCase(lambda epsilon: KaryResponse(4, epsilon), range(4)),
    "UnaryResponse": RandomizerCase(lambda epsilon: UnaryResponse(4, epsilon), range(4)),
    "HadamardResponse": RandomizerCase(lambda epsilon: HadamardResponse(5, epsilon), range(5)),
    "DesignResponse": RandomizerCase(lambda epsilon: DesignResponse(7, epsilon), range(7)),
    "OneBitReport": RandomizerCase(lambda epsilon: OneBitReport(-1, 3, epsilon), [-1.0, 3.0, 0.7]),
    "PiecewiseReport": RandomizerCase(lambda epsilon: PiecewiseReport(-1, 3, epsilon), [-1.0, 3.0, 0.7]),
    "WindowReport": RandomizerCase(lambda epsilon: WindowReport(-1, 3, epsilon), [-1.0, 3.0, 0.7]),
    "LaplaceReport": RandomizerCase(lambda epsilon: LaplaceReport(-1, 3, epsilon), [-1.0, 3.0, 0.7]),
    "CoordinateReport": RandomizerCase(
        lambda epsilon: CoordinateReport([0, -2, -1], [1, 2, 1], epsilon, bits=2),
        [(0.0, -2.0, -1.0), (1.0, 2.0, 1.0), (0.3, 0.0, 1.0)],
    ),
    "SphereReport": RandomizerCase(
        lambda epsilon: SphereReport(3, 2, epsilon), [(2.0, 0.0, 0.0), (-2.0, 0.0, 0.0), (0.5, 0.5, -1.0)]
    ),
    "CapReport": RandomizerCase(
        lambda epsilon: CapReport(3, 2, epsilon), [(2.0, 0.0, 0.0), (-2.0, 0.0, 0.0), (0.5, 0.5, -1.0)]
    ),
    "KeyedReport": RandomizerCase(
        lambda epsilon: KeyedReport(3, [0, -1], [4, 3], epsilon),
        [(0, (0.0, -1.0)), (1, (4.0, 3.0)), (2, (4.0, -1.0))],
    ),
    "PaperReport": RandomizerCase(lambda epsilon: PaperReport(OneOf(3), epsilon), range(3)),
    "PaperReport of a box": RandomizerCase(
        lambda epsilon: PaperReport(Box((0, -2), (1, 2)), epsilon), [(0.0, -2.0), (1.0, 2.0), (0.0, 2.0)]
    ),
}
"""Every randomizer. A test walks `sulq.local`: one that is not here fails it."""


def randomizers(effort: Effort) -> Iterator[AuditFinding]:
    """Every randomizer at two values of ε."""
    for name, case in CASES.items():
        for epsilon in (Fraction(1, 2), Fraction(3)):
            yield from examined(name, case.make(epsilon), case.values, epsilon, effort, case.cohort)


def examined(
    name: str,
    randomizer: Randomizer,
    values: Sequence[Any],
    epsilon: Fraction,
    effort: Effort,
    cohort: Callable[[Any, int], Any] | None = None,
) -> Iterator[AuditFinding]:
    """The ratio that a randomizer states and the one that its reports have, its chances, and its reports.

    Args:
        name: what it is called.
        randomizer: the randomizer.
        values: values among which its extremes are.
        epsilon: what is claimed.
        effort: how many reports to draw.
        cohort: so many people with a value, as `sample` takes them; an array by default.
    """
    many = cohort or RandomizerCase(lambda _: randomizer, values).cohort
    size = 6000 if effort == "quick" else 400_000
    subject = f"{name} of ε = {epsilon}"
    reports = [randomizer.sample(many(value, size)) for value in values]
    kinds = _kinds(np.concatenate([drawn[:3000] for drawn in reports]))
    chances = [[randomizer.pmf(kind, value) for kind in kinds] for value in values]
    worst = max(
        (
            max(each) / min(each) if min(each) > 0 else Fraction(10**300)
            for each in zip(*chances, strict=True)
        ),
        default=Fraction(1),
    )
    claim = _power(epsilon)
    yield exact(
        f"{subject}: every report for every two values",
        f"e^ε = {float(claim):.9g}, and a ratio of {float(randomizer.ratio):.9g}",
        f"a ratio of {float(worst):.9g} at most, in {len(kinds):,} kinds of reports",
        "any excess",
        worst <= randomizer.ratio * (1 + DIGITS) and randomizer.ratio <= claim * (1 + DIGITS),
    )
    wholes = [float(sum(each)) for each in chances]
    # Of some laws only a part of the reports can be listed: those are told apart below.
    if len(kinds) <= 600 and all(0.97 < whole < 1.03 for whole in wholes):
        wrong = [
            f"the chances for {value} add up to {whole}"
            for value, whole in zip(values, wholes, strict=True)
            if whole > 1 + 1e-12
        ]
        yield all_of(f"{subject}: its chances", "they add up to 1", wrong, len(values))
        for value, law, drawn in zip(values, chances, reports, strict=True):
            places = {_key(kind): place for place, kind in enumerate(kinds)}
            counts = [0] * (len(kinds) + 1)
            for report in drawn:
                counts[places.get(_key(report), len(kinds))] += 1
            listed = [float(chance) for chance in law]
            yield fit(f"{subject}: reports for {value}", counts, [*listed, max(0.0, 1 - sum(listed))])
    # Every bit and every number of a report is among what is looked at.
    yield told_apart(
        f"{subject}: reports for {values[0]} and {values[1]}",
        reports[0],
        reports[1],
        float(epsilon),
    )
    shapes = {(drawn.shape[1:], drawn.dtype.str) for drawn in reports}
    yield exact(
        f"{subject}: shape and length",
        "the same for every value",
        f"{len(shapes)} of them",
        "any difference",
        len(shapes) == 1,
    )


def _kinds(reports: NDArray[Any]) -> list[Any]:
    kinds = np.unique(reports, axis=0)
    some = kinds if len(kinds) <= 600 else kinds[np.linspace(0, len(kinds) - 1, 600).astype(int)]
    return [
        kind if kind.ndim and kind.dtype == np.float64 else kind if kind.ndim else kind.item()
        for kind in some
    ]


def _key(report: Any) -> tuple[float, ...]:
    return tuple(np.ravel(report).astype(float).tolist())


def _power(epsilon: Fraction) -> Fraction:
    term, total, n = Fraction(1), Fraction(0), 0
    while term > Fraction(1, 10**60):
        total, n = total + term, n + 1
        term = term * epsilon / n
    return total


def poisoning(effort: Effort) -> Iterator[AuditFinding]:
    """Whatever a person sends moves an estimate by no more than is stated."""
    people = 40
    for name, case in CASES.items():
        randomizer = case.make(Fraction(1))
        reports = randomizer.sample(case.cohort(case.values[0], people)).tolist()
        honest = randomizer.estimate(reports)
        failures = []
        for sent in (*STRANGE, *([*reports[0], 7] if isinstance(reports[0], list) else [[7]])):
            try:
                received = (
                    Report.from_json(json.dumps({"report": 1, "item": "x", "numbers": reports})).numbers
                    if sent is None
                    else None
                )
                moved = randomizer.estimate([sent, *reports[1:]] if received is None else received)
                if not np.abs(moved - honest).max() <= randomizer.influence(people) * (1 + 1e-9):
                    failures.append(f"{sent!r} moves it by {np.abs(moved - honest).max():g}")
            except Exception as error:
                failures.append(f"{sent!r} is an error: {type(error).__name__}")
        yield all_of(
            f"{name}: one made-up report of {people}",
            "no error, and no more than its influence",
            failures,
            len(STRANGE) + 1,
        )


CHECKS = (
    Check(
        "randomizers",
        "Reports of devices",
        "The exact ratio of every report for every two values, against e^ε; frequencies of reports against "
        "their chances; and reports for two values as a black box, bit by bit.",
        randomizers,
        tuple(CASES),
    ),
    Check(
        "poisoning",
        "Made-up reports",
        "NaN, infinities, texts, nothing and lists in place of a report: none is an error, and none moves "
        "the estimate by more than `influence` states.",
        poisoning,
    ),
)

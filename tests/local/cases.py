"""Every randomizer, with a few values that show its extremes and, where they can be listed, all its reports."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sulq.local import laplace, paper, piecewise
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
from sulq.local.response import RandomizedResponse
from sulq.local.shapes import Ball, Box, Keyed, OneOf
from sulq.local.sphere import SphereReport
from sulq.local.unary import UnaryResponse
from sulq.local.window import WindowReport

FINITE = "finite"
IRRATIONAL = "irrational"
DENSITY = "density"
CAP = "cap"


@dataclass(frozen=True)
class Case:
    """`worst`: the value at which, if all have it, the variance is the largest; `slack`: how far below its
    claimed bound that may be. `vector`: what a value stands for."""

    name: str
    make: Callable[[Any], Randomizer]
    values: Sequence[Any]
    reports: Callable[[Any], list[Any]]
    worst: Any
    vector: Callable[[Any], Any]
    kind: str = FINITE
    slack: float = 1.0
    absurd: Sequence[Any] = field(default_factory=tuple)

    def cohort(self, values: Sequence[Any]) -> Any:
        """Values as `sample` takes them."""
        if isinstance(values[0], tuple) and np.ndim(values[0][1]) == 1:
            return np.array([group for group, _ in values]), np.array([vector for _, vector in values])
        return np.array(values)

    def mean(self, values: Sequence[Any]) -> NDArray[np.float64]:
        return np.mean([np.ravel(self.vector(value)) for value in values], axis=0)


def one_hot(k: int) -> Callable[[int], NDArray[np.float64]]:
    return lambda value: np.eye(k)[value]


def outer(k: int) -> Callable[[tuple[int, Any]], NDArray[np.float64]]:
    return lambda value: np.outer(np.eye(k)[value[0]], value[1])


def unit_vectors(d: int) -> list[NDArray[np.float64]]:
    drawn = np.random.default_rng(5).standard_normal((20, d))
    return list(drawn / np.linalg.norm(drawn, axis=1)[:, np.newaxis])


def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Grids so coarse that all reports can be listed; the randomizers look them up when they are asked."""
    monkeypatch.setattr(piecewise, "CELLS", 64)
    monkeypatch.setattr(laplace, "FARTHEST", 8)
    for module in (laplace, paper):
        monkeypatch.setattr(module, "STEPS", 4)


def steps(randomizer: Any) -> list[int]:
    """The reports of a Laplace randomizer from end to end, if the grid is coarse and ε = 1, else some."""
    end = int(randomizer.within(np.array([2**62]))[0])
    start = laplace.STEPS - end
    return sorted({*range(start, end + 1, max(1, (end - start) // 50)), end})


VECTORS = [(0.0, -2.0, 5.0), (1.0, 2.0, 5.0), (0.25, 0.0, 5.0)]
GROUPED = [(0, (0.0, -1.0)), (1, (0.0, -1.0)), (2, (4.0, 3.0)), (0, (1.0, 1.0)), (2, (0.0, 3.0))]
GROUPED += [(g, (4.0, 3.0)) for g in (0, 1)]
NUMBERS = [-1.0, 3.0, 1.0, 0.7]

CASES = [
    Case(
        "response",
        RandomizedResponse,
        [False, True],
        lambda _: [False, True],
        True,
        lambda value: [float(value)],
        absurd=[True, False],
    ),
    Case(
        "kary",
        lambda epsilon: KaryResponse(5, epsilon),
        range(5),
        lambda _: list(range(5)),
        0,
        one_hot(5),
        absurd=[-7, 10**9],
    ),
    *(
        Case(
            f"unary-{'optimised' if optimised else 'symmetric'}",
            lambda epsilon, optimised=optimised: UnaryResponse(6, epsilon, optimised),
            range(6),
            lambda _: [np.array([byte], dtype=np.uint8) for byte in range(64)],
            0,
            one_hot(6),
            absurd=[np.array([255], dtype=np.uint8), np.array([0], dtype=np.uint8)],
        )
        for optimised in (False, True)
    ),
    Case(
        "hadamard",
        lambda epsilon: HadamardResponse(5, epsilon),
        range(5),
        lambda randomizer: list(range(randomizer.reports)),
        0,
        one_hot(5),
        absurd=[-7, 10**9],
    ),
    Case(
        "design",
        lambda epsilon: DesignResponse(9, epsilon),
        range(9),
        lambda randomizer: list(range(randomizer.reports)),
        0,
        one_hot(9),
        absurd=[-7, 10**9],
    ),
    Case(
        "one-bit",
        lambda epsilon: OneBitReport(-1, 3, epsilon),
        NUMBERS,
        lambda _: [False, True],
        1.0,
        lambda value: [value],
        absurd=[True, False],
    ),
    Case(
        "piecewise",
        lambda epsilon: PiecewiseReport(-1, 3, epsilon),
        NUMBERS,
        lambda _: list(range(piecewise.CELLS)),
        3.0,
        lambda value: [value],
        absurd=[-7, 10**9],
    ),
    Case(
        "window",
        lambda epsilon: WindowReport(-1, 3, epsilon),
        NUMBERS,
        lambda randomizer: list(range(randomizer.cells)),
        3.0,
        lambda value: [value],
        slack=0.97,
        absurd=[-7, 10**9],
    ),
    Case(
        "laplace",
        lambda epsilon: LaplaceReport(-1, 3, epsilon),
        NUMBERS,
        steps,
        1.0,
        lambda value: [value],
        kind=IRRATIONAL,
        absurd=[-(2**61), 2**61],
    ),
    Case(
        "coordinate",
        lambda epsilon: CoordinateReport([0, -2, 5], [1, 2, 5], epsilon),
        VECTORS,
        lambda _: list(range(6)),
        (0.5, 0.0, 5.0),
        np.array,
        absurd=[-7, 10**9],
    ),
    Case(
        "two-coordinates",
        lambda epsilon: CoordinateReport([0, -2, -1], [1, 2, 1], epsilon, bits=2),
        [(0.0, -2.0, -1.0), (1.0, 2.0, 1.0), (0.3, 0.0, 1.0)],
        lambda _: list(range(12)),
        (0.5, 0.0, 0.0),
        np.array,
        absurd=[-7, 10**9],
    ),
    Case(
        "sphere",
        lambda epsilon: SphereReport(3, 2, epsilon),
        [(2.0, 0.0, 0.0), (-2.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.5, 0.5, -1.0)],
        lambda _: unit_vectors(3),
        (0.0, 0.0, 0.0),
        np.array,
        kind=DENSITY,
        absurd=[(1e9, 0.0, 0.0), (-1e9, 0.0, 0.0)],
    ),
    Case(
        "cap",
        lambda epsilon: CapReport(3, 2, epsilon),
        [(2.0, 0.0, 0.0), (-2.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.5, 0.5, -1.0)],
        lambda _: unit_vectors(3),
        (0.0, 0.0, 0.0),
        np.array,
        kind=CAP,
        absurd=[(1e9, 0.0, 0.0), (-1e9, 0.0, 0.0)],
    ),
    Case(
        "keyed",
        lambda epsilon: KeyedReport(3, [0, -1], [4, 3], epsilon),
        GROUPED,
        lambda randomizer: list(range(2 * randomizer.inner.reports)),
        (0, (2.0, 1.0)),
        outer(3),
        slack=0.6,
        absurd=[-7, 10**9],
    ),
    Case(
        "paper-one-hot",
        lambda epsilon: PaperReport(OneOf(3), epsilon),
        range(3),
        lambda randomizer: list(itertools.product(range(3), steps(randomizer.inner))),
        0,
        one_hot(3),
        kind=IRRATIONAL,
        absurd=[(-7, -(2**61)), (0, 2**61)],
    ),
    Case(
        "paper-box",
        lambda epsilon: PaperReport(Box((0, -2, 5), (1, 2, 5)), epsilon),
        VECTORS,
        lambda randomizer: list(itertools.product(range(3), steps(randomizer.inner))),
        (0.0, -2.0, 5.0),
        np.array,
        kind=IRRATIONAL,
        absurd=[(-7, -(2**61)), (1, 2**61)],
    ),
    Case(
        "paper-ball",
        lambda epsilon: PaperReport(Ball(2, 3.0), epsilon),
        [(3.0, 0.0), (-3.0, 0.0), (0.0, 3.0), (0.0, -3.0)],
        lambda randomizer: list(itertools.product(range(2), steps(randomizer.inner))),
        (3.0, 0.0),
        np.array,
        kind=IRRATIONAL,
        absurd=[(-7, -(2**61)), (0, 2**61)],
    ),
    Case(
        "paper-keyed",
        lambda epsilon: PaperReport(Keyed(3, Box((0, -1), (4, 3))), epsilon),
        GROUPED,
        lambda randomizer: list(itertools.product(range(6), steps(randomizer.inner))),
        (0, (4.0, 3.0)),
        outer(3),
        kind=IRRATIONAL,
        absurd=[(-7, -(2**61)), (0, 2**61)],
    ),
]

EPSILONS = [Fraction(1, 10), Fraction(1), Fraction(7, 2)]

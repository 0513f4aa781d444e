"""What better reports and noise cost in time: one number, one direction, one vector, and whole learners.

Better mechanisms draw more. Each stands beside the one that it replaced: crowds with `method="printed"`, and Laplace
noise for each number of a vector. Processor time, the least of several runs that take turns, or for
learners the median. A ratio above 1 is time lost; divided by how many times smaller the variance is, it is the time for the same
accuracy, with fewer people.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

import sulq
from measure import say, table
from sulq.local.best import best_randomizer
from sulq.local.shapes import Ball, Interval, Shape
from sulq.privacy.noise import DiscreteLaplace
from sulq.privacy.spherical import SphericalLaplace
from sulq.privacy.vector_noise import rate

PEOPLE, REPETITIONS = 100_000, 9
EPSILON = 2
EPSILONS = (1, 2, 4)
GOAL = 1.05


def section() -> str:
    """The section of RESULTS.md."""
    head = [
        "",
        "ε",
        "before, ns",
        "now, ns",
        "now / before",
        "variance, before / now",
        "for the same variance",
    ]
    learners = ["learner", "before, ms", "now, ms", "now / before"]
    return (
        "\n".join(
            [
                "## Draws",
                "",
                f"Processor time, the least of {REPETITIONS} runs that take turns; ratios above {GOAL} in bold. Reports of {PEOPLE:,} people;",
                '`before` is `method="printed"`: one bit or piecewise, and the side of a plane. A device draws one report: its time does',
                "not matter there, but where a crowd is made on one machine.",
                "",
                *table(head, _reports()),
                "",
                "Noise for sums of vectors under pure ε, for each number; `before` is Laplace noise of the same width. The variance is that",
                "for the same ε, where one person moves the vector by a unit of its 2-norm in any direction.",
                "",
                *table(["numbers of a vector", "scale, steps", "in one call", *head[2:-1]], _vectors()),
                "",
                f"Whole learners in a crowd of {PEOPLE:,} people with 6 numbers, a label and a target, ε = {EPSILON}; medians of {3 * REPETITIONS} runs:",
                "",
                *table(learners, _learners()),
                "",
                "Whole learners under a curator with pure ε, in the same way; `before`, every number of a vector has Laplace noise:",
                "",
                *table(["rows", "columns", *learners], _curated()),
            ]
        )
        + "\n"
    )


def _reports() -> list[list[object]]:
    rng, lines = np.random.default_rng(0), []
    shapes: list[tuple[str, Shape, Any]] = [("a number", Interval(0, 1), rng.random(PEOPLE))]
    for d in (2, 8, 64):
        points = rng.standard_normal((PEOPLE, d))
        points *= (rng.random(PEOPLE) / np.linalg.norm(points, axis=1))[:, np.newaxis]
        shapes.append((f"a vector of {d} numbers in a ball", Ball(d, 1.0), points))
    for name, shape, values in shapes:
        for epsilon in EPSILONS:
            say("draws,", name, epsilon)
            before, now = (best_randomizer(shape, epsilon, method) for method in ("printed", "best"))
            times = _turns([partial(made.sample, values) for made in (before, now)])
            lines.append(
                [
                    f"{name}: {type(before).__name__}, {type(now).__name__}",
                    epsilon,
                    *_compared([each / PEOPLE for each in times], before.variance(1) / now.variance(1)),
                ]
            )
    return lines


def _vectors() -> list[list[object]]:
    lines: list[list[object]] = []
    for width in (2, 8, 64):
        for scale, size in ((20, 64), (20, 64_000), (60, 64), (60, 64_000)):
            say("draws, vectors of", width)
            before, now = DiscreteLaplace(2**scale), SphericalLaplace(2**scale / rate(width), width)
            times = _turns([partial(before.sample, size), partial(now.sample, size)])
            # The 1-norm of a unit vector may be √w, and a number of both is as wide if that is √((w + 1)/2).
            gain = width / ((width + 1) / 2)
            ratios = _compared([each / size for each in times], gain)[:-1]
            lines.append([width, f"2^{scale}", f"{size:,}", *ratios])
    return lines


def _learners() -> list[list[object]]:
    people, numbers = _people(), [f"x{i}" for i in range(6)]
    learners: dict[str, Any] = {
        "`SVD`, 2 components": sulq.SVD(2, numbers),
        "`PCA`, 2 components": sulq.PCA(2, numbers),
        "`LinearRegression`": sulq.LinearRegression("t", numbers),
        "`LogisticRegression`": sulq.LogisticRegression("y", numbers),
        "`KMeans`, k = 4": sulq.KMeans(4, numbers),
        "`Perceptron`": sulq.Perceptron("y", numbers),
        "`ID3`": sulq.ID3("y", numbers),
        "`Additive`": sulq.Additive("y", numbers),
        "`Table` of means": sulq.Table(means=numbers, share=1),
    }
    lines: list[list[object]] = []
    for name, learner in learners.items():
        say("draws,", name)
        before, now = _turns(
            [partial(_learned, learner, people, method) for method in ("printed", "best")], True
        )
        lines.append([name, f"{before * 1e3:.1f}", f"{now * 1e3:.1f}", _mark(now / before)])
    return lines


def _learned(learner: Any, people: Any, method: str) -> None:
    learner.learn(people.crowd(EPSILON, method=method))


def _curated() -> list[list[object]]:
    lines: list[list[object]] = []
    for rows, columns in ((PEOPLE, 6), (20_000, 32), (20_000, 100), (1_000, 32)):
        people, numbers = _people(rows, columns), [f"x{i}" for i in range(columns)]
        learners: dict[str, Any] = {
            "`SVD`, 2 components": sulq.SVD(2, numbers),
            "`PCA`, 2 components": sulq.PCA(2, numbers),
            "`KMeans`, k = 4": sulq.KMeans(4, numbers),
            "`LinearRegression`": sulq.LinearRegression("t", numbers),
        }
        for name, learner in learners.items():
            say("draws,", rows, columns, name)
            before, now = _turns([partial(_settled, learner, people, each) for each in (True, False)], True)
            lines.append(
                [f"{rows:,}", columns, name, f"{before * 1e3:.1f}", f"{now * 1e3:.1f}", _mark(now / before)]
            )
    return lines


def _settled(learner: Any, people: Any, by_number: bool) -> None:
    """Learns under a curator, with noise for vectors or, as it was before there was any, for each number."""
    curator = people.curator(epsilon=EPSILON)
    if not by_number:
        learner.learn(curator)
        return
    with patch("sulq.privacy.calibration.in_vectors", lambda facts: facts):
        learner.learn(curator)


def _people(size: int = PEOPLE, columns: int = 6) -> Any:
    rng = np.random.default_rng(0)
    points = rng.random((size, columns))
    rows: dict[str, Any] = {f"x{i}": 10 * points[:, i] for i in range(columns)}
    rows["y"] = points[:, 0] + points[:, 1] + 0.3 * rng.standard_normal(size) > 1
    rows["t"] = np.clip(5 * points[:, 0] + 3 * points[:, 2] + rng.standard_normal(size), 0, 10)
    kinds: dict[str, Any] = {name: sulq.Real(0, 10) for name in rows} | {"y": sulq.Boolean()}
    return sulq.open(rows, kinds)


def _turns(works: Sequence[Callable[[], object]], steps: bool = False) -> list[float]:
    """The least processor time of each, in seconds; all take turns, and the first turn does not count.

    Of what takes as many steps as its noise says, the least would be who was lucky: there it is the median of more.
    """
    times: list[list[float]] = [[] for _ in works]
    for _ in range((3 if steps else 1) * REPETITIONS + 1):
        for work, taken in zip(works, times, strict=True):
            started = time.process_time()
            work()
            taken.append(time.process_time() - started)
    return [float((np.median if steps else np.min)(taken[1:])) for taken in times]


def _compared(seconds: Sequence[float], gain: float) -> list[object]:
    before, now = seconds
    ratio = now / before
    return [f"{before * 1e9:.0f}", f"{now * 1e9:.0f}", _mark(ratio), f"{gain:.2f}", _mark(ratio / gain)]


def _mark(ratio: float) -> str:
    return f"**{ratio:.2f}**" if ratio > GOAL else f"{ratio:.2f}"


if __name__ == "__main__":
    print(section())

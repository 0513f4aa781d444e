"""What better reports and noise cost in time: one number, one direction, one vector, and whole learners.

Better mechanisms draw more. Each stands beside the one that it replaced, which is still there by name: crowds with
`method="printed"`, and Laplace noise for each number of a vector. Processor time, the least of several runs that take
turns. A ratio above 1 is time lost; divided by how many times smaller the variance is, it is the time for the same
accuracy, with fewer people.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

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
                *table(["numbers of a vector", "in one call", *head[2:-1]], _vectors()),
                "",
                f"Whole learners in a crowd of {PEOPLE:,} people with 6 numbers, a label and a target, ε = {EPSILON}:",
                "",
                *table(learners, _learners()),
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
        for size in (64, 64_000):
            say("draws, vectors of", width)
            before, now = DiscreteLaplace(10**6), SphericalLaplace(10**6 / rate(width), width)
            times = _turns([partial(before.sample, size), partial(now.sample, size)])
            # The 1-norm of a unit vector may be √w, and a number of both is as wide if that is √((w + 1)/2).
            gain = width / ((width + 1) / 2)
            lines.append([width, f"{size:,}", *_compared([each / size for each in times], gain)[:-1]])
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
        before, now = _turns([partial(_learned, learner, people, method) for method in ("printed", "best")])
        lines.append([name, f"{before * 1e3:.1f}", f"{now * 1e3:.1f}", _mark(now / before)])
    return lines


def _learned(learner: Any, people: Any, method: str) -> None:
    learner.learn(people.crowd(EPSILON, method=method))


def _people() -> Any:
    rng = np.random.default_rng(0)
    points = rng.random((PEOPLE, 6))
    rows: dict[str, Any] = {f"x{i}": 10 * points[:, i] for i in range(6)}
    rows["y"] = points[:, 0] + points[:, 1] + 0.3 * rng.standard_normal(PEOPLE) > 1
    rows["t"] = np.clip(5 * points[:, 0] + 3 * points[:, 2] + rng.standard_normal(PEOPLE), 0, 10)
    kinds: dict[str, Any] = {name: sulq.Real(0, 10) for name in rows} | {"y": sulq.Boolean()}
    return sulq.open(rows, kinds)


def _turns(works: Sequence[Callable[[], object]]) -> list[float]:
    """The least processor time of each, in seconds; all take turns, and the first turn does not count."""
    least = [float("inf")] * len(works)
    for turn in range(REPETITIONS + 1):
        for i, work in enumerate(works):
            started = time.process_time()
            work()
            if turn:
                least[i] = min(least[i], time.process_time() - started)
    return least


def _compared(seconds: Sequence[float], gain: float) -> list[object]:
    before, now = seconds
    ratio = now / before
    return [f"{before * 1e9:.0f}", f"{now * 1e9:.0f}", _mark(ratio), f"{gain:.2f}", _mark(ratio / gain)]


def _mark(ratio: float) -> str:
    return f"**{ratio:.2f}**" if ratio > GOAL else f"{ratio:.2f}"


if __name__ == "__main__":
    print(section())
